"""``refsvm cv``: k-fold cross-validation with each seeder, side by side."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Annotated, Any

import numpy as np
import typer

from refsvm._checks import whole
from refsvm.cli import options
from refsvm.cli.choices import SEEDERS, names
from refsvm.cli.data import described, kernel_and_penalty, open_labelled
from refsvm.cli.messages import INTERRUPTED, note
from refsvm.cli.tables import print_json, print_table
from refsvm.experiment.comparison import paired_p
from refsvm.experiment.grid import p_value, ratio_of
from refsvm.resampling.cross_validation import CrossValidation, cross_validate
from refsvm.result import Status
from refsvm.stopping import KKTGap

__all__ = ["cv"]


def cv(
    data: options.Data,
    folds: Annotated[
        int, typer.Option(metavar="K", help="Number of folds; as many as examples: leave-one-out.")
    ] = 10,
    seeders: options.Seeders = "cold,sir",
    chained: Annotated[
        bool,
        typer.Option(
            "--chained", help="Start each round from the one before, not from the solution on all examples."
        ),
    ] = False,
    stratified: Annotated[
        bool, typer.Option("--stratified", help="Share each class equally among the folds.")
    ] = False,
    repeats: Annotated[
        int,
        typer.Option(metavar="N", help="Random folds to try; paired tests compare the seeders from 6 on."),
    ] = 1,
    seed: Annotated[int, typer.Option(metavar="NUMBER", help="Of the first random folds.")] = 0,
    n_jobs: options.Threads = None,
    engine: options.Engine = "auto",
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
    """Estimate the error of a classifier, of two classes or more, by cross-validation."""
    wanted = names("seeders", seeders, SEEDERS)
    whole("repeats", repeats, 1)
    dataset = open_labelled(data, label, data_dir)
    chosen, penalty = kernel_and_penalty(dataset, kernel, gamma, C, degree, coef0)
    results: dict[str, list[CrossValidation]] = {name: [] for name in wanted}
    for repeat, name in product(range(repeats), wanted):
        result = cross_validate(
            dataset.X, dataset.y, kernel=chosen, C=penalty, folds=folds, seeder=SEEDERS[name](),
            from_full=not chained, stratified=stratified, rng=seed + repeat, n_jobs=n_jobs,
            engine=engine, cache_mb=cache_mb, stop=KKTGap(tol), max_iter=max_iter, time_limit=time_limit,
        )  # fmt: skip
        if result.status is Status.INTERRUPTED:
            break
        results[name].append(result)
    finished = sum(len(found) for found in results.values())
    # each random split counts for all seeders, or for none
    results = {name: found[: max(1, len(results[wanted[-1]]))] for name, found in results.items() if found}
    rows = [row_of(name, found, results[wanted[0]]) for name, found in results.items()]
    parameters = {"kernel": repr(chosen), "C": penalty, "folds": folds, "repeats": repeats, "tol": tol}
    if json:
        print_json({"problem": described(dataset) | parameters, "seeders": rows})
    elif rows:
        heading = f"{dataset.name}: {dataset.n} examples; {chosen!r}, C={penalty:.6g}, {folds} folds" + (
            f"; means over {len(results[wanted[0]])} random folds" if repeats > 1 else ""
        )
        _table(heading, rows)
    if result.status is Status.INTERRUPTED:
        note(f"note: Interrupted; {finished} of {repeats * len(wanted)} runs are finished")
        if result.rounds:
            note(
                f"note: {name} was at round {len(result.rounds) + 1}; the error so far is {result.error:.4f}"
            )
        raise typer.Exit(INTERRUPTED)


def row_of(name: str, found: list[CrossValidation], baseline: list[CrossValidation]) -> dict[str, Any]:
    """Return what is told of one seeder: means over the repeats, and a test against the first seeder."""
    iterations = [float(each.iterations) for each in found]
    others = [float(each.iterations) for each in baseline]
    unfinished = sum(r.status is not Status.CONVERGED for each in found for r in each.rounds)
    return {
        "seeder": name,
        "error": float(np.mean([each.error for each in found])),
        "iterations": float(np.mean(iterations)),
        "ratio": float(np.mean(iterations)) / max(1.0, float(np.mean(others))),
        "p": None if found is baseline else paired_p(iterations, others),
        "kernel_rows": float(np.mean([each.kernel_rows for each in found])),
        "seed_seconds": float(np.mean([each.seed_seconds for each in found])),
        "solve_seconds": float(np.mean([each.solve_seconds for each in found])),
        "seconds": float(np.mean([each.seconds for each in found])),
        "unfinished_rounds": unfinished,
    }


def _table(heading: str, rows: list[dict[str, Any]]) -> None:
    """Print a line for each seeder."""
    columns: dict[str, Callable[[dict[str, Any]], str]] = {
        "seeder": lambda row: row["seeder"],
        "error": lambda row: f"{row['error']:.4f}",
        "iterations": lambda row: f"{row['iterations']:.0f}",
        "iterations /\nthe first's": lambda row: ratio_of(row["ratio"]),
        "p": lambda row: p_value(row["p"]),
        "kernel\nrows": lambda row: f"{row['kernel_rows']:.0f}",
        "seconds of\nseeds": lambda row: f"{row['seed_seconds']:.4f}",
        "seconds\nfrom there": lambda row: f"{row['solve_seconds']:.4f}",
        "seconds\nin all": lambda row: f"{row['seconds']:.4f}",
    }
    if any(row["unfinished_rounds"] for row in rows):
        columns["unfinished\nrounds"] = lambda row: str(row["unfinished_rounds"])
    print_table(heading, columns, rows, names=("seeder",))
