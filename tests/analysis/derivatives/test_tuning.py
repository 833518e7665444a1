"""tune_by_gradient: gradients of the held-out loss equal its differences; the search, its limits and refusals."""

from __future__ import annotations

import inspect
from dataclasses import replace

import numpy as np
import pytest

from refsvm import RBF, KKTGap, Status, cross_validate
from refsvm.analysis.derivatives import Huber, SquaredHinge, held_out_loss, tune_by_gradient
from refsvm.analysis.derivatives.held_out import Folds
from refsvm.core.engine.limits import Deadline

from ...interrupts import pressing
from ...settings import interrupted

rng = np.random.default_rng(5)
X = rng.normal(size=(36, 3))
score = X[:, 0] - X[:, 1] ** 2 + 0.3 * rng.normal(size=36)
y = np.where(score > np.median(score), 1.0, -1.0)
CASES = {
    "C and gamma": (y, {"parameters": ("C", "gamma")}),
    "a gamma of each feature": (y, {"parameters": ("C", "gammas"), "loss": "logistic"}),
    "class weight": (y, {"parameters": ("C", "class_weight", "gamma"), "class_weight": 1.5}),
    "a class weight that stays": (y, {"parameters": ("C", "gamma"), "class_weight": 0.7}),
    "linear": (y, {"parameters": "C", "kernel": "linear", "loss": SquaredHinge()}),
    "leave-one-out": (y, {"parameters": ("C", "gamma"), "folds": "loo"}),
    "regression": (score, {"parameters": ("C", "gamma", "epsilon"), "epsilon": 0.2}),
    "huber": (score, {"parameters": ("epsilon", "gammas"), "epsilon": 0.1, "loss": Huber(0.5)}),
    "pinball": (score, {"parameters": ("C", "gamma"), "epsilon": 0.0, "loss": "pinball"}),
    "polynomial": (
        score,
        {"parameters": ("C", "gamma"), "epsilon": 0.1, "kernel": "poly", "degree": 2, "coef0": 1.0},
    ),
    "leave-one-out of a regression": (score, {"parameters": ("gamma", "C"), "folds": "loo", "epsilon": 0.2}),
    "shuffled": (y, {"parameters": ("C", "gamma"), "folds": 4, "rng": 3}),
}


def differences(J, theta, step=1e-5):
    """Return central differences of J."""
    return np.array(
        [(J(theta + step * e)[0] - J(theta - step * e)[0]) / (2.0 * step) for e in np.eye(len(theta))]
    )


@pytest.mark.parametrize("name", CASES)
def test_gradients_are_differences_of_the_objective(name):
    marks, given = CASES[name]
    J = held_out_loss(X, marks, engine="numpy", **given)
    theta = J.space.theta(J.space.fixed) + 0.2 * np.random.default_rng(0).normal(size=len(J.space.bounds))
    assert J.events == 0
    J._next_to = None  # no fold is at an event, and none is solved at another C
    _, gradient = J(theta)
    assert J.events == 0
    np.testing.assert_allclose(gradient, differences(J, theta), atol=1e-6)


@pytest.mark.parametrize("name", ["C and gamma", "regression", "leave-one-out"])
def test_the_value_is_that_of_cross_validation(name):
    marks, given = CASES[name]
    J = held_out_loss(X, marks, engine="numpy", **given)
    values, fold = J.space.fixed, np.empty(36, dtype=int)
    for number, out in enumerate(J.members):
        fold[out] = number
    machine = {"kernel": RBF(values["gamma"]), "C": values["C"]} | ({} if marks is y else {"epsilon": 0.2})
    h = cross_validate(X, marks, folds=fold, stop=KKTGap(1e-11), engine="numpy", **machine).decision_values[
        :, 0
    ]
    np.testing.assert_allclose(J(J.space.theta(values))[0], J.loss.value(h, marks).mean(), atol=1e-8)


@pytest.mark.parametrize("refused", [1, 2, 3])
def test_at_an_event_the_gradient_is_that_next_to_it(monkeypatch, refused):
    near = np.array([1.0, 1.0 + 1e-6, 1.0 - 1e-6, 1.0 + 1e-5])[: refused + 1]
    J = held_out_loss(X, y, engine="numpy")
    theta = J.space.theta(J.space.fixed)
    value, gradient = J(theta)
    adjoint, calls = type(J)._adjoint, []

    def at_an_event(self, solution, some, values):
        calls.append(values["C"])
        if np.abs(near[:-1] - values["C"]).min() < 1e-9:
            raise ValueError("at an event")
        return adjoint(self, solution, some, values)

    monkeypatch.setattr(type(J), "_adjoint", at_an_event)
    again, other = J(theta)
    assert again == pytest.approx(value)
    assert J.events == 5
    assert list(dict.fromkeys(calls)) == pytest.approx(near, abs=1e-9)
    np.testing.assert_allclose(other, gradient, atol=1e-4)
    monkeypatch.setattr(type(J), "_adjoint", lambda *_: (_ for _ in ()).throw(ValueError("everywhere")))
    assert not J(theta)[1].any()


def test_examples_whose_absence_changes_nothing_share_one_adjoint(monkeypatch):
    J = held_out_loss(X, y, folds="loo", engine="numpy")
    calls, adjoint = [], type(J)._adjoint
    monkeypatch.setattr(type(J), "_adjoint", lambda *given: calls.append(len(given[2])) or adjoint(*given))
    J(J.space.theta(J.space.fixed))
    assert sum(calls) == 36
    assert max(calls) > 1
    assert calls.count(1) >= 10
    assert Folds is not None


@pytest.mark.parametrize("name", ["C and gamma", "a gamma of each feature", "regression", "class weight"])
def test_the_search_finds_less_than_where_it_starts(name):
    pytest.importorskip("scipy")
    marks, given = CASES[name]
    found = tune_by_gradient(X, marks, engine="numpy", starts=2, max_evaluations=4, rng=0, **given)
    losses = np.array([each.loss for each in found.evaluations])
    assert found.loss == losses.min() < losses[0]
    assert found.status is Status.CONVERGED
    assert found.best == found.evaluations[int(losses.argmin())].params
    assert set(found.best) == {"gamma" if each == "gammas" else each for each in given["parameters"]}
    assert found.best_of_starts.min() == found.loss
    assert len(found.best_of_starts) == 2
    assert {each.start for each in found.evaluations} == {0, 1}
    assert max(np.bincount([each.start for each in found.evaluations])) <= 4
    np.testing.assert_allclose([each.fold_losses.mean() for each in found.evaluations], losses, rtol=0.2)
    again = tune_by_gradient(X, marks, engine="numpy", starts=2, max_evaluations=4, rng=0, **given)
    np.testing.assert_allclose(again.loss, found.loss, rtol=1e-6)


def test_bounds_by_default_and_where_searches_start():
    scale = 1.0 / (3 * X.var())
    J = held_out_loss(X, y, parameters=("C", "gammas", "class_weight"), gamma=0.2, C=3.0, class_weight=2.0)
    expected = [(1e-2, 1e4), *[(1e-5 * scale, 1e3 * scale)] * 3, (0.1, 10.0)]
    np.testing.assert_allclose(np.exp(J.space.bounds), expected)
    first, *others = J.space.starts(J.space.fixed, 40, np.random.default_rng(0))
    np.testing.assert_allclose(np.exp(first), [3.0, 0.2, 0.2, 0.2, 2.0])
    low, high = J.space.bounds.T
    shares = (np.array(others) - low) / (high - low)
    assert len(others) == 39
    assert 0.25 <= shares.min() < 0.3
    assert 0.7 < shares.max() <= 0.75
    # one draw for the γ of all features
    np.testing.assert_allclose(shares[:, 1:4], shares[:, 1:2] * np.ones(3))
    J = held_out_loss(X, score, parameters=("gamma", "epsilon"), epsilon=1e9)
    expected = [(1e-3 * scale, 1e3 * scale), (1e-3 * score.std(), score.std())]
    np.testing.assert_allclose(np.exp(J.space.bounds), expected)
    np.testing.assert_allclose(np.exp(J.space.theta(J.space.fixed)), [scale, score.std()])


def test_folds_share_the_classes_and_rng_shuffles_them():
    few = np.where(np.arange(36) < 9, 1.0, -1.0)
    J = held_out_loss(X, few, folds=3)
    assert [int((few[some] > 0).sum()) for some in J.members] == [3, 3, 3]
    shuffled = held_out_loss(X, few, folds=3, rng=0)
    assert [int((few[some] > 0).sum()) for some in shuffled.members] == [3, 3, 3]
    assert [each.tolist() for each in shuffled.members] != [each.tolist() for each in J.members]
    J = held_out_loss(X, score, folds=3, epsilon=0.1)
    assert [each.tolist() for each in J.members] == [list(range(at, at + 12)) for at in (0, 12, 24)]


def test_rows_of_evaluations_and_what_a_callback_sees():
    pytest.importorskip("scipy")
    seen = []

    def watch(told):
        seen.append((told.loss, told.best, told.done))

    found = tune_by_gradient(X, y, engine="numpy", starts=1, max_evaluations=3, callback=watch)
    J = held_out_loss(X, y, engine="numpy")
    for row, (loss, best, done) in zip(found.evaluations, seen, strict=True):
        value, gradient = J(J.space.theta(row.params))
        np.testing.assert_allclose((row.loss, row.slope), (value, np.abs(gradient).max()), rtol=1e-6)
        np.testing.assert_allclose(row.fold_losses, J.fold_losses, rtol=1e-6)
        assert (loss, row.events, row.start) == (row.loss, 0, 0)
        least = min(found.evaluations[:done], key=lambda each: each.loss)
        assert best == f"{least.loss:.4g} at C={least.params['C']:.4g}, gamma={least.params['gamma']:.4g}"
    assert [done for _, _, done in seen] == [1, 2, 3]
    elapsed = [row.elapsed for row in found.evaluations]
    assert 0.0 < elapsed[0] < elapsed[1] < elapsed[2] <= found.seconds
    told = found._card().pairs
    assert (told["evaluations"], told["starts"], told["status"]) == ("3", "1", "CONVERGED")
    assert float(told["mean loss"]) == pytest.approx(found.loss, rel=1e-5)
    assert not found._card().is_partial
    assert len({found, replace(found)}) == 2  # a result equals itself alone
    with pytest.raises(AttributeError):
        found.loss = 0.0


@pytest.mark.parametrize("function", [held_out_loss, tune_by_gradient])
def test_defaults(function):
    given = {name: each.default for name, each in inspect.signature(function).parameters.items()}
    expected = {
        "parameters": ("C", "gamma"), "loss": None, "folds": 5, "rng": None, "kernel": "rbf", "gamma": "scale",
        "degree": 3, "coef0": 0.0, "C": None, "epsilon": None, "class_weight": 1.0, "cache_mb": 1000.0,
    }  # fmt: skip
    if function is tune_by_gradient:
        expected |= {"starts": 3, "max_evaluations": 60, "time_limit": None, "progress": "auto"}
    assert given | expected == given


def test_the_first_start_may_have_a_gamma_of_each_feature():
    J = held_out_loss(X, y, parameters=("gammas",), gamma=(0.1, 0.2, 0.3))
    np.testing.assert_allclose(np.exp(J.space.theta(J.space.fixed)), [0.1, 0.2, 0.3])


def test_bounds_hold_and_frames():
    pytest.importorskip("scipy")
    bounds = {"C": (0.5, 2.0), "gamma": (0.1, 0.2)}
    found = tune_by_gradient(X, y, engine="numpy", starts=2, max_evaluations=5, bounds=bounds, rng=1)
    for each in found.evaluations:
        for name, (low, high) in bounds.items():
            assert low * (1 - 1e-9) <= each.params[name] <= high * (1 + 1e-9)
    pandas = pytest.importorskip("pandas")
    frame = found.to_frame()
    assert isinstance(frame, pandas.DataFrame)
    assert len(frame) == len(found.evaluations)
    assert {"C", "gamma", "loss", "start", "events"} <= set(frame)


def test_limits_keep_the_best_so_far(monkeypatch):
    pytest.importorskip("scipy")
    found = tune_by_gradient(X, y, engine="numpy", callback=lambda row: row.loss < 0.9 and row.start == 0)
    assert found.status is Status.CALLBACK
    assert found.loss == min(each.loss for each in found.evaluations)
    assert found.best
    assert found._card().is_partial
    monkeypatch.setattr(Deadline, "left", lambda _: 0.5)
    found = tune_by_gradient(X, y, engine="numpy", time_limit=1.0, starts=1, max_evaluations=2)
    assert found.status is Status.CONVERGED
    monkeypatch.undo()
    with pytest.warns(UserWarning, match="time_limit ended tune_by_gradient after"):
        found = tune_by_gradient(X, y, engine="numpy", time_limit=1e-9)
    assert found.status is Status.TIME_LIMIT
    assert np.isnan(found.loss)
    assert found.best == {}
    assert "no evaluation" in repr(found)


def test_ctrl_c_raises_with_the_best_so_far():
    pytest.importorskip("scipy")
    rows = []
    press, _ = pressing(lambda row: rows.append(row.loss), 3)
    found = interrupted(tune_by_gradient, X, y, engine="numpy", callback=press)
    assert found.status is Status.INTERRUPTED
    assert len(found.evaluations) == 3
    assert found.loss == min(rows)
