"""Compiled twin of `refsvm.SecondOrder`."""

from __future__ import annotations

from refsvm.compiled.interface.extremes import LARGEST_INT64, TILE_OF_GAINS, bits, first_gain, from_bits
from refsvm.compiled.interface.layout import FALLS, SELECT, TAU
from refsvm.compiled.interface.rows import prefetch, row_or_ask
from refsvm.compiled.interface.twin import inlined, twin


@inlined
def newton_gains(state, i, start, stop, gains):  # type: ignore[no-untyped-def]
    """Write 2g̃ = ℓ²/q of each pair {i, t} to `gains`; −1 if t cannot fall or ℓ ≤ 0. Return the largest gain's bits."""
    G_i, k_ii, row = state.gradient[i], state.diagonal[i], state.kernel[state.slots[i], start:stop]
    G, diagonal, sides = state.gradient[start:stop], state.diagonal[start:stop], state.sides[start:stop]
    largest = -LARGEST_INT64
    for t in range(len(G)):  # no branches here, so that the processor computes several t at once
        slope = G_i - G[t]
        q = k_ii + diagonal[t] - 2.0 * row[t]
        q = q if q > 0.0 else TAU
        gain = slope * slope / q if ((sides[t] & FALLS) != 0) & (slope > 0.0) else -1.0
        gains[t] = gain
        largest = max(largest, bits(gain))
    return largest


@inlined
def exact_gains(state, i, start, stop, gains):  # type: ignore[no-untyped-def]
    """Do the work of `newton_gains` with the gain 2g = μ(2ℓ − μq) of the clipped step."""
    G_i, k_ii, row = state.gradient[i], state.diagonal[i], state.kernel[state.slots[i], start:stop]
    G, diagonal, sides = state.gradient[start:stop], state.diagonal[start:stop], state.sides[start:stop]
    alpha, lower, rise = state.alpha[start:stop], state.lower[start:stop], state.upper[i] - state.alpha[i]
    largest = -LARGEST_INT64
    for t in range(len(G)):
        slope = G_i - G[t]
        q = k_ii + diagonal[t] - 2.0 * row[t]
        q = q if q > 0.0 else TAU
        mu = min(slope / q, min(rise, alpha[t] - lower[t]))
        gain = mu * (2.0 * slope - mu * q) if ((sides[t] & FALLS) != 0) & (slope > 0.0) else -1.0
        gains[t] = gain
        largest = max(largest, bits(gain))
    return largest


@inlined
def best_partner(state, i, exact):  # type: ignore[no-untyped-def]
    """Return the j whose pair with i has the largest gain, and this gain; ties go to the lowest index."""
    largest, best_start, best_half, half = -LARGEST_INT64, 0, 0, 0
    for start in range(0, len(state.alpha), TILE_OF_GAINS):
        stop = min(start + TILE_OF_GAINS, len(state.alpha))
        gains = state.scratch[half : half + stop - start]
        prefetch(state.kernel[state.slots[i]], start, TILE_OF_GAINS)
        high = (
            exact_gains(state, i, start, stop, gains) if exact else newton_gains(state, i, start, stop, gains)
        )
        # one half of `scratch` keeps the gains of the best tile so far; the next tile's gains go to the other half
        if high > largest:
            largest, best_start, best_half, half = high, start, half, TILE_OF_GAINS - half
    count = min(TILE_OF_GAINS, len(state.alpha) - best_start)
    return best_start + first_gain(state.scratch[best_half : best_half + count], largest), from_bits(largest)


@twin(SELECT)
def second_order(parameters, state):  # type: ignore[no-untyped-def]
    """Compiled twin of `refsvm.SecondOrder`."""
    now, alpha, G, lower = state.now[0], state.alpha, state.gradient, state.lower
    i = now.top
    if now.gap <= 0.0:
        return -1, -1
    if not row_or_ask(state, i)[1]:
        return -1, -1
    # --- the exact gain replaces g̃ after a planned step far from the Newton step ---
    exact = now.last_planned == 1 and abs(now.last_step / now.last_newton - 1.0) > parameters[0]
    # --- j = argmax g̃ over I_down with Gⱼ < Gᵢ ---
    j, best = best_partner(state, i, exact)
    # --- compare the pairs that a planned step has written to `state.candidates` ---
    for c in range(now.n_candidates):
        k, m = state.candidates[c, 0], state.candidates[c, 1]
        if G[k] < G[m]:
            k, m = m, k
        slope = G[k] - G[m]
        room = min(state.upper[k] - alpha[k], alpha[m] - lower[m])
        if slope > 0.0 and room > 0.0:
            q = state.candidate_curvatures[c]
            mu = min(slope / q, room)
            gain = mu * (2.0 * slope - mu * q) if exact else slope * slope / q
            if gain > best:
                i, j, best = k, m, gain
    return i, j
