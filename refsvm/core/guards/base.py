"""Guard: base of the objects that check a run (`refsvm.core.solver.run.Run`) from outside the algorithm's loop.

A run takes chunks of steps until its stopping rule or a limit gives a `Verdict`, the reason to end the run. A run calls
these methods of its guards, in the guards' order:

==========  ==============================================  =======================================
`before`    before a chunk of steps                         may end the run, or correct the state
`review`    when a verdict would end the run                may change the verdict, or withdraw it
`after`     at the last point                               may warn, refuse the point, or improve it
==========  ==============================================  =======================================

If the clock decided where the previous chunk ended, the run does not call `before`: if `before` corrected the state
there, the results would depend on the clock. Compiled code solves rounds without a `Run`; it passes each solution
to `review_solution` and does not call `after`.
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

from refsvm.core._checks import frames_within
from refsvm.core.kernels.matrix import KernelMatrix
from refsvm.core.result import Solution, Status
from refsvm.core.state import SolverState
from refsvm.core.stopping.base import StoppingRule


class Verdict(NamedTuple):
    """The reason why a run ends.

    Attributes
    ----------
    status : Status
        The status of the solution.
    code : int
        The code of the stopping rule; 0 if another reason ended the run.
    """

    status: Status
    code: int = 0

    @property
    def is_final(self) -> bool:
        """True if the solve is finished, False if a limit ended it early."""
        return self.status in (Status.CONVERGED, Status.STALLED)


class Guard:
    """Checks the solves of one run, one after another; the base class accepts every state and every verdict.

    Attributes
    ----------
    error : float
        The guard's estimate of the error of the decision values of the latest solve; 0 if the guard makes no estimate.
    for_users_rules : bool
        True if the guard is only used for solves with a user's own rule.

    Examples
    --------
    >>> from refsvm import Status
    >>> from refsvm.core.guards.base import Guard, Verdict
    >>> Guard().review(None, None, Verdict(Status.CONVERGED, 1)).is_final
    True
    """

    error = 0.0
    for_users_rules = False
    _has_warned = False

    def before(self, state: SolverState, rules: Any) -> Verdict | None:
        """Return the verdict that ends the run before its next steps, or None to continue."""
        return None

    def review(self, state: SolverState, rules: Any, verdict: Verdict) -> Verdict | None:
        """Return `verdict` or another verdict, which then ends the run; or return None to take more steps."""
        return verdict

    def after(self, state: SolverState, rules: Any, verdict: Verdict) -> None:
        """Check the last point of a solve."""

    def needs_solutions(self, gram: KernelMatrix, fixed_noise: float) -> bool:
        """Return True if the guard must review the solutions of rounds that compiled code solves with this matrix."""
        return False

    def review_solution(self, solved: Solution, stop: StoppingRule) -> None:
        """Check the solution of a round that compiled code has solved."""

    def warn(self, sentence: str) -> None:
        """Warn once for all solves of a run; the warning names the line that called this package."""
        if not self._has_warned:
            self._has_warned = True
            warnings.warn(sentence, stacklevel=frames_within() + 1)


def tolerance_of(solved: Solution, stop: StoppingRule) -> float:
    """Return the accuracy of this solution's decision values, from its stopping rule and its KKT gap."""
    least = stop.tolerance_for_rounding(solved.problem, solved.alpha, solved.decision_range)
    return max(least, solved.kkt_gap)
