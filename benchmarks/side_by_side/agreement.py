"""Whether the libraries found the same answer: no library wins by stopping early, or by answering something else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from refsvm import RBF, DualProblem
from refsvm.datasets import Dataset

from .results import Evidence, Row

__all__ = ["TOLERANCE", "differing", "disagreements", "dual_objective", "kkt_gap", "shortfalls"]

TOLERANCE = 1e-5
"""Objectives that differ by less than this, relatively, are equal."""

DIFFERING_SHARE = 0.01
"""Predictions may differ on this share of the examples: those on the boundary."""


def dual_objective(data: Dataset, evidence: Evidence) -> float:
    """f(α) of a fitted estimator, by the same code for all of them.

    Variables at zero add nothing, so it is that of the problem over the support vectors. α is first moved to the
    nearest feasible point: in single precision it misses the box and the sum by rounding.
    """
    if evidence.support is None or evidence.coef is None:
        return float("nan")
    alpha = signed(data.y[evidence.support], evidence.coef)
    problem = dual(data.X[evidence.support], data.y[evidence.support], data)
    return problem.objective(problem.feasible(alpha))


def kkt_gap(data: Dataset, evidence: Evidence) -> float:
    """ψ(α) of a fitted estimator on all examples, by our code: what should not be above the tolerance."""
    if evidence.support is None or evidence.coef is None:
        return float("nan")
    alpha = np.zeros(data.n)
    alpha[evidence.support] = signed(data.y[evidence.support], evidence.coef)
    problem = dual(data.X, data.y, data)
    return problem.kkt_gap(problem.feasible(alpha))


def signed(y: np.ndarray, coef: np.ndarray) -> np.ndarray:
    """Return α with the signs of the labels, whichever order the library has for the classes."""
    return coef if coef @ y > 0 else -coef


def dual(X: Any, y: np.ndarray, data: Dataset) -> DualProblem:
    """Return the dual problem over these examples, with the parameters of the data set."""
    return DualProblem.classification(X, y, kernel=RBF(data.gamma or 0.0), C=data.C or 0.0)


def shortfalls(row: Row) -> dict[str, float]:
    """Return by how much each objective lies below the best one, relatively; not above zero for the best."""
    found = {name: turn.objective for name, turn in row.outcomes.items() if np.isfinite(turn.objective)}
    best = max(found.values(), default=0.0)
    return {name: (best - value) / max(abs(best), 1e-300) for name, value in found.items()}


def disagreements(rows: Sequence[Row]) -> list[str]:
    """Return a sentence for each library that ends below the best objective by more than `TOLERANCE`."""
    return [
        f"{row.name}: {name} ends {short:.1e} below the best objective, with a KKT gap of {row.outcomes[name].gap:.2g}."
        for row in rows
        for name, short in shortfalls(row).items()
        if short > TOLERANCE
    ]


def differing(row: Row) -> list[str]:
    """Return a sentence for each library whose predictions are not those of the first."""
    known = {name: turn.labels for name, turn in row.outcomes.items() if turn.labels is not None}
    if not known:
        return []
    reference = next(iter(known))
    shares = {name: float(np.mean(labels != known[reference])) for name, labels in known.items()}
    return [
        f"{row.name}: {name} predicts another class than {reference} for {share:.1%} of the examples."
        for name, share in shares.items()
        if share > DIFFERING_SHARE
    ]
