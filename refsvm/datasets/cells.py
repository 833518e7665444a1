"""Tables of cells in a text file: what stands between them, which row is a header, where the labels are."""

from __future__ import annotations

import csv
import operator
import os
import re
import warnings
import zlib
from collections.abc import Sequence
from io import TextIOWrapper
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from refsvm._checks import hint
from refsvm.datasets.archive import existing, opened, refused, require_finite

__all__ = ["Table", "csv_rows", "csv_table", "require_character"]

LEAST_ROWS: Final = 8
"""Of a file in which a first column 0, 1, 2, … is taken for an index."""

_DECIMAL_COMMA: Final = re.compile(r"[+-]?\d*,\d+(?:[eE][+-]?\d+)?").fullmatch


class Table(NamedTuple):
    """X of a CSV file; y, if a column has the labels; and the names of the others, if there is a header."""

    X: np.ndarray
    y: np.ndarray | None
    columns: tuple[str, ...] | None


def csv_table(
    path: str | os.PathLike[str],
    label: str | int | None = None,
    delimiter: str | None = None,
    columns: Sequence[str] | None = None,
) -> Table:
    r"""Read a CSV file as `read_csv` does, also one without labels, and the names of its columns.

    Parameters
    ----------
    path, label
        As of `read_csv`. Without a label, the first row is a header where no cell of it is a number.
    delimiter : str, optional
        Character between the cells; by default a tab, a semicolon or a comma, whichever splits the first rows into
        equally many cells.
    columns : sequence of str, optional
        Of a file with a header, read these columns, in this order, and no others.

    Raises
    ------
    FileNotFoundError, ValueError
        As in `read_csv`; and if one of the columns is not there.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> path = Path(tempfile.mkdtemp(), "plants.csv")
    >>> characters = path.write_text("width;kind;height\n2;oak;1,5\n1;elm;0,5\n")
    >>> csv_table(path, columns=["height", "width"])
    Table(X=array([[1.5, 2. ],
           [0.5, 1. ]]), y=None, columns=('height', 'width'))
    """
    path = existing(path)
    if delimiter is not None:
        require_character(delimiter)
    rows = csv_rows(path, delimiter, least=1 if label is None else 2)
    place = None if label is None else _label_column(path, rows[0], label)
    features = [j for j in range(len(rows[0])) if j != place]
    labels = [] if place is None else [row[place] for row in rows]
    # the first row that is an example
    first = int(_is_name(label) or _starts_with_header(labels, [rows[0][j] for j in features]))
    if first == len(rows):
        raise refused(path, "has a header but no examples; give at least one row.")
    names = tuple(rows[0][j] for j in features) if first else None
    if columns is not None and names is not None:
        features = [_column(path, rows[0], name) for name in columns]
        names = tuple(columns)
    remedy = "code or drop that column" + ("" if labels else ", or name it if it has the labels")
    X = _numbers(path, [[row[j] for j in features] for row in rows[first:]], first + 1, remedy)
    # pandas writes its index so; as a feature it would decide everything where the classes stand one after the other
    counts = np.arange(len(X))
    if len(X) >= LEAST_ROWS and np.array_equal(X[:, 0] - X[0, 0], counts) and X[0, 0] in (0.0, 1.0):
        of = "the first column" if names is None else f"column {names[0]!r}"
        warnings.warn(
            f"path={str(path)!r}: {of} numbers the rows, and is a feature; delete it from the file if it is an index.",
            stacklevel=3,
        )
    return Table(X, _labels(path, labels, first) if labels else None, names)


def csv_rows(path: Path, delimiter: str | None = None, least: int = 2) -> list[list[str]]:
    r"""Return the rows of a CSV file that are not blank, all of one length, as stripped strings.

    Parameters
    ----------
    path : pathlib.Path
        An existing file, UTF-8, packed by gzip or bzip2 if its ending says so.
    delimiter : str, optional
        Character between the cells; see `read_csv`.
    least : int
        How many cells a row has at least.

    Returns
    -------
    list of list of str
        The cells, row by row; with a decimal point where they had a decimal comma.

    Raises
    ------
    ValueError
        If the file is not text, empty, ragged or has too few columns.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "one.csv")
    >>> characters = path.write_text("a, b\n\n1, 2\n")
    >>> csv_rows(path)
    [['a', 'b'], ['1', '2']]
    """
    try:
        with opened(path) as packed, TextIOWrapper(packed, encoding="utf-8-sig", newline="") as stream:
            lines = stream.readlines()
        between = _delimiter(lines[:20]) if delimiter is None else delimiter
        rows = [[cell.strip() for cell in row] for row in csv.reader(lines, delimiter=between) if row]
    except (UnicodeDecodeError, csv.Error, OSError, EOFError, zlib.error) as error:
        raise refused(path, f"is not a CSV text in UTF-8 ({error}); convert it first.") from None
    if not rows:
        raise refused(path, "is empty; expected one example a row.")
    width = len(rows[0])
    if width < least:
        raise refused(path, f"has one column only; expected a label and features, split by {between!r}.")
    for number, row in enumerate(rows, start=1):
        if len(row) != width:
            raise refused(path, f"has {len(row)} cells in row {number}, but {width} in row 1; complete it.")
    return rows if between == "," else _with_points(rows)


def _delimiter(lines: list[str]) -> str:
    """Return the character that splits rows into equally many cells, and more than one; a comma if none does."""
    for character in "\t;":
        widths = {len(row) for row in csv.reader(lines, delimiter=character) if row}
        if len(widths) == 1 and widths != {1}:
            return character
    return ","


def _with_points(rows: list[list[str]]) -> list[list[str]]:
    """Turn decimal commas into points, unless numbers have points too: then a comma may separate thousands."""
    if any("." in cell and is_number(cell) for row in rows for cell in row):
        return rows
    return [[cell.replace(",", ".") if _DECIMAL_COMMA(cell) else cell for cell in row] for row in rows]


def is_number(cell: str) -> bool:
    """Whether a cell of a table holds a number."""
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _is_name(label: str | int | None) -> bool:
    """Whether label names a column, rather than counting it."""
    return isinstance(label, str) and not label.lstrip("+-").isdecimal()


def _label_column(path: Path, first_row: list[str], label: str | int) -> int:
    try:
        if _is_name(label):
            return first_row.index(str(label))
        return range(len(first_row))[int(label) if isinstance(label, str) else operator.index(label)]
    except (ValueError, IndexError, TypeError):
        near = hint(str(label), first_row, f"the first row is {', '.join(first_row[:10])}.")
        raise ValueError(f"label={label!r} is no column of {str(path)!r}; {near}") from None


def _labels(path: Path, cells: list[str], first: int) -> np.ndarray:
    """Return the labels of the rows from `first` on: numbers where all of them are."""
    if "" in cells[first:]:
        row = cells.index("", first) + 1
        raise refused(path, f"has no label in row {row}; complete that row or drop it.")
    if not all(map(is_number, cells[first:])):
        return np.array(cells[first:])
    y = np.array(cells[first:], dtype=np.float64)
    require_finite(path, y)
    return y


def _column(path: Path, header: list[str], name: str) -> int:
    """Return the place of a column, or say that it is missing."""
    if name not in header:
        raise refused(path, f"has no column {name!r}; its columns are {', '.join(header[:10])}.")
    return header.index(name)


def _starts_with_header(labels: list[str], cells: list[str]) -> bool:
    """Whether the first row, with these cells besides its label, names the columns."""
    if labels and (is_number(labels[0]) or labels[0] in labels[1:]):
        return False
    if not any(map(is_number, cells)):
        return True
    counts = [int(cell) if cell.isdecimal() else -1 for cell in cells]
    are_columns = counts == sorted(set(counts)) and counts[0] >= 0 and counts[-1] <= len(counts) + 1
    return are_columns and len(labels) > 1 and all(map(is_number, labels[1:]))


def _numbers(path: Path, cells: list[list[str]], first_row: int, remedy: str) -> np.ndarray:
    """Convert cells to finite float64, or name the first row that has another thing."""
    try:
        X = np.array(cells, dtype=np.float64)
    except ValueError:
        row, cell = next((r, c) for r, line in enumerate(cells, first_row) for c in line if not is_number(c))
        raise refused(path, f"has {cell!r} in row {row}, which is not a number; {remedy}.") from None
    require_finite(path, X)
    return X


def require_character(delimiter: Any) -> None:
    """Refuse what is no character between cells."""
    if not isinstance(delimiter, str) or len(delimiter) != 1 or delimiter in '\r\n"':
        raise ValueError(f"delimiter={delimiter!r} is not a character between cells; give one, such as ';'.")
