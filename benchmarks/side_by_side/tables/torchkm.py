"""Fifty values of C with five folds: refsvm beside TorchKM on the path that it solves by default.

TorchKM 4.3.2 (PyPI) takes one eigendecomposition of K for all C and folds, and iterates in it; it is made for graphics
cards and runs on a processor too. It goes into an environment of its own; ``--torchkm-python`` names its Python.
"""

from __future__ import annotations

import argparse
import math
import time
import warnings
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

__all__ = ["TorchKMTable"]

SETS = ("ida_german",)
CS = np.logspace(3.0, -3.0, 50)
ENOUGH_ITERATIONS = 100_000
PROGRAM = """
import json, sys, time, warnings
import numpy as np, torch
import torchkm.cvksvm as module
from torchkm import TorchKMSVC
torch.set_num_threads(1)
solvers, fit = [], module.cvksvm.fit
def watched(self, *arguments, **options):
    solvers.append(self)
    return fit(self, *arguments, **options)
module.cvksvm.fit = watched  # the solver knows which C have converged
X, y, folds = (np.load(sys.argv[1])[name] for name in ("X", "y", "folds"))
warnings.simplefilter("ignore")
def run(max_iter):
    model = TorchKMSVC(device="cpu", cv=5, foldid=folds, rbf_sigma=float(sys.argv[2]) / 2, max_iter=max_iter)
    began = time.process_time()
    model.fit(X, y)
    seconds = time.process_time() - began
    return {"seconds": seconds, "converged": int(solvers[-1].converged.sum()),
            "errors": np.asarray(model.cv_mis_).tolist()}
run(1000)
print("RESULT" + json.dumps([run(1000), run(int(sys.argv[3]))]))
"""
"""K is exp(−2σ‖x − x′‖²) there, and C that of LIBSVM; the C fall from 1000 to 0.001."""


class TorchKMTable(Table):
    """250 problems on the default path of TorchKM: processor seconds, one thread, and how many have converged."""

    name = "torchkm"
    help = "a path of C beside TorchKM, which --torchkm-python has to lead to"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the Python that has TorchKM."""
        parser.add_argument("--torchkm-python", type=Path, help="a Python that imports torchkm")

    def part(self, options: argparse.Namespace, libraries: Sequence[Library]) -> Part:
        """Measure."""
        if options.torchkm_python is None:
            text = "TorchKM is left out: --torchkm-python names no Python that imports it."
            return Part(self.name, text)
        suite = {problem.name: problem for problem in paper_suite(options.data_dir)}
        names = [name for name in SETS if not options.only or name in options.only]
        lines = [
            line
            for name in names
            for line in compared(suite[name].load(), options.torchkm_python, options.rounds or 3)
        ]
        headers = ("set", "n", "library", "s", "C converged", "least error", "largest error")
        heading = "50 values of C, 1000 … 0.001, five folds, one γ (1/(d · variance of X)):"
        text = "Processor seconds, one thread."
        return Part(self.name, heading, Grid(headers, tuple(lines)).to_markdown(), text, measured_on())


def compared(data: Dataset, python: Path, rounds: int) -> list[tuple[str, ...]]:
    """Return a line for TorchKM by default, one for TorchKM with enough iterations, and one for refsvm."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.model_selection import StratifiedKFold

    from refsvm import SVCCV

    X, y = np.asarray(data.X), data.y
    gamma = float(1.0 / (X.shape[1] * X.var()))
    folds, numbers = StratifiedKFold(5, shuffle=True, random_state=0), np.zeros(len(y), dtype=np.int64)
    for number, (_, test) in enumerate(folds.split(X, y)):
        numbers[test] = number + 1
    theirs = answer_of(python, PROGRAM, data, gamma, ENOUGH_ITERATIONS, folds=numbers)
    model = SVCCV(Cs=CS, gammas=[gamma], cv=folds, refit=False, cache_size=400, engine="numba")
    least, converged = math.inf, len(CS)
    with one_thread(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        for _ in range(rounds + 1):  # the first one compiles
            began = time.process_time()
            model.fit(X, y)
            least = min(least, time.process_time() - began)
    if any(issubclass(each.category, ConvergenceWarning) for each in caught):
        converged = 0
    errors = 1.0 - model.cv_results_["mean_test_score"]
    ours = {"seconds": least, "converged": converged, "errors": errors}
    return [
        (
            data.name, str(data.n), name, f"{found['seconds']:.3f}", f"{found['converged']} of {len(CS)}",
            f"{np.min(found['errors']):.3f}", f"{np.max(found['errors']):.3f}",
        )
        for name, found in zip(
            ("TorchKM", f"TorchKM, max_iter={ENOUGH_ITERATIONS}", "refsvm"), (*theirs, ours), strict=True
        )
    ]  # fmt: skip
