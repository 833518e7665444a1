"""Exact leave-one-out: refsvm beside scikit-learn's cross_val_predict with LeaveOneOut and SVC."""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from refsvm import RBF, leave_one_out
from refsvm.datasets import Dataset, load, paper_suite
from refsvm.experiment import Grid
from side_by_side.libraries import Library, measured_on
from side_by_side.report import Part

from .base import Table

__all__ = ["LeaveOneOutTable"]

SETS = ("ida_heart", "ida_breast-cancer", "ida_thyroid", "ida_diabetis", "ida_german", "sonar")
SONAR = (10.0, 0.02)
"""C and γ of sonar; those of the other sets are the suite's."""


@dataclass(frozen=True)
class Measured:
    """Seconds of both with one and two workers, of one fit, predictions that differ, and seconds of the processor."""

    name: str
    n: int
    brute: float
    ours: float
    brute_two: float
    ours_two: float
    fit: float
    differ: int
    brute_processor: float
    ours_processor: float


class LeaveOneOutTable(Table):
    """The exact leave-one-out error of six sets, defaults of both, all predictions compared."""

    name = "loo"
    help = "exact leave-one-out beside scikit-learn's LeaveOneOut and SVC"

    def part(self, options: argparse.Namespace, libraries: Sequence[Library]) -> Part:
        """Measure."""
        problems = [
            each for each in problems_of(options.data_dir) if not options.only or each.name in options.only
        ]
        few = problems[0]
        compared(few, few.X[:20], few.y[:20], rounds=1)  # compiles, imports, starts the workers
        rows = [compared(each, each.X, each.y, options.rounds or 5) for each in problems]
        return Part(self.name, table(rows).to_markdown(), summary(rows), measured_on())


def problems_of(data_dir: str | None) -> list[Dataset]:
    """The sets with their C and γ."""
    suite = {problem.name: problem for problem in paper_suite(data_dir)}
    sonar = load("sonar")
    bundled = Dataset("sonar", sonar.X, sonar.y, C=SONAR[0], gamma=SONAR[1])
    return [suite[name].load() if name in suite else bundled for name in SETS]


def compared(data: Dataset, X: Any, y: np.ndarray, rounds: int) -> Measured:
    """Take turns: one brute force, some of ours; and the same with two workers."""
    from sklearn.model_selection import LeaveOneOut, cross_val_predict
    from sklearn.svm import SVC

    def brute(n_jobs: int) -> tuple[float, float, Any]:
        model = SVC(C=data.C, gamma=data.gamma)
        return timed(lambda: cross_val_predict(model, X, y, cv=LeaveOneOut(), n_jobs=n_jobs))

    def ours(n_jobs: int) -> tuple[float, float, Any]:
        runs = [
            timed(
                lambda: leave_one_out(X, y, kernel=RBF(data.gamma), C=data.C, n_jobs=n_jobs, engine="numba")
            )
            for _ in range(rounds)
        ]
        return min(run[0] for run in runs), min(run[1] for run in runs), runs[0][2]

    one, one_processor, expected = brute(1)
    fast, fast_processor, loo = ours(1)
    two, fast_two = brute(2)[0], ours(2)[0]
    fit = min(timed(lambda: SVC(C=data.C, gamma=data.gamma).fit(X, y))[0] for _ in range(rounds))
    differ = int((loo.predictions != expected).sum())
    return Measured(data.name, len(y), one, fast, two, fast_two, fit, differ, one_processor, fast_processor)


def timed(work: Callable[[], Any]) -> tuple[float, float, Any]:
    """Return the seconds a call takes, those of the processor, and what it returns."""
    began, processor = time.perf_counter(), time.process_time()
    result = work()
    return time.perf_counter() - began, time.process_time() - processor, result


def table(rows: Sequence[Measured]) -> Grid:
    """Lay out a line for each set."""
    headers = (
        "set", "n", "scikit-learn, s", "refsvm, ms", "ratio", "ratio, processor time",
        "ratio, two workers", "in fits", "different predictions",
    )  # fmt: skip
    lines = [
        (
            row.name, str(row.n), f"{row.brute:.2f}", f"{1e3 * row.ours:.2f}", f"{row.brute / row.ours:.0f}",
            f"{row.brute_processor / row.ours_processor:.0f}",
            f"{row.brute_two / row.ours_two:.0f}", f"{row.ours / row.fit:.1f}", str(row.differ),
        )
        for row in rows
    ]  # fmt: skip
    return Grid(headers, tuple(lines))


def summary(rows: Sequence[Measured]) -> str:
    """Return the geometric means of the ratios in a sentence."""
    one = math.exp(np.mean([math.log(row.brute / row.ours) for row in rows]))
    cpu = math.exp(np.mean([math.log(row.brute_processor / row.ours_processor) for row in rows]))
    two = math.exp(np.mean([math.log(row.brute_two / row.ours_two) for row in rows]))
    return (
        f"The geometric mean of the ratios is {one:.0f} with one worker ({cpu:.0f} in processor time) and {two:.0f} "
        "with two workers. The column “in fits” divides the time of refsvm's leave-one-out by the time of a LIBSVM fit "
        "on all examples. Predictions may differ if a decision value is within LIBSVM's tolerance of 1e-3 of zero."
    )
