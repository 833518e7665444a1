"""Makes a checked kernel matrix from the caller's arguments: a kernel and data, an array, or a user's object."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

import numpy as np

from refsvm.core._checks import column_names, examples, not_negative, owned, read_only, whole
from refsvm.core.doors import DOORS
from refsvm.core.kernels.blocks import called, check_finite_values, refuse_masked, shaped
from refsvm.core.kernels.facts import KernelFacts
from refsvm.core.kernels.functions import Kernel, Linear, Precomputed
from refsvm.core.kernels.gram import Gram
from refsvm.core.kernels.matrix import KernelMatrix, View
from refsvm.core.kernels.origin import around, origin_of
from refsvm.core.kernels.products import stored_for_products
from refsvm.core.rule import is_builtin

AGREEMENT: Final = 1e-6
"""Largest accepted difference of two values that should be equal, relative to the largest value; rounding to float32
causes smaller differences.
"""


def matrix_given(X: Any, kernel: Any, gram: Any) -> KernelMatrix:
    """Return the kernel matrix for the arguments of a public function: from a kernel and a copy of X, or from `gram`.

    A matrix given as an array is not copied, because it may take gigabytes.

    Parameters
    ----------
    X : array-like or CSR of shape (n, d), or None
    kernel : Kernel, Precomputed, callable, `refsvm.services.names.Named`, or None
        The kernel; None for the default kernel of `refsvm.SVC`, RBF with γ "scale".
    gram : array-like of shape (n, n), object with `n` and `block`, or None
        The kernel matrix, or an object that evaluates it, as `GivenMatrix` describes.

    Raises
    ------
    ValueError
        If neither X nor gram is given, if both are given, or if the given argument is invalid.

    Examples
    --------
    >>> from refsvm.core.kernels.checked import matrix_given
    >>> matrix_given(None, None, [[2.0, 1.0], [1.0, 2.0]]).diagonal()
    array([2., 2.])
    """
    if gram is None:
        if X is None:
            raise ValueError("X is missing; give the examples, or their kernel matrix as gram=.")
        data, kernel = examples(X), DOORS.kernel_named() if kernel is None else kernel
        if hasattr(kernel, "on"):  # the parameters of a kernel given by name depend on the data
            kernel = kernel.on(data, column_names(X))
        if isinstance(kernel, Kernel):
            data = stored_for_products(kernel, data)
        # copy the data, because the caller may change X after the call while the problem is still in use
        matrix = gram_on(kernel, data if isinstance(kernel, Precomputed) else owned(data, X))
        matrix.columns = column_names(X)
        return matrix
    if X is not None or kernel is not None:
        other = "kernel" if X is None else "X"
        raise ValueError(
            f"gram and {other} are both given; gram is the whole kernel matrix, so leave {other} out."
        )
    return matrix_of(gram)


def matrix_of(gram: Any) -> KernelMatrix:
    """Return a kernel matrix of the package unchanged; check and wrap any other array or object."""
    if isinstance(gram, KernelMatrix):
        return gram
    if isinstance(gram, np.ndarray | list | tuple) or hasattr(gram, "toarray"):
        return gram_on(Precomputed(), examples(gram))
    return GivenMatrix(gram)


def gram_on(kernel: Kernel | Precomputed | Callable[..., np.ndarray] | None, X: Any, **moving: Any) -> Gram:
    """Return the kernel matrix of a kernel (`Linear` by default) on checked data.

    `moving` holds the arguments of `refsvm.core.kernels.gram.Gram` that set the origin.
    """
    kernel = Linear() if kernel is None else kernel
    if isinstance(kernel, type) or not (callable(kernel) or isinstance(kernel, Precomputed)):
        raise ValueError(
            f'kernel={kernel!r} is not a kernel; pass e.g. "rbf", RBF(gamma=0.5) or a callable k(X, Z).'
        )
    if isinstance(kernel, Kernel) and not is_builtin(type(kernel)):
        _refuse_others_than_reals(kernel)
    return Gram(kernel, _symmetric(X) if isinstance(kernel, Precomputed) else X, **moving)


def _refuse_others_than_reals(kernel: Kernel) -> None:
    """Raise ValueError if a user's kernel returns complex or masked values, which a matrix could not hold."""
    with np.errstate(all="ignore"):
        value = kernel.from_inner(np.full((1, 1), 0.5), np.ones(1), np.ones(1))
    if isinstance(value, np.ma.MaskedArray):
        raise ValueError(f"kernel={kernel!r} returned a masked array; return an array without a mask.")
    if np.iscomplexobj(value):
        raise ValueError(
            f"kernel={kernel!r} returned complex values, but kernel values must be real; return the real part or the "
            "modulus."
        )


def gram_of_rows(kernel: Any, X: Any, rows: np.ndarray, **moving: Any) -> Gram:
    """Return the kernel matrix of a kernel on some rows of checked data; for `Precomputed`, X is the whole matrix.

    `moving` holds the arguments of `refsvm.core.kernels.gram.Gram` that set the origin.
    """
    if isinstance(kernel, Precomputed):
        _refuse_oblong(X)
        X = X[np.ix_(rows, rows)] if len(rows) < len(X) else X
    elif len(rows) < X.shape[0]:
        X = X[rows]
    return gram_on(kernel, X, **moving)


def origin_for(kernel: Any, X: Any, rows: np.ndarray) -> np.ndarray | None:
    """Return the origin around which this kernel is evaluated for these rows of checked data, or None for 0."""
    if not getattr(kernel, "is_inner_product", False):
        return None
    return origin_of(X[rows] if len(rows) < X.shape[0] else X)


def examples_like(gram: KernelMatrix, X: Any) -> Any:
    """Return X as `examples` returns it; raise ValueError if its columns are not named like the training columns."""
    while isinstance(gram, View):
        gram = gram.source
    if (names := column_names(X)) and gram.columns and names != gram.columns:
        shown = [", ".join(map(repr, each[:4])) + ", …" * (len(each) > 4) for each in (names, gram.columns)]
        raise ValueError(
            f"X has the columns {shown[0]}; give the columns of the training examples, in this order: {shown[1]}."
        )
    return examples(X)


def cross_values(gram: KernelMatrix, variables: np.ndarray, X: Any) -> np.ndarray:
    """Return the kernel values between rows of X and the examples of some variables, shape (m, len(variables)).

    If the user gave the kernel matrix, X holds the kernel values with all n training examples, shape (m, n).
    """
    X, known = examples_like(gram, X), gram
    while isinstance(known, View):
        known, variables = known.source, known.indices[variables]
    trained: Any = known
    if isinstance(getattr(trained, "kernel", Precomputed()), Precomputed):
        if X.shape[1] != known.n:
            raise ValueError(
                f"X has shape {X.shape}; with a precomputed kernel or gram= give one column for each of the "
                f"{known.n} training examples."
            )
        return np.asarray(X[:, variables])
    if X.shape[1] != trained.X.shape[1]:
        raise ValueError(f"X has {X.shape[1]} features; give {trained.X.shape[1]}, as in the training data.")
    data, others = around(trained.origin, X), around(trained.origin, trained.X[variables])
    if isinstance(trained.kernel, Kernel):
        return np.asarray(trained.kernel(data, others))
    return shaped(called(trained.kernel, data, others), (data.shape[0], others.shape[0]))


def _refuse_oblong(K: Any) -> None:
    if K.shape[0] != K.shape[1]:
        n = K.shape[0]
        raise ValueError(
            f"The precomputed kernel has shape {K.shape}; expected a square matrix, shape ({n}, {n})."
        )


def _symmetric(K: Any) -> np.ndarray:
    """Check that a precomputed kernel matrix is square and dense; if it is not symmetric, warn and repair it.

    Return a read-only view of the matrix, or the repaired matrix.
    """
    K = np.ascontiguousarray(K.toarray() if hasattr(K, "toarray") else K)
    _refuse_oblong(K)
    # compare exactly first, because most matrices are symmetric to the last bit
    if not np.array_equal(K, K.T):
        if not np.allclose(K, K.T, rtol=1e-10, atol=1e-12 * float(np.abs(K).max())):
            warnings.warn("The precomputed kernel is not symmetric; ½(K + Kᵀ) is used instead.", stacklevel=5)
        K = 0.5 * (K + K.T)
    return read_only(K)


class GivenMatrix(KernelMatrix):
    """A kernel matrix that a user's own object evaluates, for example for strings or graphs, or on a GPU.

    The object must have:

    =============================  ==============================================================================
    ``n``                          the number of examples
    ``block(rows, columns=None)``  returns K[rows][:, columns] for two int64 vectors (all columns by default): one
                                   number for each pair, in this order, in any form that NumPy accepts as an array
    =============================  ==============================================================================

    The object may also have the attributes below, and any other attribute of `refsvm.core.kernels.facts.KernelFacts`:

    =================================  ==========================================================================
    ``diagonal()``                     returns all kᵢᵢ, which are otherwise taken from blocks
    ``full_matrix_only = True``        all rows should be evaluated in one block, if memory suffices
    ``prefers_batches = True``         a block of several rows costs far less than its rows one by one
    ``is_psd = True``                  the matrix is known to be positive semi-definite
    ``data_error = 1e-7``              estimated error of a value, if it is not negligible
    =================================  ==========================================================================

    `refsvm.core.kernels.rows.KernelRows` stores and counts the rows as for any kernel. With ``n_jobs``, several threads
    may call `block` at once.

    Parameters
    ----------
    given : object
        The user's object.

    Raises
    ------
    ValueError
        If a method or attribute is missing, or if `block` and `diagonal` do not return a symmetric matrix of finite
        numbers. The constructor checks a few values, and `block` checks every block that it evaluates.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import DualProblem, solve
    >>> class CommonLetters:
    ...     def __init__(self, words):
    ...         self.words, self.n = [set(word) for word in words], len(words)
    ...
    ...     def block(self, rows, columns=None):
    ...         others = self.words if columns is None else [self.words[j] for j in columns]
    ...         return [[len(self.words[i] & word) for word in others] for i in rows]
    >>> problem = DualProblem.classification(y=[1, 1, -1, -1], gram=CommonLetters(["abc", "abd", "xy", "xyz"]))
    >>> solve(problem).alpha.round(3)
    array([ 0.222,  0.222, -0.444,  0.   ])
    """

    def __init__(self, given: Any) -> None:
        self.given, self._name = given, f"gram={type(given).__name__}"
        if isinstance(given, type):
            raise ValueError(f"gram={given.__name__} is a class; pass an instance of this class.")
        for name in ("n", "block"):
            if not hasattr(given, name):
                raise ValueError(
                    f"{self._name} has no {name!r}: it is neither an array nor an object with n, the number of "
                    "examples, and block(rows, columns=None), which returns K[rows][:, columns]."
                )
        self.n = whole(f"{type(given).__name__}.n", given.n, 1)
        self.full_matrix_only, self.facts = getattr(given, "full_matrix_only", False), KernelFacts.of(given)
        error = not_negative(f"{type(given).__name__}.data_error", self.facts.data_error)
        self.facts = replace(self.facts, data_error=error)
        # compute the diagonal only once, because the user's object may be slow
        self._diagonal = self._all_diagonal()
        self._probe()

    @property
    def kernel_name(self) -> str:
        """The text that stands for the kernel in messages."""
        return self._name

    def block(
        self, rows: np.ndarray, columns: np.ndarray | None = None, out: np.ndarray | None = None
    ) -> np.ndarray:
        """Return K[rows][:, columns] from the user's object, after checking the values."""
        shape = len(rows), self.n if columns is None else len(columns)
        call = f"block of {shape[0]} rows" + ("" if columns is None else f" and {shape[1]} columns")
        # pass copies, because the user's object may change its arguments
        copies = rows.copy(), None if columns is None else columns.copy()
        values = self._numbers(call, shape, lambda: self.given.block(*copies))
        if out is None:
            return values
        out[...] = values
        return out

    def diagonal(self) -> np.ndarray:
        """Return all kᵢᵢ, which the constructor has computed."""
        return self._diagonal.copy()

    def _all_diagonal(self) -> np.ndarray:
        """Return all kᵢᵢ from the object's `diagonal`, or from small blocks, so that few other values are computed."""
        if hasattr(self.given, "diagonal"):
            return self._numbers("diagonal()", (self.n,), self.given.diagonal)
        steps = [np.arange(s, min(s + 8, self.n)) for s in range(0, self.n, 8)]
        return np.concatenate([self.block(s, s).diagonal() for s in steps])

    def _numbers(self, call: str, shape: tuple[int, ...], evaluate: Callable[[], Any]) -> np.ndarray:
        """Return a copy of the values that the user's object returns; raise ValueError if they are invalid."""
        try:
            result = evaluate()
            refuse_masked(result, "the object")
            values = np.array(result, order="C")  # copy the values, because the object may reuse its array
            if values.dtype.kind not in "fiub" or values.shape != shape:
                what = f" (a {type(result).__name__})" if values.dtype.kind == "O" else ""
                raise ValueError(
                    f"the object returned values of type {values.dtype}{what}, shape {values.shape}; it must return "
                    f"one real number for each pair, shape {shape}."
                )
            check_finite_values(values)
        except Exception as error:
            raise ValueError(f"{self._name} fails on a {call}: {type(error).__name__}: {error}") from error
        return values.astype(np.float64, copy=False)

    def _probe(self) -> None:
        """Compare a few values that must be equal, so that an object which returns rows in a wrong order is refused."""
        some = np.unique([0, self.n // 3, self.n // 2, self.n - 1])
        back, turned, B = some[::-1], np.roll(some, 1), self.block(some, some)
        for what, one, other in (
            ("is not symmetric: block(i, j) and block(j, i) differ", B.T, B),
            ("returns rows in another order than requested", self.block(back, some), B[::-1]),
            ("returns columns in another order than requested", self.block(some, turned), np.roll(B, 1, 1)),
            ("returns other values for a row if columns is None", self.block(some[:1])[:, some], B[:1]),
            ("has a diagonal() that is not the diagonal of its blocks", self._diagonal[some], B.diagonal()),
        ):
            difference = float(np.abs(one - other).max())
            if difference > AGREEMENT * float(np.abs(B).max()):
                raise ValueError(
                    f"{self._name} {what}, by {difference:.3g} among examples {some.tolist()}; return K[rows][:, "
                    "columns] of a symmetric K."
                )
