"""Compiled twin of `refsvm.HybridMaximumGain`."""

from __future__ import annotations

import math

from refsvm.compiled.interface.layout import SELECT
from refsvm.compiled.interface.twin import inlined, twin
from refsvm.compiled.selectors.gain import unless_negligible
from refsvm.compiled.selectors.maximum_gain import best_reselection


@inlined
def cornered(state, eta):  # type: ignore[no-untyped-def]
    """Compiled twin of `refsvm.HybridMaximumGain._cornered`."""
    for place in range(2):
        k = state.working_sets[0, place]
        value, lower, upper = state.alpha[k], state.lower[k], state.upper[k]
        width = upper - lower
        margin = eta * width if width < math.inf else 0.0
        if value > lower + margin and value < upper - margin:
            return False
    return True


@twin(SELECT)
def hybrid_maximum_gain(parameters, state):  # type: ignore[no-untyped-def]
    """Compiled twin of `refsvm.HybridMaximumGain`."""
    now = state.now[0]
    if now.gap <= 0.0:
        return -1, -1
    if state.working_sets[0, 0] >= 0 and not cornered(state, parameters[0]):
        i, j, gain = best_reselection(state, parameters[1])
        return unless_negligible(state, i, j, gain)
    return now.top, now.bottom
