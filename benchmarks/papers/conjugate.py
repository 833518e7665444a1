"""Steps and selectors beside each other, chains of conjugate steps, and the ball: what docs/papers/conjugate.md says.

python benchmarks/papers/conjugate.py --data-dir DIR --full
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from page import Page, arguments, carried_out

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
from refsvm.datasets import paper_suite
from refsvm.experiment import Experiment, Grid, Instance, Problem, Strategy
from refsvm.experiment.strategy import EIGHT_POINTS, Record, one_thread

# -- Strategies for the page on conjugate steps: pairs of rules in turns, and leave-one-out by several stopping rules --

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


# -- The page --------------------------------------------------------------------------------------------------

FACTORS = (1.0, 10.0, 100.0)
FIFTEEN_LEAVE_OUT = ("ionosphere", "spambase", "internet_ads_adbench")
"""Left out by the fifteen sets: the thirteen of the IDA benchmark, the chessboard and tic-tac-toe are in."""
LONG = (
    "ida_banana", "ida_image", "ida_ringnorm", "ida_splice", "ida_titanic", "ida_twonorm", "ida_waveform",
    "chessboard-1000", "spambase", "internet_ads_adbench",
)  # fmt: skip
LEFT_OUT = ("ida_heart", "ida_breast-cancer", "ida_diabetis", "ida_thyroid", "ida_german", "ida_flare-solar")
QUICK = ("ida_heart", "ida_thyroid")
COSTED = ("ida_flare-solar", "ida_german", "ida_thyroid", "tic_tac_toe")
"""Sets on which the cost of a step is measured: 215 to 1,066 examples, thousands of steps."""
TURNS = 2
NAMED = tuple(name for name in RULES if name != "default")


def main() -> None:
    """Run what is missing; print it and write the page."""
    chosen = arguments(__doc__ or "", "conjugate", 1, LONG)
    suite = [Problem.of_suite(each) for each in paper_suite(chosen.data_dir)]
    costed = [each for each in suite if each.name in (QUICK if chosen.quick else COSTED)]
    suite = [each for each in suite if each.name not in LONG or each.name in chosen.full]
    suite = [each for each in suite if not chosen.quick or each.name in QUICK]
    page = Page("Conjugate steps, and a ball that decides", "benchmarks/papers/conjugate.py", chosen)
    page.add("The steps", Path(__file__).with_name("conjugate_steps.md").read_text(encoding="utf-8"))

    def run(title: str, strategy: Strategy, problems: Sequence[Problem]) -> list[Record]:
        return carried_out(title, Experiment([strategy], problems, chosen.store, 1), chosen.jobs).records()

    everywhere = [at(each, factor) for each in suite for factor in FACTORS]
    if page.wants("Steps to"):
        plain = InTurns("steps", rules=NAMED, shrinking=False, cache_mb=700.0)
        steps_taken(page, run("Steps", plain, everywhere))
    if page.wants("CPU seconds"):
        seconds_taken(page, run("Seconds", InTurns("seconds", turns=TURNS), everywhere))
    if page.wants("The cost of a step"):
        some = tuple(name for name in NAMED if "HMG" not in name)
        given = InTurns("cost", rules=some, turns=TURNS, shrinking=False, cache_mb=700.0, given=True)
        cost_of_a_step(page, run("Cost of a step", given, [at(each, 10.0) for each in costed]))
    page.add("The ball", Path(__file__).with_name("conjugate_ball.md").read_text(encoding="utf-8"))
    if page.wants("Leave-one-out"):
        small = [each for each in suite if each.name in LEFT_OUT]
        ball(page, run("Leave-one-out", EachStop("each rule", turns=TURNS), small))
    page.write()


def at(problem: Problem, factor: float) -> Problem:
    """Return a problem at a multiple of its C."""
    return replace(problem, name=f"{problem.name}, {factor:g} C", C=factor * problem.C)


def steps_taken(page: Page, records: Sequence[Record]) -> None:
    """Steps without shrinking, as ratios."""
    fifteen = [each for each in records if not each["problem"].startswith(FIFTEEN_LEAVE_OUT)]
    page.add(
        "Steps to ε = 0.001, relative to Newton steps",
        "The table shows the steps on all variables, without shrinking, for each set at its C, 10 C and 100 C.",
        ratios(records, "Newton", "iterations"),
        "The second table shows geometric means of these ratios; the group of fifteen sets leaves out "
        f"{', '.join(FIFTEEN_LEAVE_OUT)}:",
        means(
            {
                f"fifteen sets, {len(fifteen)} problems": fifteen,
                f"all sets, {len(records)} problems": records,
            },
            "Newton",
            "iterations",
        ),
    )


def seconds_taken(page: Page, records: Sequence[Record]) -> None:
    """Seconds with shrinking, as ratios."""
    by_factor = {
        f"{f:g} C": [each for each in records if each["problem"].endswith(f" {f:g} C")] for f in FACTORS
    }
    page.add(
        "CPU seconds of a fit, relative to planning ahead",
        f"Fits use the default shrinking. We time each fit in {TURNS} turns, and repeat a fit within a turn if it "
        f"takes less than {LEAST:g} s. The table shows the least seconds of a fit, including the kernel rows. By "
        "default refsvm takes planned steps on all variables; on the restricted problems of shrinking it takes "
        "conjugate steps on the pairs that `ConjugateSecondOrder` selects.",
        ratios(records, "planning", "cpu"),
        "The second table shows geometric means of these ratios:",
        means(by_factor, "planning", "cpu"),
    )


def cost_of_a_step(page: Page, records: Sequence[Record]) -> None:
    """CPU time of a step where no kernel row has to be computed."""
    rows, names = [], names_of(records)
    for record in records:
        costs = {name: 1e6 * record[f"{name}: cpu"] / record[f"{name}: iterations"] for name in names}
        others = (f"{costs[name] / costs['Newton']:.2f}" for name in names[1:])
        rows.append((record["problem"].partition(",")[0], f"{costs['Newton']:.2f}", *others))
    page.add(
        "The cost of a step",
        "The cost of a step is the CPU time of a whole solve divided by its steps, at 10 C, without shrinking and "
        f"with the kernel matrix given. We repeat the solve for {LEAST:g} s in each of {TURNS} turns, and use the "
        "fastest solve. The table shows the cost of a Newton step in µs, and all other costs relative to it.",
        Grid(("problem", "Newton (µs)", *names[1:]), tuple(rows)),
    )


def names_of(records: Sequence[Record]) -> list[str]:
    """Return the rules of these records."""
    return [name for name in RULES if f"{name}: cpu" in records[0]]


def means(groups: dict[str, Sequence[Record]], baseline: str, metric: str) -> Grid:
    """One line for each group of sets: the geometric means of the ratios to the baseline."""
    groups = {name: own for name, own in groups.items() if own}
    others = [name for name in names_of(next(iter(groups.values()))) if name != baseline]
    lines = []
    for group, own in groups.items():
        logs = (
            np.mean([np.log(each[f"{other}: {metric}"] / each[f"{baseline}: {metric}"]) for each in own])
            for other in others
        )
        lines.append((group, *(f"{np.exp(mean):.3f}" for mean in logs)))
    return Grid(("sets", *others), tuple(lines))


def ratios(records: Sequence[Record], baseline: str, metric: str) -> Grid:
    """One line for each problem: what the baseline takes, and the ratios of the others."""
    others = [name for name in names_of(records) if name != baseline]
    lines = []
    for record in records:
        base = record[f"{baseline}: {metric}"]
        shown = f"{base:,d}" if isinstance(base, int) else f"{base:.4f}"
        share = (f"{record[f'{other}: {metric}'] / base:.2f}" for other in others)
        lines.append((record["problem"], shown, *share))
    return Grid(("problem", baseline, *others), tuple(lines))


def ball(page: Page, records: Sequence[Record]) -> None:
    """How many examples the ball decides, in how many steps and seconds, and how many signs are wrong."""
    columns = {
        "rounds": "rounds", "decided early": "early", "without a step": "at once", "steps": "steps",
        "CPU s": "cpu", "signs that differ": "wrong",
    }  # fmt: skip
    lines = []
    for record in records:
        for name in STOPS:
            cells: list[Any] = [record[f"{name}: {metric}"] for metric in columns.values()]
            shown = (f"{cell:.4f}" if isinstance(cell, float) else str(cell) for cell in cells)
            lines.append((record["problem"], name, *shown))
    page.add(
        "Leave-one-out, each set at its C",
        "The seconds include the solution on all examples and the checks. The last column counts the "
        "left-out examples for which a rule predicts another sign than the rule ε-KKT.",
        Grid(("set", "rule", *columns), tuple(lines)),
    )


if __name__ == "__main__":
    main()
