"""Leave-one-out and folds of random tasks are those of refits, their signs right, and bounds of parts of them hold."""

from collections import Counter
from types import SimpleNamespace

import pytest

from ...programs import module

pytest.importorskip("numba")
refits, interruptions, signs = (module(f"audit.{name}") for name in ("left_out", "interruptions", "signs"))
SEEN = Counter()


@pytest.mark.seeds(*range(40), 393)
def test_values_and_predictions_are_those_of_refits_in_both_engines_and_by_threads(seed):
    assert refits.complaints_about(seed) == []


@pytest.mark.seeds(*range(30))
def test_the_bounds_of_what_is_interrupted_hold(seed):
    assert interruptions.complaints_about(seed) == []


@pytest.mark.seeds(*range(30))
def test_the_sign_of_an_example_on_a_level_set_of_its_machine_is_right_and_proved_where_it_is_easy(seed):
    """`python -m benchmarks.audit signs` draws more: each rule, seeder and check, up to 10,000 away from the others."""
    found = signs.case(seed, SimpleNamespace(numpy=0.1, all=0.0))
    assert found.complaints == [], found.shown
    SEEN.update(found.counts)
    assert SEEN["easy tie"] + SEEN["easy limit"] <= 0.01 * SEEN["easy"], found.shown
