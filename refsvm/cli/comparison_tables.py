"""Prints tables of a comparison: all columns with --wide, otherwise the columns that fit into the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from rich.console import Console
from rich.text import Text

from refsvm import Status
from refsvm.cli import tables
from refsvm.cli.comparison import objective_spread
from refsvm.cli.tables import Columns
from refsvm.experiment.grid import p_value, ratio_of
from refsvm.services.printable import printable

CHOICE: Final[Columns] = {
    "selector": "{selector}",
    "step": "{step}",
    "shrinking": lambda row: "yes" if row["shrinking"] else "no",
    "engine": "{engine}",
}

DROPPED: Final = ("rows", "p", "shrink", "/ first", "numpy s")
"""Columns that a narrow terminal omits, in this order."""


def comparison_table(problem: dict[str, Any], rows: list[dict[str, Any]], wide: bool = False) -> None:
    """Print the heading of a problem and the table of its runs."""
    console = tables.screen()
    if not wide:
        tell(console, tables.heading(problem))
        tell(console, "")
        _narrow_table(console, rows)
        tell(console, f"{said_of(rows)} --wide: all columns.")
        return
    columns: Columns = {
        **CHOICE,
        "iterations": "{iterations}",
        "kernel\nrows": "{kernel_rows}",
        "seconds": lambda row: seconds(row["seconds"]),
        "objective": "{objective:.10g}",
        "KKT\ngap": "{kkt_gap:.1e}",
        "duality\ngap": "{duality_gap:.1e}",
        "training\nerror": "{training_error:.4f}",
        "support\nvectors": "{support_vectors}",
        "status": None if all(map(is_solved, rows)) else tables.status_of,
    }
    tables.print_table(tables.heading(problem), columns, rows)
    tables.echo(said_of(rows))
    first_use = sum(row["first_use_seconds"] for row in rows)
    tables.echo(f"Not included: {first_use:.2f} s to compile the strategies or load their compiled code.")


def repetition_table(
    problems: list[dict[str, Any]], repeats: int, rows: list[dict[str, Any]], wide: bool = False
) -> None:
    """Print a heading for each problem, and a table with means over the orders of the examples."""
    title = "" if repeats == 1 else f"Means ± standard deviations over {repeats} orders of the examples"
    console = tables.screen()
    if not wide:
        for problem in problems:
            tell(console, tables.heading(problem))
        tell(console, title)
        _narrow_table(console, rows)
        tell(console, f"{fewest_steps(rows)} --wide: all columns.")
        return
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
        tables.echo(tables.heading(problem))
    tables.print_table(title, columns, rows)
    tables.echo(fewest_steps(rows))


def tell(console: Console, text: str) -> None:
    """Print a sentence, wrapped at the width of the terminal."""
    console.print(Text(printable(text)))


def _narrow_table(console: Console, rows: list[dict[str, Any]]) -> None:
    """Print a line for each selector and step, with each engine's seconds; omit columns if the terminal is narrow."""
    strategies: dict[tuple[Any, ...], dict[str, dict[str, Any]]] = {}
    for row in rows:
        place = row.get("data", ""), row["selector"], row["step"], row["shrinking"]
        strategies.setdefault(place, {})[row["engine"]] = row
    engines = list(dict.fromkeys(row["engine"] for row in rows))
    firsts: dict[str, float] = {}
    shown = []
    for (data, selector, step, shrinks), runs in strategies.items():
        run = next(iter(runs.values()))
        first = firsts.setdefault(data, mean(run["iterations"]))
        cells = {"data": data} if data else {}
        cells |= {
            "selector": selector, "step": step, "shrink": "yes" if shrinks else "no",
            "steps": counted(run["iterations"]), "/ first": f"{mean(run['iterations']) / max(first, 1):.2f}",
        }  # fmt: skip
        if data and run["iterations"].sd is not None:
            cells["p"] = p_value(run["iterations"].p)
        cells["rows"] = counted(run["kernel_rows"])
        cells |= {
            f"{each} s": seconds(mean(runs[each]["seconds"])) if each in runs else "–" for each in engines
        }
        if not all(map(is_solved, rows)):
            is_one_run = "status" in run
            cells["status"] = tables.status_of(run) if is_one_run else f"{run['converged']} of {run['runs']}"
        shown.append(cells)
    names = list(shown[0])
    for name in ("", *DROPPED):
        names = [each for each in names if each != name]
        table = tables.table_of({each: f"{{{each}}}" for each in names}, shown)
        if console.measure(table, options=console.options.update(max_width=1000)).maximum <= console.width:
            break
    console.print(table)


def is_solved(row: Mapping[str, Any]) -> bool:
    """Return whether all runs of a row converged."""
    return bool(
        row["status"] == Status.CONVERGED.name if "status" in row else row["converged"] == row["runs"]
    )


def mean(value: Any) -> float:
    """Return the mean of a `Summary`; return a number unchanged."""
    return float(getattr(value, "mean", value))


def counted(value: Any) -> str:
    """Return the text of a count, or of the mean and the deviation of several counts."""
    return value.show(3) if hasattr(value, "show") else f"{value:,}"


def seconds(value: float) -> str:
    """Return a number of seconds as tables show it."""
    return f"{value:.4f}" if value < 10 else f"{value:.1f}"


def said_of(rows: list[dict[str, Any]]) -> str:
    """Return sentences that describe the runs of one problem."""
    text, solved = fewest_steps(rows), [row for row in rows if is_solved(row)]
    if len(solved) > 1:
        counts = [row["support_vectors"] for row in solved]
        low, high = min(counts), max(counts)
        text += (
            f" The objectives agree to {objective_spread(rows):.1e} (relative): {solved[0]['objective']:.10g}, with "
            f"{low if low == high else f'{low} to {high}'} support vectors and a training error of "
            f"{solved[0]['training_error']:.4f}."
        )
    return text


def fewest_steps(rows: Iterable[Mapping[str, Any]]) -> str:
    """Return sentences that name, for each data set, the converged strategy with the fewest steps."""
    best: dict[str, Mapping[str, Any]] = {}
    for row in filter(is_solved, rows):
        data = row.get("data", "")
        if data not in best or mean(row["iterations"]) < mean(best[data]["iterations"]):
            best[data] = row
    if not best:
        return "No strategy converged."
    each = [
        f"{f'on {data}: ' if data else ''}{row['selector']} with {row['step']} steps"
        f"{' and shrinking' if row['shrinking'] else ''} ({mean(row['iterations']):,.0f})"
        for data, row in best.items()
    ]
    return f"Fewest steps{': ' if '' in best else ' '}{'; '.join(each)}."
