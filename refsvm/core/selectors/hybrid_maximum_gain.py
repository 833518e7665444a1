"""Hybrid maximum gain: takes the pair of maximum gain, or the most violating pair if maximum gain could stall."""

from __future__ import annotations

import math
from dataclasses import dataclass

from refsvm.core._checks import real
from refsvm.core.selectors.base import WorkingSetSelector
from refsvm.core.selectors.gain import unless_negligible
from refsvm.core.selectors.maximum_gain import best_reselection, checked_rows
from refsvm.core.state import SolverState


@dataclass(frozen=True)
class HybridMaximumGain(WorkingSetSelector):
    """Choose the pair of maximum gain, or the most violating pair if both variables of the last pair are at a bound.

    "At a bound" means within η(U − L): αᵢ ≤ Lᵢ + η(Uᵢ − Lᵢ) or αᵢ ≥ Uᵢ − η(Uᵢ − Lᵢ). If U − L is infinite, η counts as
    0. If a variable of the previous working set is free and the point is not optimal, some pair that contains this
    variable has a positive gain (Lemma 8). In exact arithmetic the rule therefore never stalls, and converges (Theorem
    1).

    The class implements the paper's rule with one addition for floating point: the rule also takes the most violating
    pair if the largest gain is only rounding error, or if no pair has a positive gain
    (`refsvm.core.selectors.gain.unless_negligible`). The authors' later C++ library switches to another selector on
    small problems, and ignores variables that shrinking has removed.

    Parameters
    ----------
    eta : float
        Distance η, relative to the box's width, within which a variable counts as bounded; in [0, 0.5). The paper uses
        1e-8 and reports almost the same results for η = 0.
    rows : {2, 1, "all"}
        Kernel rows that the rule scans for the best pair, as in `MaximumGain`.

    Raises
    ------
    ValueError
        If eta or rows is out of range.

    References
    ----------
    T. Glasmachers and C. Igel, "Maximum-gain working set selection for SVMs", JMLR 7, 2006, §2.4, Theorem 1, Lemma 8.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import DualProblem, HybridMaximumGain, Linear, solve
    >>> X, y = np.array([[0.0], [1.0], [3.0]]), np.array([-1, -1, 1])
    >>> solve(DualProblem.classification(X, y, kernel=Linear()), selector=HybridMaximumGain()).alpha
    array([ 0. , -0.5,  0.5])
    """

    eta: float = 1e-8
    rows: int | str = 2

    def __post_init__(self) -> None:
        if not 0.0 <= real("eta", self.eta) < 0.5:
            raise ValueError(f"eta={self.eta!r} is outside [0, 0.5); give e.g. 1e-8, as in the paper.")
        checked_rows(self.rows)

    def select(self, state: SolverState) -> tuple[int, int]:
        """Return the most violating pair or the pair of maximum gain."""
        if state.gap <= 0.0:
            return -1, -1
        if state.working_sets[0, 0] >= 0 and not self._cornered(state):
            return unless_negligible(state, *best_reselection(state, self.rows))
        return state.top, state.bottom

    def _cornered(self, state: SolverState) -> bool:
        """Return True if both variables of the previous working set are at a bound, up to η(U − L)."""
        for k in state.working_sets[0].tolist():
            value, lower, upper = state.alpha[k], state.lower[k], state.upper[k]
            # η·∞ would be ∞ or NaN
            margin = self.eta * width if (width := upper - lower) < math.inf else 0.0
            if value > lower + margin and value < upper - margin:
                return False
        return True

    def parameters(self) -> tuple[float, ...]:
        """Return (eta, rows), where 0 stands for "all"."""
        return (self.eta, checked_rows(self.rows))
