"""Strategies side by side on one problem."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from types import FrameType
from typing import Any

import numpy as np

from refsvm.cli.choices import SELECTORS, STEPS
from refsvm.kernels import RBF
from refsvm.problem import DualProblem
from refsvm.result import Solution, Status
from refsvm.solver import solve
from refsvm.state import SolverState
from refsvm.stopping import KKTGap

__all__ = ["Comparison", "Run", "Settings", "Strategy", "compare_strategies", "strategies"]


@dataclass(frozen=True)
class Strategy:
    """A selector, a step rule and an engine, by name."""

    selector: str
    step: str
    engine: str


@dataclass(frozen=True)
class Settings:
    """What all strategies have in common; the arguments of `solve`."""

    tol: float
    cache_mb: float
    max_iter: int | None
    time_limit: float | None
    shrinking: bool

    def solve(
        self, problem: DualProblem, strategy: Strategy, callback: Callable[[SolverState], object]
    ) -> Solution:
        """Solve a problem by a strategy."""
        return solve(
            problem,
            selector=SELECTORS[strategy.selector](),
            step=STEPS[strategy.step](),
            stop=KKTGap(self.tol),
            engine=strategy.engine,
            shrinking=self.shrinking,
            cache_mb=self.cache_mb,
            max_iter=self.max_iter,
            time_limit=self.time_limit,
            callback=callback,
        )


@dataclass(frozen=True)
class Run:
    """What one strategy did on the problem.

    `seconds` leaves out what the first use of a strategy in a process costs, compiling it or loading its compiled
    code: that is measured before, on a problem of four points, as `first_use_seconds`.
    """

    selector: str
    step: str
    engine: str
    status: str
    iterations: int
    kernel_rows: int
    seconds: float
    first_use_seconds: float
    objective: float
    primal_objective: float
    duality_gap: float
    kkt_gap: float
    training_error: float
    support_vectors: int
    bounded_support_vectors: int


@dataclass
class Comparison:
    """Runs in the order asked for, and the strategies left out, with the reason."""

    runs: list[Run] = field(default_factory=list)
    left_out: list[tuple[Strategy, str]] = field(default_factory=list)
    interrupted: bool = False


def strategies(selectors: Iterable[str], steps: Iterable[str], engines: Iterable[str]) -> list[Strategy]:
    """Return every combination."""
    return [Strategy(*names) for names in product(selectors, steps, engines)]


def compare_strategies(
    problem: DualProblem,
    wanted: Iterable[Strategy],
    settings: Settings,
    watch: Callable[[Strategy, SolverState | None], object],
) -> Comparison:
    """Solve a problem by each strategy in turn, until done or Ctrl-C.

    Parameters
    ----------
    problem : DualProblem
        Of classification: v is y.
    wanted : iterable of Strategy
        One that the package refuses, for instance because its rules do not fit together, is left out.
    settings : Settings
    watch : callable
        Called before each run with None, and with the state every some ten milliseconds.

    Returns
    -------
    Comparison
        After Ctrl-C: what was computed until then, the run under way included.

    Raises
    ------
    ValueError
        If every strategy is refused.
    """
    comparison = Comparison()
    with _CtrlC() as ctrl_c:
        for strategy in wanted:
            watch(strategy, None)
            try:
                run = _run(problem, strategy, settings, watch, ctrl_c)
            except ValueError as refusal:
                comparison.left_out.append((strategy, str(refusal)))
                continue
            except KeyboardInterrupt:
                run = None
            if run is not None:
                comparison.runs.append(run)
            if ctrl_c.pressed:
                comparison.interrupted = True
                break
    if comparison.left_out and not (comparison.runs or comparison.interrupted):
        raise ValueError(comparison.left_out[0][1])
    return comparison


class _CtrlC:
    """Notes the first Ctrl-C, so that the run under way can end with its best point; the second one interrupts."""

    def __enter__(self) -> _CtrlC:
        self.pressed = False
        self._before = signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(self, *_: object) -> None:
        signal.signal(signal.SIGINT, self._before)

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.pressed:
            raise KeyboardInterrupt
        self.pressed = True


def _run(
    problem: DualProblem,
    strategy: Strategy,
    settings: Settings,
    watch: Callable[[Strategy, SolverState | None], object],
    ctrl_c: _CtrlC,
) -> Run | None:
    """Solve the four points, then the problem; None if Ctrl-C came before that."""

    def stopped(state: SolverState) -> bool:
        watch(strategy, state)
        return ctrl_c.pressed

    first_use = settings.solve(_four_points(), strategy, lambda state: False).seconds
    if ctrl_c.pressed:
        return None
    solution = settings.solve(problem, strategy, stopped)
    return _measured(strategy, solution, first_use)


@cache
def _four_points() -> DualProblem:
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    return DualProblem.classification(X, np.array([-1, 1, 1, -1]), kernel=RBF(1.0))


def _measured(strategy: Strategy, solution: Solution, first_use_seconds: float) -> Run:
    """Take from a solution what is compared."""
    problem, alpha = solution.problem, solution.alpha
    # h(xᵢ) = (Kα)ᵢ + b = vᵢ − Gᵢ + b
    decisions = problem.v - solution.gradient + solution.intercept
    at_bound = (alpha != 0.0) & ((alpha == problem.lower) | (alpha == problem.upper))
    interrupted = solution.status is Status.CALLBACK  # our callback ends a run for no other reason
    status = Status.INTERRUPTED if interrupted else solution.status
    return Run(
        selector=strategy.selector,
        step=strategy.step,
        engine=solution.engine,
        status=status.name,
        iterations=solution.iterations,
        kernel_rows=solution.kernel_rows,
        seconds=solution.seconds,
        first_use_seconds=first_use_seconds,
        objective=solution.objective,
        primal_objective=solution.primal_objective,
        duality_gap=solution.duality_gap,
        kkt_gap=solution.kkt_gap,
        training_error=float(np.mean(np.where(decisions > 0.0, 1.0, -1.0) != problem.v)),
        support_vectors=int(np.count_nonzero(alpha)),
        bounded_support_vectors=int(np.count_nonzero(at_bound)),
    )


def objective_spread(runs: Iterable[Any]) -> float:
    """Return the largest relative difference between the objectives of runs that converged; 0 if there are none."""
    values = [run.objective for run in runs if run.status == Status.CONVERGED.name]
    if not values:
        return 0.0
    return (max(values) - min(values)) / max(max(map(abs, values)), np.finfo(float).tiny)
