"""Reads the labels of a table as numbers if this loses no information, otherwise as texts; refuses missing labels."""

from __future__ import annotations

import re
import unicodedata
import warnings
from collections.abc import Callable, Iterable
from typing import Any, Final

import numpy as np

from refsvm.services.printable import printable

MOST_CLASSES: Final = 20
"""With more different labels than this, the labels may be targets of a regression."""

_CODE: Final = re.compile(
    r"[?]|#?n/?a|n\.a\.|<na>|null|none|nil|nat|[+-]?1\.#\w+|#(null!|value!|ref!|div/0!|num!|name[?]|n/a n/a)",
    re.IGNORECASE,
).fullmatch
"""Codes for missing values in pandas, R, SQL, Weka, spreadsheets and older programs."""

_PLAIN: Final = re.compile(r"[+-]?(0|[1-9]\d*)(\.0*)?|[+-]?\d\.\d*[eE][+-]?\d+|[+-]?\d+[eE]\+\d+").fullmatch
"""Pattern of an integer as programs write it, unlike 007 or 1E5, which programs write as 1E+05."""

_ALMOST: Final = re.compile(r"[+-]?[\d.]*\d[,'][\d.,']*\d|[+-]?[\d.]+[dD][+-]?\d+").fullmatch
"""Pattern of a number with thousands separators, a decimal comma, or Fortran's exponent."""


def is_code(text: str) -> bool:
    """Return whether the text of a cell is a code for a missing value, such as NA.

    Examples
    --------
    >>> [is_code(text) for text in ("NA", "?", "1.#QNAN", "", "no")]
    [True, True, True, False, False]
    """
    return _CODE(text) is not None


def labels_of(cells: Any, place: int, first: int) -> np.ndarray:
    """Return the labels of a table.

    Parameters
    ----------
    cells : Cells
        The table.
    place : int
        Column of the labels.
    first : int
        Line of the first label.

    Returns
    -------
    ndarray of float64 or str, shape (n,)
        Numbers if all labels can be converted without loss, otherwise texts: 007 and 7 stay texts. If all
        labels are numbers, some with fractions, and more than `MOST_CLASSES` differ, the result is always numbers.

    Raises
    ------
    ValueError
        If a label is missing or infinite, spans several lines, or is a word among numbers; the message names the row.
    """
    texts, numbers = cells.texts[first:, place], cells.numbers[first:, place]
    is_number = ~np.isnan(numbers)
    words, values, labels = set(texts[~is_number]), set(numbers[is_number]), texts.tolist()
    # labels with fractions are targets of a regression, so a word among them is an error and not a class
    has_fractions = bool((numbers[np.isfinite(numbers)] % 1).any())
    stray = not is_number.all() and (
        has_fractions
        or len(values) > MOST_CLASSES
        or (len(words) == 1 and is_number.mean() >= 0.75 and not any(map(str.isdigit, *words)))
        or all(map(_ALMOST, words))
    )
    drop = "complete that row or remove it."
    for wrong, reason in (
        (texts == "", f"has no label in {{row}}; {drop}"),
        (
            [is_code(text) for text in labels],
            f"has {{text!r}}, a code of a missing label, in {{row}}; {drop}",
        ),
        (
            ["\n" in text for text in labels],
            "has a label of several lines in {row}; look for a stray quotation mark.",
        ),
        (
            ~is_number & stray,
            "has the label {text!r} in {row}, which is not a number like the other labels; correct it.",
        ),
        (np.isinf(numbers), f"contains NaN or infinity as the label of {{row}}; {drop}"),
    ):
        cells.refuse(np.reshape(wrong, (-1, 1)), first, [place], reason)
    plain = [_PLAIN(text) is not None for text in labels]
    # keep integers above 2⁵³ as texts, because neighbouring integers would become the same float64
    is_exact = all(plain) and np.abs(numbers).max() < 2**53
    if has_fractions:
        different = {text.lstrip("+") for text, number in zip(labels, numbers, strict=True) if number}
        is_exact = len(values) > MOST_CLASSES or len(values - {0.0}) == len(different)
    if is_number.all() and not is_exact:
        odd = labels[plain.index(False)] if not all(plain) else labels[np.abs(numbers).argmax()]
        note = f"the labels stay text, as a number would print {odd} differently; write targets as plain numbers."
        warnings.warn(printable(f"path={str(cells.path)!r}: {note}"), stacklevel=4)
    if is_number.all() and is_exact:
        return numbers
    note_lookalikes(str(cells.path), labels, stacklevel=5)
    return np.array(labels)


def note_lookalikes(source: str, labels: Iterable[str], stacklevel: int = 4) -> None:
    """Warn about two labels that differ only in case, blanks or the form of characters.

    Examples
    --------
    >>> import warnings
    >>> from refsvm.datasets.labels import note_lookalikes
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     note_lookalikes("trees.csv", ["oak", "Oak", "elm"])
    >>> print(caught[0].message)  # doctest: +ELLIPSIS
    path='trees.csv': the labels 'Oak' and 'oak' differ only in case, and are two classes; write them alike if ...
    """
    known: dict[str, str] = {}
    for label in sorted(set(labels)):
        other = known.setdefault(_alike(label), label)
        if other == label:
            continue
        what = next(name for name, form in _FORMS.items() if form(label) == form(other))
        # show the code points of the characters if two texts look the same
        shown = [
            ascii(each) if what == "the form of their characters" else repr(each) for each in (other, label)
        ]
        note = f"the labels {shown[0]} and {shown[1]} differ only in {what}, and are two classes; write them alike"
        warnings.warn(f"path={source!r}: {note} if they are one class.", stacklevel=stacklevel)


def _characters(text: str) -> str:
    """Return a text with characters in a standard form (Unicode NFKC), and without invisible characters."""
    seen = "".join(each for each in text if unicodedata.category(each) != "Cf")
    return unicodedata.normalize("NFKC", seen)


def _blanks(text: str) -> str:
    """Return a text with single blanks between its words."""
    return " ".join(_characters(text).split())


def _alike(text: str) -> str:
    """Return the common form of texts that look alike."""
    return _blanks(text).casefold()


_FORMS: Final[dict[str, Callable[[str], str]]] = {
    "the form of their characters": _characters,
    "blanks": _blanks,
    "case": lambda text: _characters(text).casefold(),
    "case and blanks": _alike,
}
"""Ways in which texts that look alike may differ, with the function that removes the difference."""
