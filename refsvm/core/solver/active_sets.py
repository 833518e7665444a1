"""Functions that choose the variables of a restricted problem.

At its lower bound αᵢ can only rise, which gains nothing while Gᵢ < min over I_down of G. At its upper bound αᵢ can only
fall, which gains nothing while Gᵢ > max over I_up of G. `distance_to_violation` returns how far Gᵢ is from this minimum
or this maximum.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from refsvm.core.state import SolverState

NONE: Final = np.empty(0, dtype=np.int64)


def distance_to_violation(state: SolverState) -> np.ndarray:
    """Return how much each Gᵢ must change until i is in a violating pair, shape (n,); ≤ 0 if i is in such a pair."""
    alpha, G = state.alpha, state.gradient
    rising = np.where(alpha < state.upper, G[state.bottom] - G, np.inf)
    falling = np.where(alpha > state.lower, G - G[state.top], np.inf)
    return np.minimum(rising, falling, out=rising)


def active_set(state: SolverState, multiple: int) -> np.ndarray:
    """Return the sorted indices of the active variables: the free variables, and the variables in violating pairs.

    The function adds the inactive variables nearest to a violation until `multiple` divides the number of indices.
    """
    alpha, distance = state.alpha, distance_to_violation(state)
    distance[(alpha < state.upper) & (alpha > state.lower)] = 0.0
    count = int((distance <= 0.0).sum())
    size = -(-count // multiple) * multiple
    if size >= len(alpha):
        return np.arange(len(alpha))
    # take the lowest indices among equal distances: argpartition's choice would depend on the processor
    last = np.partition(distance, size - 1)[size - 1]
    near, at_last = np.flatnonzero(distance < last), np.flatnonzero(distance == last)
    return np.sort(np.concatenate([near, at_last[: size - len(near)]]))


def block(state: SolverState, most: int) -> np.ndarray:
    """Return the sorted indices of all free variables and of the most violating bounded variables, at most `most`.

    The function also computes the missing kernel rows of the returned variables, because a few large products are far
    cheaper than one product for each row. The function returns an empty array if no row is missing, if the block would
    contain most of the problem's variables, or if the cache cannot hold the rows of the block.
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
