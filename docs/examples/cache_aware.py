"""Second order while kernel rows fit the cache, hybrid maximum gain once it is full."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from refsvm import HybridMaximumGain, SecondOrder, WorkingSetSelector
from refsvm.core.state import SolverState

EARLY, LATE = SecondOrder(), HybridMaximumGain()


@dataclass(frozen=True)
class CacheAware(WorkingSetSelector):
    """Choose by EARLY while the cache has a free slot for a kernel row, by LATE once it is full."""

    def memory(self, problem: Any, steps: int = 0) -> np.ndarray:
        """Return room for the number of the last step that EARLY chose."""
        return np.full(1, -1.0)

    def select(self, state: SolverState) -> tuple[int, int]:
        """Ask the rule that suits the cache."""
        rows, latest = state.rows, state.selector_memory
        is_full = rows.filled == rows.capacity and not rows.holds_all
        # EARLY goes on in the step in which its own row takes the last slot
        if is_full and latest[0] != state.iteration:
            return LATE.select(state)
        latest[0] = state.iteration
        return EARLY.select(state)

    def parameters(self) -> tuple[float, ...]:
        """Return the numbers of LATE; the twin of EARLY reads its number after planned steps only."""
        return LATE.parameters()

    def twin(self) -> Callable[..., tuple[int, int]]:
        """Return the compiled version."""
        from cache_aware_twin import cache_aware

        return cache_aware
