"""Errors along the path of several classes, beside refits: at 200 values of C and at both sides of every step.

    python benchmarks/path_of_classes.py           iris, wine and digits, some minutes
    python benchmarks/path_of_classes.py --n 60    fewer examples of each set

For each set: the error on examples that were not trained on, in five folds, and by leave-one-out of 30 examples, from
`refsvm.regularization_path` and `refsvm.paths.cross_validate_path`. Refits solve each pair of classes to a tolerance of
1e-10. Printed are the steps of the curve, how many machines were compared, in how many of them some pair has no
free α, so that its b may be anything of an interval and its refit says nothing, how many predictions are tied (some
|h| below 1e-6), at how many C some example was neither, and how many of these have another number of errors than the
curve: fewer than the sure examples have, or more than these and all others together. It has to be 0.
"""

from __future__ import annotations

import argparse
import time
from itertools import combinations

import numpy as np
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.svm import SVC

from refsvm import RBF, regularization_path
from refsvm.paths import ErrorCurve, cross_validate_path

SETS = {"iris": load_iris, "wine": load_wine, "digits": load_digits}
C_MIN, C_MAX, SIDE = 0.01, 100.0, 1e-6


def data(name: str, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Features of mean 0 and variance 1 and labels, of n examples in a fixed random order."""
    X, y = SETS[name](return_X_y=True)
    some = np.random.default_rng(0).permutation(len(y))[:n]
    spread = X[some].std(axis=0)
    return (X[some] - X[some].mean(axis=0)) / np.where(spread > 0.0, spread, 1.0), y[some]


def has_unique_intercepts(model: SVC, y: np.ndarray, C: float) -> bool:
    """Whether each pair has a free α."""
    share = np.abs(model.dual_coef_) / C
    codes = np.searchsorted(model.classes_, y[model.support_])
    free = (share > 1e-7) & (share < 1.0 - 1e-7)
    return all(
        (free[q - 1] & (codes == p)).any() or (free[p] & (codes == q)).any()
        for p, q in combinations(range(len(model.classes_)), 2)
    )


def compare(
    name: str, curve: ErrorCurve, K: np.ndarray, y: np.ndarray, splits: list[tuple[np.ndarray, np.ndarray]]
) -> int:
    """Refit at all these C without the test set of each split; print what differs from the curve, and return it."""
    began, steps = time.perf_counter(), curve.C[1:-1]
    asked = np.concatenate([steps * (1 - SIDE), steps * (1 + SIDE), np.geomspace(C_MIN, C_MAX, 200)])
    compared = unknown = tied = looked = different = 0
    for C in asked.clip(curve.C[0], curve.C[-1]):
        errors = unsure = 0
        for train, test in splits:
            model = SVC(C=C, kernel="precomputed", tol=1e-10, decision_function_shape="ovo")
            model.fit(K[np.ix_(train, train)], y[train])
            compared += 1
            cross = K[np.ix_(test, train)]
            is_tied = (np.abs(model.decision_function(cross)) < 1e-6 * C).any(axis=-1)
            tied += int(is_tied.sum())
            if not has_unique_intercepts(model, y[train], C):
                unknown += 1
                is_tied[:] = True
            unsure += int(is_tied.sum())
            errors += int((model.predict(cross) != y[test])[~is_tied].sum())
        looked += unsure < curve.count
        different += not errors <= round(curve.at(C) * curve.count) <= errors + unsure
    print(
        f"{name:24} {len(steps):4} steps {compared:6} machines {unknown:5} without a free α {tied:4} tied "
        f"{looked:4} C looked at {different:3} differ {time.perf_counter() - began:6.0f} s",
        flush=True,
    )
    return different


def main(arguments: list[str] | None = None) -> int:
    """Compare all sets; return the number of errors that differ."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--n", type=int, default=200)
    n, different = parser.parse_args(arguments).n, 0
    for name in SETS:
        X, y = data(name, n)
        kernel = RBF(1.0 / X.shape[1])
        K, options = kernel(X, X), {"kernel": kernel, "C_min": C_MIN, "C_max": C_MAX}
        train, test = np.arange(len(y) // 2), np.arange(len(y) // 2, len(y))
        curve = regularization_path(X[train], y[train], **options).validation_error(X[test], y[test])
        different += compare(f"{name}, other examples", curve, K, y, [(train, test)])
        found = cross_validate_path(X, y, folds=5, **options)
        splits = [(np.flatnonzero(found.fold != h), np.flatnonzero(found.fold == h)) for h in range(5)]
        different += compare(f"{name}, five folds", found.curve, K, y, splits)
        few = np.arange(min(30, len(y)))
        curve = cross_validate_path(X[few], y[few], folds="loo", **options).curve
        splits = [(np.delete(few, r), few[r : r + 1]) for r in few]
        different += compare(f"{name}, leave-one-out", curve, K, y, splits)
    return different


if __name__ == "__main__":
    raise SystemExit(main() > 0)
