"""Shrinking: repeatedly solve the problem restricted to the variables that may still move, and update the gradient.

    Until the stopping rule is satisfied on the full problem:
        take some steps;
        A ← the variables that matter (`refsvm.core.solver.active_sets`);
        solve the problem restricted to A, which may shrink in turn;
        G ← G − K[:, A] Δα_A, on all variables.

A restricted problem is a problem like any other: it has its own small, contiguous kernel matrix and is solved by the
same loop. `refsvm.core.solver.rules.Rules.restricted` chooses the rules of the restricted problem: the rules of the
full problem if the user chose a selector or a step rule, and conjugate steps otherwise. The restricted problem is
solved to the KKT gap that the stopping rule's `restricted_tolerance` returns. If the full problem has 3,000 variables
or more, the solver halves this gap, so that f hardly depends on whether kernel rows are float32 or float64.

Shrinking is safe: the most violating pair of the full problem is always in A, so a restricted problem never begins at
its optimum, and solving it raises f. The solve ends only when the full problem with its true gradient satisfies the
stopping rule. If a variable outside A should move, it joins the next A.
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
"""Approximate time between two checks of the limits while steps compute kernel rows, in seconds."""

UNLIMITED_STEPS: Final = 2**31
"""A number of steps that no budget reaches, for runs without checks of the limits."""

LARGE_FROM: Final = 3_000
LOOSE_FROM: Final = 1e-4
"""The solver halves the KKT gap of restricted problems if n ≥ `LARGE_FROM` and ε ≥ `LOOSE_FROM`."""

COPIES_MB: Final = 256.0
"""Largest amount of kernel rows, in MiB, that a restricted problem may copy from the full problem."""


class Shrinking(Rule):
    """Base of shrinking rules, which choose the variables of the next steps.

    ``bool(rule)`` is False for a rule that always chooses all variables.

    Attributes
    ----------
    full_gram_up_to : int
        A restricted problem with at most this many variables gets all its kernel rows at once, by one product.
    """

    example_call: ClassVar[str] = "Restriction()"
    full_gram_up_to: int = 0

    @abstractmethod
    def steps(
        self, backend: Backend, limits: Limits[SolverState], state: SolverState, rules: Rules, budget: int,
        trace: Trace | None,
    ) -> int:  # fmt: skip
        """Take up to `budget` steps on the variables that the rule chooses.

        Return 0 if more steps may follow, a code of ``rules.stop`` if the full problem with its true gradient satisfies
        the stopping rule, or −1 if no step gains. Use ``backend.steps(state, rules, budget, trace)`` to take steps on
        all variables of a state, for example the state of a restricted problem. Store data that the next call needs in
        ``state.shrinking``, which is None at the first call.
        """

    @property
    def for_restricted_problem(self) -> Shrinking:
        """The rule for a restricted problem: this rule, because the problem can often be restricted further."""
        return self

    def solve_restricted(
        self, backend: Backend, limits: Limits[SolverState], state: SolverState, rules: Rules, trace: Trace | None,
        A: np.ndarray, budget: int, *, at_least: float = 0.0, to: float | None = None,
    ) -> int:  # fmt: skip
        """Solve the problem restricted to the variables A, and copy its result to the full problem.

        If `to` is given, the method solves the restricted problem to the KKT gap `to`. Otherwise, it solves the problem
        to the stopping rule's `restricted_tolerance`, or to `at_least` if this number is larger. Return 0 if more steps
        may follow, or −1 if no step gains.
        """
        stop, absolute = rules.stop, rules.stop.with_absolute_tolerance(state)
        # if memory cannot hold the rows of A, solve to ε: a second restricted problem would compute all rows again
        tolerance = absolute.restricted_tolerance(state.gap if fits(state, A) else absolute.tolerance)
        if state.parent is None and len(state.alpha) >= LARGE_FROM and stop.tolerance >= LOOSE_FROM:
            # on large problems, halving the tolerance takes little time and makes f as exact as rounding allows
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
            outcome = 0  # drop the restricted solve: the state stays unchanged
        else:
            take_over(state, A, inner)
            state.refresh(recompute=False)
            if trace is not None and recorder is not None:
                record(trace, recorder, inner, before, first)
        del inner  # free the kernel rows of A, so that the full problem can reserve the memory again
        state.rows.evaluator.reserve()
        return ending(outcome, state, before)


@dataclass(frozen=True)
class NoShrinking(Shrinking):
    """Take all steps on all variables, as the papers do.

    Examples
    --------
    >>> from refsvm import NoShrinking
    >>> bool(NoShrinking())
    False
    """

    def __bool__(self) -> bool:
        """Return False, so that the rule has the truth value of the option ``shrinking=False``."""
        return False

    def steps(
        self, backend: Backend, limits: Limits[SolverState], state: SolverState, rules: Rules, budget: int,
        trace: Trace | None,
    ) -> int:  # fmt: skip
        """Take steps on all variables."""
        return all_variables(backend, limits, state, rules, budget, trace)


@dataclass(frozen=True)
class Restriction(Shrinking):
    """Solve the problem restricted to some variables, update G, and choose the variables again.

    The default values were chosen by measuring times.

    Parameters
    ----------
    period : int
        Number of steps between two choices of the active set, 1000 by default.
    copy_cost : float
        Time to copy one value of a stored row, as a multiple of the time that a step takes for one variable.
    full_gram_up_to : int
        A restricted problem with at most this many variables gets all its kernel rows at once, by one product.
    multiple : int
        The size of an active set is rounded up to a multiple of this number: compiled loops treat this many variables
        at once, and any remaining variables one by one.
    block : int
        Largest number of variables whose kernel rows are computed together as a block.
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
        # `recent`: number of steps of the last call; in the first call, `period` if α ≠ 0 (near a solution), else 0
        recent = (self.period if state.alpha.any() else 0) if state.shrinking is None else state.shrinking
        before, solve_on = state.iteration, (backend, limits, state, rules, trace)
        # for some kernel matrices, computing several rows at once is faster: `facts.prefers_batches`
        whole = state.rows.evaluator.gram
        in_blocks = whole.facts.prefers_batches and len(state.alpha) == whole.n
        if in_blocks and len(B := block(state, self.block)):
            # do not solve exactly for B: later steps on other variables would undo part of the gain
            outcome = self.solve_restricted(*solve_on, B, min(budget, 4 * len(B)), at_least=0.3 * state.gap)
        elif late := state.iteration % rules.stop.period:
            # a restricted solve may have ended at any step: continue to the next multiple of the stopping rule's period
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
        """Return True if taking `recent` steps on m instead of n variables saves more than copying kernel rows costs.

        Savings and cost are measured in numbers of variables: a step updates n or m variables, and a copied row has m
        values.
        """
        n = len(state.alpha)
        carried = min(m, state.rows.evaluator.filled)
        return m < 0.8 * n and recent * (n - m) > self.copy_cost * m * carried


ShrinkingPolicy = Restriction
"""The name that `Restriction` had in version 0.1."""


def all_variables(
    backend: Backend, limits: Limits[Any], state: SolverState, rules: Rules, budget: int, trace: Trace | None
) -> int:  # fmt: skip
    """Take up to `budget` steps on all variables, but return early at a limit; checks of the clock change no step."""
    end, code = state.iteration + budget, 0
    while not code and state.iteration < end:
        before = state.iteration
        code = backend.steps(state, rules, min(steps_between_checks(state), end - before), trace)
        if limits.seconds_left() <= 0.0 or state.iteration == before:
            break
    return code


def steps_between_checks(state: SolverState) -> int:
    """Return how many steps take `CHECK_SECONDS` if each computes two kernel rows; 1 if no row was timed yet."""
    rows = state.rows
    if rows.filled == rows.n:  # all rows are in memory
        return UNLIMITED_STEPS
    return 1 + int(min(CHECK_SECONDS / (2.0 * rows.row_seconds), UNLIMITED_STEPS)) if rows.row_seconds else 1


def seconds_to_full_gradient(state: SolverState, limits: Limits[Any]) -> float:
    """Estimate the seconds needed to update G of all variables after a restricted solve; 0 without a deadline."""
    seconds, moved = 0.0, np.flatnonzero(state.alpha)
    while limits.deadline.is_set and state.parent is not None:
        outer, A = state.parent
        moved = A[moved]
        if outer.parent is not None:
            moved = np.union1d(moved, np.flatnonzero(outer.alpha))
        # if two states share their kernel rows (as in `LIBSVMShrinking`), count the time for the rows only once
        if outer.parent is None or outer.parent[0].rows is not outer.rows:
            seconds += outer.rows.seconds_for(moved)
        state = outer
    return seconds


def record(trace: Trace, steps: Trace, inner: SolverState, before: float, first: int) -> None:
    """Append the steps of a restricted solve, with the gap of the restricted problem, to the full problem's trace."""
    if inner.parent is not None:
        (state, A), rows = inner.parent, steps.rows
        rows["i"], rows["j"] = A[rows["i"]], A[rows["j"]]
        rows["objective"] += before
        rows["iteration"] += first
        rows["rows"] = state.rows.computed
        trace.extend(rows)


def ending(outcome: int, state: SolverState, before: float) -> int:
    """Return −1 if a restricted solve stalled and its gain is only rounding error: the next solve would stall again."""
    rounding = EPSILON * len(state.alpha) * abs(before)
    return -1 if outcome < 0 and state.objective - before <= rounding else 0


class NoTimeError(Exception):
    """Raised if updating G of all variables would exceed the time limit; the caller drops the restricted solve."""


def subtracted(state: SolverState, A: np.ndarray, delta: np.ndarray, limits: Limits[Any]) -> np.ndarray:
    """Return G − K[:, A] δ for all variables of this state, with sorted A; raise `NoTimeError` if time runs out."""
    moved, gradient = np.flatnonzero(delta), state.gradient.copy()
    each = state.rows.seconds_for(A[moved]) / max(1, len(moved))

    def watch(left: int) -> None:
        if left * each > max(limits.seconds_left(), 0.0) + GRACE_SECONDS:
            raise NoTimeError

    state.rows.subtract(gradient, A[moved], delta[moved], watch=watch)
    state.updates += len(moved)
    return gradient


def take_over(state: SolverState, A: np.ndarray, inner: SolverState) -> None:
    """Copy the result of a restricted solve: α_A += δ, G_A and the step counts; other entries of G stay unchanged."""
    delta = inner.alpha
    lower, upper = state.lower[A], state.upper[A]
    alpha = np.clip(state.alpha[A] + delta, lower, upper)
    # α + δ is rounded, but a variable at its bound must not count as free: set it exactly to the bound
    alpha[delta == inner.lower] = lower[delta == inner.lower]
    alpha[delta == inner.upper] = upper[delta == inner.upper]
    state.largest = max(state.largest, float(np.abs(state.alpha[A]).max()) + inner.largest)
    state.alpha[A], state.gradient[A] = alpha, inner.gradient
    state.objective += inner.objective
    state.iteration += inner.iteration
    state.least_curvature = min(state.least_curvature, inner.least_curvature)


def count_rows(state: SolverState, inner: SolverState) -> None:
    """Add the number of kernel rows that a restricted state has computed to the count of this state."""
    rows = state.rows
    if inner.rows is not rows:
        rows.hits += inner.rows.hits
    if inner.rows.evaluator is not rows.evaluator:
        rows.count(inner.rows.computed)


def restricted(state: SolverState, A: np.ndarray, rules: Rules, full_gram_up_to: int) -> SolverState:
    """Return the state of the problem over α_A, in the variables δ = α_A − (present α_A).

        maximise  G_Aᵀδ − ½ δᵀK_AA δ     subject to  1ᵀδ = 0,   L_A − α_A ≤ δ ≤ U_A − α_A.

    `DualProblem.restrict` returns the same problem, but in α_A instead of δ. The linear term in δ is the known gradient
    G_A, which need not be recomputed.
    """
    rows = state.rows
    source, chosen, dtype = rows.evaluator, rows.indices[A], rows.values.dtype.type
    # copy the stored rows of A, because every step reads a contiguous copy faster than entries of longer rows
    if fits(state, A):
        most = min(rows.cache_mb if rows.holds_all else rows.cache_mb / 4, COPIES_MB)
        budget = max(most, megabytes(64, len(A)))
        small = stored_rows(source.restrict(chosen), budget, dtype, read=dtype)
        if small.holds_all:  # problems that are restricted further may use the rest of `budget`
            small.cache_mb = budget - megabytes(len(A), len(A), dtype)
        if len(A) <= full_gram_up_to and small.holds_all:
            small.fetch(np.flatnonzero(source.slots[chosen] >= 0))
    else:
        # the full and the restricted state share one memory budget, so rows of the full problem cannot stay in memory
        release_rows(state)
        small = stored_rows(source.gram.restrict(chosen), rows.cache_mb, dtype, read=dtype)
    return displaced(state, A, small, rules)


def fits(state: SolverState, A: np.ndarray) -> bool:
    """Return True if the kernel rows of A fit in memory together, so that no row must be computed twice."""
    source = state.rows.evaluator
    return len(A) <= source.capacity or source.holds_all


def release_rows(state: SolverState) -> None:
    """Free a state's kernel rows, even if a second state shares them, and drop compiled code's references to them."""
    state.rows.evaluator.release()
    state.session = None
    if state.parent is not None:
        state.parent[0].session = None


def displaced(state: SolverState, A: np.ndarray, rows: KernelRows, rules: Rules) -> SolverState:
    """Return the state of the problem in δ = α_A − (present α_A) with the given kernel rows."""
    G, alpha = state.gradient[A], state.alpha[A]
    view = DualProblem._of_checked(rows.gram, G, state.lower[A] - alpha, state.upper[A] - alpha)
    inner = rules.begin(view, np.zeros(len(A)), rows, gradient=G)
    inner.parent = state, A
    return inner
