"""Folds that read kernel values as float32: same steps in both engines, same predictions as with float64."""

from __future__ import annotations

import warnings
from importlib import import_module

import numpy as np
import pytest

from refsvm import AVG, RBF, SIR, Cold, DualProblem, KKTGap, LOODualityGap, Precomputed, cross_validate
from refsvm.datasets import load, make_waveform

from ..settings import FAST, needs_numba

HEART = load("heart")
module = import_module(
    "refsvm.rounds.cross_validate"
)  # by name, which in its package is that of the function
FLOAT32_HELD_FROM = "refsvm.kernels.precision.FLOAT32_HELD_FROM"
WAVES = make_waveform(700, rng=0)


def folds(data, **options):
    return cross_validate(data.X, data.y, kernel=RBF(0.02), C=2.0, folds=5, rng=0, **options)


@needs_numba
@pytest.mark.parametrize(
    "data", [pytest.param(HEART, id="heart"), pytest.param(WAVES, id="waveform", marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("seeder", [AVG(), Cold()])
@pytest.mark.parametrize("from_full", [True, False])
def test_both_engines_take_the_same_steps(data, seeder, from_full):
    options = {"seeder": seeder, "from_full": from_full, "cache_dtype": "float32"}
    slow, fast = (folds(data, engine=engine, **options) for engine in ("numpy", "numba"))
    assert [each.iterations for each in slow.rounds] == [each.iterations for each in fast.rounds]
    assert np.array_equal(slow.decision_values, fast.decision_values)


def test_predictions_are_those_of_double_precision():
    single, double = (folds(WAVES, cache_dtype=dtype, stop=KKTGap(1e-4)) for dtype in ("float32", "float64"))
    assert np.abs(single.decision_values - double.decision_values).max() < 1e-3
    sure = np.abs(double.decision_values[:, 0]) > 1e-3
    assert np.array_equal(single.predictions[sure], double.predictions[sure])
    assert not np.array_equal(single.decision_values, double.decision_values)


def test_single_precision_is_the_default_of_large_problems(monkeypatch):
    monkeypatch.setattr(FLOAT32_HELD_FROM, WAVES.n)
    chosen = folds(WAVES)
    assert np.array_equal(chosen.decision_values, folds(WAVES, cache_dtype="float32").decision_values)
    smaller = folds(HEART)
    assert np.array_equal(smaller.decision_values, folds(HEART, cache_dtype="float64").decision_values)


@pytest.mark.parametrize(
    "options",
    [
        {"seeder": SIR()},  # reads kernel rows
        {"stop": LOODualityGap(1e-3, example=0)},  # a certificate
        {"stop": KKTGap(1e-5)},  # asks for more than float32 has
        {"cache_dtype": "float64"},
    ],
)
def test_what_does_not_read_single_precision(options, monkeypatch):
    monkeypatch.setattr(FLOAT32_HELD_FROM, 2)
    gram = DualProblem.classification(HEART.X, HEART.y, kernel=RBF(0.02)).gram
    C = np.full(gram.n, 2.0)
    assert module.float32_share(gram, C, AVG(), cache_mb=1.0)
    assert not module.float32_share(gram, C, **{"seeder": AVG(), "cache_mb": 1.0, **options})
    assert not module.float32_share(gram, 50.0 * C, AVG(), cache_mb=1.0)  # rounding could move G by too much


@pytest.mark.parametrize("engine", sorted({"numpy", FAST}))
@pytest.mark.parametrize(("deviations", "dtype"), [(4.0, "float32"), (400.0, "float64")])
@pytest.mark.slow
def test_a_budget_for_float32_alone_is_used_up_to_the_whole_tolerance(deviations, dtype, engine, monkeypatch):
    """Before α is known its box allows too much rounding; once it is known, so is whether that is true."""
    monkeypatch.setattr(FLOAT32_HELD_FROM, 2)
    monkeypatch.setattr("refsvm.kernels.precision.DEVIATIONS", deviations)
    options = {"kernel": RBF(0.5), "C": 400.0, "folds": 3, "engine": engine, "cache_mb": 0.05}
    X, y = HEART.X[:90] / HEART.X.std(0) * 0.2, HEART.y[:90]  # 90² values are 32 kB as float32, 65 as float64
    chosen, exact = (
        cross_validate(X, y, **options, **more)
        for more in ({}, {"cache_dtype": "float64", "stop": KKTGap(1e-6)})
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # float32 by name warns from a tenth of the tolerance on
        same = cross_validate(X, y, **options, cache_dtype=dtype)
    assert np.array_equal(chosen.decision_values, same.decision_values)
    assert np.abs(chosen.decision_values - exact.decision_values).max() < 3e-3


def test_a_matrix_is_held_once_and_a_given_one_stays():
    gram = DualProblem.classification(HEART.X, HEART.y, kernel=RBF(0.02), C=2.0).gram
    held = module.shared_gram(gram, 1.0, single=True)
    assert held.dense.dtype == np.float32
    assert module.shared_gram(held, 1.0, single=False) is held
    assert module.shared_gram(gram, 0.1, single=True) is gram  # more than the budget holds
    K = RBF(0.02)(HEART.X, HEART.X)
    given = cross_validate(K, HEART.y, kernel=Precomputed(), C=2.0, folds=5, rng=0, cache_dtype="float32")
    assert given.error == pytest.approx(folds(HEART).error, abs=1 / HEART.n)


def test_processes_and_threads_read_the_same(monkeypatch):
    monkeypatch.setattr(FLOAT32_HELD_FROM, 2)
    one, two = folds(WAVES), folds(WAVES, n_jobs=2)
    assert np.array_equal(one.decision_values, two.decision_values)


@pytest.mark.parametrize("engine", sorted({"numpy", FAST}))
@pytest.mark.slow
def test_decision_values_that_vary_by_little_are_those_of_float64(engine, monkeypatch):
    """float32 was chosen for its speed, for a tolerance of 1e-3; where s is 1e-8, it costs more than s, and is left."""
    monkeypatch.setattr(FLOAT32_HELD_FROM, 2)
    X = np.round(np.random.default_rng(0).normal(size=(60, 1)), 1)
    y = np.where(np.arange(60) % 10 == 0, 1, -1)
    options = {"kernel": RBF(1e-4), "C": 2.0, "folds": 3, "engine": engine}
    chosen, exact = (cross_validate(X, y, **options, **more) for more in ({}, {"cache_dtype": "float64"}))
    assert np.ptp(exact.decision_values) < 1e-8  # and a warning is an error here
    assert np.array_equal(chosen.decision_values, exact.decision_values)
    with pytest.warns(UserWarning, match="float32 kernel values"):
        cross_validate(X, y, **options, cache_dtype="float32")


@pytest.mark.parametrize("engine", sorted({"numpy", FAST}))
@pytest.mark.parametrize("options", [{}, {"from_full": False, "seeder": AVG()}, {"seeder": Cold()}])
def test_each_fold_is_looked_at_and_not_the_last_alone(engine, options, monkeypatch):
    """Without the first fold, which is far away, decision values vary by 1e-8; without the others by much more."""
    X = np.round(np.random.default_rng(0).normal(size=(60, 1)), 1)
    X[:20] *= 300.0
    y = np.where(np.arange(60) % 10 == 0, 1, -1)
    given = {"kernel": RBF(1e-4), "C": 0.5, "folds": np.arange(60) // 20, "engine": engine, **options}
    exact = cross_validate(X, y, **given)
    monkeypatch.setattr(FLOAT32_HELD_FROM, 2)
    assert np.array_equal(cross_validate(X, y, **given).decision_values, exact.decision_values)
