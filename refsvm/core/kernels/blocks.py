"""Blocks of a kernel matrix that is held or being written: some values, a mirrored half, values that are none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from refsvm.core._checks import is_sparse
from refsvm.core.kernels.threads import run_in_pieces

TILE_ROWS: Final = 128
"""Rows of a strip of such a matrix."""

TILE_COLUMNS: Final = 1000
"""Columns of a tile that is mirrored: no power of 2, for which the values of a column share few places of a cache."""

ROWS_AT_ONCE: Final = 64
"""Rows that are copied whole before some of their columns are taken."""

FEW_COLUMNS: Final = 16
"""Where fewer than one column in so many is wanted, values are taken one by one."""

LARGEST_VALUE: Final = 1e300
"""Kernel values above this are refused."""


def is_all(rows: np.ndarray, n: int) -> bool:
    """Whether these are all rows in order."""
    return len(rows) == n and np.array_equal(rows, np.arange(n))


def gather(K: np.ndarray, rows: np.ndarray, columns: np.ndarray, out: np.ndarray) -> None:
    """Write K[rows][:, columns] to `out`, some rows at a time: half the time of one index for both."""
    # a whole row is copied first, in the order of memory, unless most of it is not wanted
    few = FEW_COLUMNS * len(columns) < K.shape[1]
    for start in range(0, len(rows), ROWS_AT_ONCE):
        part = slice(start, start + ROWS_AT_ONCE)
        if few or out.dtype != K.dtype:
            out[part] = K[np.ix_(rows[part], columns)]
        else:
            K[rows[part]].take(columns, axis=1, out=out[part], mode="clip")


def write_mirrored(K: np.ndarray, evaluate: Callable[[slice, slice], np.ndarray]) -> None:
    """Write a symmetric matrix: strips of rows are evaluated from the diagonal on, and mirrored."""
    n = len(K)

    def strip(rows: slice) -> None:
        for start in range(rows.start, n, TILE_COLUMNS):
            columns = slice(start, min(start + TILE_COLUMNS, n))
            # both halves from one evaluation, tile by tile, while the values are in the cache
            values = evaluate(rows, columns)
            K[rows, columns] = values
            K[columns, rows] = values.T

    run_in_pieces(strip, n, TILE_ROWS)


def called(kernel: Callable[..., Any], X: Any, Z: Any) -> np.ndarray:
    """Return what a user's kernel makes of two tables, as a dense array of float64.

    The kernel gets copies, so that it may work in place; one object twice stays one object.

    Raises
    ------
    ValueError
        If it returns complex or masked values, or none that are numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm.core.kernels.blocks import called
    >>> called(lambda X, Z: X @ Z.T, np.array([[1.0], [2.0]]), np.array([[3.0]]))
    array([[3.],
           [6.]])
    """
    left = X.copy() if hasattr(X, "copy") else X
    found = kernel(left, left if Z is X else Z.copy() if hasattr(Z, "copy") else Z)
    refuse_masked(found, "The kernel callable")
    values = np.asarray(found.toarray() if is_sparse(found) else found)
    if values.dtype.kind == "O":  # numbers of any kind, or something else
        is_complex = any(isinstance(each, complex | np.complexfloating) for each in values.flat)
        values = values.astype(complex) if is_complex else values
    if values.dtype.kind == "c":
        raise ValueError(
            f"The kernel callable returned complex values ({values.dtype}); a kernel is a real function here: return "
            "the real part or the modulus, if that is the kernel that you mean."
        )
    try:
        return np.ascontiguousarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"The kernel callable returned values of type {values.dtype}; it must return one real number for each pair."
        ) from None


def refuse_masked(found: Any, name: str) -> None:
    """Refuse an array with masked entries: the numbers behind the mask would be taken for kernel values."""
    if np.ma.is_masked(found):
        raise ValueError(f"{name} returned masked values; return a number for each pair, and no mask.")


def shaped(block: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Refuse a result of a user's kernel that is not one value for each pair."""
    if block.shape != shape:
        raise ValueError(
            f"The kernel callable returned an array of shape {block.shape} for blocks of {shape[0]} and "
            f"{shape[1]} rows; it must return one value for each pair, shape {shape}."
        )
    return block


def check_finite_values(values: np.ndarray) -> None:
    """Refuse kernel values that are NaN, infinite, or so large that Kᵢᵢ + Kⱼⱼ − 2Kᵢⱼ would overflow."""
    largest = float(np.abs(values).max(initial=0.0))
    if values.dtype == np.float32 and not np.isfinite(largest):
        raise ValueError(
            'A kernel value is NaN or beyond what float32 rows hold (3.4e38); use cache_dtype="float64", '
            "or scale the data or the kernel's parameters down."
        )
    if not largest <= LARGEST_VALUE:
        raise ValueError(
            f"The kernel takes the value {largest:.3g} on this data, beyond what can be computed with (1e300); "
            "scale the data or the kernel's parameters down."
        )
