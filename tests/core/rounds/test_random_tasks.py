"""Leave-one-out and folds of random tasks are those of refits, and bounds of unfinished scores hold."""

import pytest

from ...programs import complaints_of

pytest.importorskip("numba")
refits, interruptions = complaints_of("every_machine"), complaints_of("interruptions")


@pytest.mark.parametrize("seed", range(40))
def test_values_and_predictions_are_those_of_refits_in_both_engines_and_by_threads(seed):
    assert refits(seed) == []


@pytest.mark.parametrize("seed", range(30))
def test_the_bounds_of_what_is_interrupted_hold(seed):
    assert interruptions(seed) == []
