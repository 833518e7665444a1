"""Folds of many small classes: solved together, with the answers of refits."""

from __future__ import annotations

from contextlib import nullcontext
from functools import partial
from itertools import count
from types import SimpleNamespace
from unittest.mock import patch

import numpy as np
import pytest

from refsvm import AVG, RBF, KKTGap, Linear, PlanningAheadStep, SecondOrder, Status, cross_validate
from refsvm.analysis.resampling import small_folds
from refsvm.analysis.resampling.small_folds import TAKEN

svm = pytest.importorskip("sklearn.svm")
ONE_BY_ONE = "refsvm.core.rounds.rounds.Rounds.of"


def many(seed=0, k=11, d=4):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat(np.arange(k), rng.integers(3, 6, k)))
    return rng.normal(size=(k, d))[y] + 0.6 * rng.normal(size=(len(y), d)), y


def refused(*_, **__):
    raise AssertionError("one pair after another")


@pytest.mark.parametrize("kernel", [RBF(0.3), Linear()], ids=repr)
def test_values_and_predictions_are_those_of_refits_and_engines_agree(kernel):
    X, y = many()
    C = np.random.default_rng(1).uniform(0.5, 3.0, len(y))
    options = {"kernel": kernel, "folds": 3, "stratified": True}
    with patch(ONE_BY_ONE, refused):
        found = cross_validate(X, y, C=C, stop=KKTGap(1e-10), **options)
        engines = [cross_validate(X, y, engine=engine, **options) for engine in ("numpy", "auto")]
    assert np.array_equal(engines[0].decision_values, engines[1].decision_values)
    assert found.status is Status.CONVERGED
    assert len(found.rounds) == 3 * 55
    assert [(each.pair, each.fold) for each in found.rounds[2:4]] == [((0, 1), 2), ((0, 2), 0)]
    assert found.kernel_rows == len(y)
    for h in range(3):
        rest, out = found.fold != h, found.fold == h
        model = svm.SVC(C=1.0, kernel=kernel, tol=1e-10, decision_function_shape="ovo")
        values = model.fit(X[rest], y[rest], C[rest]).decision_function(X[out])
        np.testing.assert_allclose(found.decision_values[out], values, rtol=0, atol=1e-5)
        assert np.array_equal(found.predictions[out], model.predict(X[out]))


def test_a_seeder_a_class_without_examples_and_other_options_ask_for_rounds():
    X, y = many()
    alone = np.where(y == 3, 0, 1)
    for options in ({"seeder": AVG()}, {"folds": alone}, {"trace": True}, {"max_iter": 5}):
        with patch(ONE_BY_ONE, refused), pytest.raises(AssertionError, match="one pair after another"):
            cross_validate(X, y, kernel=RBF(0.3), **{"folds": 3, **options})


def test_all_options_that_change_nothing_may_be_given():
    X, y = many()
    plain = cross_validate(X, y, kernel=RBF(0.3), folds=3, stratified=True)
    options = {
        "selector": SecondOrder(), "step": PlanningAheadStep(), "stop": KKTGap(relative=True), "engine": "numpy",
        "shrinking": False, "cache_mb": 100.0, "cache_dtype": "float64",
    }  # fmt: skip
    assert options.keys() == TAKEN
    with patch(ONE_BY_ONE, refused):
        found = cross_validate(X, y, kernel=RBF(0.3), folds=3, stratified=True, **options)
    np.testing.assert_array_equal(found.decision_values, plain.decision_values)


@pytest.mark.parametrize(("largest", "together"), [(32, True), (33, False)])
def test_two_classes_of_more_than_64_examples_ask_for_rounds(largest, together):
    y = np.repeat(np.arange(11), [3, largest, 3, 3, 32, *[3] * 6])
    X = np.random.default_rng(5).normal(size=(len(y), 2)) + y[:, None]
    refusal = pytest.raises(AssertionError, match="one pair after another")
    with patch(ONE_BY_ONE, refused), nullcontext() if together else refusal:
        cross_validate(X, y, kernel=RBF(0.3), folds=3, stratified=True)


def test_what_is_not_small_after_all_is_solved_by_rounds():
    """An indefinite kernel is said."""
    X, y = many(k=10)
    K = np.tanh(2.0 * X @ X.T - 3.0)
    with pytest.warns(UserWarning, match="not positive semi-definite"):
        found = cross_validate(gram=K, y=y, folds=3, stratified=True, engine="numpy")
    assert found.status is Status.CONVERGED


def test_the_seconds_of_a_fold_are_shared_by_its_pairs(monkeypatch):
    """A clock that advances by one second whenever it is looked at, at the beginning and at the end of a fold."""
    X, y = many()
    clock = SimpleNamespace(perf_counter=partial(next, count(0.0)))
    monkeypatch.setattr(small_folds, "time", clock)
    with patch(ONE_BY_ONE, refused):
        found = cross_validate(X, y, kernel=RBF(0.3), folds=3, stratified=True, engine="numpy")
    pairs = 11 * 10 // 2
    assert [each.solve_seconds for each in found.rounds] == pytest.approx([1.0 / pairs] * 3 * pairs)
    assert {(each.kernel_rows, each.seed_seconds, each.trace) for each in found.rounds} == {(0, 0.0, None)}
