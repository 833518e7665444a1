"""Constant-factor violating pair: the first partner whose violation is large enough."""

from __future__ import annotations

from dataclasses import dataclass

from refsvm.core._checks import real
from refsvm.core.selectors.base import WorkingSetSelector
from refsvm.core.state import SolverState


@dataclass(frozen=True)
class ConstantFactor(WorkingSetSelector):
    """i = argmax of G over I_up,  j = the first of I_down with Gᵢ − Gⱼ ≥ σ (max G over I_up − min G over I_down).

    With any σ > 0 decomposition converges. It needs no kernel row; σ = 1 is `refsvm.MostViolatingPair`.

    Parameters
    ----------
    factor : float
        σ in (0, 1].

    Raises
    ------
    ValueError
        If factor is out of range.

    References
    ----------
    P.-H. Chen, R.-E. Fan and C.-J. Lin, "A study on SMO-type decomposition methods for support vector machines", IEEE
    Transactions on Neural Networks 17, 2006.
    """

    factor: float = 0.5

    def __post_init__(self) -> None:
        if not 0.0 < real("factor", self.factor) <= 1.0:
            raise ValueError(f"factor={self.factor!r} is outside (0, 1]; give 1 for the most violating pair.")

    def select(self, state: SolverState) -> tuple[int, int]:
        """Scan I_down once."""
        if state.gap <= 0.0:
            return -1, -1
        i = state.top
        violation = state.gradient[i] - state.gradient
        is_enough = (state.alpha > state.lower) & (violation >= self.factor * state.gap)
        return i, int(is_enough.argmax())
