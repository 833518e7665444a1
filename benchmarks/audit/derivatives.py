"""The audits "derivatives" and "events": derivatives of the optimum, beside central differences of solves.

A seed stands for a small problem of two classes, regression or novelty detection, a kernel, weights, duplicates, an
engine and a parameter. Each end of a difference is solved to 1e-11, its free variables once more by least squares.
h and b, and α where it is unique, agree to 1e-5 of the largest entry, or the draw is bad. A condition above 1e8, a
refusal and an event are answers of their own, and counted. Of a hundred draws and more at least 85 % have to have a
derivative to compare. "events" looks at both one-sided values at breakpoints of paths.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from refsvm import (
    RBF,
    DualProblem,
    KKTGap,
    Linear,
    Polynomial,
    regularization_path,
    solve,
)

NEAR, ILL = 1e-5, 1e8
STEPS = 3e-3, 1e-3, 1e-4, 1e-2, 3e-5, 1e-6
ENGINES = "numpy", "numba"


@dataclass(frozen=True)
class Laplacian:
    """exp(−γ Σ |x − z|): a kernel of the user's, which has no formula for its derivative."""

    gamma: float

    def __call__(self, X: np.ndarray, Z: np.ndarray) -> np.ndarray:
        """Kernel values, shape (m, n)."""
        return np.exp(-self.gamma * np.abs(X[:, None] - Z).sum(axis=2))


@dataclass(frozen=True)
class Drawn:
    """A random problem and a parameter: `at(θ)` is the problem there."""

    kind: str
    name: str
    value: float
    along: np.ndarray | None
    at: Callable[[float], DualProblem]
    X: np.ndarray
    engine: str

    def __str__(self) -> str:
        return f"{self.kind}, {self.name} = {self.value:.4g}, {len(self.X)} examples, {self.engine}"


def drawn(seed: int) -> Drawn:
    """Draw a problem."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(6, 41)), int(rng.integers(1, 6))
    X = rng.integers(-2, 3, (n, d)).astype(float) if rng.random() < 0.15 else rng.normal(size=(n, d))
    if rng.random() < 0.2:
        X[n // 2 : n // 2 + n // 5] = X[: n // 5]
    engine, kind = str(rng.choice(ENGINES)), str(rng.choice(["two classes", "regression", "novelty"]))
    kernel = kernel_of(rng, d)
    C, weights = (
        float(10.0 ** rng.uniform(-1.5, 1.5)),
        np.where(rng.random(n) < 0.5, 1.0, rng.uniform(0.2, 3.0, n)),
    )
    weights = weights if rng.random() < 0.5 else np.ones(n)
    epsilon, nu, along = float(rng.uniform(0.02, 0.4)), float(rng.uniform(0.1, 0.9)), rng.normal(size=n)
    score = X[:, 0] + 0.5 * np.sin(2.0 * X[:, -1]) + 0.4 * rng.normal(size=n)
    labels = np.where(score > np.median(score), 1.0, -1.0)
    labels[np.argmax(score)], labels[np.argmin(score)] = 1.0, -1.0
    names = [each for each in ("gamma", "coef0") if hasattr(kernel, each)]
    own = {"two classes": ["C", "weights"], "regression": ["C", "weights", "targets", "epsilon"]}
    name = str(rng.choice(own.get(kind, ["weights", "nu"]) + names))
    if name == "C":
        weights = np.ones(n)
    start = {"C": C, "epsilon": epsilon, "nu": nu, "weights": 0.0, "targets": 0.0}
    value = start.get(name, getattr(kernel, name, 0.0))
    # one γ for each feature: all move in one direction
    gammas = np.asarray(value) if np.ndim(value) else None
    way = None if gammas is None else gammas * rng.normal(size=d)
    value = 0.0 if way is not None else value

    def at(theta: float) -> DualProblem:
        moved = theta if way is None else gammas + theta * way
        here = replace(kernel, **{name: moved}) if name in names else kernel
        share = weights * (1.0 + theta * along) if name == "weights" else weights
        penalty = (theta if name == "C" else C) * share
        if kind == "two classes":
            return DualProblem.classification(X, labels, kernel=here, C=penalty)
        if kind == "novelty":
            return DualProblem.one_class(X, kernel=here, nu=theta if name == "nu" else nu, weights=share)
        width = theta if name == "epsilon" else epsilon
        targets = score + theta * along if name == "targets" else score
        return DualProblem.regression(X, targets, kernel=here, C=penalty, epsilon=width)

    along = along if name in ("weights", "targets") else way
    return Drawn(kind, name, value, along, at, X, engine)


def kernel_of(rng: np.random.Generator, d: int) -> Any:
    """Draw a kernel."""
    number = int(rng.integers(6))
    if number == 0:
        return Linear()
    if number == 1:
        return Polynomial(degree=int(rng.integers(1, 4)), gamma=1.0 / d, coef0=float(rng.uniform(0.2, 2.0)))
    gamma = float(10.0 ** rng.uniform(-1.5, 1.0)) / d
    if number == 3:
        return RBF(gamma * 10.0 ** rng.uniform(-1.0, 1.0, d))
    return Laplacian(gamma) if number == 2 else RBF(gamma)


@dataclass(frozen=True)
class End:
    """A problem solved exactly: its sets, α, b, and decision values."""

    side: np.ndarray
    alpha: np.ndarray
    b: float
    h: np.ndarray


def solved(problem: DualProblem, engine: str, like: np.ndarray | None = None) -> tuple[Any, End] | None:
    """Solve a problem to 1e-11, and its free variables once more; None if that has no end."""
    start = None if like is None else problem.feasible(like)
    found = solve(problem, stop=KKTGap(1e-11), polish=True, engine=engine, max_iter=400_000, start=start)
    if found.status.name != "CONVERGED":
        return None
    alpha, b = found.alpha.copy(), found.intercept
    side = np.where(alpha <= problem.lower, -1, np.where(alpha >= problem.upper, 1, 0))
    M = np.flatnonzero(side == 0)
    if len(M):
        for _ in range(2):
            A = np.ones((len(M) + 1, len(M) + 1))
            A[0, 0], A[1:, 1:] = 0.0, problem.gram.block(M, M)
            right = np.append(problem.z - alpha.sum(), problem.gradient(alpha)[M] - b)
            change = np.linalg.lstsq(A, right, rcond=1e-13)[0]
            alpha[M], b = alpha[M] + change[1:], b + change[0]
    return found, End(side, alpha, b, problem.v - problem.gradient(alpha) + b)


def difference(
    problem: Drawn, end: End, step: float, unique: bool
) -> tuple[np.ndarray, float, np.ndarray] | None:
    """Rates of α, b and h by a difference of four solves; None where the sets differ between them and α is unique."""
    total: list[Any] = [0.0, 0.0, 0.0]
    for way, share in ((1.0, 8.0), (-1.0, -8.0), (2.0, -1.0), (-2.0, 1.0)):
        ended = solved(problem.at(problem.value + way * step), problem.engine, end.alpha)
        if ended is None or (unique and not (ended[1].side == end.side).all()):
            return None
        for k, part in enumerate((ended[1].alpha, ended[1].b, ended[1].h)):
            total[k] = total[k] + share * part / (12.0 * step)
    return total[0], total[1], total[2]


def verdict(problem: Drawn) -> str:
    """Return "same", "bad: …", or why there was nothing to compare."""
    began = solved(problem.at(problem.value), problem.engine)
    if began is None:
        return "unsolved"
    solution, end = began
    try:
        found = solution.derivative(problem.name, problem.along)
    except ValueError as refusal:
        return f"refused: {refusal}"
    if not found.is_two_sided:
        return "event"
    if found.condition > ILL and not len(found.dependent):
        return "condition"
    copies = found.right.optimum.problem.n // len(problem.X)
    rates = np.tile(found.decision_function(problem.X), copies)
    worst = np.full(3, np.inf)
    for step in STEPS:
        wide = step * (abs(problem.value) or 1.0)
        if (rough := difference(problem, end, wide, not len(found.dependent))) is None:
            continue
        worst = np.minimum(worst, errors(problem, end, found, rates, rough))
        if worst.max() <= NEAR:
            return "same (alpha not unique)" if len(found.dependent) else "same"
    said = ", ".join(f"{each:.1e}" for each in worst)
    return (
        f"bad: {said}, condition {found.condition:.1e}"
        if np.isfinite(worst[0])
        else "no step without an event"
    )


def errors(problem: Drawn, end: End, found: Any, rates: np.ndarray, rough: Any) -> list[float]:
    """Errors of h, b and, where it is unique, α, relative to the largest entry of their derivative.

    A derivative that is 0 is compared with the rounding of what it is made of, times the condition of the system.
    """
    alpha, b, h = rough
    terms = (
        np.abs(problem.at(problem.value).gram.block(np.arange(len(end.alpha)))).max()
        * np.abs(end.alpha).sum()
    )
    unit = 1.0 / (abs(problem.value) or 1.0)
    floor, largest = 1e-7, max(np.abs(h).max(), abs(b))
    if largest < 1e-9 * terms * unit:
        system = found.right.optimum.system
        A = np.pad(system.K / max(1e-300, np.abs(system.K).max(initial=0.0)), (1, 0), constant_values=1.0)
        A[0, 0] = 0.0
        floor = max(floor, 1e-11 * np.linalg.cond(A)) if len(A) > 1 else floor
    size = max(largest, floor * terms * unit)
    of_alpha = max(np.abs(alpha).max(), 1e-6 * np.abs(end.alpha).max() * unit)
    wrong = 0.0 if len(found.dependent) else np.abs(alpha - found.alpha).max() / of_alpha
    return [float(np.abs(h - rates).max() / size), float(abs(b - found.intercept) / size), float(wrong)]


def events(seed: int) -> list[str]:
    """Compare both one-sided derivatives at up to three breakpoints of a path with slopes and differences."""
    complaints = []
    rng = np.random.default_rng(seed)
    n, gamma = int(rng.integers(10, 31)), float(10.0 ** rng.uniform(-1.0, 0.5))
    X = rng.normal(size=(n, 2))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=n) > 0.0, 1, -1)
    path = regularization_path(X, y, kernel=RBF(gamma), C_min=0.1, C_max=20.0)
    C = path.C
    inner = [k for k in range(1, len(C) - 1) if min(C[k + 1] / C[k], C[k] / C[k - 1]) > 1.001]
    some = rng.permutation(inner)[:3].tolist()
    for k in some:
        problem = DualProblem.classification(X, y, kernel=RBF(gamma), C=C[k])
        start = problem.feasible(path.alpha(C[k]))
        solution = solve(problem, start=start, stop=KKTGap(1e-12), polish=True, max_iter=10**6)
        found = solution.derivative("C")
        # α is affine in C between two breakpoints
        slopes = [(path.alpha(C[j + 1]) - path.alpha(C[j])) / (C[j + 1] - C[j]) for j in (k - 1, k)]
        by_slopes = max(
            float(np.abs(side.alpha - slope).max() / np.abs(slope).max())
            for side, slope in zip((found.left, found.right), slopes, strict=True)
        )
        by_gamma = solution.derivative("gamma")
        apart = min(one_sided_error(X, y, C[k], gamma, by_gamma, step) for step in (1e-3, 1e-4, 1e-5))
        if by_slopes > 1e-7 or apart > 1e-4 or not len(found.events) or found.is_two_sided:
            complaints.append(f"C = {C[k]:.6g}: {by_slopes:.1e} from slopes, {apart:.1e} from differences, "
                              f"{len(found.events)} examples at an event")  # fmt: skip
    return complaints


def one_sided_error(X: np.ndarray, y: np.ndarray, C: float, gamma: float, found: Any, step: float) -> float:
    """Largest relative difference of both one-sided rates of h by γ from differences of solves on one side."""
    most = 0.0
    for sign, side in ((-1.0, found.left), (1.0, found.right)):
        ends = [
            solved(DualProblem.classification(X, y, kernel=RBF(gamma + sign * j * step), C=C), "numba")
            for j in range(3)
        ]
        if None in ends:
            return np.inf
        h = [end[1].h for end in ends if end is not None]
        rates = sign * (4.0 * h[1] - 3.0 * h[0] - h[2]) / (2.0 * step)
        most = max(most, float(np.abs(rates - side.decision_function(X)).max() / np.abs(rates).max()))
    return most
