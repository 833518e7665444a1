"""Small data sets of one scale, and leave-one-out on them by brute force."""

from __future__ import annotations

from functools import cache

import numpy as np

from refsvm import RBF, DualProblem, KKTGap, Linear, Rounds
from refsvm.datasets import load, make_banana, make_ringnorm

from ...settings import FAST, INTERPRETED

MOST = 40 if INTERPRETED or FAST == "numpy" else 90


@cache
def data(name: str, most: int = MOST):
    """Return some examples of a bundled set, both classes among them, features of one scale."""
    if name in ("banana", "ringnorm"):
        made = {"banana": make_banana, "ringnorm": make_ringnorm}[name](most, rng=1)
        return made.X, made.y
    full = load(name)
    order = np.random.default_rng(0).permutation(full.n)[:most]
    X, y = full.X[order], full.y[order]
    X = X.toarray() if hasattr(X, "toarray") else X
    spread = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0), np.where(y == y.max(), 1, -1)


SETS = [
    "heart",
    "thyroid",
    "sonar",
    "ionosphere",
    "breast_cancer",
    "monks1",
    "tic_tac_toe",
    "wbc",
    "banana",
    "ringnorm",
]
if MOST == 40:  # where every step is slow
    SETS = ["heart", "ionosphere", "monks1", "banana"]
KERNELS = {"RBF": RBF(0.1), "linear": Linear()}


def brute_force(X, y, kernel, C):
    """Train without each example, from scratch, to 1e-8; return h(xᵣ)."""
    rounds = Rounds(
        DualProblem.classification(X, y, kernel=kernel, C=C), stop=KKTGap(1e-8), engine=FAST, shrinking=False
    )
    values = np.empty(len(y))
    for r in range(len(y)):
        left_out = rounds.problem.without(r)
        values[r] = rounds.solve(lower=left_out.lower, upper=left_out.upper).decision_values[r]
    return values
