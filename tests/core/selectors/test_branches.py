"""The pair that each selector chooses where random states hardly come: no pair, open boxes, corners, passes."""

from __future__ import annotations

import numpy as np
import pytest

from refsvm import (
    HybridMaximumGain,
    ImprovedSMO,
    MaximumGain,
    PlanningAheadStep,
    SecondOrder,
)
from refsvm.testing.shipped import SELECTORS

from ...decisions import pair

NONE = (-1, -1)


def check(engine, selector, expected, *problem, **known):
    assert pair(engine, selector, *problem, **known) == expected


@pytest.mark.parametrize("selector", SELECTORS, ids=repr)
@pytest.mark.parametrize("G", [[1.0, 1.0, 1.0], [1.0, 2.0, 2.0]])
def test_no_pair_at_the_optimum(selector, G, engine):
    """The largest G of those that may rise is the smallest of those that may fall, or below it."""
    check(engine, selector, NONE, [1.0] * 3, G, [-1.0, 1.0, 1.0])


def test_a_candidate_without_slope_is_none(engine):
    check(
        engine, SecondOrder(), (0, 1), [1.0] * 4, [2.0, 0.0, 1.0, 1.0], step=PlanningAheadStep(),
        candidates=[[2, 3]], candidate_curvatures=[1e-300], n_candidates=1,
    )  # fmt: skip


SETS = {"working_sets": [[0, 1], [2, 3]], "curvatures": [2.0, 2.0]}


@pytest.mark.parametrize("selector", [MaximumGain(), HybridMaximumGain(), MaximumGain(rows=1)], ids=repr)
def test_the_first_set_is_the_most_violating_pair(selector, engine):
    check(engine, selector, (3, 2), [1.0, 1.0, 99.0, 1.0], [1.9, 0.1, -2.0, 2.0])
    check(engine, selector, (1, 0), [1.0, 1.0], [0.0, 0.4])


def test_maximum_gain_finds_nothing_in_a_corner(engine):
    """0 can only fall and has the largest G, 1 can only rise and has the smallest; {3, 2} would gain."""
    for selector, expected in ((MaximumGain(), NONE), (HybridMaximumGain(), (3, 2))):
        check(engine, selector, expected, [0.0] * 4, [9.0, -9.0, -2.0, 2.0], [1.0, -1.0, 0.0, 0.0], **SETS)


@pytest.mark.parametrize("eta", [0.0, 1e-8, 0.1])
@pytest.mark.parametrize("lower", [-np.inf, 0.0])
def test_the_hybrid_counts_a_variable_of_an_open_box_as_free_unless_it_is_at_its_bound(lower, eta, engine):
    """The pair that gains most with 0 is {3, 0}; the most violating pair is {3, 2}, which is chosen at the bounds."""
    for alpha in (0.0, 0.5, 5.0):
        is_free = alpha > lower
        check(
            engine, HybridMaximumGain(eta=eta), (3, 0) if is_free else (3, 2), [1.0] * 4, [-1.5, 0.0, -2.0, 2.0],
            [alpha, 0.0, 0.0, 0.0], [lower, 0.0, -0.5, 0.0], [np.inf, np.inf, 1.0, 1.0], **SETS,
        )  # fmt: skip


def test_the_hybrid_goes_on_where_no_reselection_gains(engine):
    """With η = 0 a variable next to its bound is free, and its room is too little to gain in floating point."""
    check(
        engine, HybridMaximumGain(eta=0.0), (3, 2), [1.0] * 4, [9.0, -9.0, -2.0, 2.0], [5e-324, 0.0, -1.0, -1.0],
        [0.0, 0.0, -2.0, -2.0], [5e-324, 0.0, 0.0, 0.0], **SETS,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("expected", "scan", "known"),
    [
        ((1, 2), [4.0, 1.0, 0.5], {}),  # the worst pair of those that are known
        (
            (1, 0),
            [4.0, 1.0, 0.5],
            {"stalled": 1},
        ),  # its last step was 0: a pass; of equal violations the one of up
        ((3, 2), [3.0, 1.0, 3.5], {}),  # of the violations of 3 the larger one, 4
        ((1, 2), [3.0, 1.0, 4.5], {}),  # this pass ends, and pairs follow
        ((1, 2), [3.0, 0.0, 7.0], {}),  # no example violates as much: half of the gap
    ],
)
def test_improved_smo_goes_on_where_it_was(expected, scan, known, engine):
    """All four variables are free; memory: up, down, the next example, whether the pass has stepped, 2τ, the count."""
    memory = [-1.0, -1.0, *scan, 0.0]
    check(engine, ImprovedSMO(), expected, [1.0] * 4, [0.0, 3.0, -3.0, 1.0], selector_memory=memory, **known)
