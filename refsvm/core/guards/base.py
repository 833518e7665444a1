"""Guard: base of what watches over a run (`refsvm.core.solver.run.Run`) without being part of the algorithm.

A run takes chunks of steps until its stopping rule or a limit gives a verdict. It asks its guards, in their order:

==========  ==============================================  =======================================
`before`    before a chunk whose length no clock decides    may end the run, or mend the state
`review`    when a verdict would end the run                may change it, or take it back
`after`     at the last point                               may warn, refuse the point, or improve it
==========  ==============================================  =======================================

`review_solution` is `after` for a solution that compiled rounds have found without a run.
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
    """Why a run ends.

    Attributes
    ----------
    status : Status
    code : int
        That of the stopping rule; 0 if another reason ended the run.
    """

    status: Status
    code: int = 0

    @property
    def is_final(self) -> bool:
        """Whether no step is left to take, rather than no time for it."""
        return self.status in (Status.CONVERGED, Status.STALLED)


class Guard:
    """Watches over the solves of one run, one after the other. The base class lets everything pass.

    Attributes
    ----------
    error : float
        About how far decision values of the latest solve are off by what this guard watches.
    for_users_rules : bool
        Whether it watches only over solves with a rule that does not belong to the package.

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
        """Return why the run ends before its next steps; None to go on."""
        return None

    def review(self, state: SolverState, rules: Any, verdict: Verdict) -> Verdict | None:
        """Return the verdict, this or another one; None to take more steps."""
        return verdict

    def after(self, state: SolverState, rules: Any, verdict: Verdict) -> None:
        """Look at the last point of a solve."""

    def needs_solutions(self, gram: KernelMatrix, fixed_noise: float) -> bool:
        """Whether it has to review the solutions that compiled rounds find with this matrix."""
        return False

    def review_solution(self, solved: Solution, stop: StoppingRule) -> None:
        """Look at a solution of compiled rounds."""

    def warn(self, sentence: str) -> None:
        """Warn at the line outside the package that asked, once for all solves of a run."""
        if not self._has_warned:
            self._has_warned = True
            warnings.warn(sentence, stacklevel=frames_within() + 1)


def tolerance_of(solved: Solution, stop: StoppingRule) -> float:
    """Return what decision values of this solution are right to, by its stopping rule and by its KKT gap."""
    least = stop.tolerance_for_rounding(solved.problem, solved.alpha, solved.decision_range)
    return max(least, solved.kkt_gap)
