"""Twin of `refsvm.ConstantFactor`."""

from __future__ import annotations

from refsvm.compiled.interface.layout import SELECT
from refsvm.compiled.interface.twin import twin


@twin(SELECT)
def constant_factor(parameters, state):  # type: ignore[no-untyped-def]
    """Twin of `refsvm.ConstantFactor`."""
    alpha, G, lower = state.alpha, state.gradient, state.lower
    i, gap = state.now[0].top, state.now[0].gap
    if gap <= 0.0:
        return -1, -1
    for j in range(len(alpha)):
        if alpha[j] > lower[j] and G[i] - G[j] >= parameters[0] * gap:
            return i, j
    return i, state.now[0].bottom
