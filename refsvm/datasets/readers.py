"""Readers of LIBSVM, CSV and NumPy files.

They return labels as they stand in the file; `binary_labels` maps two of them onto ±1.
"""

from __future__ import annotations

import csv
import operator
import os
import zipfile
import zlib
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

import numpy as np

_CSR: Final = ("data", "indices", "indptr", "shape")


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
        If the file is malformed or empty, has an index of 0 or above n_features, or holds NaN or infinity.
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
        X, y = load_svmlight_file(str(path), n_features=n_features, zero_based=False, dtype=np.float64)
    except (ValueError, OSError, EOFError, zlib.error) as error:
        width = "" if n_features is None else f" with n_features={n_features!r}"
        raise ValueError(
            f"path={str(path)!r} is not a LIBSVM file{width} ({str(error).rstrip('.')}); "
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
        number.

    Notes
    -----
    The first row is taken as a header where label is a name, where none of its feature cells is a number, or
    where its label cell alone is not a number.

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
    if not all(map(_is_number, labels)):
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
        If the file is not such an archive, its parts do not fit together, or X holds NaN or infinity.

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
    parts = _parts(path)
    try:
        X = _table(parts)
    except (ValueError, TypeError) as error:
        raise ValueError(
            f"path={str(path)!r} holds no table of numbers ({error}); store X (n, d) or its CSR parts."
        ) from None
    y = parts["y"]
    if X.ndim != 2 or y.shape != (X.shape[0],):
        raise ValueError(
            f"path={str(path)!r} has X of shape {X.shape} and y of shape {y.shape}; expected (n, d) and (n,)."
        )
    _require_examples(path, X)
    _require_finite(path, X if isinstance(X, np.ndarray) else X.data)
    return X, y


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


def _is_number(cell: str) -> bool:
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
        If the file is not text, empty, ragged or of one column.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "one.csv")
    >>> characters = path.write_text("a, b\n\n1, 2\n")
    >>> csv_rows(path)
    [['a', 'b'], ['1', '2']]
    """
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
    if not any(map(_is_number, cells[0])):
        return True
    return len(labels) > 1 and not _is_number(labels[0]) and all(map(_is_number, labels[1:]))


def _numbers(path: Path, cells: list[list[str]], first_row: int) -> np.ndarray:
    """Convert cells to finite float64, or name the first row that has another thing."""
    try:
        X = np.array(cells, dtype=np.float64)
    except ValueError:
        row, cell = next((r, c) for r, line in enumerate(cells, first_row) for c in line if not _is_number(c))
        raise ValueError(
            f"path={str(path)!r} has {cell!r} in row {row}, which is not a number; code or drop that column."
        ) from None
    _require_finite(path, X)
    return X


def _parts(path: Path) -> dict[str, np.ndarray]:
    """Return the arrays of an archive that make up X and y."""
    if not zipfile.is_zipfile(path):
        raise ValueError(f"path={str(path)!r} is not an .npz archive; write it with numpy.savez_compressed.")
    try:
        with np.load(path, allow_pickle=False) as archive:
            wanted = ("X", "y") if "X" in archive.files else (*_CSR, "y")
            missing = not set(wanted) <= set(archive.files)
            parts = {} if missing else {key: archive[key] for key in wanted}
            held = ", ".join(archive.files) or "nothing"
    except (ValueError, OSError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        reason = str(error).rstrip(".")
        raise ValueError(
            f"path={str(path)!r} cannot be read as an .npz archive ({reason}); write it anew."
        ) from None
    if missing:
        raise ValueError(f"path={str(path)!r} holds {held}; expected y and X, or y and {', '.join(_CSR)}.")
    return parts


def _table(parts: dict[str, np.ndarray]) -> Any:
    """Return X as float64, dense or CSR; ValueError or TypeError where the parts do not make a table."""
    values = parts["X" if "X" in parts else "data"]
    if values.dtype.kind not in "biuf":
        raise ValueError(f"its values are of type {values.dtype}")
    values = values.astype(np.float64)
    if "X" in parts:
        return values
    from scipy.sparse import csr_matrix

    indices, indptr = (parts[key].astype(np.int64, casting="safe") for key in ("indices", "indptr"))
    n, d = (int(size) for size in parts["shape"])
    X = csr_matrix((values, indices, indptr), shape=(n, d))
    X.check_format(full_check=True)
    return X
