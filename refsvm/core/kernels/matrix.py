"""KernelMatrix: base of all kernel matrices; View: that of some of the variables.

A matrix evaluates blocks of its entries and stores nothing (`refsvm.core.kernels.gram.Gram`, or an object of the
user's), or it is a store of rows (`refsvm.core.kernels.rows.KernelRows`). Code that works with one need not know which.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any

import numpy as np

from refsvm.core.kernels.facts import KernelFacts
from refsvm.core.shown import Shown


class KernelMatrix(Shown, ABC):
    """A symmetric matrix K of shape (n, n), evaluated block by block.

    Attributes
    ----------
    n : int
        Number of variables.
    dense : ndarray of shape (n, n), float64 or float32, or None
        The matrix itself, where it is held.
    store : KernelRows or None
        Where the rows are taken from, if they are stored anywhere.
    source, indices : KernelMatrix and ndarray of shape (n,), int64
        Of a view: its matrix, and the row of each variable there.
    repeats : bool
        Whether several variables share such a row.
    facts : KernelFacts
        Facts of the numbers, which views and stores hand on.
    full_matrix_only : bool
        Whether all rows should be evaluated in one block, where there is memory for them.
    supports_float32 : bool
        Whether rows as float32 are computed in single precision, with values of which none exceeds 1.
    is_float32 : bool
        Whether the matrix itself is held as a float32 array.
    exact : KernelMatrix
        The matrix that evaluates the values, without any store before it.
    distinct : ndarray of shape (n,), int64
        A number for each variable; those that are known to have the same row of K share one.
    origin : ndarray of shape (d,) or None
        Where a linear kernel is evaluated around; None for 0.
    columns : tuple of str
        Names of the columns of the examples; () where they have none.
    """

    n: int
    dense: np.ndarray | None = None
    store: Any = None
    source: KernelMatrix
    indices: np.ndarray
    repeats: bool = False
    full_matrix_only: bool = False
    origin: np.ndarray | None = None
    columns: tuple[str, ...] = ()

    @cached_property
    def facts(self) -> KernelFacts:
        """Facts of the numbers: what the matrix says of itself."""
        return KernelFacts.of(self)

    @property
    def kernel_name(self) -> str:
        """The kernel, as it prints."""
        return type(self).__name__

    def _line(self) -> str:
        return f"n={self.n}, {self.kernel_name}"

    @property
    def supports_float32(self) -> bool:
        """Whether rows as float32 are computed in single precision, with values of which none exceeds 1."""
        return False

    @property
    def is_float32(self) -> bool:
        """Whether the matrix itself is held as a float32 array."""
        return self.dense is not None and self.dense.dtype == np.float32

    @property
    def exact(self) -> KernelMatrix:
        """The matrix that evaluates the values, without any store before it."""
        return self

    def parts(self, dtype: np.dtype) -> Any:
        """Return what compiled code makes rows of this type from (`refsvm.core.kernels.products.RowParts`), or None."""
        return None

    @property
    def distinct(self) -> np.ndarray:
        """A number for each variable, shape (n,); those that are known to have the same row of K share one."""
        return np.arange(self.n)

    @property
    def centred(self) -> KernelMatrix:
        """The matrix that problems with Σα = 0 are solved with: this one, unless another origin loses fewer digits."""
        return self

    def offset(self, alpha: np.ndarray) -> float:
        """Return Kα of the data as they were given, less that of this matrix, one number for Σα = 0."""
        return 0.0

    @abstractmethod
    def block(
        self, rows: np.ndarray, columns: np.ndarray | None = None, out: np.ndarray | None = None
    ) -> np.ndarray:
        """K[rows][:, columns] as a C-ordered array; all columns by default.

        Parameters
        ----------
        rows, columns : ndarrays of shapes (m,) and (c,), int64
        out : ndarray of shape (m, c), optional
            Where to write the values.

        Returns
        -------
        ndarray of shape (m, c), float64 unless `out` is given
        """

    @abstractmethod
    def diagonal(self) -> np.ndarray:
        """All kᵢᵢ, shape (n,), float64."""

    def row(self, i: int) -> np.ndarray:
        """K[i], shape (n,), float64. Do not write to it; it may change once another row is asked for."""
        return self.block(np.array([i]))[0]

    def restrict(self, indices: np.ndarray) -> KernelMatrix:
        """Return the matrix of the variables in `indices`, shape (m,), int64."""
        return View(self, indices)


class View(KernelMatrix):
    """The matrix whose entry (s, t) is the entry (indices[s], indices[t]) of another.

    ε-insensitive regression has two variables for each example, and both have the kernel values of that example: its
    matrix is a view of one of n examples, which alone is ever evaluated and stored. A restricted problem is a view of
    the rows that are stored for the whole one.

    Parameters
    ----------
    source : KernelMatrix
        Of the examples, or of all variables.
    indices : ndarray of shape (m,), int64
        The row of the source behind each variable.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import Linear
    >>> from refsvm.core.kernels import Gram
    >>> from refsvm.core.kernels.matrix import View
    >>> View(Gram(Linear(), np.array([[1.0], [2.0]])), np.array([0, 1, 0, 1])).block(np.array([3]))
    array([[2., 4., 2., 4.]])
    """

    def __init__(self, source: KernelMatrix, indices: np.ndarray) -> None:
        self.source, self.indices = source, indices
        self.n, self.store, self.repeats = len(indices), source.store, len(indices) > source.n
        self.origin = source.origin

    @cached_property
    def facts(self) -> KernelFacts:
        """Those of the source."""
        return self.source.facts

    @property
    def kernel_name(self) -> str:
        """That of the matrix that it shows a part of."""
        return self.source.kernel_name

    @property
    def supports_float32(self) -> bool:
        """Whether those of the source do."""
        return self.source.supports_float32

    @property
    def exact(self) -> KernelMatrix:
        """A view of the matrix that evaluates the source."""
        return self if self.store is None else View(self.source.exact, self.indices)

    @property
    def distinct(self) -> np.ndarray:
        """The numbers of the examples behind the variables."""
        return self.source.distinct[self.indices]

    @property
    def centred(self) -> KernelMatrix:
        """The same view of the source around its mean."""
        source = self.source.centred
        return self if source is self.source else View(source, self.indices)

    def offset(self, alpha: np.ndarray) -> float:
        """Return that of the examples, with the sum of the variables of each."""
        return self.source.offset(np.bincount(self.indices, alpha, self.source.n))

    def block(
        self, rows: np.ndarray, columns: np.ndarray | None = None, out: np.ndarray | None = None
    ) -> np.ndarray:
        """K[rows][:, columns] among the chosen variables, written to `out` if given."""
        there = self.indices if columns is None else self.indices[columns]
        if self.store is not None:
            return self.source.block(self.indices[rows], there, out)
        # nothing is stored: each example is evaluated once, however many of its variables are asked for
        examples, place = np.unique(self.indices[rows], return_inverse=True)
        others, spread = np.unique(there, return_inverse=True)
        values = self.source.block(examples, None if len(others) == self.source.n else others)
        if out is None:
            out = np.empty((len(rows), len(there)))
        out[...] = values[place][:, spread]
        return out

    def diagonal(self) -> np.ndarray:
        """kᵢᵢ of the chosen variables."""
        return self.source.diagonal()[self.indices]

    def restrict(self, indices: np.ndarray) -> View:
        """Fewer variables still; what is not stored forgets the examples that none of them needs."""
        chosen = self.indices[indices]
        if self.store is not None:
            return View(self.source, chosen)
        examples, place = np.unique(chosen, return_inverse=True)
        return View(self.source.restrict(examples), place)
