"""Where the origin of the features matters, a warning says if rounding moves decision values by more than ε."""

import warnings

import numpy as np
import pytest
from scipy import sparse

from refsvm import (
    RBF,
    SVC,
    SVR,
    Cold,
    DualProblem,
    Linear,
    OneClassSVM,
    Polynomial,
    Precomputed,
    cross_validate,
    leave_one_out,
    solve,
)  # fmt: skip
from refsvm.kernels.origin import origin_of

from .settings import FAST
from .test_origin import OFFSETS, data


def said(run):
    """Return whether the warning about rounding was given."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        run()
    return any("rounding moves decision values" in str(each.message) for each in caught)


STAMPS, TWO = np.array([[1.0, 1e8], [2.0, 1e8]]), np.array([-1, 1])
HOLES = sparse.csr_array(np.array([[1e8, 1.0], [1e8, 2.0], [0.0, 1.0], [0.0, 2.0]]))


@pytest.mark.parametrize(
    "run",
    [
        lambda: SVC(kernel="poly", degree=2, gamma=0.5, engine="numpy").fit(STAMPS, TWO),
        lambda: solve(DualProblem.classification(STAMPS, TWO, kernel=Polynomial(2, 0.5)), engine="numpy"),
        lambda: solve(
            DualProblem.classification(STAMPS @ STAMPS.T, TWO, kernel=Precomputed()), engine="numpy"
        ),
        lambda: solve(DualProblem.classification(STAMPS, TWO, kernel=lambda X, Z: X @ Z.T), engine="numpy"),
        lambda: SVC(kernel="linear", engine="numpy").fit(HOLES, [-1, 1, 1, -1]),
        lambda: OneClassSVM(kernel="linear", engine="numpy").fit(data(OFFSETS[1])[0]),
        lambda: cross_validate(
            np.repeat(STAMPS, 2, axis=0),
            [-1, -1, 1, 1],
            kernel=Polynomial(2, 0.5),
            folds=[0, 1, 0, 1],
            engine=FAST,
        ),
        lambda: cross_validate(
            np.repeat(STAMPS, 2, axis=0),
            [-1, -1, 1, 1],
            kernel=Polynomial(2, 0.5),
            folds=[0, 1, 0, 1],
            seeder=Cold(),
            engine=FAST,
        ),
        lambda: leave_one_out(
            np.repeat(STAMPS, 2, axis=0), [-1, -1, 1, 1], kernel=Polynomial(2, 0.5), engine=FAST
        ),
    ],
    ids=["SVC", "solve", "array", "callable", "sparse", "one-class", "folds", "cold folds", "left out"],
)
def test_rounding_that_moves_decision_values_is_said(run):
    assert said(run)


@pytest.mark.parametrize("place", [1e7, 1e9])
def test_rounding_of_sparse_distances_is_said(place):
    """CSR data are not moved for a kernel of distances; the same data as an array are, and lose nothing."""
    _, near, y, t = data(OFFSETS[0])
    folds = np.arange(len(y)) % 3
    for run in (
        lambda X: solve(DualProblem.classification(X, y, kernel=RBF(0.1), C=100.0), engine=FAST),
        lambda X: solve(DualProblem.regression(X, t, kernel=RBF(0.1), C=100.0), engine="numpy"),
        lambda X: SVC(gamma=0.1, C=100.0, engine="numpy").fit(X, y),
        lambda X: SVR(gamma=0.1, C=100.0, engine="numpy").fit(X, t),
        lambda X: OneClassSVM(gamma=0.1, nu=0.9, tol=1e-4, engine="numpy").fit(X),
        lambda X: cross_validate(X, y, kernel=RBF(0.1), C=100.0, folds=folds, engine=FAST),
        lambda X: SVC(gamma=0.1, C=100.0, engine="numpy").partial_fit(X, y, classes=[-1, 1]),
    ):
        assert said(lambda f=run: f(sparse.csr_array(near + place)))
        assert not said(lambda f=run: f(near + place))
        assert not said(lambda f=run: f(sparse.csr_array(near)))


def test_sparse_examples_that_are_far_apart_round_to_a_kernel_of_zero():
    _, near, y, _ = data(OFFSETS[0])
    problem = DualProblem.classification(sparse.csr_array(near * 1e7), y, kernel=RBF(1.0))
    assert not said(lambda: solve(problem, engine="numpy"))


def test_large_features_around_zero_are_no_reason_for_a_warning():
    _, near, y, _ = data(OFFSETS[0])
    for kernel, X, C in (
        (Linear(), near * 1e6, 1e-15),
        (Polynomial(2, 1.0, 1.0), near * 1e6, 1e-30),
        (Precomputed(), near @ near.T * 1e12, 1e-15),
    ):
        problem = DualProblem.classification(X, y, kernel=kernel, C=C)
        assert not said(lambda p=problem: solve(p, engine="numpy", max_iter=1000))


def test_wide_sparse_data_take_no_memory_for_an_origin():
    indices, starts = np.array([0, 5, 0, 9]), np.array([0, 2, 4])
    X = sparse.csr_array((np.array([1e9, 1.0, 1e9, 2.0]), indices, starts), shape=(2, 2 * 10**9))
    assert origin_of(X) is None
