"""Maximum gain: the best pair among all pairs that need at most one new kernel row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from refsvm.core.selectors.base import WorkingSetSelector
from refsvm.core.selectors.gain import exact_gain
from refsvm.core.state import TAU, SolverState


@dataclass(frozen=True)
class MaximumGain(WorkingSetSelector):
    """Choose the pair with the largest exact gain among all pairs that share a variable with the last pair {k₁, k₂}.

    The kernel rows of k₁ and k₂ are in memory, because the last gradient update needed them. The scan therefore
    evaluates no kernel, and the step needs at most one new row. The first working set is the most violating pair.

    The rule may stall at a point that is not optimal (Theorem 7 gives a problem with four examples); the solve then
    ends with `Status.STALLED`. `HybridMaximumGain` does not stall, and does not choose a pair whose computed gain is
    only rounding error.

    Parameters
    ----------
    rows : {2, 1, "all"}
        Kernel rows that the rule scans, 2 by default. 2 means the rows of both variables of the last pair. 1 means only
        the row of the variable that was new in the last pair, so that each variable moves in two successive steps
        (§2.5). "all" means all rows in memory (§4.6); if memory holds the whole matrix, the rule compares all pairs.

    Raises
    ------
    ValueError
        If rows has another value.

    References
    ----------
    T. Glasmachers and C. Igel, "Maximum-gain working set selection for SVMs", JMLR 7, 2006, §2.3, §2.5, Theorem 7.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import DualProblem, Linear, MaximumGain, solve
    >>> X, y = np.array([[0.0], [1.0], [3.0]]), np.array([-1, -1, 1])
    >>> solve(DualProblem.classification(X, y, kernel=Linear()), selector=MaximumGain()).alpha
    array([ 0. , -0.5,  0.5])
    """

    rows: int | str = 2
    may_stall: ClassVar[bool] = True

    def __post_init__(self) -> None:
        checked_rows(self.rows)

    def select(self, state: SolverState) -> tuple[int, int]:
        """Return the most violating pair in the first step, and later the best pair {k, t} in all scanned rows k."""
        if state.working_sets[0, 0] < 0:
            return (state.top, state.bottom) if state.gap > 0.0 else (-1, -1)
        i, j, _ = best_reselection(state, self.rows)
        return i, j

    def parameters(self) -> tuple[float, ...]:
        """Return (rows,), where 0 stands for "all"."""
        return (checked_rows(self.rows),)


def best_reselection(state: SolverState, rows: int | str) -> tuple[int, int, float]:
    """Return i, j and 2g of the pair with the largest exact gain g in the scanned rows, or (−1, −1, 0) if no g > 0.

    The variable with the larger G comes first, because its α rises.
    """
    G, alpha = state.gradient, state.alpha
    rise, fall = state.upper - alpha, alpha - state.lower
    i, j, best = -1, -1, 0.0
    compared = rows_considered(state, rows)
    # fetch all rows before the scan begins, because a newly computed row may replace another row in memory
    for k in compared:
        state.row(k)
    for k in compared:
        # ℓ = |Gₖ − Gₜ|,  q = Kₖₖ + Kₜₜ − 2Kₖₜ
        difference = G[k] - G
        curvature = state.diagonal[k] + state.diagonal - 2.0 * state.row(k)
        curvature[~(curvature > 0.0)] = TAU
        rises = difference > 0.0
        room = np.where(rises, np.minimum(rise[k], fall), np.minimum(rise, fall[k]))
        gain = exact_gain(np.abs(difference), curvature, room)
        t = int(gain.argmax())
        if gain[t] > best:
            best = float(gain[t])
            i, j = (k, t) if rises[t] else (t, k)
    return i, j, best


def rows_considered(state: SolverState, rows: int | str) -> list[int]:
    """Return the variables k whose kernel rows the scan uses, in the order of the scan."""
    if rows == "all":
        return [int(k) for k in np.flatnonzero(state.rows.slots >= 0)]
    first, second = state.working_sets[0].tolist()
    if rows == 2:
        return [first, second]
    return [second] if first in state.working_sets[1].tolist() else [first]


def checked_rows(rows: int | str) -> float:
    """Return `rows` as a number, where 0 stands for "all"."""
    if isinstance(rows, complex | np.ndarray) or rows not in (1, 2, "all"):
        raise ValueError(f'rows={rows!r} is unknown; give 2 (the paper\'s rule), 1 or "all".')
    return 0.0 if rows == "all" else float(rows)
