"""The optimum, according to others: LIBSVM and an interior-point solver."""

from __future__ import annotations

import numpy as np
import pytest

from refsvm import RBF, DualProblem, KKTGap, Precomputed, solve

from .catalogue import PROBLEMS, matrix
from .settings import FAST

CONVEX = [name for name, known in PROBLEMS.items() if known.psd and not known.large and not known.hard]
SCALED = [name for name in CONVEX if name not in {"C = 1e12", "large penalty", "tiny penalty"}]
"""Those whose numbers an interior-point solver, which works to absolute tolerances, can take."""


def is_classification(problem: DualProblem) -> bool:
    one_sided = np.minimum(np.abs(problem.lower), np.abs(problem.upper)) == 0.0
    return bool(problem.z == 0.0 and set(np.unique(problem.v)) == {-1.0, 1.0} and one_sided.all())


def interior_point(problem: DualProblem) -> float:
    """max f by Clarabel: minimise ½αᵀKα − vᵀα subject to 1ᵀα = z and L ≤ α ≤ U."""
    clarabel = pytest.importorskip("clarabel")
    sparse = pytest.importorskip("scipy.sparse")
    n = problem.n
    constraints = sparse.vstack([np.ones((1, n)), sparse.eye(n), -sparse.eye(n)]).tocsc()
    limits = np.concatenate([[problem.z], problem.upper, -problem.lower])
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-12
    settings.max_iter = 500
    cones = [clarabel.ZeroConeT(1), clarabel.NonnegativeConeT(2 * n)]
    quadratic = sparse.csc_matrix(np.triu(matrix(problem)))
    found = clarabel.DefaultSolver(quadratic, -problem.v, constraints, limits, cones, settings).solve()
    assert str(found.status) in {"Solved", "AlmostSolved"}
    return -0.5 * (found.obj_val + found.obj_val_dual)


def libsvm(problem: DualProblem, tol: float = 1e-8):
    """Signed α of scikit-learn's SVC on the same Gram matrix, and the classifier."""
    svm = pytest.importorskip("sklearn.svm")
    penalties = np.maximum(problem.upper, -problem.lower)
    kept = penalties > 0
    classifier = svm.SVC(kernel="precomputed", C=1.0, tol=tol, cache_size=500)
    K = matrix(problem)[np.ix_(kept, kept)]
    classifier.fit(K, problem.v[kept], sample_weight=penalties[kept])
    alpha = np.zeros(problem.n)
    alpha[np.flatnonzero(kept)[classifier.support_]] = classifier.dual_coef_[0]
    return alpha, classifier, kept


@pytest.mark.parametrize("name", SCALED)
def test_the_objective_is_that_of_an_interior_point_solver(name, shrinking):
    problem = PROBLEMS[name].problem
    if not (problem.upper > problem.lower).any():
        pytest.skip("the box is one point")
    solution = solve(problem, stop=KKTGap(1e-9), engine=FAST, shrinking=shrinking)
    assert solution.objective == pytest.approx(interior_point(problem), rel=1e-8)


@pytest.mark.parametrize(
    "name", [n for n in CONVEX if is_classification(PROBLEMS[n].problem) and n != "no penalty at all"]
)
def test_the_objective_and_the_decisions_are_those_of_libsvm(name):
    problem = PROBLEMS[name].problem
    solution = solve(problem, stop=KKTGap(1e-8), engine=FAST)
    alpha, classifier, kept = libsvm(problem)
    assert solution.objective == pytest.approx(problem.objective(alpha), rel=1e-8)
    assert solution.objective >= problem.objective(alpha) * (1 - 1e-10)
    K = matrix(problem)
    ours = K @ solution.alpha + solution.intercept
    # LIBSVM keeps kernel values in single precision
    precision = 1e-6 * max(1.0, float((np.abs(K) @ np.abs(solution.alpha)).max()))
    if ((solution.alpha > problem.lower) & (solution.alpha < problem.upper)).any():  # b is unique
        theirs = classifier.decision_function(K[np.ix_(kept, kept)])
        np.testing.assert_allclose(ours[kept], theirs, atol=max(precision, 1e-6))


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_data_and_kernel_are_read_as_libsvm_reads_them(C):
    svm = pytest.importorskip("sklearn.svm")
    rng = np.random.default_rng(3)
    X, unseen = rng.normal(size=(80, 5)), rng.normal(size=(50, 5))
    y = np.where(X[:, 0] ** 2 + X[:, 1] > 0.7, 1, -1)
    theirs = svm.SVC(kernel="rbf", gamma=0.3, C=C, tol=1e-8).fit(X, y)
    ours = solve(DualProblem.classification(X, y, kernel=RBF(0.3), C=C), stop=KKTGap(1e-8), engine=FAST)
    np.testing.assert_allclose(ours.alpha[theirs.support_], theirs.dual_coef_[0], atol=1e-5 * C)
    values = RBF(0.3)(unseen, X) @ ours.alpha + ours.intercept
    np.testing.assert_allclose(values, theirs.decision_function(unseen), atol=1e-6)


def test_an_indefinite_kernel_ends_in_a_local_optimum():
    """No feasible pair direction rises any more, to second order too."""
    problem = PROBLEMS["indefinite matrix"].problem
    with pytest.warns(UserWarning, match="not positive semi-definite"):
        solution = solve(problem, stop=KKTGap(1e-9), engine=FAST)
    alpha, best = solution.alpha, solution.objective
    rng = np.random.default_rng(0)
    for _ in range(200):
        near = problem.feasible(alpha + 1e-4 * rng.normal(size=problem.n))
        assert problem.objective(near) <= best + 1e-9
    assert isinstance(problem.gram.kernel, Precomputed)
