"""CacheAware, a deprecated selector, which is now an example: ``docs/examples/cache_aware.py``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from refsvm.core.selectors.hybrid_maximum_gain import HybridMaximumGain
from refsvm.core.selectors.second_order import SecondOrder
from refsvm.core.state import SolverState

SECOND_ORDER: Final = SecondOrder()
LEAVES: Final = (
    "refsvm.CacheAware is deprecated: no paper defines this rule, and version 0.6.0 removes it. To keep "
    "using it, copy docs/examples/cache_aware.py; otherwise pass HybridMaximumGain()."
)


@dataclass(frozen=True)
class CacheAware(HybridMaximumGain):
    """Selects by second order while the cache has a free slot for a kernel row, then by hybrid maximum gain."""

    def memory(self, problem: Any, steps: int = 0) -> np.ndarray:
        """Return an array that stores in which step second-order selection last chose a pair."""
        return np.full(1, -1.0)

    def select(self, state: SolverState) -> tuple[int, int]:
        """Select by second order or by hybrid maximum gain, depending on the free slots of the cache."""
        rows, latest = state.rows, state.selector_memory
        full = not rows.holds_all and rows.filled == rows.capacity
        # select by second order until the step ends, even if a row of this step fills the last slot of the cache
        if full and latest[0] != state.iteration:
            return super().select(state)
        latest[0] = state.iteration
        return SECOND_ORDER.select(state)
