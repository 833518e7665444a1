"""Precision: where kernel values are held as float32, and how far their rounding moves decision values.

float32 halves the memory that a step reads and the time of a product. A value is rounded by 2⁻²⁴ of itself, so that
G = v − Kα moves by about

    4 · 2⁻²⁴ · max |K| · √Σα²

independent errors, of which 4 standard deviations are counted with room to spare. Equal examples have equal errors,
which add up: their α are summed before they are squared. That is known once α is known (`decision_error`). Before a
solve only the gain is known (`float32_pays`).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from typing import Any, Final

import numpy as np

from refsvm.core._checks import is_sparse
from refsvm.core.arithmetic import dot
from refsvm.core.kernels.matrix import KernelMatrix

ROUNDING: Final = 2.0**-24
"""Most that a value is rounded by, relatively."""

EPSILON: Final = 2.0**-52
"""Rounding of a float64 operation, relatively."""

SLIGHT: Final = 1e-12
"""Rounding of float64 kernel values of which nothing is said."""

FEW: Final = 32
"""Examples that tell how large kernel values are."""

DEVIATIONS: Final = 4.0
"""Number of standard deviations that count."""


ROWS_LOOKED_AT: Final = 8
COLUMNS_LOOKED_AT: Final = 64
"""Of K, to tell by how much its values vary."""


def decision_error(gram: KernelMatrix, alpha: np.ndarray, largest: float) -> float:
    """Return about how far float32 values of `gram` move G = v − Kα, and with it the decision values of a machine.

    Parameters
    ----------
    gram : KernelMatrix
        Of n variables.
    alpha : ndarray of shape (n,), float64
    largest : float
        max |K|, the largest |kᵢᵢ| of a positive semi-definite matrix.

    Returns
    -------
    float
        4 · 2⁻²⁴ · max |K| · √Σα², where α of equal examples is summed before it is squared.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import RBF
    >>> from refsvm.core.kernels import Gram
    >>> from refsvm.core.kernels.precision import decision_error
    >>> once, twice = (Gram(RBF(0.5), np.array(X)) for X in ([[0.0], [1.0]], [[0.0], [0.0]]))
    >>> alpha = np.ones(2)
    >>> [round(decision_error(gram, alpha, 1.0) * 2**22 / 2**0.5, 3) for gram in (once, twice)]
    [1.0, 1.414]
    """
    # equal examples have equal rounding, which adds up; that of others cancels in part
    sums = np.bincount(gram.distinct, alpha)
    return DEVIATIONS * ROUNDING * largest * math.sqrt(dot(sums, sums))


def largest_value(gram: KernelMatrix) -> float:
    """max |kᵢᵢ|, which bounds a positive semi-definite matrix; 1 for callables, which may want all examples at once."""
    return (
        1.0
        if gram.facts.has_unit_diagonal or gram.full_matrix_only
        else float(np.abs(gram.diagonal()).max(initial=0.0))
    )


def noise_of_values(gram: KernelMatrix, largest: float) -> float:
    """Return about how far float64 puts kernel values from the true ones; 0 where that is slight.

    Parameters
    ----------
    gram : KernelMatrix
    largest : float
        max |kᵢᵢ|, of which a matrix that says nothing of its rounding is right to 2⁻⁵².
    """
    noise = EPSILON * largest if gram.facts.kernel_error is None else gram.facts.kernel_error
    return noise if noise > SLIGHT else 0.0


def decision_noise(
    gram: KernelMatrix, alpha: np.ndarray, diagonal: np.ndarray, tolerance: float, fixed: float = 0.0
) -> float:
    """Return about how far rounding of kernel values moves decision values if that exceeds a tolerance; else 0.

    Parameters
    ----------
    gram : KernelMatrix
        Of n variables.
    alpha, diagonal : ndarrays of shape (n,), float64
        α and all kᵢᵢ.
    tolerance : float
    fixed : float
        The same of variables that have left the problem with an α of their own.

    Returns
    -------
    float
        noise · √Σα². The diagonal of a precomputed matrix may span orders of magnitude: its estimate is
        max over j of ε √Σ(αᵢKᵢⱼ)². The bound |Kᵢⱼ|² ≤ KᵢᵢKⱼⱼ is tried first, and the sums are computed only if that
        bound exceeds the tolerance and the matrix is in memory.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import Precomputed
    >>> from refsvm.core.kernels import Gram
    >>> from refsvm.core.kernels.precision import decision_noise
    >>> K = np.diag([1e8, 1e-9])  # two examples that know nothing of each other
    >>> [decision_noise(Gram(Precomputed(), K), np.array(a), K.diagonal(), 1e-9) > 0.0 for a in ([1, 0], [0, 1e9])]
    [True, False]
    """
    sizes = np.abs(diagonal)
    largest = float(sizes.max(initial=0.0))
    noise, shares = noise_of_values(gram, largest), np.ones(len(alpha))
    if gram.facts.kernel_error is None and noise > 0.0:
        shares = np.sqrt(sizes / largest)
    parts = alpha * shares
    moved = math.hypot(noise * math.sqrt(dot(parts, parts)), fixed)
    if moved > tolerance and gram.facts.kernel_error is None and (K := gram.dense) is not None:
        with np.errstate(over="ignore", invalid="ignore"):
            sums = (np.square(K) * np.square(alpha)).sum(axis=1)
        moved = float(np.fmin(moved, np.hypot(EPSILON * np.sqrt(sums.max()), fixed)))
    return moved if moved > tolerance else 0.0


def noisy(noise: float, tolerance: float) -> str:
    """Return the sentence of the warning that rounding moves decision values by more than the tolerance."""
    return (
        f"The kernel values are so large that rounding moves decision values by about {noise:.3g}, and the tolerance "
        f"is {tolerance:.3g}; subtract the mean of each feature and scale it (StandardScaler), or scale down the "
        "kernel or C."
    )


def variation(gram: KernelMatrix, alpha: np.ndarray, among: np.ndarray, z: float) -> float:
    """Return about how far the terms of ΣαᵢKᵢⱼ, Σαᵢ = z, vary over the examples j of `among`, ascending.

    It is Σ|αᵢ| times the largest range of a row of K, read off the rows of the largest |αᵢ| and columns spread over
    these examples. Where z = 0 what the rows have in common adds nothing to the sum, and counts for nothing.
    """
    rows = np.argsort(-np.abs(alpha), kind="stable")[:ROWS_LOOKED_AT]
    places = np.unique(np.linspace(0, len(among) - 1, COLUMNS_LOOKED_AT).astype(np.intp))
    values = gram.block(rows, among[places])
    if z == 0.0:
        values = values - values.mean(axis=0)
    return float(np.abs(alpha).sum() * np.ptp(values, axis=1).max(initial=0.0))


def noise_of_distances(gram: Any, data_error: float) -> float:
    """Return what γ‖x − z‖² loses of a `Gram` of CSR data, ε γ max ‖x‖², times the largest k between a few examples.

    0 where that is slight, and for dense data, which are moved to their mean: no digit is lost there.
    """
    if not is_sparse(gram.X) or data_error < SLIGHT or gram.n < 2:
        return 0.0
    some = np.unique(np.linspace(0, gram.n - 1, FEW).astype(np.int64))
    values = gram.block(some, some)
    np.fill_diagonal(values, 0.0)
    return float(data_error * values.max())


def distinct_rows(X: Any) -> np.ndarray:
    """Return a number for each row of X, ndarray or CSR of shape (n, d): rows that are equal have the same one.

    Rows are told apart by their bytes: a product with random numbers rounds, and far from the origin it takes different
    rows for equal ones. A CSR row that stores its entries in another order counts as another.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm.core.kernels.precision import distinct_rows
    >>> distinct_rows(np.array([[1.0, 2.0], [0.0, 1.0], [1.0, 2.0]])).tolist()
    [0, 1, 0]
    """
    rows: Iterable[Hashable]
    if isinstance(X, np.ndarray):
        whole = np.ascontiguousarray(X + 0.0)  # −0 is 0
        rows = whole.view(np.dtype((np.void, whole.dtype.itemsize * X.shape[1]))).ravel().tolist()
    else:
        data, parts = X.data + 0.0, zip(X.indptr[:-1].tolist(), X.indptr[1:].tolist(), strict=True)
        rows = ((X.indices[i:j].tobytes(), data[i:j].tobytes()) for i, j in parts)
    seen: dict[Hashable, int] = {}
    # a dictionary takes a third of the time of sorting the bytes
    return np.array([seen.setdefault(row, len(seen)) for row in rows], dtype=np.intp)
