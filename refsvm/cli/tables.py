"""Prints output on stdout: tables for people, and JSON or CSV for programs."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Callable, Mapping
from io import StringIO
from typing import Any, Final, TypeAlias

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from refsvm.experiment.comparison import Summary
from refsvm.services.line import Stream
from refsvm.services.printable import printable
from refsvm.services.store import json_of

Columns: TypeAlias = Mapping[str, str | Callable[[Any], str] | None]
"""Columns of a table by heading, with the format of their entries; None omits a column."""

SCORES: Final = {
    "error": ("error", "{error:.4f}"),
    "rmse": ("root mean\nsquare", "{rmse:.4g}"),
    "mae": ("mean absolute\nerror", "{mae:.4g}"),
    "r2": ("R²", "{r2:.4f}"),
    "outside": ("share\noutside", "{outside:.4f}"),
}
"""The scores of all tasks by name, with their heading and format."""

TEXT: Final = (
    "selector", "step", "shrinking", "shrink", "engine", "data", "status", "seeder", "stop", "name", "licence",
    "source",
)  # fmt: skip
"""Columns that are aligned left."""


def print_json(document: Any) -> None:
    """Print one JSON document; NaN and infinity, which JSON lacks, become null."""
    text = json_of(document, indent=2)
    # escape DEL and the control codes after it, which `json.dumps` leaves unchanged
    typer.echo("".join(c if c.isprintable() or c == "\n" else json.dumps(c)[1:-1] for c in text))


def print_csv(rows: list[dict[str, Any]]) -> None:
    """Print rows as CSV with a column for each entry; print a `Summary` as its mean, and a list as JSON."""
    stream = StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(rows[0] if rows else [])
    for row in rows:
        cells = (value.mean if isinstance(value, Summary) else value for value in row.values())
        writer.writerow([json.dumps(cell) if isinstance(cell, list | dict) else cell for cell in cells])
    print_data(stream.getvalue())


def print_data(text: str) -> None:
    """Print data; on a terminal, print escapes in place of control codes, which the terminal would obey."""
    sys.stdout.write(printable(text) if Stream(sys.stdout).isatty() else text)


def echo(text: str) -> None:
    """Print sentences on stdout, with escapes in place of control codes, which a terminal would obey."""
    typer.echo(printable(text))


def status_of(row: Mapping[str, Any]) -> str:
    """Return the words that say why a run ended."""
    return str(row["status"]).lower().replace("_", " ")


def scores_of(row: Mapping[str, Any]) -> Columns:
    """Return the table columns of the scores that a row contains."""
    return dict(column for name, column in SCORES.items() if name in row)


def heading(problem: dict[str, Any]) -> str:
    """Return the heading of a problem's table: the data, the kernel, C or ν, ε, and the tolerance."""
    kernel = dict(problem["kernel"])
    name = kernel.pop("name")
    parameters = ", ".join(f"{key}={value:.6g}" for key, value in kernel.items())
    own = ("nu", "tol") if "nu" in problem else ("C", "epsilon", "tol")
    sizes = ", ".join(f"{key}={problem[key]:.6g}" for key in own if key in problem)
    return (
        f"{problem['data']}: {problem['n']} examples, {problem['d']} features; {name} kernel"
        f"{f' ({parameters})' if parameters else ''}, {sizes}"
    )


def screen() -> Console:
    """Return a `rich` console on stdout: numbers have no colour, and outside a terminal FORCE_COLOR has no effect."""
    return Console(highlight=False, force_terminal=Stream(sys.stdout).isatty())


def print_table(heading: str, columns: Columns, rows: list[Any]) -> None:
    """Print a table at its full width, so that rich cuts off no numbers on a narrow terminal or in a file."""
    table = table_of(columns, rows)
    console = screen()
    console.width = max(
        console.width, console.measure(table, options=console.options.update(max_width=1000)).maximum
    )
    # print the heading without line breaks; only a terminal wraps it
    console.print(Text(printable(heading)), soft_wrap=True)
    console.print(table)


def table_of(columns: Columns, rows: list[Any]) -> Table:
    """Return a `rich.table.Table` of the rows with these columns."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    shown = {name: column for name, column in columns.items() if column is not None}
    for name in shown:
        table.add_column(name, justify="left" if name in TEXT else "right", no_wrap=True)
    for row in rows:
        cells = (c.format_map(row) if isinstance(c, str) else c(row) for c in shown.values())
        table.add_row(*map(Text, map(printable, cells)))
    return table
