"""Readers of LIBSVM, CSV and NumPy files.

They return labels as they stand in the file; `binary_labels` maps two of them onto ±1.
"""

from __future__ import annotations

import os
import zlib
from pathlib import Path
from typing import Any, Final

import numpy as np

from refsvm._checks import is_sparse
from refsvm.datasets.archive import archived, existing, opened, refused, require_finite, table
from refsvm.datasets.cells import csv_table, require_character

_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"


def read_libsvm(path: str | os.PathLike[str], n_features: int | None = None) -> tuple[Any, np.ndarray]:
    r"""Read a LIBSVM (svmlight) file: a line ``label index:value …`` per example, indices from 1.

    Parameters
    ----------
    path : str or path
        The file; .gz and .bz2 are unpacked on the way.
    n_features : int or None
        Number of features; by default the largest index of the file. Give it for a test file, whose
        largest index may be smaller than that of the training file.

    Returns
    -------
    X : scipy.sparse.csr_matrix of float64, shape (n, d)
        Examples.
    y : ndarray of float64, shape (n,)
        Labels as in the file.

    Raises
    ------
    FileNotFoundError
        If path is not a file.
    ValueError
        If the file is malformed or empty, has an index of 0 or above n_features or of more than 31 bits, or
        holds NaN or infinity.
    ImportError
        If scikit-learn, which parses the file, is not installed.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> path = Path(tempfile.mkdtemp(), "two.libsvm")
    >>> characters = path.write_text("+1 1:0.5 3:2\n-1 2:1\n")
    >>> X, y = read_libsvm(path)
    >>> X.toarray()
    array([[0.5, 0. , 2. ],
           [0. , 1. , 0. ]])
    """
    path = existing(path)
    try:
        from sklearn.datasets import load_svmlight_file
    except ImportError:
        raise ImportError(
            "reading LIBSVM files needs scikit-learn, which is not installed; run: pip install scikit-learn"
        ) from None
    try:
        with opened(path) as stream:
            if stream.peek(3)[:3] == _BYTE_ORDER_MARK:
                stream.read(3)
            X, y = load_svmlight_file(stream, n_features=n_features, zero_based=False, dtype=np.float64)
    except (ValueError, OverflowError, OSError, EOFError, zlib.error) as error:
        width = "" if n_features is None else f" with n_features={n_features!r}"
        overflow = isinstance(error, OverflowError)
        reason = "an index has more than 31 bits" if overflow else str(error).rstrip(".")
        raise refused(
            path,
            f"is not a LIBSVM file{width} ({reason}); expected lines such as '+1 1:0.5 7:2', indices from 1.",
        ) from None
    X, y = _checked(path, X, y)
    if X.nnz == 0 and n_features is None:
        raise refused(path, "holds labels but no features; expected lines such as '+1 1:0.5 7:2'.")
    return X, y


def read_csv(
    path: str | os.PathLike[str], label: str | int, delimiter: str = ","
) -> tuple[np.ndarray, np.ndarray]:
    r"""Read a CSV file: one example a row, one column of labels, all others numbers.

    Parameters
    ----------
    path : str or path
        The file, UTF-8; .gz and .bz2 are unpacked on the way.
    label : str or int
        Name of the label column, or its index from 0 (negative from the end); a string that is a whole number
        is an index.
    delimiter : str
        Character between the cells.

    Returns
    -------
    X : ndarray of float64, shape (n, d)
        All columns but the label, in their order.
    y : ndarray of float64 or str, shape (n,)
        Labels as in the file: numbers where all of them are numbers.

    Raises
    ------
    FileNotFoundError
        If path is not a file.
    ValueError
        If the file is not text, empty or ragged, has no such label column, a row without a label, or a cell that is
        not a finite number; if delimiter is not one character.

    Notes
    -----
    The first row is taken as a header where label is a name. Otherwise it is one where none of its cells is a number
    and its label cell is not a label of another row; or where its label cell is a word above numbers, and the other
    cells number the columns. Any other row with a cell that is no number is refused.

    Where something else than a comma stands between the cells, 0,5 is a number, unless the file has numbers such as 0.5
    too.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> path = Path(tempfile.mkdtemp(), "plants.csv")
    >>> characters = path.write_text("height,kind,width\n1.5,oak,2\n0.5,elm,1\n")
    >>> X, y = read_csv(path, label="kind")
    >>> X
    array([[1.5, 2. ],
           [0.5, 1. ]])
    >>> y.tolist()
    ['oak', 'elm']
    """
    if label is None:
        raise ValueError(f"label=None is no column of {os.fspath(path)!r}; give its name or its index.")
    require_character(delimiter)
    table = csv_table(path, label, delimiter)
    return table.X, np.asarray(table.y)


def read_npz(path: str | os.PathLike[str]) -> tuple[Any, np.ndarray]:
    """Read a NumPy archive of y and X, or of y and the parts of a sparse (CSR) X.

    Parameters
    ----------
    path : str or path
        The archive, with arrays ``X`` and ``y``, or ``data``, ``indices``, ``indptr``, ``shape`` and ``y``.
        Other arrays in it are ignored. Nothing is unpickled.

    Returns
    -------
    X : ndarray of float64 or scipy.sparse.csr_matrix, shape (n, d)
        Examples.
    y : ndarray, shape (n,)
        Labels as in the file.

    Raises
    ------
    FileNotFoundError
        If path is not a file.
    ValueError
        If the file is not such an archive, its parts do not fit together, or it holds NaN or infinity.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> path = Path(tempfile.mkdtemp(), "two.npz")
    >>> np.savez_compressed(path, X=[[0.0, 1.0], [2.0, 3.0]], y=[-1, 1])
    >>> X, y = read_npz(path)
    >>> X.shape, y.tolist()
    ((2, 2), [-1, 1])
    """
    path = existing(path)
    parts = archived(path)
    try:
        X = table(parts)
    except (ValueError, TypeError) as error:
        raise refused(
            path, f"holds no table of numbers ({error}); store X (n, d) or its CSR parts."
        ) from None
    y = parts["y"]
    if X.ndim != 2 or y.shape != (X.shape[0],):
        raise refused(path, f"has X of shape {X.shape} and y of shape {y.shape}; expected (n, d) and (n,).")
    if y.dtype.kind not in "biufSU":
        raise refused(path, f"has labels of type {y.dtype}; store numbers or text.")
    return _checked(path, X, y)


def _checked(path: Path, X: Any, y: np.ndarray) -> tuple[Any, np.ndarray]:
    """Return X and y, or refuse a table without examples or features, NaN and infinity."""
    if 0 in X.shape:
        raise refused(path, f"holds a table of shape {X.shape}; give at least one example and one feature.")
    require_finite(path, X.data if is_sparse(X) else X)
    if y.dtype.kind == "f":  # words and whole numbers are finite
        require_finite(path, y)
    return X, y
