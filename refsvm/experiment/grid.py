"""Grid: a table of texts, which can be written as Markdown or LaTeX; and functions that format numbers for a table."""

from __future__ import annotations

import math
from dataclasses import dataclass
from importlib.util import find_spec

from refsvm.services.summary import Card, Shown, Table, counted


@dataclass(frozen=True, repr=False)
class Grid(Shown):
    """A table of texts. The first `labels` columns contain names, aligned left; numbers are aligned right.

    Parameters
    ----------
    headers : tuple of str
        Header of each column.
    rows : tuple of tuples of str
        The rows.
    labels : int
        Number of columns with names.
    notes : tuple of str
        Sentences below the table; in LaTeX, the notes are comments.

    Examples
    --------
    >>> from refsvm.experiment import Grid
    >>> print(Grid(("set", "steps"), (("heart", "102"), ("image", "6,557"))).to_markdown())
    | set   |   steps |
    |:------|--------:|
    | heart |     102 |
    | image |   6,557 |
    """

    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    labels: int = 1
    notes: tuple[str, ...] = ()

    def _card(self) -> Card:
        line = f"{counted(len(self.rows), 'row')} of {counted(len(self.headers), 'column')}"
        return Card(line, tables=(Table(self.headers, [*self.rows], self.labels),))

    def to_markdown(self) -> str:
        """Return the table as Markdown, with pipes between columns."""
        return "\n\n".join([self._set("pipe"), *self.notes])

    def to_latex(self) -> str:
        """Return the table as LaTeX, with the horizontal rules of the package booktabs."""
        return "\n".join([self._set("latex_booktabs"), *(f"% {note}" for note in self.notes)])

    def _set(self, style: str) -> str:
        if find_spec("tabulate") is None:
            raise ImportError(
                "Markdown and LaTeX tables need the package tabulate; install it (pip install tabulate)."
            )
        from tabulate import tabulate  # type: ignore[import-untyped]

        numbers = len(self.headers) - self.labels
        return tabulate(
            self.rows,
            headers=self.headers,
            tablefmt=style,
            disable_numparse=True,
            colalign=("left",) * self.labels + ("right",) * numbers,
        )


def number(value: float | None, digits: int = 4) -> str:
    """Return a number as text, with `digits` significant digits and all digits before the point; a dash for None.

    Examples
    --------
    >>> from refsvm.experiment.grid import number
    >>> number(1883310.4), number(27019.14, 8), number(0.0213), number(2.7e-6, 2), number(0.0), number(None)
    ('1,883,310', '27,019.140', '0.02130', '2.7e-06', '0', '–')
    """
    if value is None or not math.isfinite(value):
        return "–"
    if value == 0.0:
        return "0"
    if abs(value) < 1e-3:
        return f"{value:.{digits - 1}e}"
    decimals = digits - 1 - math.floor(math.log10(abs(value)))
    return f"{value:,.{max(0, decimals)}f}"


def ratio_of(value: float | None) -> str:
    """Return the text of a ratio with three decimals; a dash for None.

    Examples
    --------
    >>> from refsvm.experiment.grid import ratio_of
    >>> ratio_of(0.63), ratio_of(1.0564), ratio_of(None)
    ('0.630', '1.056', '–')
    """
    return "–" if value is None else f"{value:.3f}"


def p_value(p: float | None) -> str:
    """Return the text of a p-value for a table.

    Examples
    --------
    >>> from refsvm.experiment.grid import p_value
    >>> p_value(0.00004), p_value(0.0312), p_value(None)
    ('< 0.001', '0.031', '–')
    """
    if p is None:
        return "–"
    return "< 0.001" if p < 0.001 else f"{p:.3f}"
