"""Run: takes the steps of a solve until its stopping rule, a limit, the callback or Ctrl-C says stop.

Chunks of some ten milliseconds, shrinking, hard margins, polishing, and a gradient computed afresh where rounding
spoiled it. `solve` and `refsvm.Rounds` both end here.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any, Final, TypeAlias

import numpy as np

from refsvm.backend import Backend
from refsvm.engine.limits import Limits, interruptible
from refsvm.kernels.precision import ROUNDING, SHARE, decision_error, decision_noise, noise_of_values
from refsvm.kernels.rows import KernelRows
from refsvm.result import Ending, Solution, Status, Trace
from refsvm.rule import is_builtin
from refsvm.solver.hard_margin import INSEPARABLE, HardMargin
from refsvm.solver.polish import polish
from refsvm.solver.rounding import PointError, drifted, feasibility_error, noisy, snap
from refsvm.solver.rules import Rules
from refsvm.solver.shrinking import NoShrinking, Restriction, Shrinking, all_variables
from refsvm.solver.validated import refuse_negative
from refsvm.state import SolverState
from refsvm.stopping.base import StoppingRule, validated_code

ENDINGS: Final = {-1: Status.STALLED, INSEPARABLE: Status.INSEPARABLE}
"""Meanings of the negative codes."""

CHUNK_SECONDS: Final = 0.02
"""Between two looks at the limits."""

INDEFINITE: Final = -1e-8
"""A curvature below this part of the largest kᵢᵢ is no rounding in float64: K has a negative eigenvalue."""

ROUNDED_INDEFINITE: Final = -8.0 * ROUNDING
"""The same for float32 values, four of which make a curvature."""

Verdict: TypeAlias = tuple[Status, int]
"""The status of a run, and the code of the stopping rule; 0 if another reason ended it."""

IDLE: Final = 10_000
"""Maximum number of calls without progress."""

FRESH: Final = 10
"""Number of fresh gradients after which a rule that disagrees with each of them counts as stalled."""


class CoarseError(Exception):
    """Kernel values that are held as float32 are not precise enough for what the rounds have found."""


class Run:
    """Takes the steps of one solve after the other; enter it as a context around each.

    Parameters
    ----------
    backend : Backend
    limits : Limits
        Made before anything else: its clock is that of the first solve.
    rows : KernelRows
        Of the matrix that the solves share.
    shrinking : bool or Shrinking
    polish : bool
        Whether to take one exact step at the end (`refsvm.solver.polish`).
    in_float64 : callable, optional
        Returns memory for the same rows as float64, for solves that have begun on float32 rows and may leave them.
    allowed : float
        How far float32 rows may move G, as a share of the tolerance, before a solve leaves them.

    Attributes
    ----------
    refused_from : float
        Share of the tolerance beyond which float32 values raise `CoarseError`: their caller can do without. 0: they are
        said, and kept.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import RBF, DualProblem
    >>> from refsvm.backend import chosen_backend
    >>> from refsvm.engine.limits import Limits
    >>> from refsvm.solver.rules import chosen_rules, row_store
    >>> from refsvm.solver.run import Run
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([-1, 1, 1, -1])
    >>> problem, rules = DualProblem.classification(X, y, kernel=RBF(1.0), C=10.0), chosen_rules(None, None, None)
    >>> rows = row_store(problem, rules, cache_mb=1.0)
    >>> state = rules.begin(problem, np.zeros(4), rows)
    >>> with Run(chosen_backend("numpy"), Limits(n=4), rows) as run:
    ...     run.take_steps(state, rules).status.name, state.iteration
    ('CONVERGED', 3)
    """

    refused_from = 0.0
    _has_warned = _has_warned_of_float32 = _is_noisy = False

    def __init__(
        self, backend: Backend, limits: Limits[Any], rows: KernelRows, *, shrinking: Any = True, polish: bool = False,
        in_float64: Callable[[], KernelRows] | None = None, allowed: float = 1.0,
    ) -> None:  # fmt: skip
        self.backend, self.limits, self.rows, self._polishes = backend, limits, rows, polish
        self._allowed = allowed
        self._in_float64 = None if rows.exact.keeps_float32 or not rows.keeps_float32 else in_float64
        if isinstance(shrinking, bool | np.bool_):
            shrinking = Restriction() if shrinking else NoShrinking()
        self.shrinking: Shrinking = Shrinking.checked("shrinking", shrinking)
        self._preparation = time.perf_counter() - limits.began  # counted as part of the first solve

    def __enter__(self) -> Run:
        """Begin a solve: from here on its seconds and kernel rows count, and Ctrl-C ends it."""
        now = self.limits.last_look = time.perf_counter()
        self._began, self._preparation = now - self._preparation, 0.0
        self._counted = self.rows.computed, self.rows.hits
        self.rows.evaluator.reserve()  # which a solve that failed may have left released
        # before Ctrl-C changes its meaning, because a user's kernel may refuse
        if self.rows.filled < self.rows.capacity:
            self.rows.fetch_if_few(self.shrinking.full_gram_up_to)
        self._block = interruptible()
        self.limits.interrupt = self._block.__enter__()
        return self

    def __exit__(self, *failure: object) -> None:
        self._block.__exit__(*failure)

    def take_steps(
        self, state: SolverState, rules: Rules, trace: int = False, shrinks: bool = True
    ) -> Ending:
        """Take steps on this state until the stopping rule, a limit or Ctrl-C ends them; return the ending.

        Parameters
        ----------
        state : SolverState
            Moved, to the last point reached.
        rules : Rules
        trace : bool or int
            Record every step, or every k-th.
        shrinks : bool
            False takes the steps on all variables.
        """
        # the engine that a solution names is that of its own steps, not of the solve before
        self.backend.used.clear()
        recorder = None if trace is False else Trace(1 if trace is True else trace)
        try:
            status, code = self._until_stopped(state, rules, recorder, shrinks and bool(self.shrinking))
        except Exception as error:
            error.add_note(_where(state, rules))
            raise
        # the package's own rules are tested for it; a sum over α for nothing would cost short solves
        if not all(map(is_builtin, map(type, rules))):
            _refuse_impossible(state, rules)
        # one linear system makes α the same whatever selector and engine led here; elsewhere it would be no optimum
        if self._polishes and status is Status.CONVERGED:
            polish(state)
        snap(state, rules.stop.absolute(state).restricted_tolerance(0.0))
        if self._block.pressed:  # report Ctrl-C even if the solve has converged
            status, code = Status.INTERRUPTED, 0
        rounding, tolerance = self._rounding(state), rules.stop.absolute(state).tolerance
        if rounding > 0.0:
            self._warn_of_float32(rounding, tolerance)
        # a curvature is a difference of four values, and rounds at the size of the largest
        indefinite = ROUNDED_INDEFINITE if self.rows.keeps_float32 else INDEFINITE
        if state.least_curvature < indefinite * state.largest_diagonal and not self.rows.is_psd:
            self._warn_of_indefinite_kernel(state.least_curvature)
        gram, fixed = self.rows.gram, state.problem.fixed_noise
        if status is Status.CONVERGED and (fixed or noise_of_values(gram, state.largest_diagonal)):
            s = state.problem.decision_range(state.alpha, state.gradient)
            wanted = rules.stop.wanted(state.problem, state.alpha, s)
            self._warn_of_noise(decision_noise(gram, state.alpha, state.diagonal, wanted, fixed), wanted)
        return Ending(
            self.rows.computed - self._counted[0], self.rows.hits - self._counted[1],
            status, rules.stop.reasons[code - 1] if code > 0 else status.value,
            time.perf_counter() - self._began, ", ".join(self.backend.used) or self.backend.name, recorder,
            0.0 if self.rows.exact.keeps_float32 else rounding,
        )  # fmt: skip

    def _until_stopped(self, state: SolverState, rules: Rules, trace: Trace | None, shrinks: bool) -> Verdict:
        """Take chunk after chunk until one of them ends the run; go on if a fresh G disagrees."""
        # few steps at first: how long one takes is not known yet
        limits, chunk, spoiled, idle, is_worn = self.limits, 16, 0, 0, True
        take: Callable[..., int] = partial(
            self.shrinking.steps if shrinks else all_variables, self.backend, limits
        )
        in_chunks = not shrinks and not state.problem.is_open
        if state.problem.is_open:
            take = HardMargin(state, take).steps
        # negative codes are the run's own; that of a stopping rule would pass for one of them
        own = ENDINGS if state.problem.is_open else (-1,)
        while True:
            if is_worn and not self._leave_float32(state, rules):
                return Status.TIME_LIMIT, 0
            began, left, is_worn = time.perf_counter(), limits.most - state.iteration, not in_chunks
            code = take(state, rules, min(chunk, left) if in_chunks else left, trace)
            now, idle = time.perf_counter(), idle + 1 if limits.most - state.iteration == left else 0
            # a user's shrinking that never takes a step would run for ever without a word
            if idle > IDLE:
                raise RuntimeError(f"{self.shrinking!r} took no step in {IDLE} calls of steps().")
            if trace is not None:
                trace.stamp(began - self._began, now - self._began)
            # a limit reached with the step that solves the problem is none
            code = code or rules.stop.check(state)
            if not is_builtin(type(rules.stop)):
                code = _code_of_user(rules.stop, state, code, own)
            status = ENDINGS.get(code, Status.CONVERGED) if code else limits.reached(state, state.iteration)
            if status is None:
                # nothing in this formula changes a step: only how often a callback is asked depends on the clock
                chunk = int(min(max(chunk * CHUNK_SECONDS / (now - began), chunk / 2, 16), chunk * 4, 1e9))
                continue
            if drifted(state, rules.stop.absolute(state).restricted_tolerance(0.0)):
                # --- rounding may have spoiled G and the sum of α, and with them the verdict ---
                state.recompute_gradient()
                if status not in (Status.CONVERGED, Status.STALLED):
                    return status, 0
                code, spoiled = rules.stop.check(state), spoiled + 1
                if not code and spoiled < FRESH:
                    continue
                status = Status.CONVERGED if code else Status.STALLED
            # --- so may rows kept as float32 ---
            is_in_doubt = status in (Status.CONVERGED, Status.STALLED) and self._in_float64 is not None
            if not is_in_doubt or self._stands(state, rules):
                return status, max(code, 0)
            is_worn = True

    # --- rows kept as float32 ---

    def _rounding(self, state: SolverState) -> float:
        """About how far rows kept as float32 have moved G; 0 with float64."""
        if not self.rows.keeps_float32:
            return 0.0
        return decision_error(state.problem.gram, state.alpha, state.largest_diagonal)

    def warn_of_rounding(self, solved: Solution, stop: StoppingRule) -> None:
        """Warn as `take_steps` does, of a solution that compiled rounds have found on these rows."""
        gram, diagonal, fixed = self.rows.gram, self.rows.diagonal(), solved.problem.fixed_noise
        largest = float(np.abs(diagonal).max())
        if not (self.rows.keeps_float32 or fixed or noise_of_values(gram, largest)):
            return
        tolerance = max(stop.wanted(solved.problem, solved.alpha, solved.decision_range), solved.kkt_gap)
        if self.rows.keeps_float32:
            self._warn_of_float32(decision_error(gram, solved.alpha, largest), tolerance)
        self._warn_of_noise(decision_noise(gram, solved.alpha, diagonal, tolerance, fixed), tolerance)

    def _stands(self, state: SolverState, rules: Rules) -> bool:
        """Whether what ended a solve stands whatever float32 rows have rounded.

        Where that is more than a tenth of the tolerance, the stopping rule is asked once more, with a G of float64
        values where they decide. If it goes on, less rounding is allowed from then on.
        """
        error, tolerance = self._rounding(state), rules.stop.absolute(state).tolerance
        if error == 0.0 or error <= SHARE * tolerance:
            return True
        if error <= self._allowed * tolerance:
            state.gradient[:] = state.problem.with_exact_ends(state.alpha, state.gradient, error)
            state.refresh(recompute=False)
            if rules.stop.check(state):
                return True
        self._allowed *= 0.5
        return False

    def _leave_float32(self, state: SolverState, rules: Rules) -> bool:
        """Continue in float64 rows, with G computed afresh, if float32 rows move G by more than is allowed.

        False if there is no time for that: a row for each αᵢ ≠ 0. float32 rows then have the last word.
        """
        if self._in_float64 is None:
            return True
        rounding = self._rounding(state)
        if rounding == 0.0 or rounding <= self._allowed * rules.stop.absolute(state).tolerance:
            return True
        if self.rows.row_seconds * np.count_nonzero(state.alpha) > self.limits.seconds_left():
            return False
        rows, self._in_float64 = self._in_float64(), None
        state.session = state.shrinking = None  # made of the other rows
        # the solution counts all rows of the solve, float32 ones included
        rows.count(self.rows.computed)
        rows.hits += self.rows.hits
        state.rows = self.rows = rows
        state.least_curvature = math.inf  # those of float32 values say nothing of K
        state.recompute_gradient()
        return True

    def _warn_of_float32(self, error: float, tolerance: float) -> None:
        """Warn once for all solves of this run if float32 values that cannot be left move decision values too far."""
        if self._in_float64 is not None or error <= max(SHARE, self.refused_from) * tolerance:
            return
        if self.refused_from:
            raise CoarseError(f"float32 kernel values move decision values by {error:.1g}.")
        if not self._has_warned_of_float32:
            self._has_warned_of_float32 = True
            warnings.warn(
                f'float32 kernel values (cache_dtype="float32", or a matrix given so) move decision values by about '
                f"{error:.3g}, more than a tenth of the tolerance, {tolerance:.3g}; give a float64 matrix and "
                'cache_dtype="float64", or scale the features.',
                stacklevel=4,
            )

    def _warn_of_noise(self, noise: float, tolerance: float) -> None:
        """Warn once if rounding moves decision values by more than the tolerance."""
        if noise > 0.0 and not self._is_noisy:
            self._is_noisy = True
            warnings.warn(noisy(noise, tolerance), stacklevel=4)

    def _warn_of_indefinite_kernel(self, curvature: float) -> None:
        """Warn once."""
        if not self._has_warned:
            self._has_warned = True
            warnings.warn(
                f"The kernel is not positive semi-definite (a pair has q = {curvature:.3g} < 0); the result is a "
                "stationary point, perhaps not the global optimum.",
                stacklevel=4,
            )


def _code_of_user(stop: StoppingRule, state: SolverState, code: Any, own: Any) -> int:
    """Return the code of a rule of the user, or one of the run's own, which no rule may return."""
    if code not in own:
        return validated_code(stop, code)
    refuse_negative(stop, stop.check(state))
    return int(code)


def _refuse_impossible(state: SolverState, rules: Rules) -> None:
    """Refuse a point that steps inside the box cannot lead to."""
    if wrong := feasibility_error(state):
        raise PointError(
            f"{wrong}: a step length was outside [state.low, state.high], or a rule wrote to the state. "
            + _where(state, rules)
        )


def _where(state: SolverState, rules: Rules) -> str:
    """Return a sentence that locates a failure: its rules, its problem, its step."""
    return (
        f"It happened after {state.iteration} steps on {len(state.alpha)} variables, with "
        f"{', '.join(map(repr, rules))}; refsvm.testing.check_strategy(rule) finds what a rule of your own does wrong."
    )
