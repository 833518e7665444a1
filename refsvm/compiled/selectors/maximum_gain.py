"""Compiled twin of `refsvm.MaximumGain`."""

from __future__ import annotations

import numpy as np

from refsvm.compiled.interface.layout import SELECT, TAU
from refsvm.compiled.interface.rows import row_or_ask
from refsvm.compiled.interface.twin import inlined, twin
from refsvm.compiled.selectors.gain import exact_gain


@inlined
def scan(state, k, i, j, best):  # type: ignore[no-untyped-def]
    """Return (i, j, best), or the pair {k, t} with the largest gain above `best`; best = ∞ if row k is missing."""
    G, alpha, lower, upper, diagonal = state.gradient, state.alpha, state.lower, state.upper, state.diagonal
    row, is_there = row_or_ask(state, k)
    if not is_there:
        return -1, -1, np.inf
    for t in range(len(alpha)):
        # ℓ = |Gₖ − Gₜ|,  q = Kₖₖ + Kₜₜ − 2Kₖₜ
        difference = G[k] - G[t]
        if difference > 0.0:
            room = min(upper[k] - alpha[k], alpha[t] - lower[t])
        else:
            room = min(upper[t] - alpha[t], alpha[k] - lower[k])
        if difference != 0.0 and room > 0.0:
            q = diagonal[k] + diagonal[t] - 2.0 * row[t]
            gain = exact_gain(abs(difference), q if q > 0.0 else TAU, room)
            if gain > best:
                best = gain
                i, j = (k, t) if difference > 0.0 else (t, k)
    return i, j, best


@inlined
def best_reselection(state, rows):  # type: ignore[no-untyped-def]
    """Compiled twin of `refsvm.core.selectors.maximum_gain.best_reselection`."""
    first, second = state.working_sets[0, 0], state.working_sets[0, 1]
    i, j, best = -1, -1, 0.0
    if rows == 0.0:
        for k in range(len(state.slots)):
            if state.slots[k] >= 0:
                i, j, best = scan(state, k, i, j, best)
        return i, j, best
    # `old` is True if the first variable of the latest working set was also in the preceding set
    old = first == state.working_sets[1, 0] or first == state.working_sets[1, 1]
    # fetch both rows before the scan, because a new row may replace another row in memory
    if rows == 2.0 and not (row_or_ask(state, first)[1] and row_or_ask(state, second)[1]):
        return i, j, best
    if rows == 2.0 or not old:
        i, j, best = scan(state, first, i, j, best)
    if rows == 2.0 or old:
        i, j, best = scan(state, second, i, j, best)
    return i, j, best


@twin(SELECT)
def maximum_gain(parameters, state):  # type: ignore[no-untyped-def]
    """Compiled twin of `refsvm.MaximumGain`."""
    now = state.now[0]
    if state.working_sets[0, 0] < 0:
        if now.gap > 0.0:
            return now.top, now.bottom
        return -1, -1
    i, j, _ = best_reselection(state, parameters[0])
    return i, j
