"""Selects the kernel rows of a run and the guards that the run needs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, cast

from refsvm.core.engine.limits import Limits
from refsvm.core.guards.base import Guard
from refsvm.core.guards.rounding import FreshGradient, Snap
from refsvm.core.kernels.rows import KernelRows
from refsvm.core.problem import DualProblem
from refsvm.core.rule import Rule, is_builtin
from refsvm.core.solver.options import RunOptions
from refsvm.services.float32 import SHARE_OF_TOLERANCE, float64_rows, rows_for
from refsvm.services.guards.float32 import Float32Rows
from refsvm.services.guards.kernel_values import Indefinite, Noise
from refsvm.services.guards.polish import Polish
from refsvm.services.guards.users_rules import ChosenPair, FeasiblePoint, LongSolve, NoStepGuard


def rows_and_guards(
    problem: DualProblem, options: RunOptions, limits: Limits[Any], rows: KernelRows | None = None,
    reads_values: bool = False,
) -> tuple[KernelRows, list[Guard]]:  # fmt: skip
    """Return the kernel rows of a run, and its guards in the order in which they are called.

    Parameters
    ----------
    problem, options, limits, rows, reads_values
        As in `refsvm.core.solver.options.rows_and_guards`.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import RBF, DualProblem
    >>> from refsvm.core.engine.limits import Limits
    >>> from refsvm.core.solver.options import RunOptions
    >>> from refsvm.services.guards.chosen import rows_and_guards
    >>> problem = DualProblem.classification(np.array([[0.0], [1.0]]), [-1, 1], kernel=RBF(0.5))
    >>> rows, guards = rows_and_guards(problem, RunOptions(), Limits(n=2))
    >>> [type(guard).__name__ for guard in guards]
    ['FeasiblePoint', 'ChosenPair', 'LongSolve', 'FreshGradient', 'Snap']
    """
    rows = rows or rows_for(problem, options)
    applies: list[tuple[bool, Callable[[], Guard]]] = [
        (True, FeasiblePoint),
        (True, ChosenPair),
        (True, LongSolve),
        (True, FreshGradient),
        (not is_builtin(cast("type[Rule]", type(options.shrinking))), lambda: NoStepGuard(options.shrinking)),
        (options.polish, Polish),  # polish before `Snap`, because polishing may move α slightly off a bound
        (True, Snap),
        (rows.facts.keeps_float32, lambda: float32_guard(problem, options, limits, rows, reads_values)),
        (not rows.facts.is_psd, Indefinite),
        (rows.gram.facts.kernel_error != 0.0, Noise),
    ]
    return rows, [guard() for does, guard in applies if does]


def float32_guard(
    problem: DualProblem, options: RunOptions, limits: Limits[Any], rows: KernelRows, reads_values: bool
) -> Float32Rows:
    """Return the guard of float32 rows; unless the user chose float32, the guard may replace these rows."""
    may_leave = options.cache_dtype == "auto" and not rows.exact.facts.keeps_float32
    in_float64 = partial(float64_rows, problem, options) if may_leave else None
    # if the caller computes decision values from G, the error of G must not exceed a tenth of the tolerance
    return Float32Rows(limits, in_float64, SHARE_OF_TOLERANCE if reads_values else 1.0)
