"""``refsvm loo``: the leave-one-out error, or seeders and stopping rules side by side on it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from itertools import product
from typing import Annotated, Any

import typer

from refsvm._checks import positive
from refsvm.cli import options, tables
from refsvm.cli.choices import SEEDERS, STOPS, names
from refsvm.cli.data import described, kernel_and_penalty, label_text, open_labelled
from refsvm.cli.messages import INTERRUPTED, note
from refsvm.datasets import Dataset, binary_labels
from refsvm.experiment.leave_one_out import LeaveOneOutError
from refsvm.experiment.problem import Instance
from refsvm.resampling.leave_one_out import leave_one_out
from refsvm.resampling.result import LeaveOneOut
from refsvm.result import Status

__all__ = ["loo"]

FIT: tuple[str, ...] = tuple(name for name in STOPS if name != "working-set-gap")


def loo(
    data: options.Data,
    seeders: options.Seeders = "top",
    stops: Annotated[
        str, typer.Option(metavar="NAMES", help=f"Some of {', '.join(FIT)}; or all.")
    ] = "kkt-gap",
    engine: options.Engine = "auto",
    n_jobs: options.Threads = None,
    kernel: options.KernelName = "rbf",
    gamma: options.Gamma = None,
    C: options.Penalty = None,
    degree: options.Degree = 3,
    coef0: options.Coef0 = 0.0,
    tol: options.Tol = 1e-3,
    cache_mb: options.CacheMB = 200.0,
    max_iter: options.MaxIter = None,
    time_limit: options.TimeLimit = None,
    label: options.Label = None,
    data_dir: options.DataDir = None,
    json: options.Json = False,
) -> None:
    """Compute the exact leave-one-out error of two classes, and say what decided each example.

    With several seeders or stopping rules, they are compared: steps, kernel rows, seconds, and how many examples each
    check and rule decided.
    """
    chosen_seeders, chosen_stops = (
        names("seeders", seeders, SEEDERS),
        names("stops", stops, dict.fromkeys(FIT)),
    )
    dataset = open_labelled(data, label, data_dir)
    width, penalty = kernel_and_penalty(dataset, kernel, gamma, C, degree, coef0)
    description = described(dataset) | {"kernel": {"name": kernel, **asdict(width)}, "C": penalty, "tol": tol}
    limits: dict[str, Any] = {
        "cache_mb": positive("cache_mb", cache_mb),
        "engine": engine,
        "max_iter": max_iter,
    }
    labels = binary_labels(dataset.y)
    wanted = [(s, t, SEEDERS[s](), STOPS[t](tol=tol)) for s, t in product(chosen_seeders, chosen_stops)]  # type: ignore[call-arg]
    if len(wanted) == 1:
        _, _, seeder, stop = wanted[0]
        rules: dict[str, Any] = {"seeder": seeder, "stop": stop, "n_jobs": n_jobs, "time_limit": time_limit}
        with tables.counter() as count:
            result = leave_one_out(
                dataset.X, labels, kernel=width, C=penalty, callback=count, **rules, **limits
            )
        _show(dataset, description, result, json)
        return
    instance = Instance(dataset.X, labels, width, penalty)
    rows: list[dict[str, Any]] = []
    with tables.counter() as count:
        for seeder_name, stop_name, seeder, stop in wanted:
            count(len(rows), len(wanted))
            strategy = LeaveOneOutError("", seeder=seeder, stop=stop, **limits)
            strategy.warm_up()
            rows.append({"seeder": seeder_name, "stop": stop_name} | strategy.run(instance))
    if json:
        tables.print_json({"problem": description, "runs": rows})
    else:
        tables.print_table(tables.heading(description), COLUMNS, rows, names=("seeder", "stop"))


COLUMNS: dict[str, Callable[[dict[str, Any]], str]] = {
    "seeder": lambda row: row["seeder"],
    "stop": lambda row: row["stop"],
    "error": lambda row: f"{row['error']:.4f}",
    "rounds": lambda row: str(row["rounds"]),
    "steps of\nthe rounds": lambda row: str(row["round_iterations"]),
    "kernel\nrows": lambda row: str(row["kernel_rows"]),
    "seconds": lambda row: f"{row['seconds']:.4f}",
    "zero\nalpha": lambda row: str(row["zero alpha"]),
    "training\nerror": lambda row: str(row["training error"]),
    "xi-alpha\nbound": lambda row: str(row["xi-alpha bound"]),
    "duality\ngap": lambda row: str(row["duality gap"]),
    "KKT\ngap": lambda row: str(row["kkt"]),
}


def _show(dataset: Dataset, description: dict[str, Any], result: LeaveOneOut, json: bool) -> None:
    """Print the error, what decided how many examples, and what n fits would have cost."""
    full, decided = result.full_solution, sum(result.counts.values())
    if json:
        document = {
            "problem": description,
            "error": result.error,
            "complete": result.is_complete,
            "status": result.status.name,
            "decided": result.counts,
            "predictions": [label_text(value) for value in result.predictions],
            "decided_by": result.decided_by.tolist(),
            "decision_values": result.decision_values.tolist(),
            "iterations": result.iterations,
            "kernel_rows": result.kernel_rows,
            "seconds": result.seconds,
            "engine": result.engine,
            "full_iterations": full.iterations,
            "full_seconds": full.seconds,
        }
        tables.print_json(document)
    else:
        typer.echo(tables.heading(description))
        wrong = int((result.predictions != result.labels)[result.decided_by != ""].sum())
        typer.echo(f"leave-one-out error {result.error:.4f}: {wrong} of {decided} examples")
        typer.echo(", ".join(f"{name}: {count}" for name, count in result.counts.items() if count))
        typer.echo(
            f"{result.iterations} steps in {result.seconds:.4f} s; {dataset.n} fits like the first would take about "
            f"{dataset.n * full.iterations} steps and {dataset.n * full.seconds:.4f} s"
        )
    if not result.is_complete:
        note(f"note: incomplete, {decided} of {dataset.n} examples are decided: {result.status.value}")
    if result.status is Status.INTERRUPTED:
        raise typer.Exit(INTERRUPTED)
