"""The family of paths: the whole path of a weighted problem, looked at from scratch at random C.

What comes back is wrong if

* it says CONVERGED and does not reach C_max, or the duality gap of its α, in long doubles, is wider than the tolerance
  allows, at C_min, at C_max or at random C between them; or its objective is not that of `solve`;
* any of its points violates the conditions by more than `SPOILED`, whatever its status: it is no part of a path;
* its α leave the box, or do not sum to 0;
* the engines differ, an error is raised, or it takes longer than a family may.

A status that says that the problem was too hard is none of these.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from refsvm import SVMP, DualProblem, KKTGap, Status, regularization_path, solve
from refsvm.analysis.paths import SVD, PivotedQR, RegularizationPath, UpdatedInverse
from refsvm.core.paths.tracking import SPOILED

__all__ = ["path"]

ALGEBRAS = UpdatedInverse(), UpdatedInverse(), PivotedQR(), SVD()


def path(family: Any) -> list[str]:
    """Track a `Family` over one to ten powers of ten around its own C."""
    rng, largest = family.rng, float(family.C.max())
    low, high = largest * 10.0 ** rng.uniform(-6, 0), largest * 10.0 ** rng.uniform(0, 4)
    weight, engine = family.C / largest, ("numpy", "numba")[rng.integers(2)]
    options = {
        "tracker": SVMP(algebra=ALGEBRAS[rng.integers(4)], refresh=int(rng.choice([1, 10, 50]))),
        "merge": bool(rng.integers(2)),
        "kernel": family.kernel,
        "C_min": low,
        "C_max": high,
    }
    found = regularization_path(family.X, family.y, sample_weight=weight, engine=engine, **options)
    complaints = held(found)
    if found.status is Status.CONVERGED:
        between = np.exp(rng.uniform(np.log(low), np.log(high), size=3))
        for C in (low, *between.tolist(), high):
            complaints += at(found, family, weight, C)
        if not rng.integers(4):
            other = {"numpy": "numba", "numba": "numpy"}[engine]
            again = regularization_path(family.X, family.y, sample_weight=weight, engine=other, **options)
            if not all(map(np.array_equal, found.record, again.record)):
                complaints.append(f"{other} finds another path than {engine}")
    return [f"{found!r}, {engine}, {options}: {each}" for each in complaints]


def held(found: RegularizationPath) -> list[str]:
    """Return what is wrong with the points of a path."""
    worst = found.kkt_audit(between=1)
    complaints = [f"violates the conditions by {worst.at:.1e} at a point"] * (worst.at > SPOILED)
    if found.status is Status.CONVERGED and worst.between > SPOILED:
        complaints.append(f"violates the conditions by {worst.between:.1e} between points")
    return complaints


def at(found: RegularizationPath, family: Any, weight: np.ndarray, C: float) -> list[str]:
    """Return what is wrong with α and the objective at C."""
    if not found.C[0] <= C <= found.C[-1]:
        return [f"does not reach C={C:.6g}"]
    problem = DualProblem.classification(family.X, family.y, kernel=family.kernel, C=C * weight)
    alpha = found.alpha(C)
    complaints = [f"leaves the box at C={C:.6g}"] * bool(
        ((alpha < problem.lower) | (alpha > problem.upper)).any()
    )
    if abs(alpha.sum()) > 1e-6 * np.abs(alpha).sum():
        complaints.append(f"does not sum to 0 at C={C:.6g}")
    exact = alpha.astype(np.longdouble)
    K = np.asarray(family.kernel(family.X, family.X), dtype=np.longdouble)
    G, bound = problem.v - K @ exact, np.abs(problem.lower + problem.upper)
    # at its own b: what each example may lack is ξ − ε, of which C wᵢ counts
    b, f = found.intercept(C), float(problem.v @ exact - 0.5 * exact @ (K @ exact))
    loss = float((bound * np.maximum(0.0, family.y * (G - b))).sum())
    gap, allowed = loss + float(exact @ (K @ exact) - problem.v @ exact), SPOILED * float(bound.sum())
    rounding = 1e-14 * float(np.abs(exact) @ np.abs(K) @ np.abs(exact))
    if gap > 4.0 * allowed + rounding:
        complaints.append(f"has a gap of {gap:.2g} at C={C:.6g}, more than {allowed:.2g}")
    peer = solve(problem, stop=KKTGap(1e-7), max_iter=20_000, engine="numba")
    if peer.status is Status.CONVERGED and abs(peer.objective - f) > 4.0 * allowed + rounding:
        complaints.append(f"has the objective {f:.9g} at C={C:.6g}, solve {peer.objective:.9g}")
    return complaints
