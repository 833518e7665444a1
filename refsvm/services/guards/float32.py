"""If rounding errors of float32 rows are too large, this guard replaces the rows by float64 rows, or warns.

`refsvm.core.kernels.precision` estimates the rounding errors of float32 rows. A solve may start on float32 rows,
because RBF and linear rows take half the time in float32. It may end on float32 rows only if the verdict of its
stopping rule holds for every possible rounding error.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from refsvm.core.engine.limits import Limits
from refsvm.core.guards.base import Guard, Verdict, tolerance_of
from refsvm.core.kernels.matrix import KernelMatrix
from refsvm.core.kernels.precision import decision_error
from refsvm.core.kernels.rows import KernelRows
from refsvm.core.result import Solution, Status
from refsvm.core.state import SolverState
from refsvm.core.stopping.base import StoppingRule
from refsvm.services.float32 import SHARE_OF_TOLERANCE


class Float32Rows(Guard):
    """Checks whether float32 rounding errors are small enough for a solve.

    Parameters
    ----------
    limits : Limits
        Limits of the run, which decide whether time is left for float64 rows.
    in_float64 : callable, optional
        Function that returns storage for the same rows as float64. If `in_float64` is missing, the solve keeps the
        float32 rows.
    allowed : float
        Largest error of G that float32 rows may cause before they are replaced, as a fraction of the tolerance.

    Examples
    --------
    >>> from refsvm.core.engine.limits import Limits
    >>> from refsvm.services.guards.float32 import Float32Rows
    >>> Float32Rows(Limits(n=4), None).can_leave
    False
    """

    def __init__(
        self, limits: Limits[Any], in_float64: Callable[[], KernelRows] | None, allowed: float = 1.0
    ) -> None:
        self._limits, self._in_float64, self._allowed = limits, in_float64, allowed

    @property
    def can_leave(self) -> bool:
        """Whether the run can continue on float64 rows."""
        return self._in_float64 is not None

    def before(self, state: SolverState, rules: Any) -> Verdict | None:
        """If rounding of float32 rows changes G by more than `allowed`, compute G again and continue on float64 rows.

        To compute G again, the guard needs a float64 row for each αᵢ ≠ 0. If the time limit does not leave enough time
        for these rows, the run ends.
        """
        error = error_of(state)
        if (
            self._in_float64 is None
            or error == 0.0
            or error <= self._allowed * rules.stop.with_absolute_tolerance(state).tolerance
        ):
            return None
        old = state.rows
        if old.row_seconds * np.count_nonzero(state.alpha) > self._limits.seconds_left():
            return Verdict(Status.TIME_LIMIT)
        rows, self._in_float64 = self._in_float64(), None
        state.session = state.shrinking = None  # drop session and shrinking, which contain float32 rows
        # add the number of computed float32 rows to the new rows' count, because a solution counts all kernel rows
        rows.count(old.computed)
        rows.hits += old.hits
        state.rows = rows
        state.least_curvature = math.inf  # curvatures of float32 rows do not prove that K is indefinite
        state.recompute_gradient()
        return None

    def review(self, state: SolverState, rules: Any, verdict: Verdict) -> Verdict | None:
        """Accept a stopping rule's verdict only if it holds for every possible rounding error.

        If the error exceeds a tenth of the tolerance, the guard uses float64 values to compute the entries of G that
        may determine the KKT gap, and evaluates the stopping rule again. If the rule does not end the solve, the guard
        lowers `allowed` for the rest of the solve.
        """
        error, tolerance = error_of(state), rules.stop.with_absolute_tolerance(state).tolerance
        if not (self.can_leave and verdict.is_final) or error <= SHARE_OF_TOLERANCE * tolerance:
            return verdict
        if error <= self._allowed * tolerance:
            state.gradient[:] = state.problem.with_exact_ends(state.alpha, state.gradient, error)
            state.refresh(recompute=False)
            if rules.stop.check(state):
                return verdict
        self._allowed *= 0.5
        return self.before(state, rules)

    def after(self, state: SolverState, rules: Any, verdict: Verdict) -> None:
        """Store the error of G that float32 rows caused; warn if it is large and the rows could not be replaced."""
        error = error_of(state)
        self.error = 0.0 if state.rows.exact.facts.keeps_float32 else error
        if error > 0.0:
            self._say(error, rules.stop.with_absolute_tolerance(state).tolerance)

    def needs_solutions(self, gram: KernelMatrix, fixed_noise: float) -> bool:
        """Return True if the guard must review solutions, because the kernel matrix stores float32 values."""
        return gram.facts.keeps_float32

    def review_solution(self, solved: Solution, stop: StoppingRule) -> None:
        """Warn if rounding errors of float32 values change decision values by more than a tenth of the tolerance."""
        gram = solved.problem.gram
        if gram.facts.keeps_float32:
            largest = float(np.abs(gram.diagonal()).max())
            self._say(decision_error(gram, solved.alpha, largest), tolerance_of(solved, stop))

    def _say(self, error: float, tolerance: float) -> None:
        if not self.can_leave and error > SHARE_OF_TOLERANCE * tolerance:
            self.warn(
                f'float32 kernel values (cache_dtype="float32", or a float32 matrix) move decision values by about '
                f"{error:.3g}, more than a tenth of the tolerance, {tolerance:.3g}; give a float64 matrix and "
                'cache_dtype="float64", or scale the features.'
            )


def error_of(state: SolverState) -> float:
    """Return an estimate of the error of G that float32 rows have caused; 0 for float64 rows."""
    if not state.rows.facts.keeps_float32:
        return 0.0
    return decision_error(state.problem.gram, state.alpha, state.largest_diagonal)
