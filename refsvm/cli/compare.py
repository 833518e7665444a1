"""``refsvm compare``: strategies side by side."""

from __future__ import annotations

from dataclasses import asdict, replace
from functools import partial
from typing import Annotated, Any

import typer

from refsvm._checks import positive
from refsvm.cli import options, tables
from refsvm.cli.choices import ENGINES, SELECTORS, STEPS, names
from refsvm.cli.comparison import Outcome, choices, compare_once
from refsvm.cli.data import described, kernel_and_penalty, open_labelled
from refsvm.cli.messages import INTERRUPTED, note
from refsvm.cli.repetition import compare_in_orders
from refsvm.datasets import Dataset, binary_labels
from refsvm.experiment.problem import Problem
from refsvm.stopping import KKTGap

__all__ = ["compare"]


def compare(
    data: options.SeveralData,
    selectors: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help=f"Some of {', '.join(SELECTORS)}, comma between; or all.  [default: mvp,second-order]",
        ),
    ] = None,
    steps: Annotated[
        str | None,
        typer.Option(metavar="NAMES", help=f"Some of {', '.join(STEPS)}; or all.  [default: newton]"),
    ] = None,
    engines: Annotated[
        str, typer.Option(metavar="NAMES", help=f"Some of {', '.join(ENGINES)}; or all.")
    ] = "all",
    kernel: options.KernelName = "rbf",
    gamma: options.Gamma = None,
    C: options.Penalty = None,
    degree: options.Degree = 3,
    coef0: options.Coef0 = 0.0,
    tol: options.Tol = 1e-6,
    shrinking: Annotated[bool, typer.Option("--shrinking", help="Use shrinking in every strategy.")] = False,
    cache_mb: options.CacheMB = 200.0,
    max_iter: options.MaxIter = None,
    time_limit: options.TimeLimit = None,
    repeats: Annotated[
        int | None, typer.Option(metavar="N", help="Random orders of the examples.  [default: as they are]")
    ] = None,
    store: options.Store = None,
    label: options.Label = None,
    data_dir: options.DataDir = None,
    json: options.Json = False,
) -> None:
    """Solve two-class problems by each selector with each step in each engine, side by side.

    Without --selectors and --steps, the default of the package is compared, too: second-order selection, steps that
    plan ahead, and shrinking.

    One DATA is solved once. With several, with --repeats or with --store it is an experiment: means over random
    orders of the examples, and a Wilcoxon test against the first strategy.
    """
    wanted = choices(
        None if selectors is None else names("selectors", selectors, SELECTORS),
        None if steps is None else names("steps", steps, STEPS),
        names("engines", engines, ENGINES),
        shrinking,
    )
    settings = {
        "stop": KKTGap(tol),
        "cache_mb": positive("cache_mb", cache_mb),
        "max_iter": max_iter,
        "time_limit": time_limit,
    }
    problems, descriptions = [], []
    for each in data:
        dataset = open_labelled(each, label, data_dir)
        chosen, penalty = kernel_and_penalty(dataset, kernel, gamma, C, degree, coef0)
        two_classes = replace(dataset, y=binary_labels(dataset.y))
        problems.append(Problem(dataset.name, partial(_itself, two_classes), chosen, penalty))
        parameters = {"kernel": {"name": kernel, **asdict(chosen)}, "C": penalty}
        descriptions.append(described(dataset) | parameters | {"tol": tol})
    if len(data) == 1 and repeats is None and store is None:
        with tables.progress(len(wanted)) as watch:
            outcome = compare_once(wanted, settings, problems[0].instance(), watch)
        _show_once(outcome, descriptions[0], json)
    else:
        orders = 1 if repeats is None else repeats
        with tables.counter() as count:
            outcome = compare_in_orders(wanted, settings, problems, orders, store, count)
        _show_orders(outcome, descriptions, orders, json)


def _itself(dataset: Dataset) -> Dataset:
    return dataset


def _show_once(outcome: Outcome, description: dict[str, Any], json: bool) -> None:
    """Print what came out of the examples as they are."""
    _say_what_was_left_out(outcome)
    if json:
        tables.print_json(tables.comparison_document(description, outcome))
    elif outcome.rows:
        tables.comparison_table(description, outcome.rows)
    if outcome.interrupted:
        note(f"note: Interrupted; {len(outcome.rows)} of {outcome.total} strategies were tried")
        raise typer.Exit(INTERRUPTED)


def _show_orders(outcome: Outcome, descriptions: list[dict[str, Any]], repeats: int, json: bool) -> None:
    """Print what came out of an experiment."""
    _say_what_was_left_out(outcome)
    if json:
        tables.print_json(tables.repetition_document(descriptions, repeats, outcome))
    elif outcome.rows:
        tables.repetition_table(descriptions, repeats, outcome.rows)
    if outcome.interrupted:
        note(
            f"note: Interrupted; {sum(row['runs'] for row in outcome.rows)} of {outcome.total} runs are finished"
        )
        raise typer.Exit(INTERRUPTED)


def _say_what_was_left_out(outcome: Outcome) -> None:
    for choice, reason in outcome.left_out:
        note(f"note: {choice} left out: {reason}")
