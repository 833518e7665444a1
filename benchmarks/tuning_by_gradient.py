"""Tuning by gradient, compared with a grid and with a Gaussian process: errors on examples that took no part.

    python benchmarks/tuning_by_gradient.py                        all sets, five splits
    python benchmarks/tuning_by_gradient.py --only german diabetes  some of them
    python benchmarks/tuning_by_gradient.py --splits 1 --train 100  fewer and smaller splits
    python benchmarks/tuning_by_gradient.py --store rows.jsonl      keep each fit, and go on where a run has stopped

Each split trains on `--train` examples and tests on up to 1,500 of the others, features standardised by the training
part. german has 30 features of noise added. The ways: `SVCCV` or `SVRCV` on a grid of 5 × 5 values of C and γ;
`SVCGradientCV` or `SVRGradientCV` by C and one γ; by C and one γ for each feature, of regressions by ε, too; and, of
regressions, scikit-learn's Gaussian process with one length for each feature and noise, from three starts. A search
along the gradient has one start and at most 40 evaluations. Printed are the number of parameters, the mean error of the
tests (the percentage of wrong labels, or the root of the mean square as a percentage of the targets' standard
deviation), its standard error over splits, by how much the error is less than that of the grid with the standard error
of the paired differences, J that a search along the gradient has found with the same loss on the tests, and the median
seconds of the processor that a fit takes on one thread.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_diabetes, make_friedman1
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

from refsvm import SVCCV, SVRCV, SVCGradientCV, SVRGradientCV
from refsvm.analysis.derivatives import Squared, SquaredHinge
from refsvm.datasets import open_data

SETS = {
    "german + 30 noise": "ida_german", "splice": "ida_splice", "madelon": "madelon", "diabetes": None,
    "friedman + 20 noise": None, "wbc": "wbc", "friedman, 7 features": None,
}  # fmt: skip

MOST_TESTED = 1500


def data_of(name: str, directory: str | None) -> tuple[np.ndarray, np.ndarray, bool]:
    """Return examples, labels or targets, and whether it is a regression."""
    rng = np.random.default_rng(0)
    if name == "diabetes":
        X, y = load_diabetes(return_X_y=True)
        return X, y, True
    if name.startswith("friedman"):  # five features count, and the others do not
        X, y = make_friedman1(1000, 30, noise=1.0, random_state=0)
        return X[:, :7] if name.endswith("7 features") else X, y, True
    data = open_data(str(SETS[name]), data_dir=directory)
    X, y = np.asarray(data.X, dtype=np.float64), np.asarray(data.y)
    if name.startswith("german"):
        X = np.column_stack([X, rng.normal(size=(len(X), 30))])
    return X, y, False


def ways(is_regression: bool, d: int) -> dict[str, tuple[int, Callable[[], Any]]]:
    """Return the number of parameters of each way, and what makes its estimator."""
    given: dict[str, Any] = {"n_starts": 1, "max_evaluations": 40, "n_jobs": 1}
    if not is_regression:
        return {
            "grid": (2, lambda: SVCCV(n_jobs=1)),
            "gradient, C and γ": (2, lambda: SVCGradientCV(**given)),
            "gradient, each γ": (1 + d, lambda: SVCGradientCV(parameters=("C", "gammas"), **given)),
        }
    kernel = ConstantKernel() * RBF(np.full(d, np.sqrt(d))) + WhiteKernel()
    return {
        "grid": (2, lambda: SVRCV(n_jobs=1)),
        "gradient, C and γ": (2, lambda: SVRGradientCV(parameters=("C", "gamma"), **given)),
        "gradient, each γ": (2 + d, lambda: SVRGradientCV(parameters=("C", "gammas", "epsilon"), **given)),
        "Gaussian process": (
            2 + d,
            lambda: GaussianProcessRegressor(kernel, n_restarts_optimizer=2, random_state=0),
        ),
    }


def row_of(name: str, way: str, seed: int, options: argparse.Namespace) -> dict[str, Any]:
    """Return the error and the seconds of one way on one split."""
    X, y, is_regression = data_of(name, options.data_dir)
    order = np.random.default_rng(seed).permutation(len(y))
    train = min(options.train, len(y) * 2 // 3)
    some, rest = order[:train], order[train:][:MOST_TESTED]
    spread = X[some].std(axis=0)
    Z = (X - X[some].mean(axis=0)) / np.where(spread > 0.0, spread, 1.0)
    marks = (y - y[some].mean()) / y[some].std() if is_regression else y
    count, make = ways(is_regression, X.shape[1])[way]
    began = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = make().fit(Z[some], marks[some])
    seconds, predicted = time.process_time() - began, model.predict(Z[rest])
    wrong = np.mean(predicted != marks[rest])
    if is_regression:
        wrong = np.sqrt(np.mean((predicted - marks[rest]) ** 2))
    row = {
        "set": name, "way": way, "seed": seed, "train": train, "parameters": count, "error": 100.0 * float(wrong),
        "seconds": seconds,
    }  # fmt: skip
    if way.startswith("gradient"):
        h = predicted if is_regression else model.decision_function(Z[rest])
        true = marks[rest] if is_regression else np.where(marks[rest] == model.classes_[1], 1.0, -1.0)
        loss = Squared() if is_regression else SquaredHinge()
        row |= {"J": -float(model.best_score_), "loss": float(loss.value(h, true).mean())}
    return row


def table(rows: list[dict[str, Any]]) -> list[str]:
    """Return a line for each set and way."""
    title = (
        "| set | way | parameters | splits | error, % | ± | less than the grid | ± | J | on tests | seconds |"
    )
    lines = [title, "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|"]
    by_pair: dict[tuple[str, str], dict[int, dict[str, Any]]] = {}
    for row in rows:
        by_pair.setdefault((row["set"], row["way"]), {})[row["seed"]] = row
    for name in SETS:
        grid = by_pair.get((name, "grid"), {})
        for (of, way), found in by_pair.items():
            if of != name:
                continue
            errors = np.array([each["error"] for each in found.values()])
            gains = np.array(
                [grid[seed]["error"] - each["error"] for seed, each in found.items() if seed in grid]
            )
            cells = [f"{errors.mean():.1f}", standard_error(errors), "", "", "", ""]
            if way != "grid":
                cells[2:4] = [f"{gains.mean():.1f}", standard_error(gains)]
            if way.startswith("gradient"):
                cells[4:] = [
                    f"{np.mean([each[kind] for each in found.values()]):.2f}" for kind in ("J", "loss")
                ]
            seconds = np.median([each["seconds"] for each in found.values()])
            count = next(iter(found.values()))["parameters"]
            lines.append(f"| {name} | {way} | {count} | {len(found)} | {' | '.join(cells)} | {seconds:.2g} |")
    return lines


def standard_error(values: np.ndarray) -> str:
    """Return the standard error of a mean, as a text."""
    return f"{values.std(ddof=1) / np.sqrt(len(values)):.1f}" if len(values) > 1 else "–"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a row for each set and way."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="+", metavar="NAME", help="sets whose names begin so")
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--train", type=int, default=200, help="examples of a training part")
    parser.add_argument("--store", type=Path, help="file of the fits that are done, one a line")
    parser.add_argument("--data-dir", help="directory of the archives; otherwise REFSVM_DATA")
    options = parser.parse_args(arguments)
    rows: list[dict[str, Any]] = []
    if options.store and options.store.exists():
        rows = [json.loads(line) for line in options.store.read_text(encoding="utf-8").splitlines()]
    names = [each for each in SETS if not options.only or each.startswith(tuple(options.only))]
    done = {(row["set"], row["way"], row["seed"]) for row in rows}
    # a split of every set first: what is stopped has some of each
    for seed in range(options.splits):
        for name in names:
            X, _, is_regression = data_of(name, options.data_dir)
            for way in ways(is_regression, X.shape[1]):
                if (name, way, seed) in done:
                    continue
                rows.append(row_of(name, way, seed, options))
                if options.store:
                    with options.store.open("a", encoding="utf-8") as file:
                        file.write(json.dumps(rows[-1]) + "\n")
    print("\n".join(table(rows)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
