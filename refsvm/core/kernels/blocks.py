"""Copies selected entries of a kernel matrix, mirrors one half of a matrix, and refuses NaN and infinite values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from refsvm.core._checks import is_sparse
from refsvm.core.kernels.threads import run_in_pieces

TILE_ROWS: Final = 128
"""Number of rows in a strip of the matrix."""

TILE_COLUMNS: Final = 1000
"""Number of columns in a mirrored tile; with a power of 2, the values of a column would compete for few cache lines."""

ROWS_AT_ONCE: Final = 64
"""Number of rows that are copied whole before some of their columns are selected."""

FEW_COLUMNS: Final = 16
"""If fewer than one in `FEW_COLUMNS` columns is selected, values are copied one by one."""

LARGEST_VALUE: Final = 1e300
"""Kernel values whose size exceeds this number raise an error."""


def is_all(rows: np.ndarray, n: int) -> bool:
    """Return True if `rows` are all n rows in order."""
    return len(rows) == n and np.array_equal(rows, np.arange(n))


def gather(K: np.ndarray, rows: np.ndarray, columns: np.ndarray, out: np.ndarray) -> None:
    """Write K[rows][:, columns] to `out`, some rows at a time; indexing both axes at once takes twice the time."""
    # copy single values if few columns are selected; else copy whole rows, in the order of memory, and select columns
    few = FEW_COLUMNS * len(columns) < K.shape[1]
    for start in range(0, len(rows), ROWS_AT_ONCE):
        part = slice(start, start + ROWS_AT_ONCE)
        if few or out.dtype != K.dtype:
            out[part] = K[np.ix_(rows[part], columns)]
        else:
            K[rows[part]].take(columns, axis=1, out=out[part], mode="clip")


def write_mirrored(K: np.ndarray, evaluate: Callable[[slice, slice], np.ndarray]) -> None:
    """Fill a symmetric matrix: evaluate each strip of rows from the diagonal to the right, and mirror the strip."""
    n = len(K)

    def strip(rows: slice) -> None:
        for start in range(rows.start, n, TILE_COLUMNS):
            columns = slice(start, min(start + TILE_COLUMNS, n))
            # write both halves tile by tile, while the values of one evaluation are in the processor's cache
            values = evaluate(rows, columns)
            K[rows, columns] = values
            K[columns, rows] = values.T

    run_in_pieces(strip, n, TILE_ROWS)


def called(kernel: Callable[..., Any], X: Any, Z: Any) -> np.ndarray:
    """Call a user's kernel on two tables and return its values as a dense float64 array.

    The kernel gets copies of the tables and may change the copies; if X is Z, the kernel gets the same copy twice.

    Raises
    ------
    ValueError
        If the kernel returns complex or masked values, or values that are not numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm.core.kernels.blocks import called
    >>> called(lambda X, Z: X @ Z.T, np.array([[1.0], [2.0]]), np.array([[3.0]]))
    array([[3.],
           [6.]])
    """
    left = X.copy() if hasattr(X, "copy") else X
    result = kernel(left, left if Z is X else Z.copy() if hasattr(Z, "copy") else Z)
    refuse_masked(result, "The kernel callable")
    values = np.asarray(result.toarray() if is_sparse(result) else result)
    if values.dtype.kind == "O":  # an array of Python objects may contain complex numbers
        is_complex = any(isinstance(each, complex | np.complexfloating) for each in values.flat)
        values = values.astype(complex) if is_complex else values
    if values.dtype.kind == "c":
        raise ValueError(
            f"The kernel callable returned complex values ({values.dtype}), but kernel values must be real; return "
            "their real part or their modulus."
        )
    try:
        return np.ascontiguousarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"The kernel callable returned values of type {values.dtype}; it must return one real number for each pair."
        ) from None


def refuse_masked(values: Any, name: str) -> None:
    """Raise ValueError for masked entries, because the numbers behind the mask would count as kernel values."""
    if np.ma.is_masked(values):
        raise ValueError(f"{name} returned masked values; return a number for each pair, without a mask.")


def shaped(block: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Return the values of a user's kernel; raise ValueError unless there is one value for each pair of rows."""
    if block.shape != shape:
        raise ValueError(
            f"The kernel callable returned an array of shape {block.shape} for blocks of {shape[0]} and "
            f"{shape[1]} rows; it must return one value for each pair, shape {shape}."
        )
    return block


def check_finite_values(values: np.ndarray) -> None:
    """Raise ValueError if a kernel value is NaN, infinite, or so large that Kᵢᵢ + Kⱼⱼ − 2Kᵢⱼ would overflow."""
    largest = float(np.abs(values).max(initial=0.0))
    if values.dtype == np.float32 and not np.isfinite(largest):
        raise ValueError(
            'A kernel value is NaN or too large for float32 rows (above 3.4e38); use cache_dtype="float64", '
            "or scale the data or the kernel's parameters down."
        )
    if not largest <= LARGEST_VALUE:
        raise ValueError(
            f"The kernel takes the value {largest:.3g}, but kernel values must lie between -1e300 and 1e300; "
            "scale the data or the kernel's parameters down."
        )
