"""A kernel matrix held in single precision: half the memory to read in every step."""

from __future__ import annotations

import numpy as np

__all__ = ["SinglePrecision"]


class SinglePrecision:
    """A kernel matrix whose values were rounded to float32, as LIBSVM rounds them, and are handed out as float64.

    Parameters
    ----------
    values : ndarray of shape (n, n), float32, C-ordered
    rounding : float
        About how far a value was from the true one before.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm.kernels.single import SinglePrecision
    >>> SinglePrecision(np.array([[1.0, 0.1], [0.1, 1.0]], dtype=np.float32), 0.0).block(np.array([1]))
    array([[0.1, 1. ]])
    """

    dense: np.ndarray | None = None
    prefers_batches = at_once = False

    def __init__(self, values: np.ndarray, rounding: float) -> None:
        self.values, self.n = values, len(values)
        self.rounding = max(rounding, float(np.finfo(np.float32).eps) / 2.0)

    def block(
        self, rows: np.ndarray, columns: np.ndarray | None = None, out: np.ndarray | None = None
    ) -> np.ndarray:
        """K[rows][:, columns] as float64, all columns by default, written to `out` if given."""
        found = self.values[rows] if columns is None else self.values[np.ix_(rows, columns)]
        if out is None:
            return found.astype(np.float64)
        out[...] = found
        return out

    def diagonal(self) -> np.ndarray:
        """All kᵢᵢ, shape (n,), float64."""
        return self.values.diagonal().astype(np.float64)

    def restrict(self, indices: np.ndarray) -> SinglePrecision:
        """Return the matrix of the examples in `indices`."""
        return SinglePrecision(np.ascontiguousarray(self.values[np.ix_(indices, indices)]), self.rounding)
