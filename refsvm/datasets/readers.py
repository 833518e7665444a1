"""Readers of LIBSVM, CSV and NumPy files.

The readers return labels as in the file; `binary_labels` maps two labels to ±1.
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
"""Start of a row of a kernel matrix, as LIBSVM's -t 4 reads it: the number of the row precedes the kernel values."""


class _Lines:
    """Passes the lines of a LIBSVM file to scikit-learn without comments, and without blanks after a colon.

    For a kernel matrix, `places` stores the row number with which each line starts.
    """

    def __init__(self, stream: Any) -> None:
        self.stream, self.text, self.ended = stream, b"", False
        self.places: list[int] | None = None  # row numbers, if the file contains a kernel matrix
        self.number, self.numbers = 0, array("q")  # number of the current line; line numbers of the examples

    def read(self) -> None:
        """Do nothing; scikit-learn only checks that this method exists, to distinguish a file object from a path."""

    def __iter__(self) -> Iterator[bytes]:
        for number, text in enumerate(self.stream, 1):
            self.number, self.text = number, text
            line = text.removeprefix(b"\xef\xbb\xbf") if number == 1 else text
            line = _COMMENT.sub(b"", line) if b"#" in line else line
            line = _PADDING.sub(b":", line) if b": " in line or b":\t" in line else line
            if b"#" in line:
                raise ValueError("a number contains a #, as in -1.#IND, which older programs write for NaN")
            # refuse 1_0: Python would read it as ten, but in a file it is a damaged number
            if b"_" in line:
                raise ValueError("a number contains an underscore")
            if line.strip():
                line = self._without_place(line)
                self.numbers.append(number)
                yield line
        self.ended = True

    def _without_place(self, line: bytes) -> bytes:
        """If the line contains a kernel matrix's row number, move it to `places`; return the rest of the line."""
        match = _ROW_NUMBER(line)
        # 0:number is a row number only if the number is whole; a feature 0:0.5 is refused later
        if match and (match[2] == b"?" or match[2].removesuffix(b".0").isdigit()):
            if not self.numbers and line[match.end() :].startswith(b"1:"):
                self.places = []
            if self.places is not None:
                self.places.append(0 if match[2] == b"?" else int(match[2].removesuffix(b".0")))
                return match[1] + line[match.end() :]
        elif self.places is not None:
            raise ValueError(
                "a row does not start with 0:number, unlike the rows of a kernel matrix above; features count from 1"
            )
        return line


def read_libsvm(path: str | os.PathLike[str], n_features: int | None = None) -> tuple[Any, np.ndarray]:
    r"""Read a LIBSVM (svmlight) file: a line ``label index:value …`` per example, indices from 1.

    Parameters
    ----------
    path : str or path
        The file, or "-" for the standard input. A file packed by gzip, bzip2 or xz is unpacked.
    n_features : int or None
        Number of features, by default the largest index in the file. Give `n_features` for a test file, whose largest
        index may be smaller than the largest index of the training file.

    Returns
    -------
    X : scipy.sparse.csr_matrix of float64, shape (n, d)
        Examples. If the file contains a kernel matrix, each line starts with ``0:number``, the number of the row; X is
        then a dense ndarray of the kernel values, without the numbers.
    y : ndarray of float64, shape (n,)
        Labels as in the file.

    Raises
    ------
    FileNotFoundError
        If path is not a file.
    ValueError
        If the file is malformed or empty; if an index is 0, is above n_features or has more than 31 bits; or if the
        file contains NaN or infinity, also in the form -1.#IND of older Windows programs. The message names the line.
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
    """Read a LIBSVM file as `read_libsvm` does; return X, y, and the row numbers of a kernel matrix, or None.

    An unknown row number, ``0:?``, becomes 0.
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
            reason = str(error).rstrip(".")
            if isinstance(error, OverflowError):
                reason = "an index has more than 31 bits"
            # after the last line, only the number of features can be wrong, so the message names no line
            at = f"; line {lines.number}, {ascii(lines.text.strip())[1:42]}" if not lines.ended else ""
            raise refused(
                source,
                f"is not a LIBSVM file{width} ({reason}{at}); expected lines such as '+1 1:0.5 7:2', indices from 1.",
            ) from None
    X, y = _checked(source, X, y, lines.numbers)
    if X.nnz == 0 and n_features is None:
        raise refused(source, "contains labels but no features; expected lines such as '+1 1:0.5 7:2'.")
    if lines.places is None:
        return X, y, None
    lacking = np.flatnonzero(np.diff(X.indptr) < X.shape[1])
    known = [place for place in lines.places if place]
    if len(lacking) or len(set(known)) < len(known):
        at = "two rows have the same number"
        if len(lacking):
            at = f"line {lines.numbers[lacking[0]]} lacks some entries"
        raise refused(
            source, f"starts its lines with 0:number, as kernel matrices do, but {at}; features count from 1."
        )
    return X.toarray(), y, np.array(lines.places, dtype=np.int64)


def read_csv(
    path: str | os.PathLike[str], label: str | int, delimiter: str = ","
) -> tuple[np.ndarray, np.ndarray]:
    r"""Read a CSV file with one example in each row, a column with labels, and numbers in all other columns.

    Parameters
    ----------
    path : str or path
        The file in UTF-8, or "-" for the standard input. A file packed by gzip, bzip2 or xz is unpacked.
    label : str or int
        Name of the label column, or its index from 0 (negative from the end). A text that is an integer is read as an
        index, unless the header contains this text as a name.
    delimiter : str
        Character between the cells.

    Returns
    -------
    X : ndarray of float64, shape (n, d)
        All columns except the label column, in the order of the file.
    y : ndarray of float64 or str, shape (n,)
        Labels as in the file: numbers if the conversion loses no information, otherwise texts. 007, 1E5 and integers
        above 2⁵³ stay texts.

    Raises
    ------
    FileNotFoundError
        If path is not a file.
    ValueError
        If the file is not text, is empty or ragged, or does not have the label column; if a label is missing or a
        code for a missing value (NA, ?, null); if another cell is not a finite number; or if delimiter is not one
        character. The message names the row of the file.
    ImportError
        If pandas, which parses the file, is not installed.

    Notes
    -----
    The first row is a header if `label` is the text of one of its cells. Otherwise the first row is a header if all its
    cells are words, and no other row has the same label. The first row is also a header if it has a word above numeric
    labels, and ascending integers above the features. If the first row counts 0, 1, 2, … or contains years,
    `read_csv` uses it as a header and warns.

    If the delimiter is not a comma, 0,5 means 0.5, unless the file also contains numbers such as 0.5.

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
        raise ValueError(f"label=None is not a column of {os.fspath(path)!r}; give its name or its index.")
    require_character(delimiter)
    table = csv_table(path, label, delimiter)
    return table.X, np.asarray(table.y)


def read_npz(path: str | os.PathLike[str] | Source) -> tuple[Any, np.ndarray]:
    """Read a NumPy archive that contains y and X, or y and the parts of a sparse (CSR) X.

    Parameters
    ----------
    path : str or path
        The archive, with arrays ``X`` and ``y``, or ``data``, ``indices``, ``indptr``, ``shape`` and ``y``. Other
        arrays are ignored, and nothing is unpickled.

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
        If the file is not an archive with these arrays, the arrays do not fit together, or they contain NaN or
        infinity.

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
            source, f"contains no table of numbers ({error}); store X (n, d) or its CSR parts."
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
    """Return X and y; raise an error for NaN, infinity, or an empty table. `lines` contains each row's line number."""
    if 0 in X.shape:
        raise refused(
            source, f"contains a table of shape {X.shape}; give at least one example and one feature."
        )
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
