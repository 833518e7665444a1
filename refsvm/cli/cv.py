"""``refsvm cv``: cross-validates, and compares the costs of several seeders side by side."""

from __future__ import annotations

from functools import partial
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Final

import numpy as np

from refsvm import Status, cross_validate
from refsvm.analysis.resampling import CrossValidation
from refsvm.cli import options, tables
from refsvm.cli.choices import SEEDERS, names
from refsvm.cli.data import Opened, Output, Training
from refsvm.cli.messages import interrupted
from refsvm.cli.options import flag, option
from refsvm.cli.pictures import bars
from refsvm.compiled.warming import prepare
from refsvm.core._checks import whole
from refsvm.core.engine.limits import interruptible
from refsvm.experiment import CrossValidate
from refsvm.experiment.comparison import summarise
from refsvm.experiment.grid import p_value, ratio_of
from refsvm.services.summary import counted

COSTS: Final = ("iterations", "kernel_rows", "seed_seconds", "solve_seconds", "seconds")
"""Costs of the rounds, in the order of the columns."""


@options.in_one()
def cv(
    data: options.Data,
    folds: Annotated[int, option("K", "Number of folds; as many folds as examples are leave-one-out.")] = 10,
    seeders: options.SeedersOrOne = None,
    chained: Annotated[
        bool,
        flag("--chained", "Start each round from the one before, not from the solution on all examples."),
    ] = False,
    stratified: Annotated[bool, flag("--stratified", "Share each class equally among the folds.")] = False,
    repeats: Annotated[
        int, option("N", "Random folds to try; paired tests compare the seeders from 6 on.")
    ] = 1,
    seed: Annotated[int, option("NUMBER", "Seed of the first random folds.")] = 0,
    n_jobs: options.Threads = None,
    engine: options.Engine = "auto",
    *,
    training: Training,
    output: Output,
) -> None:
    """Estimate the error of a classifier, a regression or a novelty detector by cross-validation.

    With --seeders, the command repeats the cross-validation with the starting points of each seeder, and compares the
    costs of the seeders.
    """
    # check the names of all seeders first, because reading the data may take long
    default = "sir" if chained else "avg"
    wanted = [default] if seeders is None else names("seeders", seeders, SEEDERS)
    whole("repeats", repeats, 1)
    output.refuse_unwritable(training.place_of(data))
    opened, seeds = training.opened(data), range(seed, seed + repeats)
    how = {"from_full": not chained, "stratified": stratified, "n_jobs": n_jobs, "engine": engine}
    results, last = _runs(opened, wanted, seeds, training.settings(opened) | how | {"folds": folds})
    finished = sum(len(runs) for runs in results.values())
    # drop a random split that a seeder has not finished, so that all seeders have the same splits
    results = {name: runs[: max(1, len(results[wanted[-1]]))] for name, runs in results.items() if runs}
    rows = [row_of(name, runs, results[wanted[0]]) for name, runs in results.items()]
    if rows or output.json or seeders is None:
        orders = max(map(len, results.values()), default=0)
        problem = training.described(opened, training.stop(opened)) | {"folds": folds, "repeats": repeats}
        heading = f"{tables.heading(problem)}, {folds} folds"
        heading += f"; means over {orders} random folds" if repeats > 1 else ""
        document: dict[str, Any] = {"problem": problem, "seeders": rows}
        if last.status is Status.INTERRUPTED:
            document["interrupted"] = {"bounds": last.bounds}
        tell = partial(_tell, heading, results.get(wanted[0], [last]))
        if seeders is not None:
            tell = partial(tables.print_table, heading, columns(rows), rows)
        output.show(document, rows, tell)
    _draw(rows, output.plot)
    _end(last, wanted, finished, repeats)


def _tell(heading: str, runs: list[CrossValidation]) -> None:
    """Print the result of one cross-validation, or the means over several cross-validations."""
    tables.echo(heading)
    if len(runs) == 1:
        tables.echo(f"{runs[0]}\n")
    else:
        name = runs[0].of_folds[0]
        scores, errors = ([getattr(each, key) for each in runs] for key in (name, "standard_error"))
        tables.echo(
            f"{name} {np.mean(scores):.4g} ± {np.mean(errors):.4g}, {min(scores):.4g} to {max(scores):.4g}"
        )
    tables.echo("--seeders cold,sir shows the cost from other starts")


def _end(last: CrossValidation, wanted: list[str], finished: int, repeats: int) -> None:
    """After Ctrl-C, print a note that says how many runs are finished, and exit."""
    if last.status is not Status.INTERRUPTED:
        return
    sentences = [f"Interrupted; {finished} of {repeats * len(wanted)} runs are finished"]
    if last.rounds:
        name, at = wanted[finished % len(wanted)], len(last.rounds) + 1
        score, (low, high) = next(iter(last.bounds.items()))
        sentences.append(f"{name} was at round {at}; its {score} is between {low:.4g} and {high:.4g}")
    interrupted(*sentences)


def _runs(
    opened: Opened, wanted: list[str], seeds: range, settings: dict[str, Any]
) -> tuple[dict[str, list[CrossValidation]], CrossValidation]:
    """Cross-validate with every seeder on each random split; return the finished runs, and the last result."""
    results: dict[str, list[CrossValidation]] = {name: [] for name in wanted}
    arguments = opened.instance().arguments()
    with interruptible():  # show the finished runs after Ctrl-C
        for seed, name in product(seeds, wanted):
            if seed == seeds[0]:  # compile before the seconds are measured
                how = {key: settings[key] for key in ("from_full", "engine")}
                CrossValidate(name, SEEDERS[name](), **how).warm_up()
                prepare(SEEDERS[name]())
            result = cross_validate(**arguments, seeder=SEEDERS[name](), rng=seed, **settings)
            # discard an interrupted run, because its test error is not known
            if result.status is Status.INTERRUPTED:
                break
            results[name].append(result)
    return results, result


def _draw(rows: list[dict[str, Any]], file: Path | None) -> None:
    """If --plot was given, draw the seconds of each seeder."""
    if file is None or not rows:
        return
    parts = {"seeds": "seed_seconds", "rounds": "solve_seconds"}
    spent = {part: [row[key] for row in rows] for part, key in parts.items()}
    notes = [
        f"{row['seeder']} used {counted(row['unfinished_rounds'], 'unsolved round')}."
        for row in rows
        if row["unfinished_rounds"]
    ]
    bars(file, [row["seeder"] for row in rows], spent, "seconds", notes)


def row_of(name: str, runs: list[CrossValidation], baseline: list[CrossValidation]) -> dict[str, Any]:
    """Return the table row of one seeder: means over the random splits, and a test against the first seeder."""
    means = {
        metric: float(np.mean([getattr(each, metric) for each in runs]))
        for metric in (*runs[0].scores, *COSTS)
    }
    # the test compares the runs of two seeders on the same splits
    own, first = ({k: each.iterations for k, each in enumerate(some)} for some in (runs, baseline))
    compared = summarise(own, first)
    return {
        "seeder": name,
        **means,
        "standard_error": float(np.mean([each.standard_error for each in runs])),
        "ratio": compared.ratio,
        "p": None if runs is baseline else compared.p,
        "unfinished_rounds": sum(r.status is not Status.CONVERGED for each in runs for r in each.rounds),
    }


def columns(rows: list[dict[str, Any]]) -> tables.Columns:
    """Return the columns of the table; if solves did not converge, a column counts these for each seeder."""
    return {
        "seeder": "{seeder}",
        **tables.scores_of(rows[0] if rows else {}),
        "iterations": "{iterations:.0f}",
        "iterations /\nthe first's": lambda row: ratio_of(row["ratio"]),
        "p": lambda row: p_value(row["p"]),
        "kernel\nrows": "{kernel_rows:.0f}",
        "seconds of\nseeds": "{seed_seconds:.4f}",
        "seconds\nfrom there": "{solve_seconds:.4f}",
        "seconds\nin all": "{seconds:.4f}",
        "unfinished\nrounds": "{unfinished_rounds}"
        if any(row["unfinished_rounds"] for row in rows)
        else None,
    }
