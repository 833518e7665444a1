"""float32 rows: when a solve begins on them. A guard (`guards.float32`) watches how far their rounding moves it."""

from __future__ import annotations

from typing import Final

from refsvm.core.kernels.matrix import KernelMatrix
from refsvm.core.kernels.precision import (
    FLOAT32_FROM,
    FLOAT32_TOLERANCE,
    ROUNDING,
    SHARE_OF_TOLERANCE,
    largest_value,
)
from refsvm.core.kernels.rows import megabytes
from refsvm.core.problem import DualProblem
from refsvm.core.selectors import ConjugateSecondOrder, SecondOrder
from refsvm.core.solver.rules import Rules
from refsvm.core.steps import ConjugateStep, NewtonStep, PlanningAheadStep
from refsvm.core.stopping import KKTGap

FLOAT32_CROWDED_FROM: Final = 10_000
"""Variables from which on they pay for every kernel where not all rows fit the budget as float64."""

READ_FLOAT32: Final = {
    (SecondOrder, NewtonStep, KKTGap),
    (SecondOrder, PlanningAheadStep, KKTGap),
    (SecondOrder, ConjugateStep, KKTGap),
    (ConjugateSecondOrder, ConjugateStep, KKTGap),
}
"""Rules whose twins are built into a compiled loop together, which is compiled for float32 rows too."""


def reads_float32(rules: Rules) -> bool:
    """Whether all three rules read float32 rows as they are."""
    return tuple(map(type, rules)) in READ_FLOAT32


def begins_in_float32(problem: DualProblem, rules: Rules, cache_mb: float) -> bool:
    """Whether a solve of this problem begins on float32 rows: they pay, and one α at its bound does no harm.

    What all α do together is known when they are (`refsvm.core.solver.run.Run`).
    """
    gram, crowded = problem.gram, megabytes(problem.n, problem.n) > cache_mb
    if not float32_pays(gram, rules.stop.tolerance, reads_float32(rules), crowded=crowded):
        return False
    C = max(float(-problem.lower.min()), float(problem.upper.max()))
    return 2.0 * ROUNDING * largest_value(gram) * C <= SHARE_OF_TOLERANCE * rules.stop.tolerance


def float32_pays(gram: KernelMatrix, tolerance: float, reads_float32: bool, *, crowded: bool = False) -> bool:
    """Whether a solve is faster on float32 values, and its tolerance is none that they never allow.

    Parameters
    ----------
    gram : KernelMatrix
    tolerance : float
        Of the stopping rule.
    reads_float32 : bool
        Whether the rules read float32 rows as they are.
    crowded : bool
        Whether not all rows fit the budget as float64.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import RBF
    >>> from refsvm.core.kernels import Gram
    >>> from refsvm.services.float32 import float32_pays
    >>> gram = Gram(RBF(0.5), np.linspace(0.0, 1.0, 3000)[:, None])
    >>> float32_pays(gram, 1e-3, True), float32_pays(gram, 1e-5, True)
    (True, False)
    """
    if gram.n < FLOAT32_FROM or tolerance < FLOAT32_TOLERANCE:
        return False
    # twice as many rows in the budget save more than rules lose that have to read copies
    if crowded and gram.n >= FLOAT32_CROWDED_FROM:
        return True
    return reads_float32 and gram.supports_float32
