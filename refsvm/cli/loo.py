"""``refsvm loo``: the leave-one-out error, or seeders and stopping rules side by side on it."""

from __future__ import annotations

from functools import partial
from itertools import product
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from refsvm import Status
from refsvm._checks import is_sparse
from refsvm.cli import options, tables
from refsvm.cli.choices import SEEDERS, STOPS, names
from refsvm.cli.data import Output, Training, label_text
from refsvm.cli.messages import interrupted, note
from refsvm.cli.options import some_of
from refsvm.cli.pictures import bars, picture
from refsvm.datasets import binary_labels
from refsvm.experiment import Instance, LeaveOneOutError
from refsvm.rounds import LeaveOneOut

FIT: tuple[str, ...] = tuple(name for name in STOPS if name != "working-set-gap")


@options.in_one()
def loo(
    data: options.Data,
    seeders: options.Seeders = "top",
    stops: Annotated[str, some_of(FIT)] = "ball-rule",
    engine: options.Engine = "auto",
    n_jobs: options.Threads = None,
    *,
    training: Training,
    output: Output,
) -> None:
    """Compute the exact leave-one-out error of two classes, and say what decided each example.

    With several seeders or stopping rules, they are compared: steps, kernel rows, seconds, and how many examples each
    check and rule decided. ball-rule proves the sign of a decision value and ends there; kkt-gap goes on to the value.
    """
    pairs = list(product(names("seeders", seeders, SEEDERS), names("stops", stops, dict.fromkeys(FIT))))
    dataset, width, penalty, _ = training.opened(data)
    description = training.described(dataset, width, penalty)
    # made once: all strategies get the same arrays
    instance = Instance(dataset.X, binary_labels(dataset.y), width, penalty)
    limits: dict[str, Any] = training.limits() | {"engine": engine}
    more: dict[str, Any] = {"n_jobs": n_jobs, "time_limit": limits.pop("time_limit")}  # of each call
    rules = {t: STOPS[t](tol=training.tol, relative=True) for t in FIT}
    strategies = [
        LeaveOneOutError(f"{s} {t}", seeder=SEEDERS[s](), stop=rules[t], **limits) for s, t in pairs
    ]
    with tables.counter() as count:
        if len(strategies) == 1:
            # seconds are those of the rounds, not of loading compiled code
            strategies[0].warm_up()
            result = strategies[0].call(instance, **strategies[0].arguments(), callback=count, **more)
        rows: list[dict[str, Any]] = []
        for strategy in strategies if len(strategies) > 1 else ():
            count(len(rows), len(strategies))
            strategy.warm_up()
            seeder, stop = strategy.name.split()
            rows.append({"seeder": seeder, "stop": stop} | strategy.run(instance, **more))
    if len(strategies) == 1:
        document = {"problem": description, **strategies[0].measured(result)}
        _show(document, result, np.unique(dataset.y), output)
        if output.plot is not None:
            _draw(result, dataset.X, output.plot)
        _end(result)
        return
    _show_all(description, rows, output)


def _show_all(description: dict[str, Any], rows: list[dict[str, Any]], output: Output) -> None:
    """Print a line for each seeder and stopping rule, and draw their seconds."""
    output.show_table({"problem": description, "runs": rows}, rows, tables.heading(description), COLUMNS)
    if output.plot is not None:
        names, seconds = [f"{row['seeder']} {row['stop']}" for row in rows], [row["seconds"] for row in rows]
        bars(output.plot, names, {"": seconds}, "seconds")
    for row in rows:
        if row["status"] != Status.CONVERGED.name:
            note(f"note: {row['seeder']} {row['stop']} is incomplete: {Status[row['status']].value}")


COLUMNS: tables.Columns = {
    "seeder": "{seeder}",
    "stop": "{stop}",
    "error": "{error:.4f}",
    "rounds": "{rounds}",
    "steps of\nthe rounds": "{round_iterations}",
    "kernel\nrows": "{kernel_rows}",
    "seconds": "{seconds:.4f}",
    "zero\nalpha": "{zero alpha}",
    "training\nerror": "{training error}",
    "xi-alpha\nbound": "{xi-alpha bound}",
    "ball": "{ball}",
    "duality\ngap": "{duality gap}",
    "KKT\ngap": "{kkt}",
}


def _show(document: dict[str, Any], result: LeaveOneOut, classes: np.ndarray, output: Output) -> None:
    """Print the error, what decided how many examples, and what n fits would have cost."""
    each = {
        "predictions": [label_text(classes[int(value > 0)]) for value in result.predictions],
        "decided_by": result.decided_by.tolist(),
        "decision_values": result.decision_values.tolist(),
    }
    document |= {"complete": result.is_complete, "decided": result.counts, **each}
    rows = [dict(zip(each, row, strict=True)) for row in zip(*each.values(), strict=True)]
    output.show(document, rows, partial(_tell, document["problem"], result))


def _tell(description: dict[str, Any], result: LeaveOneOut) -> None:
    """Print a result in sentences."""
    full, decided, n = result.full_solution, sum(result.counts.values()), len(result.labels)
    typer.echo(tables.heading(description))
    wrong = int((result.predictions != result.labels)[result.decided_by != ""].sum())
    typer.echo(f"leave-one-out error {result.error:.4f}: {wrong} of {decided} examples")
    typer.echo(", ".join(f"{name}: {count}" for name, count in result.counts.items() if count))
    typer.echo(
        f"{result.iterations} steps in {result.seconds:.4f} s; {n} fits like the first would take about "
        f"{n * full.iterations} steps and {n * full.seconds:.4f} s"
    )


def _draw(result: LeaveOneOut, X: Any, file: Path) -> None:
    """Draw what decided each example of a plane, or how many examples each check and rule decided."""
    if X.shape[1] != 2 or is_sparse(X):
        counts = {name: count for name, count in result.counts.items() if count}
        bars(file, list(counts), {"": [float(count) for count in counts.values()]}, "examples decided")
        return
    from refsvm.display import LOODecisionDisplay

    with picture(file) as axes:
        LOODecisionDisplay.from_result(result, X, ax=axes[0])


def _end(result: LeaveOneOut) -> None:
    """Note if the result is not complete, and exit after Ctrl-C."""
    if not result.is_complete:
        decided, n = sum(result.counts.values()), len(result.labels)
        note(f"note: incomplete, {decided} of {n} examples are decided: {result.status.value}")
    if result.status is Status.INTERRUPTED:
        interrupted()
