"""α within rounding of its bound is set to the bound, by hand: K = I, z = 0, boxes [−1, 1]."""

from __future__ import annotations

import numpy as np
import pytest

from refsvm import DualProblem, KKTGap, MostViolatingPair, NewtonStep
from refsvm.core.guards.rounding import snap
from refsvm.core.solver.rules import Rules

from ...decisions import state_of

TINY = 2.0**-53


def at(alpha, lower=-1.0, upper=1.0, unit=1.0, gradient=(0.0, 0.0, 0.0), sum_=0.0):
    rules = Rules(MostViolatingPair(), NewtonStep(), KKTGap())
    state = state_of(rules, [unit] * 3, gradient, alpha, lower, upper)
    problem = state.problem
    state.problem = DualProblem(problem.gram, problem.v, sum_, problem.lower, problem.upper)
    return state


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_it_is_set_to_the_bound_that_is_near_and_g_stays(sign):
    """Σα lacks 2⁻⁵³; a G computed anew would be that of the new α."""
    state = at(sign * np.array([1.0 - TINY, -0.5, -0.5]), gradient=[0.25, 0.25, 0.25])
    state.objective = 99.0
    v, G = state.v, state.gradient.copy()
    assert G[0] == 0.25
    snap(state, 1e-3)
    assert state.alpha.tolist() == [sign, -0.5 * sign, -0.5 * sign]
    assert state.gradient.tolist() == G.tolist()
    # f = ½ αᵀ(v + G), and who may rise or fall, are those of the new point
    assert state.objective == pytest.approx(0.5 * float(state.alpha @ (v + G)))
    assert state.top == (1 if sign > 0.0 else 0)
    assert state.bottom == (0 if sign > 0.0 else 1)


@pytest.mark.parametrize(
    "case",
    [
        {"alpha": [1.0 - 1e-9, -0.5, -0.5 + 1e-9]},  # more than what Σα rounds by
        {"alpha": [1.0 - TINY, -0.5, -0.5], "gradient": [0.0, 0.2, -0.2]},  # the KKT gap is 0.4
        {
            "alpha": [1.0 - TINY, -0.5, -0.5],
            "unit": 1e14,
        },  # G would change by 1.1e-16 · 1e14, more than 1e-3/100
        {"alpha": [0.0, -0.5, 0.5]},
    ],
    ids=["far", "the gap is large", "G would change", "inside"],
)
def test_otherwise_it_stays(case):
    state = at(**case)
    before = state.alpha.copy()
    snap(state, 1e-3)
    assert state.alpha.tolist() == before.tolist()


def test_four_roundings_of_sigma_alpha_are_allowed_where_it_lacks_nothing():
    """Σ|α| = 2: a distance of 2⁻⁵³ is half of a rounding of it, and the sum is 0 without that."""
    state = at([1.0 - TINY, -0.5, -0.5 + TINY])
    assert state.alpha.sum() == 0.0
    snap(state, 1e-3)
    assert state.alpha.tolist() == [1.0, -0.5, -0.5 + TINY]
    # ten roundings are more
    state = at([1.0 - 40.0 * TINY, -0.5, -0.5 + 40.0 * TINY])
    before = state.alpha.tolist()
    snap(state, 1e-3)
    assert state.alpha.tolist() == before


def test_g_may_change_by_a_hundredth_of_the_tolerance_and_no_more():
    """Where K = k·I, G would change by k·2⁻⁵³."""
    most = 0.01 * 1e-3 / TINY
    for unit, end in ((most, 1.0), (1.001 * most, 1.0 - TINY)):
        state = at([1.0 - TINY, -0.5, -0.5], unit=unit)
        snap(state, 1e-3)
        assert state.alpha[0] == end


def test_what_sigma_alpha_lacks_is_allowed():
    """Its sum is short of z by 1e-9, so that a distance of 1e-9 is rounding too; in a box of 1e-4 it is not."""
    state = at([1.0 - 1e-9, -0.5, -0.5], sum_=0.0)
    snap(state, 1e-3)
    assert state.alpha[0] == 1.0
    state = at([1.0 - 1e-9, -0.5, -0.5], lower=[1.0 - 1e-4, -1.0, -1.0])
    snap(state, 1e-3)
    assert state.alpha[0] == 1.0 - 1e-9
