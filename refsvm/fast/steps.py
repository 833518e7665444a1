"""Twins of the step rules."""

from __future__ import annotations

from numba import njit

from refsvm.fast.layout import LENGTH

__all__ = ["newton"]


@njit(LENGTH, cache=True)
def newton(parameters, state, i, j):  # type: ignore[no-untyped-def]
    """Twin of `refsvm.NewtonStep`."""
    now = state.now[0]
    # μ* = clip(ℓ/q, lo, hi)
    return min(max(now.slope / now.curvature, now.low), now.high)
