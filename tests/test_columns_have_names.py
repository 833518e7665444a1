"""Columns have names: no call takes those of a frame, or one γ for each of them, by position where the names differ."""

from __future__ import annotations

import numpy as np
import pytest

pd = pytest.importorskip("pandas")
pytest.importorskip("scipy")
pytest.importorskip("sklearn")

from refsvm import (  # noqa: E402
    RBF,
    SVC,
    SVR,
    DualProblem,
    OneClassSVM,
    cost_path,
    cross_validate,
    leave_one_out,
    parametric_path,
    regularization_path,
    solve,
)
from refsvm.analysis.derivatives import influence, tune_by_gradient  # noqa: E402
from refsvm.analysis.paths import cross_validate_path, load_path, save_path  # noqa: E402

RNG = np.random.default_rng(0)
F = pd.DataFrame(RNG.normal(size=(24, 3)) * [1.0, 3.0, 0.5], columns=["a", "b", "c"])
Y = np.where(F.a + 0.3 * RNG.normal(size=24) > 0, 1, -1)
THREE = np.digitize(F.a, [-0.5, 0.5])
GAMMAS = {"a": 0.9, "b": 0.05, "c": 0.2}
ENDS = {"C_min": 0.1, "C_max": 1.0, "kernel": RBF(0.5)}


def saved(path, folder):
    save_path(path, folder / "path.npz")
    return load_path(folder / "path.npz")


def asked(folder):
    """Functions of new examples, whose model was trained on F."""
    problem, path = DualProblem.classification(F, Y, kernel=RBF(0.5)), regularization_path(F, Y, **ENDS)
    solution, several = solve(problem), regularization_path(F, THREE, **ENDS)
    linear = solve(DualProblem.classification(F, Y, kernel="linear"))
    by_cost = cost_path(F, Y, kernel=RBF(0.5))
    both = DualProblem.classification(F, Y, kernel=RBF(0.5), C=2.0)
    ((_, pair),) = SVC(gamma=0.5).fit(F, Y).solutions(F, Y).items()
    return {
        "path": lambda X: path.predict(X, 1.0),
        "path of a file": lambda X: saved(path, folder).decision_function(X, 1.0),
        "path of a file, cost": lambda X: saved(by_cost, folder).decision_function(X, 1.0),
        "validation_error": lambda X: path.validation_error(X, Y).at(1.0),
        "path of three classes": lambda X: several.predict(X, 1.0),
        "their validation_error": lambda X: several.validation_error(X, THREE).at(1.0),
        "roc": lambda X: by_cost.roc(X, Y).fpr,
        "parametric_path": lambda X: parametric_path(problem, both).decision_function(X, 0.5),
        "influence": lambda X: influence(problem, X_test=X).decision_values,
        "derivative": lambda X: solution.derivative("C").decision_function(X),
        "derivative around the mean": lambda X: linear.derivative("C").decision_function(X),
        "derivative of a pair": lambda X: pair.derivative("C").decision_function(X),
        "pullback": lambda X: solution.pullback(X=X, decision_function=np.ones(len(X)))["gamma"],
        "extended": lambda X: problem.extended(X, Y).gram.block(np.arange(40)),
    }


def test_columns_in_another_order_or_with_other_names_are_refused(tmp_path):
    for name, call in asked(tmp_path).items():
        right = call(F.to_numpy())
        np.testing.assert_array_equal(call(F), right, err_msg=name)
        for other in (F[["b", "a", "c"]], F.rename(columns={"c": "d"})):
            with pytest.raises(
                ValueError, match=r"^X has the columns .*; give the columns of the training examples, in this"
            ):
                call(other)


def alpha(problem):
    return solve(problem, engine="numpy").alpha


CALLS = {
    "SVC": lambda gamma, X: SVC(gamma=gamma).fit(X, Y).decision_function(X),
    "SVC of three": lambda gamma, X: SVC(gamma=gamma).fit(X, THREE).decision_function(X),
    "SVC, going on": lambda gamma, X: (
        SVC(gamma=gamma).partial_fit(X, Y, [-1, 1]).partial_fit(X, Y).decision_function(X)
    ),
    "SVR": lambda gamma, X: SVR(gamma=gamma).fit(X, F.a).predict(X),
    "OneClassSVM": lambda gamma, X: OneClassSVM(gamma=gamma).fit(X).decision_function(X),
    "classification": lambda gamma, X: alpha(DualProblem.classification(X, Y, gamma=gamma)),
    "regression": lambda gamma, X: alpha(DualProblem.regression(X, F.a, gamma=gamma)),
    "one class": lambda gamma, X: alpha(DualProblem.one_class(X, gamma=gamma)),
    "leave_one_out": lambda gamma, X: leave_one_out(X, Y, gamma=gamma, checks=()).predictions,
    "of a model": lambda gamma, X: cross_validate(SVC(gamma=gamma), X, Y, folds=3).decision_values,
    "cross_validate": lambda gamma, X: cross_validate(X, Y, gamma=gamma, folds=3).decision_values,
    "path": lambda gamma, X: regularization_path(X, Y, gamma=gamma, C_min=0.1, C_max=1.0).C,
    "cost_path": lambda gamma, X: cost_path(X, Y, gamma=gamma).t,
    "cross_validate_path": lambda gamma, X: (
        cross_validate_path(X, Y, gamma=gamma, C_min=0.1, C_max=1.0, folds=3).curve.C
    ),
    "tune_by_gradient": lambda gamma, X: [
        tune_by_gradient(X, Y, parameters="gammas", gamma=gamma, starts=1, max_evaluations=2).loss
    ],
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", CALLS)
def test_gammas_that_name_their_features_are_taken_by_name(name):
    call, by_position = CALLS[name], CALLS[name]([*GAMMAS.values()], F)
    named = pd.Series(GAMMAS)
    for order in (["c", "a", "b"], ["a", "b", "c"]):
        np.testing.assert_array_equal(call(named[order], F), by_position)
    np.testing.assert_array_equal(call(pd.DataFrame([named[["c", "a", "b"]]]), F), by_position)
    np.testing.assert_array_equal(call(pd.Series([*GAMMAS.values()]), F), by_position)
    for other, X in ((named[["a", "b"]], F), (pd.Series({**GAMMAS, "d": 1.0}), F), (named, F.to_numpy())):
        with pytest.raises(
            ValueError, match=r"^gamma names the features .* or pass gamma\.to_numpy\(\) in the order"
        ):
            call(other, X)
    for other in (pd.DataFrame([[0.5, 0.1, 0.2]]), [[0.5, 0.1, 0.2]], [0.5, 0.1], pd.Series([0.5, 0.1])):
        with pytest.raises(ValueError, match=r"^gamma has "):
            call(other, F)


def test_a_kernel_object_does_not_know_the_columns():
    with pytest.raises(ValueError, match=r"^gamma has the labels 'a', .*to_numpy\(\)"):
        RBF(pd.Series(GAMMAS))
    with pytest.raises(ValueError, match=r"^gamma has shape \(1, 2\)"):
        RBF(pd.DataFrame([[0.5, 0.1]]))
