"""SIR: replaces every removed example with a similar added example."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from refsvm.core._checks import whole
from refsvm.core.problem import DualProblem, total
from refsvm.core.result import Solution
from refsvm.core.seeders.base import Seeder
from refsvm.core.seeders.exchange import added, removed
from refsvm.core.seeders.spread import complete, spread

FACTOR: Final = 48271
MODULUS: Final = 2**31 - 1
"""xₖ₊₁ = FACTOR·xₖ mod MODULUS: the generator of Park, Miller and Stockmeyer (1993), which compiled code repeats."""


@dataclass(frozen=True)
class SIR(Seeder):
    """Single instance replacement: give the α of a removed example to the most similar added example of its class.

        For every r ∈ R with αᵣ ≠ 0:   t = argmax{Kᵣₜ : t ∈ T unused, yₜ = yᵣ},   αₜ = αᵣ.

    R are the removed examples and T the added examples; the α of all other examples does not change. If no unused t has
    the class of r, a random unused t of the other class gets the same |α|: yₜαₜ = yᵣαᵣ. The seeder spreads the missing
    sum z − 1ᵀα over T, then over the free variables, then over all variables, each time as far as the bounds allow.

    Parameters
    ----------
    seed_number : int, default 0
        Seed of the random choices, which occur only if no added example of a class is left.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    References
    ----------
    Z. Wen, B. Li, K. Ramamohanarao, J. Chen, Y. Chen and R. Zhang, "Improving efficiency of SVM k-fold
    cross-validation by alpha seeding", AAAI 2017, section 3 (Single Instance Replacement) and Algorithm 3.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import SIR, DualProblem, RBF, solve
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0], [3.1]]), np.array([-1, 1, 1, -1, -1])
    >>> problem = DualProblem.classification(X, y, kernel=RBF(1.0), C=10.0)
    >>> solution = solve(problem.without(4))
    >>> solution.alpha.round(3), SIR().seed(solution, problem.without(3)).round(3)
    (array([-1.253,  1.253,  1.253, -1.253,  0.   ]), array([-1.253,  1.253,  1.253,  0.   , -1.253]))
    """

    seed_number: int = 0

    def __post_init__(self) -> None:
        whole("seed_number", self.seed_number, 0)

    def seed(self, solved: Solution, problem: DualProblem) -> np.ndarray:
        """Return a feasible α for `problem`."""
        lower, upper, before = problem.lower, problem.upper, solved.alpha
        alpha = np.clip(before, lower, upper)
        T = added(solved.problem, problem)
        unused, state = np.ones(len(T), dtype=bool), self._first_state()
        for r in removed(solved.problem, problem):
            if before[r] == 0.0 or not unused.any():
                continue
            same = unused & (upper[T] > 0.0 if before[r] > 0.0 else lower[T] < 0.0)
            weight = float(before[r])
            if same.any():
                similarity = problem.gram.row(r)[T]
                place = int(np.where(same, similarity, -np.inf).argmax())
            else:
                state = FACTOR * state % MODULUS
                place = int(np.flatnonzero(unused)[state % int(unused.sum())])
                weight = -weight
            unused[place] = False
            t = T[place]
            alpha[t] = min(max(weight, lower[t]), upper[t])
        spread(alpha, T, problem.z - total(alpha), lower, upper)
        return complete(alpha, problem.z, lower, upper)

    def _first_state(self) -> int:
        """Return the generator's first state, an integer below MODULUS, which a float represents exactly."""
        return 1 + int(self.seed_number) % (MODULUS - 1)

    def parameters(self) -> tuple[float, ...]:
        """Return the first state of the random generator."""
        return (float(self._first_state()),)
