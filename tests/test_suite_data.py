"""The 18 problems of the papers, where the user has the data: REFSVM_DATA names their directory."""

from __future__ import annotations

import os

import numpy as np
import pytest

from refsvm import RBF, DualProblem, KKTGap, Status, solve
from refsvm.datasets import paper_suite
from refsvm.testing.contract import infeasibility

from .datasets.test_suite import TABLE_1
from .settings import needs_jit

pytestmark = [pytest.mark.data, pytest.mark.slow, needs_jit]

NAMES = [*TABLE_1]


@pytest.fixture(scope="module")
def suite():
    if not os.environ.get("REFSVM_DATA"):
        pytest.skip("REFSVM_DATA names no data directory")
    return {problem.name: problem for problem in paper_suite()}


def test_the_names_are_those_of_the_suite(suite):
    assert list(suite) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_solved_to_1e_6_and_not_below_libsvm(name, suite):
    svm = pytest.importorskip("sklearn.svm")
    data = suite[name].load()
    if data.n > 3200:
        pytest.skip(f"n = {data.n}")
    problem = DualProblem.classification(data.X, data.y, kernel=RBF(data.gamma), C=data.C)
    solution = solve(problem, stop=KKTGap(1e-6))
    assert solution.status is Status.CONVERGED
    assert infeasibility(problem, solution.alpha) <= 1e-13
    G = problem.gradient(solution.alpha)
    assert problem.kkt_gap(solution.alpha, G) <= 1e-6
    theirs = svm.SVC(C=data.C, gamma=data.gamma, tol=1e-6, cache_size=500).fit(data.X, data.y)
    alpha = np.zeros(data.n)
    coefs = theirs.dual_coef_
    alpha[theirs.support_] = np.ravel(coefs.toarray() if hasattr(coefs, "toarray") else coefs)
    libsvm, ours = problem.objective(alpha), problem.objective(solution.alpha, G)
    assert ours >= libsvm - 1e-8 * abs(libsvm)
    assert solution.duality_gap >= 0.0
