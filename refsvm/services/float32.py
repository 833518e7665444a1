"""Decides whether a solve starts on float32 rows; `guards.float32` checks how far rounding changes the result."""

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
"""With at least this many variables, float32 rows save time, if they are computed and read as float32."""

FLOAT32_TOLERANCE: Final = LOOSE_FROM
"""Smallest tolerance of the stopping rule that permits float32 rows."""

SHARE_OF_TOLERANCE: Final = 0.1
"""Largest error of a decision value that rounding may cause, as a fraction of the tolerance."""

FLOAT32_CROWDED_FROM: Final = 10_000
"""With at least this many variables, float32 saves time for any kernel, if the cache cannot hold all float64 rows."""

READ_FLOAT32: Final = {
    (SecondOrder, NewtonStep, KKTGap),
    (SecondOrder, PlanningAheadStep, KKTGap),
    (SecondOrder, ConjugateStep, KKTGap),
    (ConjugateSecondOrder, ConjugateStep, KKTGap),
}
"""Selectors, steps and stopping rules whose compiled loop can also read float32 rows."""


def rows_for(problem: DualProblem, options: RunOptions) -> KernelRows:
    """Return storage for kernel rows in `cache_dtype`; "auto" chooses float32 if it is faster and exact enough."""
    rules, dtype, budget = options.rules, options.cache_dtype, options.cache_mb
    proves = isinstance(options.shrinking, SafeScreening)  # screening needs float64 kernel values
    may_begin = dtype == "auto" and options.shrinking and not proves and problem.n >= FLOAT32_FROM
    if dtype == "float32" or (may_begin and begins_in_float32(problem.centred, rules, budget)):
        read = np.float32 if reads_float32(rules) else np.float64
        return row_store(problem, rules, budget, np.float32, read)
    return row_store(problem, rules, budget)


def float64_rows(problem: DualProblem, options: RunOptions) -> KernelRows:
    """Return storage for float64 kernel rows; a run that started on float32 rows can continue on these rows."""
    # make new storage: the present rows are float32
    n, gram = problem.n, problem.centred.gram.exact
    needed = rows_at_once(options.rules, n)
    return stored_rows(gram, max(options.cache_mb, megabytes(needed, n)), at_least=needed)


def reads_float32(rules: Rules) -> bool:
    """Return whether selector, step and stopping rule accept float32 rows without a copy."""
    return tuple(map(type, rules)) in READ_FLOAT32


def begins_in_float32(problem: DualProblem, rules: Rules, cache_mb: float) -> bool:
    """Return whether float32 rows save time, and the rounding error that a single α causes in G is small enough.

    During the solve, `refsvm.services.guards.float32` checks the rounding error that all α cause together.
    """
    gram, crowded = problem.gram, megabytes(problem.n, problem.n) > cache_mb
    if not float32_pays(gram, rules.stop.tolerance, reads_float32(rules), crowded=crowded):
        return False
    C = max(float(-problem.lower.min()), float(problem.upper.max()))
    return 2.0 * ROUNDING * largest_value(gram) * C <= SHARE_OF_TOLERANCE * rules.stop.tolerance


def float32_pays(gram: KernelMatrix, tolerance: float, reads_float32: bool, *, crowded: bool = False) -> bool:
    """Return whether float32 values make a solve faster, and the tolerance of the solve permits float32.

    Parameters
    ----------
    gram : KernelMatrix
        The kernel matrix.
    tolerance : float
        Tolerance of the stopping rule.
    reads_float32 : bool
        Whether the rules accept float32 rows without a copy.
    crowded : bool
        Whether the cache is too small to contain all float64 rows.

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
    # the cache holds twice as many float32 rows; this saves more time than the conversion of rows to float64 takes
    if crowded and gram.n >= FLOAT32_CROWDED_FROM:
        return True
    return reads_float32 and gram.supports_float32
