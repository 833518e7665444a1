"""forget gives a receipt, and keeps no number of the examples that are forgotten."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from refsvm import SVC, SVR, OneClassSVM

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3))
TARGETS = X[:, 0] + np.sin(X[:, 1]) + 0.1 * rng.normal(size=60)
TWO = np.where(TARGETS > 0.0, 1, -1)
THREE = np.digitize(TARGETS, [-0.6, 0.6])
GONE = np.array([3, 17, 40])
MODELS: Any = [
    pytest.param(SVC(engine="numpy", gamma=0.5, C=5.0), TWO, id="two classes"),
    pytest.param(SVC(engine="numpy", gamma=[0.5, 0.3, 0.1], C=5.0), THREE, id="three classes"),
    pytest.param(SVR(engine="numpy", gamma=0.5, C=5.0), TARGETS, id="regression"),
    pytest.param(OneClassSVM(engine="numpy", gamma=0.5, nu=0.3), None, id="novelty"),
    pytest.param(SVC(engine="numpy", kernel="linear", C=0.5), TWO, id="linear"),
]


def numbers_in(thing: Any, seen: set[int] | None = None) -> set[float]:
    """Return all floating-point numbers that are reachable from an object, spare room of arrays included."""
    seen = set() if seen is None else seen
    if id(thing) in seen or isinstance(thing, str | bytes | type):
        return set()
    seen.add(id(thing))
    if isinstance(thing, float):
        return {float(thing)}
    if sparse.issparse(thing):
        return numbers_in(thing.data, seen)
    if isinstance(thing, np.ndarray):
        found = set(np.ravel(thing).astype(float).tolist()) if thing.dtype.kind == "f" else set()
        return found | numbers_in(thing.base, seen)
    children: list[Any] = []
    if isinstance(thing, dict):
        children = [*thing.keys(), *thing.values()]
    elif isinstance(thing, list | tuple | set | frozenset):
        children = list(thing)
    elif hasattr(thing, "__dict__"):
        children = list(vars(thing).values())
    return set().union(*(numbers_in(each, seen) for each in children))


@pytest.mark.parametrize("container", [np.array, sparse.csr_matrix], ids=["dense", "sparse"])
@pytest.mark.parametrize(("model", "y"), MODELS)
def test_no_number_of_a_forgotten_example_is_left(model: Any, y: Any, container: Any) -> None:
    model = type(model)(**model.get_params()).partial_fit(container(X), y)
    its = set(X[GONE].ravel().tolist())
    kernel = model.kernel_(X, X)
    values = set(np.triu(kernel, 1)[GONE].ravel().tolist() + kernel[GONE, :3].ravel().tolist()) - {0.0, 1.0}
    if y is TARGETS:
        its |= set(TARGETS[GONE].tolist())
    assert its <= numbers_in(model)  # they are found while they are there
    others = np.delete(np.atleast_2d(model.alpha_), GONE, axis=1)
    alpha = set(np.atleast_2d(model.alpha_)[:, GONE].ravel().tolist()) - set(others.ravel().tolist())
    alpha -= {0.0, *(sign * bound for sign in (-1.0, 1.0) for bound in (0.5, 1.0, 5.0))}
    model.forget(GONE)
    for left in (model, pickle.loads(pickle.dumps(model)), model.__getstate__()):
        assert not (its | values | alpha) & numbers_in(left)


@pytest.mark.parametrize(("model", "y"), MODELS)
def test_the_receipt_is_the_gap_of_the_others(model: Any, y: Any) -> None:
    model = type(model)(**model.get_params()).partial_fit(X, y)
    assert not hasattr(model, "receipt_")
    assert model.forget(GONE) is model
    receipt = model.receipt_
    assert (receipt["forgotten"], receipt["left"]) == (3, 57)
    assert 0.0 <= receipt["kkt_gap"] < 1e-8
    assert pickle.loads(pickle.dumps(model)).receipt_ == receipt
    rest, whole = np.delete(np.arange(60), GONE), type(model)(**model.get_params()).set_params(tol=1e-10)
    whole.fit(X[rest], None if y is None else y[rest])
    np.testing.assert_allclose(model.dual_objective_, whole.dual_objective_, rtol=1e-8)
    model.forget(0)
    assert (model.receipt_["forgotten"], model.receipt_["left"]) == (1, 56)
    assert not hasattr(model.fit(X, y), "receipt_")


def test_a_wrong_alpha_is_seen_in_the_gap() -> None:
    model = SVC(engine="numpy", gamma=0.5, C=5.0).partial_fit(X, TWO).forget(GONE)
    model.binary_results_[0].alpha[:] *= 0.9
    assert model._gap_anew() > 1e-3
