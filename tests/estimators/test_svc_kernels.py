"""SVC with kernels of every kind: named, given as a matrix, an object or a callable."""

import numpy as np
import pytest

pytest.importorskip("sklearn")

from scipy import sparse
from sklearn.model_selection import cross_val_score

from refsvm import RBF, SVC, Linear, Polynomial, Precomputed

from ..several_classes import examples
from .test_svc import TIGHT


@pytest.mark.parametrize("k", [2, 3])
def test_a_precomputed_kernel_equals_the_named_one(k):
    X, y = examples(k)
    T = examples(k, seed=9)[0]
    named, kernel = SVC(gamma=0.3, **TIGHT).fit(X, y), RBF(0.3)
    expected = named.decision_function(T)
    for precomputed in ("precomputed", Precomputed()):
        model = SVC(kernel=precomputed, **TIGHT).fit(kernel(X, X), y)
        values = kernel(T, X)
        np.testing.assert_allclose(model.decision_function(values), expected, rtol=0, atol=1e-6)
        assert model.support_vectors_.shape == (0, 0)
        # nothing but the columns of the support vectors counts
        values[:, np.setdiff1d(np.arange(len(y)), model.support_)] = 1e6
        assert np.array_equal(model.predict(values), named.predict(T))
        assert model.n_kernel_rows_ == 0


def test_cross_validation_cuts_a_precomputed_kernel_in_both_directions():
    X, y = examples(2)
    scores = cross_val_score(SVC(gamma=0.3), X, y, cv=4)
    assert np.array_equal(scores, cross_val_score(SVC(kernel="precomputed"), RBF(0.3)(X, X), y, cv=4))


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize(
    "kernel",
    [lambda X, Z: X @ Z.T, lambda X, Z: (X @ Z.T) ** 1, Linear()],
    ids=["as it comes", "copied", "object"],
)
def test_a_callable_or_an_object_equals_the_named_kernel(k, container, kernel):
    X, y = examples(k)
    model = SVC(kernel=kernel, **TIGHT).fit(container(X), y)
    named = SVC(kernel="linear", **TIGHT).fit(X, y)
    T = examples(k, seed=9)[0]
    ovo = {"decision_function_shape": "ovo"}
    found, expected = (
        m.set_params(**ovo).decision_function(Z) for m, Z in ((model, container(T)), (named, T))
    )
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5)


def test_a_callable_sees_blocks_of_the_examples_whatever_they_are():
    """A kernel on words: shared letters; examples that are no table of numbers."""
    words = ["ab", "abc", "bca", "xyz", "yz", "zzy", "cab", "xzy"]
    labels = ["early" if word[0] < "m" else "late" for word in words]

    def shared(X, Z):
        return np.array([[len(set(x) & set(z)) for z in Z] for x in X])

    model = SVC(kernel=shared, C=10.0).fit(words, labels)
    assert model.predict(["ba", "zx"]).tolist() == ["early", "late"]
    assert set(model.support_vectors_) <= set(words)
    assert not hasattr(model, "n_features_in_")


def test_an_object_brings_its_own_parameters():
    X, y = examples(2)
    model = SVC(kernel=Polynomial(2, 0.2, 1.0), degree=7, gamma=99.0, **TIGHT).fit(X, y)
    named = SVC(kernel="poly", degree=2, gamma=0.2, coef0=1.0, **TIGHT).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), named.decision_function(X), rtol=0, atol=1e-9)
    assert model.kernel_ == named.kernel_ == Polynomial(2, 0.2, 1.0)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_indices_of_64_bits_and_mixed_containers(kernel):
    X, y = examples(3, zeros=True)
    wide = sparse.csr_array(X)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    models = [SVC(kernel=kernel).fit(data, y) for data in (X, sparse.csc_matrix(X), wide)]
    values = [model.decision_function(data) for model in models for data in (X, sparse.coo_array(X), wide)]
    for value in values[1:]:
        np.testing.assert_allclose(value, values[0], rtol=0, atol=1e-9)
