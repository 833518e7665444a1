"""Planning ahead after clipped steps too: Algorithm 2 of the planning-ahead paper."""

from __future__ import annotations

from dataclasses import dataclass

from refsvm.core.state import SolverState
from refsvm.core.steps.planning_ahead import PlanningAheadStep


@dataclass(frozen=True)
class EagerPlanningStep(PlanningAheadStep):
    """Plan as `PlanningAheadStep` does, after every step that was not planned itself, clipped ones included.

    This is the first form of planning ahead, for which the paper has no figures. It seldom plans more: a clipped step
    leaves a variable at its bound, and a plan in which that set comes again has to lead away from there, strictly
    inside the box. So it mostly computes plans in vain, which `PlanningAheadStep` saves by asking for a free step
    before. Lemma 3 holds here as well: a planned step and the next gain at least (1 − η²) times what the Newton step
    alone would, if the selector considers the planned pair (Algorithm 3).

    Parameters
    ----------
    history : int
        N ≥ 1: plan with each of the N most recent working sets, as in `PlanningAheadStep`.

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
        """Return whether the previous step was not planned (Algorithm 2)."""
        return not state.last_planned
