"""A kernel object of one's own that reads the norms: nothing is taken for granted about its diagonal."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from refsvm import DualProblem, Kernel, KKTGap, Precomputed, solve
from refsvm.core.kernels import Gram
from refsvm.testing import check_strategy

rng = np.random.default_rng(0)
X, y = rng.normal(size=(30, 3)) + 1.0, np.where(np.arange(30) % 2, 1, -1)
SQUARES = ((X[:, None] - X[None]) ** 2).sum(axis=-1)


@dataclass(frozen=True)
class Cauchy(Kernel):
    """1/(1 + ‖x − z‖²), without the flags that allow faster code."""

    def from_inner(self, inner, x_norms, z_norms):
        return 1.0 / (1.0 + np.maximum(x_norms[:, None] + z_norms - 2.0 * inner, 0.0))


@dataclass(frozen=True)
class Root(Kernel):
    """‖x‖ + ‖z‖ − ‖x − z‖, whose diagonal is 2‖x‖."""

    def from_inner(self, inner, x_norms, z_norms):
        distances = np.sqrt(np.maximum(x_norms[:, None] + z_norms - 2.0 * inner, 0.0))
        return np.sqrt(x_norms)[:, None] + np.sqrt(z_norms) - distances


NORMS = np.sqrt((X**2).sum(axis=1))
VALUES = {Cauchy(): 1.0 / (1.0 + SQUARES), Root(): NORMS[:, None] + NORMS - np.sqrt(SQUARES)}


@pytest.mark.parametrize("kernel", VALUES, ids=repr)
def test_the_diagonal_is_that_of_the_matrix(kernel):
    gram, K = Gram(kernel, X), VALUES[kernel]
    np.testing.assert_allclose(gram.diagonal(), K.diagonal(), atol=1e-6)  # a root of the rounding of ‖x − x‖²
    check_strategy(Gram(Cauchy(), X))


@pytest.mark.parametrize("kernel", VALUES, ids=repr)
def test_the_machine_is_that_of_the_matrix(kernel):
    own = solve(DualProblem.classification(X, y, kernel=kernel, C=2.0), stop=KKTGap(1e-8))
    given = solve(
        DualProblem.classification(VALUES[kernel], y, kernel=Precomputed(), C=2.0), stop=KKTGap(1e-8)
    )
    assert own.status.name == "CONVERGED"
    assert own.objective == pytest.approx(given.objective, rel=1e-6)
