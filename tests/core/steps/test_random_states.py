"""The step of each rule in random states, and where it has no curvature, plan or displacement to use."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from refsvm import ConjugateStep, EagerPlanningStep, NewtonStep, OverrelaxedNewtonStep, PlanningAheadStep

from ...decisions import length

N = 7


class Drawn:
    """K of full rank, α anywhere in a box that is narrow for some variables; the pair (0, 1), uphill or not."""

    def __init__(self, seed, downhill=False):
        self.rng = rng = np.random.default_rng(seed)
        root = rng.normal(size=(N, N))
        self.K, self.G = root @ root.T / N + 0.1 * np.eye(N), rng.normal(size=N)
        if (self.G[0] < self.G[1]) != downhill:
            self.G[[0, 1]] = self.G[[1, 0]]
        self.lower, self.upper = -(10.0 ** rng.uniform(-1.0, 1.0, N)), 10.0 ** rng.uniform(-1.0, 1.0, N)
        self.alpha = self.lower + rng.uniform(size=N) * (self.upper - self.lower)

    def step(self, engine, rule, **known):
        return length(engine, rule, 0, 1, self.K, self.G, self.alpha, self.lower, self.upper, **known)

    def newton(self, omega=1.0):
        """ω ℓ/q, cut at the box."""
        pair = np.eye(N)[0] - np.eye(N)[1]
        low = max(self.lower[0] - self.alpha[0], self.alpha[1] - self.upper[1])
        high = min(self.upper[0] - self.alpha[0], self.alpha[1] - self.lower[1])
        return float(np.clip(omega * (pair @ self.G) / (pair @ self.K @ pair), low, high))

    def planned(self, before):
        """(gain, μ) of the best two steps, along (0, 1) and then along this set; None if one of them leaves the box."""
        both = np.array([np.eye(N)[0] - np.eye(N)[1], np.eye(N)[before[0]] - np.eye(N)[before[1]]])
        mu = np.linalg.solve(both @ self.K @ both.T, both @ self.G)
        for point, d in ((self.alpha + mu[0] * both[0], both[0]), (self.alpha + mu @ both, both[1])):
            if not ((self.lower < point) & (point < self.upper))[d != 0.0].all():
                return None
        return float(0.5 * mu @ (both @ self.G)), mu[0]

    def conjugate(self, delta):
        """(μ, κ) of the best along p with pᵀKΔ = 0; and which variable ends it, None if none does."""
        pair = np.eye(N)[0] - np.eye(N)[1]
        share = -(pair @ self.K @ delta) / (delta @ self.K @ delta)
        p = pair + share * delta
        with np.errstate(divide="ignore"):
            ends = np.where(p > 0.0, (self.upper - self.alpha) / p, (self.lower - self.alpha) / p)
        ends[p == 0.0] = np.inf
        mu, first = (p @ self.G) / (p @ self.K @ p), int(ends.argmin())
        if mu <= ends[first]:
            return mu, mu * share, None
        mu, kappa = ends[first], ends[first] * share
        if first > 1:  # the pair goes on along itself, to its maximum or its own bound
            point = self.alpha + kappa * delta
            full = (pair @ self.G - kappa * (pair @ self.K @ delta)) / (pair @ self.K @ pair)
            mu = min(full, self.upper[0] - point[0], point[1] - self.lower[1])
        return mu, kappa, first


@pytest.mark.parametrize("downhill", [False, True])
def test_newtons_step_is_cut_at_the_box(downhill, engine):
    """ω ℓ/q is cut, and not ω times what is cut; rules that remember steps begin like this."""
    for seed in range(40):
        drawn = Drawn(seed, downhill)
        for rule, omega in (
            (NewtonStep(), 1.0), (PlanningAheadStep(), 1.0),
            *((OverrelaxedNewtonStep(factor), factor) for factor in (0.5, 1.1, 1.5)),
        ):  # fmt: skip
            mu, candidates = drawn.step(engine, rule)
            assert (mu, candidates) == (pytest.approx(drawn.newton(omega), rel=1e-13), []), (seed, rule)
        assert drawn.step(engine, ConjugateStep())[0] == (pytest.approx(drawn.newton(), rel=1e-13), 0.0)


@pytest.mark.parametrize("history", [1, 3])
@pytest.mark.parametrize("rule", [PlanningAheadStep, EagerPlanningStep])
def test_a_planned_step_is_the_first_of_the_best_two(rule, history, engine):
    """By the set that gains most of those with which both steps are inside the box; sets may share a variable."""
    seen = Counter()
    for seed in range(60):
        drawn = Drawn(seed)
        pairs = [(k, m) for k in range(N) for m in range(N) if k != m and {k, m} != {0, 1}]
        sets = [list(pairs[at]) for at in drawn.rng.permutation(len(pairs))[:history]]
        plans = [plan for plan in map(drawn.planned, sets) if plan is not None]
        expected = max(plans)[1] if plans else drawn.newton()
        mu, candidates = drawn.step(
            engine, rule(history), last_free=1, working_sets=sets,
            curvatures=[drawn.K[k, k] + drawn.K[m, m] - 2.0 * drawn.K[k, m] for k, m in sets],
        )  # fmt: skip
        assert mu == pytest.approx(expected, rel=1e-9), seed
        assert candidates == (sets if plans else []), seed
        seen[len(plans)] += 1
        seen["shared"] += bool(plans) and any({0, 1} & {*each} for each in sets)
    assert min(seen[0], seen[1], seen["shared"]) > 5


def test_the_conjugate_step_in_a_box(engine):
    """Another variable may meet its bound first; the displacement moves the pair, too, and may turn it round."""
    ends = Counter()
    for seed in range(150):
        drawn, delta = Drawn(seed), np.zeros(N)
        moved = drawn.rng.permutation(N)[: 2 + seed % 4]
        delta[moved] = drawn.rng.normal(size=len(moved))
        delta[moved] -= delta[moved].mean()
        drawn.G -= delta * (delta @ drawn.G) / (delta @ delta)  # along Δ nothing is gained any more
        if drawn.G[0] <= drawn.G[1]:
            continue
        mu, kappa, first = drawn.conjugate(delta)
        found, _ = drawn.step(
            engine, ConjugateStep(), displacement=delta, displacement_image=drawn.K @ delta, last_free=1,
            carried_curvature=float(delta @ drawn.K @ delta),
        )  # fmt: skip
        assert found == (pytest.approx(mu, rel=1e-9, abs=1e-12), pytest.approx(kappa, rel=1e-9, abs=1e-12)), (
            seed
        )
        ends["none" if first is None else "pair" if first < 2 else "another"] += 1
    assert min(ends["none"], ends["pair"], ends["another"]) > 5


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
