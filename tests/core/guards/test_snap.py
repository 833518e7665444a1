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


MOST = 0.01 * 1e-3 / TINY
"""Where K = k·I, G would change by k·2⁻⁵³: a hundredth of the tolerance."""

HALVES = [-0.5, -0.5]
CASES = {
    # Σ|α| = 2: 2⁻⁵³ is half of a rounding of it; four are allowed where it lacks nothing, and ten are more
    "within rounding": ([1.0 - TINY, *HALVES], {}, 1.0),
    "the sum is 0 without it": ([1.0 - TINY, -0.5, -0.5 + TINY], {}, 1.0),
    "ten roundings": ([1.0 - 40.0 * TINY, -0.5, -0.5 + 40.0 * TINY], {}, None),
    "far": ([1.0 - 1e-9, -0.5, -0.5 + 1e-9], {}, None),
    "inside": ([0.0, -0.5, 0.5], {}, None),
    "the gap is large": ([1.0 - TINY, *HALVES], {"gradient": [0.0, 0.2, -0.2]}, None),
    "G would change": ([1.0 - TINY, *HALVES], {"unit": 1e14}, None),
    "G would change by as much as it may": ([1.0 - TINY, *HALVES], {"unit": MOST}, 1.0),
    "and by more": ([1.0 - TINY, *HALVES], {"unit": 1.001 * MOST}, None),
    # z is further away by 1e-9; in a box of 1e-4 that is no rounding
    "what the sum lacks": ([1.0 - 1e-9, *HALVES], {}, 1.0),
    "and a narrow box": ([1.0 - 1e-9, *HALVES], {"lower": [1.0 - 1e-4, -1.0, -1.0]}, None),
}


@pytest.mark.parametrize("name", CASES)
def test_which_alpha_is_set_to_its_bound(name):
    alpha, given, end = CASES[name]
    state = at(alpha, **given)
    snap(state, 1e-3)
    assert state.alpha.tolist() == [alpha[0] if end is None else end, *alpha[1:]]
