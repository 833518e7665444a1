"""ErrorCurve: the best interval is the widest in log C, beside all intervals."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from refsvm import RBF
from refsvm.analysis.paths import ErrorCurve, cross_validate_path
from refsvm.analysis.paths.error_curve import curve_of_changes

from ...settings import FAST


def widest(curve: ErrorCurve) -> tuple[float, float]:
    """The widest of all unions of neighbouring steps of least error, the first of several."""
    C, errors = curve.C.tolist(), curve.errors.tolist()
    among = [
        (math.log(C[j] / C[i]), i, j)
        for i in range(len(errors))
        for j in range(i + 1, len(C))
        if set(errors[i:j]) == {min(errors)}
    ]
    width = max(each for each, _, _ in among)
    _, i, j = next(each for each in among if each[0] >= width * (1.0 - 1e-12))
    return C[i], C[j]


@pytest.mark.parametrize("weight", [1, 0.7])
@pytest.mark.parametrize("seed", range(12))
def test_best_is_the_widest_in_log_c(seed: int, weight: float) -> None:
    rng = np.random.default_rng(seed)
    for k in (1, 2, 3, 5, 9):
        C = np.exp(np.sort(rng.uniform(-9.0, 9.0, k + 1)))
        curve = ErrorCurve(C, rng.integers(1, 3, k) * weight, 20.0 * weight)
        assert curve.best() == (*widest(curve), curve.error.min())


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e7])
@pytest.mark.parametrize(
    ("C", "errors", "place"),
    [
        ([0.01, 1.0, 2.0, 90.0, 100.0], [0, 1, 0, 1], (0, 1)),  # 100 times as large beats 88 more
        ([1.0, 2.0, 3.0, 4.5], [2, 3, 2], (0, 1)),
        ([1.0, 2.0, 3.0, 30.0], [2, 3, 2], (2, 3)),
        ([1.0, 8.0, 16.0, 128.0], [0, 1, 0], (0, 1)),  # as wide: the first
        ([1.0, 2.0, 4.0, 64.0], [1, 1, 1], (0, 3)),  # neighbours are one
        ([1.0, 4.0, 5.0, 9.0, 19.0], [0, 1, 0, 0], (0, 1)),
        ([1.0, 4.0, 5.0, 9.0, 21.0], [0, 1, 0, 0], (2, 4)),
    ],
)
def test_the_unit_of_c_changes_no_choice(C: list[float], errors: list[int], place: Any, unit: float) -> None:
    ends = unit * np.array(C)
    low, high, error = ErrorCurve(ends, np.array(errors), 4).best()
    assert (low, high, error) == (*ends[list(place)], min(errors) / 4)


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("folds", [3, "loo"])
@pytest.mark.parametrize("weighted", [False, True])
def test_of_any_path_it_is_the_widest(weighted: bool, folds: Any, k: int) -> None:
    pytest.importorskip("scipy")
    rng = np.random.default_rng(k)
    y = np.arange(18) % k
    X, w = rng.normal(size=(18, 2)) + y[:, None], rng.exponential(size=18) + 0.1
    found = cross_validate_path(
        X, y, kernel=RBF(0.5), C_min=0.02, C_max=50.0, folds=folds, engine=FAST,
        sample_weight=w if weighted else None,
    )  # fmt: skip
    for curve in (found.curve, *found.curves[:3]):
        low, high, error = curve.best()
        assert (low, high) == widest(curve)
        assert curve.at(math.sqrt(low * high)) == error == curve.error.min()


def test_a_change_at_the_first_c_counts_from_there_on() -> None:
    curve = curve_of_changes((1.0, 2.0), 3, np.array([1.0, 1.5, 2.0]), np.array([-1, -1, -1]), 5)
    assert (curve.C.tolist(), curve.errors.tolist()) == ([1.0, 1.5, 2.0], [2, 1])
