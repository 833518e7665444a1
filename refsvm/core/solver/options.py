"""RunOptions: checks the options of a run once, and holds them in one object."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Any, Final

import numpy as np

from refsvm.core._checks import positive_or_inf
from refsvm.core.doors import DOORS
from refsvm.core.engine.limits import Deadline, Limits
from refsvm.core.engine.progress import Progress
from refsvm.core.guards.base import Guard
from refsvm.core.guards.rounding import FreshGradient, Snap
from refsvm.core.kernels.rows import KernelRows
from refsvm.core.problem import DualProblem
from refsvm.core.selectors.base import WorkingSetSelector
from refsvm.core.solver.rules import Rules, chosen_rules, row_store
from refsvm.core.solver.shrinking import NoShrinking, Restriction, Shrinking
from refsvm.core.steps.base import StepRule
from refsvm.core.stopping.base import StoppingRule

RESTRICTION: Final = Restriction()
NO_SHRINKING: Final = NoShrinking()


@dataclass(frozen=True, kw_only=True, eq=False)
class RunOptions:
    """The options of `refsvm.solve` and `refsvm.Rounds`, with the same names and defaults.

    Attributes
    ----------
    progress : Progress or None
        The progress report, which all solves of the call update.
    rows_and_guards : callable
        Function that makes the kernel rows and the guards of a run; by default the function in `refsvm.core.doors`.
    rules : Rules
        The selector, the step rule and the stopping rule, with defaults filled in.

    Raises
    ------
    ValueError
        If an argument is out of range, or the selector and the step rule cannot be combined.

    Examples
    --------
    >>> from refsvm.core.solver.options import RunOptions
    >>> options = RunOptions(shrinking=False)
    >>> options.shrinking, options.time_limit.is_set, options.rules.stop
    (NoShrinking(), False, KKTGap(tol=0.001, relative=False))
    """

    selector: WorkingSetSelector | None = None
    step: StepRule | None = None
    stop: StoppingRule | None = None
    engine: str = "auto"
    shrinking: Any = True
    cache_mb: float = 200.0
    cache_dtype: str = "auto"
    max_iter: int | None = None
    time_limit: Any = None
    callback: Callable[[Any], object] | None = None
    trace: bool | int = False
    polish: bool = False
    n_jobs: int | None = None
    progress: Progress | None = None
    rows_and_guards: Callable[..., tuple[KernelRows, list[Guard]]] = field(
        default_factory=lambda: DOORS.rows_and_guards or rows_and_guards
    )
    rules: Rules = field(init=False)

    def __post_init__(self) -> None:
        if (dtype := self.cache_dtype) not in ("auto", "float64", "float32"):
            raise ValueError(f'cache_dtype={dtype!r} is unknown; choose "auto", "float64" or "float32".')
        if isinstance(shrinks := self.shrinking, bool | np.bool_):
            shrinks = RESTRICTION if shrinks else NO_SHRINKING
        else:
            shrinks = Shrinking.checked("shrinking", shrinks)
        self.__dict__.update(
            rules=chosen_rules(self.selector, self.step, self.stop), shrinking=shrinks,
            cache_mb=positive_or_inf("cache_mb", self.cache_mb), time_limit=Deadline.after(self.time_limit),
        )  # fmt: skip


INTERNAL: Final = {"progress", "rows_and_guards"}
"""Options that public functions set and that users cannot set."""

OPTIONS: Final = tuple(each.name for each in fields(RunOptions) if each.init and each.name not in INTERNAL)
"""Names of the options that users can set."""


def rows_and_guards(
    problem: DualProblem, options: RunOptions, limits: Limits[Any], rows: KernelRows | None = None,
    reads_values: bool = False,
) -> tuple[KernelRows, list[Guard]]:  # fmt: skip
    """Return the kernel rows of a run, in float64, and its guards, which correct rounding errors.

    Parameters
    ----------
    problem : DualProblem
    options : RunOptions
    limits : Limits
        The limits of the run.
    rows : KernelRows, optional
        Rows that several runs share; new rows by default.
    reads_values : bool
        True if the caller reads decision values from G; the guards then set a stricter limit for the error of G.
    """
    return rows or row_store(problem, options.rules, options.cache_mb), [FreshGradient(), Snap()]
