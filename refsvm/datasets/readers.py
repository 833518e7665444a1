"""Readers of LIBSVM, CSV and NumPy files.

They return labels as they stand in the file; `binary_labels` maps two of them onto ±1.
"""

from __future__ import annotations

import os
import re
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np

from refsvm._checks import is_sparse
from refsvm.datasets.archive import UNPACKING, archived, existing, opened, refused, table
from refsvm.datasets.cells import csv_table, require_character

_COMMENT: Final = re.compile(rb"(?:^|(?<=\s))#.*", re.DOTALL)
_PADDING: Final = re.compile(rb":\s+")


class _Lines:
    """Lines of a LIBSVM file as scikit-learn takes them: without comments, and without blanks before a value."""

    def __init__(self, stream: Any) -> None:
        self.stream, self.text, self.ended = stream, b"", False
        self.number, self.numbers = 0, array("q")  # of the line at hand, and of those that hold an example

    def read(self) -> None:
        """Do nothing: an object with this method is a stream to scikit-learn, and no path."""

    def __iter__(self) -> Iterator[bytes]:
        for number, text in enumerate(self.stream, 1):
            self.number, self.text = number, text
            line = text.removeprefix(b"\xef\xbb\xbf") if number == 1 else text
            line = _COMMENT.sub(b"", line) if b"#" in line else line
            line = _PADDING.sub(b":", line) if b": " in line or b":\t" in line else line
            if b"#" in line:
                raise ValueError("a # stands inside of a number; older programs write NaN as -1.#IND")
            # Python would read 1_0 as ten; the file means something else, or is damaged
            if b"_" in line:
                raise ValueError("a number has a _ in it")
            if line.strip():
                self.numbers.append(number)
                yield line
        self.ended = True


def read_libsvm(path: str | os.PathLike[str], n_features: int | None = None) -> tuple[Any, np.ndarray]:
    r"""Read a LIBSVM (svmlight) file: a line ``label index:value …`` per example, indices from 1.

    Parameters
    ----------
    path : str or path
        The file; one that gzip, bzip2 or xz has packed is unpacked on the way.
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
        holds NaN or infinity, also as older Windows programs write them, -1.#IND; the sentence names the line.
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
    with opened(path) as stream:
        lines = _Lines(stream)
        try:
            X, y = load_svmlight_file(lines, n_features=n_features, zero_based=False, dtype=np.float64)
        except (ValueError, OverflowError, *UNPACKING) as error:
            width = "" if n_features is None else f" with n_features={n_features!r}"
            reason = (
                "an index has more than 31 bits"
                if isinstance(error, OverflowError)
                else str(error).rstrip(".")
            )
            # scikit-learn looks at the width when all lines are read
            at = f"; line {lines.number}, {ascii(lines.text.strip())[1:42]}" if not lines.ended else ""
            raise refused(
                path,
                f"is not a LIBSVM file{width} ({reason}{at}); expected lines such as '+1 1:0.5 7:2', indices from 1.",
            ) from None
    X, y = _checked(path, X, y, lines.numbers)
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
        The file, UTF-8; one that gzip, bzip2 or xz has packed is unpacked on the way.
    label : str or int
        Name of the label column, or its index from 0 (negative from the end); a string that is a whole number
        is an index, unless the header has a column of that name.
    delimiter : str
        Character between the cells.

    Returns
    -------
    X : ndarray of float64, shape (n, d)
        All columns but the label, in their order.
    y : ndarray of float64 or str, shape (n,)
        Labels as in the file: numbers where all of them are numbers and print back the same. 007, 1E5 and whole
        numbers above 2⁵³ stay texts.

    Raises
    ------
    FileNotFoundError
        If path is not a file.
    ValueError
        If the file is not text, empty or ragged, has no such label column, a row without a label or with a code of a
        missing one (NA, ?, null), or a cell that is not a finite number; if delimiter is not one character. The
        sentence names the row, counted as the file has them.
    ImportError
        If pandas, which parses the file, is not installed.

    Notes
    -----
    The first row is a header if label is a name in it. Otherwise it is one if none of its cells is a number and its
    label cell is not a label of another row; or if the cells are rising whole numbers, and the label cell is a word
    above numbers. A first row of numbers from 0 on, or of years, is taken for a header with a warning.

    If the cells are not split by commas, 0,5 is a number, unless the file has numbers such as 0.5 too.

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


def _checked(path: Path, X: Any, y: np.ndarray, lines: Any = None) -> tuple[Any, np.ndarray]:
    """Return X and y, or refuse NaN, infinity, and a table without examples or features; `lines` are its rows'."""
    if 0 in X.shape:
        raise refused(path, f"holds a table of shape {X.shape}; give at least one example and one feature.")
    values = X.data if is_sparse(X) else X
    is_bad = np.zeros(len(y), dtype=bool) if y.dtype.kind != "f" else ~np.isfinite(y)
    bad = np.argwhere(~np.isfinite(values))[:1, 0]
    is_bad[np.searchsorted(X.indptr, bad, side="right") - 1 if is_sparse(X) else bad] = True
    if is_bad.any():
        row = int(is_bad.argmax())
        where = f"example {row + 1}" if lines is None else f"line {lines[row]}"
        raise refused(path, f"contains NaN or infinity; drop or impute those entries first ({where}).")
    return X, y
