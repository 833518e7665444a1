"""Derivatives of random problems are central differences of solves; at events both sides are those of paths."""

from collections import Counter

import pytest

from ...programs import module

pytest.importorskip("numba")
pytest.importorskip("scipy")
derivatives = module("audit.derivatives")
pytestmark = pytest.mark.filterwarnings("ignore")
SEEN = Counter()


@pytest.mark.seeds(*range(80))
def test_a_derivative_is_a_central_difference(seed):
    """Most problems have a derivative to compare: no condition above 1e8, no refusal, no event."""
    problem = derivatives.drawn(seed)
    said = derivatives.verdict(problem)
    assert not said.startswith("bad"), f"{problem}: {said}"
    SEEN[said[:4]] += 1
    assert SEEN["same"] > 0.85 * SEEN.total() - 5


@pytest.mark.seeds(*range(4))
def test_both_sides_of_an_event_are_slopes_and_differences(seed):
    assert derivatives.events(seed) == []
