"""Improved SMO: a scan that keeps G only for free variables, and examines the other examples one after another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from refsvm.core._checks import not_negative
from refsvm.core.selectors.base import WorkingSetSelector
from refsvm.core.state import SolverState

UP, DOWN, NEXT, STEPPED, TOLERANCE, VALUES = range(6)
"""Positions in the memory: up; down; the next example to examine (n while the rule takes the pair (up, down)); 1 if
this pass has taken a step; 2τ; the number of kernel values so far."""


@dataclass(frozen=True)
class ImprovedSMO(WorkingSetSelector):
    """Choose the same working sets as Modification 2 of Keerthi, Shevade, Bhattacharyya and Murthy (2001).

    The paper's solver knows Gᵢ for the free variables I₀ and for two examples: *up* has the largest known G in I_up,
    and *down* has the smallest known G in I_down. The solver computes any other Gᵢ when it examines example i.

        Repeat
            a pass over all i:   up ← i if i is in I_up and Gᵢ > G[up],   down ← i if i is in I_down and Gᵢ < G[down]
                                 (i, down) if Gᵢ − G[down] > 2τ,   (up, i) if G[up] − Gᵢ > 2τ; if both, the larger
            (up, down) while G[up] − G[down] > 2τ.
        After each step:         choose up and down anew among I₀ and the pair that has moved.

    The first *up* and *down* are free variables. If no variable is free, they are the first example whose α may rise
    and the first example whose α may fall. If a pass finds no pair, but the stopping rule is not yet satisfied, the
    selector sets 2τ to ψ/2. The loop of this package knows all of G, so `KKTGap` ends the solve after the last step;
    the paper's solver still makes passes without a step. Both solvers take the same steps; `kernel_values` counts the
    kernel values that the paper's solver computes.

    Parameters
    ----------
    tol : float
        2τ, which corresponds to the tolerance ε in ψ ≤ ε.

    References
    ----------
    S. S. Keerthi, S. K. Shevade, C. Bhattacharyya and K. R. K. Murthy, "Improvements to Platt's SMO algorithm for SVM
    classifier design", Neural Computation 13, 2001.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import DualProblem, ImprovedSMO, Linear, solve
    >>> X, y = np.array([[0.0], [1.0], [3.0]]), np.array([-1, -1, 1])
    >>> solve(DualProblem.classification(X, y, kernel=Linear()), selector=ImprovedSMO()).alpha
    array([ 0. , -0.5,  0.5])
    """

    tol: float = 1e-3

    def __post_init__(self) -> None:
        not_negative("tol", self.tol)

    def memory(self, problem: Any, steps: int = 0) -> np.ndarray:
        """Return the memory for a scan that has not begun."""
        return np.array([-1.0, -1.0, 0.0, 0.0, self.tol, 0.0])

    def select(self, state: SolverState) -> tuple[int, int]:
        """Continue the scan over the examples until it finds a pair to move."""
        if state.gap <= 0.0:
            return -1, -1
        scan, G, n = state.selector_memory, state.gradient, len(state.alpha)
        known, values = self._known(state)
        rises, falls = state.alpha < state.upper, state.alpha > state.lower
        scan[UP] = first_of(known & rises, rises, G)
        scan[DOWN] = first_of(known & falls, falls, -G)
        scan[VALUES] += values
        while True:
            # --- Modification 2: return (up, down) while G[up] − G[down] > 2τ and the last step changed α ---
            if scan[NEXT] == n:
                up, down = int(scan[UP]), int(scan[DOWN])
                if G[up] - G[down] > scan[TOLERANCE] and not state.stalled:
                    return up, down
                scan[NEXT] = scan[STEPPED] = 0.0
            # --- a pass over all examples ---
            while scan[NEXT] < n:
                i = int(scan[NEXT])
                scan[NEXT] += 1.0
                if rises[i] or falls[i]:
                    j, k = self._examine(state, i, rises[i], falls[i])
                    if j != k:
                        scan[STEPPED] = 1.0
                        return j, k
            # if the pass took no step, no example violates its optimality condition by more than 2τ
            if not scan[STEPPED]:
                scan[TOLERANCE], scan[NEXT] = state.gap / 2.0, 0.0

    def _examine(self, state: SolverState, i: int, rises: bool, falls: bool) -> tuple[int, int]:
        """Return (i, down) or (up, i), whichever violates more, or (i, i) if neither pair violates by more than 2τ."""
        scan, G = state.selector_memory, state.gradient
        if not (rises and falls):
            # Gᵢ = vᵢ − Σ Kᵢⱼαⱼ over the support vectors
            scan[VALUES] += np.count_nonzero(state.alpha)
            if rises and G[i] > G[int(scan[UP])]:
                scan[UP] = i
            if falls and G[i] < G[int(scan[DOWN])]:
                scan[DOWN] = i
        up, down = int(scan[UP]), int(scan[DOWN])
        rising = G[i] - G[down] if rises else -np.inf
        falling = G[up] - G[i] if falls else -np.inf
        if max(rising, falling) <= scan[TOLERANCE]:
            return i, i
        return (i, down) if rising > falling else (up, i)

    def _known(self, state: SolverState) -> tuple[np.ndarray, int]:
        """Return a mask of the Gᵢ known after the last step, and the number of kernel values needed for these Gᵢ."""
        known = (state.lower < state.alpha) & (state.alpha < state.upper)
        if state.iteration == 0:
            return known, int(known.sum()) * int(np.count_nonzero(state.alpha))
        known[state.working_sets[0]] = True
        # G −= μ (K[i] − K[j])
        return known, 2 * int(known.sum())

    def kernel_values(self, state: SolverState, solved: bool = True) -> int:
        """Return how many kernel values the paper's solver computes, with its last passes without a step if `solved`.

        After a step, the solver needs two kernel values to update each known Gᵢ; to compute an unknown Gᵢ, it needs one
        kernel value for each support vector. The count is right only without shrinking.
        """
        scan = state.selector_memory
        bound = ((state.alpha < state.upper) ^ (state.alpha > state.lower)) & solved
        examined = bound[int(scan[NEXT]) :].sum() + bound.sum() * scan[STEPPED]
        return int(scan[VALUES] + self._known(state)[1] + examined * np.count_nonzero(state.alpha))


def first_of(known: np.ndarray, side: np.ndarray, G: np.ndarray) -> int:
    """Return the variable in `known` with the largest G, or the first variable in `side` if `known` is empty."""
    return int(np.where(known, G, -np.inf).argmax() if known.any() else side.argmax())
