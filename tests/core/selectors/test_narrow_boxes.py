"""Variables of little room, in a narrow box or next to a bound, where exact gains are rounding: all rules converge."""

from __future__ import annotations

import numpy as np
import pytest

from refsvm import (
    Greedy,
    HybridMaximumGain,
)

from ...decisions import pair
from ...programs import module
from ...settings import INTERPRETED, NUMBA

narrow = module("audit.narrow")
any_narrow, complaints_about = narrow.any_narrow, narrow.complaints_about

STALLED_BEFORE = [
    6, 8, 20, 24, 28, 35, 38, 41, 42, 50, 60, 68, 69, 74, 76, 78, 84, 96, 108, 112, 113, 117, 123, 129,
]  # fmt: skip
"""Seeds that take few steps, and took no more or for ever while gain alone decided."""

OTHERS = [1, 2, 3, 4, 5, 7, 10, 11, 12, 13, 15, 16]

BY_GAIN = [
    Greedy(), HybridMaximumGain(), HybridMaximumGain(eta=0.0), HybridMaximumGain(eta=0.1, rows=1),
    HybridMaximumGain(rows="all"),
]  # fmt: skip


@pytest.mark.seeds(*STALLED_BEFORE, *OTHERS)
def test_narrow_boxes_and_starts_next_to_a_bound_converge_in_both_engines(seed):
    compared = 50 if INTERPRETED else 1000
    assert complaints_about(any_narrow(seed), compiled=NUMBA, compared=compared) == []


# {0, 1} has this slope and much room; {2, 3} violates most, by ψ = 2, and has this room.  K = I, so q = 2: the first
# gains 2g = ℓ²/2, the second 4 times its room
CHOICES = {
    "the larger gain": ((0, 1), 1.0, 1e-3),
    "the larger gain, of the smaller room": ((2, 3), 1e-3, 1e-3),
    "a violation of more than 1e-9 ψ": ((0, 1), 2.5e-9, 1e-25),
    "a violation of less is rounding": ((2, 3), 1.5e-9, 1e-25),
    "as is one of the last bit": ((2, 3), 2.0**-52, 1e-52),
    # 2ψ · room = 4e-10 and 6e-10, and 1e-9 · 2g = 5e-10
    "less room than 1e-9 of the gain": ((2, 3), 1.0, 1e-10),
    "more room than 1e-9 of the gain": ((0, 1), 1.0, 1.5e-10),
}


@pytest.mark.parametrize("side", ["rises", "falls"])
@pytest.mark.parametrize("selector", [Greedy(), HybridMaximumGain()], ids=repr)
@pytest.mark.parametrize("name", CHOICES)
def test_gain_decides_unless_it_is_rounding_or_the_room_next_to_nothing(name, selector, side, engine):
    expected, slope, room = CHOICES[name]
    if isinstance(selector, HybridMaximumGain) and name == "the larger gain, of the smaller room":
        expected = (0, 3) if side == "rises" else (2, 1)  # it looks at the rows of the last pair
    lower, upper = np.full(4, -1.0), np.full(4, 1.0)
    upper[2], lower[3] = (room, -1.25 * room) if side == "rises" else (1.25 * room, -room)
    G = [0.5 * slope, -0.5 * slope, 1.0, -1.0]
    known = {"working_sets": np.array([[0, 1]])} if isinstance(selector, HybridMaximumGain) else {}
    assert pair(engine, selector, [1.0] * 4, G, 0.0, lower, upper, **known) == expected


@pytest.mark.parametrize("selector", [Greedy(), HybridMaximumGain()], ids=repr)
def test_a_gain_below_the_least_number_is_one(selector, engine):
    """2g = 0.4 · 5e-324 is rounded to 0; the pair violates all the same, and a step takes it to its bound."""
    lower, upper = np.array([-1.0, -1.0]), np.array([5e-324, 1.0])
    known = {"working_sets": np.array([[0, 1]])} if isinstance(selector, HybridMaximumGain) else {}
    assert pair(engine, selector, [1.0, 1.0], [0.1, -0.1], 0.0, lower, upper, **known) == (0, 1)


def test_a_rule_that_gives_up_is_told(monkeypatch):
    monkeypatch.setattr("refsvm.core.selectors.greedy.Greedy.select", lambda self, state: (-1, -1))
    seed = next(seed for seed in range(99) if any_narrow(seed).options["selector"] == Greedy())
    assert complaints_about(any_narrow(seed), compiled=False)[0].startswith("STALLED with a gap of ")


def test_seeds_cover_what_they_should():
    drawn = [any_narrow(seed) for seed in range(200)]
    kinds = {word for trial in drawn for word in trial.kind.split(", ")}
    weights = {"weights falling", "weights of all sizes", "weights tiny or 1", "weights equal"}
    starts = {"start cold", "start within 1e-25", "start within 1e-313"}
    assert {"classes", "regression", "one class"} | weights | starts <= kinds
    assert {type(rule) for rule in BY_GAIN} <= {type(trial.options["selector"]) for trial in drawn}
