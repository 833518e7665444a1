"""GrowingMatrix: a kernel matrix to which examples are added, and from which they are removed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, Final

import numpy as np

ROWS_FOR_ONE_SPARE: Final = 8
"""One spare row and column is allocated for this many rows."""

LEAST: Final = 64
"""Smallest number of spare rows and columns."""

TOGETHER: Final = 64
"""Number of rows copied at a time, small enough to stay in the processor's cache."""


class GrowingMatrix:
    """A symmetric matrix K in the corner of a larger array, so that adding rows and columns rarely copies K.

    Without spare rows, `grown` copies K into an array that is larger by a fraction of its size. The returned matrix may
    share its array with the original matrix; if the original matrix grows again, `grown` copies it first.

    Parameters
    ----------
    values : ndarray of shape (n, n), float64
        K, which is copied.
    most : float
        Largest number of rows of the array. If K has more than `most` rows, the array gets no spare rows.

    Attributes
    ----------
    array : ndarray of shape (m, m), float64, m ≥ n
    n : int
        Number of rows of K.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm.analysis.growing import GrowingMatrix
    >>> one = GrowingMatrix(np.array([[2.0]]))
    >>> two = one.grown(1, lambda some: np.array([[0.5, 1.0]])[some])
    >>> two.K, two.array is one.array
    (array([[2. , 0.5],
           [0.5, 1. ]]), True)
    """

    def __init__(self, values: np.ndarray, most: float = math.inf) -> None:
        self._set(_copied(values, np.arange(len(values)), len(values), most), len(values))

    def _set(self, array: np.ndarray, n: int) -> GrowingMatrix:
        """Store the array and the number n of its rows in use, and return `self`."""
        self.array, self.n, self._is_last = array, n, True
        return self

    @property
    def K(self) -> np.ndarray:  # noqa: N802
        """The matrix as a view, shape (n, n)."""
        return self.array[: self.n, : self.n]

    def grown(
        self, m: int, rows: Callable[[slice], np.ndarray], most: float = math.inf, together: int = TOGETHER
    ) -> GrowingMatrix:
        """Return the matrix with m more rows and columns; ``rows(slice)`` computes new rows, of length n + m."""
        n, size, array = self.n, self.n + m, self.array
        # copy K if another matrix has taken the spare rows of the shared array, or if there are too few spare rows
        if not self._is_last or size > len(array):
            array = _copied(self.K, np.arange(n), size, most)
        else:
            self._is_last = False
        for some in _slices(0, m, together):
            array[n + some.start : n + some.stop, :size] = rows(some)
        # evaluate only the new rows, and mirror them into the new columns
        for some in _slices(n, size):
            array[:n, some] = array[some, :n].T
            # k(x, z) and k(z, x) may differ by rounding, so store their mean in both places
            both = 0.5 * (array[some, some.start : size] + array[some.start : size, some].T)
            array[some, some.start : size], array[some.start : size, some] = both, both.T
        return GrowingMatrix.__new__(GrowingMatrix)._set(array, size)

    def without(self, rows: np.ndarray) -> GrowingMatrix:
        """Return the part of the matrix with the given rows and columns, in a separate array; `rows` is ascending."""
        array = _copied(self.K, rows, len(rows), math.inf)
        return GrowingMatrix.__new__(GrowingMatrix)._set(array, len(rows))

    def __reduce__(self) -> Any:
        return GrowingMatrix, (np.ascontiguousarray(self.K),)


def _copied(K: np.ndarray, rows: np.ndarray, size: int, most: float) -> np.ndarray:
    """Return an array with at least `size` rows, whose upper left corner contains the given rows and columns of K."""
    room = int(min(size + max(LEAST, size // ROWS_FOR_ONE_SPARE), max(most, size)))
    # fill the array with zeros, because freed memory may contain values of an example that was removed
    array, every = np.zeros((room, room)), len(rows) == len(K)
    for some in _slices(0, len(rows)):
        array[some, : len(rows)] = K[some] if every else K[rows[some]][:, rows]
    return array


def _slices(start: int, stop: int, together: int = TOGETHER) -> Iterator[slice]:
    """Yield slices that cover a range, each of at most `together` rows."""
    for first in range(start, stop, max(together, 1)):
        yield slice(first, min(first + together, stop))
