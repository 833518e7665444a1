"""`ImprovedSMO` takes the steps of the solver of Keerthi et al. (2001), written here as the paper has it."""

from __future__ import annotations

import numpy as np
import pytest

from refsvm import RBF, DualProblem, ImprovedSMO, KKTGap, Linear, NewtonStep, solve
from refsvm.core.kernels.cached_rows import stored_rows
from refsvm.core.solver.loop import steps
from refsvm.core.solver.rules import Rules


class Keerthi:
    """Modification 2 in the words of the paper: labels y, 0 ≤ a ≤ C, F = −G, which is NaN where it is not known.

    Two variables that have moved freely have the same F but for rounding, which then decides between them. So a sum
    over the support vectors takes its bits from `sums`, which adds up as the package does.
    """

    def __init__(self, K, y, C, tau, a, G):
        self.K, self.y, self.C, self.tau, self.a = K, y, C, tau, a.copy()
        self.sums = -G
        self.taken, self.values, self.F = [], 0, np.full(len(y), np.nan)
        free = np.flatnonzero((a > 0) & (a < C))
        self.know(free)
        self.up, self.low = (each[0] for each in map(np.flatnonzero, (self.in_up(), self.in_low())))
        if len(free):
            self.up, self.low = free[self.F[free].argmin()], free[self.F[free].argmax()]
        self.F[[self.up, self.low]] = self.sums[[self.up, self.low]]
        examine_all, changed = True, 0
        while changed or examine_all:
            changed = sum(map(self.examine, range(len(y)))) if examine_all else self.take_pairs()
            examine_all = not examine_all

    def in_up(self):
        return np.where(self.y > 0, self.a < self.C, self.a > 0)

    def in_low(self):
        return np.where(self.y > 0, self.a > 0, self.a < self.C)

    def know(self, some):
        assert np.allclose(self.sums[some], self.K[some] @ (self.a * self.y) - self.y[some], atol=1e-7)
        self.F[some] = self.sums[some]
        self.values += len(some) * np.count_nonzero(self.a)

    def take_pairs(self):
        while self.F[self.low] - self.F[self.up] > 2 * self.tau and self.step(self.up, self.low):
            pass
        return 1  # for the pass that follows

    def examine(self, k):
        if self.C[k] == 0.0:
            return 0
        F, rises, falls = self.F, self.in_up()[k], self.in_low()[k]
        if not 0 < self.a[k] < self.C[k]:
            self.know([k])
            self.up = k if rises and F[k] < F[self.up] else self.up
            self.low = k if falls and F[k] > F[self.low] else self.low
        above = F[self.low] - F[k] if rises else 0.0
        below = F[k] - F[self.up] if falls else 0.0
        if max(above, below) <= 2 * self.tau:
            return 0
        return self.step(k, self.low) if above > below else self.step(self.up, k)

    def step(self, up, low):
        a, y, K, C = self.a, self.y, self.K, self.C
        q = K[up, up] + K[low, low] - 2 * K[up, low]
        # a signed α = ya rises at `up` and falls at `low`
        rooms = C[up] - a[up] if y[up] > 0 else a[up], a[low] if y[low] > 0 else C[low] - a[low]
        mu = min((self.F[low] - self.F[up]) / (q if q > 0 else 1e-12), *rooms)
        before = a[[up, low]]
        for k, change, room in ((up, y[up] * mu, rooms[0]), (low, -y[low] * mu, rooms[1])):
            a[k] = a[k] + change if mu < room else C[k] if change > 0 else 0.0
        self.sums += mu * (K[up] - K[low])
        known = np.union1d(np.flatnonzero((a > 0) & (a < C)), [up, low])
        assert not np.isnan(self.F[known]).any()
        self.F[:] = np.nan
        self.F[known] = self.sums[known]
        self.values += 2 * len(known)
        rise, fall = known[self.in_up()[known]], known[self.in_low()[known]]
        self.up, self.low = rise[self.F[rise].argmin()], fall[self.F[fall].argmax()]
        self.taken.append((up, low))
        return not np.array_equal(before, a[[up, low]])


def any_problem(seed):
    """A problem, where it starts, and 2τ: cold, or without an example, from a point next to the solution."""
    rng = np.random.default_rng([seed, 87])
    n, C = int(rng.integers(6, 31)), 10.0 ** rng.uniform(-1, 3 if seed % 5 else 1)
    X = rng.normal(size=(n, 2))
    y = np.where(np.sin(3 * X[:, 0]) + 0.3 * rng.normal(size=n) > X[:, 1], 1.0, -1.0)
    y[:4] = 1.0, -1.0, 1.0, -1.0
    weights = rng.choice([1e-3, 1.0, 2.0], size=n) if seed % 3 == 0 else np.ones(n)
    kernel = Linear() if seed % 5 == 0 else RBF(10.0 ** rng.uniform(-1, 1))
    problem, start = DualProblem.classification(X, y, kernel=kernel, C=C * weights).centred, np.zeros(n)
    if seed % 2:
        problem = problem.without(int(rng.integers(n)))
        start = solve(problem, stop=KKTGap(0.5), shrinking=False, engine="numpy").alpha
        # next to a bound a step may be all rounding
        for bound in (problem.lower, problem.upper):
            start = np.where(np.abs(start - bound) < 1e-9 * C, bound, start)
    return problem, start, 10.0 ** rng.uniform(-4, -1)


@pytest.mark.parametrize("block", range(10))
def test_the_steps_and_kernel_values_are_those_of_the_paper(block):
    for seed in range(50 * block, 50 * block + 50):
        problem, start, tol = any_problem(seed)
        rules, rows = Rules(ImprovedSMO(tol), NewtonStep(), KKTGap(tol)), stored_rows(problem.gram)
        state = rules.begin(problem, start, rows)
        G = state.gradient.copy()
        taken = [tuple(state.working_sets[0].tolist()) for _ in steps(state, *rules)]
        K, y = problem.gram.block(np.arange(problem.n)), np.where(problem.v > 0, 1.0, -1.0)
        there = Keerthi(K, y, problem.upper - problem.lower, tol / 2, np.abs(start), G)
        assert (seed, taken) == (seed, there.taken)
        assert rules.selector.kernel_values(state) == there.values
