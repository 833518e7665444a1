"""Compiled twin of `refsvm.core.selectors.gain`."""

from __future__ import annotations

from refsvm.compiled.interface.twin import inlined
from refsvm.core.selectors.gain import LEAST


@inlined
def exact_gain(slope, curvature, room):  # type: ignore[no-untyped-def]
    """Compiled twin of `refsvm.core.selectors.gain.exact_gain` for one pair with ℓ > 0 and `room` > 0."""
    mu = min(slope / curvature, room)
    return mu * (2.0 * slope - mu * curvature)


@inlined
def unless_negligible(state, i, j, gain):  # type: ignore[no-untyped-def]
    """Compiled twin of `refsvm.core.selectors.gain.unless_negligible`."""
    now, alpha = state.now[0], state.alpha
    top, bottom, gap = now.top, now.bottom, now.gap
    if gap <= 0.0:
        return -1, -1
    if i >= 0 and state.gradient[i] - state.gradient[j] >= LEAST * gap:
        room = min(state.upper[top] - alpha[top], alpha[bottom] - state.lower[bottom])
        if 2.0 * gap * room >= LEAST * gain:
            return i, j
    return top, bottom
