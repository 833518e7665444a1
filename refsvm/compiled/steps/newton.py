"""Compiled twin of `refsvm.NewtonStep`."""

from __future__ import annotations

from refsvm.compiled.interface.layout import LENGTH
from refsvm.compiled.interface.twin import twin


@twin(LENGTH)
def newton(parameters, state, i, j):  # type: ignore[no-untyped-def]
    """Compiled twin of `refsvm.NewtonStep`."""
    now = state.now[0]
    # μ* = clip(ℓ/q, lo, hi)
    return min(max(now.slope / now.curvature, now.low), now.high)
