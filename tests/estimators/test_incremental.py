"""partial_fit and forget: always the model of the examples that are there."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sklearn")
pytest.importorskip("scipy")
from scipy.sparse import csr_array

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


def two_classes(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Some 350 examples of two classes, in a fixed random order."""
    from sklearn.datasets import load_breast_cancer, load_digits

    features, labels = (load_digits if name == "digits" else load_breast_cancer)(return_X_y=True)
    if name == "digits":
        features, labels = features[np.isin(labels, (1, 8))], labels[np.isin(labels, (1, 8))]
    order = np.random.default_rng(0).permutation(len(labels))[:350]
    features, labels = features[order], labels[order]
    return (features - features.mean(axis=0)) / np.maximum(features.std(axis=0), 1e-3), labels


def test_it_goes_by_events_and_takes_no_step_of_smo(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: Any, **__: Any) -> None:
        raise AssertionError("something was solved")

    data, labels = two_classes("breast cancer")
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


def test_fit_begins_anew() -> None:
    model = SVC(gamma=0.5).partial_fit(X[:40], Y[:40])
    model.fit(X[:30], Y[:30])
    with pytest.raises(ValueError, match="forget needs the training examples"):
        model.forget(0)
    with pytest.warns(
        UserWarning, match="partial_fit drops the fitted model, since fit keeps support vectors only"
    ):
        model.partial_fit(X[:50], Y[:50])
    assert model.shape_fit_ == (50, 2)


def test_what_cannot_be_is_said() -> None:
    with pytest.raises(ValueError, match="no example of class 3"):
        SVC().partial_fit(X[:40], Y[:40], classes=[-1, 1, 3])
    model = SVC(gamma=0.5).partial_fit(X[:40], Y[:40], classes=[-1, 1])
    with pytest.raises(ValueError, match="y contains the new class 7"):
        model.partial_fit(X[40:42], [1, 7])
    with pytest.raises(ValueError, match="class"):
        model.forget(np.flatnonzero(Y[:40] > 0))
    with pytest.raises(ValueError, match="raise cache_size, or use fit"):
        SVC(cache_size=0.01).partial_fit(X, Y)
    with pytest.raises(ValueError, match="keep at least one"):
        OneClassSVM().partial_fit(X[:3]).forget([0, 1, 2])
    with pytest.raises(ValueError, match="gives no kernel function for new examples"):
        SVC(kernel="precomputed").partial_fit(X @ X.T, Y).forget(0)


@pytest.mark.slow
def test_intervals_hold_targets_like_those_before() -> None:
    held = TARGETS + 0.2 * np.random.default_rng(0).normal(size=len(X))
    model = SVR(gamma=0.5, C=5.0, engine="numpy").partial_fit(X[:30], held[:30])
    model.partial_fit(X[30:40], held[30:40])
    low, high = model.predict_interval(X[40:50], confidence=0.8).T
    wider = model.predict_interval(csr_array(X[40:43]), confidence=0.9)
    assert (wider[:, 0] <= low[:3]).all()
    assert (wider[:, 1] >= high[:3]).all()
    assert np.count_nonzero((low <= held[40:50]) & (held[40:50] <= high)) >= 4
    whole = SVR(gamma=0.5, C=5.0, engine="numpy").partial_fit(X[:40], held[:40])
    np.testing.assert_allclose([low[:2], high[:2]], whole.predict_interval(X[40:42], 0.8).T, atol=1e-6)
    with pytest.raises(ValueError, match="keep_examples"):
        SVR(keep_examples=False).fit(X, TARGETS).predict_interval(X)


def in_buffer(buffer: Any, rows: Any) -> Any:
    """The rows in one piece of memory that is used again and again; `buffer` says how."""
    memory = np.array(X[rows])
    return csr_array(memory) if buffer == "sparse" else memory


@pytest.mark.parametrize("buffer", ["dense", "sparse"])
@pytest.mark.parametrize(("model", "y"), MODELS)
def test_a_buffer_that_is_used_again_changes_nothing(model: Any, y: Any, buffer: str) -> None:
    model = fresh(model)
    for rows in (slice(0, 30), slice(30, 60)):
        given, targets = in_buffer(buffer, rows), part(y, rows)
        targets = None if y is None else targets.copy()
        weights = np.full(30, 2.0)
        model.partial_fit(given, targets, sample_weight=weights)
        (given.data if buffer == "sparse" else given)[...] = np.nan
        weights[:] = np.nan
        if targets is not None:
            targets[:] = -1000
    assert_same(model, y, np.arange(60), np.full(60, 2.0))


def test_examples_of_a_kernel_of_ones_own_are_copied() -> None:
    given = X[:40].copy()
    model = SVC(kernel=lambda A, B: A @ B.T, engine="numpy").fit(given, Y[:40])
    novelty = OneClassSVM(kernel=lambda A, B: A @ B.T, nu=0.3, engine="numpy").fit(given)
    before = model.decision_function(X), novelty.decision_function(X)
    given[:] = np.nan
    np.testing.assert_array_equal(model.decision_function(X), before[0])
    np.testing.assert_array_equal(novelty.decision_function(X), before[1])


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
    with pytest.raises(ValueError, match="at least one positive"):
        fresh(model).partial_fit(X[:30], part(y, slice(30)), sample_weight=np.zeros(30))


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


def test_forget_takes_a_mask_and_keeps_every_class() -> None:
    model = SVC(gamma=0.5, engine="numpy").partial_fit(X[:40], Y[:40])
    gone = np.arange(40) % 7 == 0
    assert_same(model.forget(gone), Y, np.flatnonzero(~gone))
    with pytest.raises(
        ValueError, match=r"forget would leave the class 1\.0 without an example of positive weight"
    ):
        model.forget(Y[:40][~gone] > 0)
    with pytest.raises(ValueError, match="is not a list of positions"):
        model.forget([True, False])


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
