"""Leave-one-out and folds of several classes, regression and novelty detection, beside refits."""

from __future__ import annotations

import numpy as np
import pytest

from refsvm import (
    RBF,
    SIR,
    Cold,
    DualProblem,
    KKTGap,
    Linear,
    Rounds,
    cross_validate,
    leave_one_out,
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


@pytest.mark.parametrize(
    "how",
    [{}, {"from_full": False}, {"seeder": Cold()}, {"seeder": SIR(), "from_full": False}, {"n_jobs": 2}],
    ids=str,
)
def test_folds_of_a_regression_are_the_same_however_they_begin(how):
    X, y = targets(seed=4)
    given = {"kernel": RBF(0.3), "C": 2.0, "epsilon": 0.1, "folds": 4, "stop": EXACT, "engine": FAST}
    cv, plain = cross_validate(X, y, **given, **how), cross_validate(X, y, **given)
    np.testing.assert_allclose(cv.predictions, plain.predictions, atol=1e-8)
    for fold in range(4):
        out = cv.fold == fold
        residuals = y[out] - cv.predictions[out]
        assert cv.fold_rmse[fold] == pytest.approx(np.sqrt(np.mean(residuals**2)))
        assert cv.fold_mae[fold] == pytest.approx(np.abs(residuals).mean())
        assert cv.fold_r2[fold] == pytest.approx(1.0 - np.mean(residuals**2) / y[out].var())
    assert cv.kind == "regression"
    assert cv.kernel_rows == len(y)
    assert cv.is_complete
    assert [each.fold for each in cv.rounds] == [0, 1, 2, 3]
    in_rounds = sum(each.iterations for each in cv.rounds)
    assert cv.iterations >= in_rounds > 0
    assert (cv.iterations > in_rounds) == (how in ({}, {"n_jobs": 2}))  # steps on all examples come first


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
