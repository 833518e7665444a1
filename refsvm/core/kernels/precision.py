"""Precision: estimates how far rounding of kernel values, in float32 or float64, changes decision values.

float32 halves the memory that a step reads and the time of a product. The relative rounding error of a float32 value is
at most 2⁻²⁴, so this formula estimates the error of G = v − Kα:

    4 · 2⁻²⁴ · max |K| · √Σα²

The estimate is 4 standard deviations of this error if kernel values have independent errors. Equal examples have equal
errors, which add up, so the formula sums the α of equal examples before it squares the sums. The error can only be
estimated when α is known (`decision_error`).
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
"""Largest relative rounding error of a float32 value."""

EPSILON: Final = 2.0**-52
"""Relative rounding error of a float64 operation."""

SLIGHT: Final = 1e-12
"""Rounding errors of float64 kernel values up to this size are ignored."""

FEW: Final = 32
"""Number of examples from which the size of kernel values is estimated."""

DEVIATIONS: Final = 4.0
"""Number of standard deviations in the estimate of an error."""


ROWS_LOOKED_AT: Final = 8
COLUMNS_LOOKED_AT: Final = 64
"""Number of columns of K from which the variation of its values is estimated."""


def decision_error(gram: KernelMatrix, alpha: np.ndarray, largest: float) -> float:
    """Estimate the error of G = v − Kα, and thus of the decision values, if the values of `gram` are kept as float32.

    Parameters
    ----------
    gram : KernelMatrix
        The kernel matrix of n variables.
    alpha : ndarray of shape (n,), float64
        Signed dual variables.
    largest : float
        max |K|, which for a positive semi-definite matrix is the largest |kᵢᵢ|.

    Returns
    -------
    float
        4 · 2⁻²⁴ · max |K| · √Σα², where the α of equal examples are summed before they are squared.

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
    # equal examples have equal rounding errors, which add up; different errors partly cancel
    sums = np.bincount(gram.distinct, alpha)
    return DEVIATIONS * ROUNDING * largest * math.sqrt(dot(sums, sums))


def largest_value(gram: KernelMatrix) -> float:
    """Return max |kᵢᵢ|, a bound of all values if K is positive semi-definite; for callables return 1."""
    if gram.facts.has_unit_diagonal or gram.full_matrix_only:
        return 1.0
    return float(np.abs(gram.diagonal()).max(initial=0.0))


def noise_of_values(gram: KernelMatrix, largest: float) -> float:
    """Estimate the error of kernel values in float64; return 0 if it is negligible.

    Parameters
    ----------
    gram : KernelMatrix
    largest : float
        max |kᵢᵢ|; if the facts of the matrix contain no error, the estimate is 2⁻⁵² times this number.
    """
    noise = EPSILON * largest if gram.facts.kernel_error is None else gram.facts.kernel_error
    return noise if noise > SLIGHT else 0.0


def decision_noise(
    gram: KernelMatrix, alpha: np.ndarray, diagonal: np.ndarray, tolerance: float, fixed: float = 0.0
) -> float:
    """Estimate how far rounding of kernel values changes decision values; return 0 for changes up to `tolerance`.

    Parameters
    ----------
    gram : KernelMatrix
        The kernel matrix of n variables.
    alpha, diagonal : ndarrays of shape (n,), float64
        α and all kᵢᵢ.
    tolerance : float
        The largest error that is ignored.
    fixed : float
        The error that comes from variables that were fixed (`refsvm.DualProblem.fixed_noise`).

    Returns
    -------
    float
        ε √Σα², with ε = `noise_of_values`. The diagonal of a precomputed matrix may span orders of magnitude; for such
        a matrix the estimate is max over j of 2⁻⁵² √Σ(αᵢKᵢⱼ)². The function first bounds this sum with |Kᵢⱼ|² ≤ KᵢᵢKⱼⱼ,
        and computes the sum itself only if the bound exceeds the tolerance and the matrix is in memory.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import Precomputed
    >>> from refsvm.core.kernels import Gram
    >>> from refsvm.core.kernels.precision import decision_noise
    >>> K = np.diag([1e8, 1e-9])  # k(x, z) = 0 for the two examples
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
    """Return the warning that rounding changes decision values by more than the tolerance."""
    return (
        f"The kernel values are so large that rounding moves decision values by about {noise:.3g}, and the tolerance "
        f"is {tolerance:.3g}; subtract the mean of each feature and scale it (StandardScaler), or scale down the "
        "kernel or C."
    )


def variation(gram: KernelMatrix, alpha: np.ndarray, among: np.ndarray, z: float) -> float:
    """Estimate how far (Kα)ⱼ can differ between two variables j in the ascending array `among`; z is the sum of α.

    The estimate is Σ|αᵢ| times the largest range (max − min) of a row of K. The function reads only the rows with the
    largest |αᵢ|, and evenly spaced columns in `among`. If z = 0, the function first subtracts from each column its mean
    over these rows; this does not change (Kα)ⱼ.
    """
    rows = np.argsort(-np.abs(alpha), kind="stable")[:ROWS_LOOKED_AT]
    places = np.unique(np.linspace(0, len(among) - 1, COLUMNS_LOOKED_AT).astype(np.intp))
    values = gram.block(rows, among[places])
    if z == 0.0:
        values = values - values.mean(axis=0)
    return float(np.abs(alpha).sum() * np.ptp(values, axis=1).max(initial=0.0))


def noise_of_distances(gram: Any, data_error: float) -> float:
    """Estimate the error of a kernel of γ‖x − z‖² on CSR data: ε γ max ‖x‖² times the largest of a few k(x, z).

    Return 0 if ε γ max ‖x‖² is negligible or the data are dense: `PreparedExamples` then keeps ‖x‖ small.
    """
    if not is_sparse(gram.X) or data_error < SLIGHT or gram.n < 2:
        return 0.0
    some = np.unique(np.linspace(0, gram.n - 1, FEW).astype(np.int64))
    values = gram.block(some, some)
    np.fill_diagonal(values, 0.0)
    return float(data_error * values.max())


def distinct_rows(X: Any) -> np.ndarray:
    """Return a number for each row of X, an ndarray or CSR of shape (n, d), so that equal rows have equal numbers.

    The function compares the bytes of rows. If it compared the inner products of rows with a random vector,
    rounding errors would make different rows far from the origin seem equal. CSR rows that store equal entries in
    different orders count as different.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm.core.kernels.precision import distinct_rows
    >>> distinct_rows(np.array([[1.0, 2.0], [0.0, 1.0], [1.0, 2.0]])).tolist()
    [0, 1, 0]
    """
    rows: Iterable[Hashable]
    if isinstance(X, np.ndarray):
        whole = np.ascontiguousarray(X + 0.0)  # adding 0 turns −0 into 0
        rows = whole.view(np.dtype((np.void, whole.dtype.itemsize * X.shape[1]))).ravel().tolist()
    else:
        data, parts = X.data + 0.0, zip(X.indptr[:-1].tolist(), X.indptr[1:].tolist(), strict=True)
        rows = ((X.indices[i:j].tobytes(), data[i:j].tobytes()) for i, j in parts)
    seen: dict[Hashable, int] = {}
    # a dictionary finds equal rows in a third of the time of sorting their bytes
    return np.array([seen.setdefault(row, len(seen)) for row in rows], dtype=np.intp)
