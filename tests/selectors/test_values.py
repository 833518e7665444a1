"""What each selector is made of: its default settings, and the numbers that its twin gets."""

from __future__ import annotations

import pytest

from refsvm import (
    CacheAware,
    ConjugateSecondOrder,
    Greedy,
    HybridMaximumGain,
    MaximumGain,
    MostViolatingPair,
    SecondOrder,
)

from ..values import is_a_value


@pytest.mark.parametrize(
    ("selector", "shown", "parameters"),
    [
        (MostViolatingPair(), "MostViolatingPair()", ()),
        (SecondOrder(), "SecondOrder(planned_range=0.9)", (0.9,)),
        (ConjugateSecondOrder(), "ConjugateSecondOrder()", ()),
        (Greedy(), "Greedy()", ()),
        (MaximumGain(), "MaximumGain(rows=2)", (2.0,)),
        (MaximumGain(rows=1), "MaximumGain(rows=1)", (1.0,)),
        (MaximumGain(rows="all"), "MaximumGain(rows='all')", (0.0,)),
        (HybridMaximumGain(), "HybridMaximumGain(eta=1e-08, rows=2)", (1e-8, 2.0)),
        (HybridMaximumGain(eta=0.25, rows="all"), "HybridMaximumGain(eta=0.25, rows='all')", (0.25, 0.0)),
        (CacheAware(), "CacheAware(eta=1e-08, rows=2)", (1e-8, 2.0)),
        (CacheAware(rows=1), "CacheAware(eta=1e-08, rows=1)", (1e-8, 1.0)),
    ],
    ids=repr,
)
def test_a_selector_is_a_value(selector, shown, parameters):
    is_a_value(selector, shown, parameters)
