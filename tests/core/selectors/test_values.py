"""What each selector is made of: its default settings, and the numbers that its twin gets."""

from __future__ import annotations

import numpy as np
import pytest

from refsvm import (
    ConjugateSecondOrder,
    Greedy,
    HybridMaximumGain,
    ImprovedSMO,
    MaximumGain,
    MostViolatingPair,
    SecondOrder,
    WorkingSetSelector,
)

from ...values import is_a_value, remembers_as, what_it_says


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
        (ImprovedSMO(), "ImprovedSMO(tol=0.001)", (1e-3,)),
        (HybridMaximumGain(eta=0.25, rows="all"), "HybridMaximumGain(eta=0.25, rows='all')", (0.25, 0.0)),
    ],
    ids=repr,
)
def test_a_selector_is_a_value(selector, shown, parameters):
    is_a_value(selector, shown, parameters)
    remembers_as(selector, WorkingSetSelector)


@pytest.mark.parametrize(
    ("selector", "says"),
    [
        (MostViolatingPair(), set()),
        (SecondOrder(), {"takes_candidates"}),
        (ConjugateSecondOrder(), {"takes_displacement"}),
        (Greedy(), set()),
        (MaximumGain(), {"may_stall"}),
        (HybridMaximumGain(), set()),
        (ImprovedSMO(), set()),
    ],
    ids=repr,
)
def test_what_a_selector_says_of_itself(selector, says):
    """Maximum gain alone may stall (theorem 7); candidates of a planned step are for second order."""
    assert what_it_says(selector) == says


@pytest.mark.parametrize("rows", [0, 3, -1, 1.5, "none", None, 2j, np.array(2), np.array([1, 2])])
@pytest.mark.parametrize("kind", [MaximumGain, HybridMaximumGain])
def test_a_number_of_rows_that_no_scan_knows_is_refused(kind, rows):
    with pytest.raises(
        ValueError, match=r"(?s)rows=.* is unknown; give 2 \(the paper's rule\), 1 or \"all\"."
    ):
        kind(rows=rows)


@pytest.mark.parametrize("eta", [-1e-300, 0.5, 0.6, 1.0, np.inf, np.nan])
def test_a_margin_of_the_hybrid_is_less_than_half_of_a_box(eta):
    with pytest.raises(ValueError, match="eta="):
        HybridMaximumGain(eta=eta)
    assert HybridMaximumGain(eta=0.0).eta == 0.0


def test_a_selector_without_a_body_cannot_be_made():
    with pytest.raises(TypeError, match="abstract"):
        WorkingSetSelector()
