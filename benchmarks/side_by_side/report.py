"""The tables, in Markdown, and the files of the documentation that hold them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from refsvm.experiment.grid import Grid, number

from .agreement import TOLERANCE, disagreements, shortfalls
from .growth import Growth, exponent
from .results import Outcome, Row
from .watching import PARTS, REST

__all__ = [
    "Part", "defaults_table", "growth_tables", "large_table", "objectives", "ratio", "shares_table",
    "slower", "times_table",
]  # fmt: skip

PLACE = Path(__file__).resolve().parents[2] / "docs" / "_static" / "how_fast"
BEST_OTHER = "refsvm / best other"  # the name of a column


class Part:
    """A piece of the page "How fast, and why": printed, and written to its file if wanted.

    Parameters
    ----------
    name : str
        Name of the file, without ending.
    texts : str
        Its paragraphs and tables.
    """

    def __init__(self, name: str, *texts: str) -> None:
        self.name, self.text = name, "\n\n".join(filter(None, texts)) + "\n"

    def publish(self, place: Path | None = None) -> None:
        """Print it; write it into the directory, if one is given."""
        print(f"\n{self.text}", flush=True)
        if place is not None:
            place.mkdir(parents=True, exist_ok=True)
            (place / f"{self.name}.md").write_text(self.text, encoding="utf-8")


def ratio(row: Row, what: str = "seconds") -> float:
    """Return the seconds of the first library over those of the fastest of the others; NaN if there is no such pair.

    `what` names the seconds: "seconds" are those of the fastest turn, "first" those of the first repetition.
    """
    first, *others = (getattr(outcome, what) for outcome in row.outcomes.values())
    fastest = min(others, default=math.inf)
    return first / fastest if math.isfinite(first) and math.isfinite(fastest) else math.nan


def geometric_mean(values: Sequence[float]) -> float:
    """Return the geometric mean of those that are known, NaN if none is."""
    known = [math.log(value) for value in values if math.isfinite(value)]
    return math.exp(sum(known) / len(known)) if known else math.nan


def decimals(value: float) -> str:
    """Return a ratio or an exponent with two decimals, a dash for none."""
    return f"{value:.2f}" if math.isfinite(value) else "–"


def cell(outcome: Outcome, unit: float = 1.0, what: str = "seconds") -> str:
    """Return the seconds, times `unit`, or why there are none."""
    return outcome.stopped or number(unit * getattr(outcome, what), 3)


def times_table(rows: Sequence[Row], what: str = "seconds") -> str:
    """Return the milliseconds of each library, refsvm's ratio to the fastest of the others, and the geometric mean."""
    names = tuple(rows[0].outcomes)
    lines = [
        (
            row.name,
            *(f"{size:,}" for size in (row.n, row.d)),
            *(cell(row.outcomes[name], 1e3, what) for name in names),
            decimals(ratio(row, what)),
        )
        for row in rows
    ]
    mean = decimals(geometric_mean([ratio(row, what) for row in rows]))
    lines.append(("geometric mean", "", "", *("" for _ in names), f"**{mean}**"))
    return Grid(("set", "n", "d", *names, BEST_OTHER), tuple(lines)).to_markdown()


def large_table(rows: Sequence[Row]) -> str:
    """Return seconds and peak memory of each library on the large problems."""
    names = tuple(dict.fromkeys(name for row in rows for name in row.outcomes))
    lines = []
    for row in rows:
        cells = []
        for name in names:
            outcome = row.outcomes.get(name, Outcome(stopped="not run"))
            peak = "–" if math.isnan(outcome.peak) else f"{outcome.peak / 1e9:.2f}"
            cells += [cell(outcome), peak]
        lines.append((row.name, f"{row.n:,}", f"{row.d:,}", *cells, decimals(ratio(row))))
    columns = [header for name in names for header in (f"{name}, s", "GB")]
    return Grid(("set", "n", "d", *columns, BEST_OTHER), tuple(lines)).to_markdown()


def slower(rows: Sequence[Row]) -> str:
    """Return a sentence about the problems on which the first library is not the fastest."""
    found = []
    for row in rows:
        first, *others = (outcome.seconds for outcome in row.outcomes.values())
        behind = first - min(others, default=math.inf)
        if not math.isfinite(first):
            found.append(f"{row.name} (no result)")
        elif behind > 0:
            found.append(f"{row.name} (by {number(1e3 * behind, 3)} ms)")
    name = next(iter(rows[0].outcomes))
    return (
        f"{name} is behind the fastest on {', '.join(found)}."
        if found
        else f"{name} is the fastest on all sets."
    )


def objectives(rows: Sequence[Row]) -> str:
    """Return what the check of the objectives found."""
    found = disagreements(rows)
    if not found:
        return "All dual objectives agree up to a relative error of 1e-5."
    first = next(iter(rows[0].outcomes))
    ours = any(shortfalls(row).get(first, 0.0) > TOLERANCE for row in rows)
    verdict = f"**{first} is one of them.**" if ours else f"{first} never does:"
    lines = (f"* {sentence}" for sentence in found)
    return "\n".join(
        [
            f"Some libraries end below the best dual objective by a relative error of more than 1e-5. {verdict}",
            "",
            *lines,
        ]
    )


def growth_tables(growths: Sequence[Growth]) -> str:
    """Return for each family the seconds of each library, and refsvm's iterations and kernel rows, with exponents."""
    tables = []
    for growth in growths:
        names = tuple(growth.rows[0].outcomes)
        lines = [growth_line(growth, name, "seconds", f"{name}, s") for name in names]
        lines.append(growth_line(growth, names[0], "iterations", f"{names[0]}, iterations"))
        lines.append(growth_line(growth, names[0], "kernel_rows", f"{names[0]}, kernel rows"))
        sizes = (f"{growth.variable} = {size:,}" for size in growth.sizes)
        tables.append(f"**{growth.family}**")
        tables.append(Grid(("", *sizes, "exponent"), tuple(lines)).to_markdown())
    return "\n\n".join(tables)


def growth_line(growth: Growth, library: str, what: str, title: str) -> tuple[str, ...]:
    """Return a line: the quantity at each size, and its exponent."""
    column = growth.column(library, what)
    cells = [
        row.outcomes[library].stopped or number(value, 3)
        for row, value in zip(growth.rows, column, strict=True)
    ]
    return (title, *cells, decimals(exponent(growth.sizes, column)))


def shares_table(rows: Sequence[Row]) -> str:
    """Return the share of each part of the work in the seconds of a fit, with iterations and kernel rows."""
    parts = (*dict.fromkeys(part for *_, part in PARTS), REST)
    lines = []
    for row in rows:
        (outcome,) = row.outcomes.values()
        total = sum(outcome.parts.values()) or math.nan
        shares = (f"{outcome.parts.get(part, 0.0) / total:.0%}" if total > 0 else "–" for part in parts)
        counts = (
            f"{count:,}" if count is not None else "–" for count in (outcome.iterations, outcome.kernel_rows)
        )
        lines.append((row.name, f"{row.n:,}", cell(outcome, 1e3), *counts, *shares))
    return Grid(("set", "n", "ms", "iterations", "rows computed", *parts), tuple(lines)).to_markdown()


def defaults_table(rows: Sequence[Row]) -> str:
    """Return the milliseconds of the first variant, the ratios of the others to it, and their geometric means."""
    first, *others = rows[0].outcomes
    lines = []
    ratios: dict[str, list[float]] = {name: [] for name in others}
    for row in rows:
        base, cells = row.outcomes[first].seconds, []
        for name in others:
            outcome = row.outcomes[name]
            ratios[name].append(outcome.seconds / base if math.isfinite(outcome.seconds) else math.nan)
            cells.append(outcome.stopped or decimals(ratios[name][-1]))
        lines.append((row.name, cell(row.outcomes[first], 1e3), *cells))
    means = (decimals(geometric_mean(column)) for column in ratios.values())
    lines.append(("geometric mean", "", *means))
    return Grid(("set", f"{first}, ms", *others), tuple(lines)).to_markdown()
