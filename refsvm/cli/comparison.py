"""Strategies side by side on one problem, its examples as they are."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from itertools import product
from typing import Any, Final, TypeAlias

import numpy as np

from refsvm.cli.choices import SELECTORS, STEPS
from refsvm.experiment.problem import Instance
from refsvm.experiment.solve import Solve, record_of
from refsvm.result import Status
from refsvm.solver.limits import Interrupt, interruptible
from refsvm.state import SolverState

__all__ = ["Choice", "Outcome", "Watch", "choices", "compare_once", "objective_spread", "strategies"]

SHOWN: Final = (("mvp", "newton"), ("second-order", "newton"), ("second-order", "planning-ahead"))
"""Selector and step of what is compared by default; the last one is the default of the package."""


@dataclass(frozen=True)
class Choice:
    """A strategy as the command line names it."""

    selector: str
    step: str
    engine: str
    shrinking: bool

    def __str__(self) -> str:
        return f"{self.selector}, {self.step}, {self.engine}{', shrinking' if self.shrinking else ''}"


Watch: TypeAlias = Callable[[Choice], Callable[[SolverState], object] | None]
"""Called before each run; returns what is called with the state meanwhile, if anything."""


@dataclass
class Outcome:
    """What a comparison found.

    Attributes
    ----------
    total : int
        How many strategies or runs were asked for.
    rows : list of dict
        What is known of each strategy, in the order asked for: the fields of its `Choice`, and more.
    left_out : list of (Choice, str)
        What the package refuses, and why.
    interrupted : bool
        Whether Ctrl-C was pressed.
    """

    total: int
    rows: list[dict[str, Any]] = field(default_factory=list)
    left_out: list[tuple[Choice, str]] = field(default_factory=list)
    interrupted: bool = False


def choices(
    selectors: Iterable[str] | None, steps: Iterable[str] | None, engines: Iterable[str], shrinking: bool
) -> list[Choice]:
    """Return every combination of the selectors and steps that are named, in each engine.

    Where none is named, return those of the papers beside the default of the package, which uses shrinking.
    """
    if selectors is None and steps is None:
        named = [(*pair, shrinking or pair == SHOWN[-1]) for pair in SHOWN]
    else:
        selectors = ("mvp", "second-order") if selectors is None else selectors
        steps = ("newton",) if steps is None else steps
        named = [(*pair, shrinking) for pair in product(selectors, steps)]
    return [
        Choice(selector, step, engine, shrinks)
        for (selector, step, shrinks), engine in product(named, engines)
    ]


def strategies(
    wanted: Iterable[Choice], settings: Mapping[str, Any]
) -> tuple[dict[Choice, Solve], list[tuple[Choice, str]]]:
    """Return the strategies of an experiment, and the choices whose rules do not fit together.

    Parameters
    ----------
    wanted : iterable of Choice
    settings : mapping
        Arguments of `Solve` that all have in common.

    Raises
    ------
    ValueError
        If no choice is left.
    """
    chosen, left_out = {}, []
    for choice in wanted:
        try:
            chosen[choice] = Solve(
                str(choice),
                selector=SELECTORS[choice.selector](),
                step=STEPS[choice.step](),
                engine=choice.engine,
                shrinking=choice.shrinking,
                **settings,
            )
        except ValueError as refusal:
            left_out.append((choice, str(refusal)))
    if not chosen:
        raise ValueError(left_out[0][1])
    return chosen, left_out


def compare_once(
    wanted: Iterable[Choice], settings: Mapping[str, Any], instance: Instance, watch: Watch
) -> Outcome:
    """Solve an instance by each strategy in turn, until done or Ctrl-C.

    Parameters
    ----------
    wanted : iterable of Choice
        One that the package refuses, for instance because its rules do not fit together, is left out.
    settings : mapping
        Arguments of `Solve` that all have in common.
    instance : Instance
    watch : Watch

    Returns
    -------
    Outcome
        A row is the choice and the record of `Solve`, with ``first_use_seconds``: what the first use of the strategy
        in this process cost, compiling it or loading its compiled code. That is measured before, on four points, and
        not part of ``seconds``. After Ctrl-C there is what was computed until then, the run under way included.

    Raises
    ------
    ValueError
        If every strategy is refused.
    """
    chosen, left_out = strategies(wanted, settings)
    outcome = Outcome(len(chosen) + len(left_out), left_out=left_out)
    with interruptible() as interrupt:
        for choice, strategy in chosen.items():
            callback = watch(choice)
            try:
                first_use = _seconds_of_first_use(strategy, interrupt)
                solution = strategy.solve(instance, callback)
            except ValueError as refusal:
                outcome.left_out.append((choice, str(refusal)))
                continue
            except KeyboardInterrupt:  # while warming up, or for the second time
                break
            outcome.rows.append(asdict(choice) | record_of(solution) | {"first_use_seconds": first_use})
            if interrupt.pressed:
                break
        outcome.interrupted = interrupt.pressed
    if outcome.left_out and not (outcome.rows or outcome.interrupted):
        raise ValueError(outcome.left_out[0][1])
    return outcome


def _seconds_of_first_use(strategy: Solve, interrupt: Interrupt) -> float:
    """Warm up, and return how long that took."""
    began = time.perf_counter()
    strategy.warm_up()
    if interrupt.pressed:
        raise KeyboardInterrupt
    return time.perf_counter() - began


def objective_spread(rows: Iterable[Mapping[str, Any]]) -> float:
    """Return the largest relative difference between the objectives of runs that converged; 0 if there are none."""
    values = [row["objective"] for row in rows if row["status"] == Status.CONVERGED.name]
    if not values:
        return 0.0
    return (max(values) - min(values)) / max(max(map(abs, values)), np.finfo(float).tiny)
