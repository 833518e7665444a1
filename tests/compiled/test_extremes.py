"""Extremes of many floats in compiled code: the same as NumPy's, the lowest index first, −0 and 0 alike."""

from __future__ import annotations

import numpy as np
import pytest

from ..settings import needs_jit

SIDES = 1, 2


@pytest.fixture(scope="module")
def compiled():
    """Return what looks for the largest and smallest value, and what looks for the place of a value on a side."""
    pytest.importorskip("numba")
    from numba import njit

    from refsvm.compiled.interface.extremes import MOST, larger, place_on_side, smaller

    @njit
    def extremes(values):
        high, low = -MOST, MOST
        for t in range(len(values)):
            high, low = larger(high, values[t]), smaller(low, values[t])
        return high, low

    return extremes, njit(lambda v, s, side, extreme: place_on_side(v, s, side, extreme))  # noqa: PLW0108


@needs_jit
@pytest.mark.parametrize("n", [1, 2, 7, 8, 9, 31, 128])
def test_extremes_are_those_of_numpy(n, compiled):
    values = np.random.default_rng(n).normal(size=n)
    assert compiled[0](values) == (values.max(), values.min())
    assert compiled[0](np.append(values, np.inf)) == (np.inf, values.min())
    assert compiled[0](np.full(n, -0.0)) == (0.0, 0.0)


@needs_jit
@pytest.mark.parametrize("n", [1, 2, 7, 8, 9, 31, 128])
@pytest.mark.parametrize("side", SIDES)
def test_the_place_is_the_lowest_index_on_that_side(n, side, compiled):
    rng = np.random.default_rng(n)
    values = rng.choice([-1.0, -0.0, 0.0, 2.0], size=n)
    sides = rng.integers(0, 4, size=n).astype(np.int8)
    for extreme in (-1.0, -0.0, 0.0, 2.0):
        there = np.flatnonzero((values == extreme) & ((sides & side) != 0))
        wanted = there[0] if len(there) else n - 1
        assert compiled[1](values, sides, side, extreme) == wanted
