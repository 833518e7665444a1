"""A variable of little room, or next to its bound, among pairs that gain nothing but rounding.

A seed stands for a problem whose boxes differ by up to 300 powers of ten, or for a start within 1e-9 to 1e-320 of some
bounds, a selector that ranks pairs by their exact gain, a step and an engine. What gains most is then often the
rounding of a pair that has converged: 1e-32, where the most violating pair has no more room than 1e-50.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from refsvm import (
    RBF,
    ConjugateSecondOrder,
    ConjugateStep,
    DualProblem,
    Greedy,
    HybridMaximumGain,
    KKTGap,
    Linear,
    NewtonStep,
    OverrelaxedNewtonStep,
    PlanningAheadStep,
    Polynomial,
    SecondOrder,
    Solution,
    Status,
    solve,
)
from refsvm.testing import smallest_cache_mb
from refsvm.testing.engines import first_difference

__all__ = ["NarrowTrial", "any_narrow", "complaints_about"]

COMPARED = 1000
"""Steps over which the engines are compared; most solves end within."""

LIMIT = 1_000_000
"""Steps after which a solve is given up; with a kernel matrix of low rank and a large C all rules need many."""

FEW_ROWS = HybridMaximumGain(rows=1)
"""Tried with the smallest cache."""

SELECTORS = (
    Greedy(), Greedy(), HybridMaximumGain(), HybridMaximumGain(), HybridMaximumGain(eta=0.0),
    HybridMaximumGain(eta=0.1, rows=1), HybridMaximumGain(rows="all"), FEW_ROWS, FEW_ROWS, SecondOrder(),
    ConjugateSecondOrder(),
)  # fmt: skip
STEPS = (
    NewtonStep(), NewtonStep(), OverrelaxedNewtonStep(0.5), OverrelaxedNewtonStep(), OverrelaxedNewtonStep(1.9),
    ConjugateStep(),
)  # fmt: skip
PLANNED = PlanningAheadStep(), PlanningAheadStep(history=3)


@dataclass(frozen=True, eq=False)
class NarrowTrial:
    """A problem, where it starts, and how it is solved.

    Attributes
    ----------
    problem : DualProblem
    start : ndarray of shape (n,) or None
    options : dict
        Other arguments of `solve`.
    kind : str
        What is narrow, for people.
    """

    problem: DualProblem
    start: np.ndarray | None
    options: dict[str, Any]
    kind: str

    def __str__(self) -> str:
        return f"{self.kind}, n={self.problem.n}, {self.options}"


def any_narrow(seed: int) -> NarrowTrial:
    """Draw a trial.

    Examples
    --------
    >>> from benchmarks.audit.narrow import any_narrow
    >>> any_narrow(0).problem.n == any_narrow(0).problem.n
    True
    """
    rng = np.random.default_rng([seed, 74])
    n = int(rng.integers(6, 41))
    X = rng.normal(size=(n, 2))
    C = 10.0 ** rng.integers(-2, 5)
    weights, narrow = any_weights(rng, n)
    task = ("classes", "classes", "regression", "one class")[rng.integers(4)]
    kernel: Any = (RBF(0.5), RBF(0.5), Linear(), Polynomial(2, coef0=1.0))[rng.integers(4)]
    if task == "classes":
        y = np.where(X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=n) > 0.0, 1, -1)
        y[:4] = 1, -1, 1, -1
        problem = DualProblem.classification(X, y, kernel=kernel, C=C * weights)
    elif task == "regression":
        problem = DualProblem.regression(
            X, np.sin(X[:, 0]) + 0.1 * rng.normal(size=n), kernel=kernel, C=C * weights
        )
    else:
        problem = DualProblem.one_class(X, kernel=kernel, nu=float(rng.uniform(0.1, 0.9)), weights=weights)
    start, near = any_start(rng, problem, narrow == "equal")
    selector = SELECTORS[rng.integers(len(SELECTORS))]
    steps = PLANNED if selector.takes_candidates else STEPS  # where second order ranks by exact gain, too
    options: dict[str, Any] = {
        "selector": selector, "step": steps[rng.integers(len(steps))],
        "stop": KKTGap((1e-3, 1e-3, 1e-6)[rng.integers(3)]), "shrinking": bool(rng.integers(2)),
        "cache_dtype": "float64",
    }  # fmt: skip
    if selector is FEW_ROWS:
        options["cache_mb"] = smallest_cache_mb(selector, problem.n, options["stop"])
    return NarrowTrial(problem, start, options, f"{task}, weights {narrow}, start {near}")


def any_weights(rng: np.random.Generator, n: int) -> tuple[np.ndarray, str]:
    """Draw the weights of n examples, of which four stay 1, and what they are."""
    kind = ("falling", "of all sizes", "tiny or 1", "equal", "equal")[rng.integers(5)]
    weights = np.ones(n)
    if kind == "falling":
        weights = np.exp(-np.arange(n) * rng.uniform(0.5, 18.0))
    elif kind == "of all sizes":
        weights = 10.0 ** rng.uniform(-300.0, 0.0, size=n)
    elif kind == "tiny or 1":
        weights = np.where(rng.uniform(size=n) < 0.5, 10.0 ** -float(rng.integers(15, 300)), 1.0)
    weights[rng.permutation(n)[:4] if kind != "falling" else slice(0, 4)] = 1.0
    return weights, kind


def any_start(rng: np.random.Generator, problem: DualProblem, must: bool) -> tuple[np.ndarray | None, str]:
    """Draw a start that some variables have next to a bound, and how near it is; none where the boxes are narrow."""
    if not must and rng.integers(3):
        return None, "cold"
    lower, upper, n = problem.lower, problem.upper, problem.n
    alpha = problem.feasible(lower + rng.uniform(size=n) * (upper - lower))
    some = rng.uniform(size=n) < 0.5
    alpha = problem.feasible(np.where(some, np.where(rng.uniform(size=n) < 0.5, lower, upper), alpha))
    distance = 10.0 ** -float(rng.choice([9, 13, 16, 25, 60, 150, 300, 313, 320]))
    size = distance * np.where(rng.uniform(size=n) < 0.5, 1.0, rng.uniform(0.5, 2.0, size=n))
    at_lower, at_upper = alpha == lower, alpha == upper
    alpha = np.where(at_lower & ~at_upper, np.minimum(lower + size, upper), alpha)
    alpha = np.where(at_upper & ~at_lower, np.maximum(upper - size, lower), alpha)
    return alpha, f"within {distance:.0e}"


def solved(trial: NarrowTrial, engine: str, limit: int, **options: Any) -> Solution:
    """Solve it so far."""
    with warnings.catch_warnings(action="ignore"):
        return solve(
            trial.problem, start=trial.start, engine=engine, max_iter=limit, **{**trial.options, **options}
        )


def complaints_about(trial: NarrowTrial, compiled: bool = True, compared: int = COMPARED) -> list[str]:
    """Return what is wrong: engines that differ, or no convergence where second order converges."""
    engine = "numba" if compiled else "numpy"
    control = solved(trial, engine, LIMIT, selector=SecondOrder())
    complaints = []
    if compiled:
        pair = [solved(trial, each, compared, trace=True) for each in ("numpy", "numba")]
        found = first_difference(*pair)
        complaints += [] if found is None else [f"engines differ at step {found[0]}: {found[1]}"]
    ended = solved(trial, engine, LIMIT)
    if control.status is Status.CONVERGED and ended.status is not Status.CONVERGED:
        complaints.append(
            f"{ended.status.name} with a gap of {ended.kkt_gap:.3g} after {ended.iterations} steps; second order "
            f"converges in {control.iterations}"
        )
    return complaints
