"""float32 rows: when a solve begins on them. A guard (`guards.float32`) watches how far their rounding moves it."""

from __future__ import annotations

from typing import Final

import numpy as np

from refsvm.core.kernels.cached_rows import stored_rows
from refsvm.core.kernels.matrix import KernelMatrix
from refsvm.core.kernels.precision import ROUNDING, largest_value
from refsvm.core.kernels.rows import KernelRows, megabytes
from refsvm.core.problem import DualProblem
from refsvm.core.selectors import ConjugateSecondOrder, SecondOrder
from refsvm.core.solver.options import RunOptions
from refsvm.core.solver.rules import Rules, row_store, rows_at_once
from refsvm.core.solver.safe_screening import SafeScreening
from refsvm.core.solver.shrinking import LARGE_FROM, LOOSE_FROM
from refsvm.core.steps import ConjugateStep, NewtonStep, PlanningAheadStep
from refsvm.core.stopping import KKTGap

FLOAT32_FROM: Final = LARGE_FROM
"""Variables from which on float32 rows pay where they are computed and read so."""

FLOAT32_TOLERANCE: Final = LOOSE_FROM
"""Least tolerance of the stopping rule for float32 rows."""

SHARE_OF_TOLERANCE: Final = 0.1
"""Most that rounding may move a decision value, as a share of the tolerance."""

FLOAT32_CROWDED_FROM: Final = 10_000
"""Variables from which on they pay for every kernel where not all rows fit the budget as float64."""

READ_FLOAT32: Final = {
    (SecondOrder, NewtonStep, KKTGap),
    (SecondOrder, PlanningAheadStep, KKTGap),
    (SecondOrder, ConjugateStep, KKTGap),
    (ConjugateSecondOrder, ConjugateStep, KKTGap),
}
"""Rules whose twins are built into a compiled loop together, which is compiled for float32 rows too."""


def rows_for(problem: DualProblem, options: RunOptions) -> KernelRows:
    """Return memory for the kernel rows of a run, of the type that its options ask for, or of the type that pays."""
    rules, dtype, budget = options.rules, options.cache_dtype, options.cache_mb
    proves = isinstance(options.shrinking, SafeScreening)  # of exact kernel values
    may_begin = dtype == "auto" and options.shrinking and not proves and problem.n >= FLOAT32_FROM
    if dtype == "float32" or (may_begin and begins_in_float32(problem.centred, rules, budget)):
        read = np.float32 if reads_float32(rules) else np.float64
        return row_store(problem, rules, budget, np.float32, read)
    return row_store(problem, rules, budget)


def float64_rows(problem: DualProblem, options: RunOptions) -> KernelRows:
    """Return memory for the same kernel rows as float64, for a run that has begun on float32 rows."""
    # not the store before it: that holds the float32 values which the solve is leaving
    n, gram = problem.n, problem.centred.gram.exact
    needed = rows_at_once(options.rules, n)
    return stored_rows(gram, max(options.cache_mb, megabytes(needed, n)), at_least=needed)


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
