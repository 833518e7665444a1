"""TOP: gives the α of a left-out example to the most similar examples."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from refsvm.core.problem import DualProblem
from refsvm.core.result import Solution
from refsvm.core.seeders.base import Seeder
from refsvm.core.seeders.spread import complete
from refsvm.core.state import moved


@dataclass(frozen=True)
class TOP(Seeder):
    """Clip the solution to the new box; if example r thus loses α, give this α to the examples most similar to r.

        α ← clip(α*, L, U);   for each r with δ = α*ᵣ − αᵣ ≠ 0:  αₜ += δ, clipped, for t in descending order of Kᵣₜ.

    Among equal Kᵣₜ, the lowest t comes first. If Σα still differs from z, because the problems differ in more than the
    removed examples, the seeder spreads the difference as `AVG` does.

    References
    ----------
    M. M. S. Lee, S. S. Keerthi, C. J. Ong and D. DeCoste, "An efficient method for computing leave-one-out error in
    support vector machines with Gaussian kernels", IEEE Transactions on Neural Networks 15, 2004.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import TOP, DualProblem, RBF, solve
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([-1, 1, 1, -1])
    >>> problem = DualProblem.classification(X, y, kernel=RBF(1.0), C=10.0)
    >>> solve(problem).alpha.round(3), TOP().seed(solve(problem), problem.without(3)).round(3)
    (array([-1.253,  1.253,  1.253, -1.253]), array([-1.253,  1.253,  0.   ,  0.   ]))
    """

    def seed(self, solved: Solution, problem: DualProblem) -> np.ndarray:
        """Return a feasible α for `problem`."""
        lower, upper = problem.lower, problem.upper
        clipped = np.clip(solved.alpha, lower, upper)
        alpha = clipped.copy()
        for r in np.flatnonzero(clipped != solved.alpha).tolist():
            weight = float(solved.alpha[r] - clipped[r])
            for t in np.argsort(-problem.gram.row(r), kind="stable"):
                if weight == 0.0:
                    break
                before = alpha[t]
                alpha[t] = moved(before, weight, lower[t], upper[t])
                weight -= alpha[t] - before
        return complete(alpha, problem.z, lower, upper)
