"""Steps and selectors beside each other, chains of conjugate steps, and the ball: what docs/papers/conjugate.md says.

python benchmarks/papers/conjugate.py --data-dir DIR --full
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from conjugate_strategies import LEAST, RULES, STOPS, EachStop, InTurns
from page import Page, arguments, carried_out

from refsvm.datasets import paper_suite
from refsvm.experiment import Experiment, Grid, Problem, Strategy
from refsvm.experiment.strategy import Record

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
        "Steps to ε = 0.001, in those of Newton's",
        "Steps are counted on all variables, without shrinking, for each set at its C, 10 C and 100 C.",
        ratios(records, "Newton", "iterations"),
        f"Geometric means of these ratios; the fifteen sets are those without {', '.join(FIFTEEN_LEAVE_OUT)}:",
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
        "CPU seconds of a fit, in those of planning ahead",
        f"Fits have the default shrinking; their seconds include the kernel rows and are the least of {TURNS} turns, "
        f"in which calls shorter than {LEAST:g} s are repeated. The default is planned steps on all variables and "
        "conjugate ones, with their selector, on restricted problems.",
        ratios(records, "planning", "cpu"),
        "Geometric means of these ratios:",
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
        "The cost of a step is the CPU time of a whole solve over its steps, at 10 C, without shrinking and with the "
        f"kernel matrix given; the least of the solves that fill {LEAST:g} s in each of {TURNS} turns. Newton's cost "
        "is in µs, the others are relative to it.",
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
        "Full solution and checks included in the seconds; no efficiency test. Signs are compared with ε-KKT's.",
        Grid(("set", "rule", *columns), tuple(lines)),
    )


if __name__ == "__main__":
    main()
