"""Compares strategies on one problem in its given order, or on several problems in random orders of their examples."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import product, takewhile
from pathlib import Path
from typing import Any, Final

import numpy as np

from refsvm import Solution, Status
from refsvm.cli.choices import ENGINES, SELECTORS, STEPS, names, one
from refsvm.core.engine.limits import interruptible
from refsvm.experiment import Experiment, Instance, Problem, Solve
from refsvm.experiment.comparison import REFUSED

METRICS: Final = ("iterations", "kernel_rows", "seconds", "objective")
"""Columns of a comparison over several orders."""

SHOWN: Final = (("mvp", "newton"), ("second-order", "newton"), ("second-order", "planning-ahead"))
"""Selectors and steps that are compared by default; the last pair is the package's default."""


@dataclass(frozen=True)
class Choice:
    """A strategy as the user names it: selector, step, engine, and whether it uses shrinking."""

    selector: str
    step: str
    engine: str
    shrinking: bool

    def __str__(self) -> str:
        return f"{self.selector}, {self.step}, {self.engine}{', shrinking' if self.shrinking else ''}"

    @property
    def rules(self) -> str:
        """Selector, step and shrinking as a text, without the engine, because all engines take the same steps."""
        return f"{self.selector}, {self.step}{', shrinking' if self.shrinking else ''}"


@dataclass
class Outcome:
    """The result of a comparison.

    Attributes
    ----------
    total : int
        Number of strategies or runs to compute.
    rows : list of dict
        A row for each strategy, with the fields of its `Choice` and its results.
    left_out : list of (Choice, str)
        Strategies that the package refuses, each with the reason.
    interrupted : bool
        Whether Ctrl-C was pressed.
    solutions : dict of str to Solution
        For each `Choice.rules`, the solution and the trace of the first engine's run; empty if no traces were recorded.
    """

    total: int
    rows: list[dict[str, Any]] = field(default_factory=list)
    left_out: list[tuple[Choice, str]] = field(default_factory=list)
    interrupted: bool = False
    solutions: dict[str, Solution] = field(default_factory=dict)


def choices(selectors: str | None, steps: str | None, engines: str, shrinking: bool) -> list[Choice]:
    """Return a choice for every combination of the named selectors, steps and engines.

    Without selectors and steps, use the pairs (selector, step) in `SHOWN`; the last pair always uses shrinking.
    """
    pairs = product(
        names("selectors", "mvp,second-order" if selectors is None else selectors, SELECTORS),
        names("steps", "newton" if steps is None else steps, STEPS),
    )
    named = [(*pair, shrinking) for pair in pairs]
    if selectors is None and steps is None:
        named = [(*pair, shrinking or pair == SHOWN[-1]) for pair in SHOWN]
    chosen = product(named, names("engines", engines, ENGINES))
    return [Choice(selector, step, engine, shrinks) for (selector, step, shrinks), engine in chosen]


def strategies(
    wanted: Iterable[Choice], settings: Mapping[str, Any]
) -> tuple[dict[Choice, Solve], list[tuple[Choice, str]]]:
    """Return a dict from choices to strategies, and the choices that `Solve` refuses, each with the reason.

    Parameters
    ----------
    wanted : iterable of Choice
        The choices.
    settings : mapping
        Arguments of `Solve` that all strategies share.

    Raises
    ------
    ValueError
        If `Solve` refuses every choice.
    """
    chosen, left_out = {}, []
    for choice in wanted:
        try:
            # make all strategies before the first run: `Solve` refuses a selector and a step that cannot be combined
            chosen[choice] = Solve(
                str(choice),
                selector=one("selectors", choice.selector, SELECTORS)(),
                step=one("steps", choice.step, STEPS)(),
                engine=choice.engine,
                shrinking=choice.shrinking,
                **settings,
            )
        except ValueError as refusal:
            left_out.append((choice, str(refusal)))
    if not chosen:
        raise ValueError(left_out[0][1])
    return chosen, left_out


def compare_once(wanted: Iterable[Choice], settings: Mapping[str, Any], instance: Instance) -> Outcome:
    """Solve an instance by each strategy in turn; Ctrl-C ends the comparison.

    Parameters
    ----------
    wanted : iterable of Choice
        The choices; a choice that the package refuses is left out.
    settings : mapping
        Arguments of `Solve` that all strategies share.
    instance : Instance
        The problem.

    Returns
    -------
    Outcome
        A row contains the choice, the measurements of `Solve`, and ``first_use_seconds``, the time to compile the
        strategy or load its compiled code. To measure this time, the strategy solves a tiny problem first; ``seconds``
        does not include it. After Ctrl-C, the outcome contains the results so far, including the interrupted run.

    Raises
    ------
    ValueError
        If every strategy is refused.
    """
    chosen, left_out = strategies(wanted, settings)
    outcome = Outcome(len(chosen) + len(left_out), left_out=left_out)
    with interruptible() as interrupt:
        # the first Ctrl-C ends only the current run, so check between two runs whether Ctrl-C was pressed
        for choice, strategy in takewhile(lambda _: not interrupt.pressed, chosen.items()):
            began = time.perf_counter()
            try:
                strategy.warm_up()
                first_use = {"first_use_seconds": time.perf_counter() - began}
                if interrupt.pressed:
                    break
                solution = strategy.solve(instance)
            except ValueError as refusal:
                outcome.left_out.append((choice, str(refusal)))
                continue
            except KeyboardInterrupt:  # Ctrl-C was pressed twice, or during the warm-up
                break
            if solution.trace is not None:
                outcome.solutions.setdefault(choice.rules, solution)
            outcome.rows.append(asdict(choice) | strategy.measured(solution) | first_use)
        outcome.interrupted = interrupt.pressed
    if outcome.left_out and not (outcome.rows or outcome.interrupted):
        raise ValueError(outcome.left_out[0][1])
    return outcome


def objective_spread(rows: Iterable[Mapping[str, Any]]) -> float:
    """Return the largest relative difference between the objectives of converged runs; 0 if no run converged."""
    values = [row["objective"] for row in rows if row["status"] == Status.CONVERGED.name]
    if not values:
        return 0.0
    return (max(values) - min(values)) / max(max(map(abs, values)), np.finfo(float).tiny)


def compare_in_orders(
    wanted: Iterable[Choice],
    settings: Mapping[str, Any],
    problems: Sequence[Problem],
    repeats: int,
    store: Path | None,
) -> Outcome:
    """Solve every problem by every strategy in `repeats` orders of its examples; Ctrl-C ends the experiment.

    Parameters
    ----------
    wanted : iterable of Choice
        The choices. A choice is left out if its selector and step cannot be combined. A strategy that
        refuses a problem still solves the other problems.
    settings : mapping
        Arguments of `Solve` that all strategies share.
    problems : sequence of Problem
        The problems.
    repeats : int
        Number of random orders of the examples of each problem.
    store : path, optional
        File in which finished runs are stored and found again; without a file, the runs are discarded at the end.

    Returns
    -------
    Outcome
        A row contains the name of the problem (``data``), the choice, the number of finished ``runs``, the number of
        runs that ``converged``, and for each metric a `Summary`, which compares the strategy with the first strategy.

    Raises
    ------
    ValueError
        If `Solve` refuses every choice, or all strategies refuse all problems.
    """
    chosen, left_out = strategies(wanted, settings)
    outcome = Outcome(len(problems) * len(chosen) * repeats, left_out=left_out)
    with tempfile.TemporaryDirectory() as folder:  # an experiment needs a file for its runs
        file = Path(folder, "runs.sqlite") if store is None else store
        experiment = Experiment(list(chosen.values()), problems, file, repeats)
        try:
            experiment.run()
        except KeyboardInterrupt:
            outcome.interrupted = True
        _summarise(experiment, chosen, outcome)
    return outcome


def _summarise(experiment: Experiment, chosen: Mapping[Choice, Solve], outcome: Outcome) -> None:
    """Add to `outcome` a row of summaries for each problem and strategy, and the strategies that refused a problem."""
    records = experiment.records()
    if not records:
        return
    baseline = next(iter(chosen.values())).name
    cells = {metric: experiment.compare(metric, baseline).cells for metric in METRICS}
    for problem, (choice, strategy) in product(experiment.problems, chosen.items()):
        place = problem.name, strategy.name
        own = [record for record in records if (record["problem"], record["strategy"]) == place]
        refused = [record["reason"] for record in own if record["status"] == REFUSED]
        outcome.left_out += [(choice, reason) for reason in refused[:1]]
        if place in cells["iterations"]:
            converged = sum(record["status"] == Status.CONVERGED.name for record in own)
            runs = {"runs": len(own) - len(refused), "converged": converged}
            row = {"data": problem.name, **asdict(choice), **runs}
            outcome.rows.append(row | {metric: cells[metric][place] for metric in METRICS})
