"""Lines with a name: epsilon_path, nu_path, cost_path, weight_path, and regularization_path of other problems."""

from __future__ import annotations

import signal
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from refsvm import (
    RBF,
    DualProblem,
    KKTGap,
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


@pytest.mark.parametrize("ends", [(2.0, 0.05), (0.05, 2.0)])
def test_the_tube(ends: tuple[float, float]) -> None:
    path = epsilon_path(X, TARGETS, kernel=KERNEL, C=3.0, epsilon=ends)
    for epsilon in (0.05, 0.31, 1.2):
        problem = DualProblem.regression(X, TARGETS, kernel=KERNEL, C=3.0, epsilon=epsilon)
        assert problem.objective(path.alpha(epsilon)) == pytest.approx(best(problem), rel=1e-8)
    assert path.t[[0, -1]].tolist() == list(ends)


def test_the_share_of_novelties() -> None:
    weights = 1.0 + np.arange(len(X)) % 2
    path = nu_path(X, kernel=KERNEL, nu=(0.2, 1.0), weights=weights)
    for nu in (0.2, 0.37, 0.8, 1.0):
        problem = DualProblem.one_class(X, kernel=KERNEL, nu=nu, weights=weights)
        assert problem.objective(path.alpha(nu)) == pytest.approx(best(problem), rel=1e-8)


def test_penalties_of_each_example() -> None:
    first, last = np.where(np.arange(len(X)) == 3, 0.0, 1.0), 5.0
    path = weight_path(X, Y, kernel=KERNEL, C=(first, last))
    for t in (0.0, 0.3, 1.0):
        problem = DualProblem.classification(X, Y, kernel=KERNEL, C=(1.0 - t) * first + t * last)
        assert problem.objective(path.alpha(t)) == pytest.approx(best(problem), rel=1e-8)


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
        problem = DualProblem.classification(X, y, kernel=kernel, C=np.where(y > 0, C, 2.0 - C))
        assert problem.objective(path.alpha(C)) == pytest.approx(best(problem), rel=1e-8, abs=1e-12)
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
    with pytest.raises(ValueError, match="outside of the path"):
        curve.at(1.5)


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
    with pytest.raises(ValueError, match="the path of a regression"):
        path.validation_error(X, Y)


def test_weighted_penalties_along_c() -> None:
    weights = np.linspace(0.5, 2.0, len(X))
    path = regularization_path(
        DualProblem.classification(X, Y, kernel=KERNEL, C=weights), C_min=0.1, C_max=10.0
    )
    refit = DualProblem.classification(X, Y, kernel=KERNEL, C=3.0 * weights)
    assert refit.objective(path.alpha(3.0)) == pytest.approx(best(refit), rel=1e-8)


def test_a_given_matrix_serves_as_well() -> None:
    K = KERNEL(X, X)
    tube: Any = {"y": TARGETS, "epsilon": (1.0, 0.1)}
    known = epsilon_path(X, kernel=KERNEL, **tube).decision_function(X[:3], 0.5)
    for path in (epsilon_path(gram=K, **tube), epsilon_path(K, kernel=Precomputed(), **tube)):
        np.testing.assert_allclose(path.decision_function(K[:3], 0.5), known, atol=1e-9)
    with pytest.raises(ValueError, match="one column for each of the"):
        path.decision_function(X[:3], 0.5)


def test_a_share_above_one_is_refused() -> None:
    with pytest.raises(ValueError, match=r"nu=1\.5 is above 1"):
        nu_path(X, kernel=RBF(1.0), nu=(0.5, 1.5))


LINES = {
    "cost_path": lambda **more: cost_path(X, np.where(Y > 0, "ill", "well"), kernel=KERNEL, **more),
    "epsilon_path": lambda **more: epsilon_path(X, TARGETS, kernel=KERNEL, epsilon=(2.0, 0.05), **more),
    "nu_path": lambda **more: nu_path(X, kernel=KERNEL, nu=(0.2, 0.5), **more),
    "weight_path": lambda **more: weight_path(
        X, np.where(Y > 0, "ill", "well"), kernel=KERNEL, C=(1.0, 9.0), **more
    ),
}


@pytest.mark.parametrize("name", LINES)
def test_after_ctrl_c_a_line_has_its_class_and_its_name(name: str) -> None:
    call: Callable[..., Any] = LINES[name]
    with pytest.raises(KeyboardInterrupt, match=f"^{name} was interrupted") as raised:
        call(callback=lambda *_: signal.raise_signal(signal.SIGINT))
    part, whole = raised.value.result, call()  # type: ignore[attr-defined]
    assert type(part) is type(whole)
    assert part.status is Status.INTERRUPTED
    assert part.classes.tolist() == whole.classes.tolist()
