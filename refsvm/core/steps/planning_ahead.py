"""Planning ahead: takes the step that is best if the previous working set is selected next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from refsvm.core._checks import whole
from refsvm.core.state import TAU, SolverState
from refsvm.core.steps.base import StepRule

NO_PLAN: Final = (0.0, -1.0)
"""Length and gain that stand for a rejected plan; any gain below 0 means rejection."""


@dataclass(frozen=True)
class PlanningAheadStep(StepRule):
    """Maximise the gain of two steps together: this step on B₁ = (i, j), the next on a recent working set B₂ = (k, l).

    With w₁ = Gᵢ − Gⱼ, w₂ = Gₖ − Gₗ, Q₁₁ = qᵢⱼ, Q₂₂ = qₖₗ and Q₁₂ = Kᵢₖ − Kᵢₗ − Kⱼₖ + Kⱼₗ, two free steps gain

        g₂(μ) = −½ (det/Q₂₂) μ² + ((Q₂₂w₁ − Q₁₂w₂)/Q₂₂) μ + ½ w₂²/Q₂₂,     det = Q₁₁Q₂₂ − Q₁₂²          (eq. 7)
        μ_P = (Q₂₂w₁ − Q₁₂w₂)/det,     then  μ₂ = (w₂ − Q₁₂μ_P)/Q₂₂                                      (eqs. 8, 6).

    The rule plans only if the previous step was a free, unplanned SMO step. It takes μ_P only if both planned steps end
    strictly inside the box; otherwise, it takes the clipped Newton step. A planned step alone may lower f. The planned
    step and the next step together never lower f if the selector considers B₂ (Lemma 3); `solve` therefore accepts this
    rule only with such a selector.

    Parameters
    ----------
    history : int
        Number N ≥ 1 of recent working sets, 1 by default. The rule plans with each recent working set and takes the
        plan with the largest g₂ (multiple planning-ahead, end of §5).

    Raises
    ------
    ValueError
        If history is not a whole number ≥ 1.

    References
    ----------
    T. Glasmachers, "The planning-ahead SMO algorithm", 2008, eqs. 6–8, Algorithm 4, Theorem 2.

    Examples
    --------
    >>> from refsvm import DualProblem, PlanningAheadStep, RBF, solve
    >>> from refsvm.datasets import make_chessboard
    >>> board = make_chessboard(60, rng=0)
    >>> problem = DualProblem.classification(board.X, board.y, kernel=RBF(0.5), C=1000.0)
    >>> solve(problem, step=PlanningAheadStep(), shrinking=False).status.name
    'CONVERGED'
    """

    history: int = 1

    def __post_init__(self) -> None:
        whole("history", self.history, 1)

    def length(self, state: SolverState, i: int, j: int) -> float:
        """Plan with every recent working set; return the clipped Newton step if no plan is accepted."""
        if self.may_plan(state):
            best, chosen = -1.0, 0.0
            for h in range(self.history):
                mu, gain = self._plan(state, i, j, h)
                if gain > best:
                    best, chosen = gain, mu
            if best >= 0.0:
                self._offer(state)
                return chosen
        # μ* = clip(ℓ/q, lo, hi)
        return min(max(state.slope / state.curvature, state.low), state.high)

    def may_plan(self, state: SolverState) -> bool:
        """Return True if the previous step was free and not planned (Algorithm 4)."""
        return bool(state.last_free and not state.last_planned)

    def _plan(self, state: SolverState, i: int, j: int, h: int) -> tuple[float, float]:
        """Return (μ_P, 2g₂(μ_P)) for a plan with the h-th recent working set; the gain is −1 for a rejected plan."""
        k, m = state.working_sets[h].tolist()
        Q11, Q22 = state.curvature, float(state.curvatures[h])
        if k < 0 or Q11 <= TAU or Q22 <= TAU:
            return NO_PLAN
        row_i, row_j = state.row(i), state.row(j)
        w1, w2 = state.slope, float(state.gradient[k] - state.gradient[m])
        # Q₁₂ = Kᵢₖ − Kᵢₗ − Kⱼₖ + Kⱼₗ,  det = Q₁₁Q₂₂ − Q₁₂²
        Q12 = float(row_i[k] - row_i[m] - row_j[k] + row_j[m])
        det = Q11 * Q22 - Q12 * Q12
        if det <= 1e-10 * (Q11 * Q22):  # the directions of the two steps are equal up to rounding
            return NO_PLAN
        # μ_P = (Q₂₂w₁ − Q₁₂w₂)/det,  μ₂ = (w₂ − Q₁₂μ_P)/Q₂₂
        mu = (Q22 * w1 - Q12 * w2) / det
        rest = w2 - Q12 * mu
        second = rest / Q22
        # both steps must end strictly inside the box; the first step has already moved variables that are in both pairs
        at_k = float(state.alpha[k]) + (mu if k == i else 0.0) - (mu if k == j else 0.0)
        at_m = float(state.alpha[m]) + (mu if m == i else 0.0) - (mu if m == j else 0.0)
        low = max(state.lower[k] - at_k, at_m - state.upper[m])
        high = min(state.upper[k] - at_k, at_m - state.lower[m])
        if not (state.low < mu < state.high and low < second < high):
            return NO_PLAN
        # 2g₂ = μ(2w₁ − μQ₁₁) + (w₂ − Q₁₂μ)²/Q₂₂
        return mu, mu * (2.0 * w1 - mu * Q11) + rest * second

    def _offer(self, state: SolverState) -> None:
        """Store the planned pairs for the next selection; storing them marks the step as planned."""
        count = min(self.history, int((state.working_sets[:, 0] >= 0).sum()))
        state.candidates[:count] = state.working_sets[:count]
        state.candidate_curvatures[:count] = state.curvatures[:count]
        state.n_candidates = count
