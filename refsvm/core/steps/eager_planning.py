"""Planning ahead even after clipped steps: Algorithm 2 of the planning-ahead paper."""

from __future__ import annotations

from dataclasses import dataclass

from refsvm.core.state import SolverState
from refsvm.core.steps.planning_ahead import PlanningAheadStep


@dataclass(frozen=True)
class EagerPlanningStep(PlanningAheadStep):
    """Plan as `PlanningAheadStep` does, but after every step that was not planned, including clipped steps.

    The paper describes this rule first, but reports no results for it. The rule seldom takes more planned steps than
    `PlanningAheadStep`, which plans only after free steps. A clipped step leaves a variable at its bound. If a plan
    moves the pair of this step again, the rule accepts the plan only if the plan moves this variable away from its
    bound. The rule therefore rejects most plans after clipped steps. Lemma 3 holds for both rules: if the selector
    considers the planned pair (Algorithm 3, with the constant η), a planned step and the next step together gain at
    least (1 − η²) times as much as the Newton step.

    Parameters
    ----------
    history : int
        Number N ≥ 1 of recent working sets with which the rule plans, as in `PlanningAheadStep`.

    Raises
    ------
    ValueError
        If history is not a whole number ≥ 1.

    References
    ----------
    T. Glasmachers, "The planning-ahead SMO algorithm", 2008, Algorithm 2, and Algorithm 3 in the selector.

    Examples
    --------
    >>> from refsvm import DualProblem, EagerPlanningStep, RBF, solve
    >>> from refsvm.datasets import make_chessboard
    >>> board = make_chessboard(60, rng=0)
    >>> problem = DualProblem.classification(board.X, board.y, kernel=RBF(0.5), C=1000.0)
    >>> solve(problem, step=EagerPlanningStep(), shrinking=False).status.name
    'CONVERGED'
    """

    def may_plan(self, state: SolverState) -> bool:
        """Return True if the previous step was not planned (Algorithm 2)."""
        return not state.last_planned
