"""A grid of 10 × 10 cells with five folds: refsvm beside liquidSVM on the cells that it chooses by default.

liquidSVM 1.0.1 (Steinwart & Thomann 2017) is on PyPI and needs setuptools < 70 with pkg_resources; it has no offset b,
which makes an easier problem. It goes into an environment of its own, whose Python is named by ``--liquid-python``.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from refsvm.datasets import Dataset, paper_suite
from refsvm.experiment import Grid
from refsvm.experiment.strategy import one_thread
from side_by_side.elsewhere import answer_of
from side_by_side.libraries import Library, measured_on
from side_by_side.report import Part

from .base import Table

__all__ = ["LiquidTable"]

SETS = ("ida_heart", "ida_german", "ida_image", "ida_splice")
PROGRAM = """
import sysconfig
sysconfig.get_config_vars()["SO"] = sysconfig.get_config_vars()["EXT_SUFFIX"]  # gone since Python 3.11
import json, sys, time
import numpy as np
from liquidSVM import mcSVM
X, y = (np.load(sys.argv[1])[name] for name in "Xy")
best = float("inf")
for _ in range(int(sys.argv[2])):
    began = time.process_time()
    model = mcSVM(X, y, folds=5, threads=1, display=0)
    best = min(best, time.process_time() - began)
cells = np.array(model.errTrain)[:, [3, 5, 7]].tolist()  # sigma, lambda, validation error
print("RESULT" + json.dumps({"seconds": best, "cells": cells}))
"""


class LiquidTable(Table):
    """500 problems on the default grid of liquidSVM: processor seconds, one thread, and the best errors."""

    name = "liquid"
    help = "a grid search beside liquidSVM, which --liquid-python has to lead to"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the Python that has liquidSVM."""
        parser.add_argument("--liquid-python", type=Path, help="a Python that imports liquidSVM")

    def part(self, options: argparse.Namespace, libraries: Sequence[Library]) -> Part:
        """Measure."""
        if options.liquid_python is None:
            text = "liquidSVM is left out: --liquid-python names no Python that imports it."
            return Part(self.name, text)
        suite = {problem.name: problem for problem in paper_suite(options.data_dir)}
        lines, ratios = [], []
        for name in SETS:
            if options.only and name not in options.only:
                continue
            row, ratio = compared(suite[name].load(), options.liquid_python, options.rounds or 3)
            lines.append(row)
            ratios.append(math.log(ratio))
        headers = ("set", "n", "liquidSVM, s", "refsvm, s", "ratio", "its error", "our error")
        mean = math.exp(np.mean(ratios))
        text = f"Geometric mean of the ratios: {mean:.2f}. Processor seconds, the least of some turns."
        return Part(self.name, Grid(headers, tuple(lines)).to_markdown(), text, measured_on())


def compared(data: Dataset, python: Path, rounds: int) -> tuple[tuple[str, ...], float]:
    """Return a line of the table, and our seconds in liquidSVM's."""
    from sklearn.model_selection import StratifiedKFold

    from refsvm import SVCCV

    X, y = np.asarray(data.X), data.y
    answer = answer_of(python, PROGRAM, data, rounds)
    widths, penalties, errors = np.array(answer["cells"]).T
    # exp(−‖x − x′‖²/σ²),  C = 1/(2λn₁) with n₁ examples in training
    gammas, Cs = np.unique(1.0 / widths**2), np.unique(1.0 / (2.0 * penalties * 0.8 * data.n))
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    model = SVCCV(Cs=Cs, gammas=gammas, cv=folds, refit=False, cache_size=400, engine="numba")
    least = math.inf
    with one_thread():
        for _ in range(rounds):
            began = time.process_time()
            model.fit(X, y)
            least = min(least, time.process_time() - began)
    cells = {
        cell: errors[(widths == cell[0]) & (penalties == cell[1])]
        for cell in zip(widths, penalties, strict=True)
    }
    theirs = min(float(each.mean()) for each in cells.values())
    seconds = answer["seconds"]
    line = (data.name, str(data.n), f"{seconds:.3f}", f"{least:.3f}", f"{least / seconds:.2f}",
            f"{theirs:.3f}", f"{1 - model.best_score_:.3f}")  # fmt: skip
    return line, least / seconds
