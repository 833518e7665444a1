"""Polishing: one exact step on the free variables of a nearly solved problem.

At the optimum G = b on every free variable. If an approximate solution has the right variables at their bounds, one
step δ of its free variables F reaches the optimum. A linear system determines δ and b:

    ⎡ K_FF  1 ⎤ ⎡ δ ⎤   ⎡ G_F ⎤
    ⎣  1ᵀ   0 ⎦ ⎣ b ⎦ = ⎣  0  ⎦

If α_F + δ stays in the box and the KKT gap falls, the result is the optimum up to rounding, whatever tolerance,
selector and engine were used. The gain of the step is ½ δᵀG_F. If the gain is negative, K is indefinite, and `polish`
omits the step, which would lead to a saddle point. The name polishing comes from solvers of quadratic programs
(Stellato et al., "OSQP: an operator splitting solver for quadratic programs", Math. Prog. Computation 12, 2020).
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from refsvm.core import arithmetic
from refsvm.core.guards.base import Guard, Verdict
from refsvm.core.result import Status
from refsvm.core.state import SolverState

MOST_FREE_VARIABLES: Final = 32
"""Largest number of free variables; with this many, the step takes about a tenth of a millisecond."""


class Polish(Guard):
    """Guard that takes one exact step to the optimum, so that α does not depend on selector and engine."""

    def after(self, state: SolverState, rules: Any, verdict: Verdict) -> None:
        """Polish the state if the stopping rule was satisfied; otherwise the exact step would not reach the optimum."""
        if verdict.status is Status.CONVERGED:
            polish(state)


def polish(state: SolverState) -> bool:
    """Move a nearly solved state to the exact optimum, if one step reaches the optimum.

    Parameters
    ----------
    state : SolverState
        A state that satisfied a stopping rule. The state is changed only if the KKT gap falls.

    Returns
    -------
    bool
        Whether the state moved. The state stays the same if more than `MOST_FREE_VARIABLES` variables are
        free, or if the optimum does not have the same free variables as the state.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import DualProblem, RBF, solve
    >>> X, y = np.array([[0.0], [1.0], [2.0], [4.0]]), np.array([-1, 1, 1, -1])
    >>> problem = DualProblem.classification(X, y, kernel=RBF(1.0), C=10.0)
    >>> solve(problem).kkt_gap > 1e-6, solve(problem, polish=True).kkt_gap < 1e-12
    (True, True)
    """
    alpha = state.alpha
    F = ((alpha > state.lower) & (alpha < state.upper)).nonzero()[0]
    if not 0 < len(F) <= MOST_FREE_VARIABLES:
        return False
    free = state.rows.block(F, F), alpha[F], state.gradient[F], state.lower[F], state.upper[F]
    (point,), succeeded = optima(*(each[None] for each in free))
    if not succeeded.all():
        return False
    # keep a copy of α and G: only the KKT gap at the new point shows whether the right variables are free
    before, gap = (alpha.copy(), state.gradient.copy()), state.gap
    delta = np.zeros(len(alpha))
    delta[F] = point - alpha[F]
    state.shift(delta)
    alpha[F] = point
    state.refresh(recompute=False)
    if state.gap < gap:
        return True
    alpha[:], state.gradient[:] = before
    state.refresh(recompute=False)
    return False


def refined(system: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return a solution of small norm for each system: if two examples are equal, a system has many solutions.

    With K + εI in place of K, the solution is unique. As in OSQP, iterative refinement removes the error that ε causes.
    """
    n = system.shape[-1]
    shift = np.diag(np.append(np.full(n - 1, 1e-8 * (n - 1)), 0.0))
    inverse = arithmetic.current.solutions(system + shift, np.tile(np.eye(n), (len(system), 1, 1)))
    solution = np.zeros(right.shape)
    for _ in range(4):
        rest = right - (system * solution.transpose(0, 2, 1)).sum(axis=2, keepdims=True)
        solution += (inverse * rest.transpose(0, 2, 1)).sum(axis=2, keepdims=True)
    return solution


def optima(
    K_FF: np.ndarray, alpha_F: np.ndarray, G_F: np.ndarray, lower_F: np.ndarray, upper_F: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the optimal α_F of many problems with equal numbers of free variables, and whether each lies in its box.

    Parameters
    ----------
    K_FF : ndarray of shape (P, m, m), float64
        Kernel matrix of the free variables.
    alpha_F, G_F, lower_F, upper_F : ndarrays of shape (P, m), float64
        α, G and the bounds of the free variables.

    Returns
    -------
    ndarrays of shape (P, m) and (P,), float64 and bool
    """
    P, m = G_F.shape
    scale = np.abs(K_FF).max(axis=(1, 2))
    scale[scale == 0.0] = 1.0
    system, right = np.ones((P, m + 1, m + 1)), np.zeros((P, m + 1, 1))
    system[:, :m, :m], system[:, m, m], right[:, :m, 0] = K_FF / scale[:, None, None], 0.0, G_F
    system_of_all = system, right, scale, alpha_F, lower_F, upper_F
    # try the fast solver first, which fails if examples are equal; then use the slower solver for singular systems
    points, succeeded = _attempt(arithmetic.current.solutions, *system_of_all)
    if not succeeded.all():
        left = ~succeeded
        others, succeeded[left] = _attempt(refined, *(each[left] for each in system_of_all))
        points[left] = np.where(succeeded[left, None], others, alpha_F[left])
    return points, succeeded


def _attempt(
    solver: Any, system: np.ndarray, right: np.ndarray, scale: np.ndarray, alpha_F: np.ndarray, lower_F: np.ndarray,
    upper_F: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """Return α_F + δ, and for each problem whether α_F + δ lies in the box and the gain of δ is at least 0."""
    m = alpha_F.shape[1]
    delta = solver(system, right)[:, :m, 0] / scale[:, None]
    delta -= delta.sum(axis=1, keepdims=True) / m  # correct rounding errors, so that 1ᵀδ = 0
    points = alpha_F + delta
    inside = ((lower_F <= points) & (points <= upper_F)).all(axis=1)
    return points, inside & ((delta * right[:, :m, 0]).sum(axis=1) >= 0.0)
