"""Tables 2, 4, 5, 6, 7 and Figure 6 of T. Glasmachers and C. Igel, "Maximum-gain working set selection for SVMs", 2006.

python benchmarks/papers/maximum_gain.py --data-dir DIR
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import data
import numpy as np
from cpu_solve import CPUSolve
from newton_step_gap import NewtonStepGap
from page import Page, arguments, carried_out, joined, relative
from remarks import MAXIMUM_GAIN as REMARKS

from refsvm import (
    RBF,
    Decomposition,
    HybridMaximumGain,
    KKTGap,
    LIBSVMShrinking,
    MostViolatingPair,
    NewtonStep,
    SecondOrder,
    Shrinking,
    WorkingSetGap,
)
from refsvm.datasets import Dataset
from refsvm.experiment import Experiment, Grid, Instance, Problem, Solve, Strategy
from refsvm.experiment.grid import number, p_value, ratio_of
from refsvm.experiment.strategy import Record, one_thread

sys.path.append(str(Path(__file__).parents[2] / "docs" / "examples"))
from cache_aware import CacheAware

# -- The problems and selectors of Glasmachers & Igel (2006), with their published figures -------------------

MVP, SECOND = "LIBSVM-2.71 (MVP)", "LIBSVM-2.8 (second order)"
HMG, HMG_NEWTON, HMG_KKT = "HMG, μ* < ε", "HMG, μ̂ < ε", "HMG, KKT gap"


@dataclass(frozen=True)
class Task:
    """A line of Table 1: a data set with its σ and C, and which part of its kernel matrix the cache holds."""

    name: str
    load: Callable[[], Dataset]
    n: int
    sigma: float
    C: float
    fraction: float

    @property
    def problem(self) -> Problem:
        """The problem, with γ = 1/(2σ²)."""
        return Problem(self.name, self.load, RBF(1 / (2 * self.sigma**2)), self.C)

    def cache_mb(self, fraction: float | None = None) -> float:
        """Memory for that part of the n² float64 values of K, for three rows at least."""
        rows = max(3.0, (self.fraction if fraction is None else fraction) * self.n)
        return rows * self.n * 8 / 2**20


WHOLE = {"connect-4": 30_555}  # as in the paper; all 60,000 digits take twenty minutes
ALL_OF_MNIST = "MNIST:all"
FULL = ("connect-4", "MNIST", ALL_OF_MNIST)
SMALL = {"spambase": 2000, "connect-4": 2000, "MNIST": 1000}
"""Sizes for the open questions."""


def tasks(data_dir: Path | None, sizes: dict[str, int]) -> dict[str, Task]:
    """Return the three public problems of Table 1, the first n examples of each in one random order."""
    lines = {
        "spambase": (data.standardised_spambase, 10.0, 50.0, 0.472),
        "connect-4": (data.connect_4, 1.5, 4.5, 0.0107),
        "MNIST": (data.mnist, 3500.0, 50.0, 0.0028),
    }
    found = {}
    for name, n in sizes.items():
        read, sigma, C, fraction = lines[name]
        load = partial(part, read, data_dir, n)
        found[name] = Task(f"{name} ({n:,})", load, n, sigma, C, fraction)
    return found


def part(read: Callable[[Path | None], Dataset], data_dir: Path | None, n: int) -> Dataset:
    """Read a data set and take its first n examples."""
    return data.first(read(data_dir), n)


def strategies(task: Task, shrinking: bool | Shrinking, fraction: float | None = None) -> list[Solve]:
    """MVP, second order, and HMG with the paper's stopping rule, read in two ways, and with that of the others."""
    solve = partial(
        CPUSolve, step=NewtonStep(), shrinking=shrinking, cache_mb=task.cache_mb(fraction), max_iter=10**9,
        cache_dtype="float64",
    )  # fmt: skip
    return [
        solve(MVP, selector=MostViolatingPair()),
        solve(SECOND, selector=SecondOrder()),
        solve(HMG, selector=HybridMaximumGain(), stop=WorkingSetGap()),
        solve(HMG_NEWTON, selector=HybridMaximumGain(), stop=NewtonStepGap()),
        solve(HMG_KKT, selector=HybridMaximumGain(), stop=KKTGap()),
    ]


# Iterations, seconds and objective of Table 2; iterations and seconds without shrinking of Table 4.
TABLE_1 = {  # dim., part of K in the cache, ℓ, SV, BSV
    "spambase": ("57", "47.2 %", 4601, "18.5 %", "11.7 %"),
    "connect-4": ("42", "1.07 %", 30_555, "27.0 %", "7.7 %"),
    "MNIST": ("784", "0.28 %", 60_000, "10.5 %", "4.6 %"),
}
TABLE_2 = {
    "spambase": {MVP: (36610, 11.21, 27019.138), SECOND: (9228, 8.44, 27019.140), HMG_NEWTON: (10563, 9.17, 27019.140)},
    "connect-4": {MVP: (65167, 916, 13557.542), SECOND: (45504, 734, 13557.542), HMG_NEWTON: (50281, 633, 13557.536)},
    "MNIST": {
        MVP: (185162, 13657, 143199.142), SECOND: (110441, 9957, 143199.146), HMG_NEWTON: (152873, 7485, 143199.160)
    },
}  # fmt: skip
TABLE_4 = {
    "spambase": {MVP: (33340, 12.77), SECOND: (9123, 8.98), HMG_NEWTON: (9342, 11.41)},
    "connect-4": {MVP: (65735, 2223), SECOND: (45466, 1567), HMG_NEWTON: (49512, 1005)},
    "MNIST": {MVP: (187653, 94981), SECOND: (110470, 58213), HMG_NEWTON: (155182, 41097)},
}
TABLE_5 = {  # part of the kernel matrix in the cache → seconds
    0.0056: {MVP: 958, SECOND: 766, HMG_NEWTON: 656},
    0.0112: {MVP: 916, SECOND: 734, HMG_NEWTON: 633},
    0.0280: {MVP: 758, SECOND: 649, HMG_NEWTON: 583},
    0.0560: {MVP: 603, SECOND: 547, HMG_NEWTON: 555},
}
ONE_ROW = {"spambase": (14023, 27019.134), "connect-4": (83305, 13557.529)}
WHOLE_CACHE = {"spambase": (7280, 27019.143), "connect-4": (51285, 13557.538)}


# -- Figure 6 of Glasmachers & Igel (2006): HMG beside the other selectors over C and γ ----------------------


def figure_6(script: Any, data_dir: Path | None, n: int) -> None:
    """HMG against the others over C and γ."""
    base = tasks(data_dir, {"connect-4": n})["connect-4"]
    factors = (0.01, 0.1, 1.0, 10.0, 100.0)
    gamma = 1 / (2 * base.sigma**2)
    problems = {
        (a, b): Problem(f"C = {a * base.C:g}, γ = {b * gamma:.3g}", base.load, RBF(b * gamma), a * base.C)
        for a, b in product(factors, factors)
    }
    solves = [solve for solve in strategies(base, False) if solve.name in (MVP, SECOND, HMG_KKT)]
    runs = carried_out("Figure 6", Experiment(solves, list(problems.values()), script.store), script.jobs)
    marks = degenerate(runs, n)
    grids = []
    for metric, other in product(("kernel_rows", "cpu"), (MVP, SECOND)):
        comparison = runs.compare(metric, other)
        rows = tuple(
            (f"γ = {b * gamma:.3g}", *(ratio_of(comparison.cells[problems[a, b].name, HMG_KKT].ratio)
                                       + marks[problems[a, b].name] for a in factors))
            for b in factors
        )  # fmt: skip
        what = f"{'CPU seconds' if metric == 'cpu' else 'kernel rows'} of HMG / {other}"
        grids.append(Grid((what, *(f"C = {a * base.C:g}" for a in factors)), rows))
    text = (
        f"All solves of {base.name} use one random order of the examples and no shrinking, and stop at the KKT gap. "
        "The tables show the kernel rows or seconds of HMG divided by those of the other selector. "
        "† means that at least 99 % of the examples are support vectors; ‡ means that at least 99 % of the support "
        "vectors are at the bound."
    )
    ahead = {
        metric: sum(
            (runs.compare(metric, SECOND).cells[each.name, HMG_KKT].ratio or 1.0) < 1.0
            for each in problems.values()
        )
        for metric in ("kernel_rows", "cpu")
    }
    own = " and ".join(
        ratio_of(runs.compare("kernel_rows", other).cells[problems[1.0, 1.0].name, HMG_KKT].ratio)
        for other in (MVP, SECOND)
    )
    remark = REMARKS["figure 6"].format(own=own, rows=ahead["kernel_rows"], seconds=ahead["cpu"])
    script.page.add("Figure 6: C and γ", text, *grids, remark)


def degenerate(runs: Experiment, n: int) -> dict[str, str]:
    """The marks of the figure: nearly all examples support vectors, nearly all of those at the bound."""
    vectors, bounded = (
        runs.compare(metric).cells for metric in ("support_vectors", "bounded_support_vectors")
    )
    marks = {}
    for problem in runs.problems:
        place = problem.name, SECOND
        many, tied = vectors[place].mean >= 0.99 * n, bounded[place].mean >= 0.99 * vectors[place].mean
        marks[problem.name] = " " + "†" * many + "‡" * tied
    return marks


# -- What Glasmachers & Igel (2006) leave open: a selector that goes by the cache, and working sets of ten variables --

OPEN = "Open questions: a switch by the cache, ten variables a step"
QUESTION_METRICS = {"iterations": 5, "kernel_rows": 5, "seconds": 3, "objective": 8}
PLAIN_SECOND, PLAIN_HMG, AWARE, TEN = "second order", "HMG", "cache-aware", "ten variables"
TABLE_3 = {"spambase": (9450, 27019.125), "connect-4": (17_315, 13557.520), "MNIST": (42_347, 143175.447)}
"""Iterations and objective of SVM-light with q = 10, on the sets in full."""
FRACTIONS = (0.0107, 0.05, 0.2, 0.6)

QUESTIONS_REMARK = """
**The switch.** The paper suggests "a mixed strategy which switches between the algorithms depending on cache and
problem size" and gives no rule. Our rule [`CacheAware`](../gallery/examples/09_a_rule_for_a_full_cache.rst), from the
gallery of examples, uses second order while the cache has a free slot, and HMG once the cache is full. All three rules
stop at the KKT gap, without shrinking. **Kernel rows.** If the cache can hold all rows that the solve needs (on
spambase, and on connect-4 if the cache holds 60 % of its matrix), `CacheAware` always selects by second order. With a
smaller cache `CacheAware` computes as many rows as HMG, to within a few per cent. **Seconds.** On connect-4 with little
memory second order is the fastest rule. `CacheAware` and HMG are slower, because computing a row with 42 features takes
little time compared with HMG's scan of two rows. On MNIST, with 784 features, `CacheAware` and HMG are faster than
second order.

**Ten variables a step.** In each step `Decomposition(10)` solves the problem restricted to the ten variables that
violate the KKT conditions most, as SVM-light does. We count the steps on pairs inside our working sets. The column
*sets there* counts the paper's working sets, on all examples of the data sets.
Working sets of ten variables compute {rows}
times the kernel rows of second order on the three data sets; in the paper's Table 3 such working sets also take more
time than pairs. The table leaves out seconds, because slow Python code builds each of our working sets.
"""


def open_questions(
    page: Page, every: dict[str, Any], run: Callable[[str, Any, list[Solve], int], Experiment], orders: int
) -> None:
    """Write the section: two tables of the selectors, one of the working sets."""
    grids = [
        run("Switch", task, _rules_in_question(task), orders).listing(QUESTION_METRICS)
        for task in every.values()
    ]
    task, rows = every["connect-4"], []
    for fraction in FRACTIONS:
        runs = run("Switch", task, _rules_in_question(task, fraction), 1)
        cells = {metric: runs.compare(metric).cells for metric in ("iterations", "kernel_rows", "seconds")}
        each = [
            number(cells[metric][task.name, name].mean, digits)
            for metric, digits in (("iterations", 5), ("kernel_rows", 5), ("seconds", 3))
            for name in (PLAIN_SECOND, PLAIN_HMG, AWARE)
        ]
        rows.append((f"{100 * fraction:.2f} %", *each))
    heads = (
        f"{name}, {what}"
        for what in ("steps", "rows", "seconds")
        for name in (PLAIN_SECOND, PLAIN_HMG, AWARE)
    )
    sets, shares = _working_sets(every, run)
    page.add(
        OPEN, f"The tables show means of {orders} orders, without shrinking.", joined(grids),
        f"The next table shows {task.name} with caches of several sizes, for one order of the examples:",
        Grid(("K in the cache", *heads), tuple(rows)), "The last table uses one order:", sets,
        QUESTIONS_REMARK.format(rows=", ".join(shares)),
    )  # fmt: skip


def _rules_in_question(task: Any, fraction: float | None = None) -> list[Solve]:
    """The three selectors with this part of the kernel matrix in memory."""
    solve = partial(
        Solve, step=NewtonStep(), shrinking=False, cache_mb=task.cache_mb(fraction), max_iter=10**9,
        cache_dtype="float64",
    )  # fmt: skip
    rules = {PLAIN_SECOND: SecondOrder(), PLAIN_HMG: HybridMaximumGain(), AWARE: CacheAware()}
    return [solve(name, selector=rule) for name, rule in rules.items()]


def _working_sets(
    every: dict[str, Any], run: Callable[[str, Any, list[Solve], int], Experiment]
) -> tuple[Grid, list[str]]:
    """Return the table of working sets, and how many times the kernel rows of pairs ten variables compute."""
    grids, shares = [], []
    for name, task in every.items():
        pairs = _rules_in_question(task)[0]
        options = {
            "step": NewtonStep(),
            "selector": SecondOrder(),
            "cache_mb": pairs.cache_mb,
            "max_iter": 10**9,
        }
        ten = Solve(TEN, shrinking=Decomposition(10), cache_dtype="float64", **options)
        runs = run("Working sets", task, [pairs, ten], 1)
        sets, objective = TABLE_3[name]
        beside = {
            "sets there": {(task.name, TEN): f"{sets:,}"},
            "objective there": {(task.name, TEN): f"{objective:,.3f}"},
        }
        grids.append(runs.listing({"iterations": 5, "kernel_rows": 5, "objective": 8}, beside=beside))
        rows = runs.compare("kernel_rows").cells
        shares.append(f"{rows[task.name, TEN].mean / rows[task.name, PLAIN_SECOND].mean:.2f}")
    return joined(grids), shares


# -- CPU seconds of second order and of HMG against n: Glasmachers & Igel (2006) on large training sets ------

AGAINST_N = "Time against n: second order and HMG"
PRICE = "a row"
ORDERS = {
    "connect-4": {2000: 20, 4000: 20, 8000: 3, 30_555: 1},
    "MNIST": {500: 20, 1000: 20, 2000: 3, 4000: 1, 8000: 1},
}
"""Orders of the examples by n, fewer where one takes minutes; p is at least 0.25 with three, which shows nothing."""
LAST = {"connect-4": 8000, "MNIST": 4000}
"""The largest n unless ``--full`` names the set."""
ALL_DIGITS = 60_000
"""The n of `ALL_OF_MNIST`, in one order: twenty minutes."""

AGAINST_N_REMARK = """
The table shows CPU seconds of solves that stop at the KKT gap, use LIBSVM's shrinking, and keep the paper's part of the
kernel matrix in memory (1.07 % for connect-4, 0.28 % for MNIST). The column *a row* shows the time of one kernel row;
the columns *a step* show the time of a whole solve divided by its number of steps. A step of maximum gain
computes at most one kernel row, and examines
two rows; a step of second order computes up to two rows. HMG is faster than second order {verdict}. HMG takes more
steps than second order, so HMG is faster only if a step of HMG takes correspondingly less time than a step of second
order. {steps} At the same n a row of MNIST, with 784 features, takes several times as long as a row of connect-4, with
42 features. In the paper HMG takes 86 % of the time of second order on connect-4 with 30,555 examples, and 75 % on all
examples of MNIST.
"""


@dataclass(frozen=True)
class RowPrice(Strategy):
    """What one kernel row takes, in CPU time: the median of `repeats` rows, one at a time, none of them in memory."""

    repeats: int = 40

    def run(self, instance: Instance) -> Record:
        """Measure."""
        with one_thread():
            gram = instance.dual().gram
            seconds = []
            for i in np.linspace(0, len(instance.y) - 1, self.repeats).astype(int):
                began = time.process_time()
                gram.row(int(i))
                seconds.append(time.process_time() - began)
        return {"milliseconds": 1e3 * float(np.median(seconds))}


def sizes(quick: bool, full: list[str]) -> list[tuple[str, int, int]]:
    """Return names, sizes and orders of what is to be measured, the fastest first."""
    if quick:
        return [("connect-4", 300, 2), ("MNIST", 200, 2)]
    found = [
        (name, n, orders)
        for name, line in ORDERS.items()
        for n, orders in line.items()
        if name in full or n <= LAST[name]
    ]
    if ALL_OF_MNIST in full:
        found.append(("MNIST", ALL_DIGITS, 1))
    return sorted(found, key=lambda each: each[1] * (8 if each[0] == "MNIST" else 1))


def time_against_n(
    page: Page,
    chosen: Any,
    task_of: Callable[[str, int], Any],
    run: Callable[[str, Any, list[Strategy], int], Experiment],
) -> None:
    """Write the section."""
    lines = {}
    for name, n, orders in sizes(chosen.quick, chosen.full):
        task = task_of(name, n)
        lines[name, n] = _line(task, run("Time against n", task, _two_selectors(task), orders))
    rows = tuple(lines[place][0] for place in sorted(lines))
    verdict = ", ".join(
        f"on {name} at {sum(ratio < 1 for ratio in ratios)} of {len(ratios)} sizes"
        for name in dict.fromkeys(name for name, _ in lines)
        if (ratios := [line[1] for (of, _), line in lines.items() if of == name])
    )
    steps = []
    for name in dict.fromkeys(name for name, _ in lines):
        ratios = [line[2] for (of, _), line in lines.items() if of == name]
        steps.append(
            f"On {name} a step of HMG takes {min(ratios):.2f} to {max(ratios):.2f} times as long as a step of second "
            "order."
        )
    headers = ("problem", "orders", "second order (s)", "HMG (s)", "ratio", "p", "iterations, ratio",
               "kernel rows, ratio", "a row (ms)", "a step, second order (ms)", "a step, HMG (ms)")  # fmt: skip
    page.add(AGAINST_N, Grid(headers, rows), AGAINST_N_REMARK.format(verdict=verdict, steps=" ".join(steps)))


def _two_selectors(task: Any) -> list[Strategy]:
    """The two selectors, and the price of a row."""
    solve = partial(
        CPUSolve, step=NewtonStep(), shrinking=LIBSVMShrinking(), cache_mb=task.cache_mb(), max_iter=10**9,
        cache_dtype="float64",
    )  # fmt: skip
    return [
        RowPrice(PRICE),
        solve(PLAIN_SECOND, selector=SecondOrder()),
        solve(PLAIN_HMG, selector=HybridMaximumGain()),
    ]


def _line(task: Any, runs: Experiment) -> tuple[tuple[str, ...], float, float]:
    """Return the row of one size, and HMG's CPU seconds in those of second order: of the solve, and of a step."""
    compared = {each: runs.compare(each, PLAIN_SECOND).cells for each in ("cpu", "iterations", "kernel_rows")}
    price = runs.compare("milliseconds").cells[task.name, PRICE].mean
    second, hmg = (compared["cpu"][task.name, each] for each in (PLAIN_SECOND, PLAIN_HMG))
    steps = [
        1e3 * compared["cpu"][task.name, each].mean / compared["iterations"][task.name, each].mean
        for each in (PLAIN_SECOND, PLAIN_HMG)
    ]
    ratios = (ratio_of(compared[each][task.name, PLAIN_HMG].ratio) for each in ("iterations", "kernel_rows"))
    cells = (second.show(3), hmg.show(3), ratio_of(hmg.ratio), p_value(hmg.p), *ratios)
    prices = (number(each, 2) for each in (price, *steps))
    return (task.name, str(runs.permutations), *cells, *prices), hmg.ratio or 1.0, steps[1] / steps[0]


# -- The page --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Script:
    """The page, and how the runs are carried out."""

    page: Page
    store: Path
    jobs: int | None
    permutations: int

    def run(
        self, title: str, task: Task, solves: Sequence[Solve], permutations: int | None = None
    ) -> Experiment:
        """Carry out strategies on a task."""
        orders = self.permutations if permutations is None else max(1, min(permutations, self.permutations))
        return carried_out(title, Experiment(solves, [task.problem], self.store, orders), self.jobs)


LARGER = "Larger sets, one order, {} shrinking"


def main() -> None:
    """Run what is asked for; print it and write the page."""
    chosen = arguments(__doc__ or "", "maximum_gain", 10, FULL)
    sizes = {"spambase": 4601, "connect-4": 4000, "MNIST": 1000}
    if chosen.quick:
        sizes, chosen.permutations = {"spambase": 500, "connect-4": 500, "MNIST": 300}, 2
    page = Page("Maximum gain (Glasmachers & Igel 2006), again", "benchmarks/papers/maximum_gain.py", chosen)
    page.add("What we did as the paper, what not", REMARKS["about"])
    if page.wants("With LIBSVM's shrinking"):
        libsvm_shrinking(page, chosen, sizes)
    tables(page, chosen, sizes)
    if page.wants(OPEN):
        every = tasks(chosen.data_dir, sizes if chosen.quick else SMALL)
        script = Script(page, chosen.store, chosen.jobs, chosen.permutations)
        open_questions(page, every, script.run, min(FEW, chosen.permutations))
    if page.wants(AGAINST_N):
        script = Script(page, chosen.store, chosen.jobs, chosen.permutations)
        time_against_n(page, chosen, lambda name, n: tasks(chosen.data_dir, {name: n})[name], script.run)
    page.write()


def tables(page: Page, chosen: Any, sizes: dict[str, int]) -> None:
    """Carry out and write the sections by the paper's numbers, those that are asked for."""
    every = tasks(chosen.data_dir, sizes)
    script = Script(page, chosen.store, chosen.jobs, chosen.permutations)
    if page.wants("The problems"):
        page.add("The problems", table_1(every, runs_of(script, every, False)), REMARKS["sizes"])
    page.add("The stopping rule", REMARKS["stopping"])
    page.add("Theorem 7: maximum gain alone may stall", REMARKS["theorem 7"])
    if page.wants("Table 2"):
        table_2(page, runs_of(script, every, True))
    if page.wants("Table 4"):
        table_4(page, runs_of(script, every, True), runs_of(script, every, False))
    if page.wants("Table 5"):
        table_5(script, every["connect-4"])
    for number_of_rows in ROWS:
        if page.wants(f"Table {number_of_rows}"):
            rows_looked_at(script, every, number_of_rows)
    if page.wants("Figure 6"):
        figure_6(script, chosen.data_dir, 150 if chosen.quick else 2000)
    if "connect-4" not in chosen.full:  # what was measured with it stays
        for words in ("with", "without"):
            page.keeps(LARGER.format(words))
    elif page.wants("Larger sets"):
        full_set(script, chosen)
    if not chosen.quick and page.wants("Claims checked"):
        claims(script, every["spambase"])


def runs_of(script: Script, every: dict[str, Task], shrinking: bool) -> dict[str, Experiment]:
    """Carry out all selectors on all problems, with shrinking or without."""
    title, orders = "Table 2" if shrinking else "Table 4", {"MNIST": 6}
    return {
        name: script.run(title, task, strategies(task, shrinking), orders.get(name))
        for name, task in every.items()
    }


def libsvm_shrinking(page: Page, chosen: Any, sizes: dict[str, int]) -> None:
    """Tables 2, 4 and 5 with the shrinking that the paper had: all that does not depend on the clock."""
    every = tasks(chosen.data_dir, sizes)
    script = Script(page, chosen.store, chosen.jobs, min(FEW, chosen.permutations))
    rule, counts = LIBSVMShrinking(), {"iterations": 5, "kernel_rows": 5, "objective": 8}
    on = {name: script.run("Table 2", task, strategies(task, rule)) for name, task in every.items()}
    off = {name: script.run("Table 4", task, strategies(task, False)) for name, task in every.items()}
    ratios = [relative(each.compare("iterations", SECOND), mean=False) for each in on.values()]
    rows = []
    for (name, shrunk), plain in zip(on.items(), off.values(), strict=True):
        task = shrunk.problems[0].name
        cells = [each.compare("iterations").cells for each in (plain, shrunk)]
        for strategy, there in TABLE_4[name].items():
            ours = [each[task, strategy] for each in cells]
            published = percent(there[0] / TABLE_2[name][strategy][0])
            rows.append(
                (
                    task,
                    strategy,
                    *(each.show(5) for each in ours),
                    percent(ours[0].mean / ours[1].mean),
                    published,
                )
            )
    headers = ("problem", "strategy", "without", "with shrinking", "without, of with", "there")
    task, fractions = every["connect-4"], []
    for fraction in TABLE_5:
        solves = [each for each in strategies(task, rule, fraction) if each.name in (MVP, SECOND, HMG_KKT)]
        cell = script.run("Table 5", task, solves, 1).compare("kernel_rows").cells
        counted = (number(cell[task.name, each.name].mean, 5) for each in solves)
        fractions.append((f"{100 * fraction:.2f} %", *counted))
    page.add(
        "With LIBSVM's shrinking", f"The tables show means of {script.permutations} orders. Table 2:",
        listing(on, counts), joined(ratios), "Table 4, iterations:", Grid(headers, tuple(rows), labels=2),
        "The next table shows the kernel rows of Table 5 for one order of the examples:",
        Grid(("K in the cache", "MVP", "second order", "HMG, KKT gap"), tuple(fractions)), REMARKS["libsvm shrinking"],
    )  # fmt: skip


FEW = 3
"""Orders with LIBSVM's shrinking."""
METRICS = {"iterations": 5, "kernel_rows": 5, "cpu": 3, "objective": 8}


def table_1(every: dict[str, Task], runs: dict[str, Experiment]) -> Grid:
    """The problems and how many support vectors they have, as second order finds them."""
    rows = []
    for name, task in every.items():
        dimension, cache, n, *there = TABLE_1[name]
        cells = (runs[name].compare(f"{kind}support_vectors").cells for kind in ("", "bounded_"))
        found = [percent(cell[task.name, SECOND].mean / task.n) for cell in cells]
        vectors = (text for both in zip(found, there, strict=True) for text in both)
        rows.append((task.name, f"{n:,}", dimension, cache, f"{task.sigma:,g}", f"{task.C:g}", *vectors))
    headers = ("problem", "ℓ there", "dim.", "cache", "σ", "C", "SV", "there", "BSV", "there")
    return Grid(headers, tuple(rows))


def table_2(page: Page, runs: dict[str, Experiment]) -> None:
    """The selectors with shrinking, as the paper ran them."""
    taken = [
        f"On {name} HMG takes {percent(seconds(each, HMG_KKT) / seconds(each, SECOND), 0)} of the seconds of second "
        f"order (in the paper {percent(TABLE_2[name][HMG_NEWTON][1] / TABLE_2[name][SECOND][1], 0)})."
        for name, each in runs.items()
    ]
    rows = [
        f"{mean(each, 'kernel_rows', HMG_KKT) / mean(each, 'kernel_rows', SECOND):.2f}"
        for each in runs.values()
    ]
    first = next(iter(runs.values()))
    steps = [mean(first, "iterations", name) for name in (SECOND, MVP)]
    remark = REMARKS["table 2"].format(
        steps=f"{steps[0]:,.0f}",
        times=f"{steps[1] / steps[0]:.1f}",
        rows=", ".join(rows),
        seconds=" ".join(taken),
    )
    page.add("Table 2: the selectors, with shrinking", listing(runs), against_second_order(runs), remark)


def mean(runs: Experiment, metric: str, strategy: str) -> float:
    """Return the mean of a metric of a strategy on the one problem of an experiment."""
    return runs.compare(metric).cells[runs.problems[0].name, strategy].mean


def seconds(runs: Experiment, strategy: str) -> float:
    """Return the mean CPU seconds of a strategy on the one problem of an experiment."""
    return mean(runs, "cpu", strategy)


def in_words(grid: Grid) -> Grid:
    """Return a table whose header says what cpu is."""
    return replace(grid, headers=tuple("CPU seconds" if each == "cpu" else each for each in grid.headers))


def listing(runs: dict[str, Experiment], metrics: dict[str, int] | None = None) -> Grid:
    """All metrics beside the published ones."""
    grids = []
    for name, experiment in runs.items():
        task, there = experiment.problems[0].name, TABLE_2[name]
        beside = {
            "iterations there": {(task, key): f"{values[0]:,}" for key, values in there.items()},
            "objective there": {(task, key): f"{values[2]:,.3f}" for key, values in there.items()},
        }
        grids.append(in_words(experiment.listing(metrics or METRICS, beside=beside)))
    return joined(grids)


def against_second_order(runs: dict[str, Experiment]) -> Grid:
    """Ratios to LIBSVM-2.8's selector."""
    grids = []
    for experiment in runs.values():
        for metric, words in (
            ("iterations", "iterations"),
            ("kernel_rows", "kernel rows"),
            ("cpu", "CPU seconds"),
        ):
            grid = relative(experiment.compare(metric, SECOND), mean=False)
            rows = tuple((*row[:1], words, *row[1:]) for row in grid.rows)
            grids.append(Grid(("relative to second order (p)", "", *grid.headers[1:]), rows, labels=2))
    return joined(grids)


def table_4(page: Page, on: dict[str, Experiment], off: dict[str, Experiment]) -> None:
    """What shrinking changes."""
    rows = []
    for name, experiment in off.items():
        task = experiment.problems[0].name
        for strategy in (MVP, SECOND, HMG, HMG_NEWTON, HMG_KKT):
            row = [task, strategy]
            for metric, place in (("iterations", 0), ("kernel_rows", None), ("cpu", 1)):
                plain, shrunk = (
                    each.compare(metric).cells[task, strategy] for each in (experiment, on[name])
                )
                row += [plain.show(3 if metric == "cpu" else 5), percent(plain.mean / shrunk.mean)]
                if place is not None:
                    known = strategy in TABLE_4[name]
                    row.append(
                        percent(TABLE_4[name][strategy][place] / TABLE_2[name][strategy][place])
                        if known
                        else ""
                    )
            rows.append(tuple(row))
    headers = ("problem", "strategy", "iterations", "of shrunk", "there", "kernel rows", "of shrunk",
               "CPU seconds", "of shrunk", "there")  # fmt: skip
    costs = [
        seconds(plain, name) / seconds(on[task], name)
        for task, plain in off.items()
        for name in (MVP, SECOND, HMG_KKT)
    ]
    remark = REMARKS["table 4"].format(least=percent(min(costs), 0), most=percent(max(costs), 0))
    page.add("Table 4: without shrinking", Grid(headers, tuple(rows), labels=2), against_second_order(off),
             remark)  # fmt: skip


def percent(ratio: float, digits: int = 1) -> str:
    """Return a ratio in percent."""
    return f"{100 * ratio:.{digits}f} %"


def by_size(names: list[str]) -> str:
    """Return the fastest of each size of the cache, named once if it is the same one."""
    return f"{names[0]} at every size" if len(set(names)) == 1 else ", ".join(names)


def table_5(script: Script, task: Task) -> None:
    """Kernel rows and seconds by the size of the cache, with shrinking, as in the paper, and without."""
    names = (MVP, SECOND, HMG_KKT)
    parts: list[str | Grid] = [f"All solves of {task.name} stop at the KKT gap."]
    short, fastest = ("MVP", "second order", "HMG"), {True: [], False: []}
    for shrinking, words in (
        (True, "The next table uses shrinking, as the paper does:"),
        (False, "The next table uses no shrinking:"),
    ):
        rows = []
        for fraction, there in TABLE_5.items():
            solves = [solve for solve in strategies(task, shrinking, fraction) if solve.name in names]
            runs = script.run("Table 5", task, solves, 3)
            row = [f"{100 * fraction:.2f} %"]
            fastest[shrinking].append(short[min(range(3), key=lambda k: seconds(runs, names[k]))])
            for metric, digits in (("kernel_rows", 5), ("cpu", 3)):
                cells = runs.compare(metric).cells
                row += [number(cells[task.name, name].mean, digits) for name in names]
            rows.append((*row, *(str(there[name]) for name in (MVP, SECOND, HMG_NEWTON) if shrinking)))
        whats = ("rows", "CPU seconds", "seconds there")
        columns = (f"{name}, {what}" for what in whats[: 2 + shrinking] for name in short)
        parts += [words, Grid(("K in the cache", *columns), tuple(rows))]
    remark = REMARKS["table 5"].format(on=by_size(fastest[True]), off=by_size(fastest[False]))
    script.page.add("Table 5: the size of the cache", *parts, remark)


ROWS = {
    6: ("Table 6: one row instead of two", "one row", 1, ONE_ROW),
    7: ("Table 7: all rows in memory instead of two", "all rows", "all", WHOLE_CACHE),
}


def rows_looked_at(script: Script, every: dict[str, Task], table: int) -> None:
    """Tables 6 and 7: one row, or all rows in memory, instead of two."""
    heading, words, rows, published = ROWS[table]
    grids, ratios, saved = [], [], []
    for name in ("spambase", "connect-4"):
        task = every[name]
        # every row in memory is looked at in every step
        if rows == "all" and name == "spambase" and task.n > 2000:
            task = replace(task, name="spambase (2,000)", load=partial(part_of, task, 2000), n=2000)
        solves = [
            CPUSolve(
                f"{looked_at}, {stop}", selector=HybridMaximumGain(rows=number_of_rows), step=NewtonStep(), stop=rule,
                shrinking=False, cache_mb=task.cache_mb(),
            )
            for looked_at, number_of_rows in (("two rows", 2), (words, rows))
            for stop, rule in (("μ* < ε", WorkingSetGap()), ("μ̂ < ε", NewtonStepGap()), ("KKT gap", KKTGap()))
        ]  # fmt: skip
        runs = script.run(heading.partition(":")[0], task, solves)
        two, other = TABLE_2[name][HMG_NEWTON], published[name]
        there = {solves[1].name: (two[0], two[2]), solves[4].name: other}
        beside = {
            "iterations there": {(task.name, key): f"{value[0]:,}" for key, value in there.items()},
            "objective there": {(task.name, key): f"{value[1]:,.3f}" for key, value in there.items()},
        }
        grids.append(in_words(runs.listing({**METRICS, "kkt_gap": 2}, beside=beside)))
        two_rows, others = (solves[place].name for place in (2, 5))  # by the KKT gap
        ratios.append(number(seconds(runs, others) / seconds(runs, two_rows), 2))
        saved.append(percent(1.0 - mean(runs, "iterations", others) / mean(runs, "iterations", two_rows)))
    remark = REMARKS[f"table {table}"].format(ratios=" and ".join(ratios), saved=" and ".join(saved))
    script.page.add(heading, "All solves are without shrinking.", joined(grids), remark)


def part_of(task: Task, n: int) -> Dataset:
    """The first n examples of a task."""
    return data.first(task.load(), n)


def full_set(script: Script, chosen: Any) -> None:
    """All of connect-4, one order."""
    task = tasks(chosen.data_dir, WHOLE)["connect-4"]
    for shrinking in (True, False):
        runs = script.run("The full set", task, strategies(task, shrinking), 1)
        remarks = [] if shrinking else [of_the_full_set(runs)]
        words = "with" if shrinking else "without"
        script.page.add(LARGER.format(words), listing({"connect-4": runs}), *remarks)


def of_the_full_set(runs: Experiment) -> str:
    """Say what the table of all of connect-4 without shrinking has in common with the published one."""
    metrics = ("iterations", "kernel_rows", "objective")
    steps, rows, objective = (
        {solve: cell.mean for (_, solve), cell in runs.compare(metric).cells.items()} for metric in metrics
    )
    return REMARKS["full"].format(
        second=steps[SECOND], pair=steps[MVP], newton=steps[HMG_NEWTON],
        of_second=rows[HMG_NEWTON] / rows[SECOND], of_pair=rows[HMG_NEWTON] / rows[MVP], gap=steps[HMG_KKT],
        fewer=percent(1.0 - rows[HMG_KKT] / rows[SECOND], 0), missing=objective[HMG_KKT] - objective[HMG_NEWTON],
        early=percent(steps[HMG] / steps[HMG_KKT], 0), below=percent(1.0 - objective[HMG] / objective[HMG_KKT], 3),
    )  # fmt: skip


def claims(script: Script, task: Task) -> None:
    """What this package promises of HMG, checked with memory for few rows."""
    solves = [replace(solve, cache_mb=2.0) for solve in strategies(task, False)]
    runs = script.run("Claims", task, solves, 5)
    cells = {metric: runs.compare(metric).cells for metric in ("iterations", "kernel_rows")}
    rows = {solve.name: cells["kernel_rows"][task.name, solve.name].mean for solve in solves}
    most = max(
        record["kernel_rows"] / record["iterations"]
        for record in runs.records()
        if "HMG" in record["strategy"]
    )
    fewer = max(rows[HMG], rows[HMG_NEWTON], rows[HMG_KKT]) < min(rows[MVP], rows[SECOND])
    table = (
        ("HMG computes at most one row an iteration", f"{most:.4f} at most", "yes" if most <= 1 else "no"),
        ("and fewer rows than the others", ", ".join(f"{name} {number(value)}" for name, value in rows.items()),
         "yes" if fewer else "no"),
    )  # fmt: skip
    text = (
        f"The solves of {task.name} use memory for 2 MiB of kernel rows, and no shrinking; the table shows means over "
        f"{runs.permutations} orders of the examples."
    )
    script.page.add(
        "Claims checked", text, in_words(runs.listing(METRICS)), Grid(("claim", "found", "holds"), table)
    )


if __name__ == "__main__":
    main()
