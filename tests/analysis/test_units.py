"""Defaults and default tolerances of a regression do not depend on the unit of its targets."""

import warnings

import numpy as np
import pytest

pytest.importorskip("sklearn")

from refsvm import RBF, SVRCV, DualProblem, KKTGap, SVRGradientCV, cross_validate, leave_one_out, solve
from refsvm import regularization_path as path_of
from refsvm.analysis.derivatives import influence
from refsvm.analysis.derivatives.tuning import tune_by_gradient
from refsvm.analysis.resampling.jackknife import held_out_machines
from refsvm.analysis.units import unit_of_targets

RNG = np.random.default_rng(0)
N = 40
A = RNG.normal(size=(N, 2))
SHAPES = {
    "smooth": np.sin(2.0 * A[:, 0]) + 0.5 * A[:, 1] + 0.05 * RNG.normal(size=N),
    "far from 0": 300.0 + np.sin(2.0 * A[:, 0]) + 0.3 * RNG.normal(size=N),
    "skewed": np.exp(2.0 * A[:, 0] + 0.3 * RNG.normal(size=N)),
    "noise": RNG.normal(size=N),
    "steps": (A[:, 0] > 0.0) * 2.0 + (A[:, 0] > 0.5) * RNG.normal(size=N),
}
UNITS = (1e-6, 1e3)
EXACT = (2.0**-20, 2.0**20)


def regression(y, **more):
    return DualProblem.regression(A, y, kernel=RBF(0.3), **more)


def machine(unit, spread):
    return {"C": 3.0 * spread * unit, "epsilon": 0.1 * spread * unit}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_search_finds_the_same_in_every_unit(shape):
    y = SHAPES[shape]

    def found(unit):
        with warnings.catch_warnings(action="ignore", category=UserWarning):
            grid = SVRCV(gammas=[0.1, 1.0], cv=3, engine="numpy").fit(A, unit * y)
            slope = SVRGradientCV(n_starts=1, max_evaluations=4, cv=3, engine="numpy").fit(A, unit * y)
        own = [np.divide(model.best_params_["C"], unit) for model in (grid, slope)]
        return [grid.best_score_, slope.score(A, unit * y), *np.log(own)]

    expected = found(1.0)
    for unit in UNITS:
        np.testing.assert_allclose(found(unit), expected, atol=0.01)


@pytest.mark.parametrize("shape", SHAPES)
def test_rounds_take_the_same_steps_in_every_unit(shape):
    y = SHAPES[shape]
    spread = y.std()

    def steps(unit):
        given, problem = machine(unit, spread), regression(unit * y, **machine(unit, spread))
        options = {"kernel": RBF(0.3), "engine": "numpy"}
        return np.array([
            leave_one_out(A, unit * y, **given, **options).iterations,
            cross_validate(A, unit * y, folds=4, **given, **options).iterations,
            influence(problem, engine="numpy").iterations,
            sum(len(where) for where, _ in held_out_machines(problem, engine="numpy").changes),
        ])  # fmt: skip

    expected = steps(1.0)
    for unit in UNITS:
        ratios = steps(unit) / expected
        assert ratios.max() < 1.5, ratios
        assert ratios.min() > 1 / 1.5, ratios


@pytest.mark.parametrize("unit", EXACT)
def test_a_relative_rule_takes_the_unit_of_the_targets(unit, engine):
    # a power of 2 rounds nothing: α is the same to the last bit, times the unit
    y, u = SHAPES["smooth"], SHAPES["smooth"].std()
    one, other = (
        solve(regression(k * y, **machine(k, u)), stop=KKTGap(1e-3 * k * u, relative=k * u), engine=engine)
        for k in (1.0, unit)
    )
    assert one.iterations == other.iterations > 10
    np.testing.assert_array_equal(unit * one.alpha, other.alpha)
    path, scaled = (path_of(regression(k * y, epsilon=0.1 * k), engine=engine) for k in (1.0, unit))
    np.testing.assert_array_equal(scaled.C[[0, -1]], unit * path.C[[0, -1]])
    start = {
        "parameters": ("C",),
        "gamma": 0.3,
        "starts": 1,
        "max_evaluations": 1,
        "folds": 2,
        "engine": engine,
    }
    first, same = (tune_by_gradient(A, k * y, epsilon=0.1 * k, **start).best["C"] for k in (1.0, unit))
    assert same == pytest.approx(unit * first)


def test_the_unit():
    y, w = SHAPES["skewed"], RNG.integers(0, 3, N).astype(float)
    assert unit_of_targets(y) == pytest.approx(y.std())
    assert unit_of_targets(y, w) == pytest.approx(np.repeat(y, w.astype(int)).std())
    assert unit_of_targets(np.full(3, 0.1)) == unit_of_targets(np.zeros(0)) == 1.0
    assert np.isfinite(unit_of_targets(np.array([-1e150, 1e150])))
    assert unit_of_targets(np.array([0.0, 1e-200])) > 0.0


def test_the_best_value_at_an_end_is_said():
    # the more is learned by heart the better, where the test examples are those of the training
    y, same = SHAPES["noise"], [(np.arange(N), np.arange(N))]
    search = SVRCV(gammas=[1.0], cv=same, engine="numpy")
    with pytest.warns(UserWarning, match=r"The best C=.* is the largest value of the default grid"):
        search.fit(A, y)
    with warnings.catch_warnings(action="error"):
        search.set_params(Cs=[1.0, 10.0, 100.0]).fit(A, y)  # the user's own
    given = {"parameters": ("C",), "epsilon": 0.1, "starts": 1, "folds": 3, "engine": "numpy"}
    with pytest.warns(UserWarning, match="end of the default bounds: C=.* \\(smallest\\)"):
        tune_by_gradient(A, y, gamma=5.0, max_evaluations=20, **given)
