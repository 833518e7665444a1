"""Guards that warn if kernel values have rounding errors above the tolerance, or their matrix is indefinite."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from refsvm.core.guards.base import Guard, Verdict, tolerance_of
from refsvm.core.kernels.matrix import KernelMatrix
from refsvm.core.kernels.precision import ROUNDING, decision_noise, noise_of_values, noisy
from refsvm.core.result import Solution, Status
from refsvm.core.state import SolverState
from refsvm.core.stopping.base import StoppingRule

INDEFINITE: Final = -1e-8
"""A curvature below this fraction of the largest kᵢᵢ is not a float64 rounding error: K has a negative eigenvalue."""

ROUNDED_INDEFINITE: Final = -8.0 * ROUNDING
"""The same limit for float32 values; a curvature is computed from four kernel values."""


class Indefinite(Guard):
    """Warns once if a step had a negative curvature."""

    def after(self, state: SolverState, rules: Any, verdict: Verdict) -> None:
        """Warn if the smallest curvature of all steps is below 0 by more than a rounding error."""
        # a curvature is a sum of four kernel values, so its rounding error is proportional to the largest kernel value
        share = ROUNDED_INDEFINITE if state.rows.facts.keeps_float32 else INDEFINITE
        q = state.least_curvature
        if q < share * state.largest_diagonal and not state.rows.facts.is_psd:
            self.warn(
                f"The kernel is not positive semi-definite (a pair has q = {q:.3g} < 0); the result is a "
                "stationary point, perhaps not the global optimum. Use a positive semi-definite kernel, such as RBF."
            )


class Noise(Guard):
    """Warns once if rounding errors of kernel values change decision values by more than the tolerance."""

    def after(self, state: SolverState, rules: Any, verdict: Verdict) -> None:
        """Warn if a converged solution has large rounding errors; other solutions are inaccurate for other reasons."""
        gram, problem = state.rows.gram, state.problem
        is_noisy = problem.fixed_noise or noise_of_values(gram, state.largest_diagonal)
        if is_noisy and verdict.status is Status.CONVERGED:
            s = problem.decision_range(state.alpha, state.gradient)
            wanted = rules.stop.tolerance_for_rounding(problem, state.alpha, s)
            self._say(gram, state.alpha, state.diagonal, wanted, problem.fixed_noise)

    def needs_solutions(self, gram: KernelMatrix, fixed_noise: float) -> bool:
        """Return whether kernel values, computed or given, have rounding errors that are not negligible."""
        largest = 0.0 if gram.dense is None else float(np.abs(gram.dense.diagonal()).max())
        return max(noise_of_values(gram, largest), fixed_noise) > 0.0

    def review_solution(self, solved: Solution, stop: StoppingRule) -> None:
        """Warn if rounding errors of kernel values change decision values by more than the tolerance."""
        gram, fixed = solved.problem.gram, solved.problem.fixed_noise
        diagonal = gram.diagonal()
        if fixed or noise_of_values(gram, float(np.abs(diagonal).max())):
            self._say(gram, solved.alpha, diagonal, tolerance_of(solved, stop), fixed)

    def _say(
        self, gram: KernelMatrix, alpha: np.ndarray, diagonal: np.ndarray, tolerance: float, fixed: float
    ) -> None:
        noise = decision_noise(gram, alpha, diagonal, tolerance, fixed)
        if noise > 0.0:
            self.warn(noisy(noise, tolerance))
