"""A model in place of the parameters: which arguments a function gets from it, and what is refused."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import refsvm
from refsvm import (
    cost_path,
    cross_validate,
    cross_validate_path,
    epsilon_path,
    influence,
    leave_one_out,
    nu_path,
    regularization_path,
    weight_path,
)
from refsvm.analysis.resampling.of_model import MODEL, takes_model


@dataclass(frozen=True)
class Found:
    X: Any
    y: Any
    options: dict[str, Any]
    weights: Any = None


@takes_model()
def ask(X=None, y=None, **options):
    """Return what was asked for."""
    return Found(X, y, options, options.get("C"))


class Model:
    """Asks for C, which counts as weights or does not, and for a tolerance that may be given beside it."""

    def __init__(self, counts_alike=False, **own):
        self.counts_alike, self.own, self.asked = counts_alike, {"C": [1.0, 2.0], "tol": 0.5, **own}, []

    def get_params(self):
        return {}

    def arguments_for(self, name, X, y):
        self.asked.append((name, X, y))
        return self.own, self.counts_alike


def test_without_a_model_the_arguments_are_those_that_were_given():
    assert ask("X", "y", C=3.0) == Found("X", "y", {"C": 3.0}, 3.0)
    assert ask(X="X", tol=1.0) == Found("X", None, {"tol": 1.0})
    assert ask() == Found(None, None, {})
    assert (ask.__name__, ask.__doc__) == ("ask", "Return what was asked for.")


@pytest.mark.parametrize(
    ("given", "options"),
    [
        (("X", "y"), {}),
        (("X",), {"y": "y"}),
        ((), {"X": "X", "y": "y"}),
        (("another", "other"), {"X": "X", "y": "y"}),  # a name goes before a place
    ],
)
def test_examples_come_after_a_model_or_by_their_names(given, options):
    model = Model()
    assert ask(model, *given, **options) == Found("X", "y", {"C": [1.0, 2.0], "tol": 0.5}, [1.0, 2.0])
    assert model.asked == [("ask", "X", "y")]


def test_a_model_may_have_examples_without_labels():
    assert ask(Model(), "X") == Found("X", None, {"C": [1.0, 2.0], "tol": 0.5}, [1.0, 2.0])


def test_penalties_of_classes_are_no_weights():
    assert ask(Model(counts_alike=True), "X").weights is None
    assert ask(Model(counts_alike=True, C=None), "X").weights is None
    assert ask(Model(counts_alike=False), "X").weights == [1.0, 2.0]


def test_options_beside_a_model():
    """They go before its own, unless they would make another machine."""
    assert ask(Model(), "X", tol=0.1).options["tol"] == 0.1
    assert ask(Model(), "X", gamma=2.0).options == {"C": [1.0, 2.0], "tol": 0.5, "gamma": 2.0}
    for name in MODEL:
        said = f"^{name} is a parameter of the model; set it in Model\\(…\\) instead.$"
        with pytest.raises(ValueError, match=said):
            ask(Model(**{name: 1.0}), "X", **{name: 2.0})


def test_what_is_no_model_of_the_package_is_refused():
    class Other:
        def get_params(self):
            return {}

    with pytest.raises(
        ValueError, match=r"^ask does not take a Other; pass refsvm.SVC, .* if it is a search.$"
    ):
        ask(Other(), "X")
    with pytest.raises(
        TypeError, match=r"^ask got more than \(model, X, y\) by position; pass further arguments"
    ):
        ask(Model(), "X", "y", "C")
    with pytest.raises(TypeError, match=r"^ask got the model as a keyword; write"):
        ask(X=Model(), y="y")


POINTS = np.random.default_rng(0).normal(size=(24, 2))
LABELS = np.where(np.sin(3.0 * POINTS[:, 0]) + POINTS[:, 1] > 0.0, "well", "ill")
TARGETS = np.sin(3.0 * POINTS[:, 0]) + POINTS[:, 1]
OWN = {"gamma": 0.5, "engine": "numpy"}
QUESTIONS = {
    "leave_one_out": (leave_one_out, ["SVC", "SVR", "OneClassSVM"], {}),
    "cross_validate": (cross_validate, ["SVC", "SVR", "OneClassSVM"], {"folds": 3}),
    "influence": (influence, ["SVC", "SVR"], {"X_test": POINTS[:3]}),
    "regularization_path": (regularization_path, ["SVC", "SVR"], {"C_max": 3.0}),
    "cross_validate_path": (cross_validate_path, ["SVC"], {"C_max": 3.0, "folds": 2}),
    "cost_path": (cost_path, ["SVC"], {}),
    "weight_path": (weight_path, ["SVC"], {"C": (1.0, 2.0)}),
    "epsilon_path": (epsilon_path, ["SVR"], {"epsilon": (0.5, 0.2)}),
    "nu_path": (nu_path, ["OneClassSVM"], {"nu": (0.2, 0.3)}),
}
MACHINES = {"SVC": {"C": 2.0}, "SVR": {"C": 2.0, "epsilon": 0.2}, "OneClassSVM": {"nu": 0.3}}


def numbers_of(result):
    """Return the numbers by which results are compared."""
    for name in ("decision_values", "changes", "record"):
        if hasattr(result, name):
            found = getattr(result, name)
            return np.concatenate([found.t, found.intercept]) if name == "record" else found
    return np.concatenate([result.curve.C, result.curve.errors])


@pytest.mark.parametrize("name", QUESTIONS)
def test_every_question_takes_a_model_or_the_data(name):
    pytest.importorskip("sklearn")
    call, kinds, more = QUESTIONS[name]
    for kind in ("SVC", "SVR", "OneClassSVM"):
        model = getattr(refsvm, kind)
        y = {"SVC": (LABELS,), "SVR": (TARGETS,)}.get(kind, ())
        if kind not in kinds:
            with pytest.raises(ValueError, match=f"^{name} does not take a {kind}; pass refsvm"):
                call(model(), POINTS, *y, **more)
            continue
        machine = MACHINES[kind]
        moving = {key: value for key, value in machine.items() if key not in more}
        if name in ("regularization_path", "cross_validate_path"):
            del moving["C"]
        given = call(model(**machine, **OWN), POINTS, *y, **more)
        np.testing.assert_array_equal(
            numbers_of(given), numbers_of(call(POINTS, *y, **OWN, **moving, **more))
        )
        with pytest.raises(TypeError, match=f"^{name} takes a model, and {kind} is a class"):
            call(model, POINTS, *y, **more)
        with pytest.raises(TypeError, match=f"has no examples; write {name}"):
            call(model(), **more)
        if y:
            with pytest.raises(ValueError, match="y is missing"):
                call(model(), POINTS, **more)


def test_weights_of_classes_are_weights_of_a_path():
    pytest.importorskip("sklearn")
    weights = np.where(LABELS == "ill", 3.0, 1.0)
    model = refsvm.SVC(gamma=0.5, C=7.0, class_weight={"ill": 3.0})
    paths = (
        regularization_path(model, POINTS, LABELS, C_max=2.0),
        regularization_path(POINTS, LABELS, gamma=0.5, sample_weight=weights, C_max=2.0),
    )
    np.testing.assert_array_equal(*map(numbers_of, paths))
    with pytest.raises(ValueError, match="has class weights, and sample_weight was given"):
        regularization_path(model, POINTS, LABELS, sample_weight=weights)


def test_labels_of_held_out_examples_are_those_of_the_data():
    signs = np.where(LABELS == "well", 1, -1)
    test = {"X_test": POINTS[:5], "loss": "logistic", "gamma": 0.5}
    named = influence(POINTS, LABELS, y_test=LABELS[:5], **test)
    problem = refsvm.DualProblem.classification(POINTS, signs, gamma=0.5)
    by_problem = influence(problem, None, POINTS[:5], signs[:5], loss="logistic")
    np.testing.assert_allclose(named.loss_changes, by_problem.loss_changes, rtol=1e-6, atol=1e-9)
    with pytest.raises(ValueError, match="not a class of the model"):
        influence(POINTS, LABELS, y_test=signs[:5], **test)
