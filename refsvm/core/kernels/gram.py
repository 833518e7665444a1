"""Gram: the matrix of a kernel on data; its method `block` computes kernel values and does not store them.

Evaluating a block takes one matrix product (`refsvm.core.kernels.products`) and one pass of the kernel function.
Several threads divide a large block among themselves. For the whole matrix, `block` computes one half and mirrors it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import Any, Final

import numpy as np

from refsvm.core import arithmetic
from refsvm.core.kernels.blocks import (
    LARGEST_VALUE,
    called,
    check_finite_values,
    gather,
    is_all,
    shaped,
    write_mirrored,
)  # fmt: skip
from refsvm.core.kernels.facts import KernelFacts
from refsvm.core.kernels.functions import RBF, Kernel, Linear, Precomputed
from refsvm.core.kernels.matrix import KernelMatrix
from refsvm.core.kernels.memory import reused, scratch
from refsvm.core.kernels.origin import origin_of, weights_at
from refsvm.core.kernels.precision import distinct_rows, noise_of_distances
from refsvm.core.kernels.products import (
    DenseProducts,
    PreparedExamples,
    RowParts,
    inner_products,
    no_parts,
    stored_for_products,
)
from refsvm.core.kernels.threads import run_in_pieces
from refsvm.core.shown import short

TILE_ENTRIES: Final = 2**17
"""Number of kernel values that a thread evaluates at a time: 1 MiB, about the size of a core's own cache."""

BLOCK_ENTRIES: Final = 2**21
"""Number of inner products computed at a time: 16 MiB, enough work for several threads."""

FEWEST_ROWS: Final = 128
"""A larger block is multiplied in parts of at least this many rows, because small products wait for memory."""

SHARED_FROM: Final = 2**22
"""Threads share a block in equal parts if the block takes more multiplications than this number."""

DENSE_ROWS: Final = 64
"""Number of rows that a thread evaluates at a time for dense examples with many features."""

SINGLE_BELOW: Final = 64.0
"""If γ max ‖x − c‖² reaches this number, float32 products change kernel values far more than float32 storage does."""

SINGLE_NORMS: Final = 1e-30, 1e30
"""Range of max ‖x − c‖² in which float32 products neither overflow nor vanish."""

NUDGE: Final = 2.0**-20
"""Relative change of x·x with which the code measures how sensitive a kernel is to rounding."""


class Gram(KernelMatrix):
    """The matrix K[i, j] = k(xᵢ, xⱼ) of a kernel on data; `block` computes kernel values and does not store them.

    Parameters
    ----------
    kernel : Kernel, Precomputed or callable
        The kernel; a callable gets two blocks of rows of X and returns their (m, n) kernel matrix.
    X : ndarray or CSR array of shape (n, d)
        Checked data (float64), not copied; dense data with few non-zero entries are held as CSR. For `Precomputed`, the
        (n, n) matrix, which may be float32 and is not copied.
    is_checked : bool
        True if the values of a given matrix are known to be finite and not too large.
    origin : ndarray of shape (d,), optional
        The origin c of a linear kernel: K[i, j] = (xᵢ − c)·(xⱼ − c).
    may_move : bool
        True if `centred` may choose another origin.

    Attributes
    ----------
    n : int
        Number of examples.
    origin : ndarray of shape (d,) or None
        The origin of this matrix; None for 0.
    dense : ndarray of shape (n, n) or None
        The matrix itself, if the caller supplied it.
    full_matrix_only : bool
        True if all rows should be evaluated in one block when memory suffices. A callable kernel may be slow, or may
        rely on getting all examples at once, as in scikit-learn.

    Raises
    ------
    ValueError
        If ‖x‖² overflows, or a kernel value is NaN or beyond 1e300.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import Linear
    >>> from refsvm.core.kernels import Gram
    >>> Gram(Linear(), np.array([[1.0], [2.0]])).block(np.array([1]))
    array([[2., 4.]])
    """

    needed = ("_own_error",)

    def __init__(
        self, kernel: Kernel | Precomputed | Callable[..., np.ndarray], X: Any, *, is_checked: bool = False,
        origin: np.ndarray | None = None, may_move: bool = True,
    ) -> None:  # fmt: skip
        X = stored_for_products(kernel, X, origin)
        self.kernel, self.X, self.n, self.origin = kernel, X, int(X.shape[0]), origin
        self._own_error = 0.0 if is_checked else None  # `facts.kernel_error` if the user gives the matrix
        self.may_move = may_move and origin is None and getattr(kernel, "is_inner_product", False)
        if isinstance(kernel, Kernel):
            self._examples = PreparedExamples(kernel, X, origin=origin)
        elif isinstance(kernel, Precomputed):
            self.dense = X
            if not is_checked:
                check_finite_values(X)
        else:
            self.full_matrix_only = True

    @property
    def kernel_name(self) -> str:
        """The text that stands for the kernel in messages."""
        return short(self.kernel)

    @cached_property
    def facts(self) -> KernelFacts:
        """The known facts about the kernel values; with `is_checked`, the kernel values in X count as exact."""
        if isinstance(kernel := self.kernel, Kernel):
            # measure the errors of kernel values only when `facts` are first read: predictions do not use them
            examples, error = self._examples, self._measured_noise(kernel)
            known, batches = (kernel.is_psd, kernel.has_unit_diagonal), examples.products.prefers_batches
            return KernelFacts(*known, examples.data_error, error, batches)
        single = self.dense is not None and self.dense.dtype == np.float32
        return KernelFacts(data_error=2.0**-24 * single, kernel_error=self._own_error, keeps_float32=single)

    def _measured_noise(self, kernel: Kernel) -> float:
        """Estimate the error of k(x, x): ε times the largest |k| or |s dk/ds| at the smallest and the largest s = x·x.

        For a kernel of distances, return the estimate of `noise_of_distances`.
        """
        if kernel.has_unit_diagonal:
            return noise_of_distances(self, self._examples.data_error)
        norms = self._examples.norms
        ends = np.array([norms.min(), norms.max()])
        factor = 1.0 - NUDGE if kernel.uses_norms else 1.0 + NUDGE  # with norms, 1 + NUDGE gives ‖x − z‖² < 0
        values, others = (_on_diagonal(kernel, ends * each, ends) for each in (1.0, factor))
        size = max(float(np.abs(values).max()), float(np.abs(others - values).max()) / NUDGE)
        return float(np.finfo(np.float64).eps) * size

    @property
    def centred(self) -> Gram:
        """The matrix of the data moved to mean 0, if moving makes kernel values more precise; otherwise this matrix."""
        return self._around_mean or self

    @cached_property
    def _around_mean(self) -> Gram | None:
        origin = origin_of(self.X, self._examples.norms) if self.may_move else None
        return None if origin is None else self._on(self.X, origin=origin)

    def _on(self, X: Any, **moving: Any) -> Gram:
        """Return the matrix of this kernel on other examples with the same columns."""
        gram = Gram(self.kernel, X, **moving)
        gram.columns = self.columns
        return gram

    def decided_as(self, gram: Any) -> Gram:
        """Make ``self.centred`` use the origin of ``gram.centred``, unless this origin is 0; return ``self``."""
        if self.may_move and (origin := gram.centred.origin) is not None:
            self.__dict__["_around_mean"] = self._on(self.X, origin=origin)
        return self

    def offset(self, alpha: np.ndarray) -> float:
        """Return w·c for w = Σ αᵢ(xᵢ − c): if Σα = 0, Kα with the origin 0 exceeds Kα with the origin c by w·c."""
        if self.origin is None:
            return 0.0
        some = np.flatnonzero(alpha)
        return float(weights_at(self.origin, self.X[some], lambda values: alpha[None, some] @ values)[0])

    @cached_property
    def _single(self) -> PreparedExamples | None:
        """The examples as float32, for float32 rows; None if products of float32 examples would be too inaccurate."""
        if not isinstance(self.kernel, Kernel) or not self.kernel.supports_float32:
            return None
        largest, (least, most) = float(self._examples.norms.max()), SINGLE_NORMS
        if not least < largest < most:
            return None
        single = PreparedExamples(self.kernel, self.X, dtype=np.float32, origin=self.origin)
        return single if self.kernel.distance_scale * float(single.norms.max()) < SINGLE_BELOW else None

    @property
    def supports_float32(self) -> bool:
        """True if rows can be computed in single precision and no kernel value exceeds 1."""
        return getattr(self.kernel, "has_unit_diagonal", False) and self._single is not None

    def parts(self, dtype: np.dtype) -> RowParts | None:
        """Return the data from which compiled code computes rows of type `dtype`, or None if Python computes rows."""
        kernel = self.kernel
        examples = self._single if dtype == np.float32 else getattr(self, "_examples", None)
        if type(kernel) not in (RBF, Linear) or examples is None:
            return None
        products, norms = examples.products, examples.norms
        gamma = kernel.distance_scale if isinstance(kernel, RBF) else -1.0
        # compiled code does not check values of the linear kernel, so their bound, max ‖x‖², must not be too large
        if gamma < 0.0 and not float(norms.max()) < 0.5 * LARGEST_VALUE:
            return None
        parts = no_parts(dtype)._replace(norms=norms, gamma=gamma)
        if isinstance(products, DenseProducts):
            return parts._replace(X=products.Z, features=products.features)
        return None if products.entries is None else parts._replace(entries=products.entries)

    @cached_property
    def distinct(self) -> np.ndarray:
        """A number for each example, shape (n,); with a kernel of this package, equal examples have equal numbers."""
        return distinct_rows(self.X) if isinstance(self.kernel, Kernel) else np.arange(self.n)

    def block(
        self, rows: np.ndarray, columns: np.ndarray | None = None, out: np.ndarray | None = None
    ) -> np.ndarray:
        """Return K[rows][:, columns] (all columns by default) as a C-ordered array; `out`, if given, may be float32.

        The method computes whole float32 rows from float32 products, unless such products would be too inaccurate
        (`SINGLE_BELOW`).
        """
        if out is None:
            out = np.empty((len(rows), self.n if columns is None else len(columns)))
        if self.dense is not None:
            if columns is None:
                out[:] = self.dense[rows]
            else:
                gather(self.dense, rows, columns, out)
        elif not isinstance(self.kernel, Kernel):
            self._call(rows, columns, out)
        elif columns is None and self._is_large and is_all(rows, self.n):
            self._mirrored(self.kernel, out)  # `_mirrored` evaluates only half of the values
        elif columns is None and len(rows) <= FEWEST_ROWS:
            self._evaluate(self.kernel, rows, out)
        else:
            height = max(FEWEST_ROWS, BLOCK_ENTRIES // max(1, out.shape[1]))
            for start in range(0, len(rows), height):
                part = slice(start, start + height)
                if columns is None:
                    self._evaluate(self.kernel, rows[part], out[part])
                else:
                    self._evaluate_some(self.kernel, rows[part], columns, out[part])
        return out

    def _evaluate(self, kernel: Kernel, rows: np.ndarray, out: np.ndarray) -> None:
        """Write K[rows] to `out`, from one product of all these rows with the examples."""
        examples = self._examples_for(out)
        if examples.products.by_columns:
            self._by_columns(kernel, examples, rows, out)
        else:
            self._by_rows(kernel, examples, rows, out)
        # only unbounded kernels need the check: values of a bounded kernel cannot overflow
        if not kernel.has_unit_diagonal:
            if not kernel.is_bounded:
                check_finite_values(out)
        elif len(rows) == 1:  # on large data, usually one row is computed; this line is faster than indexing
            out[0, rows[0]] = 1.0
        else:
            out[np.arange(len(rows)), rows] = 1.0

    def _by_rows(
        self, kernel: Kernel, examples: PreparedExamples, rows: np.ndarray, out: np.ndarray,
        columns: np.ndarray | None = None,
    ) -> None:  # fmt: skip
        """Write K[rows] or K[rows][:, columns] to `out`, some rows at a time."""
        others, rows = examples.columns(columns), np.ascontiguousarray(rows, dtype=np.int64)
        # with many features, evaluate many rows at once, because the examples are read again for each block of rows
        height = DENSE_ROWS if examples.products.prefers_batches else TILE_ENTRIES // max(1, out.shape[1])
        if out.size * examples.products.Z.shape[1] > SHARED_FROM:
            height = min(height, -(-len(rows) // arithmetic.current.threads))
        is_cast = out.dtype != examples.products.Z.dtype or not out.flags.c_contiguous

        def piece(part: slice) -> None:
            values = scratch((part.stop - part.start, out.shape[1])) if is_cast else out[part]
            kernel.rows(examples, rows[part], others, values)
            if is_cast:
                out[part] = values

        # compiled code multiplies four rows at once: with a multiple of 8 rows, no row is left over
        run_in_pieces(piece, len(rows), max(8, height - height % 8))

    @property
    def _is_large(self) -> bool:
        """True if the whole matrix of dense examples is evaluated in tiles."""
        return self.n**2 > TILE_ENTRIES and isinstance(self._examples.products, DenseProducts)

    def _mirrored(self, kernel: Kernel, out: np.ndarray) -> None:
        """Write the whole matrix K to `out`, evaluating half of it."""
        examples, numbers = self._examples_for(out), np.arange(self.n)

        def evaluate(rows: slice, columns: slice) -> np.ndarray:
            shape = rows.stop - rows.start, columns.stop - columns.start
            values = scratch(shape, examples.products.Z.dtype)
            kernel.rows(examples, numbers[rows], examples.columns(columns), values)
            return values

        write_mirrored(out, evaluate)
        if kernel.has_unit_diagonal:
            np.fill_diagonal(out, 1.0)
        elif not kernel.is_bounded:
            check_finite_values(out)

    def _examples_for(self, out: np.ndarray) -> PreparedExamples:
        """Return the examples as float32 if `out` is float32 and float32 products are allowed, otherwise as float64."""
        return (self._single or self._examples) if out.dtype == np.float32 else self._examples

    def _evaluate_some(self, kernel: Kernel, rows: np.ndarray, columns: np.ndarray, out: np.ndarray) -> None:
        """Write K[rows][:, columns] to `out`."""
        examples = self._examples
        if isinstance(examples.products, DenseProducts):
            self._by_rows(kernel, examples, rows, out, columns)
        else:
            Z, norms = examples.products.Z, examples.norms
            out[:] = kernel.from_inner(inner_products(Z[rows], Z[columns]), norms[rows], norms[columns])
        if kernel.has_unit_diagonal:
            out[rows[:, None] == columns] = 1.0
        elif not kernel.is_bounded:
            check_finite_values(out)

    def _call(self, rows: np.ndarray, columns: np.ndarray | None, out: np.ndarray) -> None:
        """Write the values of a user's callable to `out`; for the whole matrix, both arguments of the call are X."""
        kernel: Any = self.kernel
        all_of_them = columns is None and is_all(rows, self.n)
        X, Z = self.X if all_of_them else self.X[rows], self.X if columns is None else self.X[columns]
        out[:] = shaped(called(kernel, X, Z), out.shape)
        check_finite_values(out)

    def _by_columns(
        self, kernel: Kernel, examples: PreparedExamples, rows: np.ndarray, out: np.ndarray
    ) -> None:
        """Write K[rows] to `out`, some columns at a time, so that the values stay in the processor's cache."""
        products, norms = examples.products, examples.norms
        x_norms, width = norms[rows], max(1, TILE_ENTRIES // len(rows))

        def piece(part: slice) -> None:
            inner = scratch((len(rows), part.stop - part.start), products.Z.dtype)
            products.of(products.Z, rows, inner, part.start)
            out[:, part] = kernel.from_inner(inner, x_norms, norms[part])

        run_in_pieces(piece, self.n, width)

    def diagonal(self) -> np.ndarray:
        """kᵢᵢ for every example, shape (n,)."""
        if self.dense is not None:
            return self.dense.diagonal().astype(np.float64)
        if isinstance(self.kernel, Kernel) and self.kernel.has_unit_diagonal:
            return np.ones(self.n)
        return self._evaluated_diagonal()

    def _evaluated_diagonal(self) -> np.ndarray:
        if not isinstance(self.kernel, Kernel) or self.kernel.uses_norms:
            steps = [np.arange(s, min(s + 64, self.n)) for s in range(0, self.n, 64)]
            return np.concatenate([self.block(s, s).diagonal() for s in steps])
        column, zero = self._examples.norms.copy()[:, None], np.zeros(1)
        values = self.kernel.from_inner(column, zero, zero).ravel()  # x·x = ‖x‖²
        check_finite_values(values)
        return values

    def restrict(self, indices: np.ndarray) -> Gram:
        """Return the kernel matrix of the examples in `indices`."""
        # copy the selected values to contiguous memory, because steps on a restricted problem read them many times
        if self.dense is not None:
            part = np.empty((len(indices), len(indices)), dtype=self.dense.dtype)
            gather(self.dense, indices, indices, part)
            return _holding(part, self, is_checked=True)
        return self._on(self.X[indices], origin=self.origin, may_move=self.may_move)


def _on_diagonal(kernel: Kernel, inner: np.ndarray, norms: np.ndarray) -> np.ndarray:
    """Return the kernel values of m pairs (x, z) with equal norms, from their inner products and norms, shape (m,)."""
    values = [
        kernel.from_inner(np.full((1, 1), s), np.full(1, t), np.full(1, t)).item()
        for s, t in zip(inner, norms, strict=True)
    ]
    return np.array(values)


def dense_gram(gram: KernelMatrix, dtype: type = np.float64) -> Gram:
    """Evaluate a matrix in one block and return a matrix that holds the values as an array, for use in many solves.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import Linear
    >>> from refsvm.core.kernels.gram import Gram, dense_gram
    >>> dense_gram(Gram(Linear(), np.array([[1.0], [2.0]]))).dense
    array([[1., 2.],
           [2., 4.]])
    """
    return _holding(gram.block(np.arange(gram.n), out=reused((gram.n, gram.n), dtype)), gram, is_checked=True)


def held_from_products(gram: Gram, kernel: Kernel, inner: np.ndarray, norms: np.ndarray) -> Gram:
    """Return the matrix of `gram`, held as an array and computed from inner products that several kernels share.

    Parameters
    ----------
    gram : Gram
        A matrix of the same kernel on the same data.
    kernel : Kernel
        The kernel.
    inner : ndarray of shape (n, n), float64
        Inner products of all pairs, around any origin that the kernel allows; the function does not change this array.
    norms : ndarray of shape (n,), float64
        ‖x‖² around the same origin.
    """
    K = reused(inner.shape, np.float64)

    def evaluate(rows: slice, columns: slice) -> np.ndarray:
        tile = scratch((rows.stop - rows.start, columns.stop - columns.start))
        tile[:] = inner[rows, columns]
        return kernel.from_inner(tile, norms[rows], norms[columns])

    write_mirrored(K, evaluate)
    if kernel.has_unit_diagonal:
        np.fill_diagonal(K, 1.0)
    return _holding(K, gram, is_checked=kernel.is_bounded)


def _holding(K: np.ndarray, gram: KernelMatrix, is_checked: bool) -> Gram:
    """Return a matrix that holds K and has the facts of `gram`."""
    held = Gram(Precomputed(), K, is_checked=is_checked)
    error, single = max(held.facts.data_error, gram.facts.data_error), K.dtype == np.float32
    held.facts = replace(gram.facts, data_error=error, prefers_batches=False, keeps_float32=single)
    return held
