"""Steps and selectors beside each other, chains of conjugate steps, and the ball: what docs/papers/conjugate.md says.

python benchmarks/papers/conjugate.py --data-dir DIR
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from page import Page, arguments

from refsvm import (
    RBF,
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
from refsvm.datasets.suite import SuiteProblem
from refsvm.experiment import Grid

FACTORS = (1.0, 10.0, 100.0)
FIFTEEN_LEAVE_OUT = ("ionosphere", "spambase", "internet_ads_adbench")
"""Left out by the fifteen sets: the thirteen of the IDA benchmark, the chessboard and tic-tac-toe are in."""

RULES = {
    "Newton": (SecondOrder(), NewtonStep()),
    "planning": (SecondOrder(), PlanningAheadStep()),
    "conjugate": (SecondOrder(), ConjugateStep()),
    "conjugate, its selector": (ConjugateSecondOrder(), ConjugateStep()),
    "HMG": (HybridMaximumGain(), NewtonStep()),
    "HMG, conjugate": (HybridMaximumGain(), ConjugateStep()),
}
STOPS = {"ε-KKT": KKTGap(), "gap rule": LOODualityGap(), "ball": BallRule()}
LONG = (
    "ida_banana", "ida_image", "ida_ringnorm", "ida_splice", "ida_titanic", "ida_twonorm", "ida_waveform",
    "chessboard-1000", "spambase", "internet_ads_adbench",
)  # fmt: skip
LEFT_OUT = ("ida_heart", "ida_breast-cancer", "ida_diabetis", "ida_thyroid", "ida_german", "ida_flare-solar")
QUICK = ("ida_heart", "ida_thyroid")
COSTED = ("ida_flare-solar", "ida_german", "ida_thyroid", "tic_tac_toe")
"""Sets on which the cost of a step is measured: 215 to 1,066 examples, thousands of steps."""
COST_TURNS = 2
TURNS = 2
LEAST = 0.03
"""Seconds for which a short solve is repeated within a turn: the first one pays for what the rule before has left."""


Measured = dict[tuple[str, float], dict[str, tuple[int, float]]]


def main() -> None:
    """Run what is asked for; print it and write the page."""
    chosen = arguments(__doc__ or "", "conjugate", 1, LONG)
    suite = [
        each for each in paper_suite(chosen.data_dir) if each.name not in LONG or each.name in chosen.full
    ]
    suite = [each for each in suite if not chosen.quick or each.name in QUICK]
    page = Page("Conjugate steps, and a ball that decides", "benchmarks/papers/conjugate.py", chosen)
    page.add("The steps", Path(__file__).with_name("conjugate_steps.md").read_text(encoding="utf-8"))
    steps_taken(page, suite)
    seconds_taken(page, suite)
    cost_of_a_step(page, chosen)
    page.add("The ball", Path(__file__).with_name("conjugate_ball.md").read_text(encoding="utf-8"))
    if page.wants("Leave-one-out"):
        ball(page, [each for each in suite if each.name in LEFT_OUT])
    page.write()


def everywhere(suite: Iterable[SuiteProblem], turns: int, rules: dict[str, Any], **options: Any) -> Measured:
    """Measure these rules on each set at its C, 10 C and 100 C."""
    found: Measured = {}
    for each in suite:
        data = each.load()
        for factor in FACTORS:
            problem = DualProblem.classification(data.X, data.y, kernel=RBF(data.gamma), C=data.C * factor)
            found[each.name, factor] = measured(problem, rules, turns, **options)
    return found


def steps_taken(page: Page, suite: Iterable[SuiteProblem]) -> None:
    """Steps without shrinking, as ratios."""
    if not page.wants("Steps to"):
        return
    plain = everywhere(suite, 1, RULES, shrinking=False, cache_mb=700.0)
    fifteen = {key: plain[key] for key in plain if key[0] not in FIFTEEN_LEAVE_OUT}
    page.add(
        "Steps to ε = 0.001, in those of Newton's",
        f"All variables, no shrinking; each set at its C, 10 C and 100 C. Over the {len(fifteen)} problems here of the "
        f"fifteen sets (without {', '.join(FIFTEEN_LEAVE_OUT)}) the geometric means are {means(fifteen, 'Newton', 0)}; "
        f"over all {len(plain)} here, {means(plain, 'Newton', 0)}.",
        ratios(plain, "Newton", 0),
    )


def seconds_taken(page: Page, suite: Iterable[SuiteProblem]) -> None:
    """Seconds with shrinking, as ratios."""
    if not page.wants("CPU seconds"):
        return
    shrunk = everywhere(suite, TURNS, RULES | {"default": (None, None)})
    page.add(
        "CPU seconds of a fit, in those of planning ahead",
        f"With the default shrinking, kernel rows included, the least of {TURNS} turns, in which short ones are "
        "repeated. The default is planned steps on all variables and conjugate ones, with their selector, on "
        "restricted problems.",
        *(
            f"At {factor:g} C: {means({key: row for key, row in shrunk.items() if key[1] == factor}, 'planning', 1)}."
            for factor in FACTORS
        ),
        ratios(shrunk, "planning", 1),
    )


def cost_of_a_step(page: Page, chosen: Any) -> None:
    """CPU time of a step where no kernel row has to be computed."""
    if not page.wants("The cost of a step"):
        return
    rules = {name: rule for name, rule in RULES.items() if "HMG" not in name}
    rows = []
    for each in paper_suite(chosen.data_dir):
        if each.name not in (QUICK if chosen.quick else COSTED):
            continue
        data = each.load()
        K = RBF(data.gamma)(data.X, data.X)
        problem = DualProblem.classification(K, data.y, kernel=Precomputed(), C=10.0 * data.C)
        found = measured(problem, rules, COST_TURNS, shrinking=False, cache_mb=700.0)
        costs = {name: 1e6 * seconds / steps for name, (steps, seconds) in found.items()}
        rows.append(
            (
                each.name, f"{problem.n:,}", f"{costs['Newton']:.2f}",
                *(f"{costs[name] / costs['Newton']:.2f}" for name in list(rules)[1:]),
            )
        )  # fmt: skip
    page.add(
        "The cost of a step",
        "CPU time of a whole solve over its steps, each set at 10 C, no shrinking, the kernel matrix given: Newton's "
        f"in µs, the others in those of Newton's; the least of {COST_TURNS} turns.",
        Grid(("problem", "n", "Newton (µs)", *list(rules)[1:]), tuple(rows)),
    )


def measured(
    problem: DualProblem, rules: dict[str, Any], turns: int, **options: Any
) -> dict[str, tuple[int, float]]:
    """Return steps and CPU seconds of each pair of rules, which take turns."""
    found = dict.fromkeys(rules, (0, np.inf))
    for _ in range(turns):
        for name, (selector, step) in rules.items():
            begun = time.thread_time()
            while True:
                began = time.thread_time()
                solution = solve(
                    problem, selector=selector, step=step, engine="numba", time_limit=120.0, **options
                )
                now = time.thread_time()
                found[name] = solution.iterations, min(now - began, found[name][1])
                if now - begun > LEAST:
                    break
    return found


def means(rows: Measured, baseline: str, value: int) -> str:
    """Geometric means of the ratios to the baseline, as text."""
    logs = {
        name: np.mean([np.log(row[name][value] / row[baseline][value]) for row in rows.values()])
        for name in next(iter(rows.values()))
    }
    return ", ".join(f"{name} {np.exp(mean):.3f}" for name, mean in logs.items() if name != baseline)


def ratios(rows: Measured, baseline: str, value: int) -> Grid:
    """One line for each problem: what the baseline takes, and the ratios of the others."""
    others = [name for name in next(iter(rows.values())) if name != baseline]
    lines = []
    for (name, factor), row in rows.items():
        base = row[baseline][value]
        shown = f"{base:,d}" if isinstance(base, int) else f"{base:.4f}"
        lines.append(
            (f"{name}, {factor:g} C", shown, *(f"{row[other][value] / base:.2f}" for other in others))
        )
    return Grid(("problem", baseline, *others), tuple(lines))


def ball(page: Page, suite: Iterable[SuiteProblem]) -> None:
    """How many examples the ball decides, in how many steps and seconds, and how many signs are wrong."""
    lines = []
    for each in suite:
        data = each.load()
        expected = None
        for name, stop in STOPS.items():
            seconds = np.inf
            for _ in range(TURNS):
                began = time.thread_time()
                loo = leave_one_out(
                    data.X,
                    data.y,
                    kernel=RBF(data.gamma),
                    C=data.C,
                    stop=stop,
                    engine="numba",
                    efficiency_test=False,
                )
                seconds = min(seconds, time.thread_time() - began)
            expected = loo.predictions if expected is None else expected
            early = loo.counts["ball"] + loo.counts["duality gap"]
            at_once = int(((loo.round_iterations == 0) & (loo.decided_by == "ball")).sum())
            rounds = early + loo.counts["kkt"]
            wrong = int((loo.predictions != expected).sum())
            lines.append(
                (
                    each.name,
                    name,
                    rounds,
                    early,
                    at_once,
                    int(loo.round_iterations.sum()),
                    f"{seconds:.4f}",
                    wrong,
                )
            )
    columns = (
        "set",
        "rule",
        "rounds",
        "decided early",
        "without a step",
        "steps",
        "CPU s",
        "signs that differ",
    )
    page.add(
        "Leave-one-out, each set at its C",
        "Full solution and checks included in the seconds; no efficiency test. Signs are compared with ε-KKT's.",
        Grid(columns, tuple(tuple(map(str, line)) for line in lines)),
    )


if __name__ == "__main__":
    main()
