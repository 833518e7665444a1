"""SVC pair by pair: weights, what is kept of each pair, warm starts, limits and Ctrl-C."""

import signal
import time

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from refsvm import (
    RBF,
    SVC,
    SVR,
    HybridMaximumGain,
    MaximumGain,
    NoShrinking,
    OneClassSVM,
    PlanningAheadStep,
    SecondOrder,
    Status,
)
from refsvm.analysis.multiclass import one_vs_one
from refsvm.analysis.small.small_pairs import Stack

from ...interrupts import pressing
from ...several_classes import examples

TIGHT = {"tol": 1e-8}


# -- what goes beyond ------------------------------------------------------------------------------------------------


def test_alpha_and_the_binary_results_belong_together():
    X, y = examples(4)
    model = SVC(gamma=0.3).fit(X, y)
    alpha = model.alpha_
    assert alpha.shape == (6, len(y))
    assert np.array_equal(np.flatnonzero((alpha != 0).any(axis=0)), np.sort(model.support_))
    names = [(model.classes_[r.positive], model.classes_[r.negative]) for r in model.binary_results_]
    assert names == [(-2, 1), (-2, 4), (-2, 7), (1, 4), (1, 7), (4, 7)]
    values = clone(model).set_params(decision_function_shape="ovo").fit(X, y).decision_function(X)
    np.testing.assert_allclose(values, (alpha @ RBF(0.3)(X, X)).T + model.intercept_, rtol=0, atol=1e-9)
    for number, (result, row) in enumerate(zip(model.binary_results_, alpha, strict=True)):
        assert np.array_equal(np.unique(y[result.rows]), np.sort(names[number]))
        assert (row[y == names[number][0]] >= 0).all()
        assert (row[y == names[number][1]] <= 0).all()
        assert row.sum() == pytest.approx(0.0, abs=1e-12)
        assert model.kkt_gap_[number] == result.kkt_gap <= 1e-3
        assert model.duality_gap_[number] == result.duality_gap
        assert model.n_iter_[number] == result.iterations
    assert model.n_kernel_rows_ == sum(result.kernel_rows for result in model.binary_results_) > 0


def test_the_parameters_reach_the_solver(monkeypatch):
    import refsvm.analysis.multiclass.one_vs_one as module

    seen = {}

    def spy(problem, options, start):
        seen.update(vars(options), start=start)
        return solved(problem, options, start)

    solved = module.solved
    monkeypatch.setattr(module, "solved", spy)
    rules = {"selector": SecondOrder(), "step": PlanningAheadStep()}
    same = {"engine": "numpy", "cache_dtype": "float32", "max_iter": 77}
    X, y = examples(2)
    SVC(**rules, **same, tol=0.01, shrinking=False, cache_size=3, time_limit=60).fit(X, y)
    stop = seen.pop("stop")
    assert stop.tol == 0.01
    assert 0 < seen.pop("time_limit").left() <= 60
    assert seen.pop("rules") == (*rules.values(), stop)
    seen.pop("rows_and_guards")
    nothing = dict.fromkeys(("start", "callback", "progress"))
    others = {"shrinking": NoShrinking(), "cache_mb": 3, "polish": True, "trace": False, "n_jobs": None}
    assert seen == rules | same | nothing | others
    SVC().fit(X, y)
    assert (seen["max_iter"], seen["time_limit"].is_set) == (None, False)
    SVC(max_iter=None).fit(X, y)
    assert seen["max_iter"] is None


@pytest.mark.slow
@pytest.mark.parametrize("k", [2, 4])
def test_any_number_of_threads_gives_the_same_result(k, engine):
    X, y = examples(k, n=200)
    models = [SVC(gamma=0.3, C=10.0, n_jobs=n_jobs, engine=engine).fit(X, y) for n_jobs in (None, 2, 5, -1)]
    for model in models[1:]:
        for name in ("alpha_", "intercept_", "n_iter_", "kkt_gap_", "n_kernel_rows_"):
            assert np.array_equal(getattr(model, name), getattr(models[0], name)), name


# -- warm starts -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("C", [0.1, 1.2])
def test_a_warm_start_with_another_penalty_changes_nothing_but_the_steps(C):
    """A smaller C makes the old α infeasible: that is repaired without a warning, which would be an error here."""
    X, y = examples(3, n=90)
    cold = SVC(C=C, gamma=0.3, **TIGHT).fit(X, y)
    warm = SVC(C=1.0, gamma=0.3, warm_start=True, **TIGHT).fit(X, y).set_params(C=C).fit(X, y)
    np.testing.assert_allclose(warm.dual_objective_, cold.dual_objective_, rtol=1e-9)
    if C > 1.0:  # the old α is feasible and near
        assert warm.n_iter_.sum() < cold.n_iter_.sum()


def test_a_warm_start_with_other_data_changes_nothing():
    X, y = examples(3)
    model = SVC(warm_start=True, **TIGHT).fit(X, y)
    weight = np.where(np.arange(len(y)) % 4, 1.0, 0.0)
    others = (X, np.roll(y, 5), None), (X, y, weight), (X, y > 2, None), (X, y, None), (X[:50], y[:50], None)
    for data, labels, weights in others:
        if len(labels) == model.shape_fit_[0] and len(np.unique(labels)) == len(model.classes_):
            model.fit(data, labels, weights)
        else:
            said = "the last fit had 75 examples of . classes.*so this fit starts from zero"
            with pytest.warns(UserWarning, match=said) as caught:
                model.fit(data, labels, weights)
            assert caught[0].filename == __file__
        cold = SVC(**TIGHT).fit(data, labels, weights)
        np.testing.assert_allclose(model.decision_function(X), cold.decision_function(X), rtol=0, atol=1e-6)
    assert np.array_equal(model.n_iter_, cold.n_iter_)  # another number of examples: a cold start


# -- unfinished ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("limit", "status", "sentence"),
    [
        ({"max_iter": 2}, Status.MAX_ITER, "iteration limit was reached.*raise max_iter"),
        ({"time_limit": 1e-9}, Status.TIME_LIMIT, "time limit was reached.*Raise time_limit"),
    ],
    ids=["max_iter", "time_limit"],
)
@pytest.mark.parametrize("k", [2, 3])
def test_an_unfinished_fit_warns_with_a_sentence_and_can_be_used(limit, status, sentence, k):
    X, y = examples(k, n=100)
    model = SVC(C=1e5, gamma=0.3, tol=1e-8, shrinking=False, warm_start=True, **limit)
    with pytest.warns(ConvergenceWarning, match=sentence) as caught:
        model.fit(X, y)
    message = str(caught[0].message)
    assert f"{np.max(model.kkt_gap_):.3g}" in message
    assert "tol=1e-08" in message
    assert ("3 of 3 pairs" in message) == (k == 3)
    assert caught[0].filename == __file__
    assert model.status_ is status
    assert model.fit_status_ == 1
    assert model.predict(X).shape == y.shape
    # and the next one goes on from there
    model.set_params(max_iter=-1, time_limit=None).fit(X, y)
    assert (model.status_, model.fit_status_) == (Status.CONVERGED, 0)


def test_a_stalled_selector_is_told_from_a_finished_one(engine):
    """Among duplicates with both labels maximum gain may see no gain in any pair with the previous two."""
    X = np.random.default_rng(6).integers(0, 2, (60, 3)).astype(float)
    y = np.random.default_rng(7).integers(0, 2, 60)
    model = SVC(selector=MaximumGain(), gamma=1.0, shrinking=False, engine=engine)
    with pytest.warns(ConvergenceWarning, match="finds no pair that raises.*choose another selector"):
        model.fit(X, y)
    assert (model.status_, model.fit_status_) == (Status.STALLED, 1)
    assert SVC(selector=HybridMaximumGain(), gamma=1.0).fit(X, y).status_ is Status.CONVERGED


@pytest.mark.parametrize(
    ("make", "k"),
    [(SVC, 2), (SVC, 3), (SVR, 2), (OneClassSVM, 2)],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_ctrl_c_leaves_an_estimator_that_can_be_used_and_resumed(make, k, engine):
    X, y = examples(k, n=150)
    pressed = []

    def kernel(A, B):
        if not pressed and signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
            pressed.append(True)  # inside the solver
            signal.raise_signal(signal.SIGINT)
        return RBF(0.3)(A, B)

    # a budget of 0.05 MiB does not hold all rows, so the kernel is asked for them one by one
    options = {"engine": engine, "shrinking": False, "warm_start": True, "cache_size": 0.05}
    model = make(kernel=kernel, tol=1e-7, **options, **({"nu": 0.3} if make is OneClassSVM else {"C": 1e5}))
    words = rf"{make.__name__}\.fit was interrupted.*the fitted attributes hold the last point reached"
    with pytest.raises(KeyboardInterrupt, match=words):
        model.fit(X, y)
    assert pressed
    assert model.status_ is Status.INTERRUPTED
    if make is SVC:
        assert {result.status for result in model.binary_results_} == {Status.INTERRUPTED}
        assert {result.iterations for result in model.binary_results_[1:]} <= {1}
    assert model.predict(X).shape == y.shape
    assert model.dual_coef_.size
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert model.fit(X, y).status_ is Status.CONVERGED


@pytest.mark.parametrize(
    ("of", "name", "sizes", "calls"),
    [(Stack, "solve", (10, 10, 12), 2), (one_vs_one, "solved", (70, 70, 70), 3)],
)
@pytest.mark.parametrize("after", ["the first", "the last"])
def test_a_press_between_two_pairs_or_after_the_last_is_not_lost(after, of, name, sizes, calls, monkeypatch):
    """Small pairs come in one stack for each number of examples."""
    pressed, made = pressing(getattr(of, name), 1 if after == "the first" else calls)
    monkeypatch.setattr(of, name, pressed)
    y = np.repeat([0, 1, 2], sizes)
    X = np.random.default_rng(0).normal(size=(len(y), 2)) + y[:, None]
    model = SVC(engine="numpy")
    with pytest.raises(KeyboardInterrupt, match=r"SVC\.fit was interrupted"):
        model.fit(X, y)
    assert len(made) == calls
    assert model.status_ is (Status.INTERRUPTED if after == "the first" else Status.CONVERGED)
    assert model.predict(X).shape == y.shape


def test_the_time_limit_is_that_of_all_pairs_together(monkeypatch):
    import refsvm.analysis.multiclass.one_vs_one as module

    limits = []

    def slow(problem, options, start):
        limits.append(options.time_limit)
        time.sleep(0.02)
        return solved(problem, options, start)

    solved = module.solved
    monkeypatch.setattr(module, "solved", slow)
    X, y = examples(4, n=200)
    with pytest.warns(ConvergenceWarning, match="time limit was reached"):
        SVC(C=1e6, gamma=0.3, tol=1e-9, time_limit=0.05, engine="numpy", shrinking=False).fit(X, y)
    assert len(limits) == 6
    assert len({limit.at for limit in limits}) == 1
    assert limits[-1].left() < 0.0  # out of time: the others take their first steps
