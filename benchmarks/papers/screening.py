"""SafeScreening beside LIBSVM's shrinking, restriction and no shrinking: what docs/papers/screening.md says.

python benchmarks/papers/screening.py --data-dir DIR
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from data import first
from page import Page, arguments, carried_out
from page_tables import geometric
from verdicts import listed

from refsvm import (
    LIBSVMShrinking,
    NewtonStep,
    NoShrinking,
    Restriction,
    SafeScreening,
    SecondOrder,
    Status,
    solve,
)
from refsvm.core.solver import safe_screening
from refsvm.core.state import SolverState
from refsvm.datasets import paper_suite
from refsvm.experiment import Experiment, Grid, Instance, Problem, Strategy
from refsvm.experiment.strategy import EIGHT_POINTS, Record, one_thread

RULES: dict[str, Any] = {
    "none": NoShrinking(), "LIBSVM": LIBSVMShrinking(), "restriction": Restriction(), "safe": SafeScreening(),
    "safe, 100": SafeScreening(100),
}  # fmt: skip
PARTS = (0.25, 0.5, 0.75, 0.9, 1.0)
"""Parts of the steps after which the share of the variables that are removed is told."""
MOST = 2000
"""Examples of a set: the first of a random order, where it has more."""
QUICK = ("ida_heart", "ida_thyroid")


@dataclass(frozen=True)
class EachShrinking(Strategy):
    """Solve by each of `RULES`, one after the other, again and again: steps, rows, and the least CPU seconds."""

    turns: int = 3

    def warm_up(self) -> None:
        """Load compiled code."""
        replace(self, turns=1).run(EIGHT_POINTS)

    def run(self, instance: Instance) -> Record:
        """Measure every rule once in each turn."""
        problem, record, best = instance.dual(), {"n": len(instance.y)}, -np.inf
        for turn, name in ((turn, name) for turn in range(self.turns) for name in RULES):
            with one_thread(), _looks() as left:
                began = time.thread_time()
                found = solve(
                    problem, selector=SecondOrder(), step=NewtonStep(), shrinking=RULES[name], engine="numba",
                    cache_dtype="float64", cache_mb=1000.0, max_iter=50_000_000,
                )  # fmt: skip
                cpu = time.thread_time() - began
            best = max(best, found.objective)
            least = min(cpu, record.get(f"{name}: cpu", np.inf))
            record |= {
                f"{name}: steps": found.iterations, f"{name}: rows": found.kernel_rows, f"{name}: cpu": least,
                f"{name}: objective": found.objective, f"{name}: solved": found.status is Status.CONVERGED,
            }  # fmt: skip
            if turn == 0 and left:
                for part in PARTS:
                    some = [count for steps, count in left if steps <= part * found.iterations]
                    record[f"{name}: {part:g}"] = 1.0 - min(some, default=problem.n) / problem.n
        at_bound = (found.alpha == problem.lower) | (found.alpha == problem.upper)
        return record | {"at a bound": float(at_bound.mean()), "objective": best}


@contextmanager
def _looks() -> Iterator[list[tuple[int, int]]]:
    """Give a list to which each look adds the steps that were taken, and how many variables are left."""
    left: list[tuple[int, int]] = []
    undecided = safe_screening.undecided

    def looked(state: SolverState) -> np.ndarray:
        stays = undecided(state)
        steps, outer = state.iteration, state.parent
        while outer is not None:
            steps, outer = steps + outer[0].iteration, outer[0].parent
        left.append((steps, int(stays.sum())))
        return stays

    safe_screening.undecided = looked
    try:
        yield left
    finally:
        safe_screening.undecided = undecided


# -- The page --------------------------------------------------------------------------------------------------

ABOUT = """
`SafeScreening` removes a variable from the problem only if the duality gap proves that this variable is at its present
bound in every optimum. LIBSVM's shrinking and `Restriction` guess which variables stay at their bounds, check the guess
later, and bring variables back. This page compares these three rules on the eighteen sets of the planning-ahead paper,
at their C and γ. We cut these sets to the first {most:,} examples of a random order: SETS. Every solve chooses
second-order pairs, takes Newton steps, keeps all kernel rows in memory as float64, and ends at ψ ≤ 0.001. The rule
*none* takes all steps on all variables. Every 1,000 steps (the default) the rule *safe* searches for variables that it
can remove; the rule *safe, 100* searches every 100 steps.
"""


def main() -> None:
    """Run what is missing; print it and write the page."""
    chosen = arguments(__doc__ or "", "screening", 1, [])
    suite, cut = [], []
    for each in paper_suite(chosen.data_dir):
        if not chosen.quick or each.name in QUICK:
            suite.append(shortened(Problem.of_suite(each)))
            cut += [each.name] if each.load().n > MOST else []
    page = Page("What safe screening saves", "benchmarks/papers/screening.py", chosen)
    page.add("What is compared", ABOUT.strip().format(most=MOST).replace("SETS", listed(cut)))
    if page.wants("Steps") or page.wants("CPU seconds") or page.wants("The share"):
        runs = Experiment([EachShrinking("each rule")], suite, chosen.store, 1)
        records = carried_out("Shrinking", runs, chosen.jobs).records()
        page.add("Steps and kernel rows", *counts(records))
        page.add("CPU seconds of a solve, relative to no shrinking", *seconds(records))
        page.add("The share removed along the run", *shares(records))
    page.write()


def shortened(problem: Problem) -> Problem:
    """Return a problem with its first examples, if it has many."""
    load = problem.load

    def some() -> Any:
        data = load()
        return first(data, MOST) if data.n > MOST else data

    return replace(problem, load=some)


def counts(records: Sequence[Record]) -> tuple[Any, ...]:
    """Steps and kernel rows of each rule."""
    columns = [(what, name) for what in ("steps", "rows") for name in RULES]
    rows = [
        (each["problem"], f"{each['n']:,}", *(f"{each[f'{name}: {what}']:,}" for what, name in columns))
        for each in records
    ]
    off = max(1.0 - each[f"{name}: objective"] / each["objective"] for each in records for name in RULES)
    unsolved = [
        f"{each['problem']} by {name}" for each in records for name in RULES if not each[f"{name}: solved"]
    ]
    same = [
        each["problem"] for each in records
        if all(each[f"{name}: rows"] == each["none: rows"] for name in ("safe", "safe, 100"))
    ]  # fmt: skip
    ended = f"{len(unsolved)} solves did not end" if unsolved else "All solves ended"
    text = (
        f"Each kernel row has n values. {ended}; all objectives are within {off:.1e} of the best objective. On "
        f"{len(same)} of {len(records)} sets safe screening computes as many rows as a solve without shrinking: when "
        "safe screening removes variables, the rows of the remaining variables are in memory already. The first table "
        "shows geometric means over the sets:"
    )
    means = [
        (name, *(f"{geometric([ratio(each, name, what) for each in records]):.2f}" for what in ("steps", "rows")))
        for name in RULES
    ]  # fmt: skip
    heads = ("set", "n", *(f"{what}, {name}" for what, name in columns))
    return (
        text,
        Grid(("rule", "steps, relative to none", "rows, relative to none"), tuple(means)),
        Grid(heads, tuple(rows)),
    )


def seconds(records: Sequence[Record]) -> tuple[Any, ...]:
    """CPU seconds of each rule, as ratios."""
    others = [name for name in RULES if name != "none"]
    rows = [
        (each["problem"], f"{each['none: cpu']:.4f}", *(f"{ratio(each, name, 'cpu'):.2f}" for name in others))
        for each in records
    ]
    means = {name: geometric([ratio(each, name, "cpu") for each in records]) for name in others}
    faster = sum(ratio(each, "safe", "cpu") < 1.0 for each in records)
    beaten = sum(
        min(each["LIBSVM: cpu"], each["restriction: cpu"]) < min(each["safe: cpu"], each["safe, 100: cpu"])
        for each in records
    )
    verdict = "slower" if means["safe"] > max(1.0, means["LIBSVM"], means["restriction"]) else "not slower"
    text = (
        "We ran the rules one after the other, three times. The table shows the least seconds of each rule, including "
        f"the kernel rows. **Safe screening is {verdict} than the other rules.** In the geometric mean safe screening "
        f"takes {means['safe']:.2f} times the seconds of a solve without shrinking, and {means['safe, 100']:.2f} times "
        f"if it searches every 100 steps. LIBSVM's shrinking takes {means['LIBSVM']:.2f} times the seconds "
        f"of a solve without shrinking, and restriction {means['restriction']:.2f} times. Safe screening is faster "
        f"than no shrinking on {faster} of {len(records)} sets. On {beaten} of {len(records)} sets "
        "LIBSVM's shrinking or restriction, whichever takes less time, is "
        "faster than both versions of safe screening. On the sets of at most 1,500 examples restriction is fast "
        "in part because it computes all kernel rows at once."
    )
    mean_row = ("geometric mean", "", *(f"{mean:.2f}" for mean in means.values()))
    return text, Grid(("set", "none (s)", *others), (*rows, mean_row))


def shares(records: Sequence[Record]) -> tuple[Any, ...]:
    """The share of the variables that are removed after parts of the steps, and of those at a bound at the end."""
    rows, never = [], []
    for each in records:
        cells = [
            f"{each.get(f'{name}: {part:g}', 0.0):.2f}" for name in ("safe", "safe, 100") for part in PARTS
        ]
        rows.append((each["problem"], *cells, f"{each['at a bound']:.2f}"))
        never += [each["problem"]] if each.get("safe, 100: 0.9", 0.0) == 0.0 else []
    half = [
        float(np.mean([each.get(f"{name}: {part:g}", 0.0) for each in records]))
        for name in ("safe", "safe, 100")
        for part in (0.5, 0.9)
    ]
    text = (
        "The table shows which share of the variables safe screening has removed after 25 %, 50 %, 75 %, 90 % and "
        "100 % of the steps. The last column shows the share of the variables that are at a bound in the solution; "
        f"only these can be removed. On average over the sets, safe screening has removed {half[0]:.2f} of the "
        f"variables after half of the steps and {half[1]:.2f} after nine tenths; if safe screening searches every 100 "
        f"steps, it has removed {half[2]:.2f} and {half[3]:.2f} of the variables. On "
        f"{len(never)} of {len(records)} sets safe screening has removed no variable after nine tenths of the steps, "
        "however often it searches."
    )
    heads = (
        "set",
        *(f"{name}, {part:.0%}" for name in ("safe", "safe, 100") for part in PARTS),
        "at a bound",
    )
    return text, Grid(heads, tuple(rows))


def ratio(record: Record, name: str, what: str) -> float:
    """Return what a rule takes, in what no shrinking takes."""
    return float(record[f"{name}: {what}"] / max(record[f"none: {what}"], 1e-9))


if __name__ == "__main__":
    main()
