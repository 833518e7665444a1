"""Folds that read kernel values as float32: same steps in both engines, same predictions as with float64."""

from __future__ import annotations

import numpy as np
import pytest

from refsvm import AVG, RBF, Cold, DualProblem, KKTGap, Precomputed, cross_validate
from refsvm.analysis.resampling.task import shared_gram
from refsvm.datasets import load, make_waveform

from ...settings import FAST, needs_numba

HEART = load("heart")
FLOAT32_FROM = "refsvm.services.float32.FLOAT32_FROM"
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


@pytest.mark.parametrize("engine", sorted({"numpy", FAST}))
@pytest.mark.parametrize("cache_mb", [200.0, 0.1])
def test_a_matrix_that_the_budget_holds_is_float64_and_rows_may_begin_as_float32(
    cache_mb, engine, monkeypatch
):
    """Where rows are kept one by one, a round begins on float32 rows, and leaves them where they move it too far."""
    monkeypatch.setattr(FLOAT32_FROM, 2)
    options = {"engine": engine, "cache_mb": cache_mb}  # 270² float64 values are 0.56 MiB
    chosen, exact = (folds(HEART, cache_dtype=dtype, **options) for dtype in ("auto", "float64"))
    assert np.array_equal(chosen.decision_values, exact.decision_values) == (cache_mb == 200.0)
    assert np.abs(chosen.decision_values - exact.decision_values).max() < 3e-3


def test_a_matrix_is_held_once_and_a_given_one_stays():
    gram = DualProblem.classification(HEART.X, HEART.y, kernel=RBF(0.02), C=2.0).gram
    held = shared_gram(gram, 1.0, single=True)
    assert held.dense.dtype == np.float32
    assert shared_gram(held, 1.0, single=False) is held
    assert shared_gram(gram, 0.1, single=True) is gram  # more than the budget holds
    K = RBF(0.02)(HEART.X, HEART.X)
    given = cross_validate(K, HEART.y, kernel=Precomputed(), C=2.0, folds=5, rng=0, cache_dtype="float32")
    assert given.error == pytest.approx(folds(HEART).error, abs=1 / HEART.n)


@pytest.mark.parametrize("cache_mb", [200.0, 0.2])
def test_workers_read_what_one_thread_reads(cache_mb, monkeypatch):
    monkeypatch.setattr(FLOAT32_FROM, 2)
    one, two = (folds(HEART, n_jobs=jobs, cache_mb=cache_mb) for jobs in (None, 2))
    assert np.array_equal(one.decision_values, two.decision_values)


@pytest.mark.parametrize("engine", sorted({"numpy", FAST}))
@pytest.mark.parametrize("cache_mb", [200.0, 0.02])
@pytest.mark.slow
def test_decision_values_that_vary_by_little_are_those_of_float64(cache_mb, engine, monkeypatch):
    """float32 pays for a tolerance of 1e-3; where s is 1e-8, it costs more than s, and is left."""
    monkeypatch.setattr(FLOAT32_FROM, 2)
    X = np.round(np.random.default_rng(0).normal(size=(60, 1)), 1)
    y = np.where(np.arange(60) % 10 == 0, 1, -1)
    options = {"kernel": RBF(1e-4), "C": 2.0, "folds": 3, "engine": engine, "cache_mb": cache_mb}
    chosen, exact = (cross_validate(X, y, **options, **more) for more in ({}, {"cache_dtype": "float64"}))
    assert np.ptp(exact.decision_values) < 1e-8  # and a warning is an error here
    # rounding of float32 values moves them by 1e-6, and the float64 round ends within 2e-9 of the optimum
    assert np.abs(chosen.decision_values - exact.decision_values).max() < 1e-8
    with pytest.warns(UserWarning, match="float32 kernel values"):
        cross_validate(X, y, **options, cache_dtype="float32")


@pytest.mark.parametrize("engine", sorted({"numpy", FAST}))
@pytest.mark.parametrize("options", [{}, {"from_full": False, "seeder": AVG()}, {"seeder": Cold()}])
@pytest.mark.parametrize("cache_mb", [200.0, 0.02])
def test_each_fold_is_looked_at_and_not_the_last_alone(cache_mb, engine, options, monkeypatch):
    """Without the first fold, which is far away, decision values vary by 1e-8; without the others by much more."""
    X = np.round(np.random.default_rng(0).normal(size=(60, 1)), 1)
    X[:20] *= 300.0
    y = np.where(np.arange(60) % 10 == 0, 1, -1)
    given = {
        "kernel": RBF(1e-4), "C": 0.5, "folds": np.arange(60) // 20, "engine": engine, "cache_mb": cache_mb, **options,
    }  # fmt: skip
    exact = cross_validate(X, y, **given, cache_dtype="float64", stop=KKTGap(1e-13))
    monkeypatch.setattr(FLOAT32_FROM, 2)
    error = np.abs(cross_validate(X, y, **given).decision_values - exact.decision_values)
    # a float64 round ends within 3e-6 of the optimum; those of float32 rows by name are off by up to 6e-5
    assert error[exact.fold == 0].max() < 3e-6
    assert error.max() < 3e-5
