"""LIBSVMShrinking: LIBSVM's shrinking heuristic, built from restricted problems.

    After every min(n, period) steps on the active variables A (ψ_A is the KKT gap of A):
        the first time that ψ_A ≤ 10 ε, all variables become active;
        A loses the variables that G keeps at a bound: Gᵢ > max over I_up of G, or Gᵢ < min over I_down of G.
    When ψ_A ≤ ε, all variables become active; the solver takes a step on all variables, and then chooses A again.

When all variables become active, the rule updates the gradient, G ← G − K[:, S] δ_S, where S are the variables that
moved. Until all variables become active, A only loses variables, so A may lack variables that should move. The solve
ends only when the full problem with its true gradient satisfies the stopping rule.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from refsvm.core._checks import whole
from refsvm.core.backend import Backend
from refsvm.core.engine.limits import Limits
from refsvm.core.result import Trace
from refsvm.core.solver.active_sets import active_set
from refsvm.core.solver.rules import Rules
from refsvm.core.solver.shrinking import (
    NoTimeError,
    Shrinking,
    all_variables,
    count_rows,
    displaced,
    ending,
    record,
    restricted,
    seconds_to_full_gradient,
    subtracted,
    take_over,
)
from refsvm.core.state import SolverState
from refsvm.core.stopping.kkt_gap import KKTGap

NEARLY_SOLVED = 10.0
"""All variables become active when the KKT gap of the active variables is at most this multiple of ε."""


@dataclass(frozen=True)
class LIBSVMShrinking(Shrinking):
    """Shrink as LIBSVM does, for comparisons with papers that used LIBSVM.

    Three things differ from LIBSVM. When all variables are active again, the rule compares each Gᵢ with the extremes of
    G over all variables; LIBSVM uses the extremes over the previously active variables. The rule updates G with the
    kernel rows of all variables that moved; LIBSVM keeps a second gradient for variables at their bounds, so counts of
    kernel rows differ. Selectors and step rules that use recent steps forget these steps when the active set changes.

    Parameters
    ----------
    period : int
        Number of steps between two choices of the active set, or n if n is smaller.

    Raises
    ------
    ValueError
        If period is not a positive whole number.

    References
    ----------
    R.-E. Fan, P.-H. Chen and C.-J. Lin, "Working set selection using second order information for training support
    vector machines", JMLR 6, 2005; C.-C. Chang and C.-J. Lin, "LIBSVM: a library for support vector machines", ACM
    Transactions on Intelligent Systems and Technology 2, 2011, section 5.1.

    Examples
    --------
    >>> from refsvm import RBF, DualProblem, LIBSVMShrinking, solve
    >>> from refsvm.datasets import load
    >>> heart = load("heart")
    >>> problem = DualProblem.classification(heart.X, heart.y, kernel=RBF(0.005), C=100.0)
    >>> solve(problem, shrinking=LIBSVMShrinking()).status.name
    'CONVERGED'
    """

    period: int = 1000

    def __post_init__(self) -> None:
        whole("period", self.period, 1)

    def steps(
        self, backend: Backend, limits: Limits[SolverState], state: SolverState, rules: Rules, budget: int,
        trace: Trace | None,
    ) -> int:  # fmt: skip
        """Take up to `period` steps on all variables, then steps on the active variables until they are optimal."""
        if state.shrinking is None:
            state.shrinking = ShrinkingMemory(self, len(state.alpha))
        active: ShrinkingMemory = state.shrinking
        return active.steps(Work(backend, limits, state, rules, trace), budget)


class Work(NamedTuple):
    """The arguments of one call of `steps`; if `state` stored them, `state` would hold a reference to itself."""

    backend: Backend
    limits: Limits[SolverState]
    state: SolverState
    rules: Rules
    trace: Trace | None

    @property
    def nearly(self) -> float:
        """The KKT gap at which all variables become active again."""
        return NEARLY_SOLVED * float(self.rules.stop.with_absolute_tolerance(self.state).tolerance)


class ShrinkingMemory:
    """The data that the rule keeps from one choice of the active set to the next."""

    def __init__(self, policy: LIBSVMShrinking, n: int) -> None:
        # `left` is the number of steps on all variables before the active set is chosen again
        self.period = self.left = min(policy.period, n)
        self.have_returned = False

    def steps(self, work: Work, budget: int) -> int:
        """Take up to `budget` steps."""
        backend, limits, state, rules, trace = work
        before, code = state.iteration, rules.stop.check(state)
        if code:
            return code
        if self.left <= 0 and state.gap > 0.0:
            # --- choose the active set: at this point G is correct for all variables ---
            self.have_returned = self.have_returned or state.gap <= work.nearly
            A = active_set(state, 1)
            if len(A) < len(state.alpha):
                return self.solve_active(work, A, budget)
            self.left = self.period
        outcome = all_variables(backend, limits, state, rules, min(budget, max(self.left, 1)), trace)
        self.left -= state.iteration - before
        return outcome

    def solve_active(self, work: Work, A: np.ndarray, budget: int) -> int:
        """Solve the problem over A, removing variables from A between steps; then make all variables active again."""
        state, stop = work.state, work.rules.stop.with_absolute_tolerance(work.state)
        tolerance = stop.restricted_tolerance(min(state.gap, work.nearly))
        rules = work.rules._replace(stop=KKTGap(tolerance))
        everyone, shrunk, outcome = np.arange(len(state.alpha)), True, 0
        now = displaced(state, everyone, state.rows, rules)
        while shrunk and not outcome:
            inner = restricted(now, A, rules, 0)
            outcome, B = self._until_shrunk(work, inner, rules, budget - now.iteration, now)
            count_rows(now, inner)
            take_over(now, A, inner)
            del inner  # free the kernel rows of A before the next restricted problem needs memory
            A, shrunk = (A, False) if B is None else (A[B], True)
        # --- make all variables active; if ψ_A ≤ ε, take a step on all variables before A is chosen again ---
        solved = bool(outcome)
        self.left = stop.period - (state.iteration + now.iteration) % stop.period if solved else 0
        before = state.objective
        try:
            # G ← G − K δ; for the variables in A, the restricted solves have already computed G
            gradient = subtracted(state, everyone, now.alpha, work.limits)
        except NoTimeError:
            outcome = 0  # drop the restricted solve: the state stays unchanged
            if work.trace is not None:
                work.trace.drop()
        else:
            gradient[A] = now.gradient[A]
            now.gradient[:] = gradient
            take_over(state, everyone, now)
            state.refresh(recompute=False)
        state.rows.evaluator.reserve()
        return ending(outcome, state, before)

    def _until_shrunk(
        self, work: Work, inner: SolverState, rules: Rules, budget: int, now: SolverState
    ) -> tuple[int, np.ndarray | None]:
        """Take steps on the active variables; return the outcome and the variables that stay active.

        The second returned value is None if no variable became inactive.
        """
        trace = None if work.trace is None else Trace(work.trace.every)
        outcome, stay = 0, None
        limits = work.limits
        while not outcome and inner.iteration < budget:
            if limits.should_return_early(inner, seconds_to_full_gradient(inner, limits)):
                break
            most = min(self.period, budget - inner.iteration)
            outcome = all_variables(work.backend, limits, inner, rules, most, trace)
            # a backend may return after its last step without checking the gap
            outcome = outcome or rules.stop.check(inner)
            if outcome or inner.iteration >= budget:
                break
            # --- review ---
            if not self.have_returned and inner.gap <= work.nearly:
                self.have_returned = True
                break
            B = active_set(inner, 1)
            if len(B) < len(inner.alpha):
                stay = B
                break
        if work.trace is not None and trace is not None:
            before, first = work.state.objective + now.objective, work.state.iteration + now.iteration
            record(work.trace, trace, inner, before, first)
        return outcome, stay
