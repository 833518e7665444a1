"""Card: shows a result as one line, as a table of text, and as HTML in a notebook.

A result class inherits `Shown` and returns a `Card` with its numbers; only this module contains layout, bars and HTML.
The HTML of a card contains no script and loads nothing. The text of a card has the colour of the page's text, on a
transparent background, so that it is legible on a dark page.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from math import isnan
from typing import Any, Final, NamedTuple

from refsvm.core.result import Status
from refsvm.core.shown import Shown as Shown  # noqa: PLC0414  results import it from here
from refsvm.services.printable import printable

COLOURS: Final = (
    "#8a949e66",
    "#0072b2",
    "#d55e00",
    "#009e73",
    "#cc79a7",
    "#e69f00",
    "#56b4e9",
    "#8a6d3b",
    "#7b68c8",
    "#661100",
)
"""Colours of the parts of a bar, in order."""

LONGEST: Final = 28
"""Longest name in a table, in characters; a longer name is cut."""

LONG: Final = 66
"""Longest value in text, in characters."""

WIDE: Final = 79
"""Width of a line that contains two pairs, in characters."""

WIDEST: Final = 96
"""Width of columns that are placed side by side, in characters."""

# repeat the class three times in each selector, so that the styles override the styles of notebooks for tables
STYLE: Final = (
    "<style>"
    ".refsvm{font:13px/1.45 system-ui,sans-serif;border:1px solid #8888;border-radius:6px;display:inline-block;"
    "padding:8px 12px;margin:2px 0;min-width:min(26em,100%);max-width:min(60em,100%);box-sizing:border-box;"
    "overflow-x:auto;color:inherit}.refsvm .name{font-weight:600}"
    ".refsvm .big{font-size:22px;font-weight:600}.refsvm .dim{opacity:.75}"
    ".refsvm .partial{background:#e69f0044;padding:2px 6px;border-radius:3px}"
    ".refsvm .bar{display:flex;height:12px;border-radius:3px;overflow:hidden;margin:6px 0}"
    ".refsvm .columns{display:flex;align-items:flex-end;height:38px;margin:6px 0}"
    ".refsvm .columns span{width:14px;margin-right:2px;background:#0072b2}"
    ".refsvm .key{display:inline-block;width:9px;height:9px;margin-right:4px}"
    ".refsvm.refsvm.refsvm table{border-collapse:collapse;margin:4px 0;color:inherit}"
    ".refsvm.refsvm.refsvm table tr,.refsvm.refsvm.refsvm table td,.refsvm.refsvm.refsvm table th{background:none;"
    "border:0}"
    ".refsvm.refsvm.refsvm table td,.refsvm.refsvm.refsvm table th{padding:1px 14px 1px 0;text-align:left;"
    "font-weight:normal;color:inherit}"
    ".refsvm.refsvm.refsvm table thead th{border-bottom:1px solid #8888;font-weight:600}"
    ".refsvm.refsvm.refsvm table .n{text-align:right;font-variant-numeric:tabular-nums}</style>"
)


class Table(NamedTuple):
    """A table of text: the first `labels` columns contain names, aligned left; the other columns contain numbers."""

    headers: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    labels: int = 1

    def lines(self) -> list[str]:
        """Return the table as lines of text; if the table is too wide, columns that do not fit follow below."""
        rows = [tuple(cut(cell) for cell in row) for row in (self.headers, *self.rows)]
        columns = [
            [f"{c:<{w}}" if k < self.labels else f"{c:>{w}}" for c in column]
            for k, column in enumerate(zip(*rows, strict=True))
            for w in [max(map(len, column))]
        ]
        names, rest, lines = columns[: self.labels], columns[self.labels :], list[str]()
        while rest or not lines:
            block = names + rest[:1]
            rest = rest[1:]
            while rest and sum(len(each[0]) + 2 for each in [*block, rest[0]]) <= WIDEST:
                block.append(rest.pop(0))
            lines += [("  " + "  ".join(cells)).rstrip() for cells in zip(*block, strict=True)]
        return lines

    def html(self) -> str:
        """Return the table as HTML."""
        head = "".join(
            f'<th scope="col"{self._class(k)}>{escape(c)}</th>' for k, c in enumerate(self.headers)
        )
        body = "".join(
            "<tr>"
            + "".join(f'<th scope="row">{escape(cut(cell))}</th>' for cell in row[: self.labels])
            + "".join(f'<td class="n">{escape(cell)}</td>' for cell in row[self.labels :])
            + "</tr>"
            for row in self.rows
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    def _class(self, column: int) -> str:
        return ' class="n"' if column >= self.labels else ""


class Parts(NamedTuple):
    """A whole that is divided into parts, shown as a bar on a card and as a table in text.

    Attributes
    ----------
    name, unit : str
        Headings of the column of parts and of the column of numbers.
    counts : dict of str to int
        Size of each part; parts of size 0 are omitted.
    whole : int
        Number that the whole bar stands for; the rest of the bar beyond the parts stays empty.
    """

    name: str
    unit: str
    counts: Mapping[str, int]
    whole: int

    def table(self) -> Table:
        """Return a table with the size of each part."""
        return Table((self.name, self.unit), [(name, f"{n:,}") for name, n in self.counts.items() if n])

    def html(self) -> str:
        """Return the bar and its legend as HTML, with numbers for screen readers; an empty text without parts."""
        parts = [(name, n, COLOURS[k % len(COLOURS)]) for k, (name, n) in enumerate(self.counts.items()) if n]
        if not parts:
            return ""
        counts = escape(", ".join(f"{name}: {n:,}" for name, n, _ in parts))
        whole = max(self.whole, 1)
        bar = "".join(
            f'<span style="width:{100 * n / whole:.2f}%;background:{c}"></span>' for _, n, c in parts
        )
        legend = " · ".join(
            f'<span class="key" style="background:{c}"></span>{escape(name)}: {n:,}' for name, n, c in parts
        )
        label = f"{escape(self.unit)}, {escape(self.name)}: {counts}"
        return (
            f'<div class="bar" role="img" aria-label="{label}">{bar}</div>'
            f"<div>{escape(self.name)} {legend}</div>"
        )


@dataclass(frozen=True)
class Card:
    """The content of a result's card.

    Attributes
    ----------
    line : str
        The result as one line, without the name of the class.
    headline, sentence : str
        The number in large type, and the words after it; `line` replaces an empty `sentence`.
    is_partial : bool
        Whether the run is unfinished; if so, the card marks the sentence.
    pairs : dict of str to str
        Quantities and their values.
    parts : Parts, optional
        The parts that the card shows as a bar.
    heights : sequence of float
        Heights of the columns of a bar chart, such as the errors of folds.
    heights_of : str
        The meaning of the heights.
    tables : sequence of Table
        Further tables.
    """

    line: str
    headline: str = ""
    sentence: str = ""
    is_partial: bool = False
    pairs: Mapping[str, str] = field(default_factory=dict)
    parts: Parts | None = None
    heights: tuple[float, ...] = ()
    heights_of: str = ""
    tables: tuple[Table, ...] = ()

    def text(self, name: str) -> str:
        """Return the lines of ``print(result)``."""
        lines = [f"{name}({self.line})"]
        for block in (self._pair_lines(), *(table.lines() for table in self._all_tables())):
            lines += ["", *block] if block else []
        return "\n".join(lines)

    def _all_tables(self) -> list[Table]:
        parts = [] if self.parts is None or not any(self.parts.counts.values()) else [self.parts.table()]
        return [*parts, *self.tables]

    def _pair_lines(self) -> list[str]:
        """Return lines with the quantities of `pairs`, two quantities on each line if all are short."""
        pairs = [
            (key, value if len(value) <= LONG else value[: LONG - 1] + "…")
            for key, value in self.pairs.items()
        ]
        if not pairs:
            return []
        half = -(-len(pairs) // 2) if len(pairs) > 3 else len(pairs)
        columns = [_aligned(pairs[:half]), _aligned(pairs[half:])]
        joined = [f"  {one}    {other}".rstrip() for one, other in zip(columns[0], columns[1], strict=False)]
        joined += [f"  {one}" for one in columns[0][len(columns[1]) :]]
        return joined if max(map(len, joined)) <= WIDE else [f"  {line}" for line in _aligned(pairs)]

    def html(self, name: str) -> str:
        """Return the card as HTML."""
        says = f'<span class="name">{escape(name)}</span>'
        if self.headline:
            says += f'<br><span class="big">{escape(self.headline)}</span>'
        mark = "partial" if self.is_partial else "dim"
        says += f' <span class="{mark}">{escape(self.sentence or self.line)}</span>'
        body = [says, "" if self.parts is None else self.parts.html(), self._columns_html()]
        rows = "".join(
            f'<tr><th scope="row" class="dim">{escape(key)}</th><td>{escape(value)}</td></tr>'
            for key, value in self.pairs.items()
        )
        body.append(f"<table><tbody>{rows}</tbody></table>" if rows else "")
        body += [table.html() for table in self.tables]
        return f'{STYLE}<div class="refsvm" role="group" aria-label="{escape(name)}">{"".join(body)}</div>'

    def _columns_html(self) -> str:
        """Return the bar chart of `heights` as HTML, with the range of the heights for screen readers."""
        known = [value for value in self.heights if not isnan(value)]
        if not known:
            return ""
        top, low = max(max(known), 1e-300), min(known)
        caption = f"{self.heights_of}, {low:.3g} to {max(known):.3g}"
        columns = "".join(
            f'<span style="height:{36 * max(v, 0.0) / top if not isnan(v) else 0:.0f}px"></span>'
            for v in self.heights
        )
        return (
            f'<div class="columns" role="img" aria-label="{escape(caption)}">{columns}</div>'
            f'<div class="dim">{escape(caption)}</div>'
        )


CARDS: Final[dict[type, Callable[[Any], Card]]] = {}
"""The function that makes the card of each result class of `refsvm.core`; `refsvm.services.cards` fills this dict."""


def card_of(result: Any) -> Card:
    """Return the card of a result, made by the result or by the function in `CARDS` for its class."""
    if hasattr(result, "_card"):
        return result._card()
    return next(CARDS[each] for each in type(result).__mro__ if each in CARDS)(result)


def rendered(result: Any, form: str) -> str:
    """Return a result as a line, as a table of text, or as HTML, depending on `form`."""
    name, card = type(result).__name__, card_of(result)
    return printable(card.line if form == "line" else card.html(name) if form == "html" else card.text(name))


def cut(text: str) -> str:
    """Return a name, cut to `LONGEST` characters.

    Examples
    --------
    >>> from refsvm.services.summary import cut
    >>> cut("setosa"), len(cut("a" * 100))
    ('setosa', 28)
    """
    text = " ".join(str(text).split())
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def counted(count: int, one: str, many: str = "") -> str:
    """Return a count with its noun: `one` for a count of 1, otherwise `many`, by default `one` with an added s.

    Examples
    --------
    >>> from refsvm.services.summary import counted
    >>> counted(1, "row"), counted(2000, "strategy", "strategies")
    ('1 row', '2,000 strategies')
    """
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def ended(known: Sequence[str], status: Status) -> str:
    """Return the facts `known` about a call, followed by the words that say how the call ended.

    Examples
    --------
    >>> from refsvm import Status
    >>> from refsvm.services.summary import ended
    >>> ended(["C from 0.1 to 10"], Status.CONVERGED)
    'C from 0.1 to 10, complete'
    """
    return (
        ", ".join([*known, "complete"]) if status is Status.CONVERGED else ". ".join([*known, status.value])
    )


def parameter(value: Any) -> str:
    """Return the text of a parameter's value: a number with four digits; for several numbers, their count and range.

    Examples
    --------
    >>> from refsvm.services.summary import parameter
    >>> parameter(0.123456), parameter((0.5, 2.0, 1.0)), parameter({"ill": 2.0})
    ('0.1235', '3 numbers, 0.5 to 2', 'ill: 2')
    """
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {weight:.4g}" for name, weight in value.items())
    if isinstance(value, Sequence):
        return f"{len(value)} numbers, {min(value):.4g} to {max(value):.4g}"
    return f"{value:.4g}"


def _aligned(pairs: Iterable[tuple[str, str]]) -> list[str]:
    """Return lines of text with the names of pairs aligned left and the values aligned right."""
    pairs = [*pairs]
    left = max((len(key) for key, _ in pairs), default=0)
    right = max((len(value) for _, value in pairs), default=0)
    return [f"{key:<{left}}  {value:>{right}}" for key, value in pairs]
