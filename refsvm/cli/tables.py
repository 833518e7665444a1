"""What is printed on stdout: tables for people, JSON for programs; and the progress line on stderr."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

import typer
from rich import box
from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from refsvm.cli.comparison import Choice, Outcome, Watch, objective_spread
from refsvm.datasets import Dataset
from refsvm.experiment.comparison import Summary
from refsvm.experiment.grid import p_value, ratio_of
from refsvm.result import Status
from refsvm.state import SolverState

__all__ = ["comparison_table", "datasets_table", "heading", "print_json", "print_table", "progress"]

_REFRESH_SECONDS = 0.2  # seconds between two states of the progress line


def print_json(document: Any) -> None:
    """Print one JSON document; numbers that JSON does not have become null."""
    typer.echo(json.dumps(_strict(document), indent=2, ensure_ascii=False, allow_nan=False))


def _strict(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _strict(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [_strict(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def comparison_document(problem: dict[str, Any], outcome: Outcome) -> dict[str, Any]:
    """Return what ``compare --json`` prints."""
    return {
        "problem": problem,
        "runs": outcome.rows,
        "left_out": _left_out(outcome),
        "objective_spread": objective_spread(outcome.rows),
        "interrupted": outcome.interrupted,
    }


def _left_out(outcome: Outcome) -> list[dict[str, Any]]:
    return [{**asdict(choice), "reason": reason} for choice, reason in outcome.left_out]


def comparison_table(problem: dict[str, Any], rows: list[dict[str, Any]]) -> None:
    """Print the problem, and the runs, a line each."""
    columns: dict[str, Callable[[dict[str, Any]], str]] = {
        "selector": lambda row: row["selector"],
        "step": lambda row: row["step"],
        "shrinking": lambda row: "yes" if row["shrinking"] else "no",
        "engine": lambda row: row["engine"],
        "iterations": lambda row: str(row["iterations"]),
        "kernel\nrows": lambda row: str(row["kernel_rows"]),
        "seconds": lambda row: f"{row['seconds']:.4f}" if row["seconds"] < 10 else f"{row['seconds']:.1f}",
        "objective": lambda row: f"{row['objective']:.10g}",
        "KKT\ngap": lambda row: f"{row['kkt_gap']:.1e}",
        "duality\ngap": lambda row: f"{row['duality_gap']:.1e}",
        "training\nerror": lambda row: f"{row['training_error']:.4f}",
        "support\nvectors": lambda row: str(row["support_vectors"]),
    }
    if any(row["status"] != Status.CONVERGED.name for row in rows):
        columns["status"] = lambda row: row["status"].lower().replace("_", " ")
    print_table(heading(problem), columns, rows, names=("selector", "step", "shrinking", "engine", "status"))
    for line in _remarks(rows):
        typer.echo(line)


def heading(problem: dict[str, Any]) -> str:
    """Say what was solved: the data, the kernel, C and the tolerance."""
    kernel = dict(problem["kernel"])
    name = kernel.pop("name")
    parameters = ", ".join(f"{key}={value:.6g}" for key, value in kernel.items())
    return (
        f"{problem['data']}: {problem['n']} examples, {problem['d']} features; {name} kernel"
        f"{f' ({parameters})' if parameters else ''}, C={problem['C']:.6g}, tol={problem['tol']:.6g}"
    )


def _remarks(rows: list[dict[str, Any]]) -> list[str]:
    """Say what the table cannot show."""
    first_use = sum(row["first_use_seconds"] for row in rows)
    remarks = [f"Not counted: {first_use:.2f} s to compile the strategies or load their compiled code."]
    if sum(row["status"] == Status.CONVERGED.name for row in rows) > 1:
        remarks.insert(0, f"The objectives agree to {objective_spread(rows):.1e} (relative).")
    return remarks


def repetition_document(problems: list[dict[str, Any]], repeats: int, outcome: Outcome) -> dict[str, Any]:
    """Return what ``compare --json`` prints of an experiment."""
    return {
        "problems": problems,
        "repeats": repeats,
        "results": [
            {name: asdict(value) if isinstance(value, Summary) else value for name, value in row.items()}
            for row in outcome.rows
        ],
        "left_out": _left_out(outcome),
        "interrupted": outcome.interrupted,
    }


def repetition_table(problems: list[dict[str, Any]], repeats: int, rows: list[dict[str, Any]]) -> None:
    """Print the problems, and means over the orders, a line for each problem and strategy."""
    columns: dict[str, Callable[[dict[str, Any]], str]] = {
        "data": lambda row: row["data"],
        "selector": lambda row: row["selector"],
        "step": lambda row: row["step"],
        "shrinking": lambda row: "yes" if row["shrinking"] else "no",
        "engine": lambda row: row["engine"],
        "iterations": lambda row: row["iterations"].show(),
        "iterations /\nthe first's": lambda row: ratio_of(row["iterations"].ratio),
        "p": lambda row: p_value(row["iterations"].p),
        "kernel rows": lambda row: row["kernel_rows"].show(),
        "seconds": lambda row: row["seconds"].show(3),
        "objective": lambda row: f"{row['objective'].mean:.8g}",
    }
    if any(row["converged"] < row["runs"] for row in rows):
        columns["converged"] = lambda row: f"{row['converged']} of {row['runs']}"
    for problem in problems:
        typer.echo(heading(problem))
    title = f"Means ± standard deviations over {repeats} order{'' if repeats == 1 else 's'} of the examples"
    print_table(title, columns, rows, names=("data", "selector", "step", "shrinking", "engine"))


def datasets_table(datasets: Iterable[Dataset]) -> None:
    """Print the data sets, a line each."""
    columns: dict[str, Callable[[Dataset], str]] = {
        "name": lambda data: data.name,
        "n": lambda data: str(data.n),
        "d": lambda data: str(data.d),
        "licence": lambda data: data.licence,
        "source": lambda data: data.source,
    }
    print_table("Bundled data sets", columns, list(datasets), names=("name", "licence", "source"))


def print_table(
    heading: str, columns: dict[str, Callable[[Any], str]], rows: list[Any], names: tuple[str, ...]
) -> None:
    """Print a table as wide as it needs to be: numbers must not be cut off where stdout is narrow, or no terminal."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    for name in columns:
        table.add_column(name, justify="left" if name in names else "right", no_wrap=True)
    for row in rows:
        table.add_row(*(Text(column(row)) for column in columns.values()))
    console = Console(highlight=False)
    console.width = max(
        console.width, console.measure(table, options=console.options.update(max_width=1000)).maximum
    )
    console.print(Text(heading), soft_wrap=True)
    console.print(table)


@contextmanager
def counter(console: Console | None = None) -> Iterator[Callable[[int, int], None]]:
    """One line on stderr that tells how many runs are finished; nothing where stderr is no terminal."""
    console = Console(stderr=True) if console is None else console
    if not console.is_terminal:
        yield lambda done, total: None
        return
    with Live(console=console, auto_refresh=False, transient=True) as live:
        yield lambda done, total: live.update(Text(f"{done}/{total} runs"), refresh=True)


@contextmanager
def progress(total: int, console: Console | None = None) -> Iterator[Watch]:
    """One line on stderr that tells how far a comparison is; nothing where stderr is no terminal."""
    console = Console(stderr=True) if console is None else console
    if not console.is_terminal:
        yield lambda choice: None
        return
    position, shown = 0, -math.inf
    with Live(console=console, auto_refresh=False, transient=True) as live:

        def show(line: str) -> None:
            nonlocal shown
            shown = time.monotonic()
            live.update(Text(line, no_wrap=True, overflow="ellipsis"), refresh=True)

        def watch(choice: Choice) -> Callable[[SolverState], object]:
            nonlocal position
            position += 1
            line = f"{position}/{total}  {choice}"

            def look(state: SolverState) -> None:
                if time.monotonic() - shown > _REFRESH_SECONDS:
                    show(f"{line}: {state.iteration} iterations, KKT gap {state.gap:.1e}")

            show(line)
            return look

        yield watch
