"""Twins of the selectors that rank pairs by their exact gain."""

from __future__ import annotations

from refsvm.fast.layout import SELECT, TAU
from refsvm.fast.twin import inlined, twin

__all__ = ["greedy", "hybrid_maximum_gain", "maximum_gain"]


@inlined
def exact_gain(slope, curvature, room):  # type: ignore[no-untyped-def]
    """Twin of `refsvm.selectors.gain.exact_gain` for one pair with ℓ > 0 and room > 0."""
    mu = min(slope / curvature, room)
    return mu * (2.0 * slope - mu * curvature)


@twin(SELECT)
def greedy(parameters, state):  # type: ignore[no-untyped-def]
    """Twin of `refsvm.Greedy`."""
    G, alpha, lower, upper, diagonal = state.gradient, state.alpha, state.lower, state.upper, state.diagonal
    i, j, best = -1, -1, 0.0
    for r in range(len(alpha)):
        rise = upper[r] - alpha[r]
        if not rise > 0.0:
            continue
        if state.slots[r] < 0:
            return r, -1
        row = state.kernel[state.slots[r]]
        for s in range(len(alpha)):
            # ℓ = Gᵢ − Gⱼ,  q = Kᵢᵢ + Kⱼⱼ − 2Kᵢⱼ
            slope, room = G[r] - G[s], min(rise, alpha[s] - lower[s])
            if slope > 0.0 and room > 0.0:
                q = diagonal[r] + diagonal[s] - 2.0 * row[s]
                gain = exact_gain(slope, q if q > 0.0 else TAU, room)
                if gain > best:
                    i, j, best = r, s, gain
    return i, j


@inlined
def scan(state, b, i, j, best):  # type: ignore[no-untyped-def]
    """Improve (i, j, best) by the pairs {b, t} for all t; the row of b is in memory."""
    G, alpha, lower, upper, diagonal = state.gradient, state.alpha, state.lower, state.upper, state.diagonal
    row = state.kernel[state.slots[b]]
    for t in range(len(alpha)):
        # ℓ = |G_b − Gₜ|,  q = K_bb + Kₜₜ − 2K_bt
        difference = G[b] - G[t]
        if difference > 0.0:
            room = min(upper[b] - alpha[b], alpha[t] - lower[t])
        else:
            room = min(upper[t] - alpha[t], alpha[b] - lower[b])
        if difference != 0.0 and room > 0.0:
            q = diagonal[b] + diagonal[t] - 2.0 * row[t]
            gain = exact_gain(abs(difference), q if q > 0.0 else TAU, room)
            if gain > best:
                best = gain
                i, j = (b, t) if difference > 0.0 else (t, b)
    return i, j, best


@inlined
def best_reselection(state, rows):  # type: ignore[no-untyped-def]
    """Twin of `refsvm.selectors.maximum_gain.best_reselection`."""
    first, second = state.working_sets[0, 0], state.working_sets[0, 1]
    i, j, best = -1, -1, 0.0
    if rows == 0.0:
        for b in range(len(state.slots)):
            if state.slots[b] >= 0:
                i, j, best = scan(state, b, i, j, best)
        return i, j
    # with one row: the variable that was new in the previous set
    old = first == state.working_sets[1, 0] or first == state.working_sets[1, 1]
    if rows == 2.0 or not old:
        if state.slots[first] < 0:
            return first, -1
        i, j, best = scan(state, first, i, j, best)
    if rows == 2.0 or old:
        if state.slots[second] < 0:
            return second, -1
        i, j, best = scan(state, second, i, j, best)
    return i, j


@twin(SELECT)
def maximum_gain(parameters, state):  # type: ignore[no-untyped-def]
    """Twin of `refsvm.MaximumGain`."""
    now = state.now[0]
    if state.working_sets[0, 0] < 0:
        if now.gap > 0.0:
            return now.top, now.bottom
        return -1, -1
    return best_reselection(state, parameters[0])


@inlined
def cornered(state, eta):  # type: ignore[no-untyped-def]
    """Twin of `refsvm.HybridMaximumGain._cornered`."""
    for place in range(2):
        b = state.working_sets[0, place]
        value, lower, upper = state.alpha[b], state.lower[b], state.upper[b]
        margin = eta * (upper - lower)
        if value > lower + margin and value < upper - margin:
            return False
    return True


@twin(SELECT)
def hybrid_maximum_gain(parameters, state):  # type: ignore[no-untyped-def]
    """Twin of `refsvm.HybridMaximumGain`."""
    now = state.now[0]
    if now.gap <= 0.0:
        return -1, -1
    if state.working_sets[0, 0] >= 0 and not cornered(state, parameters[0]):
        i, j = best_reselection(state, parameters[1])
        if i >= 0:
            return i, j
    return now.top, now.bottom
