"""CPU seconds of second order and of HMG against n: Glasmachers & Igel (2006) on large training sets."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from cpu_solve import CPUSolve
from page import Page

from refsvm import HybridMaximumGain, LIBSVMShrinking, NewtonStep, SecondOrder
from refsvm.experiment import Experiment, Grid, Instance, Strategy
from refsvm.experiment.grid import number, p_value, ratio_of
from refsvm.experiment.strategy import Record, one_thread

__all__ = ["HEADING", "sizes", "time_against_n"]

HEADING = "Time against n: second order and HMG"
SECOND, HMG, PRICE = "second order", "HMG", "a row"
ORDERS = {
    "connect-4": {2000: 20, 4000: 20, 8000: 3, 30_555: 1},
    "MNIST": {500: 20, 1000: 20, 2000: 3, 4000: 1, 8000: 1},
}
"""Orders of the examples by n, fewer where one takes minutes; p is at least 0.25 with three, which shows nothing."""
LAST = {"connect-4": 8000, "MNIST": 4000}
"""The largest n unless ``--full`` names the set."""

REMARK = """
CPU seconds, all by the KKT gap, with LIBSVM's shrinking and the part of the kernel matrix in memory that the paper
had (1.07 % and 0.28 %). *A row* is what one kernel row takes by itself, next to what the whole solve takes for each
of its steps. A step of HMG needs one new row, and looks at two; a step of second order needs up to two new ones. HMG is
the faster one at these sizes: {verdict}. HMG takes more steps, so it pays where its steps are the cheaper ones by more
than that. {steps} At the same n a row of MNIST, of 784 features, takes several times as long as one of connect-4, of
42. In the paper HMG takes 86 % of the time of second order on connect-4 and 75 % on MNIST, both in full.
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
        lines[name, n] = _line(task, run("Time against n", task, _selectors(task), orders))
    rows = tuple(lines[place][0] for place in sorted(lines))
    verdict = ", ".join(
        f"{name} on {sum(ratio < 1 for ratio in ratios)} of {len(ratios)}"
        for name in dict.fromkeys(name for name, _ in lines)
        if (ratios := [line[1] for (of, _), line in lines.items() if of == name])
    )
    steps = []
    for name in dict.fromkeys(name for name, _ in lines):
        ratios = [line[2] for (of, _), line in lines.items() if of == name]
        steps.append(
            f"On {name} a step of HMG takes {min(ratios):.2f} to {max(ratios):.2f} times as long as one of second "
            "order."
        )
    headers = ("problem", "orders", "second order (s)", "HMG (s)", "ratio", "p", "iterations, ratio",
               "kernel rows, ratio", "a row (ms)", "a step, second order (ms)", "a step, HMG (ms)")  # fmt: skip
    page.add(HEADING, Grid(headers, rows), REMARK.format(verdict=verdict, steps=" ".join(steps)))


def _selectors(task: Any) -> list[Strategy]:
    """The two selectors, and the price of a row."""
    solve = partial(
        CPUSolve, step=NewtonStep(), shrinking=LIBSVMShrinking(), cache_mb=task.cache_mb(), max_iter=10**9,
        cache_dtype="float64",
    )  # fmt: skip
    return [
        RowPrice(PRICE),
        solve(SECOND, selector=SecondOrder()),
        solve(HMG, selector=HybridMaximumGain()),
    ]


def _line(task: Any, runs: Experiment) -> tuple[tuple[str, ...], float, float]:
    """Return the row of one size, and HMG's CPU seconds in those of second order: of the solve, and of a step."""
    compared = {each: runs.compare(each, SECOND).cells for each in ("cpu", "iterations", "kernel_rows")}
    price = runs.compare("milliseconds").cells[task.name, PRICE].mean
    second, hmg = (compared["cpu"][task.name, each] for each in (SECOND, HMG))
    steps = [
        1e3 * compared["cpu"][task.name, each].mean / compared["iterations"][task.name, each].mean
        for each in (SECOND, HMG)
    ]
    ratios = (ratio_of(compared[each][task.name, HMG].ratio) for each in ("iterations", "kernel_rows"))
    cells = (second.show(3), hmg.show(3), ratio_of(hmg.ratio), p_value(hmg.p), *ratios)
    prices = (number(each, 2) for each in (price, *steps))
    return (task.name, str(runs.permutations), *cells, *prices), hmg.ratio or 1.0, steps[1] / steps[0]
