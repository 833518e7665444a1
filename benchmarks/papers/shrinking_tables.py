"""Shrinking × step × selector: the steps of every combination that the rules allow, for the page on planning ahead."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import Any

from page import Page, carried_out
from remarks import PLANNING_AHEAD as REMARKS

from refsvm import (
    ConjugateSecondOrder,
    ConjugateStep,
    HybridMaximumGain,
    LIBSVMShrinking,
    MostViolatingPair,
    NewtonStep,
    NoShrinking,
    PlanningAheadStep,
    Restriction,
    SecondOrder,
)
from refsvm.experiment import Experiment, Grid, Problem, Solve
from refsvm.experiment.grid import ratio_of

__all__ = ["shrinking_tables"]

HEADING = "Shrinking × step × selector"
SHRINKINGS = {"none": NoShrinking(), "LIBSVM's": LIBSVMShrinking(), "restriction": Restriction()}
PAIRS = {  # planned steps need the candidates of second order
    ("most violating pair", "Newton"): (MostViolatingPair(), NewtonStep()),
    ("most violating pair", "conjugate"): (MostViolatingPair(), ConjugateStep()),
    ("second order", "Newton"): (SecondOrder(), NewtonStep()),
    ("second order", "planned"): (SecondOrder(), PlanningAheadStep()),
    ("second order", "conjugate"): (SecondOrder(), ConjugateStep()),
    ("HMG", "Newton"): (HybridMaximumGain(), NewtonStep()),
    ("HMG", "conjugate"): (HybridMaximumGain(), ConjugateStep()),
    ("its own", "conjugate"): (ConjugateSecondOrder(), ConjugateStep()),
}
SMO = ("second order", "Newton")
SHOWN = (("second order", "planned"), ("its own", "conjugate"))
ORDERS = 2


def shrinking_tables(page: Page, chosen: Any, problems: Sequence[Problem]) -> None:
    """Carry out all combinations and write the section, unless the page keeps its own."""
    if not page.wants(HEADING):
        return
    engine = "numpy" if chosen.quick else "auto"  # to compile them all takes minutes
    common = {"cache_mb": 600.0, "max_iter": 10**9, "engine": engine}
    strategies = [
        Solve(name(pair, words), selector=selector, step=step, shrinking=rule, **common)
        for (words, rule), (pair, (selector, step)) in product(SHRINKINGS.items(), PAIRS.items())
    ]
    orders = min(ORDERS, chosen.permutations)
    runs = carried_out(HEADING, Experiment(strategies, problems, chosen.store, orders), chosen.jobs)
    text = f"{len(problems)} sets, {orders} order{'s' * (orders > 1)}, ε = 0.001, kernel rows in memory."
    page.add(
        HEADING, text,
        "Steps relative to second order with Newton steps and without shrinking: the geometric mean over the sets, "
        "in brackets the least and the largest ratio.", over_all(runs),
        "Set by set, relative to second order with Newton steps and the same shrinking:", by_set(runs),
        REMARKS["shrinking tables"],
    )  # fmt: skip


def name(pair: tuple[str, str], words: str) -> str:
    """Return what a combination is called in the store."""
    return ", ".join((*pair, words))


def over_all(runs: Experiment) -> Grid:
    """A row for each selector and step, a column for each shrinking."""
    comparison = runs.compare("iterations", name(SMO, "none"))
    rows = []
    for pair in PAIRS:
        row = list(pair)
        for words in SHRINKINGS:
            own = name(pair, words)
            cells = [comparison.cells[each.name, own].ratio or 1.0 for each in runs.problems]
            mean = 1.0 if own == comparison.baseline else comparison.geometric_mean(own)
            row.append(f"{ratio_of(mean)} ({min(cells):.2f} … {max(cells):.2f})")
        rows.append(tuple(row))
    return Grid(("selector", "step", *SHRINKINGS), tuple(rows), labels=2)


def by_set(runs: Experiment) -> Grid:
    """A row for each set: planned steps, and conjugate ones with their selector, under each shrinking."""
    compared = {}
    for words in SHRINKINGS:
        names = [name(pair, words) for pair in (SMO, *SHOWN)]
        some = replace(runs, strategies=[each for each in runs.strategies if each.name in names])
        compared[words] = some.compare("iterations", name(SMO, words))
    columns = [(pair, words) for pair, words in product(SHOWN, SHRINKINGS)]
    rows = [
        (each.name, *(ratio_of(compared[words].cells[each.name, name(pair, words)].ratio) for pair, words in columns))
        for each in runs.problems
    ]  # fmt: skip
    means = (ratio_of(compared[words].geometric_mean(name(pair, words))) for pair, words in columns)
    headers = (f"{pair[1]}, {words}" for pair, words in columns)
    return Grid(("problem", *headers), (*rows, ("geometric mean", *means)))
