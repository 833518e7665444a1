"""A common offset of the features changes nothing where the mathematics says so, and is said where it does not.

The truth is always the same problem with the offset subtracted beforehand, which is exact: all features are multiples
of 1/256 below 16, and the offsets are whole numbers.
"""

from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

from refsvm import (
    SVC,
    DualProblem,
    KKTGap,
    Linear,
    Polynomial,
    Precomputed,
    solve,
)  # fmt: skip
from refsvm.core.kernels import Gram
from refsvm.core.kernels.origin import moved, origin_of

from .settings import FAST

EXACT = {"stop": KKTGap(1e-8)}
BOTH = pytest.mark.parametrize("engine", sorted({"numpy", FAST}))
OFFSETS = [np.array([1e9, 1e9, 1e9]), np.array([0.0, -3e9, 0.0]), np.array([1e6, 1.7e9, 0.0])]
FAR = pytest.mark.parametrize("offset", OFFSETS, ids=["all", "one column", "two columns"])


def data(offset, n=24, seed=0):
    """Return X far from 0, the same near 0, labels and targets."""
    rng = np.random.default_rng(seed)
    near = np.round(rng.random((n, 3)) * 10.0 * 256.0) / 256.0
    y = np.where(near[:, 0] + 0.5 * near[:, 1] + rng.normal(size=n) > 7.5, 1, -1)
    far = near + offset
    assert np.array_equal(far - offset, near)
    return far, near - near.mean(axis=0).round(3), y, 0.3 * near[:, 0] + 0.1 * rng.normal(size=n)


def assert_near(found, truth, tol=1e-7):
    np.testing.assert_allclose(found, truth, rtol=0, atol=tol)


def test_gradient_intercept_and_kernel_matrix_are_those_of_the_data_as_given():
    far, _, y, _ = data(OFFSETS[1])
    problem = DualProblem.classification(far, y, kernel="linear", C=0.3)
    found = solve(problem, **EXACT, engine="numpy")
    exact = y - far.astype(np.longdouble) @ (found.alpha.astype(np.longdouble) @ (far - OFFSETS[1]))
    assert_near(found.gradient / 1e9, exact / 1e9, 1e-15)
    assert_near(problem.gradient(found.alpha) / 1e9, exact / 1e9, 1e-15)
    assert_near((found.decision_values - y + found.gradient - found.intercept) / 1e9, 0.0, 1e-15)
    np.testing.assert_allclose(problem.gram.block(np.arange(3)), far[:3] @ far.T, rtol=1e-15)
    assert found.problem is problem


def test_data_near_the_origin_stay_where_they_are():
    _, near, _, _ = data(OFFSETS[0])
    others = np.ones((5, 2)), near[:1], np.zeros((3, 2)), sparse.csr_array(near)
    for X in (near, near + 20.0, 0.1 * near + 3.5, *others):
        assert origin_of(X) is None
        gram = Gram(Linear(), X)
        assert gram.centred is gram
    for kernel in (Polynomial(2), Precomputed()):
        gram = Gram(kernel, np.full((2, 2), 1e9))
        assert gram.centred is gram


def test_sparse_features_that_all_rows_store_are_moved_and_others_stay():
    far, _, y, _ = data(OFFSETS[1])
    X = sparse.csr_array(np.where(np.arange(3) == 2, far * (far > 5.0), far))
    origin = origin_of(X)
    assert abs(origin[1] + 3e9) < 10.0
    assert origin[2] == 0.0
    assert np.array_equal(moved(X, origin).toarray(), X.toarray() - origin)
    model = SVC(kernel="linear", C=0.3, tol=1e-8, engine="numpy").fit(X, y)
    truth = SVC(kernel="linear", C=0.3, tol=1e-8, engine="numpy").fit(X.toarray() - [0.0, -3e9, 0.0], y)
    assert_near(model.decision_function(X), truth.decision_function(X.toarray() - [0.0, -3e9, 0.0]))
    nothing = sparse.csr_array((1, 3))  # a row that stores nothing is far away
    found, expected = model.decision_function(nothing), truth.decision_function([[0.0, 3e9, 0.0]])
    assert_near(found / 3e9, expected / 3e9, 1e-12)


@pytest.mark.skipif(np.finfo(np.longdouble).eps == np.finfo(float).eps, reason="needs extended precision")
def test_the_intercept_around_zero_is_right_where_large_summands_cancel():
    far, _, y, _ = data(np.array([1e9, -1e9, 0.0]))
    found = solve(DualProblem.classification(far, y, kernel="linear", C=0.3), **EXACT, engine="numpy")
    origin = [Fraction(c) for c in found.problem.centred.gram.origin.tolist()]
    rows = [[Fraction(value) for value in row] for row in far.tolist()]
    exact = sum(
        Fraction(a) * sum((x - c) * c for x, c in zip(row, origin, strict=True))
        for a, row in zip(found.alpha.tolist(), rows, strict=True)
    )
    assert abs(found.offset - float(exact)) < 1e-8 + 1.2e-16 * abs(float(exact))


def test_what_is_added_to_the_intercept_counts():
    far, _, y, _ = data(OFFSETS[0])
    model = SVC(kernel="linear", C=0.3, engine="numpy").fit(far, y)
    before = model.decision_function(far)
    model.intercept_ = model.intercept_ + 1024.0
    assert_near(model.decision_function(far), before + 1024.0)


@BOTH
@FAR
def test_examples_come_and_go_wherever_they_are(offset, engine):
    far, near, y, _ = data(offset)
    found, truth = (
        solve(DualProblem.classification(X[:-4], y[:-4], kernel="linear", C=0.3), **EXACT, engine=engine)
        for X in (far, near)
    )
    for change in (lambda s, X: s.problem.extended(X[-4:], y[-4:]), lambda s, X: s.problem.without([2, 5])):
        moved_on = [s.continue_to(change(s, X), engine=engine) for s, X in ((found, far), (truth, near))]
        assert_near(moved_on[0].decision_values, moved_on[1].decision_values)


@FAR
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
@pytest.mark.slow
def test_variables_that_are_fixed_leave_the_optimum_of_the_others(offset, container):
    """The sum of the others is not 0 then, but that of all is."""
    far, near, y, t = data(offset)
    for make, target in ((DualProblem.classification, y), (DualProblem.regression, t)):
        problem, truth = (make(each, target, kernel="linear", C=0.3) for each in (container(far), near))
        best = solve(truth, **EXACT, engine="numpy")
        B = np.append(np.flatnonzero(np.abs(best.alpha) < 0.3), best.alpha.argmax())
        assert abs(best.alpha[B].sum()) > 0.1
        part = problem.restrict(B, best.alpha)
        found = best.alpha.copy()
        found[B] = solve(part, **EXACT, engine="numpy", max_iter=2000).alpha
        assert truth.kkt_gap(found) < 1e-7
        assert_near(part.gradient(best.alpha[B]), problem.centred.gradient(best.alpha)[B])


def test_parts_of_a_problem_have_its_origin():
    far, _, y, t = data(OFFSETS[0])
    some = np.arange(0, 24, 5)
    for make, target in ((DualProblem.classification, y), (DualProblem.regression, t)):
        problem = make(far, target, kernel="linear")
        origin, fixed = problem.centred.gram.origin, 0.01 * (problem.lower + problem.upper)
        assert not np.array_equal(far[some].mean(axis=0), origin)
        part = problem.restrict(some, problem.feasible(fixed))
        for each in (part, part.restrict([0, 2]), problem.centred.restrict(some), problem.without([0, 1])):
            assert np.array_equal(each.centred.gram.origin, origin)


def test_examples_that_are_all_the_same_move_where_digits_would_be_lost():
    assert np.array_equal(origin_of(np.full((3, 1), 1e9)), [1e9])
    assert origin_of(np.full((3, 1), 10.0)) is None


def test_an_extended_problem_keeps_the_origin():
    far, _, y, _ = data(OFFSETS[0])
    problem = DualProblem.classification(far, y, kernel="linear")
    more = problem.extended(np.array([[0.0, 0.0, 0.0]]), [1])  # which would move the mean
    assert np.array_equal(more.gram.centred.origin, problem.gram.centred.origin)
