"""Compiled twins of `refsvm.core.state.SolverState`: the update of α, G and the history by a step."""

from __future__ import annotations

import numpy as np
from numba import types
from numba.extending import overload

from refsvm.compiled.interface.extremes import (
    LARGEST_INT64,
    MOST,
    TILE,
    larger,
    place_on_side,
    smaller,
    sortable_bits,
)
from refsvm.compiled.interface.layout import AT_ONCE, FALLS, RISES, SNAP, TAU
from refsvm.compiled.interface.rows import prefetch
from refsvm.compiled.interface.twin import called, inlined


@inlined
def measure(state, i, j):  # type: ignore[no-untyped-def]
    """Compiled twin of `refsvm.core.state.SolverState.measure`."""
    now, alpha, lower, upper = state.now[0], state.alpha, state.lower, state.upper
    # ℓ = Gᵢ − Gⱼ
    now.slope = state.gradient[i] - state.gradient[j]
    # q = Kᵢᵢ + Kⱼⱼ − 2Kᵢⱼ
    raw = state.diagonal[i] + state.diagonal[j] - 2.0 * state.kernel[state.slots[i], j]
    now.raw_curvature = raw
    now.least_curvature = min(now.least_curvature, raw)
    now.curvature = raw if raw > 0.0 else TAU
    # lo = max(Lᵢ − αᵢ, αⱼ − Uⱼ),  hi = min(Uᵢ − αᵢ, αⱼ − Lⱼ)
    now.low = max(lower[i] - alpha[i], alpha[j] - upper[j])
    now.high = min(upper[i] - alpha[i], alpha[j] - lower[j])


@inlined
def moved(value, change, lower, upper):  # type: ignore[no-untyped-def]
    """Compiled twin of `refsvm.core.state.moved`."""
    if change >= upper - value:
        return upper
    if change <= lower - value:
        return lower
    return min(max(value + change, lower), upper)


@inlined
def side(value, lower, upper):  # type: ignore[no-untyped-def]
    """Return a variable's side, RISES if α < U plus FALLS if α > L; steps read the side in place of α, L and U."""
    return np.int8((RISES if value < upper else 0) + (FALLS if value > lower else 0))


@inlined
def set_side(state, t, now):  # type: ignore[no-untyped-def]
    """Set the side of variable t to `now`, but write only a changed side: a write delays the pass over all sides."""
    if state.sides[t] != now:
        state.sides[t] = now


@inlined
def place_of(extreme, side, state, start):  # type: ignore[no-untyped-def]
    """Return the first variable on this side with G = `extreme` in the tile at `start`; −1 if `start` is −1."""
    if start < 0:
        return -1
    stop = min(start + TILE, len(state.gradient))
    return start + place_on_side(state.gradient[start:stop], state.sides[start:stop], side, extreme)


@inlined
def update_gradient(state, i, j, mu, kappa, uses_momentum, anew):  # type: ignore[no-untyped-def]
    """Do G −= μ (K[i] − K[j]) and find the extremes of G, as `refsvm.core.problem.most_violating_pair` does.

    If the step uses momentum, do G −= μ (K[i] − K[j]) + κKΔ and store μ (K[i] − K[j]) + κKΔ as the next KΔ. If `anew`
    is True, store only μ (K[i] − K[j]) as the next KΔ.
    """
    now = state.now[0]
    highest, lowest, top_tile, bottom_tile = -MOST, MOST, -1, -1
    # go through G tile by tile and note the tile of each extreme, so that only this tile is searched for the extreme
    for start in range(0, len(state.gradient), TILE):
        stop = min(start + TILE, len(state.gradient))
        # slices show the compiler that the arrays have equal lengths, so that it drops checks
        G, sides = state.gradient[start:stop], state.sides[start:stop]
        row_i, row_j = state.kernel[state.slots[i], start:stop], state.kernel[state.slots[j], start:stop]
        # prefetch only row j, because row i has just been read and is in the cache
        prefetch(state.kernel[state.slots[j]], start, TILE)
        images = state.displacement_image[start:stop]
        high, low = -MOST, MOST
        for t in range(len(G)):
            change = mu * (np.float64(row_i[t]) - row_j[t])  # rows may be float32
            if uses_momentum:
                pair, change = change, change + kappa * images[t]
                images[t] = pair if anew else change
            g = G[t] - change
            G[t] = g
            high = larger(high, g if (sides[t] & RISES) != 0 else -MOST)
            low = smaller(low, g if (sides[t] & FALLS) != 0 else MOST)
        # compare with > and <, so that the first tile wins among equal extremes, as in NumPy
        if high > highest:
            highest, top_tile = high, start
        if low < lowest:
            lowest, bottom_tile = low, start
    # top is −1 if no variable may rise, and bottom is −1 if no variable may fall
    now.top = place_of(highest, RISES, state, top_tile)
    now.bottom = place_of(lowest, FALLS, state, bottom_tile)
    both = min(now.top, now.bottom) >= 0
    now.gap = state.gradient[now.top] - state.gradient[now.bottom] if both else -np.inf


@inlined
def remember(state, i, j, mu):  # type: ignore[no-untyped-def]
    """Add the finished step to the history of the state."""
    now = state.now[0]
    now.last_step, now.last_newton = mu, now.slope / now.curvature
    now.last_free = 1 if now.low < mu < now.high else 0
    now.last_planned = 1 if now.n_candidates > 0 else 0
    # shift the entries of the history in a loop, because there are few
    for h in range(len(state.curvatures) - 1, 0, -1):
        state.working_sets[h, 0] = state.working_sets[h - 1, 0]
        state.working_sets[h, 1] = state.working_sets[h - 1, 1]
        state.curvatures[h] = state.curvatures[h - 1]
    state.working_sets[0, 0], state.working_sets[0, 1] = i, j
    state.curvatures[0] = now.curvature
    now.iteration += 1


@inlined
def move(state, i, j, mu):  # type: ignore[no-untyped-def]
    """Compiled twin of `refsvm.core.state.SolverState.move`; also find the most violating pair in one pass over G."""
    now, alpha, lower, upper = state.now[0], state.alpha, state.lower, state.upper
    before_i, before_j = alpha[i], alpha[j]
    # αᵢ += μ,  αⱼ −= μ; `moved` sets a variable that reaches its bound exactly to the bound
    alpha[i] = moved(before_i, mu, lower[i], upper[i])
    alpha[j] = moved(before_j, -mu, lower[j], upper[j])
    set_side(state, i, side(alpha[i], lower[i], upper[i]))
    set_side(state, j, side(alpha[j], lower[j], upper[j]))
    now.largest = max(now.largest, max(abs(alpha[i]), abs(alpha[j])))
    now.stalled = now.stalled + 1 if alpha[i] == before_i and alpha[j] == before_j else 0
    now.last_moved = 2
    # G −= μ (K[i] − K[j])
    update_gradient(state, i, j, mu, 0.0, False, False)
    # f += μℓ − ½μ²q
    now.objective += mu * now.slope - 0.5 * mu * mu * now.raw_curvature
    remember(state, i, j, mu)


@inlined
def leave_support(state):  # type: ignore[no-untyped-def]
    """Remove all variables from the support, the list of variables whose displacement may differ from 0."""
    now = state.now[0]
    for c in range(now.n_support):
        state.places[state.support[c]] = -1
        state.moving[0, c] = state.moving[1, c] = state.moving[2, c] = state.moving[3, c] = 0.0
    now.n_support = 0


@inlined
def filled_up(count):  # type: ignore[no-untyped-def]
    """Return `count` rounded up to a multiple of AT_ONCE; loops read up to there, and entries after `count` are 0."""
    return (count + (AT_ONCE - 1)) & -AT_ONCE


@inlined
def enter_support(state, t):  # type: ignore[no-untyped-def]
    """Return the position of variable t in the support; add it with Δₜ = 0 if it is not in the support."""
    now, moving = state.now[0], state.moving
    place = state.places[t]
    if place < 0:
        place = now.n_support
        state.support[place], state.places[t] = t, place
        moving[0, place], moving[1, place] = 0.0, state.alpha[t]
        moving[2, place], moving[3, place] = state.lower[t], state.upper[t]
        now.n_support += 1
    return place


@inlined
def find_support(state):  # type: ignore[no-untyped-def]
    """Set the support to the variables whose displacement is not 0."""
    leave_support(state)
    for t in range(len(state.displacement)):
        if state.displacement[t] != 0.0:
            state.moving[0, enter_support(state, t)] = state.displacement[t]


@inlined
def write_displacement(state):  # type: ignore[no-untyped-def]
    """Write Δ of all variables from the support to `state.displacement`."""
    for t in range(len(state.displacement)):
        state.displacement[t] = displacement_of(state, t)


@inlined
def displacement_of(state, t):  # type: ignore[no-untyped-def]
    """Return Δₜ."""
    return state.moving[0, state.places[t]] if state.places[t] >= 0 else 0.0


@inlined
def forget_displacement(state):  # type: ignore[no-untyped-def]
    """Set Δ ← 0 before the first step of a solve."""
    now = state.now[0]
    leave_support(state)
    now.carried_slope = now.carried_curvature = now.last_carry = 0.0
    for t in range(len(state.displacement)):
        state.displacement[t] = state.displacement_image[t] = 0.0


@inlined
def advance(state, i, j, mu, kappa):  # type: ignore[no-untyped-def]
    """Do Δ ← μ(eᵢ − eⱼ) + κΔ and α += Δ on the support; set each α that reaches a bound exactly to the bound.

    Return the numbers of variables with Δ ≠ 0, of variables whose α changes, and of variables at a bound.
    """
    now = state.now[0]
    # if κ = 0, only the pair moves
    if kappa == 0.0:
        leave_support(state)
    first, second = enter_support(state, i), enter_support(state, j)
    count = now.n_support
    m = filled_up(count)
    delta, alpha, lower, upper = (
        state.moving[0, :m],
        state.moving[1, :m],
        state.moving[2, :m],
        state.moving[3, :m],
    )
    moves = changed = bounded = np.int64(0)
    size, share, largest = abs(mu), SNAP if kappa != 0.0 else 0.0, now.largest
    # this loop has no branches, so that the processor computes several entries at once
    for c in range(len(delta)):
        before, low, high = alpha[c], lower[c], upper[c]
        change = kappa * delta[c] + (mu if c == first else 0.0) - (mu if c == second else 0.0)
        rounding = share * (abs(before) + size)
        after = before + change
        after = low if after < low else after
        after = high if after > high else after
        after = low if (change < 0.0) & (change <= low - before + rounding) else after
        after = high if (change > 0.0) & (change >= high - before - rounding) else after
        delta[c], alpha[c] = change, after
        moves += 1 if change != 0.0 else 0
        changed += 1 if after != before else 0
        bounded += 1 if ((after == low) | (after == high)) & (c < count) else 0
        largest = larger(largest, abs(after))
    now.largest = largest
    for c in range(count):
        state.alpha[state.support[c]] = alpha[c]
    return moves, changed, bounded


@inlined
def carry_the_pair(state, i, j, mu, slope):  # type: ignore[no-untyped-def]
    """Set Δ ← μ(eᵢ − eⱼ), and store its slope ΔᵀG and curvature ΔᵀKΔ; `slope` is Gᵢ − Gⱼ after the step."""
    now, delta = state.now[0], state.moving[0]
    leave_support(state)
    first, second = enter_support(state, i), enter_support(state, j)
    delta[first], delta[second] = mu, -mu
    now.carried_slope = mu * slope
    now.carried_curvature = mu * mu * now.raw_curvature


@inlined
def carry(state, i, j, mu, kappa):  # type: ignore[no-untyped-def]
    """Compiled twin of `refsvm.core.state.SolverState._carry`."""
    now = state.now[0]
    # with β = (KΔ)ᵢ − (KΔ)ⱼ the new ΔᵀKΔ is μ²q + 2μκβ + κ²ΔᵀKΔ, and f gains ΔᵀG − ½ ΔᵀKΔ
    beta = state.displacement_image[i] - state.displacement_image[j]
    curvature = mu * mu * now.raw_curvature + 2.0 * mu * kappa * beta + kappa * kappa * now.carried_curvature
    slope = mu * now.slope + kappa * now.carried_slope
    # Δ ← μ(eᵢ − eⱼ) + κΔ,  α += Δ
    now.last_carry = kappa
    now.last_moved, changed, bounded = advance(state, i, j, mu, kappa)
    now.stalled = now.stalled + 1 if changed == 0 else 0
    # update all sides only if a variable is at a bound; otherwise only the pair's variables can have left a bound
    if bounded > 0:
        for c in range(now.n_support):
            set_side(
                state, state.support[c], side(state.moving[1, c], state.moving[2, c], state.moving[3, c])
            )
    else:
        set_side(state, i, RISES + FALLS)
        set_side(state, j, RISES + FALLS)
    inside = state.sides[i] == RISES + FALLS and state.sides[j] == RISES + FALLS
    # G −= KΔ,  f += ΔᵀG − ½ ΔᵀKΔ with G before the step
    anew = kappa != 0.0 and inside and bounded > 0
    update_gradient(state, i, j, mu, kappa, True, anew)
    now.objective += slope - 0.5 * curvature
    now.carried_slope, now.carried_curvature = slope - curvature, curvature
    if anew:
        # a bound has cut the step along Δ, but not the step along eᵢ − eⱼ, so keep only the latter: Δ ← μ(eᵢ − eⱼ)
        carry_the_pair(state, i, j, mu, now.slope - kappa * beta - mu * now.raw_curvature)
    remember(state, i, j, mu)
    if kappa != 0.0:
        # a step counts as free if neither i nor j is at a bound after it
        now.last_free = 1 if inside else 0


def move_by(state, i, j, length):  # type: ignore[no-untyped-def]
    """Take a step: the compiler inserts a call of `move` for a length μ, and of `carry` for a length (μ, κ)."""
    return carry(state, i, j, *length) if isinstance(length, tuple) else move(state, i, j, length)


@overload(move_by, inline="always")
def _move_by(state, i, j, length):  # type: ignore[no-untyped-def]
    if isinstance(length, types.BaseTuple):
        return lambda state, i, j, length: carry(state, i, j, length[0], length[1])
    return lambda state, i, j, length: move(state, i, j, length)  # noqa: PLW0108  Numba needs these arguments


@called
def copy_vector(source, target):  # type: ignore[no-untyped-def]
    """Copy all numbers from `source` to `target`."""
    for t in range(len(source)):
        target[t] = source[t]


@called
def most_violating_pair(state):  # type: ignore[no-untyped-def]
    """Compiled twin of `refsvm.core.problem.most_violating_pair`; also sets the side of each variable."""
    now, alpha, G, lower, upper = state.now[0], state.alpha, state.gradient, state.lower, state.upper
    top = bottom = -1
    highest, lowest = -LARGEST_INT64, LARGEST_INT64
    for t in range(len(alpha)):
        state.sides[t] = side(alpha[t], lower[t], upper[t])
        key = sortable_bits(G[t])
        if (state.sides[t] & RISES) != 0 and key > highest:
            highest, top = key, t
        if (state.sides[t] & FALLS) != 0 and key < lowest:
            lowest, bottom = key, t
    now.top, now.bottom = top, bottom
    now.gap = G[top] - G[bottom] if min(top, bottom) >= 0 else -np.inf


@called
def restart(v, state, memories):  # type: ignore[no-untyped-def]
    """Compiled twin of `refsvm.core.state.SolverState.restart`."""
    now = state.now[0]
    for h in range(len(state.working_sets)):
        state.working_sets[h, 0] = state.working_sets[h, 1] = -1
        state.candidates[h, 0] = state.candidates[h, 1] = -1
    now.iteration = now.last_free = now.last_planned = now.n_candidates = now.stalled = now.stage = 0
    now.slope = now.curvature = now.raw_curvature = now.low = now.high = now.last_step = now.last_newton = 0.0
    now.least_curvature = np.inf
    forget_displacement(state)
    at = 0
    for memory in (state.selector_memory, state.step_memory, state.stop_memory):
        for t in range(len(memory)):
            memory[t] = memories[at + t]
        at += len(memory)
    # f = ½ αᵀ(v + G)
    objective = 0.0
    for t in range(len(state.alpha)):
        objective += state.alpha[t] * (v[t] + state.gradient[t])
        now.largest = max(now.largest, abs(state.alpha[t]))
    now.objective = 0.5 * objective
    most_violating_pair(state)
