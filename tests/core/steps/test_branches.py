"""Where a step has no curvature, no plan or no displacement to use, worked out by hand; what a step rule is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from refsvm import (
    ConjugateStep,
    EagerPlanningStep,
    KKTGap,
    NewtonStep,
    PlanningAheadStep,
    StepRule,
)

from ...decisions import length


def check(engine, step, expected, i, j, *problem, candidates=(), **known):
    mu, left = length(engine, step, i, j, *problem, **known)
    assert mu == pytest.approx(expected, rel=1e-14)
    assert left == [*map(list, candidates)]


@pytest.mark.parametrize("step", [NewtonStep(), PlanningAheadStep(), ConjugateStep()], ids=repr)
def test_a_step_without_curvature_goes_to_the_box(step, engine):
    expected = (0.75, 0.0) if step.uses_momentum else 0.75
    check(engine, step, expected, 0, 1, np.ones((2, 2)), [1.0, 0.0], [0.25, 0.0])


def planned(K, G, now, before, alpha, lower, upper):
    """(μ, gain of both steps) by maximising over (μ, μ₂); None where the maximum is not strictly inside the box."""
    K, unit = np.diag(K) if np.ndim(K) == 1 else np.asarray(K), np.eye(len(G))
    both = np.array([unit[now[0]] - unit[now[1]], unit[before[0]] - unit[before[1]]])
    mu = np.linalg.solve(both @ K @ both.T, both @ G)
    for point, d in ((alpha + mu[0] * both[0], both[0]), (alpha + mu @ both, both[1])):
        if not ((lower < point) & (point < upper))[d != 0.0].all():
            return None
    return mu[0], float(0.5 * mu @ (both @ G))


UNPLANNED = {
    "the last step was cut": {"last_free": 0},
    "the last step was planned": {"last_planned": 1},
    "there was no step": {"working_sets": [[-1, -1]]},
    "the last set had no curvature": {"curvatures": [1e-12]},
    "the last set is the same": {"working_sets": [[0, 1]]},
    "the last set is the same, reversed": {"working_sets": [[1, 0]]},
}


@pytest.mark.parametrize("name", UNPLANNED)
def test_no_plan(name, engine):
    known = {"last_free": 1, "working_sets": [[2, 3]], "curvatures": [2.0], **UNPLANNED[name]}
    K = np.array([[1.0, 0.0, 0.2, 0.0], [0.0, 1.0, 0.0, 0.0], [0.2, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]])
    G = [1.0, 0.0, 1.0, 0.5]
    plan = planned(K, G, (0, 1), (2, 3), np.zeros(4), np.full(4, -1.0), np.ones(4))
    check(engine, PlanningAheadStep(), 0.5, 0, 1, K, G, **known)
    # the same with nothing in the way
    known = {"last_free": 1, "last_planned": 0, "working_sets": [[2, 3]], "curvatures": [2.0]}
    check(engine, PlanningAheadStep(), plan[0], 0, 1, K, G, candidates=[(2, 3)], **known)
    assert abs(plan[0] - 0.5) > 0.01


@pytest.mark.parametrize("name", UNPLANNED)
def test_the_eager_rule_plans_after_a_step_that_was_cut(name, engine):
    """Algorithm 2 asks no more of the last step than that it was not planned; all else is as above."""
    known = {"last_free": 1, "working_sets": [[2, 3]], "curvatures": [2.0], **UNPLANNED[name]}
    K = np.array([[1.0, 0.0, 0.2, 0.0], [0.0, 1.0, 0.0, 0.0], [0.2, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]])
    G = [1.0, 0.0, 1.0, 0.5]
    plan = planned(K, G, (0, 1), (2, 3), np.zeros(4), np.full(4, -1.0), np.ones(4))
    plans = name == "the last step was cut"
    expected = plan[0] if plans else 0.5
    candidates = [(2, 3)] if plans else []
    check(engine, EagerPlanningStep(), expected, 0, 1, K, G, candidates=candidates, **known)


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


def conjugate(K, G, i, j, delta, alpha, lower, upper):
    """(μ, κ) with μ(eᵢ − eⱼ) + κΔ the best inside the box of those in the direction p, pᵀKΔ = 0; and p."""
    K, d = np.asarray(K), np.eye(len(G))[i] - np.eye(len(G))[j]
    p = d - (d @ K @ delta) / (delta @ K @ delta) * delta
    with np.errstate(divide="ignore", invalid="ignore"):
        ends = np.where(p > 0.0, (upper - alpha) / p, np.where(p < 0.0, (lower - alpha) / p, np.inf))
    mu = min((p @ G) / (p @ K @ p), ends.min())
    return mu, mu * float(-(d @ K @ delta) / (delta @ K @ delta)), int(ends.argmin())


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
    mu, kappa, _ = conjugate(MATRIX, SLOPES, 0, 1, DELTA, np.zeros(4), np.full(4, -1.0), np.ones(4))
    expected = (NEWTON, 0.0) if plain else (mu, kappa)
    check(engine, ConjugateStep(max_support=most), expected, 0, 1, MATRIX, SLOPES, **CARRIED)


@dataclass(frozen=True)
class Own(StepRule):
    history: Any = 0

    def length(self, state, i, j):
        return 0.0


@pytest.mark.parametrize("history", [-1, 1.0, "1", None])
def test_a_history_is_a_whole_number(history):
    with pytest.raises(
        ValueError, match=r"Own.history is .*; give a whole number of working sets, 0 or more"
    ):
        StepRule.checked("step", Own(history))


def test_a_step_rule_is_returned_as_it_is():
    for step in (Own(), Own(3), Own(np.int64(2)), NewtonStep()):
        assert StepRule.checked("step", step) is step
    assert (NewtonStep().history, PlanningAheadStep(history=3).history) == (0, 3)
    assert (NewtonStep().uses_momentum, ConjugateStep().uses_momentum) == (False, True)
    with pytest.raises(
        ValueError, match=r"step=KKTGap\(.*\) is not a StepRule; pass .* such as step=NewtonStep\(\)"
    ):
        StepRule.checked("step", KKTGap())
    with pytest.raises(TypeError, match="length"):
        StepRule()
