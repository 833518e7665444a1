"""Hybrid maximum gain: maximum gain, with the most violating pair where it could stall."""

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
    """Most violating pair if both variables of the previous set stand at a bound, maximum gain otherwise.

    "At a bound" means within η(U − L): αᵢ ≤ Lᵢ + η(Uᵢ − Lᵢ) or αᵢ ≥ Uᵢ − η(Uᵢ − Lᵢ). In an open box η counts as 0. If a
    variable of the previous set is free and the point is not optimal, some pair that reselects it gains (Lemma 8), so
    in exact arithmetic the rule never stalls; it converges (Theorem 1).

    This is the rule of the paper. The authors' later C++ library differs: there small problems switch for good to
    another selector, and indices shrunk away are skipped. One thing is added here, for floating point: the most
    violating pair is also taken where the largest gain is rounding, or no reselection gains
    (`refsvm.core.selectors.gain.unless_negligible`).

    Parameters
    ----------
    eta : float
        η in [0, 0.5); the paper uses 1e-8 and reports hardly any difference to 0.
    rows : {2, 1, "all"}
        See `MaximumGain`.

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
            raise ValueError(f"eta={self.eta!r} is outside [0, 0.5); the paper uses 1e-8.")
        checked_rows(self.rows)

    def select(self, state: SolverState) -> tuple[int, int]:
        """Decide between the two rules, then apply one."""
        if state.gap <= 0.0:
            return -1, -1
        if state.working_sets[0, 0] >= 0 and not self._cornered(state):
            return unless_negligible(state, *best_reselection(state, self.rows))
        return state.top, state.bottom

    def _cornered(self, state: SolverState) -> bool:
        """Whether both variables of the previous working set stand at a bound, up to η(U − L)."""
        for k in state.working_sets[0].tolist():
            value, lower, upper = state.alpha[k], state.lower[k], state.upper[k]
            width = upper - lower
            margin = self.eta * width if width < math.inf else 0.0  # η ∞ is ∞, or NaN
            if value > lower + margin and value < upper - margin:
                return False
        return True

    def parameters(self) -> tuple[float, ...]:
        """Return (eta, rows), 0 standing for "all"."""
        return (self.eta, checked_rows(self.rows))
