"""Second-order selection: the most violating i, and the j that gains most in a Newton step with i.

By default, the solver uses this rule on full problems, and `refsvm.core.selectors.conjugate_second_order` on shrunk
problems. `refsvm.analysis.small` applies the rule to many small problems.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from refsvm.core._checks import real
from refsvm.core.selectors.base import WorkingSetSelector
from refsvm.core.selectors.gain import exact_gain
from refsvm.core.state import TAU, SolverState


@dataclass(frozen=True)
class SecondOrder(WorkingSetSelector):
    """i = argmax of G over I_up,  j = argmax of ½(Gᵢ − Gⱼ)²/qᵢⱼ over j in I_down with Gⱼ < Gᵢ.

    A Newton step that ignores the box would gain g̃ = ½ℓ²/q; qᵢⱼ = Kᵢᵢ + Kⱼⱼ − 2Kᵢⱼ needs the kernel row of i. After a
    planned step, a pair in ``state.candidates`` replaces (i, j) if the gain of this pair is larger. If the planned step
    μ was within a factor 1 ± `planned_range` of the Newton step μ̂, the rule ranks all pairs by g̃. Otherwise, it ranks
    all pairs by the exact gain g(μ*) = μ*ℓ − ½μ*²q of the clipped step μ* (Algorithm 3).

    Parameters
    ----------
    planned_range : float
        The constant η of Algorithm 3, in (0, 1); the paper uses 0.9.

    Raises
    ------
    ValueError
        If planned_range is outside (0, 1).

    References
    ----------
    R.-E. Fan, P.-H. Chen and C.-J. Lin, "Working set selection using second order information for training support
    vector machines", JMLR 6, 2005 (WSS 2); T. Glasmachers, "The planning-ahead SMO algorithm", 2008, eq. 3 and
    Algorithm 3.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import DualProblem, Linear, SecondOrder, solve
    >>> X, y = np.array([[0.0], [1.0], [3.0]]), np.array([-1, -1, 1])
    >>> solve(DualProblem.classification(X, y, kernel=Linear()), selector=SecondOrder()).alpha
    array([ 0. , -0.5,  0.5])
    """

    planned_range: float = 0.9
    takes_candidates: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not 0.0 < real("planned_range", self.planned_range) < 1.0:
            raise ValueError(f"planned_range={self.planned_range!r} is outside (0, 1); the paper uses 0.9.")

    def select(self, state: SolverState) -> tuple[int, int]:
        """Return i and the j with the largest gain; the kernel row of i gives the gain of each pair (i, j)."""
        i = state.top
        if state.gap <= 0.0:
            return -1, -1
        # --- the exact gain replaces g̃ after a planned step far from the Newton step ---
        ratio = state.last_step / state.last_newton if state.last_planned else 1.0
        exact = abs(ratio - 1.0) > self.planned_range
        # --- j = argmax g̃ over I_down with Gⱼ < Gᵢ ---
        slope = state.gradient[i] - state.gradient
        curvature = state.diagonal[i] + state.diagonal - 2.0 * state.row(i)
        curvature[~(curvature > 0.0)] = TAU
        if exact:
            room = np.minimum(state.upper[i] - state.alpha[i], state.alpha - state.lower)
            gain = exact_gain(slope, curvature, room)
        else:
            # g̃ = ½ℓ²/q  (the ½ changes no comparison)
            gain = slope * slope / curvature
        gain[~((state.alpha > state.lower) & (slope > 0.0))] = -np.inf
        j = int(gain.argmax())
        # --- compare the pairs that a planned step has written to `state.candidates` ---
        return self._challenge(state, i, j, float(gain[j]), exact)

    def _challenge(self, state: SolverState, i: int, j: int, best: float, exact: bool) -> tuple[int, int]:
        """Return (i, j), or the candidate pair with the largest gain if its gain exceeds the gain of (i, j)."""
        pairs = state.candidates[: state.n_candidates].tolist()
        for (k, m), q in zip(pairs, state.candidate_curvatures, strict=False):
            if state.gradient[k] < state.gradient[m]:
                k, m = m, k  # let k have the larger G, because a step gains only if that α rises
            slope = state.gradient[k] - state.gradient[m]
            room = min(state.upper[k] - state.alpha[k], state.alpha[m] - state.lower[m])
            if slope > 0.0 and room > 0.0:
                mu = min(slope / q, room)
                gain = mu * (2.0 * slope - mu * q) if exact else slope * slope / q
                if gain > best:
                    i, j, best = k, m, gain
        return i, j
