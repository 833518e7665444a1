"""Second-order selection from below: the most violating j, and the i whose Newton step gains most with it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from refsvm import WorkingSetSelector
from refsvm.core.state import TAU, SolverState


@dataclass(frozen=True)
class SecondOrderFromBelow(WorkingSetSelector):
    """j = argmin of G over I_down,  i = argmax of ½(Gᵢ − Gⱼ)²/qᵢⱼ over i in I_up with Gᵢ > Gⱼ.

    The mirror image of `refsvm.SecondOrder`, which fixes i and scans for j. It needs the kernel row of j.
    """

    def select(self, state: SolverState) -> tuple[int, int]:
        """Scan I_up once with the kernel row of j."""
        j = state.bottom
        if state.gap <= 0.0:
            return -1, -1
        # --- i = argmax g̃ over I_up with Gᵢ > Gⱼ ---
        slope = state.gradient - state.gradient[j]
        # q = Kᵢᵢ + Kⱼⱼ − 2Kᵢⱼ
        curvature = state.diagonal + state.diagonal[j] - 2.0 * state.row(j)
        curvature[~(curvature > 0.0)] = TAU
        # g̃ = ½ℓ²/q  (the ½ changes no comparison)
        gain = slope * slope / curvature
        gain[~((state.alpha < state.upper) & (slope > 0.0))] = -np.inf
        return int(gain.argmax()), j

    def twin(self) -> Callable[..., tuple[int, int]]:
        """Return the compiled version."""
        from second_order_from_below_twin import second_order_from_below

        return second_order_from_below
