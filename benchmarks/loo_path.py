"""Leave-one-out by walks: beside refits, on 12 sets, and along C beside one path for each example.

    python benchmarks/loo_path.py              some minutes
    python benchmarks/loo_path.py --n 60       fewer examples of each set
    python benchmarks/loo_path.py --along-C    heart, γ = 0.005, C from 0.01 to 10, a minute

For each set, an RBF kernel of γ = 1/d and a linear one: `leave_one_out` by ``ATO(margin=inf, budget=inf)``, which
follows each example that has a weight to the end of its path, and refits to a KKT gap of `TOLERANCE`. Printed are how
many examples had no weight, how many the walk decided and how many it left to steps of SMO, the largest difference of a
decision value, how many refits are tied (|h| below their own tolerance, so that their sign says nothing), and the
number of other predictions that differ.

Along C: `cross_validate_path` with ``folds="loo"``, and 270 paths, in turns, the median of the processor seconds of
each; and the largest relative difference of a C at which a prediction changes.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from refsvm import ATO, RBF, DualProblem, KKTGap, Linear, Rounds, leave_one_out, regularization_path
from refsvm.datasets import load, make_banana, make_ringnorm
from refsvm.paths import ErrorCurve, cross_validate_path

SETS = (
    "heart", "thyroid", "sonar", "ionosphere", "breast_cancer", "monks1", "monks2", "monks3", "tic_tac_toe", "wbc",
    "banana", "ringnorm",
)  # fmt: skip
TOLERANCE = 1e-8
TO_THE_END = ATO(margin=np.inf, budget=np.inf)
MADE = {"banana": make_banana, "ringnorm": make_ringnorm}


def data(name: str, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Features of mean 0 and variance 1, labels ±1, of n examples in a fixed random order."""
    found = MADE[name](n, rng=1) if name in MADE else load(name)
    order = np.random.default_rng(0).permutation(found.n)[:n]
    X = found.X[order]
    X = X.toarray() if hasattr(X, "toarray") else X
    spread = X.std(axis=0)
    X = (X - X.mean(axis=0)) / np.where(spread > 0.0, spread, 1.0)
    return X, np.where(found.y[order] == found.y.max(), 1, -1)


def refits(X: np.ndarray, y: np.ndarray, kernel: RBF | Linear) -> np.ndarray:
    """h(xᵣ) of machines trained without r, each from scratch."""
    rounds = Rounds(DualProblem.classification(X, y, kernel=kernel), stop=KKTGap(TOLERANCE), shrinking=False)
    problem = rounds.problem
    return np.array([rounds.solve(problem.without(r)).decision_values[r] for r in range(problem.n)])


def along_C(turns: int) -> None:  # noqa: N802
    """Print what both ways to the leave-one-out error of heart along C take, and where they differ."""
    heart = load("heart")
    X, y, options = heart.X, heart.y, {"kernel": RBF(0.005), "C_min": 0.01, "C_max": 10.0, "engine": "numba"}

    def independent() -> list[ErrorCurve]:
        curves = []
        for r in range(len(y)):
            rest = np.arange(len(y)) != r
            curves.append(regularization_path(X[rest], y[rest], **options).validation_error(X[[r]], y[[r]]))
        return curves

    for _ in range(3):  # loads compiled code
        cross_validate_path(X, y, folds="loo", **options)
    seconds = np.empty((turns, 2))
    for turn in range(turns):
        began = time.process_time()
        found = cross_validate_path(X, y, folds="loo", **options)
        between = time.process_time()
        curves = independent()
        seconds[turn] = between - began, time.process_time() - between
    walked, each = np.median(seconds, axis=0)
    print(f"branches {walked:.2f} s, one path for each {each:.2f} s, ratio {each / walked:.1f}")
    print(
        f"breakpoints of branches: {sum(found.breakpoints)} in {np.count_nonzero(found.breakpoints)} examples"
    )
    same = [np.array_equal(a.errors, b.errors) for a, b in zip(found.curves, curves, strict=True)]
    pairs = zip(found.curves, curves, strict=True)
    differ = [float(np.abs(a.C / b.C - 1.0).max()) for (a, b), one in zip(pairs, same, strict=True) if one]
    print(
        f"examples with the same steps: {sum(same)} of {len(y)}; a C of a step differs by {max(differ):.1e} at most,"
    )
    print(f"by more than 1e-8 of {sum(each > 1e-8 for each in differ)} examples, where no variable is free")
    low, high, error = found.curve.best()
    print(f"least error {error:.4f}, for C from {low:.4f} to {high:.4f}")


def main() -> int:
    """Print one line for each set and kernel; return the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--n", type=int, default=200, help="examples of each set")
    parser.add_argument("--along-C", action="store_true", help="the error as a function of C, on heart")
    parser.add_argument("--turns", type=int, default=3, help="of both ways along C")
    options = parser.parse_args()
    if options.along_C:
        along_C(options.turns)
        return 0
    every = 0
    print(
        f"{'set':15}{'kernel':8}{'n':>5}{'zero alpha':>12}{'path':>6}{'kkt':>6}{'differ':>10}{'tied':>6}{'wrong':>7}"
    )
    for name in SETS:
        X, y = data(name, options.n)
        for kernel in (RBF(1.0 / X.shape[1]), Linear()):
            values = refits(X, y, kernel)
            loo = leave_one_out(X, y, kernel=kernel, seeder=TO_THE_END, checks=("zero alpha",))
            known, counts = ~np.isnan(loo.decision_values), loo.counts
            differ = float(np.abs(loo.decision_values - values)[known].max())
            tied = np.abs(values) < TOLERANCE
            wrong = int(((loo.predictions != np.where(values >= 0.0, 1, -1)) & ~tied).sum())
            three = "".join(
                f"{counts[each]:{w}}" for each, w in (("zero alpha", 12), ("path", 6), ("kkt", 6))
            )
            every += wrong
            ends = f"{differ:10.1e}{tied.sum():6}{wrong:7}"
            print(f"{name:15}{type(kernel).__name__:8}{len(y):5}{three}{ends}", flush=True)
    return 1 if every else 0


if __name__ == "__main__":
    raise SystemExit(main())
