"""Second-order selection for conjugate steps: chooses the j whose conjugate step gains most."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

import numpy as np

from refsvm.core.selectors.base import WorkingSetSelector
from refsvm.core.state import TAU, SolverState

LEAST: Final = 1e-3
"""Smallest value of (q − β²/q_Δ)/q that the gain uses; with a smaller curvature, a bound would cut the step."""


@dataclass(frozen=True)
class ConjugateSecondOrder(WorkingSetSelector):
    """i = argmax of G over I_up,  j = argmax of ½(Gᵢ − Gⱼ)²/(qᵢⱼ − βⱼ²/q_Δ) over j in I_down with Gⱼ < Gᵢ.

    Here Δ is the last displacement, βⱼ = (KΔ)ᵢ − (KΔ)ⱼ and q_Δ = ΔᵀKΔ. The rule maximises the gain of a `ConjugateStep`
    that no bound cuts. If the denominator is smaller than qᵢⱼ/1000, the rule divides by qᵢⱼ/1000. Before the first step
    and after a step that a bound has cut, the rule chooses the same pair as `SecondOrder`.

    References
    ----------
    The rule is our own. The steps are described by A. Torres-Barrán, C. M. Alaíz and J. R. Dorronsoro, "Faster SVM
    training via conjugate SMO", Pattern Recognition 111, 2021; their selection maximises ½ℓ²/q. A similar rule is used
    by D. Pechyony and V. Vapnik, "Fast optimization algorithms for solving SVM+", 2011: they extend a short working set
    by the variable that gains most in a direction conjugate to the last few steps.

    Examples
    --------
    >>> from refsvm import ConjugateSecondOrder, ConjugateStep, DualProblem, RBF, solve
    >>> from refsvm.datasets import make_chessboard
    >>> board = make_chessboard(60, rng=0)
    >>> problem = DualProblem.classification(board.X, board.y, kernel=RBF(0.5), C=1000.0)
    >>> solve(problem, selector=ConjugateSecondOrder(), step=ConjugateStep(), shrinking=False).status.name
    'CONVERGED'
    """

    takes_displacement: ClassVar[bool] = True

    def select(self, state: SolverState) -> tuple[int, int]:
        """Return i and the best j, found by one scan of I_down with the kernel row of i."""
        i = state.top
        if state.gap <= 0.0:
            return -1, -1
        slope = state.gradient[i] - state.gradient
        # q = Kᵢᵢ + Kⱼⱼ − 2Kᵢⱼ
        curvature = state.diagonal[i] + state.diagonal - 2.0 * state.row(i)
        curvature[~(curvature > 0.0)] = TAU
        image = state.displacement_image
        if image is not None and state.last_free and state.carried_curvature > 0.0:
            # q − β²/q_Δ
            beta = image[i] - image
            curvature = np.maximum(
                curvature - beta * beta * (1.0 / state.carried_curvature), LEAST * curvature
            )
        # 2 gain = ℓ²/(q − β²/q_Δ)  (the ½ changes no comparison)
        gain = slope * slope / curvature
        gain[~((state.alpha > state.lower) & (slope > 0.0))] = -np.inf
        return i, int(gain.argmax())
