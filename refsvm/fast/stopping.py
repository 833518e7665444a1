"""Twins of the stopping rules."""

from __future__ import annotations

from numba import njit

from refsvm.fast.layout import CHECK

__all__ = ["kkt_gap"]


@njit(CHECK, cache=True)
def kkt_gap(parameters, state):  # type: ignore[no-untyped-def]
    """Twin of `refsvm.KKTGap`."""
    # ψ ≤ ε
    return int(state.now[0].gap <= parameters[0])
