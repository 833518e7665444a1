"""Sums in a fixed order, so that NumPy and compiled code get the same number."""

from __future__ import annotations

import numpy as np

__all__ = ["total"]


def total(values: np.ndarray) -> float:
    """Σ values, from left to right: the order in which the twins sum, so that both get the same number.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm._sums import total
    >>> total(np.array([1.0, 2.0, 4.0]))
    7.0
    """
    return float(np.cumsum(values)[-1]) if len(values) else 0.0
