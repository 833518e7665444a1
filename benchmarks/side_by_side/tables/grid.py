"""Cross-validation and grid search: refsvm beside scikit-learn's cross_val_score and GridSearchCV with SVC."""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from refsvm import RBF, cross_validate
from refsvm.datasets import Dataset, paper_suite
from refsvm.experiment import Grid
from refsvm.experiment.strategy import one_thread
from side_by_side.libraries import Library, measured_on
from side_by_side.report import Part

from .base import Table

__all__ = ["GridTable"]

FOLDS = ("ida_heart", "ida_german", "ida_image", "ida_waveform", "ida_banana", "ida_splice", "spambase")
CELLS = ("ida_heart", "ida_german", "ida_image", "ida_splice", "spambase")
CS = (0.1, 1.0, 10.0, 100.0, 1000.0)
TIMES_SCALE = tuple(np.logspace(-1.0, 1.0, 5))
"""γ as multiples of 1/(d · variance of X)."""


@dataclass(frozen=True)
class Measured:
    """Seconds of both, and how far their results are apart, in examples."""

    name: str
    n: int
    theirs: float
    ours: float
    apart: float
    same_choice: bool


class GridTable(Table):
    """Ten folds, and 5 × 5 cells with five folds: one thread each, in turns, all errors compared."""

    name = "grid"
    help = "cross-validation and grid search beside scikit-learn's cross_val_score and GridSearchCV"

    def part(self, options: argparse.Namespace, libraries: Sequence[Library]) -> Part:
        """Measure."""
        suite = {problem.name: problem for problem in paper_suite(options.data_dir)}
        few, rounds = suite["ida_heart"].load(), options.rounds or 3
        parts: list[str] = []
        for heading, names, compare in (
            ("This table shows ten folds with the suite's C and γ:", FOLDS, ten_folds),
            (
                "This table shows five folds, with C = 0.1 … 1000 and γ = 0.1 … 10 times “scale”:",
                CELLS,
                five_by_five,
            ),
        ):
            wanted = [name for name in names if not options.only or name in options.only]
            with one_thread():
                compare(few, 1)  # compiles
                rows = [compare(suite[name].load(), rounds) for name in wanted]
            parts += [heading, table(rows).to_markdown(), summary(rows)]
        return Part(self.name, *parts, measured_on())


def ten_folds(data: Dataset, rounds: int) -> Measured:
    """cross_validate and cross_val_score on the same folds."""
    from sklearn.model_selection import KFold, cross_val_score
    from sklearn.svm import SVC

    folds = KFold(10, shuffle=True, random_state=0)
    model = SVC(C=data.C, gamma=data.gamma)
    theirs, scores = timed(lambda: cross_val_score(model, data.X, data.y, cv=folds), 1)
    ours, result = timed(
        lambda: cross_validate(
            data.X, data.y, kernel=RBF(data.gamma), C=data.C, folds=folds, cache_mb=400.0, engine="numba"
        ),
        rounds,
    )
    apart = float(np.abs(result.errors - (1.0 - scores)).max()) * data.n / 10
    return Measured(data.name, data.n, theirs, ours, apart, True)


def five_by_five(data: Dataset, rounds: int) -> Measured:
    """SVCCV and GridSearchCV on the same cells and folds."""
    from sklearn.model_selection import GridSearchCV, StratifiedKFold
    from sklearn.svm import SVC

    from refsvm import SVCCV

    X = np.asarray(data.X)
    gammas = [float(factor / (X.shape[1] * X.var())) for factor in TIMES_SCALE]
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    search = GridSearchCV(SVC(), {"C": list(CS), "gamma": gammas}, cv=folds, refit=False)
    theirs, found = timed(lambda: search.fit(X, data.y), 1)
    model = SVCCV(Cs=CS, gammas=gammas, cv=folds, refit=False, cache_size=400, engine="numba")
    ours, fitted = timed(lambda: model.fit(X, data.y), rounds)
    scores = (each.cv_results_["mean_test_score"] for each in (fitted, found))
    apart = float(np.abs(np.subtract(*scores)).max()) * data.n
    return Measured(data.name, data.n, theirs, ours, apart, fitted.best_params_ == found.best_params_)


def timed(work: Callable[[], Any], rounds: int) -> tuple[float, Any]:
    """Return the least seconds of some calls, and what the last one returned."""
    least = math.inf
    for _ in range(rounds):
        began = time.perf_counter()
        result = work()
        least = min(least, time.perf_counter() - began)
    return least, result


def table(rows: Sequence[Measured]) -> Grid:
    """Lay out a line for each set."""
    headers = ("set", "n", "scikit-learn, s", "refsvm, s", "ratio", "apart, examples", "same choice")
    lines = [
        (
            row.name, str(row.n), f"{row.theirs:.3f}", f"{row.ours:.4f}", f"{row.theirs / row.ours:.1f}",
            f"{row.apart:.1f}", "yes" if row.same_choice else "no",
        )
        for row in rows
    ]  # fmt: skip
    return Grid(headers, tuple(lines))


def summary(rows: Sequence[Measured]) -> str:
    """Return the geometric mean of the ratios in a sentence."""
    mean = math.exp(np.mean([math.log(row.theirs / row.ours) for row in rows]))
    return (
        f"The geometric mean of the ratios is {mean:.1f}. The column “apart” shows the largest difference "
        "between both libraries' errors, in examples."
    )
