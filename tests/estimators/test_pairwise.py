"""SVC.solutions: the pairs of classes of a fitted model, with the derivatives of their values."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine

from refsvm import RBF, SVC, Linear

X, y = load_iris(return_X_y=True)
NAMES = np.array(["elm", "oak", "yew"])[y]
WEIGHTS = np.random.default_rng(0).uniform(0.5, 2.0, 150)


def made(gamma=0.3, C=2.0, **options):
    return SVC(kernel=RBF(gamma), C=C, tol=1e-10, decision_function_shape="ovo", **options)


def columns(model, labels, T, *asked, weight=None):
    found = model.solutions(X, labels, weight)
    return np.column_stack([each.derivative(*asked).decision_function(T) for each in found.values()])


@pytest.mark.parametrize("weight", [None, WEIGHTS], ids=["alike", "weights"])
@pytest.mark.parametrize("class_weight", [None, "balanced", {"oak": 2.0}], ids=str)
def test_derivatives_of_pairs_are_differences_of_their_values(weight, class_weight):
    T, step = X[::7] + 0.05, 1e-5
    ends = [
        made(0.3 + way * step, class_weight=class_weight).fit(X, NAMES, weight).decision_function(T)
        for way in (1.0, -1.0)
    ]
    model = made(class_weight=class_weight).fit(X, NAMES, weight)
    rates = (ends[0] - ends[1]) / (2.0 * step)
    ours = columns(model, NAMES, T, "gamma", weight=weight)
    np.testing.assert_allclose(ours, rates, atol=1e-6 * np.abs(rates).max())
    assert [*model.solutions(X, NAMES, weight)] == [("elm", "oak"), ("elm", "yew"), ("oak", "yew")]


def test_nothing_is_trained_anew_and_values_are_those_of_the_model():
    model = made().fit(X, y)
    for number, solution in enumerate(model.solutions(X, y).values()):
        assert solution.iterations == 0
        np.testing.assert_array_equal(solution.alpha, model.binary_results_[number].alpha)
        assert solution.intercept == pytest.approx(model.intercept_[number], abs=1e-9)


def test_two_classes_and_a_linear_machine_far_from_zero():
    wine, kind = load_wine(return_X_y=True)
    two = SVC(kernel=RBF(1e-4), tol=1e-10).fit(wine[:130], kind[:130])
    ((pair, solution),) = two.solutions(wine[:130], kind[:130]).items()
    assert pair == (0, 1)
    step = 1e-9
    ends = [
        SVC(kernel=RBF(1e-4 + way * step), tol=1e-10).fit(wine[:130], kind[:130]).decision_function(wine)
        for way in (1.0, -1.0)
    ]
    rates = (ends[0] - ends[1]) / (2.0 * step)
    found = solution.derivative("gamma").decision_function(wine)
    np.testing.assert_allclose(found, rates, atol=1e-4 * np.abs(rates).max())
    near, far = (
        SVC(kernel=Linear(), C=0.5, tol=1e-10).fit(X + shift, y).solutions(X + shift, y)
        for shift in (0.0, 1e5)
    )
    for pair, solution in near.items():
        values = solution.derivative("C").decision_function(X)
        other = far[pair].derivative("C").decision_function(X + 1e5)
        np.testing.assert_allclose(other, values, atol=1e-5 * max(np.abs(values).max(), 1e-3))


def test_a_class_without_weight_has_no_pairs():
    weight = np.where(y == 1, 0.0, 1.0)
    model = made().fit(X, y, weight)
    assert [*model.solutions(X, y, weight)] == [(0, 2)]


@pytest.mark.parametrize("given", [2, 3], ids=["two classes", "three"])
@pytest.mark.parametrize("kernel", [RBF(0.3), Linear()], ids=["rbf", "linear"])
def test_examples_that_the_model_was_not_trained_on_are_refused(given, kernel):
    data, names, weight = X[y < given], NAMES[y < given], WEIGHTS[y < given]
    data = data + 0.4 * np.random.default_rng(1).normal(size=data.shape)  # classes that overlap
    model = SVC(kernel=kernel, C=0.5, tol=1e-6).fit(data, names, weight)
    for part in (
        SVC(kernel=kernel, C=0.5, max_iter=9),
        SVC(kernel=kernel, C=0.5, cache_dtype="float32"),
        model,
    ):
        with warnings.catch_warnings(action="ignore"):
            part.fit(data, names, weight).solutions(data, names, weight)
    turned = np.array(sorted(set(names)))[::-1][np.searchsorted(sorted(set(names)), names)]
    for other in (
        (data, names, None), (data, names, 2.0 * weight), (data, names, weight[::-1]), (data + 1.0, names, weight),
        (1.01 * data, names, weight), (data[::-1], names[::-1], weight[::-1]), (data, turned, weight),
        (data, names, (1.0 - 1e-7) * weight),
    ):  # fmt: skip
        with pytest.raises(
            ValueError, match=r"^X and y are not the examples that the model was trained on \("
        ):
            model.solutions(*other)
    with pytest.raises(ValueError, match=r"sample_weight or C of .* differ"):
        model.set_params(C=5.0).solutions(data, names, weight)
