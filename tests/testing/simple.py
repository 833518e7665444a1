"""Simple rules without twins, which the tests of `check_strategy` break, and what it has to say of them."""

from __future__ import annotations

import pytest

from refsvm import StepRule, StoppingRule, WorkingSetSelector
from refsvm.testing import check_strategy


class Pair(WorkingSetSelector):
    """The most violating pair, to be broken by subclasses; no twin."""

    def select(self, state):
        return (state.top, state.bottom) if state.gap > 0.0 else (-1, -1)


class Newton(StepRule):
    """The clipped Newton step, to be broken by subclasses; no twin."""

    def length(self, state, i, j):
        return min(max(state.slope / state.curvature, state.low), state.high)


class Gap(StoppingRule):
    """ψ ≤ 1e-3, to be broken by subclasses; no twin."""

    def check(self, state):
        return int(state.gap <= 1e-3)


def fails(rule, words: str) -> str:
    with pytest.raises(AssertionError, match=words) as failure:
        check_strategy(rule)
    sentence = str(failure.value)
    assert sentence.endswith(".")
    return sentence
