"""Readers of LIBSVM, CSV and NumPy files.

They return labels as they stand in the file; `binary_labels` maps two of them onto ±1.
"""

from __future__ import annotations

import bz2
import csv
import gzip
import operator
import os
import zlib
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

import numpy as np

from refsvm.datasets.archive import archived, table

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
    path = _existing(path)
    try:
        from sklearn.datasets import load_svmlight_file
    except ImportError:
        raise ImportError(
            "reading LIBSVM files needs scikit-learn, which is not installed; install refsvm[sklearn]."
        ) from None
    try:
        with _opened(path) as stream:
            if stream.peek(3)[:3] == _BYTE_ORDER_MARK:
                stream.read(3)
            X, y = load_svmlight_file(stream, n_features=n_features, zero_based=False, dtype=np.float64)
    except (ValueError, OverflowError, OSError, EOFError, zlib.error) as error:
        width = "" if n_features is None else f" with n_features={n_features!r}"
        overflow = isinstance(error, OverflowError)
        reason = "an index has more than 31 bits" if overflow else str(error).rstrip(".")
        raise ValueError(
            f"path={str(path)!r} is not a LIBSVM file{width} ({reason}); "
            f"expected lines such as '+1 1:0.5 7:2', indices from 1."
        ) from None
    _require_examples(path, X)
    if X.nnz == 0 and n_features is None:
        raise ValueError(
            f"path={str(path)!r} holds labels but no features; expected lines such as '+1 1:0.5 7:2'."
        )
    _require_finite(path, X.data)
    _require_finite(path, y)
    return X, y


def read_csv(
    path: str | os.PathLike[str], label: str | int, delimiter: str = ","
) -> tuple[np.ndarray, np.ndarray]:
    r"""Read a CSV file: one example a row, one column of labels, all others numbers.

    Parameters
    ----------
    path : str or path
        The file, UTF-8.
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
        If the file is not text, empty or ragged, has no such label column, or a cell that is not a finite
        number; if delimiter is not one character.

    Notes
    -----
    The first row is taken as a header where label is a name. Otherwise it is one where none of its cells is a number
    and its label cell is not a label of another row; or where its label cell is a word above numbers, and the other
    cells number the columns. Any other row with a cell that is no number is refused.

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
    path = _existing(path)
    rows = csv_rows(path, delimiter)
    column = _label_column(path, rows[0], label)
    labels, cells = [row[column] for row in rows], [row[:column] + row[column + 1 :] for row in rows]
    first = int(_is_name(label) or _starts_with_header(labels, cells))  # the first row that is an example
    if first == len(rows):
        raise ValueError(f"path={str(path)!r} has a header but no examples; give at least one row.")
    X, labels = _numbers(path, cells[first:], first_row=first + 1), labels[first:]
    if not all(map(is_number, labels)):
        return X, np.array(labels)
    y = np.array(labels, dtype=np.float64)
    _require_finite(path, y)
    return X, y


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
    path = _existing(path)
    parts = archived(path)
    try:
        X = table(parts)
    except (ValueError, TypeError) as error:
        raise ValueError(
            f"path={str(path)!r} holds no table of numbers ({error}); store X (n, d) or its CSR parts."
        ) from None
    y = parts["y"]
    if X.ndim != 2 or y.shape != (X.shape[0],):
        raise ValueError(
            f"path={str(path)!r} has X of shape {X.shape} and y of shape {y.shape}; expected (n, d) and (n,)."
        )
    if y.dtype.kind not in "biufSU":
        raise ValueError(f"path={str(path)!r} has labels of type {y.dtype}; store numbers or text.")
    if y.dtype.kind == "f":
        _require_finite(path, y)
    _require_examples(path, X)
    _require_finite(path, X if isinstance(X, np.ndarray) else X.data)
    return X, y


def _opened(path: Path) -> Any:
    """Open a file that may be packed, as bytes."""
    if path.suffix == ".gz":
        return gzip.open(path)
    return bz2.open(path) if path.suffix == ".bz2" else path.open("rb")


def _existing(path: str | os.PathLike[str]) -> Path:
    if not Path(path).is_file():
        raise FileNotFoundError(f"path={os.fspath(path)!r} is not a file; check the spelling and the folder.")
    return Path(path)


def _require_examples(path: Path, X: Any) -> None:
    if 0 in X.shape:
        raise ValueError(
            f"path={str(path)!r} holds a table of shape {X.shape}; give at least one example and one feature."
        )


def _require_finite(path: Path, values: np.ndarray) -> None:
    if not np.isfinite(values).all():
        raise ValueError(f"path={str(path)!r} contains NaN or infinity; drop or impute those entries first.")


def _require_character(delimiter: Any) -> None:
    if not isinstance(delimiter, str) or len(delimiter) != 1 or delimiter in '\r\n"':
        raise ValueError(f"delimiter={delimiter!r} is not a character between cells; give one, such as ';'.")


def is_number(cell: str) -> bool:
    """Whether a cell of a table holds a number."""
    try:
        float(cell)
    except ValueError:
        return False
    return True


def csv_rows(path: Path, delimiter: str = ",") -> list[list[str]]:
    r"""Return the rows of a CSV file that are not blank, all of one length, as stripped strings.

    Parameters
    ----------
    path : pathlib.Path
        An existing file, UTF-8.
    delimiter : str
        Character between the cells.

    Returns
    -------
    list of list of str
        The cells, row by row.

    Raises
    ------
    ValueError
        If the file is not text, empty, ragged or of one column; if delimiter is not one character.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "one.csv")
    >>> characters = path.write_text("a, b\n\n1, 2\n")
    >>> csv_rows(path)
    [['a', 'b'], ['1', '2']]
    """
    _require_character(delimiter)
    try:
        with path.open(newline="", encoding="utf-8-sig") as stream:
            rows = [[cell.strip() for cell in row] for row in csv.reader(stream, delimiter=delimiter) if row]
    except (UnicodeDecodeError, csv.Error) as error:
        raise ValueError(
            f"path={str(path)!r} is not a CSV text in UTF-8 ({error}); convert it first."
        ) from None
    if not rows:
        raise ValueError(f"path={str(path)!r} is empty; expected one example a row.")
    width = len(rows[0])
    if width < 2:
        raise ValueError(
            f"path={str(path)!r} has one column only; expected a label and features, split by {delimiter!r}."
        )
    for number, row in enumerate(rows, start=1):
        if len(row) != width:
            raise ValueError(
                f"path={str(path)!r} has {len(row)} cells in row {number}, but {width} in row 1; complete it."
            )
    return rows


def _is_name(label: str | int) -> bool:
    """Whether label names a column, rather than counting it."""
    return isinstance(label, str) and not label.lstrip("+-").isdecimal()


def _label_column(path: Path, first_row: list[str], label: str | int) -> int:
    try:
        if _is_name(label):
            return first_row.index(str(label))
        return range(len(first_row))[int(label) if isinstance(label, str) else operator.index(label)]
    except (ValueError, IndexError, TypeError):
        near = get_close_matches(str(label), first_row, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"the first row is {', '.join(first_row[:10])}."
        raise ValueError(f"label={label!r} is no column of {str(path)!r}; {hint}") from None


def _starts_with_header(labels: list[str], cells: list[list[str]]) -> bool:
    """Whether the first row names the columns."""
    if is_number(labels[0]) or (len(labels) > 1 and labels[0] in labels[1:]):
        return False
    if not any(map(is_number, cells[0])):
        return True
    counts = [int(cell) if cell.isdecimal() else -1 for cell in cells[0]]
    are_columns = counts == sorted(set(counts)) and counts[0] >= 0 and counts[-1] <= len(counts) + 1
    return are_columns and len(labels) > 1 and all(map(is_number, labels[1:]))


def _numbers(path: Path, cells: list[list[str]], first_row: int) -> np.ndarray:
    """Convert cells to finite float64, or name the first row that has another thing."""
    try:
        X = np.array(cells, dtype=np.float64)
    except ValueError:
        row, cell = next((r, c) for r, line in enumerate(cells, first_row) for c in line if not is_number(c))
        raise ValueError(
            f"path={str(path)!r} has {cell!r} in row {row}, which is not a number; code or drop that column."
        ) from None
    _require_finite(path, X)
    return X
