"""Shrinking: restrict to the variables that still matter, solve there, bring the gradient up to date, look again.

    until the stopping rule is satisfied on the full problem
        take some steps
        A ← the variables that matter (`refsvm.core.solver.active_sets`)
        solve the problem restricted to A, which may shrink in turn
        G ← G − K[:, A] Δα_A, on all variables

A restricted problem is a problem like any other: its own small, contiguous kernel matrix, the same loop, and the rules
that `refsvm.core.solver.rules.Rules.restricted` names: those of the full problem, or, without a selector or a step
named, conjugate steps. It is solved to the KKT gap that the stopping rule names (`restricted_tolerance`). From 3,000
variables on the gap is half of that: f is then much the same whatever the precision of kernel rows.

Why this is safe: the most violating pair of the full problem is always in A, so no restricted problem begins at its
optimum, and f rises in every round. (Some rounds gain less than one step on that pair would: they begin with another
one.) The stopping rule has the last word on all variables with their true gradient; if one was left out wrongly, the
next round includes it.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Final

import numpy as np

from refsvm.core.backend import Backend
from refsvm.core.engine.limits import GRACE_SECONDS, Limits
from refsvm.core.kernels.cached_rows import stored_rows
from refsvm.core.kernels.rows import KernelRows, megabytes
from refsvm.core.problem import EPSILON, DualProblem
from refsvm.core.result import Trace
from refsvm.core.rule import Rule
from refsvm.core.solver.active_sets import active_set, block
from refsvm.core.solver.rules import Rules
from refsvm.core.state import SolverState

CHECK_SECONDS: Final = 0.05
"""Between two checks of the limits, about, where steps compute kernel rows."""

UNLIMITED_STEPS: Final = 2**31
"""More steps than any budget that needs checks."""

LARGE_FROM: Final = 3_000
LOOSE_FROM: Final = 1e-4
"""Variables, and tolerance, from which on restricted problems are solved to half the gap."""

COPIES_MB: Final = 256.0
"""Most MiB that the rows of restricted problems take beside those that they are copies of."""


class Shrinking(Rule):
    """Chooses the variables of the next steps, and when the others return. False in a test if it is always all of them.

    Attributes
    ----------
    full_gram_up_to : int
        Up to this many variables all kernel rows are computed at once: one product is cheaper than many.
    """

    example_call: ClassVar[str] = "Restriction()"
    full_gram_up_to: int = 0

    @abstractmethod
    def steps(
        self, backend: Backend, limits: Limits[SolverState], state: SolverState, rules: Rules, budget: int,
        trace: Trace | None,
    ) -> int:  # fmt: skip
        """Take up to so many steps on the variables that matter.

        Return 0 if more may follow, a code of ``rules.stop`` if that is satisfied with all variables and their true
        gradient, −1 if no step gains. ``backend.steps(state, rules, budget, trace)`` takes steps on all variables of a
        state, such as that of a restricted problem. What is remembered from call to call is ``state.shrinking``, None
        at the first one.
        """

    @property
    def for_restricted_problem(self) -> Shrinking:
        """How a restricted problem is shrunk in turn: alike, since what it needs is often much smaller again."""
        return self

    def solve_restricted(
        self, backend: Backend, limits: Limits[SolverState], state: SolverState, rules: Rules, trace: Trace | None,
        A: np.ndarray, budget: int, *, at_least: float = 0.0, to: float | None = None,
    ) -> int:  # fmt: skip
        """Solve the problem over α_A, to a KKT gap of `at_least` if not to a larger one, and take the result over.

        Return 0 if more may follow, −1 if nothing is gained any more. `to` names another gap.
        """
        stop, absolute = rules.stop, rules.stop.with_absolute_tolerance(state)
        # each restricted problem that outgrows the memory for rows costs the rows of all that it moves, computed anew:
        # it is solved to the end, not to a larger gap first
        tolerance = absolute.restricted_tolerance(state.gap if fits(state, A) else absolute.tolerance)
        if state.parent is None and len(state.alpha) >= LARGE_FROM and stop.tolerance >= LOOSE_FROM:
            # kernel rows dominate the cost here; f then depends on where a solve stops no more than on their rounding
            tolerance /= 2.0
        inner_rules, outcome = rules.restricted(max(tolerance, at_least) if to is None else to), 0
        inner = restricted(state, A, inner_rules, self.full_gram_up_to)
        recorder = None if trace is None else Trace(trace.every)
        while not outcome and inner.iteration < budget:
            outcome = self.for_restricted_problem.steps(
                backend, limits, inner, inner_rules, budget - inner.iteration, recorder
            )
            if limits.should_return_early(inner, seconds_to_full_gradient(inner, limits)):
                break
        before, first = state.objective, state.iteration
        count_rows(state, inner)
        try:
            # G ← G − K[:, A] δ
            state.gradient[:] = subtracted(state, A, inner.alpha, limits)
        except NoTimeError:
            outcome = 0  # the state stays where it was
        else:
            take_over(state, A, inner)
            state.refresh(recompute=False)
            if trace is not None and recorder is not None:
                record(trace, recorder, inner, before, first)
        del inner  # whose rows take the memory that was released for them
        state.rows.evaluator.reserve()
        return ending(outcome, state, before)


@dataclass(frozen=True)
class NoShrinking(Shrinking):
    """All variables, always: the steps of the papers.

    Examples
    --------
    >>> from refsvm import NoShrinking
    >>> bool(NoShrinking())
    False
    """

    def __bool__(self) -> bool:
        """False, as the option ``shrinking=False`` is."""
        return False

    def steps(
        self, backend: Backend, limits: Limits[SolverState], state: SolverState, rules: Rules, budget: int,
        trace: Trace | None,
    ) -> int:  # fmt: skip
        """Take steps on all variables."""
        return all_variables(backend, limits, state, rules, budget, trace)


@dataclass(frozen=True)
class Restriction(Shrinking):
    """Restrict the problem, solve it, bring the gradient up to date, look again; the defaults were measured.

    Parameters
    ----------
    period : int
        Steps between two looks at the active set.
    copy_cost : float
        Cost of copying one value of a stored row, in variables touched by a step.
    full_gram_up_to : int
        Up to this many variables all kernel rows are computed at once: one product is cheaper than many.
    multiple : int
        Active sets are filled up to a multiple of this: the compiled loops take that many variables at a time, and
        those beyond a multiple one at a time.
    block : int
        Most variables that join a block at a time.
    """

    period: int = 1000
    copy_cost: float = 1.0
    full_gram_up_to: int = 1500
    multiple: int = 32
    block: int = 512

    def steps(
        self, backend: Backend, limits: Limits[SolverState], state: SolverState, rules: Rules, budget: int,
        trace: Trace | None,
    ) -> int:  # fmt: skip
        """Take some steps on all variables, or solve one restricted problem."""
        if code := rules.stop.check(state):
            return code
        # steps of the last call; before the first one as many as in a period, if it begins near the solution
        recent = (self.period if state.alpha.any() else 0) if state.shrinking is None else state.shrinking
        before, solve_on = state.iteration, (backend, limits, state, rules, trace)
        # the matrix behind all stores: whether batches pay depends on what evaluates the kernel
        whole = state.rows.evaluator.gram
        in_blocks = whole.facts.prefers_batches and len(state.alpha) == whole.n
        if in_blocks and len(B := block(state, self.block)):
            # not to the end: what is gained on B alone is partly lost again once the others join
            outcome = self.solve_restricted(*solve_on, B, min(budget, 4 * len(B)), at_least=0.3 * state.gap)
        elif late := state.iteration % rules.stop.period:
            # restricted solves end at any step; the rule is asked again when it wants to be
            outcome = all_variables(
                backend, limits, state, rules, min(budget, rules.stop.period - late), trace
            )
        elif (
            state.gap > 0.0
            and recent
            and self._pays(state, recent, len(A := active_set(state, self.multiple)))
        ):
            outcome = self.solve_restricted(*solve_on, A, budget)
        else:
            outcome = all_variables(backend, limits, state, rules, min(budget, self.period), trace)
        state.shrinking = state.iteration - before
        return outcome

    def _pays(self, state: SolverState, recent: int, m: int) -> bool:
        """Whether as many steps as the last call took would save, on m variables, more than the restriction costs.

        Both counted in variables touched: a step touches n of them or m; of each row that is carried over, m.
        """
        n = len(state.alpha)
        carried = min(m, state.rows.evaluator.filled)
        return m < 0.8 * n and recent * (n - m) > self.copy_cost * m * carried


ShrinkingPolicy = Restriction
"""The name of 0.1."""


def all_variables(
    backend: Backend, limits: Limits[Any], state: SolverState, rules: Rules, budget: int, trace: Trace | None
) -> int:  # fmt: skip
    """Take up to so many steps on all variables, fewer if a limit is due; checks of the clock do not change them."""
    end, code = state.iteration + budget, 0
    while not code and state.iteration < end:
        before = state.iteration
        code = backend.steps(state, rules, min(steps_between_checks(state), end - before), trace)
        if limits.seconds_left() <= 0.0 or state.iteration == before:
            break
    return code


def steps_between_checks(state: SolverState) -> int:
    """Return how many steps take `CHECK_SECONDS` if each computes two kernel rows; one if a row's time is not known."""
    rows = state.rows
    if rows.filled == rows.n:  # nothing is left to compute
        return UNLIMITED_STEPS
    return 1 + int(min(CHECK_SECONDS / (2.0 * rows.row_seconds), UNLIMITED_STEPS)) if rows.row_seconds else 1


def seconds_to_full_gradient(state: SolverState, limits: Limits[Any]) -> float:
    """Return about how many seconds it takes from a restricted state to G of all variables; 0 without a deadline."""
    seconds, moved = 0.0, np.flatnonzero(state.alpha)
    while limits.deadline.is_set and state.parent is not None:
        outer, A = state.parent
        moved = A[moved]
        if outer.parent is not None:
            moved = np.union1d(moved, np.flatnonzero(outer.alpha))
        if (
            outer.parent is None or outer.parent[0].rows is not outer.rows
        ):  # such as those of LIBSVM's shrinking
            seconds += outer.rows.seconds_for(moved)
        state = outer
    return seconds


def record(trace: Trace, steps: Trace, inner: SolverState, before: float, first: int) -> None:
    """Record the steps of a restricted solve in terms of the full problem; their gap stays the restricted one."""
    if inner.parent is not None:
        (state, A), rows = inner.parent, steps.rows
        rows["i"], rows["j"] = A[rows["i"]], A[rows["j"]]
        rows["objective"] += before
        rows["iteration"] += first
        rows["rows"] = state.rows.computed
        trace.extend(rows)


def ending(outcome: int, state: SolverState, before: float) -> int:
    """Return −1 where a restricted solve stalled and gained no more than rounding: nor would it in the next round."""
    rounding = EPSILON * len(state.alpha) * abs(before)
    return -1 if outcome < 0 and state.objective - before <= rounding else 0


class NoTimeError(Exception):
    """A limit is due, and G of all variables would take longer than is left: a restricted solve is given up."""


def subtracted(state: SolverState, A: np.ndarray, delta: np.ndarray, limits: Limits[Any]) -> np.ndarray:
    """Return G − K[:, A] δ of all variables of this state; A is sorted. Raise `NoTimeError` once it is too late."""
    moved, gradient = np.flatnonzero(delta), state.gradient.copy()
    each = state.rows.seconds_for(A[moved]) / max(1, len(moved))

    def watch(left: int) -> None:
        if left * each > max(limits.seconds_left(), 0.0) + GRACE_SECONDS:
            raise NoTimeError

    state.rows.subtract(gradient, A[moved], delta[moved], watch=watch)
    state.updates += len(moved)
    return gradient


def take_over(state: SolverState, A: np.ndarray, inner: SolverState) -> None:
    """α_A += δ, exactly at a bound where δ is; G_A and the steps. The gradient of the others is not touched."""
    delta = inner.alpha
    lower, upper = state.lower[A], state.upper[A]
    alpha = np.clip(state.alpha[A] + delta, lower, upper)
    # α + δ rounds, and a variable that is nearly at its bound would count as free
    alpha[delta == inner.lower] = lower[delta == inner.lower]
    alpha[delta == inner.upper] = upper[delta == inner.upper]
    state.largest = max(state.largest, float(np.abs(state.alpha[A]).max()) + inner.largest)
    state.alpha[A], state.gradient[A] = alpha, inner.gradient
    state.objective += inner.objective
    state.iteration += inner.iteration
    state.least_curvature = min(state.least_curvature, inner.least_curvature)


def count_rows(state: SolverState, inner: SolverState) -> None:
    """Count the kernel rows of a restricted state as rows of this one."""
    rows = state.rows
    if inner.rows is not rows:
        rows.hits += inner.rows.hits
    if inner.rows.evaluator is not rows.evaluator:
        rows.count(inner.rows.computed)


def restricted(state: SolverState, A: np.ndarray, rules: Rules, full_gram_up_to: int) -> SolverState:
    """Return the state of the problem over α_A, with the variables counted from where they stand: δ = α_A − now.

        maximise  G_Aᵀδ − ½ δᵀK_AA δ     subject to  1ᵀδ = 0,   L_A − α_A ≤ δ ≤ U_A − α_A

    This is `DualProblem.restrict` moved to the current point, where v_A + (terms of the fixed variables) is
    the gradient: nothing has to be recomputed.
    """
    rows = state.rows
    source, there, dtype = rows.evaluator, rows.indices[A], rows.values.dtype.type
    # rows that are stored are copied, not computed: a copy in one piece is read faster in every step
    if fits(state, A):
        most = min(rows.cache_mb if rows.holds_all else rows.cache_mb / 4, COPIES_MB)
        budget = max(most, megabytes(64, len(A)))
        small = stored_rows(source.restrict(there), budget, dtype, read=dtype)
        if small.holds_all:  # the rest is for what is restricted in turn
            small.cache_mb = budget - megabytes(len(A), len(A), dtype)
        if len(A) <= full_gram_up_to and small.holds_all:
            small.fetch(np.flatnonzero(source.slots[there] >= 0))
    else:
        # one budget for both: whatever is stored would give way to the rows of the restricted problem
        release_rows(state)
        small = stored_rows(source.gram.restrict(there), rows.cache_mb, dtype, read=dtype)
    return displaced(state, A, small, rules)


def fits(state: SolverState, A: np.ndarray) -> bool:
    """Whether the rows of A have their place in memory beside each other, so that they need not be computed twice."""
    source = state.rows.evaluator
    return len(A) <= source.capacity or source.holds_all


def release_rows(state: SolverState) -> None:
    """Release the rows that a state reads, with the compiled sessions on them; its parent may share them."""
    state.rows.evaluator.release()
    state.session = None
    if state.parent is not None:
        state.parent[0].session = None


def displaced(state: SolverState, A: np.ndarray, rows: KernelRows, rules: Rules) -> SolverState:
    """Return the state of α_A, counted from where it stands, with kernel rows that are there."""
    G, alpha = state.gradient[A], state.alpha[A]
    view = DualProblem._of_checked(rows.gram, G, state.lower[A] - alpha, state.upper[A] - alpha)
    inner = rules.begin(view, np.zeros(len(A)), rows, gradient=G)
    inner.parent = state, A
    return inner
