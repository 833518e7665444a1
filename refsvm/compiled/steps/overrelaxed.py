"""Compiled twin of `refsvm.OverrelaxedNewtonStep`."""

from __future__ import annotations

from refsvm.compiled.interface.layout import LENGTH
from refsvm.compiled.interface.twin import twin


@twin(LENGTH)
def overrelaxed(parameters, state, i, j):  # type: ignore[no-untyped-def]
    """Compiled twin of `refsvm.OverrelaxedNewtonStep`."""
    now = state.now[0]
    # μ = clip(ω ℓ/q, lo, hi)
    return min(max(parameters[0] * (now.slope / now.curvature), now.low), now.high)
