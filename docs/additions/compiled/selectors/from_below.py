"""Twin of `refsvm.FromBelow`."""

from __future__ import annotations

import numpy as np

from refsvm.compiled.interface.layout import SELECT, TAU
from refsvm.compiled.interface.rows import row_or_ask
from refsvm.compiled.interface.twin import twin


@twin(SELECT)
def from_below(parameters, state):  # type: ignore[no-untyped-def]
    """Twin of `refsvm.FromBelow`."""
    alpha, G, upper, diagonal = state.alpha, state.gradient, state.upper, state.diagonal
    j = state.now[0].bottom
    if state.now[0].gap <= 0.0:
        return -1, -1
    row, there = row_or_ask(state, j)
    if not there:  # the kernel row of j is not in memory: it will be, when this is called again
        return -1, -1
    # --- i = argmax g̃ over I_up with Gᵢ > Gⱼ ---
    i, best = -1, -np.inf
    for t in range(len(alpha)):
        slope = G[t] - G[j]
        if alpha[t] < upper[t] and slope > 0.0:
            # q = Kᵢᵢ + Kⱼⱼ − 2Kᵢⱼ
            q = diagonal[t] + diagonal[j] - 2.0 * row[t]
            if not q > 0.0:
                q = TAU
            # g̃ = ½ℓ²/q  (the ½ changes no comparison)
            gain = slope * slope / q
            if gain > best:
                i, best = t, gain
    return i, j
