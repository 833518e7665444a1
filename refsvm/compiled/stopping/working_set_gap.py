"""Compiled twin of `refsvm.WorkingSetGap`."""

from __future__ import annotations

from refsvm.compiled.interface.layout import CHECK
from refsvm.compiled.interface.twin import twin


@twin(CHECK)
def working_set_gap(parameters, state):  # type: ignore[no-untyped-def]
    """Compiled twin of `refsvm.WorkingSetGap`."""
    now, sets = state.now[0], state.working_sets
    # ψ ≤ ε
    if now.gap <= parameters[0]:
        return 1
    # |μ*| < ε for a pair that shares a variable with the previous working set
    related = False
    for place in range(2):
        b = sets[0, place]
        related = related or (b >= 0 and (b == sets[1, 0] or b == sets[1, 1]))
    return 2 if related and abs(now.last_step) < parameters[0] else 0
