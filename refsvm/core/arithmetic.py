"""Computes kernel values and sums of rows in NumPy by plain IEEE operations, with the same bits on every processor.

The functions of this module add, multiply, divide and compare only two numbers at a time, in a fixed order. Results of
BLAS, `np.exp` and fused multiply-adds may differ in the last bits between two processors. During SMO, such a
difference can grow until SMO chooses different pairs on the two processors. With the functions of this module, SMO
takes the same steps on every processor.

Compiled code installs its own version of these functions (`install`), which computes the same bits faster. Callers use
``arithmetic.current``, which is the NumPy version or the compiled version. A kernel matrix calls these functions
before an engine is chosen, so the choice of an engine does not change the version.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, ClassVar, Final, NamedTuple

import numpy as np

BELOW_ALL: Final = np.array(-np.inf)
ABOVE_ALL: Final = np.array(np.inf)

AT_ONCE: Final = 2**14
"""Number of values that a function handles at a time; this many values fit into the cache of a processor core."""

GROUP: Final = 8
"""Number of features whose products are summed as a group before the sum is added to the total.

Groups reduce rounding errors: for 784 uniform features in float32, the average error is 1.2e-7 with groups and 3.3e-7
if the products are added one by one."""


class Exponential(NamedTuple):
    """The constants for e^x = 2^k e^r with x = k ln 2 + r and |r| ≤ ln(2)/2, for x ≤ 0.

    The polynomial 1 + r + c₂ r² + c₃ r³ + … equals e^r at the Chebyshev nodes of |r| ≤ ln(2)/2. The error of e^x is at
    most 1.03 units in the last place.
    """

    least: Any  # e^x is set to 0 for every x up to this number
    per_unit: Any  # 1/ln 2
    rounder: Any  # x + rounder holds the whole number nearest to x in its lowest bits
    high: Any  # ln 2 = high + low, where high has few bits, so that k·high is exact
    low: Any
    coefficients: tuple[Any, ...]  # c₂, c₃, …
    integer: type
    fraction_bits: int


DOUBLE: Final = Exponential(
    -708.0, 1.4426950408889634, 1.5 * 2.0**52, 6.93147180369123816490e-01, 1.90821492927058770002e-10,
    tuple(map(float.fromhex, (
        "0x1.0000000000001p-1", "0x1.5555555555556p-3", "0x1.5555555553d63p-5", "0x1.11111111109b3p-7",
        "0x1.6c16c1788bd90p-10", "0x1.a01a01a7c41d5p-13", "0x1.a019b90d2ae7ap-16", "0x1.71de0dae63bb3p-19",
        "0x1.289185613a3d6p-22", "0x1.af38a9b0ec855p-26",
    ))), np.int64, 52,
)  # fmt: skip
SINGLE: Final = Exponential(
    np.float32(-87.0), np.float32(1.4426950408889634), np.float32(1.5 * 2.0**23),
    np.float32(0.693359375), np.float32(-2.12194440e-4),
    tuple(map(np.float32, (
        0.5, 0.16666576989698775, 0.041666554617204574, 0.008363179052722578, 0.0013926183587713494,
    ))), np.int32, 23,
)  # fmt: skip


def reduced(x: np.ndarray, constants: Exponential) -> tuple[np.ndarray, np.ndarray]:
    """Split x ≤ 0 into k ln 2 + r; return two arrays: floats that hold k in their lowest bits, and e^r − 1."""
    r = np.maximum(x, constants.least)
    shifted = r * constants.per_unit
    shifted += constants.rounder
    k = shifted - constants.rounder
    r -= k * constants.high
    r -= k * constants.low
    # sum low and high powers separately: rounding errors stay small, and a processor can compute both sums at once
    square = r * r
    if constants is SINGLE:
        c2, c3, c4, c5, c6 = constants.coefficients
        low, high = line(c2, c3, r), line(c4, c5, r)
        high += square * c6
        high *= square
    else:
        c2, c3, c4, c5, c6, c7, c8, c9, c10, c11 = constants.coefficients
        fourth = square * square
        low, high = line(c2, c3, r), line(c6, c7, r)
        low += line(c4, c5, r, square)
        high += line(c8, c9, r, square)
        high += line(c10, c11, r, fourth)
        high *= fourth
    low += high
    low *= square
    r += low
    return shifted, r


def line(a: Any, b: Any, r: np.ndarray, factor: Any = None) -> np.ndarray:
    """Return factor·(a + br), or a + br if `factor` is None."""
    result: np.ndarray = b * r
    result += a
    if factor is not None:
        result *= factor
    return result


def scaled(power: np.ndarray, k: np.ndarray, constants: Exponential) -> np.ndarray:
    """Return 2^k·power: take k from the lowest bits of the floats in `k` and add it to the exponents of `power`."""
    bits: np.ndarray = power.view(constants.integer)
    bits += k.view(constants.integer) << constants.integer(constants.fraction_bits)
    return power


def pieces(table: np.ndarray) -> list[slice]:
    """Return slices that divide the rows of a table into pieces of about `AT_ONCE` values."""
    height = max(1, AT_ONCE // max(1, table.shape[1]))
    return [slice(start, start + height) for start in range(0, len(table), height)]


def groups(d: int) -> list[range]:
    """Return the indices of d features in groups of `GROUP`; the last group may be shorter."""
    return [range(k, min(k + GROUP, d)) for k in range(0, d, GROUP)]


def add_group(out: np.ndarray, pairs: Iterable[tuple[np.ndarray, np.ndarray]], memory: np.ndarray) -> None:
    """Sum the products ab of all `pairs` in order and add the sum to `out`; `memory` holds two arrays for the sums."""
    total, product = memory
    for number, (a, b) in enumerate(pairs):
        if number == 0:
            np.multiply(a, b, out=total)
        else:
            np.multiply(a, b, out=product)
            total += product
    out += total


class Arithmetic:
    """Computes kernel values and sums of rows in readable NumPy code."""

    threads: ClassVar[int] = 1
    """Number of threads that can work at once: one, because interpreted code holds the interpreter's lock."""

    sparse: ClassVar[Any] = None
    """The compiled functions that multiply sparse rows by a table or by sparse features; if None, SciPy multiplies."""

    @staticmethod
    def add_rows(target: np.ndarray, factors: np.ndarray, rows: np.ndarray, chosen: np.ndarray) -> None:
        """Add Σₖ factors[k] rows[chosen[k]] to `target`, row by row."""
        for slot, factor in zip(chosen.tolist(), factors, strict=True):
            target += factor * rows[slot, : len(target)]

    @staticmethod
    def norms(X: np.ndarray) -> np.ndarray:
        """Return ‖x‖² of each row, shape (n,), with the same bits as the product x·x computed by `products`."""
        total, memory = np.zeros(len(X), X.dtype), np.empty((2, len(X)), X.dtype)
        with np.errstate(over="ignore"):
            for group in groups(X.shape[1]):
                add_group(total, ((X[:, k], X[:, k]) for k in group), memory)
        return total

    @staticmethod
    def products(X: np.ndarray, rows: np.ndarray, features: np.ndarray, start: int, out: np.ndarray) -> None:
        """Write x·z to `out`, shape (m, w), for x in X[rows] and z in the columns start … start + w of `features`.

        The function sums the products within each group of eight features in order, and then adds the sums of the
        groups in order. The bits of x·z do not depend on the other products in `out`, and z·x has the same bits.
        """
        columns, memory = slice(start, start + out.shape[1]), None
        for piece in pieces(out):
            some, part = X[rows[piece]], out[piece]
            memory = np.empty((2, *part.shape), out.dtype) if memory is None else memory[:, : len(part)]
            part[:] = 0.0
            for group in groups(len(features)):
                add_group(part, ((some[:, k : k + 1], features[k, columns]) for k in group), memory)

    @classmethod
    def products_of_rows(cls, X: np.ndarray, W: np.ndarray, out: np.ndarray) -> None:
        """Write x·w for all rows x of X and w of W to `out`, with the bits of `products`; use it if W has few rows."""
        for start in range(0, len(X), AT_ONCE):
            part = slice(start, start + AT_ONCE)
            cls.products(W, np.arange(len(W)), np.ascontiguousarray(X[part].T), 0, out[part].T)

    @staticmethod
    def solutions(A: np.ndarray, B: np.ndarray) -> np.ndarray:
        """Solve P systems AX = B, shapes (P, m, m) and (P, m, k), by elimination with pivots.

        The solution of a singular system is filled with NaN. The method does not call LAPACK, because LAPACK calls
        BLAS, whose results may differ in the last bits between processors.
        """
        n, each = A.shape[1], np.arange(len(A))
        A = np.concatenate([A, B], axis=2)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            for k in range(n):
                pivot = k + np.abs(A[:, k:, k]).argmax(axis=1)
                A[each, k], A[each, pivot] = A[each, pivot], A[each, k]
                A[:, k + 1 :, k:] -= (A[:, k + 1 :, k] / A[:, k, k, None])[:, :, None] * A[:, k, None, k:]
            X = A[:, :, n:].copy()
            for k in range(n - 1, -1, -1):
                X[:, k] /= A[:, k, k, None]
                X[:, :k] -= A[:, :k, k, None] * X[:, k, None]
        X[~np.isfinite(X).all(axis=(1, 2))] = np.nan
        return X

    @staticmethod
    def exponentials(values: np.ndarray) -> None:
        """Replace each x ≤ 0 by e^x; see `Exponential` for the method."""
        constants, line = SINGLE if values.dtype == np.float32 else DOUBLE, values.reshape(-1)
        for start in range(0, line.size, AT_ONCE):
            x = line[start : start + AT_ONCE]
            k, power = reduced(x, constants)
            power += 1.0
            np.multiply(scaled(power, k, constants), x > constants.least, out=x)
        if not np.shares_memory(line, values):  # `reshape` copies values that are not contiguous
            values[...] = line.reshape(values.shape)

    @staticmethod
    def hyperbolic_tangents(values: np.ndarray) -> None:
        """Replace each x by tanh x in float64: −m/(2 + m) with the sign of x, where m = e^(−2|x|) − 1."""
        k, less_one = reduced(-2.0 * np.abs(values), DOUBLE)
        # for k = 0, m is e^r − 1 itself: computing e^r and subtracting 1 would lose the digits of a small m
        m = np.where(k == DOUBLE.rounder, less_one, scaled(1.0 + less_one, k, DOUBLE) - 1.0)
        np.copysign(m / (2.0 + m), values, out=values)

    @staticmethod
    def powers(values: np.ndarray, exponent: int) -> None:
        """Replace each x by x^exponent, with a whole exponent ≥ 0, by repeated squaring."""
        square = values.copy()
        values[...] = 1.0
        while exponent:
            if exponent & 1:
                values *= square
            exponent >>= 1
            if exponent:
                square *= square

    @classmethod
    def gaussian(cls, inner: np.ndarray, gamma: float, x_norms: np.ndarray, z_norms: np.ndarray) -> None:
        """Replace each x·z by exp(−γ‖x − z‖²); ‖x‖² and ‖z‖² must have the type of `inner`."""
        for rows in pieces(inner):
            part = inner[rows]
            # ‖x − z‖² = (‖x‖² + ‖z‖²) − 2 x·z has the same bits if x and z are swapped, and is exactly 0 for z = x
            part += part
            np.subtract(x_norms[rows, None] + z_norms, part, out=part)
            # rounding may make a squared distance negative, and the kernel value would then exceed 1
            np.maximum(part, 0.0, out=part)
            part *= part.dtype.type(-gamma)
            cls.exponentials(part)

    @classmethod
    def gaussian_rows(
        cls, X: np.ndarray, rows: np.ndarray, x_norms: np.ndarray, features: np.ndarray, norms: np.ndarray,
        start: int, gamma: float, out: np.ndarray,
    ) -> None:  # fmt: skip
        """Write exp(−γ‖x − z‖²) to `out`, by calling `products` and then `gaussian`."""
        for piece in pieces(out):
            cls.products(X, rows[piece], features, start, out[piece])
            cls.gaussian(out[piece], gamma, x_norms[rows[piece]], norms[start : start + out.shape[1]])

    @staticmethod
    def most_violating_pair(
        alpha: np.ndarray, gradient: np.ndarray, lower: np.ndarray, upper: np.ndarray
    ) -> tuple[int, int, float]:
        """Return argmax of G over I_up, argmin of G over I_down, and the KKT gap ψ between them.

        I_up = {i : αᵢ < Uᵢ}, I_down = {i : αᵢ > Lᵢ}; ties go to the lowest index. If a set is empty, its index is −1
        and ψ = −inf.
        """
        rising = np.where(alpha < upper, gradient, BELOW_ALL)
        falling = np.where(alpha > lower, gradient, ABOVE_ALL)
        top, bottom = int(rising.argmax()), int(falling.argmin())
        highest, lowest = rising.item(top), falling.item(bottom)
        if highest == -math.inf:
            top = -1
        if lowest == math.inf:
            bottom = -1
        return top, bottom, highest - lowest if min(top, bottom) >= 0 else -math.inf


current: Arithmetic = Arithmetic()
_loaders: list[Callable[[bool], object]] = []


def product(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Return the matrix product AB, shape (m, w), float64, with the bits of `Arithmetic.products`."""
    A, B = (np.ascontiguousarray(each, dtype=np.float64) for each in (A, B))
    out = np.empty((len(A), B.shape[1]))
    current.products(A, np.arange(len(A)), B, 0, out)
    return out


def dot(a: np.ndarray, b: np.ndarray) -> float:
    """Return aᵀb for two vectors; NumPy's `sum` adds the products in the same order on every processor."""
    return float((a * b).sum())


def install(arithmetic: Arithmetic) -> None:
    """Make all callers in this process use `arithmetic` from now on."""
    global current  # noqa: PLW0603  all callers in a process share one version
    current = arithmetic


def load_with(loader: Callable[[bool], object]) -> None:
    """Register the function that `fastest` calls to install compiled code."""
    _loaders.append(loader)


def can_be_fast() -> bool:
    """Return True if compiled code is available, loaded or not."""
    return bool(_loaders)


def fastest(waits: bool = True) -> Arithmetic:
    """Load compiled code if it is available, and return the arithmetic that all callers now use.

    Call `fastest` before work that takes long. If the compiled code is not on disk and `waits` is True, the call
    compiles the code before it returns.
    """
    for loader in _loaders:
        loader(waits)
    return current
