"""What each idea of the book is worth: steps, kernel rows and seconds on five sets, for the boxes of chapters 7 to 18.

    python benchmarks/worth.py                # measure all boxes, store the runs in worth.json, print the boxes
    python benchmarks/worth.py --only 10 13   # measure these again
    python benchmarks/worth.py --print        # print the boxes from the stored runs

`docs/_ext/closing.py` includes the printed boxes in the chapters. Seconds are processor time on one core, the least of
several turns. Steps and kernel rows are the same on every machine if no path is followed; `tests/docs/test_closing.py`
computes some again.
"""

from __future__ import annotations

import argparse
import ast
import json
import math
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from refsvm import (
    ATO,
    MIR,
    RBF,
    SIR,
    BallRule,
    Cold,
    ConjugateStep,
    DualProblem,
    HybridMaximumGain,
    KKTGap,
    LOODualityGap,
    MostViolatingPair,
    NewtonStep,
    PlanningAheadStep,
    Rounds,
    SecondOrder,
    parametric_path,
    solve,
)
from refsvm.analysis.paths import cross_validate_path
from refsvm.datasets import load, make_banana, make_chessboard
from refsvm.experiment import CrossValidate, GridSearch, Instance, LeaveOneOutError, Problem, Solve
from refsvm.experiment.strategy import Call, one_thread

ROOT = Path(__file__).parents[1]
STORE = Path(__file__).with_suffix(".json")
MACHINE = "AMD EPYC (Zen 4, AVX-512), one of two virtual cores"
SETS = (
    Problem("chessboard", partial(make_chessboard, 300, rng=0), kernel=RBF(0.5), C=1000.0),
    Problem("banana", partial(make_banana, 400, rng=0), kernel=RBF(0.25), C=100.0),
    Problem("tic_tac_toe", partial(load, "tic_tac_toe"), kernel=RBF(0.02), C=200.0),
    Problem("ionosphere", partial(load, "ionosphere"), kernel=RBF(0.4), C=3.0),
    Problem("heart", partial(load, "heart"), kernel=RBF(0.005), C=1.0),
)
"""Five sets, all bundled or generated, with the parameters that the chapters use."""


@dataclass(frozen=True)
class Way:
    """A line of a box: its name, the work that is timed, and the numbers that are counted."""

    name: str
    work: Callable[[Any], Any]
    counts: Callable[[Any], tuple[int, int | None]] = lambda result: (result.iterations, result.kernel_rows)
    prepare: Callable[[Instance], Any] = lambda instance: instance


@dataclass(frozen=True)
class Box:
    """The box of a chapter: its title and its lines.

    The first line is the baseline of the ratios. `between` names two lines that are also compared, and `shows_gap` adds
    a column with the KKT gap at the end.
    """

    title: str
    ways: tuple[Way, ...]
    steps: str = "steps"
    between: tuple[int, int] | None = None
    shows_gap: bool = False


def called(strategy: Call) -> Callable[[Instance], Any]:
    """Return a function that calls what the strategy calls."""
    return lambda instance: strategy.call(instance, **strategy.arguments())


def solved(rows: float | None = None, engine: str = "numba", **rules: Any) -> Callable[[Instance], Any]:
    """Return a function that solves an instance; memory holds this share of the kernel rows, by default all."""

    def work(instance: Instance) -> Any:
        n = len(instance.y)
        megabytes = 200.0 if rows is None else (max(2, int(rows * n)) + 0.5) * 8 * n / 2**20
        plain = {"step": NewtonStep(), "shrinking": False, "cache_dtype": "float64"} | rules
        return called(Solve("", cache_mb=megabytes, engine=engine, **plain))(instance)

    return work


def left_out(**rules: Any) -> Callable[[Instance], Any]:
    """Return a function that runs leave-one-out."""
    return called(LeaveOneOutError("", engine="numba", **rules))


def folds(**rules: Any) -> Callable[[Instance], Any]:
    """Return a function that runs ten folds, each round from the round before it."""
    return called(CrossValidate("", engine="numba", from_full=False, **rules))


def exactly(polish: bool = False, tol: float = 1e-3) -> Callable[[Instance], Any]:
    """Return a function that solves to a tolerance, and then by a linear system if `polish` is set."""
    return lambda instance: solve(
        instance.dual(), step=NewtonStep(), stop=KKTGap(tol), shrinking=False, polish=polish, engine="numba"
    )


def doubled(instance: Instance) -> tuple[DualProblem, DualProblem]:
    """Return the problems at half the C of the instance and at its C, with one kernel matrix."""
    end = instance.dual()
    return end.boxed(end.lower / 2.0, end.upper / 2.0), end


def twenty_solves(ends: tuple[DualProblem, DualProblem]) -> list[Any]:
    """Solve at twenty values of C, each from the solution before it, with shared kernel rows."""
    rounds, found, last = Rounds(ends[1], stop=KKTGap(), engine="numba"), [], 0.5
    for share in np.linspace(0.5, 1.0, 20):
        box = rounds.boxed(share * ends[1].lower, share * ends[1].upper)
        start = box.feasible(found[-1].alpha * (share / last)) if found else None
        found.append(rounds.solve(box, start=start))
        last = share
    return found


def summed(results: list[Any]) -> tuple[int, int]:
    """Return the steps of several solutions, and the rows that one kernel matrix has."""
    return sum(each.iterations for each in results), results[0].problem.n


def walked(path: Any) -> tuple[int, int]:
    """Return the events of a path, and the rows of its kernel matrix."""
    return len(path.events), len(path.alpha(1.0))


def twenty_costs(instance: Instance) -> Any:
    """Run a grid of twenty C over two powers of ten, in ten folds."""
    values = tuple((instance.C * np.geomspace(0.01, 1.0, 20)).tolist())
    gamma = (instance.kernel.gamma,)
    return called(GridSearch("", Cs=values, gammas=gamma, cv=10, engine="numba"))(instance)


def all_costs(instance: Instance) -> Any:
    """Follow the paths of ten folds over two powers of ten."""
    return cross_validate_path(
        instance.X, instance.y, kernel=instance.kernel, C_min=instance.C / 100.0, C_max=instance.C, folds=10
    )


def solution(instance: Instance) -> Any:
    """Return a solution so exact that its derivatives are defined, and the instance."""
    return instance, solve(instance.dual(), stop=KKTGap(1e-8), polish=True, engine="numba")


def two_machines(known: Any) -> list[Any]:
    """Solve for two values of γ, a little above and below, from a known solution."""
    instance, found = known
    gammas = (instance.kernel.gamma * (1.0 + share) for share in (1e-4, -1e-4))
    return [
        solve(
            replace(instance, kernel=RBF(each)).dual(), start=found.alpha, stop=KKTGap(1e-8), engine="numba"
        )
        for each in gammas
    ]


def in_turn() -> Any:
    """Return the selector that chapter 17 writes."""
    chapter = ast.parse((ROOT / "tutorials/17_your_own_rule.py").read_text(encoding="utf-8"))
    names: dict[str, Any] = {}
    exec(
        "import numpy as np\nfrom dataclasses import dataclass\nfrom refsvm import WorkingSetSelector", names
    )
    for part in chapter.body:
        if isinstance(part, ast.ClassDef) and part.name == "InTurn":
            exec(compile(ast.Module([part], []), "InTurn", "exec"), names)
    return names["InTurn"]()


PAIRS = {
    "most violating pair": MostViolatingPair(),
    "second order": SecondOrder(),
    "hybrid": HybridMaximumGain(),
}
NO_CHECKS: dict[str, Any] = {"checks": (), "seeder": Cold(), "stop": KKTGap()}
BOXES = {
    7: Box(
        "Selection, with memory for a twentieth of the kernel rows",
        tuple(Way(name, solved(0.05, selector=rule)) for name, rule in PAIRS.items()),
        between=(2, 1),
    ),
    8: Box(
        "Store and shrinking",
        (
            Way("two rows in memory", solved(0.0)),
            Way("a twentieth of the rows", solved(0.05)),
            Way("all rows", solved()),
            Way("all rows, and shrinking", solved(shrinking=True)),
        ),
    ),
    9: Box(
        "A smaller tolerance",
        (
            Way("ψ ≤ 0.001", exactly()),
            Way("ψ ≤ 0.000001", exactly(tol=1e-6)),
            Way("ψ ≤ 0.001, then polished", exactly(polish=True)),
        ),
        shows_gap=True,
    ),
    10: Box(
        "Two kinds of longer steps",
        (
            Way("Newton", solved()),
            Way("planned", solved(step=PlanningAheadStep())),
            Way("conjugate", solved(step=ConjugateStep())),
        ),
    ),
    11: Box(
        "Leave one out",
        (
            Way("every round, from zero", left_out(**NO_CHECKS)),
            Way("three proofs", left_out(seeder=Cold(), stop=KKTGap())),
            Way("three proofs and a seed", left_out(stop=KKTGap())),
        ),
    ),
    12: Box(
        "How a round ends",
        (
            Way("at its optimum", left_out(stop=KKTGap())),
            Way("when F < H", left_out(stop=LOODualityGap())),
            Way("when the ball proves", left_out(stop=BallRule())),
        ),
    ),
    13: Box(
        "Seeds of ten folds",
        tuple(Way(type(rule).__name__, folds(seeder=rule)) for rule in (Cold(), SIR(), MIR(), ATO())),
    ),
    14: Box(
        "From half of C to C",
        (
            Way("twenty solves", twenty_solves, summed, doubled),
            Way("one solve, at C", solved()),
            Way("every C, by the walk", lambda ends: parametric_path(*ends, t=(0.5, 1.0)), walked, doubled),
        ),
        steps="steps, events",
    ),
    15: Box(
        "The error of ten folds, from C/100 to C",
        (
            Way("twenty values of C", twenty_costs, lambda found: (found.model.n_iter_, None)),
            Way("every C, by paths", all_costs, lambda found: (sum(found.breakpoints), None)),
        ),
        steps="steps, corners",
    ),
    16: Box(
        "One solver, three boxes",
        (
            Way("classification", solved()),
            Way("regression, ε = 0.1", solved(), prepare=lambda each: replace(each, epsilon=0.1)),
            Way("novelty, ν = 0.2", solved(), prepare=lambda each: replace(each, C=1.0, nu=0.2)),
        ),
    ),
    17: Box(
        "A rule of your own",
        (
            Way("InTurn", solved(engine="numpy", selector=in_turn())),
            Way("most violating pair", solved(engine="numpy", selector=MostViolatingPair())),
            Way("second order", solved(engine="numpy", selector=SecondOrder())),
            Way("second order, compiled", solved(selector=SecondOrder())),
        ),
    ),
    18: Box(
        "The derivative with respect to γ",
        (
            Way("two more machines", two_machines, lambda found: (summed(found)[0], 2 * summed(found)[1]), solution),
            Way("one system", lambda known: known[1].derivative("gamma"), lambda _: (0, None), solution),
            Way("all parameters", lambda known: known[1].pullback(intercept=1.0), lambda _: (0, None), solution),
        ),
    ),
}  # fmt: skip
"""What is measured, for each chapter."""


def measured(way: Way, instance: Instance, seconds: float = 0.6, most: int = 15) -> dict[str, Any]:
    """Return the counts of a way, and the least processor time of some turns; the first turn is not timed."""
    result, clock = way.work(way.prepare(instance)), []
    while len(clock) < 2 or (sum(clock) < seconds and len(clock) < most):
        given = way.prepare(instance)
        began = time.process_time()
        result = way.work(given)
        clock.append(time.process_time() - began)
    steps, rows = way.counts(result)
    run = {"steps": steps, "rows": rows, "seconds": float(f"{min(clock):.3g}")}
    return run | ({"gap": float(f"{result.kkt_gap:.1e}")} if hasattr(result, "kkt_gap") else {})


def cells(run: dict[str, Any]) -> str:
    """Return the three numbers of a line."""
    rows = "–" if run["rows"] is None else f"{run['rows']:,}"
    return f"{run['steps']:>14,}{rows:>10}{1e3 * run['seconds']:>12,.{1 if run['seconds'] < 0.1 else 0}f}"


def gap(run: dict[str, Any]) -> str:
    """Return the cell of the KKT gap."""
    return f"{run['gap']:>12.0e}"


def verdicts(box: Box, runs: list[dict[str, Any]]) -> Iterator[str]:
    """Yield a sentence for each pair of ways: the ratio of their seconds, and where the first takes more."""
    seconds = {(run["set"], run["way"]): run["seconds"] for run in runs}
    pairs = [(way.name, box.ways[0].name) for way in box.ways[1:]]
    pairs += [(box.ways[box.between[0]].name, box.ways[box.between[1]].name)] if box.between else []
    for name, first in pairs:
        ratios = {each.name: seconds[each.name, name] / seconds[each.name, first] for each in SETS}
        mean = math.exp(sum(map(math.log, ratios.values())) / len(ratios))
        more = [each for each, ratio in ratios.items() if ratio > 1.05]
        share = f"{mean:.2g} times" if mean >= 1.0 else f"{mean:.2g} of"
        where = "every set" if len(more) == len(SETS) else ", ".join(more) or "no set"
        yield f"*{name}* takes {share} the time of *{first}* in the geometric mean. It takes longer on {where}."


def printed(chapter: int, stored: list[dict[str, Any]]) -> tuple[str, str, str]:
    """Return the title of a box, its table, and the sentences below it."""
    box = BOXES[chapter]
    runs = [run for run in stored if run["chapter"] == chapter]
    width = 2 + max(len(way.name) for way in box.ways)
    lines = [f"{'':{width}}{box.steps:>14}{'rows':>10}{'ms':>12}" + (f"{'gap':>12}" if box.shows_gap else "")]
    for each in SETS:
        lines.append(each.name)
        for way in box.ways:
            (run,) = (run for run in runs if (run["set"], run["way"]) == (each.name, way.name))
            lines.append(f"{'  ' + way.name:{width}}{cells(run)}{gap(run) if box.shows_gap else ''}")
    return box.title, "\n".join(lines), " ".join(verdicts(box, runs))


def stored_runs() -> list[dict[str, Any]]:
    """Return the runs that are stored."""
    return json.loads(STORE.read_text(encoding="utf-8")) if STORE.is_file() else []


def main() -> None:
    """Measure what is asked for, store it, and print the boxes."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", nargs="+", type=int, choices=sorted(BOXES), default=sorted(BOXES))
    parser.add_argument("--print", action="store_true", dest="prints")
    chosen = parser.parse_args()
    runs = stored_runs()
    if not chosen.prints:
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
        for chapter in chosen.only:
            runs = [run for run in runs if run["chapter"] != chapter]
            with one_thread():
                for each, way in product(SETS, BOXES[chapter].ways):
                    key = {"chapter": chapter, "set": each.name, "way": way.name}
                    runs.append(key | measured(way, each.instance()))
            runs.sort(key=lambda run: run["chapter"])
            lines = ",\n".join(f" {json.dumps(run, ensure_ascii=False)}" for run in runs)
            STORE.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    for chapter in chosen.only:
        print(f"\n{chapter}. " + "\n\n".join(printed(chapter, runs)))
    print(f"\n{MACHINE}; load {os.getloadavg()[0]:.1f}.")


if __name__ == "__main__":
    main()
