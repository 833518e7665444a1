"""Rounding: what it has done to the point where a solve ends, and what that may be used for."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from refsvm.kernels.matrix import KernelMatrix
from refsvm.kernels.precision import noise_of_values
from refsvm.problem import EPSILON, total
from refsvm.state import SolverState
from refsvm.stopping.relative import ROUNDED

OFF: Final = 1e-6
"""Largest distance of α from its box, and of Σα from z, relative to Σ|α|: rounding is less, a wrong step more."""

NEAR: Final = 1e-6
"""Share of its box within which a variable may count as being at its bound but for rounding of Σα."""

MOST_ROUNDED: Final = 1e-10
"""Largest share of the terms of a decision value by which b of a one-class problem makes room for rounding."""

TINY: Final = float(np.finfo(float).tiny)
"""In place of max Kⱼⱼ = 0 below a line."""


class PointError(ValueError):
    """A solve has ended at a point that no steps inside the box lead to."""


def snap(state: SolverState, tolerance: float = 0.0) -> None:
    """Set each α within rounding of its bound to the bound: at the end of a solve, whatever its start was.

    The last variable to reach a bound may be short of it by what Σα misses: if all others are at theirs, b would be
    its G, though a whole interval of b is optimal, and another start would give another b. Here that is

        |αᵢ − bound| ≤ min(|z − Σα| + 4ε(Σ|α| + |z|), 10⁻⁶(Uᵢ − Lᵢ)),   ε the rounding of one operation

    I_up and I_down only lose members by it, so that ψ does not grow. G stays. It changes by |αᵢ − bound| max Kⱼⱼ at
    most: where that is above a hundredth of the KKT gap, or of what it is compared with, αᵢ stays, too. Nothing is
    done at a point where the KKT gap is above the tolerance: what a rule knows of its b is to stay true.
    """
    if state.gap > tolerance:
        return
    alpha, z = state.alpha, state.problem.z
    above, below = alpha - state.lower, state.upper - alpha
    distance = np.minimum(above, below)
    # a narrow box could lie within the rounding of Σα as a whole; then nearness says nothing
    near = (distance > 0.0) & (distance <= NEAR * (state.upper - state.lower))
    if not near.any():
        return
    rounding = abs(z - total(alpha)) + 4.0 * EPSILON * (total(np.abs(alpha)) + abs(z))
    allowed = 0.01 * max(abs(state.gap), tolerance) / max(state.largest_diagonal, TINY)
    near &= distance <= min(rounding, allowed)
    if near.any():
        alpha[near] = np.where(above < below, state.lower, state.upper)[near]
        state.refresh(recompute=False)


def feasibility_error(state: SolverState) -> str:
    """Return why no steps inside the box lead to this point; "" if some do, as always unless a rule is wrong."""
    alpha, problem = state.alpha, state.problem
    sum_ = float(np.add.reduce(alpha))
    # relative to Σ|α|, because the sum of large terms rounds at their size
    allowed = OFF * (float(np.add.reduce(np.abs(alpha))) + abs(problem.z))
    if not math.isfinite(sum_ + float(np.add.reduce(state.gradient))):
        return "α or G is not finite"
    if abs(problem.z - sum_) > allowed:
        return f"Σα is {sum_:.6g} in place of {problem.z:.6g}"
    outside = float(np.maximum(problem.lower - alpha, alpha - problem.upper).max(initial=0.0))
    return f"α is outside the box by {outside:.3g}" if outside > allowed else ""


def drifted(state: SolverState, tolerance: float = 0.0) -> bool:
    """Whether rounding may have moved G by more than a hundredth of the KKT gap, or of what it is compared with.

    Each update rounds G at the size of G and of its summands αᵢKᵢⱼ, the largest of which may have been earlier.
    Where no pair is left, as in a round of one class, there is no gap: b is read from G all the same.
    """
    gap = abs(state.gap) if state.gap > -math.inf else 0.0
    # αᵢKᵢⱼ may have been far larger on the way than G is now, and has left its rounding
    size = float(np.abs(state.gradient).max()) + state.largest * state.largest_diagonal
    return EPSILON * (state.updates + state.iteration) * size > 0.01 * max(gap, tolerance)


def noisy(noise: float, tolerance: float) -> str:
    """Return the sentence of the warning that rounding moves decision values by more than the tolerance."""
    return (
        f"The kernel values are so large that rounding moves decision values by about {noise:.3g}, and the tolerance "
        f"is {tolerance:.3g}; subtract the mean of each feature and scale it (StandardScaler), or scale down the "
        "kernel or C."
    )


def intercept_of_inside(
    gram: KernelMatrix, alpha: np.ndarray, gradient: np.ndarray, inside: np.ndarray, otherwise: float
) -> float:
    """Return the least b of a one-class problem for which no example inside has h < 0, and a little for rounding.

    h(xᵢ) = b − Gᵢ. A prediction adds up the same terms in another order: what that moves has the size of the terms, not
    of the sum.

    Parameters
    ----------
    gram : KernelMatrix
    alpha, gradient : ndarrays of shape (n,)
        α and G.
    inside : ndarray of shape (n,), bool
        Examples with αᵢ below its bound.
    otherwise : float
        b if there is none.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import Linear
    >>> from refsvm.kernels import Gram
    >>> from refsvm.solver.rounding import intercept_of_inside
    >>> gram, alpha = Gram(Linear(), np.array([[1.0], [3.0]])), np.array([1.0, 0.5])
    >>> round(intercept_of_inside(gram, alpha, np.array([-2.5, -7.5]), alpha < 1.0, 0.0), 9)
    -7.5
    """
    b = float(gradient[inside].max()) if inside.any() else otherwise
    largest = float(np.abs(gram.diagonal()).max())
    terms = float(np.abs(gradient).max()) + float(alpha.max()) * largest
    share = ROUNDED * math.sqrt(len(alpha)) * max(1.0, gram.rounding / EPSILON)
    # kernel values of a prediction are rounded anew, those far from the origin by more than sums are
    noise = 2.0 * noise_of_values(gram, largest) * float(np.linalg.norm(alpha))
    return b + max(min(share, MOST_ROUNDED) * terms, noise)
