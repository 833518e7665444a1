"""RunOptions: what a run can be asked for, checked once and handed down whole."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Any, Final

import numpy as np

from refsvm.core._checks import positive_or_inf
from refsvm.core.engine.limits import Deadline
from refsvm.core.engine.progress import Progress
from refsvm.core.rule import PlainNumbers
from refsvm.core.selectors.base import WorkingSetSelector
from refsvm.core.solver.rules import Rules, chosen_rules
from refsvm.core.solver.shrinking import NoShrinking, Restriction, Shrinking
from refsvm.core.steps.base import StepRule
from refsvm.core.stopping.base import StoppingRule


@dataclass(frozen=True, kw_only=True, eq=False)
class RunOptions(PlainNumbers):
    """The options of `refsvm.solve` and `refsvm.Rounds`, by their names and with their defaults.

    Attributes
    ----------
    told : Progress or None
        That of the call, which its solves keep up to date.
    rules : Rules
        The selector, the step and the stopping rule, those that are not named by default.

    Raises
    ------
    ValueError
        On arguments out of range, and rules that do not fit together.

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
    told: Progress | None = None
    rules: Rules = field(init=False)

    def __post_init__(self) -> None:
        if (dtype := self.cache_dtype) not in ("auto", "float64", "float32"):
            raise ValueError(f'cache_dtype={dtype!r} is unknown; choose "auto", "float64" or "float32".')
        if isinstance(shrinks := self.shrinking, bool | np.bool_):
            shrinks = Restriction() if shrinks else NoShrinking()
        self.__dict__.update(
            rules=chosen_rules(self.selector, self.step, self.stop), shrinking=Shrinking.checked("shrinking", shrinks),
            cache_mb=positive_or_inf("cache_mb", self.cache_mb), time_limit=Deadline.after(self.time_limit),
        )  # fmt: skip


OPTIONS: Final = tuple(each.name for each in fields(RunOptions) if each.init and each.name != "told")
"""Names of the options."""
