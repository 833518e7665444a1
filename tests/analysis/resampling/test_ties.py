"""Signs of examples that lie where they are hardest to find: far out, on a level set of h."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from refsvm import DualProblem, KKTGap, Linear, Polynomial, leave_one_out, solve
from refsvm.analysis.resampling.ties import Proofs, exact_gradient
from refsvm.core.kernels import Gram

from ...settings import FAST

KERNELS = {"linear": Linear(), "a polynomial": Polynomial(degree=2, gamma=0.5, coef0=1.0)}


def machine(rng, kernel, n=18, C=1.0):
    """Examples of two classes, their labels, and the machine that is exact to rounding."""
    X = rng.normal(size=(n, 2))
    y = np.where(X @ rng.normal(size=2) + 0.7 * rng.normal(size=n) > 0.0, 1.0, -1.0)
    y[:2] = -1.0, 1.0
    problem = DualProblem.classification(X, y, kernel=kernel, C=C)
    return X, y, problem, solve(problem, stop=KKTGap(1e-11), polish=True, shrinking=False, engine="numpy")


def on_level(rng, kernel, X, exact, distance, value):
    """A point at this distance where h has about this value, and h there; None if there is none."""
    angles = np.linspace(0.0, 2.0 * np.pi, 91) + rng.uniform()

    def h(angle):
        points = distance * np.stack([np.cos(angle), np.sin(angle)], axis=-1)
        return kernel(np.atleast_2d(points), X) @ exact.alpha + exact.intercept - value

    signs = np.sign(h(angles))
    turns = np.flatnonzero(signs[1:] != signs[:-1])
    if not len(turns):
        return None
    low, high, sign = angles[turns[0]], angles[turns[0] + 1], signs[turns[0]]
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if np.sign(h(middle))[0] == sign else (low, middle)
    x = distance * np.array([np.cos(high), np.sin(high)])
    return x, float(h(high)[0]) + value


@pytest.mark.parametrize("tol", [0.1, 1e-3, 1e-6])
def test_no_proof_is_wrong_however_rough_the_solution(tol):
    """Each sign that is proved from a solution to a tolerance is the sign of the exact machine."""
    rng, proved = np.random.default_rng(5), 0
    for case in range(60):
        kernel = [*KERNELS.values()][case % 2]
        weights = 10.0 ** rng.uniform(-6.0, 0.0, 18) if case % 3 == 0 else np.ones(18)
        X, _, problem, exact = machine(rng, kernel, C=10.0 ** rng.uniform(-1.0, 1.0) * weights)
        rough, gram = solve(problem, stop=KKTGap(tol), engine="numpy"), Gram(kernel, X)
        proofs, (top, bottom, _) = Proofs(rough, gram), exact.most_violating
        for distance in (3.0, 30.0, 300.0):
            angle = rng.uniform(0.0, 2.0 * np.pi)
            for x in (
                distance * np.array([np.cos(angle), np.sin(angle)]),
                *(found[:1] if (found := on_level(rng, kernel, X, rough, distance, 0.02)) else ()),
            ):
                row = kernel(x[None], X)[0]
                sign = proofs.sign(row, float(kernel(x[None], x[None])[0, 0]))
                ends = [row @ exact.alpha + exact.gradient[i] for i in (top, bottom)]
                proved += sign != 0
                assert sign * min(ends, key=lambda end: sign * end) >= -1e-6, (case, distance)
    assert proved > 60


def test_what_no_tolerance_decides_is_a_tie():
    """Without the example in the middle b may be anything between -0.8 and 0.8; the last one is such a tie, too."""
    loo = leave_one_out([[-1.0], [0.0], [1.0]], [-1, 1, 1], kernel=Linear(), C=0.1, engine=FAST)
    assert loo.decided_by.tolist() == ["kkt", "tie", "tie"]
    assert loo.is_proved.tolist() == [True, False, False]
    assert np.isnan(loo.sides[:, 0]).tolist() == [False, True, True]
    assert loo.error_bounds == (pytest.approx(1.0 / 3.0), 1.0)
    assert "2 signs that are not proved" in repr(loo)


def test_a_gradient_has_all_digits():
    """Of terms that cancel, as the sum of fractions has them."""
    rng = np.random.default_rng(1)
    K, alpha = rng.normal(size=(40, 7)), rng.normal(size=40) * 10.0 ** rng.integers(-8, 8, 40)
    v = alpha @ K + rng.normal(size=7) * 1e-8
    exact = [
        float(Fraction(v[t]) - sum(Fraction(a) * Fraction(k) for a, k in zip(alpha, K[:, t], strict=True)))
        for t in range(7)
    ]
    np.testing.assert_allclose(exact_gradient(v, alpha, K), exact, rtol=1e-14)
