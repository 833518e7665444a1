"""Leave-one-out and folds of several classes, regression and novelty detection, beside refits."""

from __future__ import annotations

import numpy as np
import pytest

from refsvm import (
    RBF,
    SIR,
    BallRule,
    Cold,
    DualProblem,
    KKTGap,
    Linear,
    LOODualityGap,
    Rounds,
    Status,
    cross_validate,
    leave_one_out,
    solve,
)
from refsvm.datasets import load

from ...settings import FAST

EXACT = KKTGap(1e-10)


def targets(n=36, d=3, seed=0):
    """Return examples and targets that a smooth function makes of them, with noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, np.sin(X[:, 0]) + 0.5 * X[:, 1] + 0.2 * rng.normal(size=n)


def classes(k=3, n=42, seed=0):
    """Return examples of k classes that overlap."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % k
    X = rng.normal(size=(k, 3))[y] + 0.9 * rng.normal(size=(n, 3))
    return X, np.array(["a", "b", "c", "d", "e"])[y]


# -- regression --------------------------------------------------------------------------------------------------------


def test_residuals_of_a_regression_beside_libsvm():
    svm, selection = (pytest.importorskip(f"sklearn.{name}") for name in ("svm", "model_selection"))
    X, y = targets(seed=2)
    model = svm.SVR(C=2.0, gamma=0.3, epsilon=0.1, tol=1e-9)
    options = {"kernel": RBF(0.3), "C": 2.0, "epsilon": 0.1, "stop": KKTGap(1e-8), "engine": FAST}
    expected = selection.cross_val_predict(model, X, y, cv=selection.LeaveOneOut())
    loo = leave_one_out(X, y, **options)
    np.testing.assert_allclose(loo.predictions, expected, atol=1e-5)  # its kernel values are float32
    folds = selection.KFold(5, shuffle=True, random_state=0)
    cv = cross_validate(X, y, folds=folds, **options)
    expected = selection.cross_val_predict(model, X, y, cv=folds)
    np.testing.assert_allclose(cv.predictions, expected, atol=1e-5)
    first = [test[0] for _, test in folds.split(X)]
    scores = selection.cross_val_score(model, X, y, cv=folds)
    np.testing.assert_allclose(cv.fold_r2[cv.fold[first]], scores, atol=1e-5)


def test_zero_alpha_is_no_proof_of_a_value_where_the_intercept_may_move():
    # ε is wide: no α but 0, and b may be anything between max y − ε and min y + ε
    X, y = np.arange(5.0)[:, None], np.array([0.0, 0.3, 1.0, 0.5, 0.2])
    loo = leave_one_out(X, y, kernel=RBF(0.5), epsilon=2.0, engine=FAST)
    expected = [0.5 * (np.delete(y, r).min() + np.delete(y, r).max()) for r in range(5)]
    np.testing.assert_allclose(loo.predictions, expected, atol=1e-12)
    assert loo.decided_by.tolist() == ["kkt", "zero alpha", "kkt", "zero alpha", "zero alpha"]


@pytest.mark.parametrize(
    ("x", "C", "r", "expected"),
    [
        ([-2.0, 4.0, -2.0, 0.0, 0.0, 0.0], 0.25, 2, -0.5),
        ([0.0, 2.0, -1.0, 0.0, 0.0, 3.0], 0.25, 2, -0.75),
        ([1.0, 1.0, 0.0, -3.0, 5.0, -2.0], 0.125, 3, 0.5),
    ],
)
def test_zero_alpha_of_two_classes_where_both_ends_of_the_intercept_meet(x, C, r, expected):
    # every α is 0 or C, and max G over I_up is min G over I_down: without r, one of the two, b is anything in between
    X, y = np.array(x)[:, None], np.array([-1, 1] * 3)
    loo = leave_one_out(X, y, kernel=Linear(), C=C, checks="zero alpha", stop=EXACT, engine=FAST)
    rounds = Rounds(DualProblem.classification(X, y, kernel="linear", C=C), stop=EXACT, engine="numpy")
    assert rounds.solve(rounds.problem.without(r)).decision_values[r] == pytest.approx(expected)
    assert loo.decision_values[r] == pytest.approx(expected)


@pytest.mark.parametrize("folds", [4, [0, 1, 2] * 12])
@pytest.mark.parametrize(
    "how",
    [{}, {"from_full": False}, {"seeder": Cold()}, {"seeder": SIR(), "from_full": False}, {"n_jobs": 2}],
    ids=str,
)
def test_folds_of_a_regression_are_those_of_refits(folds, how):
    X, y = targets(seed=4)
    K = RBF(0.3)(X, X)
    machine = {"kernel": RBF(0.3), "C": 2.0, "epsilon": 0.1}
    cv = cross_validate(X, y, folds=folds, stop=EXACT, engine=FAST, **machine, **how)
    for fold in range(cv.fold.max() + 1):
        rest, out = np.flatnonzero(cv.fold != fold), np.flatnonzero(cv.fold == fold)
        problem = DualProblem.regression(X[rest], y[rest], **machine)
        solution = solve(problem, stop=EXACT, engine=FAST, polish=True)
        h = K[np.ix_(out, rest)] @ solution.alpha.reshape(2, -1).sum(axis=0) + solution.intercept
        np.testing.assert_allclose(cv.predictions[out], h, atol=1e-8)
        assert cv.fold_rmse[fold] == pytest.approx(np.sqrt(np.mean((y[out] - h) ** 2)))
        assert cv.fold_mae[fold] == pytest.approx(np.abs(y[out] - h).mean())
    assert cv.kind == "regression"
    assert cv.kernel_rows == len(y)
    assert cv.is_complete


# -- novelty -----------------------------------------------------------------------------------------------------------


def test_a_decision_value_of_zero_is_inside_as_in_one_class_svm():
    estimators = pytest.importorskip("refsvm.estimators")
    # equal examples: without any of them h = 0 everywhere
    X = np.ones((6, 1))
    loo = leave_one_out(X, kernel=Linear(), nu=0.5, engine="numpy")
    cv = cross_validate(X, kernel=Linear(), nu=0.5, folds=3, engine="numpy")
    assert loo.decision_values.tolist() == cv.decision_values[:, 0].tolist() == [0.0] * 6
    expected = estimators.OneClassSVM(kernel="linear", nu=0.5).fit(X[1:]).predict(X[:1])[0]
    assert expected == 1
    assert loo.predictions.tolist() == cv.predictions.tolist() == [expected] * 6
    assert loo.outside == cv.outside == 0.0


def test_nu_of_one_leaves_no_room():
    X = targets(12)[0]
    loo = leave_one_out(X, kernel=RBF(0.3), nu=1.0, C=np.linspace(0.1, 0.7, 12), engine=FAST)
    assert loo.is_complete


# -- several classes ---------------------------------------------------------------------------------------------------


def test_a_decision_value_of_zero_is_the_vote_that_svc_casts():
    estimators = pytest.importorskip("refsvm.estimators")
    # the last example is in the middle of the first two classes: h = 0 there, and all classes have one vote
    X, y = np.array([[-1.0, 0.0], [1.0, 0.0], [0.0, 5.0], [0.0, 5.5], [0.0, 0.0]]), np.array([0, 1, 2, 2, 2])
    loo = leave_one_out(X, y, kernel=Linear(), engine=FAST)
    assert loo.decision_values[4, 0] == 0.0
    model = estimators.SVC(kernel="linear").fit(X[:4], y[:4])
    assert loo.predictions[4] == model.predict(X[[4]])[0] == 1


def test_an_example_alone_among_several_classes_is_never_predicted():
    estimators = pytest.importorskip("refsvm.estimators")
    X, y = classes(3)
    y[5] = "z"
    loo = leave_one_out(X, y, kernel=RBF(0.3), engine=FAST)
    rest = np.delete(np.arange(len(y)), 5)
    assert loo.predictions[5] == estimators.SVC(gamma=0.3).fit(X[rest], y[rest]).predict(X[[5]])[0]
    assert loo.predictions[5] != "z"
    assert loo.is_complete


# -- common to all -----------------------------------------------------------------------------------------------------


def every_task():
    """Return arguments of each task."""
    X, y = targets()
    several = classes(4)
    return {
        "regression": {"X": X, "y": y, "epsilon": 0.1},
        "novelty": {"X": X, "nu": 0.3},
        "classes": {"X": several[0], "y": several[1]},
    }


def test_a_problem_says_what_it_asks():
    X, y = targets()
    for make, arguments in (
        (DualProblem.regression, {"y": y, "epsilon": 0.1, "C": 2.0}), (DualProblem.one_class, {"nu": 0.3}),
    ):  # fmt: skip
        problem = make(X, kernel=RBF(0.3), **arguments)
        for call in (leave_one_out, cross_validate):
            given, made = call(problem, engine=FAST), call(X, kernel=RBF(0.3), engine=FAST, **arguments)
            np.testing.assert_array_equal(given.predictions, made.predictions)
            np.testing.assert_allclose(given.labels, made.labels, atol=1e-15)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"epsilon": -1.0}, "epsilon"),
        ({"epsilon": 0.1, "nu": 0.5}, "epsilon is for regression and nu is for novelty detection; give one"),
        ({"nu": 0.5}, "nu makes the task novelty detection, which has no labels; omit y"),
        ({"nu": 1.5, "y": None}, "nu"),
        ({"epsilon": 0.1, "stop": BallRule()}, "proves the sign .*, but regression needs the value"),
        ({"nu": 0.1, "y": None, "stop": LOODualityGap()}, "novelty needs the value; use KKTGap"),
        ({}, "look like the targets of a regression, .* with epsilon= in leave_one_out or cross_validate"),
    ],
)
def test_what_is_refused(change, words):
    X, y = targets()
    for call in (leave_one_out, cross_validate)[: 1 if "stop" in change else 2]:
        with pytest.raises(ValueError, match=words):
            call(X, **{"y": y, **change})


def test_targets_have_no_classes_to_share():
    X, y = targets()
    with pytest.raises(
        ValueError, match="stratified=True shares classes among the folds, but regression has"
    ):
        cross_validate(X, y, kernel="linear", epsilon=0.1, stratified=True)


@pytest.mark.parametrize("task", every_task())
def test_a_limit_leaves_the_rest_undecided(task):
    arguments = {"kernel": RBF(0.3), **every_task()[task]}
    seen = []

    def ends(at):
        seen.append((at.done, at.total))
        return True

    loo = leave_one_out(**arguments, checks=(), callback=ends, engine="numpy")
    assert loo.status is Status.CALLBACK
    assert not loo.is_complete
    assert 0 < loo.is_known.sum() < len(loo.labels) or task == "classes"
    score = loo.rmse if task == "regression" else loo.error
    assert np.isnan(score)
    assert seen[0][1] == (len(loo.labels) if task != "classes" else 3 * len(loo.labels))


@pytest.mark.parametrize("task", every_task())
def test_frames_and_traces(task):
    pytest.importorskip("pandas")
    loo = leave_one_out(**{"kernel": RBF(0.3), **every_task()[task]}, trace=True, stop=KKTGap(), engine=FAST)
    frame, steps = loo.to_frame(), loo.trace_frame()
    assert len(frame) == len(loo.labels)
    assert frame["iterations"].sum() == len(steps) == loo.round_iterations.sum()
    if task == "classes":
        assert "decision_value a c" in frame
        assert set(steps["pair"]) <= {(p, q) for q in range(4) for p in range(q)}


def test_regression_of_more_rows_than_the_budget_holds():
    heart = load("heart")
    X, y = heart.X[:60, 1:], heart.X[:60, 0]
    some, all_rows = (
        leave_one_out(X, y, kernel=RBF(0.005), epsilon=1.0, stop=KKTGap(1e-8), cache_mb=each, engine=FAST)
        for each in (0.02, 200.0)
    )
    np.testing.assert_allclose(some.predictions, all_rows.predictions, atol=1e-6)
