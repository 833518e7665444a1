"""The audit "screening": every variable that `SafeScreening` removes is at its bound in the optimum.

A seed stands for a problem, a rule, a tolerance and a start: far-out examples, duplicates, tiny weights, no free
variable at the optimum, and what is none of it.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any, Final

import numpy as np

from refsvm import RBF, DualProblem, KKTGap, Linear, Polynomial, SafeScreening, Status, solve
from refsvm.core.solver import safe_screening

from .frame import Audit, Found

__all__ = ["AUDIT", "any_problem", "complaints_about", "looks"]

KINDS: Final = "far", "copies", "tiny", "bounded"


@contextmanager
def looks() -> Iterator[list[tuple[int, list[int], list[bool]]]]:
    """Give a list to which each look adds how many variables were there, which left, and whether at U."""
    found: list[tuple[int, list[int], list[bool]]] = []
    undecided = safe_screening.undecided

    def looked(state: Any) -> np.ndarray:
        stays = undecided(state)
        number, inner = np.arange(len(stays)), state
        while inner.parent is not None:
            inner, A = inner.parent
            number = A[number]
        found.append((len(stays), number[~stays].tolist(), (state.alpha == state.upper)[~stays].tolist()))
        return stays

    safe_screening.undecided = looked
    try:
        yield found
    finally:
        safe_screening.undecided = undecided


def any_problem(seed: int) -> tuple[DualProblem, str]:
    """Draw a problem; return what is special in it, too.

    Examples
    --------
    >>> from benchmarks.audit.screening import any_problem
    >>> any_problem(3)[1] == any_problem(3)[1]
    True
    """
    rng = np.random.default_rng([seed, 14])
    n, C = int(rng.integers(6, 31)), 10.0 ** rng.uniform(-3, 2)
    X = rng.normal(size=(n, 2))
    score = X[:, 0] + 0.5 * rng.normal(size=n)
    y, weights = np.where(score > 0.0, 1, -1), np.ones(n)
    y[:2] = 1, -1
    kinds = rng.permutation(KINDS)[: rng.integers(0, 3)].tolist()
    if "far" in kinds:
        X[rng.integers(n)] += 10.0 ** rng.uniform(0, 2) * rng.normal(size=2)
    if "copies" in kinds:
        X[n // 2 :] = X[rng.integers(0, n // 2, n - n // 2)]
    if "tiny" in kinds:
        weights = 10.0 ** rng.uniform(-6, 0, n)
    if "bounded" in kinds:
        C, y = 1e-3 * C, np.arange(n) % 2 * 2 - 1
    kernel: Any = (Linear(), RBF(10.0 ** rng.uniform(-2, 1)), Polynomial(2, 0.5, 1.0))[rng.integers(3)]
    task = str(rng.choice(["two classes", "two classes", "regression", "one class"]))
    if task == "regression":
        problem = DualProblem.regression(X, score, kernel=kernel, C=C * weights, epsilon=0.1)
    elif task == "one class":
        problem = DualProblem.one_class(X, kernel=kernel, nu=rng.uniform(0.1, 0.9), weights=weights)
    else:
        problem = DualProblem.classification(X, y, kernel=kernel, C=C * weights)
    return problem, ", ".join([task, *kinds])


def complaints_about(seed: int) -> tuple[list[str], int, int]:
    """Return what the optimum contradicts, how many variables there were, and how many were removed."""
    rng, (problem, _) = np.random.default_rng(seed), any_problem(seed)
    rule, tol = SafeScreening(int(rng.integers(1, 30))), 10.0 ** rng.uniform(-6, -1)
    start = problem.feasible(rng.normal(size=problem.n) * problem.upper.max()) if seed % 3 == 0 else None
    ways: dict[str, Any] = {"shrinking": rule, "stop": KKTGap(tol), "start": start, "max_iter": 100_000}
    with warnings.catch_warnings(action="ignore"):
        with looks() as seen:
            found = solve(problem, engine="numpy", **ways)
        with looks() as compiled:
            other = solve(problem, engine="numba" if find_spec("numba") else "numpy", **ways)
        exact = solve(
            problem, stop=KKTGap(1e-12), polish=True, start=found.alpha, engine="numpy", max_iter=300_000
        )
    complaints = []
    if (seen, found.iterations, found.alpha.tolist()) != (compiled, other.iterations, other.alpha.tolist()):
        complaints.append(f"the engines differ: {len(seen)} and {len(compiled)} looks")
    if found.status is not Status.CONVERGED or found.kkt_gap > 1.01 * tol:
        complaints.append(f"{found.status.name} with a gap of {found.kkt_gap:.3g}, tolerance {tol:.3g}")
    G, width = exact.gradient - exact.intercept, problem.upper - problem.lower
    removed = [pair for _, left, at_upper in seen for pair in zip(left, at_upper, strict=True)]
    for i, is_upper in removed:
        bound, side = (problem.upper[i], 1.0) if is_upper else (problem.lower[i], -1.0)
        moved = [abs(each.alpha[i] - bound) / width[i] if width[i] > 0.0 else 0.0 for each in (found, exact)]
        # on the wrong side of b by more than the optimum is off
        if moved[0] > 1e-12 or moved[1] > 1e-7 or (width[i] > 0.0 and side * G[i] < -max(exact.kkt_gap, 0.0)):
            complaints.append(
                f"variable {i} was removed at {bound:.6g}: it moved by {moved[0]:.1e} of its box, and by "
                f"{moved[1]:.1e} up to the optimum, where G − b is {G[i]:.3g} and ψ {exact.kkt_gap:.1e}"
            )
    return complaints, problem.n, len(removed)


def case(seed: int, options: Any) -> Found:
    """Try one seed."""
    complaints, n, removed = complaints_about(seed)
    problem, kinds = any_problem(seed)
    return Found(complaints, {"variables": n, "removed": removed}, f"{kinds}; {problem}")


AUDIT = Audit("Is a variable that SafeScreening removes ever inside its box in the optimum?", case, 2000)
