"""GrowingMatrix: a kernel matrix that is held while examples come and go."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, Final

import numpy as np

ROWS_FOR_ONE_SPARE: Final = 8
"""One row and column in so many is room to spare."""

LEAST: Final = 64
"""Rows and columns to spare at least."""

TOGETHER: Final = 64
"""Rows that are copied at once, so that what is copied stays in the cache."""


class GrowingMatrix:
    """A symmetric matrix K in the corner of a larger array: most new rows and columns are added without a copy of K.

    Once the spare rows are used up, K is copied into an array that is larger by a part of its size. Two matrices may
    share an array. The first that grows takes the spare rows, and the other is copied when it grows.

    Parameters
    ----------
    values : ndarray of shape (n, n), float64
        K; copied.
    most : float
        Largest number of rows of the array, where K fits in.

    Attributes
    ----------
    array : ndarray of shape (room, room), float64
    n : int

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
        """Be the corner of an array."""
        self.array, self.n, self._is_last = array, n, True
        return self

    @property
    def K(self) -> np.ndarray:  # noqa: N802
        """The matrix, shape (n, n): a view."""
        return self.array[: self.n, : self.n]

    def grown(
        self, m: int, rows: Callable[[slice], np.ndarray], most: float = math.inf, together: int = TOGETHER
    ) -> GrowingMatrix:
        """Return the matrix with m more rows and columns; ``rows(slice)`` are some of the new ones, of length n + m."""
        n, size, array = self.n, self.n + m, self.array
        # another matrix has grown into the spare rows: they hold its examples, not ours
        if not self._is_last or size > len(array):
            array = _copied(self.K, np.arange(n), size, most)
        else:
            self._is_last = False
        for some in _slices(0, m, together):
            array[n + some.start : n + some.stop, :size] = rows(some)
        # only new rows are evaluated; the columns are their mirror image
        for some in _slices(n, size):
            array[:n, some] = array[some, :n].T
            # what is computed twice may differ by rounding
            both = 0.5 * (array[some, some.start : size] + array[some.start : size, some].T)
            array[some, some.start : size], array[some.start : size, some] = both, both.T
        return GrowingMatrix.__new__(GrowingMatrix)._set(array, size)

    def without(self, kept: np.ndarray) -> GrowingMatrix:
        """Return the matrix of some rows and columns, ascending, in an array of its own."""
        array = _copied(self.K, kept, len(kept), math.inf)
        return GrowingMatrix.__new__(GrowingMatrix)._set(array, len(kept))

    def __reduce__(self) -> Any:
        return GrowingMatrix, (np.ascontiguousarray(self.K),)


def _copied(K: np.ndarray, kept: np.ndarray, size: int, most: float) -> np.ndarray:
    """Return an array with room for a matrix of this size, with some rows and columns of K in its corner."""
    room = int(min(size + max(LEAST, size // ROWS_FOR_ONE_SPARE), max(most, size)))
    # zeros: memory that was freed may hold a number of an example that is to be forgotten
    array, every = np.zeros((room, room)), len(kept) == len(K)
    for some in _slices(0, len(kept)):
        array[some, : len(kept)] = K[some] if every else K[kept[some]][:, kept]
    return array


def _slices(start: int, stop: int, together: int = TOGETHER) -> Iterator[slice]:
    """Yield the slices of a range."""
    for first in range(start, stop, max(together, 1)):
        yield slice(first, min(first + together, stop))
