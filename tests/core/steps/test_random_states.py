"""The step of each rule in random states: Newton's cut at the box, the best of two planned steps, the conjugate one."""

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
