"""The small problems, random and degenerate, on which rules are checked."""

from __future__ import annotations

from typing import Any

import numpy as np

from refsvm import (
    RBF,
    DualProblem,
    KKTGap,
    Linear,
    NewtonStep,
    Precomputed,
    Sigmoid,
    StepRule,
    StoppingRule,
    WorkingSetSelector,
)
from refsvm.core.kernels import Gram
from refsvm.core.kernels.rows import megabytes
from refsvm.core.solver.rules import Rules, rows_at_once


def practice_problems(rng: Any = 0) -> dict[str, DualProblem]:
    """Make the problems that `check_strategy` solves.

    Parameters
    ----------
    rng : int, numpy.random.Generator or None
        Seed or generator.

    Returns
    -------
    dict of str to DualProblem
        The problems by name, each with at most 48 variables.

    Examples
    --------
    >>> from refsvm.testing import practice_problems
    >>> practice_problems(rng=1)["two examples"].n
    2
    """
    rng = np.random.default_rng(rng)
    X = rng.normal(size=(32, 3))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=32) > 0, 1, -1)
    y[:2] = 1, -1  # include both classes, whatever the seed
    lone = np.where(np.arange(32) == 5, 1, -1)
    squares = rng.uniform(0, 4, size=(40, 2))
    board = np.where(np.floor(squares).sum(axis=1) % 2, 1, -1)
    noise = rng.normal(size=(32, 32))
    made = DualProblem.classification
    return {
        "two examples": made(X[:2], y[:2], kernel=RBF(1.0), C=10.0),
        "overlapping classes": made(X, y, kernel=RBF(0.5), C=10.0),
        "separable classes": made(X + 2 * y[:, None], y, kernel=Linear(), C=100.0),
        "large penalty": made(squares, board, kernel=RBF(1.0), C=1e4),
        "tiny penalty": made(X, y, kernel=RBF(0.5), C=1e-12),
        "penalties with zeros": made(X, y, kernel=RBF(0.5), C=np.arange(32) % 4 * 1.0),
        "duplicates": made(np.repeat(X[:8], 4, axis=0), y, kernel=RBF(0.5), C=5.0),
        "singular kernel": made(X[:, :2], y, kernel=Linear(), C=1.0),
        "constant features": made(np.ones((32, 2)), y, kernel=Linear(), C=1.0),
        "one against many": made(X, lone, kernel=RBF(0.5), C=10.0),
        "indefinite kernel": made(X, y, kernel=Sigmoid(gamma=0.5, coef0=-1.0), C=1.0),
        "indefinite matrix": made(noise + noise.T, y, kernel=Precomputed(), C=1.0),
        "any box": any_box_problem(rng),
        "one-class box": DualProblem.one_class(X, kernel=RBF(0.5), nu=0.3),
        "regression box": DualProblem.regression(
            X[:24], X[:24, 0] ** 2 + X[:24, 1], kernel=RBF(0.5), C=2.0, epsilon=0.1
        ),
    }


def large_problem(rng: Any = 0) -> DualProblem:
    """Make a problem of 500 variables, most of which shrinking leaves out.

    Examples
    --------
    >>> from refsvm.testing.practice import large_problem
    >>> large_problem().n
    500
    """
    rng = np.random.default_rng(rng)
    X = rng.normal(size=(500, 2))
    y = np.where(X[:, 0] + 0.3 * rng.normal(size=500) > 0.0, 1, -1)
    return DualProblem.classification(X, y, kernel=RBF(0.5), C=3.0)


def left_out_problems(problems: dict[str, DualProblem]) -> dict[str, DualProblem]:
    """Leave an example out of each problem with Σα = 0; return the problems with exactly one variable fixed at 0.

    Examples
    --------
    >>> from refsvm.testing.practice import left_out_problems, practice_problems
    >>> left_out = left_out_problems(practice_problems())
    >>> len(left_out), float(left_out["duplicates"].upper[3])
    (11, 0.0)
    """
    left_out = {}
    for name, problem in problems.items():
        without = problem.without(3) if problem.n > 3 and problem.z == 0.0 else problem
        if ((without.lower == 0.0) & (without.upper == 0.0)).sum() == 1:
            left_out[name] = without
    return left_out


def any_box_problem(rng: np.random.Generator) -> DualProblem:
    """Make a problem with random v, z and box; every fourth variable is fixed.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm.testing.practice import any_box_problem
    >>> any_box_problem(np.random.default_rng(0)).n
    32
    """
    n = 32
    lower, upper = -rng.uniform(size=n), rng.uniform(size=n)
    upper[::4] = lower[::4]
    # choose z within the sums that the box allows, so that there is a feasible point
    z = float(lower.sum() + 0.3 * (upper - lower).sum())
    return DualProblem(Gram(RBF(0.3), rng.normal(size=(n, 3))), rng.normal(size=n), z, lower, upper)


def smallest_cache_mb(
    selector: WorkingSetSelector, n: int, stop: StoppingRule | None = None, step: StepRule | None = None
) -> float:
    """Return the smallest `cache_mb`, in MiB, for the kernel rows (n float64 values each) that rules read at once.

    Parameters
    ----------
    selector : WorkingSetSelector
    n : int
    stop : StoppingRule, default KKTGap()
    step : StepRule, default NewtonStep()

    Examples
    --------
    >>> from refsvm import SecondOrder
    >>> from refsvm.testing import smallest_cache_mb
    >>> int(smallest_cache_mb(SecondOrder(), n=1000) * 2**20 / (8 * 1000))
    2
    """
    rules = Rules(selector, NewtonStep() if step is None else step, KKTGap() if stop is None else stop)
    return megabytes(rows_at_once(rules, n) + 0.5, n)
