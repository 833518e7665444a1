"""The loop that NumPy runs for many small problems; each iteration takes one step in every problem.

A step of the readable loop spends about 50 µs in Python, which adds up to seconds for thousands of problems. In this
module each array contains a number or a vector of every running problem. This module evaluates the formulas of
`refsvm.core.solver.loop.steps`, `SecondOrder`, `PlanningAheadStep`, `KKTGap` and `SolverState.move` in the same order,
so that each problem takes the same steps bit for bit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol, cast

import numpy as np

from refsvm.core.backend import BACKENDS, chosen_backend
from refsvm.core.selectors.second_order import SecondOrder
from refsvm.core.solver.readable import NumPyBackend
from refsvm.core.solver.rules import PLANNING_AHEAD, Rules
from refsvm.core.state import TAU
from refsvm.core.stopping.kkt_gap import KKTGap
from refsvm.core.stopping.relative import LEAST_SHARE, ROUNDED, SMALLEST

if TYPE_CHECKING:
    from refsvm.analysis.small.small import SmallProblems


LEFT: Final = 0.75
"""If the share of running problems in the arrays falls below this, finished problems are removed."""

STACKED_FROM_PROBLEMS: Final = 8
"""At least this many problems are solved together; a step of all problems takes as long as some single steps."""


def are_stacked(problems: SmallProblems, rules: Rules) -> bool:
    """Return True if NumPy can solve the problems together: if they are many, and the rules are the default rules."""
    is_known = type(rules.selector) is SecondOrder and type(rules.stop) is KKTGap
    return len(problems) >= STACKED_FROM_PROBLEMS and is_known and rules.step == PLANNING_AHEAD


def stacked_steps(problems: SmallProblems, rules: Rules, limit: int) -> None:
    """Take up to `limit` steps in each problem and store the last α and G; `are_stacked` must accept the rules.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm.core.solver.rules import chosen_rules
    >>> from refsvm.analysis.small.small import STEPS, SmallProblems
    >>> from refsvm.analysis.small.stacked import stacked_steps
    >>> K, v = np.array([[[1.0, 0.0], [0.0, 1.0]]] * 2), np.array([[1.0, -1.0]] * 2)
    >>> C = np.array([[0.2], [2.0]])
    >>> problems = SmallProblems(K, v, C * np.minimum(v, 0.0), C * np.maximum(v, 0.0))
    >>> stacked_steps(problems, chosen_rules(None, None, None), limit=9)
    >>> problems.alpha, problems.results[:, STEPS]
    (array([[ 0.2, -0.2],
           [ 1. , -1. ]]), array([1., 1.]))
    """
    selector, stop = cast("SecondOrder", rules.selector), cast("KKTGap", rules.stop)
    state = StackedStates(problems, stop)
    # where a formula does not apply, its result is NaN or ∞, and the rules never select this entry
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        for iteration in range(limit):
            code = check(stop, state)
            code[(code == 0) & (state.stalled >= 2)] = -1
            state.leave(problems, code, code != 0, iteration)
            if not len(state.number):
                return
            i, j = select(selector, state)
            state.measure(i, j)
            mu, planned = length(state)
            state.move(mu, planned)
    state.leave(problems, np.zeros(len(state.number)), state.runs, limit)


class StackedStates:
    """The state of every running problem, as `refsvm.core.state.SolverState` holds it for one problem.

    Attributes
    ----------
    kernels : ndarray of shape (P, m, m)
        Kernel matrices of all problems.
    number : ndarray of shape (R,), int64
        Indices of the running problems among all P, ascending.
    alpha, gradient, v, lower, upper, diagonal : ndarrays of shape (R, m)
        α, G, v, L, U and the diagonal of K.
    i, j, curvature, before_i, before_j, before_curvature : ndarrays of shape (R,)
        The last two working sets, and the curvature of each; the indices are −1 for a step that was not taken.
    first_range, tolerance : ndarrays of shape (R,)
        The memory of `KKTGap`.
    """

    def __init__(self, problems: SmallProblems, stop: KKTGap) -> None:
        P = len(problems)
        self.kernels, self.number, self.runs = problems.kernels, np.arange(P), np.ones(P, dtype=bool)
        self.alpha, self.gradient, self.v = problems.alpha, problems.gradient, problems.v
        self.lower, self.upper = problems.lower, problems.upper
        self.diagonal = np.diagonal(problems.kernels, axis1=1, axis2=2)
        self.i = self.j = self.before_i = self.before_j = np.full(P, -1)
        self.curvature, self.before_curvature = np.zeros((2, P))
        self.last_step, self.last_newton = np.zeros((2, P))
        self.last_free, self.last_planned = np.zeros((2, P), dtype=bool)
        self.stalled = np.zeros(P, dtype=np.int64)
        self.least_curvature, self.largest = np.full(P, np.inf), np.abs(self.alpha).max(axis=1)
        self.first_range = np.zeros(P)
        self.tolerance = np.full(P, stop.tol if stop.relative else np.nan)
        self._refresh()

    def leave(self, problems: SmallProblems, code: np.ndarray, ends: np.ndarray, iteration: int) -> None:
        """Store α and G of the problems that end in this iteration, and drop these problems from the state."""
        ends = np.flatnonzero(ends & self.runs)
        if not len(ends):
            return
        there = self.number[ends]
        problems.alpha[there], problems.gradient[there] = self.alpha[ends], self.gradient[ends]
        steps = np.full(len(ends), iteration)
        ended = code[ends], steps, self.least_curvature[ends], self.largest[ends], self.tolerance[ends]
        problems.results[there] = np.stack(ended, axis=1)
        self.runs[ends] = False
        left = np.flatnonzero(self.runs)
        # keep finished problems in the arrays for a while: computing their steps costs less than copying all arrays
        if len(left) <= LEFT * len(self.runs):
            self.__dict__.update({k: a[left] for k, a in self.__dict__.items() if k != "kernels"})

    def of(self, vectors: np.ndarray, i: np.ndarray) -> np.ndarray:
        """Return the entry i of each problem's vector."""
        return np.asarray(vectors[np.arange(len(i)), i])

    def rows(self, i: np.ndarray) -> np.ndarray:
        """Return the kernel row i of each problem."""
        return np.asarray(self.kernels[self.number, i])

    def _refresh(self) -> None:
        """Find the most violating pair of each problem, as `refsvm.core.problem.most_violating_pair` does."""
        rising = np.where(self.alpha < self.upper, self.gradient, -np.inf)
        falling = np.where(self.alpha > self.lower, self.gradient, np.inf)
        self.top = rising.argmax(axis=1)
        self.gap = self.of(rising, self.top) - falling.min(axis=1)

    def measure(self, i: np.ndarray, j: np.ndarray) -> None:
        """Compute the slope, the curvature and the bounds of the step for each problem's new working set (i, j)."""
        self.before_i, self.before_j, self.before_curvature = self.i, self.j, self.curvature
        self.i, self.j = i, j
        self.row_i, self.row_j = self.rows(i), self.rows(j)
        # ℓ = Gᵢ − Gⱼ,  q = Kᵢᵢ + Kⱼⱼ − 2Kᵢⱼ
        self.slope = self.of(self.gradient, i) - self.of(self.gradient, j)
        raw = self.of(self.diagonal, i) + self.of(self.diagonal, j) - 2.0 * self.of(self.row_i, j)
        self.least_curvature = least(self.least_curvature, raw)
        self.curvature = np.where(raw > 0.0, raw, TAU)
        # lo = max(Lᵢ − αᵢ, αⱼ − Uⱼ),  hi = min(Uᵢ − αᵢ, αⱼ − Lⱼ)
        alpha_i, alpha_j = self.of(self.alpha, i), self.of(self.alpha, j)
        self.low = most(self.of(self.lower, i) - alpha_i, alpha_j - self.of(self.upper, j))
        self.high = least(self.of(self.upper, i) - alpha_i, alpha_j - self.of(self.lower, j))

    def move(self, mu: np.ndarray, planned: np.ndarray) -> None:
        """Take a step in each problem: αᵢ += μ, αⱼ −= μ, G −= μ(K[i] − K[j])."""
        here, stays = np.arange(len(mu)), True
        # before the first step α and G are the caller's arrays, so copy them
        self.alpha = self.alpha.copy()
        for t, change in ((self.i, mu), (self.j, -mu)):
            before = self.alpha[here, t]
            after = moved(before, change, self.lower[here, t], self.upper[here, t])
            self.alpha[here, t], stays = after, stays & (after == before)
            self.largest = most(self.largest, np.abs(after))
        self.stalled = np.where(stays, self.stalled + 1, 0)
        self.gradient = self.gradient - mu[:, None] * (self.row_i - self.row_j)
        self._refresh()
        self.last_step, self.last_newton = mu, self.slope / self.curvature
        self.last_free, self.last_planned = (self.low < mu) & (mu < self.high), planned


def least(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return min(a, b) as Python does: the first number if both are equal (0 and −0 are equal)."""
    return np.where(b < a, b, a)


def most(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return max(a, b) as Python does."""
    return np.where(b > a, b, a)


def moved(value: np.ndarray, change: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """Return value + change, or exactly the bound if the change reaches the bound."""
    inside = least(most(value + change, lower), upper)
    inside = np.where(change <= lower - value, lower, inside)
    return np.where(change >= upper - value, upper, inside)


def check(stop: KKTGap, state: StackedStates) -> np.ndarray:
    """Return the codes of `refsvm.core.stopping.relative.compare` for all problems."""
    code = (state.gap <= stop.tol).astype(np.int64)
    some = np.flatnonzero(code)
    if not stop.relative or not len(some):
        return code
    # KKT gap ≤ tol · min(1, s/relative), with s the range of v − G, or of v while α = 0
    alpha, G, free = state.alpha[some], state.gradient[some], (state.lower < state.upper)[some]
    has_moved = (alpha != 0.0).any(axis=1)
    values = np.where(has_moved[:, None], state.v[some] - G, state.v[some])
    s = np.where(free, values, -np.inf).max(axis=1) - np.where(free, values, np.inf).min(axis=1)
    s = np.where(free.any(axis=1), s, 0.0)
    first = state.first_range[some]
    state.first_range[some] = first = np.where((first == 0.0) & has_moved, s, first)
    share = np.maximum(s, LEAST_SHARE * first) / stop.relative
    size = np.abs(G).max(axis=1) + np.abs(alpha).max(axis=1) * np.abs(state.diagonal[some]).max(axis=1)
    rounding = ROUNDED * alpha.shape[1] ** 0.5 * size
    allowed = np.minimum(np.maximum(np.maximum(stop.tol * share, rounding), SMALLEST), stop.tol)
    state.tolerance[some] = tolerance = np.where(share >= 1.0, stop.tol, allowed)
    code[some] = np.where(state.gap[some] > tolerance, 0, np.where(tolerance == stop.tol, 1, 2))
    return code


def select(selector: SecondOrder, state: StackedStates) -> tuple[np.ndarray, np.ndarray]:
    """Return the working sets that `SecondOrder.select` chooses."""
    i, of = state.top, state.of
    ratio = np.where(state.last_planned, state.last_step / state.last_newton, 1.0)
    exact = np.abs(ratio - 1.0) > selector.planned_range
    # --- j = argmax g̃ over I_down with Gⱼ < Gᵢ ---
    slope = of(state.gradient, i)[:, None] - state.gradient
    curvature = of(state.diagonal, i)[:, None] + state.diagonal - 2.0 * state.rows(i)
    curvature[~(curvature > 0.0)] = TAU
    gain = slope * slope / curvature
    if exact.any():
        e = np.flatnonzero(exact)
        room = (of(state.upper, i) - of(state.alpha, i))[e, None]
        mu = np.minimum(slope[e] / curvature[e], np.minimum(room, (state.alpha - state.lower)[e]))
        gain[e] = np.where(room > 0.0, mu * (2.0 * slope[e] - mu * curvature[e]), -np.inf)
    gain[~((state.alpha > state.lower) & (slope > 0.0))] = -np.inf
    j = gain.argmax(axis=1)
    # --- after planned steps, compare the new pairs with the candidate pairs ---
    return challenged(state, i, j, of(gain, j), exact) if state.last_planned.any() else (i, j)


def challenged(
    state: StackedStates, i: np.ndarray, j: np.ndarray, best: np.ndarray, exact: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """After a planned step, choose the working set before the last one if it gains more (`SecondOrder._challenge`)."""
    c = np.flatnonzero(state.last_planned)
    k, m, q = state.before_i[c], state.before_j[c], state.before_curvature[c]
    turned = state.gradient[c, k] < state.gradient[c, m]
    k, m = np.where(turned, m, k), np.where(turned, k, m)
    slope = state.gradient[c, k] - state.gradient[c, m]
    room = least(state.upper[c, k] - state.alpha[c, k], state.alpha[c, m] - state.lower[c, m])
    mu = least(slope / q, room)
    gain = np.where(exact[c], mu * (2.0 * slope - mu * q), slope * slope / q)
    better = (slope > 0.0) & (room > 0.0) & (gain > best[c])
    i, j = i.copy(), j.copy()
    i[c[better]], j[c[better]] = k[better], m[better]
    return i, j


def length(state: StackedStates) -> tuple[np.ndarray, np.ndarray]:
    """Return the step length of `PlanningAheadStep.length` for each problem, and whether the step is planned ahead."""
    # μ* = clip(ℓ/q, lo, hi)
    mu = least(most(state.slope / state.curvature, state.low), state.high)
    planned = np.zeros(len(mu), dtype=bool)
    Q11, Q22 = state.curvature, state.before_curvature
    may_plan = state.last_free & ~state.last_planned & (Q11 > TAU) & (Q22 > TAU)
    c = np.flatnonzero(may_plan)
    if len(c):
        plan, good = planned_steps(state, c)
        mu[c[good]], planned[c[good]] = plan[good], True
    return mu, planned


def planned_steps(state: StackedStates, c: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return μ_P of `PlanningAheadStep._plan` for the problems with the indices c, and whether the rule takes μ_P."""
    i, j, k, m = state.i[c], state.j[c], state.before_i[c], state.before_j[c]
    Q11, Q22, w1 = state.curvature[c], state.before_curvature[c], state.slope[c]
    row_i, row_j, G, alpha = state.row_i, state.row_j, state.gradient, state.alpha
    w2 = G[c, k] - G[c, m]
    # Q₁₂ = Kᵢₖ − Kᵢₗ − Kⱼₖ + Kⱼₗ,  det = Q₁₁Q₂₂ − Q₁₂²
    Q12 = row_i[c, k] - row_i[c, m] - row_j[c, k] + row_j[c, m]
    det = Q11 * Q22 - Q12 * Q12
    # μ_P = (Q₂₂w₁ − Q₁₂w₂)/det,  μ₂ = (w₂ − Q₁₂μ_P)/Q₂₂
    mu = (Q22 * w1 - Q12 * w2) / det
    rest = w2 - Q12 * mu
    second = rest / Q22
    at_k = alpha[c, k] + np.where(k == i, mu, 0.0) - np.where(k == j, mu, 0.0)
    at_m = alpha[c, m] + np.where(m == i, mu, 0.0) - np.where(m == j, mu, 0.0)
    low = most(state.lower[c, k] - at_k, at_m - state.upper[c, m])
    high = least(state.upper[c, k] - at_k, at_m - state.lower[c, m])
    inside = (state.low[c] < mu) & (mu < state.high[c]) & (low < second) & (second < high)
    # 2g₂ = μ(2w₁ − μQ₁₁) + (w₂ − Q₁₂μ)²/Q₂₂
    gain = mu * (2.0 * w1 - mu * Q11) + rest * second
    return mu, inside & ~(det <= 1e-10 * (Q11 * Q22)) & (gain >= 0.0)


class SmallBackend(Protocol):
    """A backend that can take the steps of many small problems in one call."""

    def small(self, problems: SmallProblems, rules: Rules, limit: int) -> None:
        """Take up to `limit` steps in each problem."""


class StackedBackend(NumPyBackend):
    """The readable backend, which takes the steps of many small problems together if the rules permit it."""

    def small(self, problems: SmallProblems, rules: Rules, limit: int) -> None:
        """Take the steps of all problems together if `are_stacked` is True; otherwise solve the problems in turn."""
        if are_stacked(problems, rules):
            stacked_steps(problems, rules, limit)
            self.used["numpy"] = None
            return
        for p in range(len(problems)):
            state = problems.state(p, rules)
            problems.take(p, state, self.steps(state, rules, limit))


def small_backend(engine: str) -> SmallBackend:
    """Return a new backend that takes the steps of small problems; raise the same errors as `chosen_backend`."""
    return cast("SmallBackend", chosen_backend(engine))


if BACKENDS["auto"] is BACKENDS["numpy"]:  # `refsvm.compiled` has set no backend
    BACKENDS["auto"] = StackedBackend
BACKENDS["numpy"] = StackedBackend
