"""Derivatives of random problems are central differences of solves; at events both sides are those of paths."""

import pytest

from ...programs import complaints_of

pytest.importorskip("numba")
pytest.importorskip("scipy")
differences, events = complaints_of("derivatives"), complaints_of("events")


@pytest.mark.parametrize("seed", range(80))
def test_a_derivative_is_a_central_difference(seed):
    assert differences(seed) == []


@pytest.mark.parametrize("seed", range(4))
def test_both_sides_of_an_event_are_slopes_and_differences(seed):
    assert events(seed) == []
