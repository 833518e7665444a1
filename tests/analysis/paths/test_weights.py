"""Error curves and operating points of weighted examples: those of copies, and of refits at C·w."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("scipy")

from refsvm import (
    RBF,
    DualProblem,
    KKTGap,
    Linear,
    cost_path,
    cross_validate,
    leave_one_out,
    solve,
)  # fmt: skip
from refsvm.analysis.paths import cross_validate_path, left_out
from refsvm.datasets import load

from ...settings import FAST

KERNEL = RBF(0.7)
RANGE: dict[str, Any] = {"kernel": KERNEL, "C_min": 0.05, "C_max": 20.0, "engine": FAST}


def examples(seed: int, k: int, whole: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return X, labels and weights; some examples are equal, with other weights."""
    rng = np.random.default_rng(seed)
    X = np.round(2.0 * rng.normal(size=(22, 2))) / 2.0 if seed % 2 else rng.normal(size=(22, 2))
    codes = rng.integers(0, k, 22)
    codes[: 2 * k] = np.arange(2 * k) % k
    w = rng.integers(0, 4, 22).astype(float) if whole else rng.exponential(size=22) * (rng.random(22) > 0.2)
    w[: 2 * k] = np.maximum(w[: 2 * k], 1.0 if whole else 0.5)
    return X, np.where(codes == 1, 1, -1) if k == 2 else codes, w


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("whole", [True, False])
def test_curves_are_those_of_refits(seed: int, k: int, whole: bool) -> None:
    X, y, w = examples(seed, k, whole)
    fold = np.arange(22) % 3
    loo, cv = (cross_validate_path(X, y, folds=each, sample_weight=w, **RANGE) for each in ("loo", fold))
    assert len(loo.curves) == 22
    for C in (0.0731, 0.611, 2.93, 17.7):
        options: dict[str, Any] = {"kernel": KERNEL, "C": C * w, "stop": KKTGap(1e-9), "engine": FAST}
        assert loo.curve.at(C) == pytest.approx(leave_one_out(X, y, **options).error, abs=1e-12)
        assert cv.curve.at(C) == pytest.approx(cross_validate(X, y, folds=fold, **options).error, abs=1e-12)
    assert loo.curve.count == pytest.approx(w.sum(), rel=1e-14)
    assert loo.curve.errors.min() >= 0.0
    assert (np.diff(cv.curve.errors) != 0.0).all()  # no step of rounding


def test_an_example_of_weight_zero_has_a_curve_without_errors() -> None:
    X, y, w = examples(0, 2, True)
    found = cross_validate_path(X, y, folds="loo", sample_weight=w, **RANGE)
    for curve, weight in zip(found.curves, w.tolist(), strict=True):
        assert curve.count == weight
        assert set(curve.errors.tolist()) <= {0.0, weight}
        assert np.isnan(curve.error).all() == (weight == 0.0)


def test_operating_points_count_copies() -> None:
    X, y, w = examples(2, 2, True)
    path, rep = cost_path(X, y, kernel=KERNEL, C=2.0, engine=FAST), np.repeat(np.arange(22), w.astype(int))
    new = X + 0.2
    one, other = path.roc(new, y, w), path.roc(new[rep], y[rep])
    for t in np.linspace(0.05, 1.95, 20):
        assert one.at(t) == pytest.approx(other.at(t), abs=1e-12)
    assert {*one.tpr.tolist()} != {*path.roc(new, y).tpr.tolist()}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("k", [2, 3])
def test_each_example_leaves_with_its_own_weight_and_no_other(seed: int, k: int) -> None:
    """Of equal examples some have equal weights, of which one leaves; one example weighs as much as half of all."""
    X, y, w = examples(seed, k, False)
    X[8:16], y[8:16], w[8:12], w[16 + seed] = X[:8], y[:8], w[:4], 0.5 * w.sum()
    found = cross_validate_path(X, y, folds="loo", sample_weight=w, **RANGE)
    for C in (0.07, 0.31, 1.7, 13.0):
        loo = leave_one_out(X, y, kernel=KERNEL, C=C * w, stop=KKTGap(1e-9), checks=(), engine=FAST)
        # a value of 0 has the sign that rounding gives it
        certain = np.abs(loo.decision_values.reshape(22, -1)).min(axis=1) > 1e-5
        expected = w * (loo.predictions != y)
        for r in np.flatnonzero(certain & (w > 0.0)):
            assert found.curves[r].at(C) * w[r] == pytest.approx(expected[r], abs=1e-9), (r, C)


@pytest.mark.parametrize(
    ("r", "C", "x", "labels", "weights"),
    [
        # one who leaves weighs more than all who could take over, than a bounded one of them, and than no bounded one
        (3, 0.608, [0.5, -1.45, 0.06, -1.42], "+-+-", [0.043, 0.052, 1.31, 1.58]),
        (
            3,
            0.02,
            [3.3, 3.9, 2.5, 3.6, 2.7, 3.1, 3.5, 3.0],
            "+-+--++-",
            [0.2, 0.5, 0.5, 5.0, 0.2, 0.1, 0.5, 0.5],
        ),
        (2, 0.02, [0.8, -0.4, -1.7, -0.6, 0.1], "+-+-+", [0.5, 0.5, 5.0, 0.2, 0.5]),
        # G of the bounded one who takes over is far from b
        (1, 7.63, [-0.4, 1.3, 1.3, 1.9, 0.2], "+-+-+", [0.1, 0.5, 0.1, 1.0, 5.0]),
    ],
)
def test_a_sign_is_that_of_a_refit_whatever_those_weigh_who_could_take_over(
    monkeypatch: Any, r: int, C: float, x: list[float], labels: str, weights: list[float]
) -> None:
    monkeypatch.setattr(left_out, "APART", 1)  # no walk covers a segment of which something is said
    X, y, w = (
        np.reshape(x, (-1, 1)),
        np.array([1 if each == "+" else -1 for each in labels]),
        np.array(weights),
    )
    found = cross_validate_path(
        X, y, kernel=Linear(), C_min=0.01, C_max=50.0, folds="loo", sample_weight=w, engine="numpy"
    )
    rest = np.arange(len(y)) != r
    problem = DualProblem.classification(X[rest], y[rest], kernel=Linear(), C=C * w[rest])
    refit = solve(problem, stop=KKTGap(1e-9), polish=True, engine="numpy")
    h = float(X[r] @ X[rest].T @ refit.alpha + refit.intercept)
    assert abs(h) > 0.1
    assert (found.curves[r].at(C) == 0.0) == (h * y[r] > 0.0)


def test_folds_are_stratified_and_repeatable() -> None:
    X, y = load("heart").X[:90], load("heart").y[:90]
    options: Any = {"kernel": RBF(0.005), "C_min": 0.1, "C_max": 10.0, "folds": 5, "rng": 3}
    first, second = (cross_validate_path(X, y, **options) for _ in range(2))
    np.testing.assert_array_equal(first.fold, second.fold)
    np.testing.assert_array_equal(first.curve.errors, second.curve.errors)
    assert np.ptp([(y[first.fold == k] > 0).sum() for k in range(5)]) <= 1
