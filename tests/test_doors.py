"""What people from scikit-learn type: it works, or a sentence has the call that does."""

from __future__ import annotations

import inspect
import pickle
import re
from dataclasses import dataclass

import numpy as np
import pytest

import refsvm
from refsvm import (
    RBF,
    DualProblem,
    MostViolatingPair,
    NewtonStep,
    SecondOrder,
    WorkingSetSelector,
    cross_validate,
    iterate,
    leave_one_out,
    regularization_path,
    solve,
)
from refsvm.datasets import load
from refsvm.services.guards.users_rules import why_it_cannot_move
from refsvm.services.names import gamma_on

HEART = load("heart")
X, Y = HEART.X[:80], HEART.y[:80]
PROBLEM = DualProblem.classification(X, Y)


def test_completion_finds_what_there_is():
    assert {"datasets", "display", "experiment", *refsvm.__all__} <= set(dir(refsvm))
    assert refsvm.datasets.load("chessboard").n == 1000


@pytest.mark.parametrize(
    "call",
    [
        lambda: leave_one_out(X, Y),
        lambda: cross_validate(X, Y, folds=4),
        lambda: leave_one_out(DualProblem.classification(X, Y)),
    ],
)
def test_the_kernel_is_that_of_svc(call):
    assert call().machine == f"RBF(gamma={gamma_on(X, 'scale'):.6g}), C=1"


def test_a_kernel_by_name_is_its_object():
    named = DualProblem.classification(X, Y, kernel="poly", gamma=0.1, degree=2, coef0=1.0)
    assert named.gram.kernel == refsvm.Polynomial(degree=2, gamma=0.1, coef0=1.0)
    pytest.importorskip("scipy")
    path = regularization_path(X, np.where(Y > 0, "ill", "well"), kernel="rbf", gamma=0.01, C_max=1.0)
    assert path.problem.gram.kernel == RBF(0.01)


def test_rules_by_name_or_class():
    first = solve(PROBLEM, selector=MostViolatingPair(), step=NewtonStep(), shrinking=False)
    for selector, step in (("mvp", "newton"), (MostViolatingPair, NewtonStep)):
        found = solve(PROBLEM, selector=selector, step=step, shrinking=False)
        assert np.array_equal(found.alpha, first.alpha)
    assert leave_one_out(X, Y, seeder="avg", stop="kkt-gap").error == leave_one_out(X, Y).error


def test_a_model_stands_for_its_parameters():
    pytest.importorskip("sklearn")
    from refsvm import SVC, SVR, OneClassSVM

    one, two = leave_one_out(SVC(C=10), X, Y), leave_one_out(X, Y, C=10.0)
    assert np.array_equal(one.predictions, two.predictions)
    weighted = cross_validate(SVC(class_weight={-1.0: 1.0, 1.0: 2.0}), X, Y, folds=5)
    assert weighted.weights is None
    same = cross_validate(X, Y, C=np.where(Y > 0.0, 2.0, 1.0), folds=5)
    assert np.array_equal(weighted.predictions, same.predictions)
    assert leave_one_out(SVR(epsilon=1.0), X[:, 1:], X[:, 0]).kind == "regression"
    assert leave_one_out(OneClassSVM(nu=0.2), X).kind == "novelty"
    for name in ("second-order", SecondOrder):
        model = SVC(selector=name).fit(X, Y)
        assert pickle.loads(pickle.dumps(model)).predict(X).tolist() == model.predict(X).tolist()


SLIPS = {
    "cv": (lambda: cross_validate(X, Y, cv=5), "give folds=5"),
    "tol": (lambda: solve(PROBLEM, tol=1e-5), "give stop=KKTGap\\(1e-05\\)"),
    "scoring": (lambda: cross_validate(X, Y, scoring="accuracy"), "SVCCV takes scoring='accuracy'"),
    "random_state": (lambda: cross_validate(X, Y, random_state=0), "give rng=0"),
    "unknown": (lambda: cross_validate(X, Y, polsh=True), "^cross_validate takes no polsh; did you mean pol"),
    "none like it": (lambda: cross_validate(X, Y, whatever=1), r"^cross_validate takes no whatever; help\("),
    "examples": (lambda: solve(X, Y), "^solve takes a problem: solve\\(DualProblem"),
    "no labels": (lambda: leave_one_out(X), "^y is missing; give 80 labels"),
    "no signs": (lambda: DualProblem.classification(X), "^y is missing; give 80 labels"),
    "no targets": (lambda: DualProblem.regression(X, None), "^y is missing; give 80 targets"),
    "generator": (lambda: load("make_chessboard"), "did you mean 'chessboard'"),
    "array": (lambda: solve(X), "solve\\(DualProblem.classification\\(X, y"),
    "RBF()": (RBF, "give RBF a number, such as RBF\\(0.5\\)"),
    "RBF('scale')": (lambda: RBF("scale"), "give RBF a number"),
    "gamma": (lambda: leave_one_out(X, Y, gamma="Scale"), "did you mean 'scale'"),
    "kernel": (lambda: leave_one_out(X, Y, kernel="RBF"), "did you mean 'rbf'"),
    "twice": (lambda: leave_one_out(X, Y, kernel=RBF(0.5), gamma=0.1), "contains its own parameters"),
    "selector": (lambda: solve(PROBLEM, selector="secondorder"), "did you mean 'second-order'"),
    "problem": (lambda: leave_one_out(PROBLEM, kernel="linear"), "omit kernel"),
}


@pytest.mark.parametrize("name", SLIPS)
def test_a_slip_is_told_the_call_that_works(name):
    call, sentence = SLIPS[name]
    with pytest.raises((ValueError, TypeError), match=sentence):
        call()


def test_a_model_that_cannot_stand_for_its_parameters_is_refused():
    pytest.importorskip("sklearn")
    from refsvm import SVC, SVCCV

    for model, options, sentence in (
        (SVC(class_weight="balanced"), {}, "balanced"), (SVCCV(), {}, "does not take a SVCCV"),
        (SVC(time_limit=1.0), {}, "for one fit"), (SVC(), {"C": 3.0}, "C is a parameter of the model"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=sentence):
            leave_one_out(model, X, Y, **options)


@pytest.mark.parametrize("name", refsvm.__all__)
def test_functions_state_what_they_return(name):
    function = getattr(refsvm, name)
    if inspect.isfunction(function):
        assert inspect.signature(function).return_annotation not in {"Any", inspect.Signature.empty}


def test_a_frame_keeps_its_index():
    pd = pytest.importorskip("pandas")
    names = [f"patient {k}" for k in range(len(X))]
    loo = leave_one_out(pd.DataFrame(X, index=names), Y)
    assert loo.to_frame().index.tolist() == names
    assert leave_one_out(X, Y).to_frame().index.tolist() == list(range(len(X)))


@dataclass(frozen=True)
class AlwaysTheSame(WorkingSetSelector):
    """A selector that returns one pair."""

    def select(self, state):
        return 0, 1


def test_a_pair_that_cannot_move_is_told():
    with pytest.warns(UserWarning, match=r"selector returned \(0, 1\), which cannot move: .*check_strategy"):
        solved = solve(PROBLEM, selector=AlwaysTheSame(), step=NewtonStep())
    assert solved.status.name == "STALLED"


@pytest.mark.parametrize(
    ("pair", "sentence"), [((0, 1), "0 is not in I_up"), ((2, 1), "1 is not in I_down"), ((1, 0), "G[1] = ")]
)
def test_why_a_pair_cannot_move(pair, sentence):
    problem = DualProblem.classification([[0.0], [1.0], [2.0], [3.0]], [-1, 1, -1, 1], kernel="linear")
    state = next(iterate(problem, start=[0.0, 0.0, 0.0, 0.0]))
    state.alpha[:], state.gradient[:] = (0.0, 0.0, -0.5, 0.5), (2.0, 1.0, 0.0, 0.0)
    assert why_it_cannot_move(state, *pair).startswith(sentence)
    assert why_it_cannot_move(state, 1, 3) == ""


@pytest.mark.parametrize(
    "name",
    ["solve", "iterate", "leave_one_out", "cross_validate", "regularization_path", "DualProblem", "Solution"],
)
def test_help_fits_a_terminal(name):
    """Help is indented by four; code of examples and first lines stay whole."""
    lines = inspect.getdoc(getattr(refsvm, name)).splitlines()[1:]
    end = lines.index("Examples") if "Examples" in lines else len(lines)
    prose = [line for line in lines[:end] if not re.match(r"[\w, ]+ : ", line)]
    assert max(map(len, prose)) <= 75
