"""Strategies for the page on conjugate steps: pairs of rules in turns, and leave-one-out by several stopping rules."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from refsvm import (
    BallRule,
    ConjugateSecondOrder,
    ConjugateStep,
    DualProblem,
    HybridMaximumGain,
    KKTGap,
    LOODualityGap,
    NewtonStep,
    PlanningAheadStep,
    Precomputed,
    SecondOrder,
    leave_one_out,
    solve,
)
from refsvm.experiment import Instance, Strategy
from refsvm.experiment.strategy import EIGHT_POINTS, Record, one_thread

__all__ = ["RULES", "STOPS", "EachStop", "InTurns"]

RULES: dict[str, tuple[Any, Any]] = {
    "Newton": (SecondOrder(), NewtonStep()),
    "planning": (SecondOrder(), PlanningAheadStep()),
    "conjugate": (SecondOrder(), ConjugateStep()),
    "conjugate, its selector": (ConjugateSecondOrder(), ConjugateStep()),
    "HMG": (HybridMaximumGain(), NewtonStep()),
    "HMG, conjugate": (HybridMaximumGain(), ConjugateStep()),
    "default": (None, None),
}
STOPS = {"ε-KKT": KKTGap(), "gap rule": LOODualityGap(), "ball": BallRule()}
LEAST = 0.03
"""Seconds for which a short call is repeated within a turn: the first one pays for what the rule before has left."""


@dataclass(frozen=True)
class InTurns(Strategy):
    """Solve by pairs of rules, one after the other, again and again: steps, and the least CPU seconds.

    Parameters
    ----------
    rules : tuple of str
        Keys of `RULES`.
    turns : int
    shrinking : bool
    cache_mb : float
    given : bool
        Compute the kernel matrix before anything is timed.
    """

    rules: tuple[str, ...] = tuple(RULES)
    turns: int = 1
    shrinking: bool = True
    cache_mb: float = 200.0
    given: bool = False

    def warm_up(self) -> None:
        """Load compiled code."""
        replace(self, turns=1).run(EIGHT_POINTS)

    def run(self, instance: Instance) -> Record:
        """Measure every pair once in each turn."""
        problem, record = instance.dual(), {}
        if self.given:
            K = instance.kernel(instance.X, instance.X)
            problem = DualProblem.classification(K, instance.y, kernel=Precomputed(), C=instance.C)
        for name in (name for _ in range(self.turns) for name in self.rules):
            selector, step = RULES[name]

            def work(selector: Any = selector, step: Any = step) -> Any:
                return solve(
                    problem, selector=selector, step=step, engine="numba", time_limit=120.0,
                    shrinking=self.shrinking, cache_mb=self.cache_mb,
                )  # fmt: skip

            with one_thread():
                solution, seconds = timed(work, LEAST)
            least = min(seconds, record.get(f"{name}: cpu", np.inf))
            record |= {f"{name}: iterations": solution.iterations, f"{name}: cpu": least}
        return record


@dataclass(frozen=True)
class EachStop(Strategy):
    """Leave-one-out by each of `STOPS`: what each decides, its steps, the least CPU seconds, and signs that differ."""

    turns: int = 2

    def warm_up(self) -> None:
        """Load compiled code."""
        replace(self, turns=1).run(EIGHT_POINTS)

    def run(self, instance: Instance) -> Record:
        """Measure every rule."""
        record, expected = {}, None
        for name, stop in STOPS.items():

            def work(stop: Any = stop) -> Any:
                return leave_one_out(
                    instance.X, instance.y, kernel=instance.kernel, C=instance.C, stop=stop, engine="numba",
                    efficiency_test=False,
                )  # fmt: skip

            with one_thread():
                runs = [timed(work, 0.0) for _ in range(self.turns)]
            loo = runs[0][0]
            expected = loo.predictions if expected is None else expected
            early = loo.counts["ball"] + loo.counts["duality gap"]
            record |= {
                f"{name}: rounds": early + loo.counts["kkt"],
                f"{name}: early": early,
                f"{name}: at once": int(((loo.round_iterations == 0) & (loo.decided_by == "ball")).sum()),
                f"{name}: steps": int(loo.round_iterations.sum()),
                f"{name}: cpu": min(seconds for _, seconds in runs),
                f"{name}: wrong": int((loo.predictions != expected).sum()),
            }
        return record


def timed(work: Callable[[], Any], least: float) -> tuple[Any, float]:
    """Return a result and the least CPU seconds of calls that are repeated for so many seconds."""
    seconds = list(_repeated(work, least))
    return seconds[-1][0], min(each for _, each in seconds)


def _repeated(work: Callable[[], Any], least: float) -> Iterator[tuple[Any, float]]:
    """Yield the result and the CPU seconds of each call."""
    begun = time.thread_time()
    while True:
        began = time.thread_time()
        result = work()
        now = time.thread_time()
        yield result, now - began
        if now - begun > least:
            return
