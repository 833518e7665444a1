"""A path does not depend on the unit of the features: with C in the unit that undoes it, it is the same path."""

import numpy as np
import pytest

from refsvm import RBF, DualProblem, KKTGap, Linear, Status, cost_path, nu_path, solve, weight_path

from ...settings import FAST, noisy_classes

pytest.importorskip("scipy")


@pytest.mark.parametrize("unit", [2.0**-20, 2.0**20])
@pytest.mark.parametrize("path", ["cost", "weight"])
def test_a_singular_elbow_is_left_in_any_unit(unit, path):
    """Repeated examples leave a choice, which a linear program makes: its tolerances know no unit."""
    rng = np.random.default_rng(43)
    X = rng.normal(size=(6, 2))[rng.integers(6, size=26)]
    y = np.where(rng.uniform(size=26) < 0.5, 1, -1)

    def walked(unit):
        C = 1e-5 / unit**2
        if path == "cost":
            return cost_path(unit * X, y, kernel=Linear(), C=C, merge=False, engine="numpy")
        ends = C, C * np.linspace(0.5, 2.0, 26)
        return weight_path(unit * X, y, kernel=Linear(), C=ends, merge=False, engine="numpy")

    one, other = walked(1.0), walked(unit)
    audit = other.kkt_audit(between=1)
    assert one.nullity > 1
    assert other.status is Status.CONVERGED
    assert max(audit.at, audit.between) < 1e-6
    for share in (0.2, 0.3, 0.5):
        h = one.decision_function(X, share * one.t[-1])
        assert other.decision_function(unit * X, share * other.t[-1]) == pytest.approx(h, abs=1e-6)


@pytest.mark.parametrize("engine", sorted({"numpy", FAST}))
@pytest.mark.parametrize("kernel", [Linear(), RBF(0.5)], ids=["linear", "rbf"])
def test_shares_of_less_than_an_example_are_as_exact_as_others(kernel, engine):
    """Where νn < 1 no α is at its bound: α and b grow as ν does, and so do the decision values."""
    X = np.random.default_rng(3).normal(size=(12, 2)) + 3.0
    truth = solve(DualProblem.one_class(X, kernel=kernel, nu=1.0 / 12.0), stop=KKTGap(1e-11), engine="numpy")
    for nu in (1e-2, 1e-6, 1e-9):
        path = nu_path(X, kernel=kernel, nu=(nu, 5.0 * nu), engine=engine)
        for at in (nu, 1.7 * nu, 5.0 * nu):
            share = 12.0 * at
            assert path.intercept(at) / share == pytest.approx(truth.intercept, abs=1e-7)
            values = path.decision_function(X, at) / share
            assert values == pytest.approx(truth.decision_values, abs=1e-7)


@pytest.mark.parametrize("engine", sorted({"numpy", FAST}))
@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
def test_shares_are_exact_where_the_terms_of_the_decision_values_cancel(unit, engine):
    """The origin is in the hull of the examples: h = 0 is best, and what is left of it is to be rounding alone."""
    X = unit * np.random.default_rng(0).normal(size=(21, 3))
    path = nu_path(X, kernel=Linear(), nu=(0.03, 0.06), engine=engine)
    for at in (0.03, 0.04, 0.05):
        assert np.abs(X @ (path.alpha(at) @ X)).max() <= 1e-13 * unit**2


@pytest.mark.parametrize("engine", sorted({"numpy", FAST}))
@pytest.mark.parametrize("C", [1e-7, 1e-10])
def test_a_tiny_penalty_is_as_exact_as_others(C, engine):
    """Decision values vary by about C then, and a gap that is small beside 1 says nothing of them."""
    X, y = noisy_classes(30, 2, 0, noise=0.5, above=0.5)
    path = weight_path(X, y, kernel=RBF(0.5), C=(C, 2.0 * C), engine=engine)
    for t in (0.0, 0.5, 1.0):
        problem, alpha = path.problem(t), path.alpha(t)
        G = problem.gradient(alpha)
        assert problem.kkt_gap(alpha, G) <= 1e-5 * np.ptp(problem.v - G)
