"""Kernels of the user: they may write to what they get, and must return real numbers."""

import warnings
from dataclasses import dataclass

import numpy as np
import pytest

from refsvm import DualProblem, Kernel, cross_validate, leave_one_out, regularization_path, solve

X = np.random.default_rng(0).normal(size=(40, 3))
Y = np.where(X[:, 0] > 0, 1, -1)


def cosine(A, B):
    A /= np.linalg.norm(A, axis=1, keepdims=True)
    B /= np.linalg.norm(B, axis=1, keepdims=True)
    return A @ B.T


def doubling(A, B):
    K = A @ B.T
    A *= 2.0
    B[:] = 0.0
    return K


def turning(A, B):
    return (1.0 + A @ B.T + 1j * (A[:, :1] * B[:, 1] - A[:, 1:2] * B[:, 0])) / 2.0


CALLS = {
    "solve": lambda k, Q: solve(DualProblem.classification(Q, Y, kernel=k)),
    "solve of few rows": lambda k, Q: solve(DualProblem.classification(Q, Y, kernel=k), cache_mb=0.002),
    "leave_one_out": lambda k, Q: leave_one_out(Q, Y, kernel=k),
    "cross_validate": lambda k, Q: cross_validate(Q, Y, kernel=k, folds=3, rng=0),
    "path": lambda k, Q: regularization_path(X, Y, kernel=k, C_max=0.1).decision_function(Q, 0.1),
    "SVC.fit": lambda k, Q: svm().SVC(kernel=k).fit(Q, Y),
    "SVC.fit of few rows": lambda k, Q: svm().SVC(kernel=k, cache_size=0.002).fit(Q, Y),
    "SVC.predict": lambda k, Q: svm().SVC(kernel=k).fit(X.copy(), Y).predict(Q),
    "SVC.partial_fit": lambda k, Q: (
        svm().SVC(kernel=k).partial_fit(Q[:30], Y[:30]).partial_fit(Q[30:], Y[30:])
    ),
    "SVR.fit": lambda k, Q: svm().SVR(kernel=k).fit(Q, X[:, 1]),
    "SVR.predict_interval": lambda k, Q: (
        svm().SVR(kernel=k).partial_fit(X.copy(), X[:, 1]).predict_interval(Q)
    ),
    "OneClassSVM.fit": lambda k, Q: svm().OneClassSVM(kernel=k).fit(Q).decision_function(Q),
    "SVCCV.fit": lambda k, Q: svm().SVCCV(kernel=k, Cs=[1.0], cv=3).fit(Q, Y).predict(Q),
    "SVRCV.fit": lambda k, Q: svm().SVRCV(kernel=k, Cs=[1.0], cv=3).fit(Q, X[:, 1]).predict(Q),
}


def svm():
    return pytest.importorskip("refsvm.estimators")


@pytest.mark.parametrize("kernel", [cosine, doubling])
@pytest.mark.parametrize("name", CALLS)
def test_a_kernel_that_works_in_place_changes_nothing_of_the_callers(name, kernel):
    pytest.importorskip("scipy")  # of paths
    Q = X.copy()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a cosine that knows one point less than the data
        CALLS[name](kernel, Q)
    np.testing.assert_array_equal(Q, X)


def test_what_works_in_place_is_trained_as_what_does_not():
    alike = solve(DualProblem.classification(X, Y, kernel=lambda A, B: A @ B.T, C=1.0), engine="numpy")
    found = solve(DualProblem.classification(X, Y, kernel=doubling, C=1.0), engine="numpy")
    np.testing.assert_array_equal(found.alpha, alike.alpha)


@pytest.mark.parametrize("kernel", [turning, lambda A, B: turning(A, B).astype(np.complex64),
                                    lambda A, B: (A @ B.T).astype(complex),
                                    lambda A, B: turning(A, B).astype(object)])  # fmt: skip
@pytest.mark.parametrize("name", CALLS)
def test_a_complex_kernel_is_refused(name, kernel):
    with pytest.raises(ValueError, match="kernel callable returned complex values"):
        CALLS[name](kernel, X.copy())


def masked(A, B):
    return np.ma.masked_greater(A @ B.T, 1.0)


@dataclass(frozen=True)
class Masking(Kernel):
    """Roots of negative products are masked."""

    def from_inner(self, inner, x_norms, z_norms):
        return np.ma.sqrt(inner)


@pytest.mark.parametrize("name", CALLS)
def test_a_masked_array_is_not_taken_without_its_mask(name):
    with pytest.raises(ValueError, match="kernel callable returned masked values"):
        CALLS[name](masked, X.copy())
    with pytest.raises(ValueError, match="returned a masked array"):
        CALLS[name](Masking(), X.copy())


def test_a_mask_that_hides_nothing_is_passed_over():
    plain = DualProblem.classification(X, Y, kernel=lambda A, B: A @ B.T)
    found = DualProblem.classification(X, Y, kernel=lambda A, B: np.ma.masked_array(A @ B.T))
    np.testing.assert_array_equal(solve(plain, engine="numpy").alpha, solve(found, engine="numpy").alpha)


@dataclass(frozen=True)
class Turning(Kernel):
    def from_inner(self, inner, x_norms, z_norms):
        return inner + 0.5j * inner


class Matrix:
    n = 40

    def block(self, rows, columns=None):
        K = (X @ X.T)[rows] if columns is None else (X @ X.T)[np.ix_(rows, columns)]
        rows[:] = 0
        return K


def test_a_complex_kernel_function_and_matrix_are_refused():
    with pytest.raises(ValueError, match=r"kernel=Turning\(\) returned complex values"):
        solve(DualProblem.classification(X, Y, kernel=Turning()))
    with pytest.raises(ValueError, match="gram"):
        DualProblem.classification(y=Y, gram=Complex())


@dataclass(frozen=True)
class Branch(Kernel):
    """√(± x·z), which NumPy's `emath` makes complex below 0 alone."""

    sign: float

    def from_inner(self, inner, x_norms, z_norms):
        return np.emath.sqrt(self.sign * inner)


def test_a_kernel_function_is_tried_between_two_points_that_are_near():
    """It may be complex for products that no data have: those of data without negative features are tried."""
    found = solve(DualProblem.classification(np.abs(X), Y, kernel=Branch(1.0)), engine="numpy")
    np.testing.assert_allclose(found.problem.gram.block(np.arange(3)), np.sqrt(np.abs(X)[:3] @ np.abs(X).T))
    with pytest.raises(ValueError, match=r"kernel=Branch\(sign=-1.0\) returned complex values"):
        DualProblem.classification(np.abs(X), Y, kernel=Branch(-1.0))


@dataclass(frozen=True)
class OfOneShape(Kernel):
    """A kernel that wants an inner product of each pair of norms."""

    def from_inner(self, inner, x_norms, z_norms):
        assert inner.shape == (len(x_norms), len(z_norms))
        return inner + 1.0


def test_a_kernel_is_asked_for_as_many_values_as_there_are_pairs():
    found = solve(DualProblem.classification(X, Y, kernel=OfOneShape()), engine="numpy")
    alike = solve(DualProblem.classification(X, Y, kernel=lambda A, B: A @ B.T), engine="numpy")
    assert found.objective == pytest.approx(alike.objective, rel=1e-4)


class Complex(Matrix):
    def block(self, rows, columns=None):
        return super().block(rows, columns) + 0j


def test_an_object_may_write_to_the_rows_that_it_is_asked_for():
    found = solve(DualProblem.classification(y=Y, gram=Matrix()), engine="numpy")
    alike = solve(DualProblem.classification(y=Y, gram=X @ X.T), engine="numpy")
    assert found.objective == pytest.approx(alike.objective, rel=1e-6)


@pytest.mark.parametrize("value", ["a", {}])
def test_values_that_are_no_numbers_are_refused(value):
    with pytest.raises(ValueError, match="must return one real number for each pair"):
        solve(DualProblem.classification(X, Y, kernel=lambda A, B: [[value] * len(B)] * len(A)))
