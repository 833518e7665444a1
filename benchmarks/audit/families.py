"""The audit "families": leave-one-out, folds and a grid over C and γ, each compared with training from scratch.

A trial is a weighted classification problem with C from 1e-6 to 1e6, features of all scales from 1e-8 to 1e8, whole
numbers and equal examples among them. Brute force trains each round anew, on its training examples alone, and its own
duality gap D bounds how far it is from the optimum: ‖w − w*‖² ≤ 2D. What a family returns is wrong if

* a decision value, or a sign, is further from brute force than both tolerances allow;
* an error is raised: the data are in order;
* it takes longer than `LIMIT_SECONDS`.

A round that says that it ended early is not asked for its value.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from refsvm import (
    ATO,
    AVG,
    MIR,
    RBF,
    SIR,
    TOP,
    BallRule,
    Cold,
    DualProblem,
    KKTGap,
    Linear,
    LOODualityGap,
    Polynomial,
    Status,
    cross_validate,
    leave_one_out,
    solve,
)
from refsvm.core.primal import best_intercept

from .frame import Audit, Found
from .paths import path

__all__ = ["AUDITS", "FAMILIES", "Family", "any_family", "complaints_of"]

LIMIT_SECONDS = 30.0
TOL = 1e-6
"""Tolerance of what is tested; brute force goes to a thousandth of it, or as far as rounding lets it."""

MOST_STEPS, MOST_FROM_SCRATCH = 3000, 50_000
"""Steps of a round that is tested; what takes more is too hard, and says so."""


@dataclass(frozen=True, eq=False)
class Family:
    """A data set and what is trained on it.

    Attributes
    ----------
    X, y, C : ndarrays of shape (n, d), (n,) and (n,)
        y is ±1.
    kernel : Kernel
    rng : numpy.random.Generator
        For further choices.
    """

    X: np.ndarray
    y: np.ndarray
    C: np.ndarray
    kernel: Any
    rng: np.random.Generator


def any_family(seed: int) -> Family:
    """Draw a data set, weights and a kernel."""
    rng = np.random.default_rng([seed, 15])
    n, d = int(rng.integers(5, 26)), int(rng.integers(1, 4))
    y = np.where(rng.uniform(size=n) < rng.choice([0.5, 0.5, 0.2]), 1, -1)
    y[:4] = 1, -1, 1, -1
    X = rng.normal(size=(n, d)) + rng.choice([0.0, 0.7, 3.0]) * y[:, None]
    if rng.integers(3) == 0:
        X = np.rint(X)
    if rng.integers(3) == 0:  # equal examples, some of the other class
        X = X[rng.integers(max(2, n // 2), size=n)]
    scale = 10.0 ** rng.choice([0, 0, 0, *range(-8, 9)])
    gamma = 10.0 ** rng.uniform(-2, 1) / (d * scale**2)
    kernels = RBF(gamma), RBF(gamma), Linear(), Polynomial(2, gamma=1.0 / scale**2, coef0=1.0)
    weights = (
        np.ones(n), rng.choice([1.0, 2.0], size=n), rng.uniform(size=n), np.where(y > 0, (y < 0).sum(), (y > 0).sum()),
        10.0 ** rng.uniform(-3, 3, size=n), np.where(rng.uniform(size=n) < 0.2, 0.0, 1.0),
    )[rng.integers(6)]  # fmt: skip
    weights = np.where(np.arange(n) < 4, np.maximum(weights, 1e-3), weights)
    C = 10.0 ** rng.uniform(-6, 6)
    kernel = kernels[rng.integers(4)]
    if isinstance(kernel, Linear) and rng.integers(2):
        C /= scale**2  # where some are free and some bounded
    return Family(X * scale, y, C * weights, kernel, rng)


def from_scratch(family: Family, train: np.ndarray, C: np.ndarray) -> tuple[np.ndarray, float]:
    """Train on these examples alone; return all h, shape (n,), and how far they may be from what is tested."""
    X, y = family.X, family.y
    train = train[C[train] > 0.0]
    if len(np.unique(y[train])) < 2:  # the machine is constant
        return np.full(len(y), float(y[train[0]]) if len(train) else np.nan), 0.0
    problem = DualProblem.classification(X[train], y[train], kernel=family.kernel, C=C[train])
    solution = solve(
        problem, stop=KKTGap(1e-3 * TOL), max_iter=MOST_FROM_SCRATCH, engine="numba", polish=True
    )
    alpha = solution.alpha.astype(np.longdouble)
    K = np.asarray(family.kernel(X, X[train]), dtype=np.longdouble)
    G = problem.v - K[train] @ alpha
    b = best_intercept(G.astype(float), 0.0, problem.lower, problem.upper)
    losses = np.maximum(problem.upper * (G - b), problem.lower * (G - b))
    apart = float(alpha @ (problem.v - G) + losses.sum() - alpha @ problem.v)  # F − f
    size = float(np.abs(alpha).sum())
    # ‖w − w*‖² ≤ 2(F − f), for what is tested at most 2 ψ‖α‖₁ and some
    distance = np.sqrt(2.0 * max(apart, 0.0) + 1e-15 * float(losses.sum() + size)) + np.sqrt(4.0 * TOL * size)
    reach = float(np.sqrt(np.abs(np.diag(family.kernel(X, X))).max()))
    return (K @ alpha).astype(float) + b, 2.0 * distance * reach + 10.0 * TOL


def left_out(family: Family) -> list[str]:
    """Leave-one-out."""
    rng, n = family.rng, len(family.y)
    seeder = (TOP(), TOP(), AVG(), ATO(), Cold())[rng.integers(5)]
    stop = (KKTGap(TOL), KKTGap(TOL), BallRule(TOL), LOODualityGap(TOL))[rng.integers(4)]
    checks = (("zero alpha", "training error", "xi-alpha bound"), ("zero alpha", "ball"), ())[rng.integers(3)]
    options = {
        "seeder": seeder,
        "stop": stop,
        "checks": checks,
        "engine": ("numpy", "numba")[rng.integers(2)],
    }
    loo = leave_one_out(family.X, family.y, kernel=family.kernel, C=family.C, max_iter=MOST_STEPS, **options)
    if loo.full_solution.status not in {Status.CONVERGED, Status.STALLED}:
        return []
    complaints = []
    for r in range(n):
        h, margin = from_scratch(family, np.delete(np.arange(n), r), family.C)
        if loo.decided_by[r] in {"limit", "tie", ""} or not abs(h[r]) > margin:
            continue
        if loo.predictions[r] != np.sign(h[r]):
            complaints.append(
                f"{r} is {h[r]:.3g} ± {margin:.1g}, but {loo.decided_by[r]} says {loo.predictions[r]}"
            )
    return [f"leave_one_out({options}): {each}" for each in complaints]


def folds(family: Family) -> list[str]:
    """Cross-validation."""
    rng, n = family.rng, len(family.y)
    seeder = (Cold(), AVG(), TOP(), SIR(), MIR(), ATO(), ATO(budget=np.inf))[rng.integers(7)]
    options = {
        "seeder": seeder,
        "from_full": bool(rng.integers(2)),
        "engine": ("numpy", "numba")[rng.integers(2)],
    }
    fold = np.unique(rng.integers(rng.integers(2, 8), size=n), return_inverse=True)[1]
    fold[:2] = 0, 1
    cv = cross_validate(
        family.X,
        family.y,
        kernel=family.kernel,
        C=family.C,
        folds=fold,
        stop=KKTGap(TOL),
        max_iter=MOST_STEPS,
        **options,
    )
    complaints = []
    for report in cv.rounds:
        if report.status is not Status.CONVERGED:
            continue
        held_out = np.flatnonzero(cv.fold == report.fold)
        h, margin = from_scratch(family, np.flatnonzero(cv.fold != report.fold), family.C)
        found = cv.decision_values[held_out, 0]
        wrong = (
            held_out[np.abs(found - h[held_out]) > margin] if margin else held_out[found * h[held_out] < 0.0]
        )
        complaints += [f"{i} is {h[i]:.6g} ± {margin:.1g}, not {cv.decision_values[i, 0]:.6g}" for i in wrong]
    return [f"cross_validate({options}): {each}" for each in complaints]


def grid(family: Family) -> list[str]:
    """SVCCV over C, and over γ where the kernel has one."""
    from refsvm import SVCCV  # it needs scikit-learn

    rng, y, n = family.rng, family.y, len(family.y)
    Cs = np.unique(10.0 ** rng.uniform(-6, 6, size=3))
    weights = family.C / family.C.max()
    fold = rng.permutation(np.arange(n) % 3)
    splits = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(3)]
    if any(len(np.unique(y[train[weights[train] > 0.0]])) < 2 for train, _ in splits):
        return []
    model = SVCCV(
        Cs=Cs, cv=splits, kernel=family.kernel, tol=TOL, refit=False, max_iter=MOST_STEPS,
        engine=("numpy", "numba")[rng.integers(2)],
    )  # fmt: skip
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model.fit(family.X, y, sample_weight=weights)
    if any("not solved" in str(each.message) for each in said):
        return []
    complaints = []
    for place, C in enumerate(Cs.tolist()):
        for number, (train, test) in enumerate(splits):
            h, margin = from_scratch(family, train, C * weights)
            counts = weights[test] if weights[test].any() else np.ones(len(test))
            sure, right = np.abs(h[test]) > margin, h[test] * y[test] > 0.0
            least, most = (float(counts[part].sum() / counts.sum()) for part in (sure & right, ~sure | right))
            score = model.cv_results_[f"split{number}_test_score"][place]
            if not least - 1e-9 <= score <= most + 1e-9:
                complaints.append(
                    f"C={C:.3g}, split {number} scores {score:.3f}, not {least:.3f} to {most:.3f}"
                )
    return [f"SVCCV: {each}" for each in complaints]


FAMILIES: dict[str, Callable[[Family], list[str]]] = {
    "left out": left_out,
    "folds": folds,
    "grid": grid,
    "path": path,
}
"""Each gets a data set and returns what is wrong."""


def complaints_of(name: str, seed: int, again: bool = True) -> list[str]:
    """Try one seed on one family; return what is wrong. What takes long once may have waited for the compiler."""
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            complaints = FAMILIES[name](any_family(seed))
        except Exception as error:  # noqa: BLE001  whatever it is, it is a find
            complaints = [f"{type(error).__name__}: {error}"]
    seconds = time.perf_counter() - began
    if seconds > LIMIT_SECONDS and again and not complaints:
        return complaints_of(name, seed, again=False)
    return complaints + [f"took {seconds:.0f} s"] * (seconds > LIMIT_SECONDS)


def case(seed: int, options: Any) -> Found:
    """Try one seed on the families that are asked for."""
    said = {name: complaints_of(name, seed) for name in options.only or FAMILIES}
    ended = [f"{name} {'bad' if complaints else 'well'}" for name, complaints in said.items()]
    return Found([f"{name}: {each}" for name, complaints in said.items() for each in complaints], ended)


ONLY = {"nargs": "*", "choices": [*FAMILIES], "metavar": "NAME", "help": f"some of {', '.join(FAMILIES)}"}
AUDITS = {
    "families": Audit(
        "Are leave-one-out, folds, grids and paths what training from scratch finds?",
        case,
        500,
        {"--only": ONLY},
    )
}
