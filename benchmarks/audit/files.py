"""Random tables and LIBSVM files, as programs write them, are read as meant or refused by line.

A file is written in the way of pandas (index, quotation marks, line ends, codes of missing values, packed), R (row
names, NA, 1e+05), a spreadsheet (``sep=``, decimal commas, byte order mark, code page 1252, empty rows, #N/A), an older
program (blanks between cells, -1.#IND, exponents with D) or one that writes svmlight files (padding, comments, qid).
Its name has any ending, it may have comments above its rows, and it may come through a pipe. What it means is known. It
is bad if it is read as something else without a warning, refused without the file and the line, or refused with another
line than the one that is wrong.
"""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import lzma
import os
import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from refsvm.datasets import open_data

MISSING = (
    "NA", "", "NaN", "nan", "NULL", "null", "None", "N/A", "#N/A", "?", "-1.#IND", "1.#QNAN", "<NA>", "#DIV/0!",
)  # fmt: skip
ENDINGS = (".csv", ".tsv", ".data", ".txt", ".dat", ".svm", ".libsvm", ".test", ".CSV", "")
PIPE = 1 << 14
"""Bytes that a pipe holds before it is read."""

LABELS = (
    ("no", "yes"), ("oak", "elm", "ash"), ("0", "1"), ("-1", "1"), ("-1", "+1"), ("1.0", "2.0"), ("007", "7", "8"),
    ("2_1", "21", "3"), ("1E5", "100000", "2E3"), ("9007199254740993", "9007199254740992", "3"), ("3a", "3b", "4"),
    ("größer", "kleiner"), ("3.1", "3.10", "3.2"), ("1e+05", "2e+05"), ("True", "False"), ("a,b", 'say "no"', "a;b"),
)  # fmt: skip


@dataclass
class File:
    """What a file means, and how it is written."""

    X: np.ndarray
    labels: list[str]
    are_targets: bool
    names: list[str] | None
    place: int
    index: list[str] | None = None
    wrong: int | None = None
    """The example in which something is wrong, if anything is."""
    lines_before: int = 0
    encoding: str = "utf-8"
    packed: str = ""
    how: list[str] = field(default_factory=list)

    @property
    def label(self) -> str:
        """How the label column is asked for."""
        return str(self.place) if self.names is None else self.names[self.place]


def meant(rng: np.random.Generator) -> tuple[File, list[list[str]]]:
    """Return a table that means something, and its cells."""
    n, d = int(rng.integers(6, 40)), int(rng.integers(1, 6))
    kind = rng.integers(3, size=d)
    X = np.where(kind == 0, rng.normal(size=(n, d)).round(3), rng.integers(0, 50, size=(n, d)))
    X = np.where(kind == 2, X * 10.0 ** rng.integers(-8, 9), X)
    if are_targets := bool(rng.integers(2)):
        y = rng.normal(size=n).round(int(rng.integers(1, 5))) * 10.0 ** rng.integers(-3, 4)
        labels = [repr(float(f"{value:.6g}")) for value in y]
    else:
        names = LABELS[rng.integers(len(LABELS))]
        labels = [names[k] for k in rng.permutation(np.arange(n) % len(names))]
    header: list[str] | None = [
        [f"x{j}", f"{2015 + j}", f"{400 + 10 * j}", f"größe {j}"][rng.integers(4)] for j in range(d)
    ]
    place = int(rng.integers(d + 1))
    header = [*header[:place], "target", *header[place:]] if header is not None and rng.integers(4) else None
    cells = [[repr(float(x)) if x % 1 or abs(x) >= 1e15 else str(int(x)) for x in row] for row in X]
    return File(X, labels, are_targets, header, place), [
        [*row[:place], label, *row[place:]] for row, label in zip(cells, labels, strict=True)
    ]


def spoil(file: File, cells: list[list[str]], rng: np.random.Generator, codes: Sequence[str]) -> None:
    """Put a code of a missing value into one cell, now and then."""
    if rng.integers(3) == 0:
        file.wrong, j = int(rng.integers(len(cells))), int(rng.integers(len(cells[0])))
        if j == file.place and not file.are_targets:  # other words are classes
            codes = [code for code in codes if code not in ("1.5D+03", "*****", "1_0")]
        cells[file.wrong][j] = codes[rng.integers(len(codes))]
        file.how.append(f"{cells[file.wrong][j]!r} in {'the label' if j == file.place else 'a feature'}")


def numbered(file: File, rng: np.random.Generator, first: int) -> list[str]:
    """Return an index: in order, shuffled, or of a part."""
    n = len(file.labels)
    order = [np.arange(n), rng.permutation(n), np.sort(rng.choice(3 * n, n, replace=False))][rng.integers(3)]
    file.index = [str(number + first) for number in order]
    return file.index


def text_of(rows: list[list[str]], sep: str, end: str = "\n", quoting: Any = csv.QUOTE_MINIMAL) -> str:
    """Return rows as a text."""
    stream = io.StringIO()
    csv.writer(stream, delimiter=sep, lineterminator=end, quoting=quoting).writerows(rows)
    return stream.getvalue()


def by_pandas(rng: np.random.Generator) -> tuple[File, str]:
    """As DataFrame.to_csv writes it."""
    file, cells = meant(rng)
    spoil(file, cells, rng, MISSING)
    rows = cells if file.names is None else [file.names, *cells]
    if file.names is not None and rng.integers(2):
        name = ["", "", "Unnamed: 0", "index", "id"][rng.integers(5)]
        rows = [
            [name, *file.names],
            *([i, *row] for i, row in zip(numbered(file, rng, 0), cells, strict=True)),
        ]
    file.packed = ["", "", "", ".gz", ".bz2", ".xz"][rng.integers(6)]
    quoting = [csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC][rng.integers(3)]
    return file, text_of(rows, ",\t;"[rng.integers(3)], ["\n", "\r\n"][rng.integers(2)], quoting)


def by_r(rng: np.random.Generator) -> tuple[File, str]:
    """As write.csv, write.csv2 or write.table writes it."""
    file, cells = meant(rng)
    file.names = file.names or [f"V{j + 1}" for j in range(len(cells[0]))]
    spoil(file, cells, rng, ["NA"])
    form = rng.integers(3)  # write.csv, write.csv2, write.table
    sep = ",; "[form]
    if form == 1:
        points_to_commas(file, cells)
    head, rows = [f'"{name}"' for name in file.names], [[quoted(cell) for cell in row] for row in cells]
    if rng.integers(2):
        rows = [[f'"{i}"', *row] for i, row in zip(numbered(file, rng, 1), rows, strict=True)]
        head = head if form == 2 else ['""', *head]
    return file, "".join(sep.join(row) + "\n" for row in [head, *rows])


def quoted(cell: str) -> str:
    """As R quotes texts, and no numbers."""
    is_number = re.fullmatch(r"[+-]?[\d.,]+(e[+-]?\d+)?|NA", cell)
    return cell if is_number and cell != "9007199254740993" else '"' + cell.replace('"', '""') + '"'


def points_to_commas(file: File, cells: list[list[str]]) -> None:
    """Write decimal commas."""
    for row in cells:
        for j, cell in enumerate(row):
            if re.fullmatch(r"[+-]?\d+\.\d+(e[+-]?\d+)?", cell) and (j != file.place or file.are_targets):
                row[j] = cell.replace(".", ",")


def by_spreadsheet(rng: np.random.Generator) -> tuple[File, str]:
    """As a spreadsheet saves it."""
    file, cells = meant(rng)
    spoil(file, cells, rng, ["#N/A", "#DIV/0!", "", "#VALUE!", "#NAME?"])
    sep = ",;\t"[rng.integers(3)]
    if sep != "," and rng.integers(2):
        points_to_commas(file, cells)
    file.encoding = ["utf-8", "utf-8-sig", "cp1252", "utf-16"][rng.integers(4)]
    rows = cells if file.names is None else [file.names, *cells]
    text = text_of(rows, sep, "\r\n")
    if rng.integers(3) == 0:
        text, file.lines_before = f"sep={sep}\r\n{text}", 1
    if rng.integers(3) == 0:
        text += (sep * (len(cells[0]) - 1) + "\r\n") * int(rng.integers(1, 4))
    return file, text


def by_older_program(rng: np.random.Generator) -> tuple[File, str]:
    """Blanks between cells, C's old spelling of NaN, Fortran's exponents, rows that are cut off."""
    file, cells = meant(rng)
    spoil(file, cells, rng, ["-1.#IND", "1.#INF", "1.#QNAN", "1.5D+03", "*****", "1_0"])
    if file.wrong is None and rng.integers(4) == 0:
        file.wrong = int(rng.integers(1, len(cells)))
        cells[file.wrong].pop() if rng.integers(2) else cells[file.wrong].append("7")
        file.how.append("a ragged row")
    sep = ", " if rng.integers(2) else " "
    rows = cells if file.names is None else [file.names, *cells]
    rows = [[quoted(cell) if set(cell) & set(' ,;"') else cell for cell in row] for row in rows]
    return file, "".join(sep.join(row) + "\r\n" for row in rows)


def by_svmlight(rng: np.random.Generator) -> tuple[File, str]:
    """As LIBSVM's tools and sets have it."""
    n, d = int(rng.integers(4, 30)), int(rng.integers(1, 7))
    X = np.where(rng.uniform(size=(n, d)) < 0.6, rng.normal(size=(n, d)).round(3), 0.0)
    X[0, d - 1] = 1.0
    names = [("+1", "-1"), ("1", "2", "3"), ("1.0", "0"), ("0.5", "-2.25", "1e3")][rng.integers(4)]
    file = File(X, [names[k] for k in rng.integers(len(names), size=n)], True, None, 0)
    pad, qid = ":" + " " * int(rng.integers(3)), rng.integers(4) == 0
    lines = []
    for i, row in enumerate(X):
        parts = [f"{j + 1}{pad}{value!r}" for j, value in enumerate(row.tolist()) if value]
        comment = ["", "", " # a#b", "\t#1.5 2:3"][rng.integers(4)]
        lines.append("   ".join([file.labels[i], *([f"qid:{i}"] if qid else []), *parts]) + comment)
    if rng.integers(2) == 0:
        file.wrong = int(rng.integers(n))
        last = [
            f"{d + 1}:{text}"
            for text in ("-1.#IND 9:2", "1.#QNAN", "1,5", "nan", "1e999", "1_0", "", "2#3", "1.5D+03")
        ]
        wrong = [*last, "abc", "0:1", f"{d + 3}:1 {d + 2}:1", "99999999999:1"]
        added = wrong[rng.integers(len(wrong))]
        lines[file.wrong] = f"{file.labels[file.wrong]} {added}"
        file.how.append(added)
    file.encoding = ["utf-8", "utf-8-sig"][rng.integers(2)]
    file.packed = ["", "", ".gz", ".bz2", ".xz"][rng.integers(5)]
    return file, ["\n", "\r\n"][rng.integers(2)].join(lines) + "\n"


WRITERS: dict[str, Callable[[np.random.Generator], tuple[File, str]]] = {
    "pandas": by_pandas, "R": by_r, "spreadsheet": by_spreadsheet, "older program": by_older_program,
    "svmlight": by_svmlight,
}  # fmt: skip


def place_of(
    seed: int, folder: Path, file: File, text: str, is_table: bool
) -> tuple[str, Callable[[], object]]:
    """Write the file under a name with a drawn ending, with comments above, or into a pipe; how to remove it."""
    rng = np.random.default_rng((seed, 1))
    if is_table and rng.integers(4) == 0:
        comments = ["# exported today", "#", "# unit: mm"][: int(rng.integers(1, 4))]
        end = "\r\n" if "\r\n" in text else "\n"
        text, file.lines_before = (
            end.join([*comments, text]),
            file.lines_before + len(comments),
        )
    pack = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}.get(file.packed, bytes)
    content = pack(text.encode(file.encoding, "replace"))
    if len(content) < PIPE and rng.integers(8) == 0 and Path("/dev/fd").exists():
        out, into = os.pipe()
        os.write(into, content)
        os.close(into)
        return f"/dev/fd/{out}", lambda: os.close(out)
    ending = ENDINGS[rng.integers(len(ENDINGS))] + (file.packed if rng.integers(4) else "")
    path = folder / f"t{ending}"
    path.write_bytes(content)
    return str(path), path.unlink


def tried(seed: int, folder: Path) -> tuple[list[str], str]:
    """Write one file and read it; return what is wrong, and how it was written."""
    name = list(WRITERS)[seed % len(WRITERS)]
    file, text = WRITERS[name](np.random.default_rng(seed))
    path, remove = place_of(seed, folder, file, text, is_table=name != "svmlight")
    shown = f"{name} {path} {file.encoding} {file.packed} {file.how}\n{text}"
    with warnings.catch_warnings(record=True, action="always") as caught:
        try:
            data = open_data(path, None if name == "svmlight" else file.label)
        except ValueError as error:
            return refusal(str(error), path, file), shown
        finally:
            remove()
    said = " ".join(str(each.message) for each in caught)
    return reading(data, file, said), shown


def refusal(said: str, path: str, file: File) -> list[str]:
    """Complain of a refusal that does not name the file and the line."""
    where = re.search(r"(?:row|line) (\d+)", said)
    if path not in said or where is None:
        return [f"refused without file and line: {said}"]
    line = None if file.wrong is None else file.wrong + 1 + (file.names is not None) + file.lines_before
    # what is said of all, or of numbers whose comma may separate thousands: 1,234, or any beside points
    of_all = any(reason in said for reason in ("UTF-8", "header", "one column")) or re.search(
        r"'-?\d+,\d+'", said
    )
    if line is not None and not of_all and int(where[1]) != line:
        return [f"line {line} is wrong, and line {where[1]} is named: {said}"]
    return []


def reading(data: Any, file: File, said: str) -> list[str]:
    """Complain of what was read as something else without a warning."""
    X = data.X if isinstance(data.X, np.ndarray) else data.X.toarray()
    expected = file.X
    if file.index is not None and X.shape[1] == expected.shape[1] + 1:
        if "index" not in said:
            return ["the index became a feature without a warning"]
        expected = np.column_stack([np.array(file.index, dtype=float), expected])
    if file.wrong is not None or (said and "index" not in said):
        return [] if said else [f"read in silence: {file.how}"]
    if X.shape != expected.shape or not np.allclose(X, expected, rtol=1e-12, atol=0):
        return [f"X was read otherwise: shape {X.shape}, meant {expected.shape}"]
    return misread(data.y, file)


def misread(y: np.ndarray, file: File) -> list[str]:
    """Complain of labels or targets that were read as others."""
    pairs, read = set(zip(y.tolist(), file.labels, strict=True)), set(y.tolist())
    if file.are_targets:
        right = y.dtype.kind == "f" and np.array_equal(y, np.array(file.labels, dtype=float))
        return [] if right else [f"targets became {y.dtype}: {sorted(pairs, key=str)[:4]}"]
    if not len(pairs) == len(read) == len(set(file.labels)):
        return [f"labels were merged or split: {sorted(pairs, key=str)[:5]}"]
    same = all(
        str(mine) == theirs or (not isinstance(mine, str) and mine == float(theirs)) for mine, theirs in pairs
    )
    return [] if same else [f"labels were read otherwise: {sorted(pairs, key=str)[:5]}"]
