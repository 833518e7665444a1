"""A relative tolerance: features, targets and C in any unit give the same machine."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.stats import spearmanr
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
    OneClassSVM,
    Rounds,
    cross_validate,
    leave_one_out,
    solve,
)
from refsvm.datasets import load
from refsvm.testing import practice_problems

from ...settings import FAST, needs_jit

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


def same_order(found, expected) -> float:
    return float(spearmanr(found, expected).statistic)


# -- estimators ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ["numpy", FAST])
@pytest.mark.parametrize("unit", [1e-6, 1e-4, 1e-2, 1e3, 1e6])
def test_targets_in_any_unit_are_fitted_alike(unit, engine):
    X, y = curve()
    exact = svm.SVR(C=10.0, gamma=0.5, epsilon=0.1, tol=1e-10).fit(X, y).predict(X)
    model = SVR(C=10.0 * unit, gamma=0.5, epsilon=0.1 * unit, engine=engine).fit(X, y * unit)
    assert model.status_.name == "CONVERGED"
    np.testing.assert_allclose(model.predict(X) / unit, exact, atol=5e-3)


@pytest.mark.parametrize("kernel", ["linear", "poly", "precomputed"])
def test_other_kernels_and_sparse_features_too(kernel):
    X, y = curve()
    data = np.exp(-0.5 * (X - X.T) ** 2) if kernel == "precomputed" else csr_array(X)
    kinds = {"kernel": kernel, "gamma": 0.2, "degree": 2, "coef0": 1.0}
    exact = SVR(C=1.0, epsilon=0.1, tol=1e-9, engine=FAST, **kinds).fit(data, y).predict(data)
    model = SVR(C=1e-5, epsilon=1e-6, engine=FAST, **kinds).fit(data, y * 1e-5)
    np.testing.assert_allclose(model.predict(data) / 1e-5, exact, atol=5e-3)


@pytest.mark.parametrize("engine", ["numpy", FAST])
@pytest.mark.parametrize("nu", [1e-2, 1e-4, 1e-6])
def test_few_expected_outliers_leave_the_region_as_it_is(nu, engine):
    rng = np.random.default_rng(0)
    X, T = rng.normal(size=(300, 2)), rng.normal(size=(2000, 2))
    exact = svm.OneClassSVM(nu=nu, gamma=0.25, tol=1e-9 * nu).fit(X)
    model = OneClassSVM(nu=nu, gamma=0.25, engine=engine).fit(X)
    assert np.mean((model.decision_function(T) > 0) != (exact.decision_function(T) > 0)) < 0.01
    assert same_order(model.score_samples(T), exact.score_samples(T)) > 0.9999


@pytest.mark.parametrize("engine", ["numpy", FAST])
@pytest.mark.parametrize("C", [1e-3, 1e-5, 1e-8])
def test_a_small_penalty_ranks_as_its_optimum_does(C, engine):
    X, y = rare()
    exact = svm.SVC(C=C, gamma=0.25, tol=1e-7 * C).fit(X, y).decision_function(X)
    model = SVC(C=C, gamma=0.25, engine=engine).fit(X, y)
    assert model.kkt_gap_ <= 1e-3 * np.ptp(exact) * 1.01
    found = model.decision_function(X)
    assert same_order(found, exact) > 0.99
    np.testing.assert_allclose(found, exact, rtol=0, atol=5e-3 * np.ptp(exact))


def test_several_classes_have_a_tolerance_each():
    X, y = rare(120)
    y, options = np.where(X[:, 1] > 1.0, 2, y), {"C": 1e-5, "gamma": 0.25, "decision_function_shape": "ovo"}
    exact = svm.SVC(tol=1e-12, **options).fit(X, y).decision_function(X)
    found = SVC(**options).fit(X, y).decision_function(X)
    assert min(same_order(*columns) for columns in zip(found.T, exact.T, strict=True)) > 0.99


def test_a_constant_machine_is_reached_in_few_steps():
    """The majority can imitate the minority: h is a constant at the optimum, and s falls with ψ."""
    rng = np.random.default_rng(3)
    X, y = 1e-3 * rng.normal(size=(80, 2)), np.where(np.arange(80) < 8, 1, -1)
    model = SVC(C=1e-6, kernel="poly", degree=2, coef0=1.0, gamma=0.7, max_iter=20_000, engine=FAST)
    assert model.fit(X, y).kkt_gap_ <= 1e-8 * 1e-6 * 80  # and no warning, which would be an error


@pytest.mark.parametrize("C", [1e-12, 1e-15])
def test_what_rounding_hides_is_not_asked_for(C):
    X, y = rare()
    assert SVC(C=C, gamma=0.25, engine=FAST).fit(X, y).kkt_gap_ < 1e-12  # and no warning


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


def test_examples_that_come_and_go_leave_the_optimum_of_the_others():
    (X, y), C = rare(80), 1e-8
    model = SVC(C=C, gamma=0.25, engine="numpy").partial_fit(X[:60], y[:60]).partial_fit(X[60:], y[60:])
    for gone in (0, 10):
        exact = svm.SVC(C=C, gamma=0.25, tol=1e-13).fit(X[gone:], y[gone:]).decision_function(X)
        np.testing.assert_allclose(model.decision_function(X), exact, rtol=0, atol=1e-4 * np.ptp(exact))
        model.forget(np.arange(10))


# -- rounds --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ["numpy", FAST])
def test_each_fold_of_a_cross_validation_is_a_problem_of_its_own(engine):
    X, y = rare(100)
    found = cross_validate(X, y, kernel=RBF(0.25), C=1e-5, folds=4, engine=engine)
    for h in range(4):
        train, test = found.fold != h, found.fold == h
        exact = svm.SVC(C=1e-5, gamma=0.25, tol=1e-12).fit(X[train], y[train]).decision_function(X[test])
        assert same_order(found.decision_values[test, 0], exact) > 0.99


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


def test_compiled_rounds_take_the_readable_steps():
    X, y = rare(80)
    problem = DualProblem.classification(X, y, kernel=RBF(0.25), C=1e-5)
    for rule in (KKTGap(relative=True), BallRule(relative=True), LOODualityGap(relative=True)):
        results = [
            leave_one_out(problem, stop=rule, checks=(), engine=engine, efficiency_test=False)
            for engine in ("numpy", FAST)
        ]
        assert (results[0].round_iterations == results[1].round_iterations).all()
        assert results[0].decision_values.tobytes() == results[1].decision_values.tobytes()


# -- the rule ------------------------------------------------------------------------------------------------------


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


@needs_jit
@pytest.mark.parametrize("shrinking", [True, False, LIBSVMShrinking(period=20)], ids=str)
@pytest.mark.parametrize("problem", ["small C", "small targets", "one class", "left out"])
def test_both_engines_take_the_same_steps(problem, shrinking):
    X = rare()[0]
    given = {
        "small C": tiny(),
        "small targets": DualProblem.regression(
            X, 1e-5 * X[:, 0] ** 2, kernel=RBF(0.25), C=1e-4, epsilon=1e-6
        ),
        "one class": DualProblem.one_class(X, kernel=RBF(0.25), nu=1e-4),
        "left out": tiny().without(np.arange(30)),
    }[problem]
    solutions = [
        solve(given, stop=KKTGap(relative=True), engine=engine, shrinking=shrinking)
        for engine in ("numpy", "numba")
    ]
    assert solutions[0].iterations == solutions[1].iterations
    assert solutions[0].alpha.tobytes() == solutions[1].alpha.tobytes()
    assert all(each.kkt_gap <= 1e-3 * each.decision_range for each in solutions)


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
