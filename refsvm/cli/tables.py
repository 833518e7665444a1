"""Output on stdout, tables for people and JSON for programs, and the progress line on stderr."""

from __future__ import annotations

import csv
import json
import math
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, TypeAlias

import typer
from rich import box
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from refsvm import Status
from refsvm.cli.comparison import Choice, Watch, objective_spread
from refsvm.cli.messages import is_watched, listening
from refsvm.experiment.comparison import Summary
from refsvm.experiment.grid import p_value, ratio_of
from refsvm.state import SolverState
from refsvm.store import json_of

Columns: TypeAlias = Mapping[str, str | Callable[[Any], str] | None]
"""Columns of a table by their headings: how an entry of a row is formatted; None leaves the column out."""

CHOICE: Final[Columns] = {
    "selector": "{selector}",
    "step": "{step}",
    "shrinking": lambda row: "yes" if row["shrinking"] else "no",
    "engine": "{engine}",
}
SCORES: Final = {
    "error": ("error", "{error:.4f}"),
    "rmse": ("root mean\nsquare", "{rmse:.4g}"),
    "mae": ("mean absolute\nerror", "{mae:.4g}"),
    "r2": ("R²", "{r2:.4f}"),
    "outside": ("share\noutside", "{outside:.4f}"),
}
"""The scores of all tasks by name: the heading of their column, and how they are formatted."""

TEXT: Final = (*CHOICE, "shrink", "data", "status", "seeder", "stop", "name", "licence", "source")
"""Columns that are set left."""

REFRESH_SECONDS: Final = 0.2
"""Seconds between two states of the progress line."""


def print_json(document: Any) -> None:
    """Print one JSON document; numbers that JSON does not have become null."""
    typer.echo(json_of(document, indent=2))


def print_csv(rows: list[dict[str, Any]]) -> None:
    """Print rows as CSV, a column for each entry; of a summary its mean, and lists as JSON."""
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(rows[0] if rows else [])
    for row in rows:
        cells = (value.mean if isinstance(value, Summary) else value for value in row.values())
        writer.writerow([json.dumps(cell) if isinstance(cell, list | dict) else cell for cell in cells])


def comparison_table(problem: dict[str, Any], rows: list[dict[str, Any]], wide: bool = False) -> None:
    """Print the problem, and the runs: a line each, or, in a terminal, as many columns as it has room for."""
    console = Console(highlight=False)
    if console.is_terminal and not wide:
        _narrow_table(console, problem, rows)
        return
    converged = [row["status"] == Status.CONVERGED.name for row in rows]
    columns: Columns = {
        **CHOICE,
        "iterations": "{iterations}",
        "kernel\nrows": "{kernel_rows}",
        "seconds": lambda row: f"{row['seconds']:.4f}" if row["seconds"] < 10 else f"{row['seconds']:.1f}",
        "objective": "{objective:.10g}",
        "KKT\ngap": "{kkt_gap:.1e}",
        "duality\ngap": "{duality_gap:.1e}",
        "training\nerror": "{training_error:.4f}",
        "support\nvectors": "{support_vectors}",
        "status": None if all(converged) else status_of,
    }
    print_table(heading(problem), columns, rows)
    if sum(converged) > 1:
        typer.echo(f"The objectives agree to {objective_spread(rows):.1e} (relative).")
    first_use = sum(row["first_use_seconds"] for row in rows)
    typer.echo(f"Not counted: {first_use:.2f} s to compile the strategies or load their compiled code.")


DROPPED: Final = ("rows", "shrink", "/ first", "numpy s", "step")
"""Columns that a narrow terminal goes without, the first of them first."""


def _narrow_table(console: Console, problem: dict[str, Any], rows: list[dict[str, Any]]) -> None:
    """Print a line for each selector and step, with the seconds of both engines, and what all have in common."""
    strategies: dict[tuple[Any, ...], dict[str, dict[str, Any]]] = {}
    for row in rows:
        place = row["selector"], row["step"], row["shrinking"]
        strategies.setdefault(place, {})[row["engine"]] = row
    engines, firsts = list(dict.fromkeys(row["engine"] for row in rows)), rows[0]["iterations"]
    shown = []
    for (selector, step, shrinking), runs in strategies.items():
        run = next(iter(runs.values()))
        cells = {
            "selector": selector, "step": step, "shrink": "yes" if shrinking else "no",
            "steps": f"{run['iterations']:,}", "/ first": f"{run['iterations'] / max(firsts, 1):.2f}",
            "rows": f"{run['kernel_rows']:,}",
        }  # fmt: skip
        cells |= {f"{each} s": f"{runs[each]['seconds']:.4f}" if each in runs else "–" for each in engines}
        if any(row["status"] != Status.CONVERGED.name for row in rows):
            cells["status"] = run["status"].lower().replace("_", " ")
        shown.append(cells)
    names = list(shown[0])
    for name in ("", *DROPPED):
        names = [each for each in names if each != name]
        table = _table({each: f"{{{each}}}" for each in names}, shown)
        if console.measure(table, options=console.options.update(max_width=1000)).maximum <= console.width:
            break
    console.print(Text(heading(problem)))
    console.print(table)
    console.print(Text(_in_common(rows)))


def _in_common(rows: list[dict[str, Any]]) -> str:
    """Return what all runs have in common, in sentences."""
    solved = [row for row in rows if row["status"] == Status.CONVERGED.name]
    said = "--wide: all columns."
    if len(solved) > 1:
        counts, spread = [row["support_vectors"] for row in solved], objective_spread(rows)
        low, high = min(counts), max(counts)
        support = f"{low}" if low == high else f"{low} to {high}"
        said = (
            f"The objectives agree to {spread:.1e}: {solved[0]['objective']:.10g}, with {support} support vectors and "
            f"a training error of {solved[0]['training_error']:.4f}. {said}"
        )
    return said


def status_of(row: Mapping[str, Any]) -> str:
    """Return why a run ended, in words."""
    return str(row["status"]).lower().replace("_", " ")


def scores_of(row: Mapping[str, Any]) -> Columns:
    """Return the columns of the scores that a row has."""
    return dict(column for name, column in SCORES.items() if name in row)


def heading(problem: dict[str, Any]) -> str:
    """Return the heading of a problem: the data, the kernel, C or ν, ε, and the tolerance."""
    kernel = dict(problem["kernel"])
    name = kernel.pop("name")
    parameters = ", ".join(f"{key}={value:.6g}" for key, value in kernel.items())
    own = ("nu", "tol") if "nu" in problem else ("C", "epsilon", "tol")
    sizes = ", ".join(f"{key}={problem[key]:.6g}" for key in own if key in problem)
    return (
        f"{problem['data']}: {problem['n']} examples, {problem['d']} features; {name} kernel"
        f"{f' ({parameters})' if parameters else ''}, {sizes}"
    )


def repetition_table(problems: list[dict[str, Any]], repeats: int, rows: list[dict[str, Any]]) -> None:
    """Print the problems, and means over the orders, a line for each problem and strategy."""
    limited = any(row["converged"] < row["runs"] for row in rows)
    columns: Columns = {
        "data": "{data}",
        **CHOICE,
        "iterations": lambda row: row["iterations"].show(),
        "iterations /\nthe first's": lambda row: ratio_of(row["iterations"].ratio),
        "p": lambda row: p_value(row["iterations"].p),
        "kernel rows": lambda row: row["kernel_rows"].show(),
        "seconds": lambda row: row["seconds"].show(3),
        "objective": "{objective.mean:.8g}",
        "converged": "{converged} of {runs}" if limited else None,
    }
    for problem in problems:
        typer.echo(heading(problem))
    title = f"Means ± standard deviations over {repeats} order{'' if repeats == 1 else 's'} of the examples"
    print_table(title, columns, rows)


def print_table(heading: str, columns: Columns, rows: list[Any]) -> None:
    """Print a table as wide as it needs to be: numbers must not be cut off where stdout is narrow, or no terminal."""
    table = _table(columns, rows)
    console = Console(highlight=False)  # no colours for numbers
    console.width = max(
        console.width, console.measure(table, options=console.options.update(max_width=1000)).maximum
    )
    # the terminal may break a heading; a file gets it in one line
    console.print(Text(heading), soft_wrap=True)
    console.print(table)


def _table(columns: Columns, rows: list[Any]) -> Table:
    """Return the table of these columns."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    shown = {name: column for name, column in columns.items() if column is not None}
    for name in shown:
        table.add_column(name, justify="left" if name in TEXT else "right", no_wrap=True)
    for row in rows:
        table.add_row(*(Text(c.format_map(row) if isinstance(c, str) else c(row)) for c in shown.values()))
    return table


def unseen(text: str) -> None:
    """Show nothing."""


@contextmanager
def working(console: Console | None = None) -> Iterator[Callable[[str], None]]:
    """One line on stderr with the seconds so far, which goes away in the end.

    The function yielded shows another text; it is `unseen` without a terminal. The progress that the package logs
    is shown, too.
    """
    console = Console(stderr=True) if console is None else console
    # in a file or a pipe a progress line would be many lines
    if not is_watched(console.is_terminal):
        yield unseen
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as shown:
        task = shown.add_task("working")

        def show(text: str) -> None:
            shown.update(task, description=text, refresh=True)

        with listening(lambda record: show(record.getMessage())):
            yield show


@contextmanager
def counter(console: Console | None = None) -> Iterator[Callable[[int, int], None]]:
    """Show the number of finished runs on stderr."""
    with working(console) as show:
        yield lambda done, total: show(f"{done}/{total} runs")


@contextmanager
def progress(total: int, console: Console | None = None) -> Iterator[Watch]:
    """Show the progress of a comparison on stderr."""
    with working(console) as show:
        position, last = 0, -math.inf

        def watch(choice: Choice) -> Callable[[SolverState], object] | None:
            nonlocal position
            position += 1
            line = f"{position}/{total}  {choice}"

            def look(state: SolverState) -> None:
                nonlocal last
                if time.monotonic() - last > REFRESH_SECONDS:
                    last = time.monotonic()
                    show(f"{line}: {state.iteration} iterations, KKT gap {state.gap:.1e}")

            show(line)
            return None if show is unseen else look

        yield watch
