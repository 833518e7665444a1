"""A relative tolerance: what rounding hides is not asked for, and where values differ by one nothing changes.

The audit "scales" trains estimators, rounds and paths in any unit of features, targets and C (`tests.test_scales`).
"""

import numpy as np
import pytest
from sklearn import svm
from sklearn.exceptions import ConvergenceWarning

from refsvm import (
    RBF,
    SVC,
    SVCCV,
    SVR,
    BallRule,
    DualProblem,
    KKTGap,
    LIBSVMShrinking,
    LOODualityGap,
    Rounds,
    leave_one_out,
    solve,
)
from refsvm.datasets import load
from refsvm.testing import practice_problems

from ...settings import FAST

KKT = KKTGap.reasons


def rare(n=200, seed=1):
    """Two classes of which one has ten examples in a hundred, hardly separated."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    s = X[:, 0] + 0.5 * rng.normal(size=n)
    return X, np.where(s > np.quantile(s, 0.9), 1, -1)


def curve(n=60):
    rng = np.random.default_rng(0)
    X = 5.0 * rng.random((n, 1))
    return X, np.sin(X[:, 0]) + 0.05 * rng.normal(size=n)


def tiny(C=1e-5):
    X, y = rare()
    return DualProblem.classification(X, y, kernel=RBF(0.25), C=C)


def test_a_constant_machine_is_reached_in_few_steps():
    """The majority can imitate the minority: h is a constant at the optimum, and s falls with ψ."""
    rng = np.random.default_rng(3)
    X, y = 1e-3 * rng.normal(size=(80, 2)), np.where(np.arange(80) < 8, 1, -1)
    model = SVC(C=1e-6, kernel="poly", degree=2, coef0=1.0, gamma=0.7, max_iter=20_000, engine=FAST)
    assert model.fit(X, y).kkt_gap_ <= 1e-8 * 1e-6 * 80  # and no warning, which would be an error


@pytest.mark.parametrize("engine", ["numpy", FAST])
def test_what_rounding_hides_is_not_asked_for(engine):
    """And nothing is warned of, which would be an error; a penalty that leaves digits ranks as its optimum does."""
    X, y = rare()
    for C in (1e-8, 1e-12, 1e-15):
        model = SVC(C=C, gamma=0.25, engine=engine).fit(X, y)
        assert model.kkt_gap_ < max(1e-12, 1.01e-3 * np.ptp(model.decision_function(X)))


def test_examples_that_come_and_go_leave_the_optimum_of_the_others():
    (X, y), C = rare(80), 1e-8
    model = SVC(C=C, gamma=0.25, engine="numpy").partial_fit(X[:60], y[:60]).partial_fit(X[60:], y[60:])
    for gone in (0, 10):
        exact = svm.SVC(C=C, gamma=0.25, tol=1e-13).fit(X[gone:], y[gone:]).decision_function(X)
        np.testing.assert_allclose(model.decision_function(X), exact, rtol=0, atol=1e-4 * np.ptp(exact))
        model.forget(np.arange(10))


@pytest.mark.parametrize("engine", ["numpy", FAST])
@pytest.mark.parametrize("rule", [KKTGap, LOODualityGap, BallRule])
def test_leave_one_out_values_are_those_of_the_optimum(engine, rule):
    X, y = rare(40)
    found = leave_one_out(X, y, kernel=RBF(0.25), C=1e-5, stop=rule(relative=True), checks=(), engine=engine)
    exact = np.empty(40)
    for r in range(40):
        kept = np.arange(40) != r
        exact[r] = svm.SVC(C=1e-5, gamma=0.25, tol=1e-12).fit(X[kept], y[kept]).decision_function(X[[r]])[0]
    assert (found.predictions == np.where(exact >= 0.0, 1, -1)).all()
    assert found.full_solution.kkt_gap <= 1e-4 * found.full_solution.decision_range
    if rule is KKTGap:
        near = 2e-3 * found.full_solution.decision_range
        np.testing.assert_allclose(found.decision_values, exact, rtol=0, atol=near)


def test_a_grid_scores_small_penalties_as_one_of_tight_fits_does():
    X, y = rare(120)
    grid = {"Cs": [1e-6, 1e-4], "gammas": [0.05, 0.25], "class_weight": "balanced", "refit": False}
    scores = [SVCCV(tol=tol, **grid).fit(X, y).cv_results_["mean_test_score"] for tol in (1e-3, 1e-9)]
    np.testing.assert_allclose(*scores, atol=0.02)


def test_a_warning_names_the_tolerance_in_force():
    X, y = curve()
    with pytest.warns(
        ConvergenceWarning, match=r"the stopping rule requires tol=0.001 times .*: [1-9.]+e-08\."
    ):
        SVR(C=1e-4, gamma=0.5, epsilon=1e-6, max_iter=15, engine="numpy").fit(X, y * 1e-5)
    with pytest.warns(ConvergenceWarning, match=r"tol=0.001 times .*: .*e-0[789]\."):
        SVC(C=1e-6, gamma=0.5, max_iter=5, engine="numpy").fit(*rare())
    with pytest.warns(ConvergenceWarning, match=r"the stopping rule requires tol=0.001\. "):
        SVR(C=10.0, gamma=0.5, epsilon=0.1, max_iter=5, engine="numpy").fit(X, y * 5.0)


def test_the_rule_of_the_papers_stays_absolute():
    for stop in (None, KKTGap(1e-3)):
        solution = solve(tiny(), stop=stop, engine="numpy")
        assert solution.reason == KKT[0]
        assert 1e-3 * solution.decision_range < solution.kkt_gap <= 1e-3
    assert solve(tiny(), stop=KKTGap(relative=True), engine="numpy").reason == KKT[1]
    assert Rounds(tiny(), engine="numpy").solve().reason == KKT[1]
    assert Rounds(tiny(), stop=KKTGap(), engine="numpy").solve().reason == KKT[0]


@pytest.mark.parametrize("shrinking", [True, False, LIBSVMShrinking()], ids=str)
@pytest.mark.parametrize("name", ["heart", "overlapping classes", "regression"])
def test_where_the_decision_values_differ_by_one_no_bit_changes(name, shrinking):
    if name == "heart":
        data = load("heart")
        problem = DualProblem.classification(data.X, data.y, kernel=RBF(0.005), C=10.0)
    elif name == "regression":
        X, y = curve()
        problem = DualProblem.regression(X, 3.0 * y, kernel=RBF(0.5), C=10.0, epsilon=0.1)
    else:
        problem = practice_problems()[name]
    absolute, relative = (
        solve(problem, stop=KKTGap(relative=each), engine=FAST, shrinking=shrinking) for each in (False, True)
    )
    assert relative.decision_range >= 1.0
    assert relative.iterations == absolute.iterations
    assert relative.alpha.tobytes() == absolute.alpha.tobytes()
    assert relative.reason == KKT[0]


def test_the_range_is_that_of_the_examples_that_count():
    X, y = np.array([[0.0], [1.0], [5.0], [9.0]]), np.array([-1, 1, -1, 1])
    problem = DualProblem.classification(X, y, kernel=RBF(0.1), C=1.0)
    solution = solve(problem.without(3), engine="numpy")
    values = solution.decision_values
    assert solution.decision_range == pytest.approx(np.ptp(values[:3]))
    assert solution.decision_range < np.ptp(values)
    assert problem.decision_range(np.zeros(4)) == 2.0


def test_where_nothing_has_moved_the_targets_count():
    """A tube as wide as the targets needs no step; one that is narrower does, however small the unit."""
    X, y = np.arange(4.0)[:, None], 1e-7 * np.array([0.0, 1.0, 0.0, 2.0])
    wide, narrow = (
        solve(
            DualProblem.regression(X, y, kernel=RBF(1.0), C=1.0, epsilon=width),
            stop=KKTGap(relative=True), engine="numpy",
        )
        for width in (1e-7, 0.5e-7)
    )  # fmt: skip
    assert (wide.iterations, narrow.iterations > 0) == (0, True)
