"""A simple rule without a twin, which the tests of `check_strategy` break, and what it has to say of it."""

from __future__ import annotations

import pytest

from refsvm import WorkingSetSelector
from refsvm.testing import check_strategy


class Pair(WorkingSetSelector):
    """The most violating pair, to be broken by subclasses; no twin."""

    def select(self, state):
        return (state.top, state.bottom) if state.gap > 0.0 else (-1, -1)


def fails(rule, words: str) -> str:
    with pytest.raises(AssertionError, match=words) as failure:
        check_strategy(rule)
    sentence = str(failure.value)
    assert sentence.endswith(".")
    return sentence
