"""Recognises the content of a file by its first lines: LIBSVM lines, a table of cells, or an archive."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from io import StringIO
from itertools import islice
from pathlib import PurePath
from statistics import mode
from typing import Final, NamedTuple

from refsvm.datasets.archive import UNPACKING, Source, is_archive, opened

ARCHIVE: Final = "archive"
LIBSVM: Final = "LIBSVM"
TABLE: Final = "table"

_LINES: Final = 100
"""Number of lines that are examined."""

_BYTES: Final = 1 << 20

_PACKED: Final = re.compile(r"\.(gz|bz2|xz)$", re.IGNORECASE)
_TABLE_ENDING: Final = re.compile(r"\.(csv|tsv)$", re.IGNORECASE)
_COMMENT: Final = re.compile(r"(?:^|(?<=\s))#.*")
_EMPTY_LINES: Final = re.compile(r"[\r\n]+").match
_SEPARATOR: Final = re.compile(r'"?sep=(.)"?\r?\n', re.IGNORECASE).match
_COMMENT_LINE: Final = re.compile(r"[ \t]*((?:#|%|//)[^\r\n]*)(?:\r\n|[\r\n]|$)").match
_NUMBER: Final = r"[+-]?\.?\d[^\s,;:\"]*"
_PAIR: Final = r"(\d+):[ \t]*[^\s,;:\"]+"
_NUMBERED_EXAMPLE: Final = re.compile(
    rf"({_NUMBER})(,{_NUMBER})*(\s+qid:\d+(\s+{_PAIR})*|(\s+{_PAIR})+)"
).fullmatch
_NAMED_EXAMPLE: Final = re.compile(rf"[^\s,;:\"]+(\s+{_PAIR}){{2,}}").fullmatch


def name_of(source: str) -> str:
    """Return the name of the data in a file: the file name without its ending.

    Examples
    --------
    >>> name_of("a/iris.CSV"), name_of("iris.data.gz"), name_of("-")
    ('iris', 'iris', 'stdin')
    """
    return PurePath(_PACKED.sub("", source)).stem if source != "-" else "stdin"


def kind_of(source: Source, is_named_table: bool = False) -> str:
    """Return the kind of a file's content.

    Parameters
    ----------
    source : Source
        The file.
    is_named_table : bool
        Whether the caller expects a table. If so, content that may be a table or LIBSVM lines counts as a table.

    Returns
    -------
    {"archive", "LIBSVM", "table"}
    """
    unpacked = _PACKED.sub("", str(source))
    is_named_archive = unpacked.lower().endswith(".npz")
    if is_archive(source, may_be_damaged=is_named_archive):
        return ARCHIVE
    text = _beginning(source)
    lines = [] if "\0" in text else [*islice(_without_comments(text), _LINES)]
    # count lines with index:value pairs, which tables lack, and lines of one word, which tables may contain
    examples, bare = sum(map(is_example, lines)), sum(len(line.split()) == 1 for line in lines)
    if examples > (others := len(lines) - examples - bare) or (examples and others == 0):
        return LIBSVM
    if is_named_table or _TABLE_ENDING.search(unpacked):
        return TABLE
    if is_named_archive:
        return ARCHIVE
    # if only some lines are examples of LIBSVM, read the file as a damaged LIBSVM file
    if not lines or examples:
        return LIBSVM
    rows = text[beginning_of(text).end :]
    return TABLE if mode(map(len, cells_in(rows, delimiter_of(rows)))) > 1 else LIBSVM


def is_example(line: str) -> bool:
    """Return whether a line looks like an example of LIBSVM with at least one feature, even if it is damaged.

    Examples
    --------
    >>> [is_example(line) for line in ("+1 1:0.5 7:2", "1 qid:3 2: 5", "1,2 1:x", "oak 1:2 2:3", "0.5", "5 12:30:00")]
    [True, True, True, True, False, False]
    """
    return bool(_NUMBERED_EXAMPLE(line) or _NAMED_EXAMPLE(line))


def _beginning(source: Source) -> str:
    """Return the first complete lines of a file in any encoding; "" if the file cannot be unpacked."""
    try:
        with opened(source) as stream:
            content = stream.read(_BYTES)
    except UNPACKING:
        return ""
    text = content.decode("latin-1").removeprefix("\xef\xbb\xbf")
    whole, end, _ = text.rpartition("\n")
    return whole + end if len(content) == _BYTES and end else text


def _without_comments(text: str) -> Iterator[str]:
    """Yield each line of a text without its comment after a # and without outer blanks; omit empty lines."""
    for line in StringIO(text):
        if stripped := _COMMENT.sub("", line).strip():
            yield stripped


class Beginning(NamedTuple):
    """Describes the text above a table: where it ends, the delimiter in a line ``sep=;``, and the last comment."""

    end: int
    delimiter: str | None
    comment: str | None
    line: int
    """Line of the comment, from 1."""


def beginning_of(text: str) -> Beginning:
    r"""Return the `Beginning` of a table: empty lines, comments, and a spreadsheet's line ``sep=;``.

    Examples
    --------
    >>> beginning_of("# today\nsep=;\na;b\n")
    Beginning(end=14, delimiter=';', comment='# today', line=1)
    """
    end, delimiter, comment, line = 0, None, None, 0
    while True:
        if match := _EMPTY_LINES(text, end):
            pass
        elif delimiter is None and (match := _SEPARATOR(text, end)):
            delimiter = match[1]
        elif match := _COMMENT_LINE(text, end):
            comment, line = match[1], 1 + lines_in(text[:end])
        else:
            return Beginning(end, delimiter, comment, line)
        end = match.end()


def lines_in(text: str) -> int:
    """Return the number of lines in a text; a line feed, a carriage return, or both together end a line."""
    return len(StringIO(text, newline=None).readlines())


def delimiter_of(text: str) -> str:
    r"""Return the first of tab, semicolon, comma and space that usually splits a row into at least two cells.

    Examples
    --------
    >>> delimiter_of("a;b\n1,5;2\n"), delimiter_of("1 2\n3 4\n"), delimiter_of("1\n2\n")
    (';', ' ', ',')
    """
    for character in "\t;, ":
        widths = [*map(len, cells_in(text, character))]
        if mode(widths[1:] or widths) > 1:
            return character
    return ","


def cells_in(text: str, delimiter: str) -> list[list[str]]:
    """Return the cells of the first rows, without empty rows; return one empty row if all rows are empty."""
    # split only the first rows, so that a large file is not read twice
    lines = "".join(islice(StringIO(text, newline=""), 20))
    try:
        return [row for row in csv.reader(StringIO(lines, newline=""), delimiter=delimiter) if row] or [[""]]
    except csv.Error:  # a cell is larger than 128 KiB; `csv_table` reports it
        return [[""]]
