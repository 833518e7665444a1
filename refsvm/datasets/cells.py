"""Reads a table from a text file: finds the delimiter, the header row, and the columns with features."""

from __future__ import annotations

import csv
import os
import re
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from io import StringIO
from itertools import count, islice
from statistics import mode
from typing import Any, Final, NamedTuple

import numpy as np

from refsvm.core._checks import hint
from refsvm.datasets.archive import UNPACKING, Source, existing, opened, refused
from refsvm.datasets.contents import beginning_of, delimiter_of, lines_in
from refsvm.datasets.labels import is_code, labels_of
from refsvm.services.printable import printable

LEAST_ROWS: Final = 8
"""In a table with at least this many rows, a column of consecutive integers counts as an index, whatever its name."""

_NAN: Final = ("nan", "NaN", "NAN", "-nan", "-NaN")
_DECIMAL_COMMA: Final = re.compile(r"[+-]?\d*,\d+(?:[eE][+-]?\d+)?").fullmatch
_POINT: Final = re.compile(r"[+-]?\d*\.\d*(?:[eE][+-]?\d+)?").fullmatch
_NUMBER: Final = re.compile(
    r"[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?|inf(?:inity)?)", re.IGNORECASE
).fullmatch
"""A number as other programs write it; `float` also accepts 1_0, and pandas rounds some last digits wrongly."""
_THOUSANDS: Final = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}").fullmatch
_INDEX: Final = re.compile(r"(unnamed: \d+|index|level_0|id|row\.?names?)?", re.IGNORECASE).fullmatch
"""Names that pandas and R give to a column of row numbers, which they write without a name."""


class CsvTable(NamedTuple):
    """The content of a CSV file: X; y, if it has a label column; and the names of the features, if it has a header."""

    X: np.ndarray
    y: np.ndarray | None
    columns: tuple[str, ...] | None


class Cells(NamedTuple):
    """The cells of a file, shape (n, d), as stripped texts and as numbers (NaN if a text is not a number)."""

    path: Source
    texts: np.ndarray
    numbers: np.ndarray
    rows: np.ndarray
    comment: tuple[int, list[str]] | None = None
    """The line and the cells of the comment directly above the rows, if a row has as many cells."""

    def below_comment(self) -> Cells:
        """Return new cells, in which the comment above the table is the first row."""
        assert self.comment is not None
        line, names = self.comment
        head = np.array(names, dtype=object)
        return Cells(
            self.path, np.vstack([head, self.texts]), np.vstack([np.full(len(names), np.nan), self.numbers]),
            np.append(line, self.rows),
        )  # fmt: skip

    def refuse(self, wrong: np.ndarray, first: int, places: Sequence[int], reason: str) -> None:
        """Raise an error if an entry of `wrong` is true; entry (i, j) marks the cell (`first` + i, places[j])."""
        for line, j in np.argwhere(wrong):
            place = places[j]
            # without a header, name the column by its number, which --label accepts
            column = repr(self.texts[0, place]) if first else f"{place} (counted from 0)"
            row = f"row {self.rows[first + line]}, column {column}"
            raise refused(self.path, reason.format(row=row, text=self.texts[first + line, place]))


def csv_table(
    path: str | os.PathLike[str] | Source,
    label: str | int | None = None,
    delimiter: str | None = None,
    columns: Sequence[str] | None = None,
) -> CsvTable:
    r"""Read X, y and the names of the columns from a CSV file; y is None without `label`.

    Parameters
    ----------
    path, label
        As in `read_csv`.
    delimiter : str, optional
        Character between the cells. The default is the character in a line ``sep=;`` at the top of the file. Without
        this line, the default is the first of tab, semicolon, comma and space that usually splits a row into at least
        two cells.
    columns : sequence of str, optional
        For a file with a header, the columns to read, in this order.

    Raises
    ------
    FileNotFoundError, ValueError, ImportError
        As in `read_csv`, and if a column of `columns` does not exist.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> path = Path(tempfile.mkdtemp(), "plants.csv")
    >>> characters = path.write_text("width;kind;height\n2;oak;1,5\n1;elm;0,5\n")
    >>> csv_table(path, columns=["height", "width"])
    CsvTable(X=array([[1.5, 2. ],
           [0.5, 1. ]]), y=None, columns=('height', 'width'))
    """
    cells = _named(cells_of(existing(path), delimiter, least=1 if label is None else 2), label, columns)
    head = cells.texts[0].tolist()
    place, is_named = (None, False) if label is None else _label_column(cells, label)
    is_named = is_named or (columns is not None and set(columns) <= set(head))
    first = int(is_named or _starts_with_header(cells, place))  # row of the first example
    if first == len(cells.rows):
        raise refused(cells.path, "has a header but no examples; give at least one row.")
    # find the features by position, because two columns may have the same name
    features = [j for j in range(len(head)) if j != place]
    if columns is not None and first:
        features = _columns(cells.path, head, columns)
    names = tuple(head[j] for j in features) if first else None
    y = None if place is None else labels_of(cells, place, first)
    X = cells.numbers[first:, features]
    remedy = "code or drop that column" + ("" if place is not None else ", or name it if it has the labels")
    cells.refuse(np.isnan(X), first, features, f"has {{text!r}} in {{row}}, which is not a number; {remedy}.")
    infinite = "contains NaN or infinity; drop or impute those entries first ({text} in {row})."
    cells.refuse(np.isinf(X), first, features, infinite)
    _note_index(cells.path, X, names)
    return CsvTable(X, y, names)


def _named(cells: Cells, label: str | int | None, columns: Sequence[str] | None) -> Cells:
    """Return the cells; if the comment above the table names the columns, make the comment the first row."""
    if cells.comment is None:
        return cells
    line, names = cells.comment
    head, wanted = cells.texts[0].tolist(), {str(label)} if label is not None else {*(columns or ())}
    if wanted and wanted <= set(names) and not wanted <= set(head):
        return cells.below_comment()
    number = int(label) if label is not None and _is_place(label) else len(head)
    place = number % len(head) if -len(head) <= number < len(head) else None
    is_comment = bool(wanted and wanted <= set(head)) or _starts_with_header(cells, place)
    # warn if the comment may be a row whose first cell is a label such as #1
    if not is_comment or any(re.fullmatch(r"[+-]?[\d.,]*\d", name) for name in names[1:]):
        as_what = "a comment" if is_comment else "the names of the columns"
        note = f"row {line} ({', '.join(names[:5])}), which starts with #, is taken for {as_what}."
        warnings.warn(printable(f"path={str(cells.path)!r}: {note}"), stacklevel=4)
    return cells if is_comment else cells.below_comment()


def cells_of(path: Source, delimiter: str | None = None, least: int = 2) -> Cells:
    r"""Return the cells of a CSV file, without rows whose cells are all empty.

    Parameters
    ----------
    path : Source
        A file or pipe in UTF-8, possibly packed by gzip, bzip2 or xz.
    delimiter : str, optional
        Character between the cells; see `csv_table`.
    least : int
        Smallest number of cells that a row must have.

    Returns
    -------
    Cells
        The cells, with decimal points instead of decimal commas.

    Raises
    ------
    ValueError
        If the file is not text, is empty or ragged, or has too few columns.
    ImportError
        If pandas, which parses the cells, is not installed.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> path = Path(tempfile.mkdtemp(), "one.csv")
    >>> characters = path.write_text("a, b\n\n1, 2\n")
    >>> cells = cells_of(Source(str(path)))
    >>> cells.texts.tolist(), cells.rows.tolist()
    ([['a', 'b'], ['1', '2']], [1, 3])
    """
    try:
        import pandas as pd
    except ImportError:
        raise ImportError(
            "reading tables needs pandas, which is not installed; run: pip install pandas"
        ) from None
    text = _text(path)
    if delimiter is not None:
        require_character(delimiter)
    # leave out everything above the first row, because pandas takes the number of columns from the first line
    above = beginning_of(text)
    body, skipped = text[above.end :], lines_in(text[: above.end])
    if not body.strip():
        raise refused(path, "contains only comments (#); expected one example in each row.")
    # guess the delimiter if neither the caller nor a line sep=; in the file names it
    between = delimiter or above.delimiter or delimiter_of(body)
    top = [row for row in islice(_rows(path, body, between, skipped + 1, strict=False), 20) if row] or [[]]
    if mode(map(len, top[1:] or top)) == len(top[0]) + 1 and not all(map(_NUMBER, top[0])):
        body = f'""{between}{body}'  # add the header that R omits above row names
    _refuse_ragged(path, body, between, skipped + 1, least)
    frame = pd.read_csv(
        StringIO(body), sep=between, header=None, dtype=object, na_filter=False, skip_blank_lines=False,
        skipinitialspace=True,
    )  # fmt: skip
    # convert all cells in one call, because thousands of calls for thousands of columns would take long
    texts = np.array([cell.strip() for cell in frame.to_numpy(dtype=object).ravel()], dtype=object)
    texts = texts.reshape(frame.shape)
    rows = np.flatnonzero((texts != "").any(axis=1))
    texts = texts[rows]
    if between != ",":
        _replace_commas(texts)
    numbers = np.array([float(cell) if _NUMBER(cell) else np.nan for cell in texts.ravel().tolist()])
    # turn a NaN in the file into infinity, because NaN marks texts that are not numbers
    unknown = np.flatnonzero(np.isnan(numbers))
    numbers[unknown[[text in _NAN for text in texts.ravel()[unknown]]]] = np.inf
    names = [] if above.comment is None else _names_in(path, above.comment, between)
    comment = (above.line, names) if len(names) == texts.shape[1] > 1 else None
    return Cells(path, texts, numbers.reshape(texts.shape), rows + skipped + 1, comment)


def _replace_commas(texts: np.ndarray) -> None:
    """Replace decimal commas by decimal points, unless commas may separate thousands.

    Leave all commas if some numbers contain points, or if every comma stands where it could separate thousands.
    """
    cells = texts.ravel()
    points = any(_POINT(cell) for cell in cells if "." in cell)
    commas = [place for place, cell in enumerate(cells) if "," in cell and _DECIMAL_COMMA(cell)]
    if not points and not all(_THOUSANDS(cells[place]) for place in commas):
        for place in commas:
            texts.flat[place] = cells[place].replace(",", ".")


def _names_in(path: Source, comment: str, between: str) -> list[str]:
    """Return the cells of a comment without the mark #; keep the mark if no other text is in the first cell."""
    mark = comment[: len(comment) - len(comment.lstrip("#%/"))]
    first, *others = (
        each.strip() for each in next(_rows(path, comment[len(mark) :].lstrip(), between, strict=False), [""])
    )
    return [first or mark, *others]


def _text(path: Source) -> str:
    """Return the text of a file, unpacked if necessary."""
    try:
        with opened(path) as stream:
            content: bytes = stream.read()
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        row = content[: error.start].count(b"\n") + 1
        where = f"byte {content[error.start]:#04x} in row {row}"
        raise refused(path, f"is not a CSV text in UTF-8 ({where}); save it as UTF-8 text.") from None
    except UNPACKING as error:
        raise refused(path, f"is not a CSV text in UTF-8 ({error}); convert it first.") from None
    if "\0" in text or not text.strip():
        reason = "is not a CSV text in UTF-8 (it contains zero bytes); save it as UTF-8 text."
        raise refused(path, reason if text.strip() else "is empty; expected one example in each row.")
    return text


def _rows(
    path: Source, text: str, between: str, first: int = 1, *, strict: bool = True
) -> Iterator[list[str]]:
    """Yield the cells of each row; an error for a cell above 128 KiB names its row, counted from `first`."""
    rows = csv.reader(StringIO(text, newline=""), delimiter=between, skipinitialspace=True, strict=strict)
    for row in count(first):
        try:
            yield next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            if "field limit" not in str(error):
                raise
            remedy = "shorten it, or close an open quotation mark"
            most = csv.field_size_limit()
            raise refused(
                path, f"has a cell of more than {most:,} characters in row {row}; {remedy}."
            ) from None


def _refuse_ragged(path: Source, text: str, between: str, first: int, least: int) -> None:
    """Raise an error if a row has fewer or more cells than the first row; pandas would silently fill up short rows."""
    row, width = first, 0
    try:
        for row, cells in enumerate(_rows(path, text, between, first), first):
            width = width or len(cells)
            if width < least:
                raise refused(
                    path, f"has a single column; expected a label and features, separated by {between!r}."
                )
            if len(cells) != width and any(map(str.strip, cells)):
                remedy = "complete it"
                if cells[0].lstrip().startswith("#"):
                    remedy = "delete it if it is a comment (#), which is only allowed above the rows"
                raise refused(
                    path, f"has {len(cells)} cells in row {row}, but {width} in row {first}; {remedy}."
                )
    except csv.Error as error:
        raise refused(
            path, f"has an unclosed quotation mark in or after row {row} ({error}); close it."
        ) from None


def _label_column(cells: Cells, label: str | int) -> tuple[int, bool]:
    """Return the position of the label column, and whether a header names it; `label` is first tried as a name."""
    head, text = cells.texts[0].tolist(), str(label)
    is_place = _is_place(label)
    if not is_place and text in head:
        return _columns(cells.path, head, [text])[0], True
    is_inside = is_place and not isinstance(label, float) and -len(head) <= int(label) < len(head)
    if label in head and (not is_inside or _starts_with_header(cells, head.index(text))):
        return head.index(text), True
    if not is_inside:
        near = hint(text, head, f"the first row is {', '.join(head[:10])}.")
        raise ValueError(printable(f"label={label!r} is not a column of {str(cells.path)!r}; {near}"))
    return int(label) % len(head), False


def _is_place(label: Any) -> bool:
    """Return whether `label` may be the position of the label column instead of its name."""
    return label is not None and (not isinstance(label, str) or label.lstrip("+-").isdecimal())


def _columns(path: Source, head: list[str], names: Sequence[str]) -> list[int]:
    """Return the positions of the columns called `names`; raise an error if a name is missing or occurs twice."""
    places, counts = {name: place for place, name in enumerate(head)}, Counter(head)
    for name in names:
        if counts[name] != 1:
            how_many = "two columns" if name in counts else "no column"
            raise refused(path, f"has {how_many} {name!r}; its columns are {', '.join(head[:10])}.")
    return [places[name] for name in names]


def _starts_with_header(cells: Cells, place: int | None) -> bool:
    """Return whether the first row names the columns; warn if these names are numbers, such as years."""
    # the first row is an example if its label occurs again in a row below
    others = [] if place is None else cells.texts[1:, place].tolist()
    head, is_word = cells.texts[0], np.isnan(cells.numbers[0])
    names = np.delete(cells.numbers[0], [] if place is None else place)
    if any(map(is_code, head)) or (place is not None and head[place] in others):
        return False
    if np.isnan(names).all():
        return bool(is_word.all())
    has_word = place is not None and bool(is_word[place])
    numbers = names if has_word else cells.numbers[0]
    steps = np.diff(numbers)
    # the first row is a header of numbers if it contains positions, years or wavelengths
    if not (
        all(map(str.isdecimal, head[~is_word])) and len(numbers) == (~is_word).sum() and (steps > 0).all()
    ):
        return False
    if has_word and others and not np.isnan(cells.numbers[1:, place]).any():
        return True
    counts = (
        numbers[0] <= has_word and len(head) > 2 and (steps == 1).all() and len(set(others)) < len(others)
    )
    if is_header := bool(counts or (numbers[0] >= 1000 and len(numbers) > 1)):
        row = f"row {cells.rows[0]} ({', '.join(head[:5])})"
        note = f"{row} is taken for the names of the columns; if it is an example, insert a row with names above it."
        warnings.warn(printable(f"path={str(cells.path)!r}: {note}"), stacklevel=4)
    return is_header


def _note_index(path: Source, X: np.ndarray, names: tuple[str, ...] | None) -> None:
    """Warn about features that contain row numbers, from which a model can predict labels of sorted examples."""
    counting = (
        (np.diff(X, axis=0) == 1.0).all(axis=0) & ((X[0] == 0.0) | (X[0] == 1.0)) & (len(X) >= LEAST_ROWS)
    )
    named = [place for place, name in enumerate(names or ("",)) if counting[place] or _INDEX(name)]
    for name, column, counts in (
        (names[place] if names else "", X[:, place], counting[place]) for place in named
    ):
        is_unnamed = _INDEX(name) and (names or len(X) >= LEAST_ROWS) and len(set(column % 1)) == 1
        if counts or (is_unnamed and column[0] % 1 == 0.0 and len(set(column)) == len(X)):
            of = f"column {name!r}" if name else "the first column, without a name,"
            note = f"{of} contains row numbers and is used as a feature; delete it from the file if it is an index."
            warnings.warn(printable(f"path={str(path)!r}: {note}"), stacklevel=3)


def require_character(delimiter: Any) -> None:
    """Raise an error unless the delimiter is a single character."""
    if not isinstance(delimiter, str) or len(delimiter) != 1 or delimiter in '\r\n"':
        raise ValueError(f"delimiter={delimiter!r} is not a single character; give a character such as ';'.")
