"""Compiled twin of `refsvm.ConjugateSecondOrder`."""

from __future__ import annotations

from refsvm.compiled.interface.extremes import LARGEST_INT64, TILE_OF_GAINS, bits, first_gain
from refsvm.compiled.interface.layout import FALLS, LEAST, SELECT, TAU
from refsvm.compiled.interface.rows import prefetch, row_or_ask
from refsvm.compiled.interface.twin import inlined, twin
from refsvm.compiled.selectors.second_order import newton_gains


@inlined
def conjugate_gains(state, i, start, stop, gains):  # type: ignore[no-untyped-def]
    """Do the work of `newton_gains` with q − β²/q_Δ in place of q."""
    G_i, k_ii, row = state.gradient[i], state.diagonal[i], state.kernel[state.slots[i], start:stop]
    G, diagonal, sides = state.gradient[start:stop], state.diagonal[start:stop], state.sides[start:stop]
    image, image_i, inverse = (
        state.displacement_image[start:stop],
        state.displacement_image[i],
        1.0 / state.now[0].carried_curvature,
    )
    largest = -LARGEST_INT64
    for t in range(len(G)):  # no branches here, so that the processor computes several t at once
        slope = G_i - G[t]
        q = k_ii + diagonal[t] - 2.0 * row[t]
        q = q if q > 0.0 else TAU
        beta = image_i - image[t]
        along, least = q - beta * beta * inverse, LEAST * q
        along = along if along > least else least
        gain = slope * slope / along if ((sides[t] & FALLS) != 0) & (slope > 0.0) else -1.0
        gains[t] = gain
        largest = max(largest, bits(gain))
    return largest


@inlined
def best_partner(state, i, conjugate):  # type: ignore[no-untyped-def]
    """Return the j whose pair with i has the largest gain; ties go to the lowest index."""
    largest, best_start, best_half, half = -LARGEST_INT64, 0, 0, 0
    for start in range(0, len(state.alpha), TILE_OF_GAINS):
        stop = min(start + TILE_OF_GAINS, len(state.alpha))
        gains = state.scratch[half : half + stop - start]
        prefetch(state.kernel[state.slots[i]], start, TILE_OF_GAINS)
        if conjugate:
            high = conjugate_gains(state, i, start, stop, gains)
        else:
            high = newton_gains(state, i, start, stop, gains)
        # one half of `scratch` keeps the gains of the best tile so far; the next tile's gains go to the other half
        if high > largest:
            largest, best_start, best_half, half = high, start, half, TILE_OF_GAINS - half
    gains = state.scratch[best_half : best_half + min(TILE_OF_GAINS, len(state.alpha) - best_start)]
    return best_start + first_gain(gains, largest)


@twin(SELECT)
def conjugate_second_order(parameters, state):  # type: ignore[no-untyped-def]
    """Compiled twin of `refsvm.ConjugateSecondOrder`."""
    now = state.now[0]
    i = now.top
    if now.gap <= 0.0 or not row_or_ask(state, i)[1]:
        return -1, -1
    carried = len(state.displacement) > 0 and now.last_free == 1 and now.carried_curvature > 0.0
    return i, best_partner(state, i, carried)
