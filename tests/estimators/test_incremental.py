"""partial_fit and forget: always the model of the examples that are there."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_breast_cancer

from refsvm import RBF, SVC, SVR, OneClassSVM
from refsvm.datasets import make_banana

DATA = make_banana(90, rng=0)
X, Y = DATA.X, DATA.y
TARGETS = np.round(np.sin(X[:, 0]) + 0.3 * X[:, 1], 2)
THREE = np.where(X[:, 0] > 0.5, 2, np.where(Y > 0, 1, 0))
MODELS: Any = [
    pytest.param(SVC(gamma=0.5, C=5.0, engine="numpy"), Y, id="two classes"),
    pytest.param(SVC(gamma=0.5, C=5.0, engine="numpy"), THREE, id="three classes"),
    pytest.param(SVR(gamma=0.5, C=5.0, engine="numpy"), TARGETS, id="regression"),
    pytest.param(OneClassSVM(gamma=0.5, nu=0.3, engine="numpy"), None, id="novelty"),
]


def fresh(model: Any) -> Any:
    return type(model)(**model.get_params()).set_params(tol=1e-10)


def part(y: Any, chosen: Any) -> Any:
    return None if y is None else y[chosen]


def assert_same(model: Any, y: Any, chosen: np.ndarray, sample_weight: Any = None) -> None:
    """The model is that of `fit` on these examples."""
    weights = None if sample_weight is None else sample_weight[chosen]
    whole = fresh(model).fit(X[chosen], part(y, chosen), sample_weight=weights)
    np.testing.assert_allclose(model.dual_objective_, whole.dual_objective_, rtol=1e-8)
    ask = "predict" if y is TARGETS else "decision_function"
    np.testing.assert_allclose(getattr(model, ask)(X), getattr(whole, ask)(X), atol=1e-5)
    assert model.shape_fit_ == (len(chosen), 2)


@pytest.mark.parametrize(("model", "y"), MODELS)
def test_examples_come_one_by_one_and_at_once_and_go(model: Any, y: Any) -> None:
    model = fresh(model).set_params(tol=1e-3)
    order = np.arange(70)
    model.partial_fit(X[:50], part(y, slice(50)))
    for i in (50, 51, 52):
        model.partial_fit(X[i : i + 1], part(y, slice(i, i + 1)))
    assert_same(model, y, order[:53])
    model.partial_fit(X[53:70], part(y, slice(53, 70)))
    assert_same(model, y, order)
    model.forget([0, 3, 69])
    assert_same(model, y, np.delete(order, [0, 3, 69]))
    again = pickle.loads(pickle.dumps(model))
    again.forget(5)
    assert_same(again, y, np.delete(order, [0, 3, 69])[np.arange(67) != 5])


def test_it_goes_by_events_and_takes_no_step_of_smo(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: Any, **__: Any) -> None:
        raise AssertionError("something was solved")

    data, labels = load_breast_cancer(return_X_y=True)
    data = (data - data.mean(axis=0)) / data.std(axis=0)
    model = SVC(engine="numpy").partial_fit(data[:300], labels[:300])
    model.partial_fit(data[300:301], labels[300:301])
    fresh = SVC(engine="numpy", gamma=model.kernel_.gamma).fit(data[:301], labels[:301]).n_iter_[0]
    for place in (
        "core.trackers.backup.solved",
        "analysis.paths.continuing.solve",
        "analysis.multiclass.one_vs_one.solved",
    ):
        monkeypatch.setattr(f"refsvm.{place}", refused)
    events = []
    for i in range(301, 321):
        model.partial_fit(data[i : i + 1], labels[i : i + 1])
        events.append(int(model.n_iter_[0]))
    model.forget(0)
    assert max(events) < fresh / 4
    assert len(set(events)) > 1  # some examples move others, some do not


@pytest.mark.parametrize(("model", "y"), MODELS)
def test_copies_go_their_own_ways(model: Any, y: Any) -> None:
    model = fresh(model).partial_fit(X[:40], part(y, slice(40)))
    other = copy.copy(model)
    model.partial_fit(X[40:43], part(y, slice(40, 43)))
    other.partial_fit(X[60:63], part(y, slice(60, 63)))
    model.partial_fit(X[43:44], part(y, slice(43, 44)))
    assert_same(model, y, np.arange(44))
    assert_same(other, y, np.append(np.arange(40), [60, 61, 62]))


@pytest.mark.parametrize(("model", "y"), MODELS)
def test_weights_come_with_their_examples(model: Any, y: Any) -> None:
    weights = 1.0 + np.arange(60) % 3
    weights[[7, 55]] = 0.0
    model = fresh(model)
    for chosen in (slice(0, 40), slice(40, 60)):
        model.partial_fit(X[chosen], part(y, chosen), sample_weight=weights[chosen])
    assert_same(model, y, np.arange(60), weights)


def test_gamma_and_class_weights_are_those_of_the_first_call() -> None:
    model = SVC(class_weight="balanced", engine="numpy").partial_fit(X[:40], Y[:40])
    kernel, weights = model.kernel_, model.class_weight_
    model.partial_fit(10.0 * X[40:], Y[40:])
    assert model.kernel_ == kernel
    np.testing.assert_array_equal(model.class_weight_, weights)


def test_sparse_rows_and_kernels_of_ones_own() -> None:
    dense = SVC(gamma=0.5, engine="numpy").partial_fit(X[:40], Y[:40]).partial_fit(X[40:], Y[40:])
    sparse = SVC(gamma=0.5, engine="numpy").partial_fit(csr_array(X[:40]), Y[:40])
    sparse.partial_fit(csr_array(X[40:]), Y[40:])
    assert sparse.dual_objective_ == pytest.approx(dense.dual_objective_, rel=1e-9)
    own = SVC(C=0.1, kernel=lambda A, B: A @ B.T, engine="numpy").partial_fit(X[:40], Y[:40])
    own.partial_fit(X[40:], Y[40:])
    whole = SVC(C=0.1, kernel="linear", tol=1e-9).fit(X, Y)
    assert own.dual_objective_ == pytest.approx(whole.dual_objective_, rel=1e-8)
    np.testing.assert_allclose(own.decision_function(X), whole.decision_function(X), atol=1e-6)


@pytest.mark.parametrize(
    ("model", "y", "reason"),
    [
        (SVC(gamma=0.5), Y, "fit keeps support vectors only"),
        (SVR(gamma=0.5), TARGETS, "fit cannot be continued"),
    ],
)
def test_partial_fit_begins_anew_after_fit(model: Any, y: Any, reason: str) -> None:
    model.partial_fit(X[:40], y[:40]).fit(X[:30], y[:30])
    with pytest.warns(UserWarning, match=f"partial_fit drops the fitted model, because {reason}"):
        model.partial_fit(X[:50], y[:50])
    assert model.shape_fit_ == (50, 2)


def inner_products(A: Any, B: Any) -> Any:
    """A kernel of the user's own."""
    return A @ B.T


@pytest.mark.parametrize("how", ["fit", "partial_fit"])
@pytest.mark.parametrize("kernel", ["rbf", inner_products], ids=["rbf", "of the user"])
@pytest.mark.parametrize(("model", "y"), MODELS)
def test_what_the_caller_writes_to_sparse_rows_later_changes_nothing(
    model: Any, y: Any, kernel: Any, how: str
) -> None:
    """`tests/test_arrays.py` writes to dense rows, targets and weights."""
    models = [fresh(model).set_params(kernel=kernel, **({} if y is None else {"C": 0.5})) for _ in range(2)]
    for rows in [slice(0, 40)] if how == "fit" else [slice(0, 30), slice(30, 50)]:
        given = [csr_array(X[rows]) for _ in models]
        for each, part_of_X in zip(models, given, strict=True):
            getattr(each, how)(part_of_X, part(y, rows))
        given[1].data[:] = np.nan
    for ask in ["predict"] if y is not TARGETS else ["predict", "predict_interval"]:
        np.testing.assert_array_equal(*(getattr(each, ask)(csr_array(X[:9])) for each in models))
    if how == "partial_fit" or y is TARGETS:
        np.testing.assert_array_equal(*(each.forget([1, 2]).predict(csr_array(X)) for each in models))


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda model: model.partial_fit(X[40:42], [1, 7]), "y contains the new class 7"),
        (lambda model: model.partial_fit(X[40:42], [1, 0], sample_weight=[1.0, np.nan]), "NaN"),
        (lambda model: model.partial_fit(X[40:42, :1], [1, 0]), "features"),
        (lambda model: model.forget(np.flatnonzero(THREE[:40] == 2)), "would leave the class 2 without"),
        (lambda model: model.forget([0, 40]), "from 0 to 39|positions"),
        (lambda model: model.set_params(cache_size=0.01).partial_fit(X[40:], THREE[40:]), "raise cache_size"),
    ],
)
def test_a_model_stays_as_it_was_where_a_call_is_refused(call: Any, sentence: str) -> None:
    model = SVC(gamma=0.5, engine="numpy").partial_fit(X[:40], THREE[:40])
    before = model.decision_function(X)
    with pytest.raises(ValueError, match=sentence):
        call(model)
    np.testing.assert_array_equal(model.decision_function(X), before)
    model.set_params(cache_size=200, tol=1e-10).partial_fit(X[40:60], THREE[40:60])
    assert_same(model, THREE, np.arange(60))


def test_a_first_call_that_is_refused_leaves_nothing() -> None:
    model = SVC(gamma=0.5, engine="numpy")
    with pytest.raises(ValueError, match="The weights leave the class 2 without examples"):
        model.partial_fit(X, THREE, sample_weight=np.where(THREE == 2, 0.0, 1.0))
    assert not hasattr(model, "classes_")


@pytest.mark.parametrize(("model", "y"), MODELS)
def test_a_batch_of_weight_zero_is_held_and_counts_for_nothing(model: Any, y: Any) -> None:
    model = fresh(model).partial_fit(X[:30], part(y, slice(30)))
    for weight in (0.0, -1.0):
        model.partial_fit(X[30:31], part(y, slice(30, 31)), sample_weight=[weight])
    assert model.shape_fit_ == (32, 2)
    model.partial_fit(X[31:50], part(y, slice(31, 50)))
    chosen = np.array([*range(31), 30, *range(31, 50)])
    weights = np.ones(90)
    weights[30] = 0.0
    assert_same(model, y, chosen, weights)


CHANGES: Any = [
    pytest.param(MODELS[0].values[0], Y, {"C": 0.7}, id="C of two classes"),
    pytest.param(MODELS[1].values[0], THREE, {"C": 20.0}, id="C of three classes"),
    pytest.param(MODELS[2].values[0], TARGETS, {"C": 0.7, "epsilon": 0.02}, id="C and epsilon"),
    pytest.param(MODELS[3].values[0], None, {"nu": 0.6}, id="nu"),
]


@pytest.mark.parametrize(("model", "y", "changes"), CHANGES)
def test_a_new_setting_is_that_of_all_examples(model: Any, y: Any, changes: dict[str, float]) -> None:
    before = {name: getattr(model, name) for name in changes}
    weights = 1.0 + np.arange(90) % 3
    model = fresh(model).partial_fit(X[:40], part(y, slice(40)), sample_weight=weights[:40])
    model.set_params(**changes)
    model.partial_fit(X[40:60], part(y, slice(40, 60)), sample_weight=weights[40:60])
    assert_same(model, y, np.arange(60), weights)
    model.set_params(**before).forget([0, 59])
    assert_same(model, y, np.arange(1, 59), weights)


@pytest.mark.parametrize(
    ("first", "then", "sentence"),
    [
        ({"gamma": 0.5}, {"gamma": 5.0}, r"gamma=5\.0, but .* trained with gamma=0\.5"),
        ({"gamma": "scale"}, {"gamma": "auto"}, "gamma='auto'"),
        ({"kernel": "poly"}, {"degree": 2}, "degree=2"),
        ({"kernel": "rbf"}, {"kernel": "linear"}, "kernel='linear'"),
        ({"kernel": RBF(0.5)}, {"kernel": RBF(0.7)}, r"kernel=RBF\(gamma=0.7\).*kernel=RBF\(gamma=0.5\)"),
        ({"kernel": RBF(0.5)}, {"kernel": "linear"}, "kernel='linear'"),
        ({"class_weight": {1: 2.0}}, {"class_weight": {1: 3.0}}, "class_weight"),
        ({}, {"C": -1.0}, "'C' parameter"),
        ({}, {"C": np.inf}, "an infinite bound"),
    ],
)
def test_another_kernel_is_refused_and_what_is_held_stays(
    first: dict[str, Any], then: dict[str, Any], sentence: str
) -> None:
    model = SVC(**{"engine": "numpy", **first}).partial_fit(X[:40], Y[:40])
    now = {name: getattr(model, name) for name in then}
    before = model.decision_function(X)
    model.set_params(**then)
    with pytest.raises(ValueError, match=sentence):
        model.partial_fit(X[40:], Y[40:])
    with pytest.raises(ValueError, match=sentence):
        model.forget(0)
    np.testing.assert_array_equal(model.decision_function(X), before)
    model.set_params(**now).partial_fit(X[40:60], Y[40:60])
    whole = SVC(**{"tol": 1e-10, **first, "kernel": model.kernel_}).fit(X[:60], Y[:60])
    assert model.dual_objective_ == pytest.approx(whole.dual_objective_, rel=1e-8)


def test_the_same_kernel_in_other_words_is_taken() -> None:
    model = SVC(gamma=0.5, degree=2, engine="numpy").partial_fit(X[:40], Y[:40])
    model.set_params(degree=5, gamma=0.5, tol=1e-4).partial_fit(X[40:50], Y[40:50])
    model.set_params(kernel=RBF(0.5), gamma="auto").partial_fit(X[50:60], Y[50:60])
    again = pickle.loads(pickle.dumps(model)).set_params(kernel="rbf", gamma=0.5)
    assert_same(again.forget(3), Y, np.delete(np.arange(60), 3))


def test_forget_takes_a_mask() -> None:
    model = SVC(gamma=0.5, engine="numpy").partial_fit(X[:40], Y[:40])
    gone = np.arange(40) % 7 == 0
    assert_same(model.forget(gone), Y, np.flatnonzero(~gone))


def test_targets_far_from_zero_are_as_exact_as_rounding_allows() -> None:
    """Rounding of targets of 3e7 is 4e-9: a gap below that is not asked for, and what is reached has converged."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2))
    y = 0.01 * X[:, 0] + 0.003 * rng.normal(size=30) + 3e7
    model = SVR(gamma=0.1, C=0.03, epsilon=1e-3, engine="numpy")
    for batch in (slice(0, 20), slice(20, 30)):  # a warning is an error here
        model.partial_fit(X[batch], y[batch])
    assert model.fit_status_ == 0
    near = SVR(gamma=0.1, C=0.03, epsilon=1e-3, tol=1e-6, engine="numpy").fit(X, y - 3e7)
    assert model.predict(X) - 3e7 == pytest.approx(near.predict(X), abs=1e-5)
