"""Shrinking: restrict to the variables that still matter, solve there, bring the gradient up to date, look again.

    until the stopping rule is satisfied on the full problem
        take some steps
        A ← all variables but those that stand at a bound and that their gradient keeps there
        solve the problem restricted to A, which may shrink in turn
        G ← G − K[:, A] Δα_A, on all variables

A restricted problem is a problem like any other: its own small, contiguous kernel matrix, the same rules, the same
loop.

Why this is safe: a variable is left out only while it takes part in no violating pair, so the most violating pair of
the full problem is always in A. f never falls, and the stopping rule has the last word on all variables with their
true gradient; if one was left out wrongly, the next round includes it.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from refsvm.problem import DualProblem
from refsvm.result import Trace
from refsvm.rows import KernelRows, RowsOf
from refsvm.state import SolverState
from refsvm.stopping.kkt_gap import KKTGap

if TYPE_CHECKING:
    from refsvm.limits import Limits
    from refsvm.solver import Engine, Rules

__all__ = ["ShrinkingEngine", "active_set"]

PERIOD = 1000
"""Steps between two looks at the active set."""

CARRY = 1.0
"""What it costs to carry one value of a stored row over, in variables touched by a step."""

WHOLE = 1500
"""Up to this many variables, all kernel rows are computed at once: cheaper in one product than one by one."""

LANES = 32
"""The compiled loops take this many variables at a time; a problem of another size pays for the odd ones singly."""


class ShrinkingEngine:
    """Runs a solve with shrinking; each `advance` is one round: some steps on all variables, or one restricted solve.

    Parameters
    ----------
    state : SolverState
        Of the problem to solve.
    rules : (selector, step, stop)
        `stop` decides on this problem; restricted problems are solved to a KKT gap.
    make : callable
        ``make(state, rules, trace)`` returns the engine that takes the steps.
    limits : Limits
        Asked between rounds of a restricted solve whether to come up for air.
    trace : Trace or None
    """

    paced = False

    def __init__(
        self,
        state: SolverState,
        rules: Rules,
        make: Callable[[SolverState, Rules, Trace | None], Engine],
        limits: Limits,
        trace: Trace | None = None,
    ) -> None:
        self._state, self._rules, self._make, self._trace = state, rules, make, trace
        self._limits = limits
        if len(state.alpha) <= WHOLE and state.rows.holds_all and not isinstance(state.rows.gram, RowsOf):
            state.rows.fetch(np.arange(len(state.alpha)))
        if state.problem.gram.effort > 2**18.5:
            state.rows.likely = partial(likely, state)
        self._steps = make(state, rules, trace)
        self._recent = 0  # steps of the last round
        self.name = self._steps.name

    def close(self) -> None:
        """Release the engine of the full problem, and the circle of state → rows → `likely` → state."""
        self._state.rows.likely = None
        self._steps.close()

    def advance(self, budget: int) -> int:
        """Take one round of up to `budget` steps."""
        state = self._state
        code = self._rules[2].check(state)
        if code:
            return code
        before = state.iteration
        A = active_set(state) if self._recent else None
        if A is None or not self._pays(len(A)):
            outcome = self._steps.advance(min(budget, PERIOD))
        else:
            outcome = self._solve_restricted(A, budget)
        self._recent = state.iteration - before
        return outcome

    def _pays(self, m: int) -> bool:
        """Whether as many steps as the last round took would save, on m variables, more than the restriction costs.

        Both counted in variables touched: a step touches n of them or m; of each row that is carried over, m.
        """
        n = len(self._state.alpha)
        return m < 0.8 * n and self._recent * (n - m) > CARRY * m * min(m, self._state.rows.filled)

    def _solve_restricted(self, A: np.ndarray, budget: int) -> int:
        """Solve the problem over α_A and take the result over."""
        state = self._state
        tolerance = self._rules[2].restricted_tolerance(state.gap)
        inner = restricted(state, A, self._rules)
        trace = None if self._trace is None else Trace(self._trace.every)
        rules, outcome = (*self._rules[:2], KKTGap(tolerance)), 0
        with closing(ShrinkingEngine(inner, rules, self._make, self._limits, trace)) as engine:
            while not outcome and inner.iteration < budget and not self._limits.pressing():
                outcome = engine.advance(budget - inner.iteration)
        before = state.objective
        self._take_over(A, inner, trace)
        # a stalled problem that gained no more than rounding will not gain in the next round either
        rounding = float(np.finfo(float).eps) * len(state.alpha) * abs(before)
        return -1 if outcome < 0 and state.objective - before <= rounding else 0

    def _take_over(self, A: np.ndarray, inner: SolverState, trace: Trace | None) -> None:
        """α_A += δ, exactly at a bound where δ is, and G ← G − K[:, A] δ."""
        state, rows, delta = self._state, self._state.rows, inner.alpha
        lower, upper = state.lower[A], state.upper[A]
        alpha = np.clip(state.alpha[A] + delta, lower, upper)
        alpha[delta == inner.lower] = lower[delta == inner.lower]
        alpha[delta == inner.upper] = upper[delta == inner.upper]
        change = np.zeros(len(state.alpha))
        change[A] = delta
        state.alpha[A] = alpha
        state.gradient -= rows.product(change)
        state.gradient[A] = inner.gradient
        before, first = state.objective, state.iteration
        state.iteration += inner.iteration
        rows.hits += inner.rows.hits
        rows.computed += 0 if isinstance(inner.rows.gram, RowsOf) else inner.rows.computed
        state.least_curvature = min(state.least_curvature, inner.least_curvature)
        state.refresh(recompute=False)
        if trace is not None and self._trace is not None:
            self._trace.extend(renumbered(trace.rows, A, before, first, rows.computed))


def active_set(state: SolverState) -> np.ndarray:
    """Return A, sorted: all variables but those pinned to a bound, filled up to a multiple of `LANES`.

    The fill-up takes the least pinned ones.
    """
    alpha, distance = state.alpha, pinned(state)
    distance[(alpha < state.upper) & (alpha > state.lower)] = 0.0
    count = int((distance <= 0.0).sum())
    size = -(-count // LANES) * LANES
    if size >= len(alpha):
        return np.arange(len(alpha))
    return np.sort(np.argpartition(distance, size)[:size])


def pinned(state: SolverState) -> np.ndarray:
    """How far G keeps each variable from taking part in a violating pair; not positive: it does take part.

    At its lower bound αᵢ can only rise, which gains nothing while Gᵢ < min over I_down of G; at its upper bound it can
    only fall, which gains nothing while Gᵢ > max over I_up of G.
    """
    alpha, G = state.alpha, state.gradient
    rising = np.where(alpha < state.upper, G[state.bottom] - G, np.inf)
    falling = np.where(alpha > state.lower, G - G[state.top], np.inf)
    return np.minimum(rising, falling, out=rising)


def likely(state: SolverState, count: int) -> np.ndarray:
    """Return up to `count` variables whose kernel rows will be wanted soon: the most violating without one."""
    distance = pinned(state)
    distance[state.rows.slots >= 0] = np.inf
    count = min(count, int((distance < 0.0).sum()))
    return np.argpartition(distance, max(count - 1, 0))[:count]


def restricted(state: SolverState, A: np.ndarray, rules: Rules) -> SolverState:
    """Return the state of the problem over α_A, with the variables counted from where they stand: δ = α_A − now.

        maximise  G_Aᵀδ − ½ δᵀK_AA δ     subject to  1ᵀδ = 0,   L_A − α_A ≤ δ ≤ U_A − α_A

    This is `DualProblem.restrict` moved to the current point, where v_A + (terms of the fixed variables) is
    the gradient: nothing has to be recomputed.
    """
    rows, problem = state.rows, state.problem
    if rows.holds_all:
        small = KernelRows(RowsOf(rows, A), np.inf)
        if len(A) <= WHOLE:
            small.fetch(np.flatnonzero(rows.slots[A] >= 0))
    else:
        small = KernelRows(problem.gram.restrict(A), rows.cache_mb)
    G, alpha = state.gradient[A], state.alpha[A]
    view = DualProblem(small.gram, G, 0.0, problem.lower[A] - alpha, problem.upper[A] - alpha)
    return SolverState(view, np.zeros(len(A)), small, *rules, gradient=G)


def renumbered(steps: np.ndarray, A: np.ndarray, before: float, first: int, computed: int) -> np.ndarray:
    """Return the steps of a restricted solve in terms of the full problem; their gap stays the restricted one."""
    steps["i"], steps["j"] = A[steps["i"]], A[steps["j"]]
    steps["objective"] += before
    steps["iteration"] += first
    steps["rows"] = computed
    return steps
