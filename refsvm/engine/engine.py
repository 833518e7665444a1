"""Engine: takes the steps of a solve until its stopping rule, a limit, the callback or Ctrl-C says stop.

Whoever solves a problem needs no more than this: which loop takes the steps and when another one takes over, chunks of
some ten milliseconds, shrinking, hard margins, polishing, and a gradient computed afresh where rounding spoiled it.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from refsvm.engine import handover
from refsvm.engine.limits import Limits, interruptible
from refsvm.engine.loops import INSEPARABLE, Loop, ReadableLoop, chosen_engine
from refsvm.kernels.numba_trouble import is_numba_trouble, numba_trouble
from refsvm.kernels.precision import ROUNDING, SHARE, decision_error
from refsvm.kernels.rows import KernelRows
from refsvm.kernels.threads import load_compiled
from refsvm.result import Ending, Status, Trace
from refsvm.rule import is_shipped
from refsvm.state import PointError, SolverState, noisy
from refsvm.stopping.base import verdict

if TYPE_CHECKING:
    from refsvm.engine.compiled import CompiledLoop
    from refsvm.solver.rules import Rules

__all__ = ["Engine"]

ENDINGS: Final = {-1: Status.STALLED, INSEPARABLE: Status.INSEPARABLE}
"""What a loop says by a negative code."""

CHUNK_SECONDS: Final = 0.02
"""Between two looks at the limits."""

INDEFINITE: Final = -1e-8
"""A curvature below this part of the largest kᵢᵢ is no rounding in float64: K has a negative eigenvalue."""

ROUNDED_INDEFINITE: Final = -8.0 * ROUNDING
"""The same for float32 values, four of which make a curvature."""

Verdict: TypeAlias = tuple[Status, int]
"""What ended a run, and the code of the stopping rule; 0 where it was not that."""

IDLE: Final = 10_000
"""Calls without a step after which nobody waits for the next one any more."""

FRESH: Final = 10
"""How often G is computed afresh before a rule that changes its mind each time counts as stalled."""


class Engine:
    """Takes the steps of one solve after the other; enter it as a context around each.

    Parameters
    ----------
    name : {"auto", "numba", "numpy"}
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
    used : dict
        Its keys are "numpy", "numba", in the order in which they took steps in the latest solve.

    Raises
    ------
    ValueError
        If the name is unknown, or "numba" is asked for and Numba is not installed or a rule has no twin.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import RBF, DualProblem
    >>> from refsvm.engine.engine import Engine
    >>> from refsvm.engine.limits import Limits
    >>> from refsvm.solver.rules import chosen_rules
    >>> from refsvm.solver.rules import row_store
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([-1, 1, 1, -1])
    >>> problem, rules = DualProblem.classification(X, y, kernel=RBF(1.0), C=10.0), chosen_rules(None, None, None)
    >>> rows = row_store(problem, rules, cache_mb=1.0)
    >>> state = rules.begin(problem, np.zeros(4), rows)
    >>> with Engine("numpy", Limits(n=4), rows) as engine:
    ...     engine.run(state, rules).status.name, state.iteration
    ('CONVERGED', 3)
    """

    kept: CompiledLoop | None = None
    """The compiled loop of the problem with all variables: to load it takes a while."""

    _state: SolverState | None = None
    _has_warned = _has_warned_of_float32 = _is_noisy = False

    def __init__(
        self, name: str, limits: Limits[Any], rows: KernelRows, *, shrinking: Any = True, polish: bool = False,
        in_float64: Callable[[], KernelRows] | None = None, allowed: float = 1.0,
    ) -> None:  # fmt: skip
        self.name, self.limits, self.rows, self._polishes = chosen_engine(name), limits, rows, polish
        self._allowed = allowed
        self._in_float64 = None if rows.exact.keeps_float32 or not rows.keeps_float32 else in_float64
        # restricted problems have rows of the same type
        self._family = "single loop" if rows.values.dtype == np.float32 else "loop"
        # what `solver` composes is imported when needed: that room is built on this one
        from refsvm.solver.shrinking import NoShrinking, Restriction, Shrinking

        if isinstance(shrinking, bool | np.bool_):
            shrinking = Restriction() if shrinking else NoShrinking()
        else:
            shrinking = Shrinking.checked("shrinking", shrinking)
        self._shrinking: Shrinking = shrinking
        self.used: dict[str, None] = {}
        self._preparation = time.perf_counter() - limits.began  # counted as part of the first solve

    def __enter__(self) -> Engine:
        """Begin a solve: from here on its seconds and kernel rows count, and Ctrl-C ends it."""
        now = time.perf_counter()
        self._began, self._preparation = now - self._preparation, 0.0
        handover.clock.began = self.limits.last_look = now
        self._counted = self.rows.computed, self.rows.hits
        # before Ctrl-C changes its meaning, because a user's kernel may refuse
        if self.rows.filled < self.rows.capacity:
            self.rows.fetch_if_few(self._shrinking.full_gram_up_to)
        self._block = interruptible()
        self.limits.interrupt = self._block.__enter__()
        return self

    def __exit__(self, *failure: object) -> None:
        self._block.__exit__(*failure)
        handover.clock.finished += time.perf_counter() - handover.clock.began

    def run(self, state: SolverState, rules: Rules, trace: int = False, shrinks: bool = True) -> Ending:
        """Take steps on this state until something says stop, and return what did.

        Parameters
        ----------
        state : SolverState
            Moved, to the best point so far.
        rules : Rules
        trace : bool or int
            Record every step, or every k-th.
        shrinks : bool
            False takes the steps on all variables.
        """
        # the loop of this state may serve the next solve; those of restricted problems may not
        self._state = state
        self.used.clear()
        recorder = None if trace is False else Trace(1 if trace is True else trace)
        try:
            status, code = self._run(state, rules, recorder, shrinks)
        except Exception as error:
            error.add_note(_where(state, rules))
            raise
        if not all(map(is_shipped, map(type, rules))):
            _refuse_impossible(state, rules, code)
        if self._polishes and status is Status.CONVERGED:
            from refsvm.solver.polish import polish

            polish(state)
        state.snap(rules.stop.absolute(state).restricted_tolerance(0.0))
        if self._block.pressed:  # though it may have converged: who else would tell the caller?
            status, code = Status.INTERRUPTED, 0
        rounding, tolerance = self._rounding(state), rules.stop.absolute(state).tolerance
        if self._in_float64 is None and rounding > SHARE * tolerance:
            self._warn_of_float32(rounding, tolerance)
        indefinite = ROUNDED_INDEFINITE if self.rows.keeps_float32 else INDEFINITE
        if state.least_curvature < indefinite * state.largest_diagonal and not self.rows.is_psd:
            self._warn_of_indefinite_kernel(state.least_curvature)
        if status is Status.CONVERGED and (noise := state.noise()) > tolerance:
            self.warn_of_noise(noise, tolerance)
        return Ending(
            self.rows.computed - self._counted[0], self.rows.hits - self._counted[1],
            status, rules.stop.reasons[code - 1] if code > 0 else status.value,
            time.perf_counter() - self._began, ", ".join(self.used), recorder,
            0.0 if self.rows.exact.keeps_float32 else rounding,
        )  # fmt: skip

    def _warn_of_indefinite_kernel(self, curvature: float) -> None:
        """Say so once for all solves."""
        if not self._has_warned:
            self._has_warned = True
            warnings.warn(
                f"The kernel is not positive semi-definite (a pair has q = {curvature:.3g} < 0); the result is a "
                "stationary point, perhaps not the global optimum.",
                stacklevel=4,
            )

    def warn_of_noise(self, noise: float, tolerance: float) -> None:
        """Say so once for all solves if rounding moves decision values by more than the tolerance."""
        if not self._is_noisy:
            self._is_noisy = True
            warnings.warn(noisy(noise, tolerance), stacklevel=4)

    def _run(self, state: SolverState, rules: Rules, trace: Trace | None, shrinks: bool) -> Verdict:
        """Run chunk after chunk until something says stop, also where G is computed afresh."""
        loop, limits = self._loop_for(state, rules, trace, shrinks), self.limits
        chunk, spoiled, idle, is_worn = 16, 0, 0, True
        while True:
            if is_worn and self._leaves_float32(state, rules):
                loop = self._loop_for(state, rules, trace, shrinks)
            began, is_worn = time.perf_counter(), not loop.runs_in_chunks
            left = limits.most - state.iteration
            code = loop.advance(min(chunk, left) if loop.runs_in_chunks else left)
            now, idle = time.perf_counter(), idle + 1 if limits.most - state.iteration == left else 0
            if idle > IDLE:
                raise RuntimeError(f"{self._shrinking!r} took no step in {IDLE} calls of advance().")
            if trace is not None:
                trace.stamp(began - self._began, now - self._began)
            # a limit reached with the step that solves the problem is none
            code = code or rules.stop.check(state)
            status = ENDINGS.get(code, Status.CONVERGED) if code else limits.reached(state, state.iteration)
            if status is None:
                # nothing in this formula changes a step: only how often a callback is asked depends on the clock
                chunk = int(min(max(chunk * CHUNK_SECONDS / (now - began), chunk / 2, 16), chunk * 4, 1e9))
                continue
            if state.drifted(rules.stop.absolute(state).restricted_tolerance(0.0)):
                # --- rounding may have spoiled G and the sum of α, and with them the verdict ---
                state.renew()
                if status not in (Status.CONVERGED, Status.STALLED):
                    return status, 0
                code, spoiled = rules.stop.check(state), spoiled + 1
                if not code and spoiled < FRESH:
                    continue
                status = Status.CONVERGED if code else Status.STALLED
            # --- so may rows kept as float32 ---
            if status not in (Status.CONVERGED, Status.STALLED) or self._stands(state, rules):
                return status, max(code, 0)
            is_worn = True

    # --- rows kept as float32 ---

    def _rounding(self, state: SolverState) -> float:
        """About how far rows kept as float32 have moved G; 0 with float64."""
        if not self.rows.keeps_float32:
            return 0.0
        return decision_error(state.problem.gram, state.alpha, state.largest_diagonal)

    def _stands(self, state: SolverState, rules: Rules) -> bool:
        """Whether what ended a solve stands whatever float32 rows have rounded.

        Where that is more than a tenth of the tolerance, the stopping rule is asked once more, with a G of float64
        values where they decide. If it goes on, less rounding is allowed from then on.
        """
        error, tolerance = self._rounding(state), rules.stop.absolute(state).tolerance
        if self._in_float64 is None or error <= SHARE * tolerance:
            return True
        if error <= self._allowed * tolerance:
            state.gradient[:] = state.problem.with_exact_ends(state.alpha, state.gradient, error)
            state.refresh(recompute=False)
            if rules.stop.check(state):
                return True
        self._allowed *= 0.5
        return False

    def _leaves_float32(self, state: SolverState, rules: Rules) -> bool:
        """Go on in float64 rows, with G computed afresh, if float32 rows move G by more than is allowed."""
        most = self._allowed * rules.stop.absolute(state).tolerance
        if self._in_float64 is None or self._rounding(state) <= most:
            return False
        rows, self._in_float64, self.kept, self._family = self._in_float64(), None, None, "loop"
        rows.count(self.rows.computed)
        rows.hits += self.rows.hits
        state.rows = self.rows = rows
        state.least_curvature = math.inf  # those of float32 values say nothing of K
        state.renew()
        return True

    def _warn_of_float32(self, error: float, tolerance: float) -> None:
        """Say so once for all solves."""
        if not self._has_warned_of_float32:
            self._has_warned_of_float32 = True
            warnings.warn(
                f'float32 kernel values (cache_dtype="float32", or a matrix given so) move decision values by about '
                f"{error:.1g}, more than a tenth of the tolerance, {tolerance:g}; give a float64 matrix and "
                'cache_dtype="float64", or scale the features.',
                stacklevel=4,
            )

    # --- which loop takes the steps ---

    def _loop_for(self, state: SolverState, rules: Rules, trace: Trace | None, shrinks: bool) -> Loop:
        """Return the loop for all variables of a problem, with shrinking, and in an open box."""
        loop = self.loop(state, rules, trace)
        if shrinks:
            loop = self._shrinking.around(loop, state, rules, self.loop, self.limits, trace)
        if not state.problem.is_open:
            return loop
        from refsvm.solver.hard_margin import HardMargin

        return HardMargin(state, loop)

    def loop(self, state: SolverState, rules: Rules, trace: Trace | None) -> Loop:
        """Return what takes the steps on a state: of all variables, or of a restricted problem."""
        if self.name == "numpy":
            self.used["numpy"] = None
            return ReadableLoop(state, rules, trace)
        if self.kept is not None and trace is None and self.kept.restart(state, rules):
            self.used["numba"] = None
            return self.kept
        # a type tells that the code is there, but an instance may still decline to have a twin
        is_there = (self._family, *map(type, rules)) in handover.loaded
        if self.name == "numba" or (is_there and handover.have_twins(rules)):
            return self.compiled_loop(state, rules, trace)
        return ReadableLoop(state, rules, trace, partial(self._successor, state, rules, trace))

    def compiled_loop(self, state: SolverState, rules: Rules, trace: Trace | None) -> Loop:
        """Return the compiled loop; load or compile it if this is the first time in the process."""
        try:
            handover.import_compiled()
            from refsvm.engine.compiled import CompiledLoop

            made = CompiledLoop(state, rules, trace)
        except Exception as error:
            if self.name == "auto" or not is_numba_trouble(error):
                raise
            raise ValueError(f'{numba_trouble(error)}, or choose engine="numpy".') from error
        load_compiled()
        handover.loaded.add((self._family, *map(type, rules)))
        self.used["numba"] = None
        if state is self._state and trace is None:
            self.kept = made
        return made

    def _successor(self, state: SolverState, rules: Rules, trace: Trace | None) -> Loop | None:
        """Return the compiled loop once the allowance for doing without is spent, if every rule has a twin."""
        if self.name == "auto" and handover.clock.allowance_is_spent():
            try:
                if handover.have_twins(rules) and handover.is_ready(self._family, *rules):
                    return self.compiled_loop(state, rules, trace)
            except Exception as error:  # noqa: BLE001  whatever a broken installation raises
                warnings.warn(
                    f'{numba_trouble(error)}, or choose engine="numpy". The solve goes on in NumPy.',
                    stacklevel=2,
                )
                self.name = "numpy"
                if is_numba_trouble(error):
                    handover.broken.append(error)
        self.used["numpy"] = None
        return None


def _refuse_impossible(state: SolverState, rules: Rules, code: int) -> None:
    """Refuse what rules that do as they are asked to cannot lead to: such a point, or a code without a reason."""
    verdict(rules.stop, max(code, 0))
    if wrong := state.impossible():
        raise PointError(
            f"{wrong}: a step length was outside [state.low, state.high], or a rule wrote to the state. "
            + _where(state, rules)
        )


def _where(state: SolverState, rules: Rules) -> str:
    """Say for which rules, on which problem and when something went wrong."""
    return (
        f"It happened after {state.iteration} steps on {len(state.alpha)} variables, with "
        f"{', '.join(map(repr, rules))}; refsvm.testing.check_strategy(rule) finds what a rule of your own does wrong."
    )
