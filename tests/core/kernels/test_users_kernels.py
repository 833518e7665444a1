"""Kernels of the user: they may write to what they get, and must return real numbers."""

import warnings
from collections.abc import Callable
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
    with warnings.catch_warnings(action="ignore"):  # of a cosine that knows one point less than the data
        CALLS[name](kernel, Q)
    np.testing.assert_array_equal(Q, X)


def turning(A, B):
    return (1.0 + A @ B.T + 1j * (A[:, :1] * B[:, 1] - A[:, 1:2] * B[:, 0])) / 2.0


@dataclass(frozen=True)
class Own(Kernel):
    """A kernel function of these products."""

    function: Callable

    def from_inner(self, inner, x_norms, z_norms):
        assert inner.shape == (len(x_norms), len(z_norms))
        return self.function(inner)


COMPLEX, MASKED, NUMBER = (
    "callable returned complex values",
    "callable returned masked",
    "return one real number",
)
BAD = [
    (turning, COMPLEX),
    (lambda A, B: turning(A, B).astype(np.complex64), COMPLEX),
    (lambda A, B: (A @ B.T).astype(complex), COMPLEX),
    (lambda A, B: turning(A, B).astype(object), COMPLEX),
    (lambda A, B: np.ma.masked_greater(A @ B.T, 1.0), MASKED),
    (lambda A, B: [["a"] * len(B)] * len(A), NUMBER),
    (lambda A, B: [[{}] * len(B)] * len(A), NUMBER),
    (lambda A, B: np.zeros(3), r"of shape \(3,\) for blocks of \d+ and \d+ rows; .*, shape \(\d+, \d+\)\."),
    (lambda A, B: np.zeros((len(A), 3)), r"of shape \(\d+, 3\) for blocks"),
    (lambda A, B: (A @ B.T).T[:2], "one value for each pair"),
    (lambda A, B: np.full((len(A), len(B)), np.nan), "takes the value nan, but kernel values"),
    (Own(np.ma.sqrt), "returned a masked array"),
    (Own(lambda inner: inner + 0.5j * inner), r"kernel=Own\(.*\) returned complex values"),
]


@pytest.mark.parametrize(("kernel", "words"), BAD)
@pytest.mark.parametrize("name", CALLS)
def test_what_a_kernel_must_not_return_is_refused(name, kernel, words):
    with pytest.raises(ValueError, match=words):
        CALLS[name](kernel, X.copy())


class Matrix:
    """It writes to the rows that it is asked for."""

    n = 40

    def block(self, rows, columns=None):
        K = (X @ X.T)[rows] if columns is None else (X @ X.T)[np.ix_(rows, columns)]
        rows[:] = 0
        return K


@pytest.mark.parametrize(
    "given",
    [
        {"kernel": doubling},
        {"kernel": lambda A, B: np.ma.masked_array(A @ B.T)},  # its mask hides nothing
        {"kernel": Own(lambda inner: inner + 1.0)},
        {"gram": Matrix()},
    ],
    ids=["in place", "without a mask", "of norms", "a matrix"],
)
def test_what_is_only_written_in_another_way_is_trained_as_it_is(given):
    alike = solve(DualProblem.classification(X, Y, kernel=lambda A, B: A @ B.T), engine="numpy")
    examples = None if "gram" in given else X
    found = solve(DualProblem.classification(examples, Y, **given), engine="numpy")
    np.testing.assert_allclose(found.alpha, alike.alpha, atol=1e-2 if "kernel" in given else 1e-6)
    assert found.objective == pytest.approx(alike.objective, rel=1e-4)


def test_a_kernel_function_is_tried_between_two_points_that_are_near():
    """It may be complex for products that no data have: those of data without negative features are tried."""
    root, other = Own(np.emath.sqrt), Own(lambda inner: np.emath.sqrt(-inner))
    found = solve(DualProblem.classification(np.abs(X), Y, kernel=root), engine="numpy")
    np.testing.assert_allclose(found.problem.gram.block(np.arange(3)), np.sqrt(np.abs(X)[:3] @ np.abs(X).T))
    with pytest.raises(ValueError, match=r"kernel=Own\(.*\) returned complex values"):
        DualProblem.classification(np.abs(X), Y, kernel=other)
