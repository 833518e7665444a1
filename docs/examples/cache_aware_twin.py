"""Twin of CacheAware."""

from refsvm.compiled.interface.layout import SELECT
from refsvm.compiled.interface.twin import twin
from refsvm.compiled.selectors.hybrid_maximum_gain import hybrid_maximum_gain
from refsvm.compiled.selectors.second_order import second_order

early, late = second_order.inlined, hybrid_maximum_gain.inlined


@twin(SELECT)
def cache_aware(parameters, state):
    """Twin of `CacheAware`."""
    latest = state.selector_memory
    # slots are filled in order, and carry the time of their last use: 0 before the first
    is_full = state.stamps[-1] > 0 and len(state.stamps) < len(state.alpha)
    # a twin that lacks a row is called again once the row is there; the number says whether EARLY had begun
    if is_full and latest[0] != state.now[0].iteration:
        return late(parameters, state)
    latest[0] = state.now[0].iteration
    return early(parameters, state)
