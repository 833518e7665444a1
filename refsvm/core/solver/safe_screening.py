"""SafeScreening: removes a variable only if a proof says that it is at its bound in every optimum.

The primal objective P is 1-strongly convex in w, and the dual objective f is at least ½‖w(α) − w*‖² below its optimum.
Adding both inequalities at a feasible α, whose weight vector is w, gives

    ‖w − w*‖² ≤ δ = Σ (Uᵢ − αᵢ)(Gᵢ − b)₊ + (αᵢ − Lᵢ)(b − Gᵢ)₊          the duality gap at any b

so |G*ᵢ − Gᵢ| ≤ rᵢ = √(δKᵢᵢ). b* minimises Σ max(Uᵢ(G*ᵢ − b), Lᵢ(G*ᵢ − b)) + zb, and the minimisers of this sum rise
with every G*ᵢ. Therefore b* is at least b_lo, the smallest minimiser of the sum for G − r, and at most b_hi, the
largest minimiser for G + r. So in every optimum

    Gᵢ − rᵢ > b_hi   ⇒   αᵢ* = Uᵢ                    Gᵢ + rᵢ < b_lo   ⇒   αᵢ* = Lᵢ.

If αᵢ is already at the bound αᵢ*, the rule removes variable i for good. The problem of the remaining variables has the
same w*, so the next test can use the smaller δ of the remaining problem. If the KKT gap ψ of all variables exceeds ε at
the end, the rule solves the problem of the remaining variables again, until its KKT gap has halved.

The proof needs a positive semi-definite K, finite boxes and kernel rows in float64. `error_of` bounds the rounding
errors of G.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import Final

import numpy as np

from refsvm.core._checks import frames_within, whole
from refsvm.core.backend import Backend
from refsvm.core.engine.limits import Limits
from refsvm.core.primal import best_intercept, least_and_greatest
from refsvm.core.problem import EPSILON
from refsvm.core.result import Trace
from refsvm.core.solver.rules import Rules
from refsvm.core.solver.shrinking import Shrinking, all_variables
from refsvm.core.state import SolverState
from refsvm.core.stopping.midpoint import gap

ROUNDED: Final = 1e-10
"""Relative rounding error allowed in δ, a sum of terms that are never negative."""


@dataclass(frozen=True)
class SafeScreening(Shrinking):
    """Remove a variable if it is at a bound and is proved to be at this bound in every optimum.

    The solver never adds a removed variable again. The rule removes fewer variables than the other shrinking rules, and
    removes them later. The proof does not hold with a hard margin, with kernel rows in float32, or with a kernel that
    is not known to be positive semi-definite; in these cases the rule warns and takes all steps on all variables.

    Parameters
    ----------
    period : int
        Number of steps between two tests of the variables.

    Raises
    ------
    ValueError
        If period is not a positive whole number.

    References
    ----------
    K. Ogawa, Y. Suzuki and I. Takeuchi, "Safe screening of non-support vectors in pathwise SVM computation", ICML 2013;
    E. Ndiaye, O. Fercoq, A. Gramfort and J. Salmon, "Gap safe screening rules for sparsity enforcing penalties", JMLR
    18, 2017. The models of these papers have no intercept; the interval for b is our extension.

    Examples
    --------
    >>> from refsvm import RBF, DualProblem, SafeScreening, solve
    >>> from refsvm.datasets import load
    >>> heart = load("heart")
    >>> problem = DualProblem.classification(heart.X, heart.y, kernel=RBF(0.005), C=100.0)
    >>> solve(problem, shrinking=SafeScreening(period=100)).status.name
    'CONVERGED'
    """

    period: int = 1000

    def __post_init__(self) -> None:
        whole("period", self.period, 1)

    def steps(
        self, backend: Backend, limits: Limits[SolverState], state: SolverState, rules: Rules, budget: int,
        trace: Trace | None,
    ) -> int:  # fmt: skip
        """Remove the variables that are proved to be at bounds, and solve for the other variables."""
        if code := rules.stop.check(state):
            return code
        if state.gap <= 0.0:
            return -1
        # `A` holds the remaining variables; the problem of these variables is solved to the KKT gap `tolerance`
        wanted = rules.stop.with_absolute_tolerance(state).tolerance
        A, tolerance = state.shrinking or (np.arange(len(state.alpha)), wanted)
        if can_prove(state):
            A = A[undecided(state)[A]]
        if len(A) < 2 or tolerance < EPSILON * wanted:  # no pair is left, or ψ is only rounding error
            return -1
        if len(A) == len(state.alpha):
            return all_variables(backend, limits, state, rules, min(budget, self.period), trace)
        state.shrinking = A, tolerance / 2.0
        return self.solve_restricted(backend, limits, state, rules, trace, A, budget, to=tolerance)


def undecided(state: SolverState) -> np.ndarray:
    """Return a mask, shape (n,), of the variables that are not proved to stay at their bound."""
    alpha, G, lower, upper, z = state.alpha, state.gradient, state.lower, state.upper, state.problem.z
    error = error_of(state)
    b = best_intercept(G, z, lower, upper)
    delta = gap(alpha, G - b, lower, upper, error)
    # rᵢ = √(δKᵢᵢ)
    reach = math.sqrt(delta * (1.0 + ROUNDED)) * np.sqrt(state.diagonal) + error
    low = least_and_greatest(G - reach, z, lower, upper)[0]
    high = least_and_greatest(G + reach, z, lower, upper)[1]
    # Gᵢ + rᵢ < b_lo,  Gᵢ − rᵢ > b_hi
    stays = ((alpha == lower) & (G + reach < low)) | ((alpha == upper) & (G - reach > high))
    return ~stays & (lower < upper)


def error_of(state: SolverState) -> np.ndarray:
    """Return a bound of each Gᵢ's rounding error, shape (n,); on a restricted problem, add the full problem's bound.

    G is a sum of terms αⱼKᵢⱼ, none of which exceeds max |αⱼ| √(Kᵢᵢ max Kⱼⱼ). The bound allows, for each variable,
    sixteen roundings of its term and of the sum, and one rounding for each update of G.
    """
    count = 16.0 * len(state.alpha) + state.updates + state.iteration
    term = state.largest * np.sqrt(state.diagonal * state.largest_diagonal)
    size = float(np.abs(state.gradient).max()) + term
    error: np.ndarray = max(EPSILON, state.rows.facts.data_error) * count * size
    if state.parent is not None:
        outer, A = state.parent
        error = error + error_of(outer)[A]
    return error


def can_prove(state: SolverState) -> bool:
    """Return True if the proof holds for this problem; if the proof does not hold, warn at the first test."""
    facts = state.rows.facts
    why = (
        "some C is infinite" if state.problem.is_open
        else "kernel rows are kept as float32" if state.rows.values.dtype != np.float64
        else "" if facts.is_psd
        else f"{state.rows.gram.kernel_name} is not known to be positive semi-definite"
    )  # fmt: skip
    if why and state.iteration == 0 and state.parent is None:
        warnings.warn(
            f"shrinking=SafeScreening() removes no variable, because {why}; use shrinking=True.",
            stacklevel=frames_within() + 1,
        )
    return not why
