"""Along the path of ν at most the share ν of the examples is outside, as `OneClassSVM` promises."""

import numpy as np
import pytest

pytest.importorskip("scipy")

from refsvm import RBF, DualProblem, Linear, Polynomial, nu_path, parametric_path
from refsvm.analysis.paths import load_path, save_path

NUS = (0.02, 0.05, 0.1, 0.2, 1 / 3, 0.5, 0.6)


def data(kind):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(120, 3))
    if kind == "repeated":
        return np.round(X)
    if kind == "shifted":
        return 1e-2 * X + 30.0
    return X


@pytest.mark.parametrize("kind", ["normal", "repeated", "shifted"])
@pytest.mark.parametrize("kernel", [RBF(0.5), Polynomial(2, 1.0, 1.0), Linear()])
@pytest.mark.parametrize("ends", [(0.02, 0.6), (0.6, 0.02)])
def test_at_most_the_share_nu_is_outside(kind, kernel, ends):
    X = data(kind)
    path = nu_path(X, kernel=kernel, nu=ends, engine="numpy")
    at = np.concatenate([NUS, path.t, np.random.default_rng(0).uniform(0.02, 0.6, 20)])
    for nu in at.clip(0.02, 0.6):
        for before in (False, True):
            h = path.decision_function(X, nu, before)
            assert (h < 0.0).sum() <= nu * len(X) * (1.0 + 1e-9), (nu, before)
            # nothing that the optimum leaves outside by far is taken in
            edge = 1e-6 * np.abs(h).max() + 1e-9
            free = np.flatnonzero((path.alpha(nu, before) > 1e-6) & (path.alpha(nu, before) < 1.0 - 1e-6))
            assert (np.abs(h[free]) <= edge).all()
            assert (h[path.alpha(nu, before) == 1.0] <= edge).all()


def test_a_line_between_two_problems_and_a_file_promise_the_same(tmp_path):
    X = data("normal")
    ends = [DualProblem.one_class(X, kernel=RBF(0.5), nu=nu) for nu in (0.02, 0.6)]
    path = parametric_path(*ends, t=(0.02, 0.6), engine="numpy")
    save_path(path, tmp_path / "path.npz")
    again = load_path(tmp_path / "path.npz")
    for nu in NUS:
        assert (path.decision_function(X, nu) < 0.0).mean() <= nu
        np.testing.assert_array_equal(again.decision_function(X, nu), path.decision_function(X, nu))
        assert path.intercept(nu) == again.intercept(nu)


@pytest.mark.parametrize("nu", NUS)
def test_the_path_is_outside_where_the_estimator_is(nu):
    pytest.importorskip("sklearn")
    from refsvm import OneClassSVM

    X = data("normal")
    fitted = OneClassSVM(nu=nu, gamma=0.5, tol=1e-9).fit(X)
    path = nu_path(X, kernel=RBF(0.5), nu=(0.02, 0.6), engine="numpy")
    h = path.decision_function(X, nu)
    np.testing.assert_allclose(h, fitted.decision_function(X), atol=1e-6)
    assert (h < 0.0).sum() == (fitted.predict(X) < 0).sum()
