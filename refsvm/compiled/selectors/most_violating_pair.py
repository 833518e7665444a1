"""Compiled twin of `refsvm.MostViolatingPair`."""

from __future__ import annotations

from refsvm.compiled.interface.layout import SELECT
from refsvm.compiled.interface.twin import twin


@twin(SELECT)
def most_violating_pair(parameters, state):  # type: ignore[no-untyped-def]
    """Compiled twin of `refsvm.MostViolatingPair`."""
    if state.now[0].gap <= 0.0:
        return -1, -1
    # i = argmax_{I_up} G,  j = argmin_{I_down} G
    return state.now[0].top, state.now[0].bottom
