"""Tuning by gradient, compared with a grid and with a Gaussian process: errors on examples that took no part.

    python benchmarks/tuning_by_gradient.py                        all sets, five splits
    python benchmarks/tuning_by_gradient.py --only german diabetes  some of them
    python benchmarks/tuning_by_gradient.py --splits 1 --train 200  fewer and smaller splits

Each split trains on `--train` examples and tests on the others, features standardised by the training part. german has
30 features of noise added. The ways: `SVCCV` or `SVRCV` on a grid of 5 × 5 values of C and γ; `SVCGradientCV` or
`SVRGradientCV` by C and one γ; by C and one γ for each feature; and, of regressions, scikit-learn's Gaussian process
with one length for each feature and noise, from three starts. Printed are the mean error of the tests (the share of
wrong labels, or the root of the mean square as a part of the targets' standard deviation), its standard error over
splits, and the seconds of a fit.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from sklearn.datasets import load_diabetes, make_friedman1
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

from refsvm import SVCCV, SVRCV, SVCGradientCV, SVRGradientCV
from refsvm.datasets import open_data

SETS = {
    "german + 30 noise": "ida_german", "splice": "ida_splice", "madelon": "madelon", "diabetes": None,
    "friedman + 20 noise": None,
}  # fmt: skip


def data_of(name: str, directory: str | None) -> tuple[np.ndarray, np.ndarray, bool]:
    """Return examples, labels or targets, and whether it is a regression."""
    rng = np.random.default_rng(0)
    if name == "diabetes":
        X, y = load_diabetes(return_X_y=True)
        return X, y, True
    if name == "friedman + 20 noise":
        X, y = make_friedman1(
            1000, 30, noise=1.0, random_state=0
        )  # five of ten features count, and 20 more do not
        return X, y, True
    data = open_data(str(SETS[name]), data_dir=directory)
    X, y = np.asarray(data.X, dtype=np.float64), np.asarray(data.y)
    if name.startswith("german"):
        X = np.column_stack([X, rng.normal(size=(len(X), 30))])
    return X, y, False


def ways(is_regression: bool, d: int) -> dict[str, Callable[[], Any]]:
    """Return what is compared."""
    if not is_regression:
        given = {"n_starts": 2, "max_evaluations": 40}
        return {
            "grid": SVCCV,
            "gradient, C and γ": lambda: SVCGradientCV(**given),
            "gradient, each γ": lambda: SVCGradientCV(parameters=("C", "gammas"), **given),
        }
    given = {"n_starts": 2, "max_evaluations": 40}
    kernel = ConstantKernel() * RBF(np.full(d, np.sqrt(d))) + WhiteKernel()
    return {
        "grid": SVRCV,
        "gradient, C and γ": lambda: SVRGradientCV(**given),
        "gradient, each γ": lambda: SVRGradientCV(parameters=("C", "gammas", "epsilon"), **given),
        "Gaussian process": lambda: GaussianProcessRegressor(kernel, n_restarts_optimizer=2, random_state=0),
    }


def splits(n: int, train: int, count: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the training and the test part of each split."""
    for seed in range(count):
        order = np.random.default_rng(seed).permutation(n)
        yield order[:train], order[train:]


def errors(name: str, options: argparse.Namespace) -> dict[str, list[tuple[float, float]]]:
    """Return the error and the seconds of each way on each split."""
    X, y, is_regression = data_of(name, options.data_dir)
    found: dict[str, list[tuple[float, float]]] = {}
    train = min(options.train, len(y) * 2 // 3)
    for some, rest in splits(len(y), train, options.splits):
        spread = X[some].std(axis=0)
        Z = (X - X[some].mean(axis=0)) / np.where(spread > 0.0, spread, 1.0)
        marks = (y - y[some].mean()) / y[some].std() if is_regression else y
        for way, make in ways(is_regression, X.shape[1]).items():
            began = time.perf_counter()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model = make().fit(Z[some], marks[some])
            seconds, predicted = time.perf_counter() - began, model.predict(Z[rest])
            wrong = (
                np.sqrt(np.mean((predicted - marks[rest]) ** 2))
                if is_regression
                else np.mean(predicted != marks[rest])
            )
            found.setdefault(way, []).append((float(wrong), seconds))
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a row for each set and way."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="+", metavar="NAME", help="sets whose names begin so")
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--train", type=int, default=400, help="examples of a training part")
    parser.add_argument("--data-dir", help="directory of the archives; otherwise REFSVM_DATA")
    options = parser.parse_args(arguments)
    print(f"{'set':20} {'way':20} {'error':>7} {'± se':>7} {'seconds':>8}")
    for name in SETS:
        if options.only and not any(name.startswith(each) for each in options.only):
            continue
        for way, rows in errors(name, options).items():
            error, seconds = np.array(rows).T
            se = error.std(ddof=1) / np.sqrt(len(error)) if len(error) > 1 else np.nan
            print(f"{name:20} {way:20} {error.mean():7.4f} {se:7.4f} {seconds.mean():8.1f}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
