"""KernelMatrix: base of all kernel matrices; View: the matrix of some of the variables.

A kernel matrix evaluates blocks of its entries and stores nothing (`refsvm.core.kernels.gram.Gram`, or a user's own
object), or it stores rows (`refsvm.core.kernels.rows.KernelRows`). Code that uses a kernel matrix need not know
whether the matrix stores rows.
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
        The matrix itself, if it is held as an array.
    store : KernelRows or None
        The store that holds the rows, or None if no store holds them.
    source, indices : KernelMatrix and ndarray of shape (n,), int64
        For a view: the underlying matrix, and for each variable the position of its row in the underlying matrix.
    repeats : bool
        True if several variables share a row of `source`.
    facts : KernelFacts
        The known facts about the values; a view or a row store reads them from its underlying matrix.
    full_matrix_only : bool
        True if all rows should be evaluated in one block when memory suffices.
    supports_float32 : bool
        True if rows can be computed in single precision and no kernel value exceeds 1.
    is_float32 : bool
        True if the matrix itself is held as a float32 array.
    exact : KernelMatrix
        The matrix that evaluates the kernel and reads no stored rows.
    distinct : ndarray of shape (n,), int64
        A number for each variable; variables that are known to have the same row of K have equal numbers.
    origin : ndarray of shape (d,) or None
        The origin around which a linear kernel is evaluated; None for 0.
    columns : tuple of str
        Names of the columns of the examples; () if they have no names.
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
        """The known facts about the kernel values, read from the attributes of the matrix."""
        return KernelFacts.of(self)

    @property
    def kernel_name(self) -> str:
        """The text that stands for the kernel in messages."""
        return type(self).__name__

    def _line(self) -> str:
        return f"n={self.n}, {self.kernel_name}"

    @property
    def supports_float32(self) -> bool:
        """True if rows can be computed in single precision and no kernel value exceeds 1."""
        return False

    @property
    def is_float32(self) -> bool:
        """True if the matrix itself is held as a float32 array."""
        return self.dense is not None and self.dense.dtype == np.float32

    @property
    def exact(self) -> KernelMatrix:
        """The matrix that evaluates the kernel and reads no stored rows."""
        return self

    def parts(self, dtype: np.dtype) -> Any:
        """Return the data from which compiled code computes rows of type `dtype`, or None if Python computes rows."""
        return None

    @property
    def distinct(self) -> np.ndarray:
        """A number for each variable, shape (n,); variables known to have the same row of K have equal numbers."""
        return np.arange(self.n)

    @property
    def centred(self) -> KernelMatrix:
        """The matrix for problems with Σα = 0: this matrix, unless another origin gives more precise values."""
        return self

    def offset(self, alpha: np.ndarray) -> float:
        """For Σα = 0, return the number by which each entry of Kα without centring exceeds the entry with centring."""
        return 0.0

    @abstractmethod
    def block(
        self, rows: np.ndarray, columns: np.ndarray | None = None, out: np.ndarray | None = None
    ) -> np.ndarray:
        """Return K[rows][:, columns] as a C-ordered array, with all columns by default.

        Parameters
        ----------
        rows, columns : ndarrays of shapes (m,) and (c,), int64
        out : ndarray of shape (m, c), optional
            Array to which the values are written.

        Returns
        -------
        ndarray of shape (m, c), float64 unless `out` is given
        """

    @abstractmethod
    def diagonal(self) -> np.ndarray:
        """Return all kᵢᵢ, shape (n,), float64."""

    def row(self, i: int) -> np.ndarray:
        """Return K[i], shape (n,), float64. Do not write to the array; it may change when another row is computed."""
        return self.block(np.array([i]))[0]

    def restrict(self, indices: np.ndarray) -> KernelMatrix:
        """Return the matrix of the variables in `indices`, shape (m,), int64."""
        return View(self, indices)


class View(KernelMatrix):
    """The matrix whose entry (s, t) is the entry (indices[s], indices[t]) of another matrix.

    In ε-insensitive regression, both variables of an example have the kernel values of this example. The matrix of the
    2n variables is therefore a view of the matrix of n examples, and only the matrix of the examples is evaluated and
    stored. The matrix of a restricted problem is a view of the full problem's stored rows.

    Parameters
    ----------
    source : KernelMatrix
        The matrix of the examples, or of all variables.
    indices : ndarray of shape (m,), int64
        For each variable, the position of its row in `source`.

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
        """The facts of the source."""
        return self.source.facts

    @property
    def kernel_name(self) -> str:
        """The name of the source's kernel."""
        return self.source.kernel_name

    @property
    def supports_float32(self) -> bool:
        """True if the source computes float32 rows in single precision."""
        return self.source.supports_float32

    @property
    def exact(self) -> KernelMatrix:
        """A view of the same variables; its source evaluates the kernel and reads no stored rows."""
        return self if self.store is None else View(self.source.exact, self.indices)

    @property
    def distinct(self) -> np.ndarray:
        """For each variable, the entry of ``source.distinct`` that belongs to its example."""
        return self.source.distinct[self.indices]

    @property
    def centred(self) -> KernelMatrix:
        """A view of the same variables; its source is the centred matrix."""
        source = self.source.centred
        return self if source is self.source else View(source, self.indices)

    def offset(self, alpha: np.ndarray) -> float:
        """Sum the α of the variables of each example, and return the source's offset for these sums."""
        return self.source.offset(np.bincount(self.indices, alpha, self.source.n))

    def block(
        self, rows: np.ndarray, columns: np.ndarray | None = None, out: np.ndarray | None = None
    ) -> np.ndarray:
        """Return K[rows][:, columns] of the view's variables, written to `out` if it is given."""
        chosen = self.indices if columns is None else self.indices[columns]
        if self.store is not None:
            return self.source.block(self.indices[rows], chosen, out)
        # evaluate each example once, even if several of its variables are requested, because the source stores nothing
        examples, place = np.unique(self.indices[rows], return_inverse=True)
        others, spread = np.unique(chosen, return_inverse=True)
        values = self.source.block(examples, None if len(others) == self.source.n else others)
        if out is None:
            out = np.empty((len(rows), len(chosen)))
        out[...] = values[place][:, spread]
        return out

    def diagonal(self) -> np.ndarray:
        """Return kᵢᵢ of the view's variables."""
        return self.source.diagonal()[self.indices]

    def restrict(self, indices: np.ndarray) -> View:
        """Return a view of fewer variables; if the source stores nothing, also drop examples that no variable uses."""
        chosen = self.indices[indices]
        if self.store is not None:
            return View(self.source, chosen)
        examples, place = np.unique(chosen, return_inverse=True)
        return View(self.source.restrict(examples), place)
