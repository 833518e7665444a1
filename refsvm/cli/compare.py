"""``refsvm compare``: strategies side by side."""

from __future__ import annotations

from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from refsvm.cli import tables
from refsvm.cli.choices import ENGINES, SELECTORS, STEPS, names
from refsvm.cli.comparison import Settings, Strategy, compare_strategies, strategies
from refsvm.cli.data import described, kernel_and_penalty, open_labelled
from refsvm.cli.messages import INTERRUPTED, note
from refsvm.cli.options import (
    CacheMB,
    Coef0,
    DataDir,
    Degree,
    Gamma,
    Json,
    KernelName,
    Label,
    MaxIter,
    Penalty,
    SeveralData,
    TimeLimit,
    Tol,
)
from refsvm.cli.repetition import repeat
from refsvm.datasets import Dataset, binary_labels
from refsvm.experiment import Problem

__all__ = ["compare"]


def compare(
    data: SeveralData,
    selectors: Annotated[
        str, typer.Option(metavar="NAMES", help=f"Some of {', '.join(SELECTORS)}, comma between; or all.")
    ] = "mvp,second-order",
    steps: Annotated[
        str, typer.Option(metavar="NAMES", help=f"Some of {', '.join(STEPS)}; or all.")
    ] = "newton",
    engines: Annotated[
        str, typer.Option(metavar="NAMES", help=f"Some of {', '.join(ENGINES)}; or all.")
    ] = "all",
    kernel: KernelName = "rbf",
    gamma: Gamma = None,
    C: Penalty = None,
    degree: Degree = 3,
    coef0: Coef0 = 0.0,
    tol: Tol = 1e-6,
    shrinking: Annotated[
        bool, typer.Option("--shrinking", help="Solve block by block, not step by step on all variables.")
    ] = False,
    cache_mb: CacheMB = 200.0,
    max_iter: MaxIter = None,
    time_limit: TimeLimit = None,
    repeats: Annotated[
        int | None, typer.Option(metavar="N", help="Random orders of the examples.  [default: as they are]")
    ] = None,
    store: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Keep finished runs here and do not repeat them.")
    ] = None,
    label: Label = None,
    data_dir: DataDir = None,
    json: Json = False,
) -> None:
    """Solve two-class problems by each selector with each step in each engine, side by side.

    One DATA is solved once. With several, with --repeats or with --store it is an experiment: means over random
    orders of the examples, and a Wilcoxon test against the first strategy.
    """
    wanted = strategies(
        names("selectors", selectors, SELECTORS),
        names("steps", steps, STEPS),
        names("engines", engines, ENGINES),
    )
    settings = Settings(tol, cache_mb, max_iter, time_limit, shrinking)
    problems, descriptions = [], []
    for each in data:
        dataset = open_labelled(each, label, data_dir)
        chosen, penalty = kernel_and_penalty(dataset, kernel, gamma, C, degree, coef0)
        two_classes = replace(dataset, y=binary_labels(dataset.y))
        problems.append(Problem(dataset.name, partial(_itself, two_classes), chosen, penalty))
        parameters = {"kernel": {"name": kernel, **asdict(chosen)}, "C": penalty}
        descriptions.append(described(dataset) | parameters | {"tol": tol, "shrinking": shrinking})
    if len(data) == 1 and repeats is None and store is None:
        _compare_once(problems[0], wanted, settings, descriptions[0], json)
    else:
        orders = 1 if repeats is None else repeats
        _compare_repeatedly(problems, wanted, settings, orders, store, descriptions, json)


def _itself(dataset: Dataset) -> Dataset:
    return dataset


def _compare_repeatedly(
    problems: list[Problem],
    wanted: list[Strategy],
    settings: Settings,
    repeats: int,
    store: Path | None,
    descriptions: list[dict[str, Any]],
    json: bool,
) -> None:
    """Compare in an experiment."""
    with tables.counter() as count:
        repetition = repeat(problems, wanted, settings, repeats, store, count)
    _say_what_was_left_out(repetition.left_out)
    if json:
        tables.print_json(tables.repetition_document(descriptions, repeats, repetition))
    elif repetition.rows:
        tables.repetition_table(descriptions, repeats, repetition.rows)
    if repetition.interrupted:
        total = len(problems) * (len(wanted) - len(repetition.left_out)) * repeats
        note(f"note: Interrupted; {sum(row.runs for row in repetition.rows)} of {total} runs are finished")
        raise typer.Exit(INTERRUPTED)


def _say_what_was_left_out(left_out: list[tuple[Strategy, str]]) -> None:
    for strategy, reason in left_out:
        note(f"note: {strategy.selector}, {strategy.step}, {strategy.engine} left out: {reason}")


def _compare_once(
    problem: Problem, wanted: list[Strategy], settings: Settings, description: dict[str, Any], json: bool
) -> None:
    """Compare on the examples as they are."""
    with tables.progress(len(wanted)) as watch:
        comparison = compare_strategies(problem.instance().dual(), wanted, settings, watch)
    _say_what_was_left_out(comparison.left_out)
    if json:
        tables.print_json(tables.comparison_document(description, comparison))
    elif comparison.runs:
        tables.comparison_table(description, comparison.runs)
    if comparison.interrupted:
        note(f"note: Interrupted; {len(comparison.runs)} of {len(wanted)} strategies were tried")
        raise typer.Exit(INTERRUPTED)
