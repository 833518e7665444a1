"""Trials: any problem that `DualProblem` accepts, with any rules and settings of `solve`, drawn from a seed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from refsvm import (
    RBF,
    DualProblem,
    KKTGap,
    LIBSVMShrinking,
    Linear,
    Polynomial,
    Precomputed,
    Sigmoid,
    WorkingSetGap,
)
from refsvm.core.kernels import Gram
from refsvm.core.solver.rules import Rules
from refsvm.testing import SHRINK_EARLY, smallest_cache_mb
from refsvm.testing.shipped import SELECTORS, STEPS

__all__ = ["Trial", "any_rules", "any_trial"]

EXPONENTS = np.arange(-8, 9)
"""Scales are powers of ten between 1e-8 and 1e8."""


@dataclass(frozen=True, eq=False)
class Trial:
    """A problem, the rules that solve it, and the other arguments of `solve`.

    Attributes
    ----------
    problem : DualProblem
    rules : Rules
    psd : bool
        Whether K is positive semi-definite, so that every local optimum is global.
    magnitude : ndarray of shape (n, n)
        What K is rounded at, entry by entry: an entry of K is right to a small multiple of eps times this.
    options : dict
        `shrinking`, `cache_mb`, `cache_dtype`.
    start : ndarray of shape (n,) or None
        Feasible or not.
    earlier : tuple of two ndarrays of shape (n,), or None
        The box of a round that is solved before, by the same `Rounds`.
    """

    problem: DualProblem
    rules: Rules
    psd: bool
    magnitude: np.ndarray
    options: dict[str, Any] = field(default_factory=dict)
    start: np.ndarray | None = None
    earlier: tuple[np.ndarray, np.ndarray] | None = None

    def __str__(self) -> str:
        start, earlier = self.start is not None, self.earlier is not None
        return f"n={self.problem.n}, {self.rules}, {self.options}, start given: {start}, earlier round: {earlier}"


def any_trial(seed: int) -> Trial:
    """Draw a trial.

    Examples
    --------
    >>> from benchmarks.audit.trials import any_trial
    >>> any_trial(0).problem.n == any_trial(0).problem.n
    True
    """
    rng = np.random.default_rng(seed)
    n = int(rng.choice([2, 3, 4, 5, 6, rng.integers(2, 13), rng.integers(7, 41)]))
    gram, psd, magnitude = any_gram(rng, n)
    problem = any_box(rng, gram, scale=float(np.abs(magnitude.diagonal()).max(initial=0.0)))
    rules = any_rules(rng, problem)
    options = any_options(rng, problem, rules)
    return Trial(
        problem, rules, psd, magnitude, options, any_start(rng, problem), any_earlier_box(rng, problem)
    )


def any_data(rng: np.random.Generator, n: int) -> np.ndarray:
    """Draw examples: in general position, of few values, with duplicates, of low rank, far from the origin."""
    d = int(rng.integers(1, 5))
    X = rng.normal(size=(n, d))
    kind = rng.integers(6)
    if kind == 1:
        X = X.round()
    elif kind == 2:
        X = X[rng.integers(n, size=n)]
    elif kind == 3:
        X = np.outer(X[:, 0], rng.normal(size=d))
    elif kind == 4:
        X = X + 10.0 ** rng.integers(1, 4)
    elif kind == 5:
        X[:, 0] *= 10.0 ** rng.integers(-4, 5)
    return np.asarray(X)


def any_gram(rng: np.random.Generator, n: int) -> tuple[Gram, bool, np.ndarray]:
    """Draw a kernel on data, or a matrix; return it, whether it is positive semi-definite, and its `magnitude`."""
    X, kind = any_data(rng, n), int(rng.integers(9))
    scale = 10.0 ** rng.choice(EXPONENTS)
    if kind in (0, 1):
        X *= np.sqrt(scale)
        return Gram(Linear(), X), True, products_of(X)
    if kind in (2, 3):
        gamma = scale if rng.integers(2) else 1.0
        kernel: Any = RBF(gamma)
        norms = gamma * np.square(X).sum(axis=1)
        return Gram(kernel, X), True, kernel(X, X) * (1.0 + norms[:, None] + norms)
    if kind == 4:
        coef0 = float(rng.choice([0.0, 1.0]))
        kernel = Polynomial(degree=int(rng.integers(1, 4)), gamma=np.cbrt(scale), coef0=coef0)
        return Gram(kernel, X), True, 4 * (kernel.gamma * products_of(X) + coef0) ** kernel.degree
    if kind == 5:
        kernel = Sigmoid(gamma=0.5, coef0=float(rng.choice([-1.0, 0.0])))
        return Gram(kernel, X), False, 2.0 + 0.5 * products_of(X)
    if kind == 6:
        K = rng.normal(size=(n, n))
        K = scale * (K + K.T)
    elif kind == 7:
        factor = rng.normal(size=(n, int(rng.integers(0, n + 1))))
        K = scale * (factor @ factor.T)
    else:
        K = scale * np.diag(rng.choice([0.0, 0.5, 1.0], size=n))
    K = 0.5 * (K + K.T)
    return Gram(Precomputed(), np.ascontiguousarray(K)), kind != 6, np.abs(K)


def products_of(X: np.ndarray) -> np.ndarray:
    """What inner products are rounded at: d |x|·|z|."""
    lengths = np.sqrt(np.square(X).sum(axis=1))
    return np.asarray(X.shape[1] * np.outer(lengths, lengths))


def any_box(rng: np.random.Generator, gram: Gram, scale: float) -> DualProblem:
    """Draw v, z and a box: of a classifier, a regression, one class; or any, some of it without room."""
    n, kind = gram.n, rng.integers(5)
    size = 10.0 ** rng.choice(EXPONENTS)
    if rng.integers(2) and scale > 0.0:  # where some variables are free and some bounded
        size = 10.0 ** rng.uniform(-2, 2) / scale
    if kind < 2:
        labels = np.where(rng.uniform(size=n) < 0.5, 1.0, -1.0)
        labels[:2] = 1.0, -1.0
        penalties = size * (rng.choice([0.0, 0.5, 1.0, 1e3], size=n) if rng.integers(3) == 0 else np.ones(n))
        signed = labels * penalties
        return DualProblem(gram, labels, 0.0, np.minimum(signed, 0.0), np.maximum(signed, 0.0))
    v = rng.normal(size=n) * 10.0 ** rng.choice(EXPONENTS) if rng.integers(4) else np.zeros(n)
    if kind == 2:
        return DualProblem(
            gram, v, float(size), np.zeros(n), np.full(n, size * rng.uniform(1.0, n) / n * 1.001)
        )
    lower = size * rng.normal(size=n) * (10.0 ** rng.choice(EXPONENTS) if rng.integers(4) == 0 else 1.0)
    width = size * rng.uniform(size=n) * 10.0 ** rng.choice([0.0, 0.0, 2.0, -4.0], size=n)
    if rng.integers(2):
        width[rng.uniform(size=n) < 0.3] = 0.0
    upper = lower + width
    share = float(rng.choice([0.0, 1.0, rng.uniform(), rng.uniform()]))
    z = float(lower.sum() + share * (upper - lower).sum())
    return DualProblem(gram, v, min(max(z, float(lower.sum())), float(upper.sum())), lower, upper)


def any_rules(rng: np.random.Generator, problem: DualProblem) -> Rules:
    """Draw three rules that fit together; the tolerance is the default, or in proportion to v, or out of reach."""
    selector = SELECTORS[rng.integers(len(SELECTORS))]
    plain, planned = ([step for step in STEPS if bool(step.history) is history] for history in (False, True))
    allowed = [*plain, *3 * planned] if selector.takes_candidates else plain  # few selectors take candidates
    size = float(np.abs(problem.v).max()) or 1.0
    tol = float(rng.choice([1e-3, 1e-3 * size, 1e-6 * size, 1e-10 * size, 1e-300]))
    stop = WorkingSetGap(tol) if rng.integers(8) == 0 else KKTGap(tol)
    return Rules(selector, allowed[rng.integers(len(allowed))], stop)


def any_options(rng: np.random.Generator, problem: DualProblem, rules: Rules) -> dict[str, Any]:
    """Draw the other arguments of `solve`."""
    shrinking = (False, True, SHRINK_EARLY, LIBSVMShrinking(1), LIBSVMShrinking(10))
    options: dict[str, Any] = {"shrinking": shrinking[rng.integers(5)]}
    if rng.integers(2):
        options["cache_mb"] = smallest_cache_mb(rules.selector, problem.n, rules.stop)
    if rng.integers(16) == 0:
        options["cache_dtype"] = "float32"
    return options


def any_start(rng: np.random.Generator, problem: DualProblem) -> np.ndarray | None:
    """Draw a start: none, anywhere in the box, at corners of it, or nearly so."""
    kind, lower, upper = rng.integers(4), problem.lower, problem.upper
    if kind < 2:
        return None
    if kind == 2:
        return np.asarray(lower + rng.uniform(size=problem.n) * (upper - lower))
    corner = np.where(rng.uniform(size=problem.n) < 0.5, lower, upper)
    return np.asarray(corner * (1.0 + 1e-9 * rng.normal(size=problem.n)))


def any_earlier_box(rng: np.random.Generator, problem: DualProblem) -> tuple[np.ndarray, np.ndarray] | None:
    """Draw the box of an earlier round, in which some variables are fixed; mostly there is none."""
    if rng.integers(4):
        return None
    point, fixed = problem.feasible(np.zeros(problem.n)), rng.uniform(size=problem.n) < 0.3
    return np.where(fixed, point, problem.lower), np.where(fixed, point, problem.upper)
