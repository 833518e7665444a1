"""ErrorCurve: the best interval is the widest in log C, beside all intervals."""

from __future__ import annotations

import math

import numpy as np
import pytest

from refsvm.analysis.paths import ErrorCurve
from refsvm.analysis.paths.error_curve import curve_of_changes


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
def test_best_is_the_widest_in_log_c_in_any_unit(seed: int, weight: float) -> None:
    rng = np.random.default_rng(seed)
    for k in (1, 2, 3, 5, 9):
        C, errors = np.exp(np.sort(rng.uniform(-9.0, 9.0, k + 1))), rng.integers(1, 3, k) * weight
        for unit in (1e-6, 1.0, 1e7):
            curve = ErrorCurve(unit * C, errors, 20.0 * weight)
            low, high, error = curve.best()
            assert (low, high, error) == (*widest(curve), curve.error.min())
            assert curve.at(math.sqrt(low * high)) == error


def test_the_first_of_equally_wide_intervals_is_the_best() -> None:
    assert ErrorCurve(np.array([1.0, 8.0, 16.0, 128.0]), np.array([0, 1, 0]), 4).best() == (1.0, 8.0, 0.0)


def test_a_change_at_the_first_c_counts_from_there_on() -> None:
    curve = curve_of_changes((1.0, 2.0), 3, np.array([1.0, 1.5, 2.0]), np.array([-1, -1, -1]), 5)
    assert (curve.C.tolist(), curve.errors.tolist()) == ([1.0, 1.5, 2.0], [2, 1])
