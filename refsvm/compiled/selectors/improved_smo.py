"""Compiled twin of `refsvm.ImprovedSMO`."""

from __future__ import annotations

import numpy as np

from refsvm.compiled.interface.layout import FALLS, RISES, SELECT
from refsvm.compiled.interface.twin import inlined, twin
from refsvm.core.selectors.improved_smo import DOWN, NEXT, STEPPED, TOLERANCE, UP, VALUES

FREE = RISES + FALLS


@inlined
def extremes_of_known(state):  # type: ignore[no-untyped-def]
    """Store the most violating pair (UP, DOWN) of free or just moved variables; return the count of support vectors."""
    scan, now, G, sides = state.selector_memory, state.now[0], state.gradient, state.sides
    first, second = state.working_sets[0, 0], state.working_sets[0, 1]
    up = down = rising = falling = -1
    known = support = 0
    for t in range(len(G)):
        support += 1 if state.alpha[t] != 0.0 else 0
        rises, falls = (sides[t] & RISES) != 0, (sides[t] & FALLS) != 0
        rising = t if rises and rising < 0 else rising
        falling = t if falls and falling < 0 else falling
        if sides[t] == FREE or (now.iteration > 0 and t in (first, second)):
            known += 1
            up = t if rises and (up < 0 or G[t] > G[up]) else up
            down = t if falls and (down < 0 or G[t] < G[down]) else down
    scan[UP], scan[DOWN] = up if up >= 0 else rising, down if down >= 0 else falling
    scan[VALUES] += known * (2 if now.iteration > 0 else support)
    return support


@inlined
def examine(state, i, support):  # type: ignore[no-untyped-def]
    """Compiled twin of `refsvm.ImprovedSMO._examine`."""
    scan, G = state.selector_memory, state.gradient
    rises, falls = (state.sides[i] & RISES) != 0, (state.sides[i] & FALLS) != 0
    if not (rises and falls):
        # Gᵢ = vᵢ − Σ Kᵢⱼαⱼ over the support vectors
        scan[VALUES] += support
        if rises and G[i] > G[int(scan[UP])]:
            scan[UP] = i
        if falls and G[i] < G[int(scan[DOWN])]:
            scan[DOWN] = i
    up, down = int(scan[UP]), int(scan[DOWN])
    rising = G[i] - G[down] if rises else -np.inf
    falling = G[up] - G[i] if falls else -np.inf
    if max(rising, falling) <= scan[TOLERANCE]:
        return i, i
    return (i, down) if rising > falling else (up, i)


@twin(SELECT)
def improved_smo(parameters, state):  # type: ignore[no-untyped-def]
    """Compiled twin of `refsvm.ImprovedSMO`."""
    now, scan, G, n = state.now[0], state.selector_memory, state.gradient, len(state.alpha)
    if now.gap <= 0.0:
        return -1, -1
    support = extremes_of_known(state)
    while True:
        # --- Modification 2: return (up, down) while G[up] − G[down] > 2τ and the last step changed α ---
        if scan[NEXT] == n:
            up, down = int(scan[UP]), int(scan[DOWN])
            if G[up] - G[down] > scan[TOLERANCE] and now.stalled == 0:
                return up, down
            scan[NEXT] = scan[STEPPED] = 0.0
        # --- a pass over all examples ---
        while scan[NEXT] < n:
            i = int(scan[NEXT])
            scan[NEXT] += 1.0
            if state.sides[i] != 0:
                j, k = examine(state, i, support)
                if j != k:
                    scan[STEPPED] = 1.0
                    return j, k
        # if the pass took no step, no example violates its optimality condition by more than 2τ
        if scan[STEPPED] == 0.0:
            scan[TOLERANCE], scan[NEXT] = now.gap / 2.0, 0.0
