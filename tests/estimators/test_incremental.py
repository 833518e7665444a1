"""partial_fit and forget: always the model of the examples that are there."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sklearn")
pytest.importorskip("scipy")
from scipy.sparse import csr_array

from refsvm import SVC, SVR, OneClassSVM
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
    np.testing.assert_allclose(
        model.decision_function(X) if y is not TARGETS else model.predict(X),
        whole.decision_function(X) if y is not TARGETS else whole.predict(X),
        atol=1e-5,
    )
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


def test_fit_begins_anew() -> None:
    model = SVC(gamma=0.5).partial_fit(X[:40], Y[:40])
    model.fit(X[:30], Y[:30])
    with pytest.raises(ValueError, match="forget needs the examples"):
        model.forget(0)
    with pytest.warns(UserWarning, match="begins anew: fit has kept support vectors only"):
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
    with pytest.raises(ValueError, match="keep one"):
        OneClassSVM().partial_fit(X[:3]).forget([0, 1, 2])
    with pytest.raises(ValueError, match="where the kernel itself is known"):
        SVC(kernel="precomputed").partial_fit(X @ X.T, Y).forget(0)
