"""Leave-one-out by walks: beside refits, on 12 sets.

    python benchmarks/loo_path.py              some minutes
    python benchmarks/loo_path.py --n 60       fewer examples of each set

For each set, an RBF kernel of γ = 1/d and a linear one: `leave_one_out` by ``ATO(margin=inf, budget=inf)``, which
follows each example that has a weight to the end of its path, and refits to a KKT gap of 1e-8. Printed are how many
examples had no weight, how many the walk decided and how many it left to steps of SMO, the largest difference of a
decision value, and the number of predictions that differ.
"""

from __future__ import annotations

import argparse

import numpy as np

from refsvm import ATO, RBF, DualProblem, KKTGap, Linear, Rounds, leave_one_out
from refsvm.datasets import load, make_banana, make_ringnorm

SETS = (
    "heart", "thyroid", "sonar", "ionosphere", "breast_cancer", "monks1", "monks2", "monks3", "tic_tac_toe", "wbc",
    "banana", "ringnorm",
)  # fmt: skip
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
    rounds = Rounds(DualProblem.classification(X, y, kernel=kernel), stop=KKTGap(1e-8), shrinking=False)
    problem = rounds.problem
    return np.array([rounds.solve(problem.without(r)).decision_values[r] for r in range(problem.n)])


def main() -> None:
    """Print one line for each set and kernel."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--n", type=int, default=200, help="examples of each set")
    options = parser.parse_args()
    print(f"{'set':15}{'kernel':8}{'n':>5}{'zero alpha':>12}{'path':>6}{'kkt':>6}{'differ':>10}{'wrong':>7}")
    for name in SETS:
        X, y = data(name, options.n)
        for kernel in (RBF(1.0 / X.shape[1]), Linear()):
            values = refits(X, y, kernel)
            loo = leave_one_out(X, y, kernel=kernel, seeder=TO_THE_END, checks=("zero alpha",))
            known, counts = ~np.isnan(loo.decision_values), loo.counts
            differ = float(np.abs(loo.decision_values - values)[known].max())
            wrong = int((loo.predictions != np.where(values >= 0.0, 1, -1)).sum())
            three = "".join(
                f"{counts[each]:{w}}" for each, w in (("zero alpha", 12), ("path", 6), ("kkt", 6))
            )
            print(f"{name:15}{type(kernel).__name__:8}{len(y):5}{three}{differ:10.1e}{wrong:7}", flush=True)


if __name__ == "__main__":
    main()
