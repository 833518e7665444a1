"""Paths along C, costs, ε, ν, weights, a target, a fold out and ten in.

Each line is followed by both engines, which must give the same bits. Its KKT conditions are audited at breakpoints and
at two points between neighbours. At random t the objective is compared with that of `solve` at 1e-10, where this ends
within its steps, and with the path's own primal objective everywhere: a gap of 1e-8 proves that it is the optimum.
Problems are small, of whole numbers half of them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from refsvm import RBF, DualProblem, KKTGap, Linear, Polynomial, Status, parametric_path, solve

NEAR, CLEAN, STEPS = 1e-8, 1e-6, 1_000_000
Problems = tuple[DualProblem, DualProblem, tuple[float, float]]


class Followed(NamedTuple):
    """How a line of problems was followed: the audit, and the worst relative differences."""

    status: Status
    audit: float
    solved: float  # from the objective of solve
    unsolved: int  # values of t at which solve did not end
    gap: float  # from the path's own primal objective
    same: bool  # both engines

    @property
    def bad(self) -> bool:
        """Whether it breaks a promise."""
        worst = max(self.solved, self.gap if self.unsolved else 0.0)
        return self.status is not Status.CONVERGED or not self.same or self.audit > CLEAN or worst > NEAR


def lines(X: np.ndarray, y: np.ndarray, kernel: Any, C: float = 1.0) -> dict[str, Problems]:
    """Eight lines of problems; the target of regression is the first feature, disturbed."""
    n, rng = len(y), np.random.default_rng(1)
    whole = DualProblem.classification(X, y, kernel=kernel, C=C)
    gram, some = whole.gram, rng.permutation(n)
    target = X[:, 0] + 0.3 * np.sin(3.0 * X[:, -1]) + 0.2 * rng.normal(size=n)
    raised = target + 2.0 * (np.arange(n) == some[0])

    def classified(C: Any) -> DualProblem:
        return DualProblem.classification(y=y, gram=gram, C=C)

    def fitted(target: np.ndarray, epsilon: float) -> DualProblem:
        return DualProblem.regression(y=target, gram=gram, C=C, epsilon=epsilon)

    costs = (np.where(y > 0, c, C - c) for c in (0.0, C))
    weights = rng.integers(0, 4, n) + (np.arange(n) < 2)
    shares = (DualProblem.one_class(gram=gram, nu=nu) for nu in (0.1, 0.9))
    return {
        "C": (classified(0.01 * C), classified(10.0 * C), (0.01 * C, 10.0 * C)),
        "cost": (*map(classified, costs), (0.0, C)),
        "epsilon": (fitted(target, 1.0), fitted(target, 0.02), (1.0, 0.02)),
        "nu": (*shares, (0.1, 0.9)),
        "weights": (whole, classified(C * weights), (0.0, 1.0)),
        "one target": (fitted(target, 0.1), fitted(raised, 0.1), (0.0, 2.0)),
        "a fold out": (whole, whole.without(some[: n // 10]), (0.0, 1.0)),
        "ten in": (whole.without(some[:10]), whole, (0.0, 1.0)),
    }


def random_line(seed: int) -> tuple[str, Problems]:
    """One of these lines through a small problem, whole numbers and repeated rows often; either way round."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(12, 26)), int(rng.integers(1, 4))
    X = rng.integers(-2, 3, (n, d)).astype(float) if rng.random() < 0.5 else rng.normal(size=(n, d))
    if rng.random() < 0.3:
        X = np.repeat(X[: n // 2], 2, axis=0)
    y = rng.choice([-1, 1], len(X))
    y[:2] = 1, -1
    kernel = (Linear(), RBF(0.5), RBF(2.0), Polynomial(degree=2, coef0=1.0))[int(rng.integers(4))]
    every = lines(X, y, kernel, C=float(rng.choice([0.1, 1.0, 10.0])))
    kind = sorted(every)[int(rng.integers(len(every)))]
    start, end, t = every[kind]
    return kind, (start, end, t) if rng.random() < 0.5 else (end, start, t[::-1])


def check(problems: Problems, merge: bool, values: int) -> Followed:
    """Follow a line and compare."""
    start, end, t = problems
    path = parametric_path(start, end, t=t, merge=merge, engine="numba")
    other = parametric_path(start, end, t=t, merge=merge, engine="numpy")
    same = all(np.array_equal(a, b) for a, b in zip(path.record, other.record, strict=True))
    solved, unsolved, gap = 0.0, 0, 0.0
    for at in [*np.random.default_rng(2).uniform(*sorted(t), values).tolist(), path.t[0], path.t[-1]]:
        problem, alpha = path.problem(at), path.alpha(at)
        ours, theirs = problem.objective(alpha), solve(problem, stop=KKTGap(1e-10), max_iter=STEPS)
        size = max(abs(ours), path.line.unit[0] * path.line.widest)
        gap = max(gap, (problem.primal_objective(alpha) - ours) / size)
        if theirs.status is Status.CONVERGED:
            solved = max(solved, abs(ours - theirs.objective) / size)
        else:
            unsolved += 1
    audit = path.kkt_audit().worst
    return Followed(path.status, audit, solved, unsolved, gap, same)
