"""Compiled twin of `refsvm.services.cache_aware.CacheAware`."""

from __future__ import annotations

from typing import Any

from refsvm.compiled.interface.layout import SELECT
from refsvm.compiled.interface.twin import twin
from refsvm.compiled.selectors.hybrid_maximum_gain import hybrid_maximum_gain
from refsvm.compiled.selectors.second_order import second_order

by_maximum_gain: Any = hybrid_maximum_gain.inlined  # type: ignore[attr-defined]
by_second_order: Any = second_order.inlined  # type: ignore[attr-defined]


@twin(SELECT)
def cache_aware(parameters, state):  # type: ignore[no-untyped-def]
    """Compiled twin of `refsvm.services.cache_aware.CacheAware`."""
    latest = state.selector_memory
    # memory is full once the last slot has a stamp: slots are filled in order, and a used slot has a stamp > 0
    full = len(state.stamps) < len(state.alpha) and state.stamps[-1] > 0
    # if second-order selection itself has filled the last slot in this iteration, use it again
    if full and latest[0] != state.now[0].iteration:
        return by_maximum_gain(parameters, state)
    latest[0] = state.now[0].iteration
    return by_second_order(parameters, state)
