"""Twin of `refsvm.services.cache_aware.CacheAware`."""

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
    """Twin of `refsvm.services.cache_aware.CacheAware`."""
    latest = state.selector_memory
    # slots are filled in order, and the stamp of a slot is the time of its last use
    full = len(state.stamps) < len(state.alpha) and state.stamps[-1] > 0
    # second-order selection requests a row, which may take the last slot, and is then called again
    if full and latest[0] != state.now[0].iteration:
        return by_maximum_gain(parameters, state)
    latest[0] = state.now[0].iteration
    return by_second_order(parameters, state)
