"""Named kernels: γ as scikit-learn resolves it, and weights in its variance."""

import numpy as np
import pytest

from refsvm import RBF, Linear, Polynomial, Precomputed, Sigmoid
from refsvm.services.names import (
    KERNELS,
    gamma_on,
    kernel_called,
    of_features,
)

sparse = pytest.importorskip("scipy.sparse")

X = np.array([[0.0, 3.0], [1.0, 0.0], [5.0, 2.0]])
CONTAINERS = [np.asarray, sparse.csr_array]


def test_a_kernel_takes_the_parameters_it_has():
    made = [kernel_called(name, X, gamma=0.5, degree=2, coef0=1) for name in KERNELS]
    assert made == [Linear(), Polynomial(2, 0.5, 1.0), RBF(0.5), Sigmoid(0.5, 1.0), Precomputed()]


def test_parameters_that_are_not_given_are_those_of_libsvm():
    expected = [Polynomial(3, 0.5, 0.0), Sigmoid(0.5, 0.0)]
    assert [kernel_called(name, X, gamma=0.5) for name in ("poly", "sigmoid")] == expected
    assert kernel_called("rbf", X) == RBF(gamma_on(X, "scale"))


@pytest.mark.parametrize("container", CONTAINERS, ids=["dense", "csr"])
def test_gamma(container):
    data = container(X)
    assert gamma_on(data, "auto") == 0.5
    assert gamma_on(data, "scale") == pytest.approx(1 / (2 * X.var()), rel=1e-14)
    assert gamma_on(data, 3) == 3.0
    weights = np.array([2.0, 0.0, 3.0])
    copies = np.repeat(X, [2, 0, 3], axis=0)
    assert gamma_on(data, "scale", weights) == pytest.approx(1 / (2 * copies.var()), rel=1e-14)
    assert gamma_on(data, "scale", weights / 7) == pytest.approx(1 / (2 * copies.var()), rel=1e-14)


@pytest.mark.parametrize("container", CONTAINERS, ids=["dense", "csr"])
def test_the_variance_survives_a_large_mean(container):
    assert gamma_on(container(X + 1e7), "scale") == pytest.approx(gamma_on(X, "scale"), rel=1e-6)


@pytest.mark.parametrize("container", CONTAINERS, ids=["dense", "csr"])
def test_constant_data_and_extreme_ones(container):
    assert gamma_on(container(np.zeros((3, 2))), "scale") == 1.0
    assert gamma_on(container(np.full((3, 2), 7.0)), "scale") == 1.0
    with pytest.raises(ValueError, match=r"gives 0\.0 on data of variance inf; scale the features"):
        gamma_on(container(X * 1e200), "scale")
    with pytest.raises(ValueError, match="gives inf on data of variance"):
        gamma_on(container(X * 1e-160), "scale")


def test_entries_that_stand_twice_count_as_their_sum():
    dense = np.array([[2.0, 0.0], [4.0, 1.0], [6.0, 0.0], [9.0, 3.0]])
    columns, ends = np.array([0, 0, 0, 1, 0, 0, 1, 0, 1, 1]), np.array([0, 2, 4, 6, 10])
    parts = np.array([0.5, 1.5, 4.0, 1.0, 2.0, 4.0, 2.0, 9.0, 0.5, 0.5])
    doubled = sparse.csr_matrix((parts, columns, ends), shape=(4, 2))
    np.testing.assert_array_equal(doubled.toarray(), dense)
    for weights in (None, np.array([1.0, 2.0, 0.5, 3.0])):
        expected = gamma_on(dense, "scale", weights)
        assert gamma_on(doubled, "scale", weights) == pytest.approx(expected, rel=1e-14)
    assert doubled.nnz == 10  # the caller's matrix is as it was


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf", "sigmoid", "zeta", None])
def test_one_gamma_for_each_feature_is_for_the_kernel_of_distances_alone(kernel):
    if kernel in ("rbf", None):
        assert of_features([0.5, 2.0], *([kernel] if kernel else [])) == (0.5, 2.0)
    else:
        with pytest.raises(ValueError, match=f"gamma has 2 entries, but kernel='{kernel}' takes one number"):
            of_features([0.5, 2.0], kernel)
