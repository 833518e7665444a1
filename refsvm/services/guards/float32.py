"""float32 rows: left for float64 rows where their rounding moves decision values too far; a warning where they stay.

`refsvm.core.kernels.precision` has the estimate. A solve may begin on float32 rows, because they cost half the time,
and ends on them only if its verdict stands whatever they have rounded.
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
    """Watches over solves on float32 rows.

    Parameters
    ----------
    limits : Limits
        Whose seconds decide whether there is time for other rows.
    in_float64 : callable, optional
        Returns memory for the same rows as float64. Without it they are kept.
    allowed : float
        How far the rows may move G, as a share of the tolerance, before they are left.

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
        """Whether there are float64 rows to go on in."""
        return self._in_float64 is not None

    def before(self, state: SolverState, rules: Any) -> Verdict | None:
        """Go on in float64 rows, with G computed afresh, if these move G by more than is allowed.

        That takes a row for each αᵢ ≠ 0. Without time for it the run ends.
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
        state.session = state.shrinking = None  # made of the other rows
        # the solution counts all rows of the solve, float32 ones included
        rows.count(old.computed)
        rows.hits += old.hits
        state.rows = rows
        state.least_curvature = math.inf  # those of float32 values say nothing of K
        state.recompute_gradient()
        return None

    def review(self, state: SolverState, rules: Any, verdict: Verdict) -> Verdict | None:
        """Let a verdict stand if it does so whatever float32 rows have rounded.

        Where that is more than a tenth of the tolerance, the stopping rule is asked once more, with a G of float64
        values where they decide. If it goes on, less rounding is allowed from then on.
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
        """Note how far the rows have moved G; warn if that is far, and they could not be left."""
        error = error_of(state)
        self.error = 0.0 if state.rows.exact.facts.keeps_float32 else error
        if error > 0.0:
            self._say(error, rules.stop.with_absolute_tolerance(state).tolerance)

    def needs_solutions(self, gram: KernelMatrix, fixed_noise: float) -> bool:
        """Where its values are float32."""
        return gram.facts.keeps_float32

    def review_solution(self, solved: Solution, stop: StoppingRule) -> None:
        """Warn as `after` does."""
        gram = solved.problem.gram
        if gram.facts.keeps_float32:
            largest = float(np.abs(gram.diagonal()).max())
            self._say(decision_error(gram, solved.alpha, largest), tolerance_of(solved, stop))

    def _say(self, error: float, tolerance: float) -> None:
        if not self.can_leave and error > SHARE_OF_TOLERANCE * tolerance:
            self.warn(
                f'float32 kernel values (cache_dtype="float32", or a matrix given so) move decision values by about '
                f"{error:.3g}, more than a tenth of the tolerance, {tolerance:.3g}; give a float64 matrix and "
                'cache_dtype="float64", or scale the features.'
            )


def error_of(state: SolverState) -> float:
    """Return about how far rows kept as float32 have moved G; 0 with float64."""
    if not state.rows.facts.keeps_float32:
        return 0.0
    return decision_error(state.problem.gram, state.alpha, state.largest_diagonal)
