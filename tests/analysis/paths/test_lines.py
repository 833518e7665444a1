"""Lines with a name: epsilon_path, nu_path, cost_path, weight_path, and regularization_path of other problems."""

from __future__ import annotations

import signal
from functools import partial
from typing import Any

import numpy as np
import pytest

from refsvm import (
    RBF,
    DualProblem,
    KKTGap,
    Linear,
    Polynomial,
    Precomputed,
    Status,
    cost_path,
    epsilon_path,
    nu_path,
    regularization_path,
    solve,
    weight_path,
)  # fmt: skip

from .lines import examples

pytest.importorskip("scipy")
X, Y, TARGETS, KERNEL = examples("rbf")
TRIPLED = examples("every row three times, linear")
GAP = KKTGap(1e-10)


def best(problem: DualProblem) -> float:
    return solve(problem, stop=GAP, engine="numpy").objective


WEIGHTS = 1.0 + np.arange(len(X)) % 2
FIRST = np.where(np.arange(len(X)) == 3, 0.0, 1.0)
GIVEN: dict[str, Any] = {"kernel": KERNEL}
LINES: dict[str, Any] = {
    "cost_path": (
        partial(cost_path, X, np.where(Y > 0, "ill", "well"), C=2.0), (0.0, 2.0),
        lambda t: DualProblem.classification(X, -Y, C=np.where(Y < 0, t, 2.0 - t), **GIVEN)),
    "epsilon_path": (
        partial(epsilon_path, X, TARGETS, epsilon=(2.0, 0.05)), (2.0, 0.05),
        lambda t: DualProblem.regression(X, TARGETS, epsilon=t, C=1.0, **GIVEN)),
    "epsilon_path the other way": (
        partial(epsilon_path, X, TARGETS, epsilon=(0.05, 2.0)), (0.05, 2.0),
        lambda t: DualProblem.regression(X, TARGETS, epsilon=t, C=1.0, **GIVEN)),
    "nu_path": (
        partial(nu_path, X, nu=(0.2, 1.0), weights=WEIGHTS), (0.2, 1.0),
        lambda t: DualProblem.one_class(X, nu=t, weights=WEIGHTS, **GIVEN)),
    "weight_path": (
        partial(weight_path, X, np.where(Y > 0, "well", "ill"), C=(FIRST, 5.0)), (0.0, 1.0),
        lambda t: DualProblem.classification(X, Y, C=(1.0 - t) * FIRST + t * 5.0, **GIVEN)),
}  # fmt: skip


@pytest.mark.parametrize("name", LINES)
def test_a_line_solves_the_problem_of_its_parameter(name: str) -> None:
    call, ends, problem_at = LINES[name]
    path = call(kernel=KERNEL)
    assert path.t[[0, -1]].tolist() == list(ends)
    for share in (0.0, 0.17, 0.6, 1.0):
        t = (1.0 - share) * ends[0] + share * ends[1]
        problem = problem_at(t)
        assert problem.objective(path.alpha(t)) == pytest.approx(best(problem), rel=1e-8, abs=1e-12)


@pytest.mark.parametrize("name", LINES)
def test_after_ctrl_c_a_line_has_its_class_and_its_name(name: str) -> None:
    call = partial(LINES[name][0], kernel=KERNEL)
    with pytest.raises(KeyboardInterrupt, match=f"^{name.partition(' ')[0]} was interrupted") as raised:
        call(callback=lambda *_: signal.raise_signal(signal.SIGINT))
    part, whole = raised.value.result, call()  # type: ignore[attr-defined]
    assert type(part) is type(whole)
    assert part.status is Status.INTERRUPTED
    assert part.classes.tolist() == whole.classes.tolist()


@pytest.mark.parametrize(
    "data", [(X, Y, KERNEL), (TRIPLED[0], TRIPLED[1], TRIPLED[3])], ids=["rbf", "tripled"]
)
def test_the_operating_points_are_those_of_refits(data: Any) -> None:
    X, y, kernel = data
    path = cost_path(X, y, kernel=kernel, C=2.0)
    rng = np.random.default_rng(0)
    Z = X[rng.integers(len(X), size=40)] + 0.3 * rng.normal(size=(40, X.shape[1]))
    curve = path.roc(Z, np.where(np.arange(40) % 3, 1, -1))
    negatives = np.arange(40) % 3 == 0
    for C in rng.uniform(0.02, 1.98, 12).tolist():
        values = path.decision_function(Z, C)
        said = values >= 0.0
        assert curve.at(C) == (said[negatives].mean(), said[~negatives].mean())
    # on both sides of a crossing the point is another one, and the path is on 0 there
    inner = curve.t[1:-1]
    changes = np.flatnonzero((np.diff(curve.fpr) != 0.0) | (np.diff(curve.tpr) != 0.0))
    for k in changes[::4].tolist():
        sides = (
            np.abs(path.decision_function(Z, float(inner[k]))),
            np.abs(path.decision_function(Z, float(inner[k]), before=True)),
        )
        assert min(side.min() for side in sides) < 1e-9 or inner[k] in path.t


def test_all_is_of_one_class_where_the_other_costs_nothing() -> None:
    curve = cost_path(X, Y, kernel=KERNEL).roc(X, Y)
    assert (curve.fpr[0], curve.tpr[0], curve.fpr[-1], curve.tpr[-1]) == (0.0, 0.0, 1.0, 1.0)


@pytest.mark.parametrize("merge", [True, False])
def test_regression_along_c(merge: bool) -> None:
    for X, targets, kernel in ((globals()["X"], TARGETS, KERNEL), (TRIPLED[0], TRIPLED[2], TRIPLED[3])):
        problem = DualProblem.regression(X, targets, kernel=kernel, epsilon=0.1)
        path = regularization_path(problem, C_min=0.01, C_max=20.0, merge=merge)
        assert path.kkt_audit().worst <= 1e-6
        for C in (0.01, 0.4, 20.0):
            refit = DualProblem.regression(X, targets, kernel=kernel, epsilon=0.1, C=C)
            solution = solve(refit, stop=GAP, engine="numpy")
            assert refit.objective(path.alpha(C)) == pytest.approx(solution.objective, rel=1e-8)
            # b need not be unique
            assert np.ptp(path.predict(X, C) - solution.decision_values[: len(X)]) < 1e-6


def test_weighted_penalties_along_c() -> None:
    weights = np.linspace(0.5, 2.0, len(X))
    start = DualProblem.classification(X, Y, kernel=KERNEL, C=weights)
    path = regularization_path(start, C_min=0.1, C_max=10.0)
    refit = DualProblem.classification(X, Y, kernel=KERNEL, C=3.0 * weights)
    assert refit.objective(path.alpha(3.0)) == pytest.approx(best(refit), rel=1e-8)


def test_a_given_matrix_serves_as_well() -> None:
    K = KERNEL(X, X)
    tube: Any = {"y": TARGETS, "epsilon": (1.0, 0.1)}
    known = epsilon_path(X, kernel=KERNEL, **tube).decision_function(X[:3], 0.5)
    for path in (epsilon_path(gram=K, **tube), epsilon_path(K, kernel=Precomputed(), **tube)):
        np.testing.assert_allclose(path.decision_function(K[:3], 0.5), known, atol=1e-9)


NUS = (0.02, 0.05, 0.1, 0.2, 1 / 3, 0.5, 0.6)


@pytest.mark.parametrize("kind", ["normal", "repeated", "shifted"])
@pytest.mark.parametrize("kernel", [RBF(0.5), Polynomial(2, 1.0, 1.0), Linear()])
@pytest.mark.parametrize("ends", [(0.02, 0.6), (0.6, 0.02)])
def test_at_most_the_share_nu_is_outside(kind, kernel, ends):
    X = np.random.default_rng(5).normal(size=(120, 3))
    X = {"normal": X, "repeated": np.round(X), "shifted": 1e-2 * X + 30.0}[kind]
    path = nu_path(X, kernel=kernel, nu=ends, engine="numpy")
    at = np.concatenate([NUS, path.t, np.random.default_rng(0).uniform(0.02, 0.6, 20)])
    for nu in at.clip(0.02, 0.6):
        for before in (False, True):
            h = path.decision_function(X, nu, before)
            assert (h < 0.0).sum() <= nu * len(X) * (1.0 + 1e-9), (nu, before)
            # nothing that the optimum leaves outside by far is taken in
            edge = 1e-6 * np.abs(h).max() + 1e-9
            free = np.flatnonzero((path.alpha(nu, before) > 1e-6) & (path.alpha(nu, before) < 1.0 - 1e-6))
            assert (np.abs(h[free]) <= edge).all()
            assert (h[path.alpha(nu, before) == 1.0] <= edge).all()
