"""Where a step has no curvature, no plan or no displacement to use, worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from refsvm import ConjugateStep, EagerPlanningStep, NewtonStep, PlanningAheadStep

from ...decisions import length


def check(engine, step, expected, i, j, *problem, candidates=(), **known):
    mu, left = length(engine, step, i, j, *problem, **known)
    assert mu == pytest.approx(expected, rel=1e-14)
    assert left == [*map(list, candidates)]


@pytest.mark.parametrize("step", [NewtonStep(), PlanningAheadStep(), ConjugateStep()], ids=repr)
def test_a_step_without_curvature_goes_to_the_box(step, engine):
    expected = (0.75, 0.0) if step.uses_momentum else 0.75
    check(engine, step, expected, 0, 1, np.ones((2, 2)), [1.0, 0.0], [0.25, 0.0])


UNPLANNED = {
    "the last step was cut": {"last_free": 0},
    "the last step was planned": {"last_planned": 1},
    "there was no step": {"working_sets": [[-1, -1]]},
    "the last set had no curvature": {"curvatures": [1e-12]},
    "the last set is the same": {"working_sets": [[0, 1]]},
    "the last set is the same, reversed": {"working_sets": [[1, 0]]},
}


@pytest.mark.parametrize("rule", [PlanningAheadStep(), EagerPlanningStep()], ids=repr)
@pytest.mark.parametrize("name", [*UNPLANNED, "nothing is in the way"])
def test_when_a_step_is_planned(name, rule, engine):
    """Algorithm 2 asks no more of the last step than that it was not planned, so that it may have been cut."""
    known = {"last_free": 1, "working_sets": [[2, 3]], "curvatures": [2.0], **UNPLANNED.get(name, {})}
    K = np.array([[1.0, 0.0, 0.2, 0.0], [0.0, 1.0, 0.0, 0.0], [0.2, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]])
    G = np.array([1.0, 0.0, 1.0, 0.5])
    both = np.array([[1.0, -1.0, 0.0, 0.0], [0.0, 0.0, 1.0, -1.0]])
    plan = np.linalg.solve(both @ K @ both.T, both @ G)[0]
    plans = name not in UNPLANNED or (name == "the last step was cut" and isinstance(rule, EagerPlanningStep))
    expected, candidates = (plan, [(2, 3)]) if plans else (0.5, [])
    check(engine, rule, expected, 0, 1, K, G, candidates=candidates, **known)
    assert abs(plan - 0.5) > 0.01


def test_no_plan_for_a_pair_without_curvature(engine):
    check(
        engine, PlanningAheadStep(), 1.0, 0, 1, np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
        [1.0, 0.0, 0.5], last_free=1, working_sets=[[2, 1]], curvatures=[2.0],
    )  # fmt: skip


@pytest.mark.parametrize("curvature", [1e-12, 0.5e-12, 1.5e-12])
@pytest.mark.parametrize("which", ["this set", "the last set"])
def test_no_plan_where_one_of_two_sets_has_no_curvature(which, curvature, engine):
    """Slopes of 10⁻¹³ leave both steps inside the box; with a curvature above 10⁻¹² there is a plan."""
    own = which == "this set"
    K = np.array([curvature, 0.0, 1.0, 1.0] if own else [1.0, 1.0, curvature, 0.0])
    G = [1e-13, 0.0, 0.5, 0.0] if own else [1.0, 0.0, 1e-13, 0.0]
    known = {"last_free": 1, "working_sets": [[2, 3]], "curvatures": [2.0 if own else curvature]}
    expected = G[0] / (K[0] + K[1])
    plans = curvature > 1e-12
    check(
        engine, PlanningAheadStep(), expected, 0, 1, K, G, candidates=[(2, 3)] if plans else [], **known
    )  # fmt: skip


MATRIX = np.array([[2.0, 0.3, 0.6, 0.1], [0.3, 1.5, -0.4, 0.2], [0.6, -0.4, 1.0, 0.1], [0.1, 0.2, 0.1, 1.2]])
DELTA = np.array([0.0, 0.0, 0.4, -0.4])
SLOPES = [1.0, -0.5, 0.2, 0.2]  # Δ has none
CARRIED = {
    "displacement": DELTA, "displacement_image": MATRIX @ DELTA, "carried_curvature": float(DELTA @ MATRIX @ DELTA),
    "last_free": 1,
}  # fmt: skip


NEWTON = 1.5 / 2.9
PLAIN = {
    "there is no step yet": {"carried_curvature": 0.0},
    "the last one was cut": {"last_free": 0},
    "p has no curvature but rounding": {"carried_curvature": float((0.4 * 0.3) ** 2 / 2.9 * (1.0 + 9e-11))},
}


@pytest.mark.parametrize("name", PLAIN)
def test_a_conjugate_step_is_newtons_where(name, engine):
    known = {**CARRIED, **PLAIN[name]}
    if "curvature" in name:  # q − β²/q_Δ with β = 0.12
        known["displacement_image"] = np.array([0.12, 0.0, 0.4, -0.4])
    check(engine, ConjugateStep(), (NEWTON, 0.0), 0, 1, MATRIX, SLOPES, **known)


@pytest.mark.parametrize(("most", "plain"), [(4, False), (3, True)])
def test_a_conjugate_step_moves_so_many_variables(most, plain, engine):
    """Inside the box (μ, κ) is the best along p = e₀ − e₁ + κ/μ Δ, which pᵀKΔ = 0 defines."""
    pair = np.array([1.0, -1.0, 0.0, 0.0])
    share = -(pair @ MATRIX @ DELTA) / (DELTA @ MATRIX @ DELTA)
    p = pair + share * DELTA
    mu = (p @ SLOPES) / (p @ MATRIX @ p)
    expected = (NEWTON, 0.0) if plain else (mu, share * mu)
    check(engine, ConjugateStep(max_support=most), expected, 0, 1, MATRIX, SLOPES, **CARRIED)
