"""The variables of a restricted solve.

All of it is read off one quantity. At its lower bound αᵢ can only rise, which gains nothing while Gᵢ < min over I_down
of G; at its upper bound it can only fall, which gains nothing while Gᵢ > max over I_up of G. How far Gᵢ is from that
limit tells how far the variable is from taking part in a violating pair (`distance_to_violation`).
"""

from __future__ import annotations

from typing import Final

import numpy as np

from refsvm.core.state import SolverState

NONE: Final = np.empty(0, dtype=np.int64)


def distance_to_violation(state: SolverState) -> np.ndarray:
    """Return the distance in G of each variable from a violating pair, shape (n,); not positive: it is in one."""
    alpha, G = state.alpha, state.gradient
    rising = np.where(alpha < state.upper, G[state.bottom] - G, np.inf)
    falling = np.where(alpha > state.lower, G - G[state.top], np.inf)
    return np.minimum(rising, falling, out=rising)


def active_set(state: SolverState, multiple: int) -> np.ndarray:
    """Return all variables but those that their gradient keeps at a bound, sorted.

    Filled up to a multiple of `multiple` with those that are nearest to a violation.
    """
    alpha, distance = state.alpha, distance_to_violation(state)
    distance[(alpha < state.upper) & (alpha > state.lower)] = 0.0
    count = int((distance <= 0.0).sum())
    size = -(-count // multiple) * multiple
    if size >= len(alpha):
        return np.arange(len(alpha))
    # of equal distances the first indices: a partition by itself takes those that suit the processor
    last = np.partition(distance, size - 1)[size - 1]
    near, at_last = np.flatnonzero(distance < last), np.flatnonzero(distance == last)
    return np.sort(np.concatenate([near, at_last[: size - len(near)]]))


def block(state: SolverState, most: int) -> np.ndarray:
    """Return the free variables and the most violating of the others, up to `most`, half on each side; sorted.

    Their missing kernel rows, which are computed here in few products, are far cheaper so than one by one. Empty if
    nothing is missing, or if the block would be most of the problem or more than the budget holds.
    """
    alpha, G, evaluator = state.alpha, state.gradient, state.rows.evaluator
    bound = (alpha == state.upper) | (alpha == state.lower)
    up = np.flatnonzero(bound & (alpha < state.upper) & (G[state.bottom] < G))
    down = np.flatnonzero(bound & (alpha > state.lower) & (G[state.top] > G))
    first = up[np.argsort(-G[up], kind="stable")[: most // 2]]
    second = down[np.argsort(G[down], kind="stable")[: most // 2]]
    B = np.unique(np.concatenate([np.flatnonzero(~bound), first, second]))
    missing = state.rows.indices[B][evaluator.slots[state.rows.indices[B]] < 0]
    if not len(missing) or len(B) > min(0.8 * len(alpha), evaluator.capacity):
        return NONE
    for start in range(0, len(missing), 128):
        evaluator.fetch(missing[start : start + 128])
    return B
