"""The step of each rule, worked out by hand for every branch of its body, on both sides."""

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
    OverrelaxedNewtonStep,
    PlanningAheadStep,
    StepRule,
)

from ...decisions import length


def check(engine, step, expected, i, j, *problem, candidates=(), **known):
    mu, left = length(engine, step, i, j, *problem, **known)
    assert mu == pytest.approx(expected, rel=1e-14)
    assert left == [*map(list, candidates)]


# ℓ = 1 and q = 2 along (0, 1), so that Newton's step is 0.5; α and the box
CLIPPED = {
    "free": (0.5, 0.0, -1.0, 1.0),
    "i reaches U": (0.25, [0.75, 0.0], -1.0, 1.0),
    "j reaches L": (0.125, [0.0, -0.875], -1.0, 1.0),
}


@pytest.mark.parametrize("name", CLIPPED)
@pytest.mark.parametrize("factor", [None, 0.5, 1.1, 1.5])
def test_a_step_is_cut_at_the_box(name, factor, engine):
    """ω·ℓ/q is cut, and not ω times what is cut: a step inside the box leaves Σα as it is."""
    mu, alpha, lower, upper = CLIPPED[name]
    step, omega = (NewtonStep(), 1.0) if factor is None else (OverrelaxedNewtonStep(factor), factor)
    expected = omega * 0.5 if name == "free" else min(omega * 0.5, mu)
    check(engine, step, expected, 0, 1, [1.0, 1.0], [1.0, 0.0], alpha, lower, upper)


@pytest.mark.parametrize(
    "step", [NewtonStep(), OverrelaxedNewtonStep(), PlanningAheadStep(), ConjugateStep()], ids=repr
)
@pytest.mark.parametrize(
    ("mu", "alpha"), [(-0.25, [-0.75, 0.0]), (-0.125, [0.0, 0.875])], ids=["i falls to L", "j rises to U"]
)
def test_a_step_downhill_is_cut_at_the_other_end(mu, alpha, step, engine):
    """lo = max(Lᵢ − αᵢ, αⱼ − Uⱼ); no shipped selector asks for it."""
    expected = (mu, 0.0) if step.uses_momentum else mu
    check(engine, step, expected, 0, 1, [1.0, 1.0], [0.0, 1.0], alpha)


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


def newton(K, G, i, j):
    return (G[i] - G[j]) / (K[i] + K[j])


# K = diag(1, 1, 1, 1); G; i, j now; k, m before; α. Without a bound in the way, each way in which the sets may share
PLANS = {
    "no variable is shared": ([2.0, 0.0, 1.0, 0.5], (0, 1), (2, 3), 0.0, True),
    "k = i": ([2.0, 0.0, 1.0, 0.5], (0, 1), (0, 3), 0.0, True),
    "k = j": ([2.0, 0.0, 1.0, 0.5], (0, 1), (1, 3), 0.0, True),
    "m = i": ([2.0, 0.0, 1.0, 0.5], (0, 1), (2, 0), 0.0, True),
    "m = j": ([2.0, 0.0, 1.0, 0.5], (0, 1), (2, 1), 0.0, True),
    "the second goes down": ([2.0, 0.0, 1.0, 2.5], (0, 1), (2, 3), 0.0, True),
    "i has no room": ([2.0, 0.0, 1.0, 0.5], (0, 1), (2, 3), [4.5, 0.0, 0.0, 0.0], False),
    "j has no room": ([2.0, 0.0, 1.0, 0.5], (0, 1), (2, 3), [0.0, -4.5, 0.0, 0.0], False),
    "k has no room to rise": ([2.0, 0.0, 1.0, 0.5], (0, 1), (2, 3), [0.0, 0.0, 4.9, 0.0], False),
    "m has no room to fall": ([2.0, 0.0, 1.0, 0.5], (0, 1), (2, 3), [0.0, 0.0, 0.0, -4.9], False),
    "k has no room to fall": ([2.0, 0.0, 0.5, 1.0], (0, 1), (2, 3), [0.0, 0.0, -4.9, 0.0], False),
    "m has no room to rise": ([2.0, 0.0, 0.5, 1.0], (0, 1), (2, 3), [0.0, 0.0, 0.0, 4.9], False),
    "i rises to its bound": ([2.0, 0.0, 1.0, 0.5], (0, 1), (2, 3), [4.0, 0.0, 0.0, 0.0], False),
    "i falls to its bound": ([0.0, -1.0, 0.0, -5.0], (0, 1), (0, 3), [-4.0, 0.0, 0.0, 0.0], False),
    "k rises to its bound": ([2.0, 0.0, 1.0, 0.0], (0, 1), (2, 3), [0.0, 0.0, 4.5, 0.0], False),
    "k falls to its bound": ([2.0, 0.0, 0.0, 1.0], (0, 1), (2, 3), [0.0, 0.0, -4.5, 0.0], False),
}  # fmt: skip


@pytest.mark.parametrize("name", PLANS)
def test_a_planned_step_is_the_first_of_the_best_two(name, engine):
    G, now, before, alpha, fits = PLANS[name]
    alpha, K = np.broadcast_to(alpha, 4).astype(float), np.ones(4)
    box = np.full(4, -5.0), np.full(4, 5.0)
    plan = planned(K, G, now, before, alpha, *box)
    assert (plan is not None) == fits
    expected, candidates = (plan[0], [before]) if fits else (newton(K, G, *now), [])
    expected = min(expected, 5.0 - alpha[now[0]], alpha[now[1]] + 5.0)
    check(
        engine, PlanningAheadStep(), expected, *now, K, G, alpha, *box, candidates=candidates,
        last_free=1, working_sets=[before], curvatures=[2.0],
    )  # fmt: skip


# sets that share a variable: the second step begins where the first has left it
SHARED = {
    "k = i, which rises to U": ((0, 1), (0, 3), [2.0, 0.0, 1.0, 0.0], 0),
    "k = j, which falls to L": ((0, 1), (1, 3), [2.0, 0.0, 1.0, 2.0], 1),
    "m = i, which rises to U": ((0, 1), (2, 0), [2.0, 0.0, 0.0, 0.5], 0),
    "m = j, which falls to L": ((0, 1), (2, 1), [2.0, 0.0, 2.0, 0.5], 1),
}


@pytest.mark.parametrize("name", SHARED)
def test_a_shared_variable_has_moved_before_the_second_step(name, engine):
    """Its room is such that either step fits alone, and not both: no plan; a little more, and there is one."""
    now, before, G, shared = SHARED[name]
    K, lower, upper = np.ones(4), np.full(4, -50.0), np.full(4, 50.0)
    free = planned(K, G, now, before, np.zeros(4), lower, upper)
    assert free is not None
    both = np.array([[1.0, -1.0, 0.0, 0.0], np.eye(4)[before[0]] - np.eye(4)[before[1]]])
    first, second = np.linalg.solve(both @ both.T, both @ G)
    moves = first * both[0, shared], second * both[1, shared]
    assert moves[0] * moves[1] > 0.0
    assert max(map(abs, moves)) < 0.99 * abs(sum(moves))
    for room, plans in ((0.99 * abs(sum(moves)), False), (1.01 * abs(sum(moves)), True)):
        (upper if sum(moves) > 0.0 else lower)[shared] = np.copysign(room, sum(moves))
        expected = free[0] if plans else newton(K, G, *now)
        check(
            engine, PlanningAheadStep(), expected, *now, K, G, 0.0, lower, upper, candidates=[before] if plans else [],
            last_free=1, working_sets=[before], curvatures=[2.0],
        )  # fmt: skip


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


@pytest.mark.parametrize(
    ("sets", "best"), [([[2, 3], [0, 4]], 1), ([[0, 4], [2, 3]], 0), ([[0, 4], [-1, -1]], 0)]
)
@pytest.mark.parametrize(
    ("K", "G"),
    [
        ([1.0, 1.0, 2.0, 1.0, 1.0], [2.0, 0.0, 1.0, 0.9, -2.0]),
        ([4.0, 2.0, 4.0, 0.25, 2.0], [2.0, -2.0, -0.5, 0.5, -2.0]),
        # the shorter first step has the greater gain: 2g₂ = 8/3 for μ = 2/3, and 5/2 for μ = 1
        ([1.0, 1.0, 1.0, 1.0, 1.0], [2.0, 0.0, 1.0, 0.0, 0.0]),
    ],
)
def test_of_several_plans_the_best(sets, best, K, G, engine):
    """All sets that there are become candidates, the one that was planned with and the others."""
    K = np.array(K)
    box = np.full(5, -9.0), np.full(5, 9.0)
    plans = [planned(K, G, (0, 1), each, np.zeros(5), *box) if each[0] >= 0 else (0.0, -1.0) for each in sets]
    assert int(np.argmax([gain for _, gain in plans])) == best
    check(
        engine, PlanningAheadStep(history=2), plans[best][0], 0, 1, K, G, 0.0, *box,
        candidates=[each for each in sets if each[0] >= 0], last_free=1, working_sets=sets,
        curvatures=[K[k] + K[m] if k >= 0 else 0.0 for k, m in sets],
    )  # fmt: skip


@pytest.mark.parametrize("unit", [2.0**-20, 1.0, 2.0**20])
@pytest.mark.parametrize("seed", range(12))
def test_the_best_of_three_plans_is_that_of_the_greatest_gain(seed, unit, engine):
    """In any unit of α; steps shorter and longer than what is left of the slope after them, up and down."""
    rng, sets = np.random.default_rng(seed), [[2, 3], [4, 5], [0, 6]]
    K, G = 10.0 ** rng.uniform(-1.0, 1.0, 7), rng.normal(size=7)
    root = rng.normal(size=(7, 7))
    K = np.diag(K) + 0.2 * root @ root.T
    box = np.full(7, -99.0 * unit), np.full(7, 99.0 * unit)
    K /= unit
    plans = [planned(K, G, (0, 1), each, np.zeros(7), *box) for each in sets]
    gains = [gain for _, gain in plans]
    assert sorted(gains)[2] > 1.01 * sorted(gains)[1]
    mu, left = length(
        engine, PlanningAheadStep(history=3), 0, 1, K, G, 0.0, *box, last_free=1, working_sets=sets,
        curvatures=[K[k, k] + K[m, m] - 2.0 * K[k, m] for k, m in sets],
    )  # fmt: skip
    assert mu == pytest.approx(plans[int(np.argmax(gains))][0], rel=1e-9)
    assert left == sets


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


@pytest.mark.parametrize(
    ("alpha", "end"), [(0.0, None), ([0.9, 0.0, 0.0, 0.0], 0), ([0.0, -0.9, 0.0, 0.0], 1)],
    ids=["free", "i reaches U", "j reaches L"],
)  # fmt: skip
def test_a_conjugate_step(alpha, end, engine):
    alpha = np.broadcast_to(alpha, 4).astype(float)
    mu, kappa, first = conjugate(MATRIX, SLOPES, 0, 1, DELTA, alpha, np.full(4, -1.0), np.ones(4))
    assert end is None or first == end
    assert kappa != 0.0
    check(engine, ConjugateStep(), (mu, kappa), 0, 1, MATRIX, SLOPES, alpha, **CARRIED)


def test_a_conjugate_step_of_which_one_variable_alone_would_leave_the_box(engine):
    alpha, lower, upper = np.zeros(4), np.full(4, -99.0), np.array([0.1, 99.0, 99.0, 99.0])
    mu, kappa, first = conjugate(MATRIX, SLOPES, 0, 1, DELTA, alpha, lower, upper)
    assert first == 0
    check(engine, ConjugateStep(), (mu, kappa), 0, 1, MATRIX, SLOPES, alpha, lower, upper, **CARRIED)


def test_a_conjugate_step_in_a_box_that_holds_none_of_it(engine):
    """All four variables would leave it; the pair is the first to reach a bound."""
    lower, upper, zero = np.full(4, -0.01), np.full(4, 0.01), np.zeros(4)
    free, kappa, _ = conjugate(MATRIX, SLOPES, 0, 1, DELTA, zero, np.full(4, -9.0), np.full(4, 9.0))
    assert (np.abs(free * np.array([1.0, -1.0, 0.0, 0.0]) + kappa * DELTA) > 0.01).all()
    mu, kappa, first = conjugate(MATRIX, SLOPES, 0, 1, DELTA, zero, lower, upper)
    assert first in (0, 1)
    check(engine, ConjugateStep(), (mu, kappa), 0, 1, MATRIX, SLOPES, 0.0, lower, upper, **CARRIED)


@pytest.mark.parametrize(
    "order", [[0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1]], ids=["first", "last", "between"]
)
@pytest.mark.parametrize("pair_bound", [False, True], ids=["the pair is free", "the pair reaches U"])
def test_the_pair_goes_on_where_another_variable_is_at_its_bound(pair_bound, order, engine):
    """κ is cut where that variable meets its bound; then μ = (ℓ − κβ)/q is the maximum along the pair."""
    place = np.argsort(order)
    alpha, upper = np.array([0.0, 0.0, 0.0, 0.99])[order], np.ones(4)
    lower, slopes = np.array([-1.0, -1.0, -0.01, -1.0])[order], np.array(SLOPES)[order]
    matrix, delta, (i, j) = MATRIX[np.ix_(order, order)], DELTA[order], place[:2].tolist()
    mu, kappa, first = conjugate(matrix, slopes, i, j, delta, alpha, lower, upper)
    assert first in place[2:]
    d = np.eye(4)[i] - np.eye(4)[j]
    full = float((d @ slopes - kappa * (d @ matrix @ delta)) / (d @ matrix @ d))
    assert full > 1.01 * mu
    if pair_bound:
        alpha[i] = upper[i] - 0.5 * (mu + full)
        full = 0.5 * (mu + full)
    carried = CARRIED | {"displacement": delta, "displacement_image": matrix @ delta}
    check(engine, ConjugateStep(), (full, kappa), i, j, matrix, slopes, alpha, lower, upper, **carried)


@pytest.mark.parametrize("end", ["i reaches U", "j reaches L"])
def test_the_pair_goes_on_from_where_the_displacement_has_moved_it(end, engine):
    """Δ moves all variables. Variable 2 meets its bound first; the pair meets its own half way to its maximum."""
    delta, slopes = np.array([0.1, -0.3, 0.4, -0.2]), np.array([1.0, -0.5, -0.525, 0.2])
    assert delta @ slopes == pytest.approx(0.0, abs=1e-15)
    alpha, lower, upper = np.array([0.2, 0.25, 0.1, 0.3]), np.full(4, -9.0), np.full(4, 9.0)
    _, kappa, _ = conjugate(MATRIX, slopes, 0, 1, delta, alpha, lower, upper)
    bound = alpha[2] + 0.1 * kappa * delta[2]
    (upper if kappa > 0.0 else lower)[2] = bound
    mu, kappa, first = conjugate(MATRIX, slopes, 0, 1, delta, alpha, lower, upper)
    assert first == 2
    assert abs(kappa) > 0.01
    point, d = alpha + kappa * delta, np.array([1.0, -1.0, 0.0, 0.0])
    full = float(d @ (slopes - kappa * (MATRIX @ delta)) / (d @ MATRIX @ d))
    expected = 0.5 * (mu + full)
    if end == "i reaches U":
        upper[0] = point[0] + expected
    else:
        lower[1] = point[1] - expected
    assert mu < expected < full
    carried = CARRIED | {
        "displacement": delta, "displacement_image": MATRIX @ delta, "carried_curvature": float(delta @ MATRIX @ delta),
    }  # fmt: skip
    check(engine, ConjugateStep(), (expected, kappa), 0, 1, MATRIX, slopes, alpha, lower, upper, **carried)


def test_one_of_the_pair_that_the_displacement_turns_round_ends_the_step_at_its_bound(engine):
    """K = I, q_Δ = 5.5, β = 3 and σ = −6/11, so that αᵢ falls: p = (−1, −5, 3, 3)/11, and 2.75 is too far."""
    delta = np.array([2.0, -1.0, -0.5, -0.5])
    carried = CARRIED | {"displacement": delta, "displacement_image": delta, "carried_curvature": 5.5}
    lower, upper = np.array([-0.05, -9.0, -9.0, -9.0]), np.full(4, 9.0)
    expected = 0.05 * 11.0, -0.05 * 6.0
    check(
        engine, ConjugateStep(), expected, 0, 1, np.eye(4), [1.0, 0.0, 0.0, 0.0], 0.0, lower, upper, **carried
    )


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
