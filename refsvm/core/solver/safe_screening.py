"""SafeScreening: a variable leaves only where a proof puts it at its bound in every optimum.

P is 1-strongly convex in w, and f falls as ½‖w(α) − w*‖² from its maximum. Their sum at a feasible α with machine w is

    ‖w − w*‖² ≤ δ = Σ (Uᵢ − αᵢ)(Gᵢ − b)₊ + (αᵢ − Lᵢ)(b − Gᵢ)₊          the duality gap at any b

so that |G*ᵢ − Gᵢ| ≤ rᵢ = √(δKᵢᵢ). b* minimises Σ max(Uᵢ(G*ᵢ − b), Lᵢ(G*ᵢ − b)) + zb. Its minimisers rise with every
G*ᵢ: b* is at least the smallest one for G − r, b_lo, and at most the largest one for G + r, b_hi. So in every optimum

    Gᵢ − rᵢ > b_hi   ⇒   αᵢ* = Uᵢ                    Gᵢ + rᵢ < b_lo   ⇒   αᵢ* = Lᵢ

A variable that stands at that bound already leaves. The problem of the others has the same w*, so the next look takes
its own δ. No variable returns: where ψ of all variables exceeds ε at the end, the others are solved to half their gap.

The proof needs K positive semi-definite, finite boxes and float64 rows. It allows for the rounding of G (`error_of`). A
restricted problem counts α from where it stands, which changes no difference here.
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
from refsvm.core.primal import best_intercept, gap_at, least_and_greatest
from refsvm.core.problem import EPSILON
from refsvm.core.result import Trace
from refsvm.core.solver.rules import Rules
from refsvm.core.solver.shrinking import Shrinking, all_variables
from refsvm.core.state import SolverState

ROUNDED: Final = 1e-10
"""Rounding of δ, relatively: a sum of terms that are never negative."""


@dataclass(frozen=True)
class SafeScreening(Shrinking):
    """Leave out the variables that are proved to be at their bound in every optimum, and stand there already.

    Nothing is guessed, so that no variable has to return. It removes fewer variables than the other rules, and later.
    With a hard margin, kernel rows in float32, or a kernel that is not known to be positive semi-definite nothing is
    proved: it warns, and takes all steps on all variables.

    Parameters
    ----------
    period : int
        Steps between two looks.

    Raises
    ------
    ValueError
        If period is not a positive whole number.

    References
    ----------
    K. Ogawa, Y. Suzuki and I. Takeuchi, "Safe screening of non-support vectors in pathwise SVM computation", ICML 2013;
    E. Ndiaye, O. Fercoq, A. Gramfort and J. Salmon, "Gap safe screening rules for sparsity enforcing penalties", JMLR
    18, 2017. Their machines have no intercept; the interval of b is ours.

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
        """Look which variables leave; take steps on all, or solve the problem of the others to the end."""
        if code := rules.stop.check(state):
            return code
        if state.gap <= 0.0:
            return -1
        # the variables that are left, and the gap to which they are solved
        wanted = rules.stop.with_absolute_tolerance(state).tolerance
        A, tolerance = state.shrinking or (np.arange(len(state.alpha)), wanted)
        if can_prove(state):
            A = A[undecided(state)[A]]
        if len(A) < 2 or tolerance < EPSILON * wanted:  # all that is left is rounding
            return -1
        if len(A) == len(state.alpha):
            return all_variables(backend, limits, state, rules, min(budget, self.period), trace)
        state.shrinking = A, tolerance / 2.0
        return self.solve_restricted(backend, limits, state, rules, trace, A, budget, to=tolerance)


def undecided(state: SolverState) -> np.ndarray:
    """Whether a variable may have to move, shape (n,): it is not proved to stay at the bound where it stands."""
    alpha, G, lower, upper, z = state.alpha, state.gradient, state.lower, state.upper, state.problem.z
    error = error_of(state)
    b = best_intercept(G, z, lower, upper)
    delta = gap_at(alpha, G - b, lower, upper, error)
    # rᵢ = √(δKᵢᵢ)
    reach = math.sqrt(delta * (1.0 + ROUNDED)) * np.sqrt(state.diagonal) + error
    low = least_and_greatest(G - reach, z, lower, upper)[0]
    high = least_and_greatest(G + reach, z, lower, upper)[1]
    # Gᵢ + rᵢ < b_lo,  Gᵢ − rᵢ > b_hi
    stays = ((alpha == lower) & (G + reach < low)) | ((alpha == upper) & (G - reach > high))
    return ~stays & (lower < upper)


def error_of(state: SolverState) -> np.ndarray:
    """Return by how much each Gᵢ may be off, shape (n,): a restricted problem begins with the G of another one.

    G is a sum of terms αⱼKᵢⱼ, none of which exceeds max |αⱼ| √(Kᵢᵢ max Kⱼⱼ). Sixteen roundings of a term and of the sum
    are counted for each variable, and one for each update.
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
    """Whether the proof holds on this problem; if not, a first look warns."""
    facts = state.rows.facts
    why = (
        "the box has no end" if state.problem.is_open
        else "kernel rows are kept as float32" if state.rows.values.dtype != np.float64
        else "" if facts.is_psd
        else f"{state.rows.gram.kernel_name} is not known to be positive semi-definite"
    )  # fmt: skip
    if why and state.iteration == 0 and state.parent is None:
        warnings.warn(
            f"shrinking=SafeScreening() removes no variable here, because {why}; use shrinking=True.",
            stacklevel=frames_within() + 1,
        )
    return not why
