"""Tables 2, 4, 5, 6, 7 and Figure 6 of T. Glasmachers and C. Igel, "Maximum-gain working set selection for SVMs", 2006.

python benchmarks/papers/maximum_gain.py --data-dir DIR
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import data
from cpu_solve import CPUSolve
from gain_figure_6 import figure_6
from gain_problems import (
    FULL,
    HMG,
    HMG_KKT,
    HMG_NEWTON,
    MVP,
    ONE_ROW,
    SECOND,
    SMALL,
    TABLE_1,
    TABLE_2,
    TABLE_4,
    TABLE_5,
    WHOLE,
    WHOLE_CACHE,
    Task,
    strategies,
    tasks,
)
from newton_step_gap import NewtonStepGap
from open_questions import HEADING as OPEN
from open_questions import open_questions
from page import Page, arguments, carried_out, joined, relative
from remarks import MAXIMUM_GAIN as REMARKS
from time_against_n import HEADING as AGAINST_N
from time_against_n import time_against_n

from refsvm import (
    HybridMaximumGain,
    KKTGap,
    LIBSVMShrinking,
    NewtonStep,
    WorkingSetGap,
)
from refsvm.datasets import Dataset
from refsvm.experiment import Experiment, Grid, Solve
from refsvm.experiment.grid import number


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
        "With LIBSVM's shrinking", f"These are means of {script.permutations} orders. Table 2:",
        listing(on, counts), joined(ratios), "Table 4, iterations:", Grid(headers, tuple(rows), labels=2),
        "Table 5, kernel rows of one order:",
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
        f"On {name} HMG takes {percent(seconds(each, HMG_KKT) / seconds(each, SECOND), 0)} of those of second order "
        f"(there {percent(TABLE_2[name][HMG_NEWTON][1] / TABLE_2[name][SECOND][1], 0)})."
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
    parts: list[str | Grid] = [f"All solves of {task.name} end by the KKT gap."]
    short, fastest = ("MVP", "second order", "HMG"), {True: [], False: []}
    for shrinking, words in ((True, "With shrinking, as in the paper:"), (False, "Without shrinking:")):
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
    text = f"{task.name} has memory for 2 MiB of kernel rows, no shrinking, and {runs.permutations} orders."
    script.page.add(
        "Claims checked", text, in_words(runs.listing(METRICS)), Grid(("claim", "found", "holds"), table)
    )


if __name__ == "__main__":
    main()
