"""Compiled twin of `refsvm.core.stopping.relative`."""

from __future__ import annotations

import math

from refsvm.compiled.interface.twin import called, inlined
from refsvm.core.stopping.relative import LEAST_SHARE, ROUNDED, SMALLEST


@called
def has_moved(alpha):  # type: ignore[no-untyped-def]
    """Return True if some αᵢ ≠ 0."""
    moved = False
    for t in range(len(alpha)):
        moved = moved or alpha[t] != 0.0
    return moved


@called
def decision_range(v, moved, state):  # type: ignore[no-untyped-def]
    """Compiled twin of `refsvm.DualProblem.decision_range`."""
    alpha, G, lower, upper = state.alpha, state.gradient, state.lower, state.upper
    highest = lowest = 0.0
    begun = False
    for t in range(len(alpha)):
        if lower[t] < upper[t]:
            value = v[t] - G[t] if moved else v[t]
            highest = max(highest, value) if begun else value
            lowest = min(lowest, value) if begun else value
            begun = True
    return highest - lowest


@called
def relative_tolerance(tol, share, state):  # type: ignore[no-untyped-def]
    """Compiled twin of `refsvm.core.stopping.relative.relative_tolerance`."""
    if share >= 1.0:
        return tol
    gradient = alpha = diagonal = 0.0
    for t in range(len(state.alpha)):
        gradient = max(gradient, abs(state.gradient[t]))
        alpha = max(alpha, abs(state.alpha[t]))
        diagonal = max(diagonal, abs(state.diagonal[t]))
    rounding = ROUNDED * math.sqrt(len(state.alpha)) * (gradient + alpha * diagonal)
    return min(max(tol * share, rounding, SMALLEST), tol)


@called
def compare_relative(tol, relative, v, state):  # type: ignore[no-untyped-def]
    """Compare ψ with the relative tolerance and return the code; `compare` calls this function only if ψ ≤ ε."""
    # ψ ≤ ε min(1, s/u)
    moved, memory, gap = has_moved(state.alpha), state.stop_memory, state.now[0].gap
    s = decision_range(v, moved, state)
    if memory[-2] == 0.0 and moved:
        memory[-2] = s
    share = max(s, LEAST_SHARE * memory[-2]) / relative
    memory[-1] = tolerance = relative_tolerance(tol, share, state)
    return 0 if gap > tolerance else 1 if tolerance == tol else 2


@inlined
def compare(tol, relative, v, state):  # type: ignore[no-untyped-def]
    """Compiled twin of `refsvm.core.stopping.relative.compare`."""
    gap = state.now[0].gap
    # ψ ≤ ε
    if relative == 0.0 or not gap <= tol:
        return int(gap <= tol)
    return compare_relative(tol, relative, v, state)
