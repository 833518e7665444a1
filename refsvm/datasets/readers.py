"""Readers of LIBSVM, CSV and NumPy files.

They return labels as they stand in the file; `binary_labels` maps two of them onto ±1.
"""

from __future__ import annotations

import os
import re
from array import array
from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from refsvm.core._checks import is_sparse
from refsvm.datasets.archive import UNPACKING, Source, archived, existing, opened, refused, table
from refsvm.datasets.cells import csv_table, require_character
from refsvm.datasets.labels import note_lookalikes

_COMMENT: Final = re.compile(rb"(?:^|(?<=\s))#.*", re.DOTALL)
_PADDING: Final = re.compile(rb":\s+")
_ROW_NUMBER: Final = re.compile(rb"(\s*\S+\s+)0:(\S+)\s*").match
"""Of a kernel matrix, as LIBSVM's -t 4 reads it: the number of the row stands before the kernel values."""


class _Lines:
    """Lines of a LIBSVM file as scikit-learn takes them: without comments, and without blanks before a value.

    The numbers of rows of a kernel matrix are kept in `places`.
    """

    def __init__(self, stream: Any) -> None:
        self.stream, self.text, self.ended = stream, b"", False
        self.places: list[int] | None = None  # of a kernel matrix
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
                line = self._without_place(line)
                self.numbers.append(number)
                yield line
        self.ended = True

    def _without_place(self, line: bytes) -> bytes:
        """Return a row of a kernel matrix without its number, and keep that; any other line as it is."""
        found = _ROW_NUMBER(line)
        # what begins with 0:0.5 has features from 0, which is refused as an index
        if found and (found[2] == b"?" or found[2].removesuffix(b".0").isdigit()):
            if not self.numbers and line[found.end() :].startswith(b"1:"):
                self.places = []
            if self.places is not None:
                self.places.append(0 if found[2] == b"?" else int(found[2].removesuffix(b".0")))
                return found[1] + line[found.end() :]
        elif self.places is not None:
            raise ValueError(
                "a row has no 0:number in front, as the rows of a kernel matrix above have; features count from 1"
            )
        return line


def read_libsvm(path: str | os.PathLike[str], n_features: int | None = None) -> tuple[Any, np.ndarray]:
    r"""Read a LIBSVM (svmlight) file: a line ``label index:value …`` per example, indices from 1.

    Parameters
    ----------
    path : str or path
        The file, or "-" for the standard input; one that gzip, bzip2 or xz has packed is unpacked on the way.
    n_features : int or None
        Number of features; by default the largest index of the file. Give it for a test file, whose
        largest index may be smaller than that of the training file.

    Returns
    -------
    X : scipy.sparse.csr_matrix of float64, shape (n, d)
        Examples. Of a kernel matrix, where every line has the number of its row as ``0:number`` in front, a dense
        ndarray of the kernel values, without the numbers.
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
    X, y, _ = libsvm_rows(existing(path), n_features)
    return X, y


def libsvm_rows(source: Source, n_features: int | None = None) -> tuple[Any, np.ndarray, np.ndarray | None]:
    """Read a LIBSVM file as `read_libsvm` does; return X, y, and the numbers of the rows of a kernel matrix or None.

    A number that is not known, ``0:?``, is 0.
    """
    try:
        from sklearn.datasets import load_svmlight_file
    except ImportError:
        raise ImportError(
            "reading LIBSVM files needs scikit-learn, which is not installed; run: pip install scikit-learn"
        ) from None
    with opened(source) as stream:
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
                source,
                f"is not a LIBSVM file{width} ({reason}{at}); expected lines such as '+1 1:0.5 7:2', indices from 1.",
            ) from None
    X, y = _checked(source, X, y, lines.numbers)
    if X.nnz == 0 and n_features is None:
        raise refused(source, "holds labels but no features; expected lines such as '+1 1:0.5 7:2'.")
    if lines.places is None:
        return X, y, None
    lacking = np.flatnonzero(np.diff(X.indptr) < X.shape[1])
    known = [place for place in lines.places if place]
    if len(lacking) or len(set(known)) < len(known):
        at = (
            f"line {lines.numbers[lacking[0]]} lacks some"
            if len(lacking)
            else "two rows have the same number"
        )
        raise refused(
            source, f"begins its lines with 0:number, as kernel matrices do, but {at}; features count from 1."
        )
    return X.toarray(), y, np.array(lines.places, dtype=np.int64)


def read_csv(
    path: str | os.PathLike[str], label: str | int, delimiter: str = ","
) -> tuple[np.ndarray, np.ndarray]:
    r"""Read a CSV file: one example a row, one column of labels, all others numbers.

    Parameters
    ----------
    path : str or path
        The file, UTF-8, or "-" for the standard input; one that gzip, bzip2 or xz has packed is unpacked on the way.
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


def read_npz(path: str | os.PathLike[str] | Source) -> tuple[Any, np.ndarray]:
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
    source = existing(path)
    parts = archived(source)
    try:
        X = table(parts)
    except (ValueError, TypeError) as error:
        raise refused(
            source, f"holds no table of numbers ({error}); store X (n, d) or its CSR parts."
        ) from None
    y = parts["y"]
    if X.ndim != 2 or y.shape != (X.shape[0],):
        raise refused(source, f"has X of shape {X.shape} and y of shape {y.shape}; expected (n, d) and (n,).")
    if y.dtype.kind not in "biufSU":
        raise refused(source, f"has labels of type {y.dtype}; store numbers or text.")
    if y.dtype.kind == "U":
        note_lookalikes(str(source), y.tolist())
    return _checked(source, X, y)


def _checked(source: Source, X: Any, y: np.ndarray, lines: Any = None) -> tuple[Any, np.ndarray]:
    """Return X and y, or refuse NaN, infinity, and a table without examples or features; `lines` are its rows'."""
    if 0 in X.shape:
        raise refused(source, f"holds a table of shape {X.shape}; give at least one example and one feature.")
    values = X.data if is_sparse(X) else X
    is_bad = np.zeros(len(y), dtype=bool) if y.dtype.kind != "f" else ~np.isfinite(y)
    bad = np.argwhere(~np.isfinite(values))[:1]
    rows = np.searchsorted(X.indptr, bad[:, 0], side="right") - 1 if is_sparse(X) else bad[:, 0]
    is_bad[rows] = True
    if is_bad.any():
        row = int(is_bad.argmax())
        where = f"example {row + 1}" if lines is None else f"line {lines[row]}"
        if row in rows:
            where += f", feature {(X.indices[bad[0, 0]] if is_sparse(X) else bad[0, 1]) + 1}"
        raise refused(source, f"contains NaN or infinity; drop or impute those entries first ({where}).")
    return X, y
