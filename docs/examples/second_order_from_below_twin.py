"""Twin of SecondOrderFromBelow."""

import numpy as np

from refsvm.fast.layout import SELECT, TAU
from refsvm.fast.twin import twin


@twin(SELECT)
def second_order_from_below(parameters, state):
    """Twin of `SecondOrderFromBelow`."""
    alpha, G, upper, diagonal = state.alpha, state.gradient, state.upper, state.diagonal
    j = state.now[0].bottom
    if state.now[0].gap <= 0.0:
        return -1, -1
    if state.slots[j] < 0:  # the kernel row of j is not in memory: ask for it, and be called again
        return j, -1
    row = state.kernel[state.slots[j]]
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
