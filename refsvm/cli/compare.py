"""``refsvm compare``: compares strategies side by side."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final

from refsvm.cli import options
from refsvm.cli.choices import ENGINES, SELECTORS, STEPS
from refsvm.cli.comparison import Outcome, choices, compare_in_orders, compare_once, objective_spread
from refsvm.cli.comparison_tables import comparison_table, repetition_table
from refsvm.cli.data import Output, Training
from refsvm.cli.messages import interrupted, note
from refsvm.cli.options import flag, option, some_of
from refsvm.cli.pictures import bars, picture
from refsvm.core.rounds.machine import CLASSIFICATION
from refsvm.datasets import binary_labels
from refsvm.experiment import Problem

OWN: Final = " Your own: FILE.py:NAME, a class."


@options.in_one("task", "epsilon", "nu", tol=1e-6, task=CLASSIFICATION)
def compare(
    data: options.SeveralData,
    selectors: Annotated[str | None, some_of(SELECTORS, more=f"{OWN}  [default: mvp,second-order]")] = None,
    steps: Annotated[str | None, some_of(STEPS, more=f"{OWN}  [default: newton]")] = None,
    engines: Annotated[str, some_of(ENGINES)] = "all",
    *,
    training: Training,
    shrinking: Annotated[bool, flag("--shrinking", "Use shrinking in every strategy.")] = False,
    repeats: Annotated[
        int | None, option("N", "Random orders of the examples.  [default: their order in the data]")
    ] = None,
    store: options.Store = None,
    wide: Annotated[
        bool,
        flag("--wide", "Print all columns, even if they are wider than the terminal, or than 80 in a pipe."),
    ] = False,
    output: Output,
) -> None:
    """Solve two-class problems by each selector with each step in each engine, side by side.

    Without --selectors and --steps, the command also tries the package's default: second-order selection, steps that
    plan ahead, and shrinking.

    If you give one DATA, each strategy solves it once. With several DATA, --repeats or --store, the command shows means
    over random orders of the examples, and a Wilcoxon test against the first strategy.
    """
    wanted = choices(selectors, steps, engines, shrinking)
    settings, problems, descriptions = training.settings(), [], []
    output.refuse_unwritable(store, *map(training.place_of, data))
    for each in data:
        opened = training.opened(each)
        two_classes = partial(replace, opened.data, y=binary_labels(opened.data.y))
        problems.append(Problem(opened.data.name, two_classes, opened.kernel, opened.C))
        descriptions.append(training.described(opened))
    once = len(data) == 1 and repeats is None and store is None
    if once:
        settings["trace"] = output.plot is not None
        outcome = compare_once(wanted, settings, problems[0].instance())
        spread = objective_spread(outcome.rows)
        document = {"problem": descriptions[0], "runs": outcome.rows, "objective_spread": spread}
        table = partial(comparison_table, descriptions[0], outcome.rows, wide)
        finished = f"{len(outcome.rows)} of {outcome.total} strategies were tried"
    else:
        orders = 1 if repeats is None else repeats
        outcome = compare_in_orders(wanted, settings, problems, orders, store)
        document = {"problems": descriptions, "repeats": orders, "results": outcome.rows}
        table = partial(repetition_table, descriptions, orders, outcome.rows, wide)
        finished = f"{sum(row['runs'] for row in outcome.rows)} of {outcome.total} runs are finished"
    _finish(outcome, document, table, finished, output)


def _finish(
    outcome: Outcome, document: dict[str, Any], table: Callable[[], object], finished: str, output: Output
) -> None:
    """Print a note about each strategy that was left out; print and draw the results."""
    for choice, reason in outcome.left_out:
        note(f"note: {choice} left out: {reason}")
    left_out = [{**asdict(choice), "reason": reason} for choice, reason in outcome.left_out]
    document |= {"left_out": left_out, "interrupted": outcome.interrupted}
    if outcome.rows or output.json:
        output.show(document, outcome.rows, table)
    if output.plot is not None and outcome.rows:
        _draw(outcome, output.plot)
    if outcome.interrupted:
        interrupted(f"Interrupted; {finished}")


def _draw(outcome: Outcome, file: Path) -> None:
    """Draw the KKT gap against the steps for one problem, or the costs of an experiment's runs."""
    if not outcome.solutions:
        names = [
            ", ".join(str(row[key]) for key in ("data", "selector", "step", "engine")) for row in outcome.rows
        ]
        notes = [
            f"{name}: {row['runs'] - row['converged']} of {row['runs']} runs did not converge and are excluded."
            for name, row in zip(names, outcome.rows, strict=True)
            if row["converged"] < row["runs"]
        ]
        bars(file, names, {"seconds": [row["seconds"].mean for row in outcome.rows]}, "mean seconds", notes)
        return
    from refsvm.display import ConvergenceDisplay

    with picture(file) as axes:
        ConvergenceDisplay.from_solutions(outcome.solutions, ax=axes[0])
