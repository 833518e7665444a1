"""PathTracker: from one regularisation to all of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from refsvm.problem import DualProblem

__all__ = ["PathTracker"]


class PathTracker(ABC):
    """Follow the optimum of a classification problem while λ = 1/C falls."""

    @abstractmethod
    def track(self, problem: DualProblem, C_min: float, C_max: float) -> tuple[np.ndarray, np.ndarray]:
        """Return the breakpoints C, ascending, shape (m,), and the optimal α at each, shape (m, n)."""
