"""Twins of the stopping rules."""

from __future__ import annotations

from refsvm.fast.layout import CHECK
from refsvm.fast.twin import twin

__all__ = ["kkt_gap", "working_set_gap"]


@twin(CHECK)
def kkt_gap(parameters, state):  # type: ignore[no-untyped-def]
    """Twin of `refsvm.KKTGap`."""
    # ψ ≤ ε
    return int(state.now[0].gap <= parameters[0])


@twin(CHECK)
def working_set_gap(parameters, state):  # type: ignore[no-untyped-def]
    """Twin of `refsvm.WorkingSetGap`."""
    now, sets = state.now[0], state.working_sets
    # ψ ≤ ε
    if now.gap <= parameters[0]:
        return 1
    # |μ*| < ε on a set related to the one before
    related = False
    for place in range(2):
        b = sets[0, place]
        related = related or (b >= 0 and (b == sets[1, 0] or b == sets[1, 1]))
    return 2 if related and abs(now.last_step) < parameters[0] else 0
