"""The signs of leave-one-out, compared with those of the optimum: machines trained anew to 1e-10.

    python benchmarks/loo_signs.py                        256 models: C × γ of Franc et al. on four sets, 8 × 8 each
    python benchmarks/loo_signs.py --every 3              each third value of C and γ
    python benchmarks/loo_signs.py --all                  of all examples; else of those that the KKT gap has decided

`refsvm.leave_one_out` says that it is exact. A proof decides most examples; at the KKT gap |h| has to be large enough
for its sign to be that of the optimum. A machine is trained from scratch without each example, to a KKT gap of 1e-10. A
sign counts as wrong if it differs where |h| of that machine is above 1e-7. The exit code is 1 if one is wrong.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections import Counter
from typing import Any

import numpy as np

from refsvm import RBF, DualProblem, KKTGap, leave_one_out, solve
from refsvm.datasets import load

SETS = {"heart": 170, "thyroid": 140, "breast_cancer": 200, "sonar": 150}
"""Training examples of each set; the first two as in the paper."""

EXACT, TIE = KKTGap(1e-10), 1e-7


def main() -> int:
    """Compare; print a line for each set."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--every", type=int, default=1, metavar="K", help="each K-th value of C and γ")
    parser.add_argument("--all", action="store_true", help="of all examples")
    options = parser.parse_args()
    total = Counter[str]()
    for name, m in SETS.items():
        began, data, found = time.perf_counter(), load(name), Counter[str]()
        some = np.random.default_rng(0).permutation(len(data.y))[:m]
        X, y = data.X[some], np.where(data.y[some] == data.y.max(), 1, -1)
        for i in range(0, 8, options.every):
            for j in range(0, 8, options.every):
                found += compared(X, y, RBF(2.0 ** (-11.0 * j / 7.0)), 500.0 ** (i / 7.0), options.all)
        summary(found, name, time.perf_counter() - began)
        total += found
    return summary(total, "all", 0.0)


def compared(X: np.ndarray, y: np.ndarray, kernel: Any, C: float, everything: bool) -> Counter[str]:
    """Count the signs of one model that are compared, those that are wrong, and ties."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        loo = leave_one_out(X, y, kernel=kernel, C=C)
    by_gap = loo.decided_by == "kkt"
    found = Counter(models=1, examples=len(y), by_gap=int(by_gap.sum()))
    for r in range(len(y)) if everything else np.flatnonzero(by_gap).tolist():
        h = decision_value_without(X, y, r, kernel, C)
        is_tie = abs(h) <= TIE
        found += Counter(
            compared=1, ties=int(is_tie), near=int(abs(h) <= 1e-3),
            wrong=int(not is_tie and loo.predictions[r] != np.sign(h)),
        )  # fmt: skip
    return found


def decision_value_without(X: np.ndarray, y: np.ndarray, r: int, kernel: Any, C: float) -> float:
    """Return h(xᵣ) of the machine trained on all others alone, from scratch."""
    rest = np.arange(len(y)) != r
    problem = DualProblem.classification(X[rest], y[rest], kernel=kernel, C=C)
    solution = solve(problem, stop=EXACT, cache_dtype="float64", polish=True)
    return float(kernel(X[[r]], X[rest])[0] @ solution.alpha + solution.intercept)


def summary(found: Counter[str], name: str, seconds: float) -> int:
    """Print the counts; return the exit code."""
    print(
        f"{name:14s} {found['models']} models, {found['examples']} examples, {found['by_gap']} decided by the KKT gap; "
        f"{found['compared']} signs compared, {found['near']} of |h| ≤ 1e-3, {found['ties']} ties, "
        f"{found['wrong']} wrong; {seconds:.0f} s",
        flush=True,
    )
    return 1 if found["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
