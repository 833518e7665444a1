"""Compiled twin of `refsvm.EagerPlanningStep`."""

from __future__ import annotations

from refsvm.compiled.interface.layout import LENGTH
from refsvm.compiled.interface.twin import twin
from refsvm.compiled.steps.planning_ahead import best_plan


@twin(LENGTH)
def eager_planning(parameters, state, i, j):  # type: ignore[no-untyped-def]
    """Compiled twin of `refsvm.EagerPlanningStep`."""
    now = state.now[0]
    if now.last_planned == 0:
        best, chosen = best_plan(int(parameters[0]), state, i, j)
        if best >= 0.0:
            return chosen
    # μ* = clip(ℓ/q, lo, hi)
    return min(max(now.slope / now.curvature, now.low), now.high)
