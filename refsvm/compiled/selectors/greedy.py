"""Compiled twin of `refsvm.Greedy`."""

from __future__ import annotations

from refsvm.compiled.interface.layout import SELECT, TAU
from refsvm.compiled.interface.rows import row_or_ask
from refsvm.compiled.interface.twin import twin
from refsvm.compiled.selectors.gain import exact_gain, unless_negligible


@twin(SELECT)
def greedy(parameters, state):  # type: ignore[no-untyped-def]
    """Compiled twin of `refsvm.Greedy`."""
    G, alpha, lower, upper, diagonal = state.gradient, state.alpha, state.lower, state.upper, state.diagonal
    i, j, best = -1, -1, 0.0
    for r in range(len(alpha)):
        rise = upper[r] - alpha[r]
        if not rise > 0.0:
            continue
        row, is_there = row_or_ask(state, r)
        if not is_there:
            return -1, -1
        for s in range(len(alpha)):
            # ℓ = Gᵢ − Gⱼ,  q = Kᵢᵢ + Kⱼⱼ − 2Kᵢⱼ
            slope, room = G[r] - G[s], min(rise, alpha[s] - lower[s])
            if slope > 0.0 and room > 0.0:
                q = diagonal[r] + diagonal[s] - 2.0 * row[s]
                gain = exact_gain(slope, q if q > 0.0 else TAU, room)
                if gain > best:
                    i, j, best = r, s, gain
    return unless_negligible(state, i, j, best)
