"""(S1) to (S4): which examples block λ, and where they are put; how often that is tried."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from refsvm.core.walk.special_events import SwitchingGuard, blocking
from refsvm.core.walk.walk import ABOVE, BELOW, FREE

# how fast each nears U, L and G = b, and how far that is
CASES = {
    "(S1): at U and moving out": ([1.0, 0.0, 0.0], [0.0, 1.0, 0.0], ABOVE),
    "(S2): at L and moving out": ([0.0, 1.0, 0.0], [1.0, 0.0, 0.0], BELOW),
    "(S3), (S4): at G = b and moving out of its set": ([0.0, 0.0, 1.0], [9.0, 9.0, 0.0], FREE),
    "near, reached after the shortest step": ([2.0, 0.0, 0.0], [2e-3, 1.0, 0.0], ABOVE),
    "not so near": ([2.0, 0.0, 0.0], [3e-3, 1.0, 0.0], None),
    "at U and moving in": ([0.0, 1.0, 0.0], [0.0, 1.0, 0.0], None),
}


@pytest.mark.parametrize("regular", [True, False])
@pytest.mark.parametrize("name", CASES)
def test_what_blocks_and_where_it_goes(name: str, regular: bool) -> None:
    """Null vectors may keep a free example in its box, so S1 and S2 ask for a regular system."""
    rates, distances, side = CASES[name]
    walk: Any = SimpleNamespace(
        rates=lambda noise: np.array(rates)[:, None], distances=lambda: np.array(distances)[:, None]
    )
    expected = [] if side is None or (side != FREE and not regular) else [(0, side)]
    assert blocking(walk, (0.0, 0.0), 1e-3, regular) == expected


def test_the_derivative_is_asked_three_times_at_one_t() -> None:
    guard = SwitchingGuard(50)
    assert [guard.may_choose() for _ in range(5)] == [True, True, True, False, False]


def test_sets_that_return_are_flipped_one_at_a_time_and_then_given_up() -> None:
    guard, walk = SwitchingGuard(50), SimpleNamespace(side=np.zeros(2, dtype=np.int8))
    seen = []
    for first in (0, 1, 0, 1, 0):
        walk.side[0] = first
        seen.append((guard.looping(walk), guard.one_at_a_time))
    assert seen == [(False, False), (False, False), (False, True), (False, True), (True, True)]


def test_more_than_ell_special_events_are_given_up() -> None:
    guard, walk, seen = SwitchingGuard(2), SimpleNamespace(side=np.zeros(1, dtype=np.int8)), []
    for side in range(4):
        walk.side[0] = side
        seen.append(guard.looping(walk))
    assert seen == [False, False, True, True]
