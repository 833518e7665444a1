"""Solve: a strategy that makes one call of `refsvm.solve`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Final

import numpy as np

from refsvm.analysis.solve import solve
from refsvm.core.engine.progress import Progress
from refsvm.core.result import Solution, Trace
from refsvm.core.selectors.base import WorkingSetSelector
from refsvm.core.solver.rules import chosen_rules
from refsvm.core.solver.shrinking import Shrinking
from refsvm.core.steps.base import StepRule
from refsvm.core.stopping.base import StoppingRule
from refsvm.experiment.problem import Instance
from refsvm.experiment.strategy import Call, Record, ShrinksAtOnce

STEP_RATIO_EDGES: Final = (-np.inf, -1.0, -0.1, 0.0, 0.1, 0.2, 0.5, 1.0, 10.0, 100.0, 1000.0, np.inf)
"""Bin edges of the histogram of μ/μ̂ − 1 over the planned steps of a traced run: [−∞, −1), [−1, −0.1), …, [1000, ∞]."""


@dataclass(frozen=True)
class Solve(Call):
    """A strategy that calls `refsvm.solve` once; its fields are the arguments of the call.

    Parameters
    ----------
    name : str
        Name in the tables.
    selector, step, stop : rules
        The rules; for a rule that is not given, the field contains the default of `refsvm.solve`.
    shrinking, cache_mb, engine, max_iter, time_limit
        As in `refsvm.solve`.
    trace : bool
        Whether to count the planned steps and compare their lengths with Newton steps.
    cache_dtype : {"auto", "float64", "float32"}
        As in `refsvm.solve`. Set `cache_dtype` when you compare rules by kernel rows or seconds: on large problems,
        "auto" stores float32 rows for some rules, and the budget then holds twice as many rows.

    Raises
    ------
    ValueError
        If the selector and the step rule cannot be combined, or a rule cannot be identified by value.

    Notes
    -----
    The record contains ``iterations``, ``kernel_rows``, ``kernel_hits``, ``seconds``, ``objective``,
    ``primal_objective``, ``duality_gap``, ``kkt_gap``, ``support_vectors``, ``bounded_support_vectors`` (at a bound
    other than zero), ``engine`` and ``status``. A run of a classifier adds ``training_error`` (share of misclassified
    examples). A run with `trace` adds ``free_steps``, ``planned_steps`` and ``step_ratio_histogram`` (over
    `STEP_RATIO_EDGES`).

    Examples
    --------
    >>> from functools import partial
    >>> from refsvm import PlanningAheadStep, RBF
    >>> from refsvm.datasets import load
    >>> from refsvm.experiment import Problem, Solve
    >>> heart = Problem("heart", partial(load, "heart"), kernel=RBF(0.005), C=1.0).instance()
    >>> planned = Solve("planned", step=PlanningAheadStep(), shrinking=False).run(heart)
    >>> planned["status"], round(planned["objective"], 2)
    ('CONVERGED', 129.6)
    """

    copied: ClassVar = (
        "iterations", "kernel_rows", "kernel_hits", "seconds", "objective", "primal_objective", "duality_gap",
        "kkt_gap", "engine",
    )  # fmt: skip

    selector: WorkingSetSelector | None = None
    step: StepRule | None = None
    stop: StoppingRule | None = None
    shrinking: bool | Shrinking = True
    cache_mb: float = 200.0
    engine: str = "auto"
    max_iter: int | None = None
    time_limit: float | None = None
    trace: bool = False
    cache_dtype: str = "auto"

    def __post_init__(self) -> None:
        rules = chosen_rules(self.selector, self.step, self.stop)
        # store default rules in the fields, so that a run has another identity if a default changes
        for role, rule in zip(("selector", "step", "stop"), rules, strict=True):
            object.__setattr__(self, role, rule)
        object.__setattr__(self, "cache_mb", float(self.cache_mb))
        super().__post_init__()

    def call(self, instance: Instance, **arguments: Any) -> Solution:
        """Solve the dual problem of an instance."""
        return solve(instance.dual(), **arguments)

    def solve(self, instance: Instance, callback: Callable[[Progress], object] | None = None) -> Solution:
        """Solve the dual problem and return the `Solution`; pass `callback` to `refsvm.solve`."""
        return self.call(instance, callback=callback, **self.arguments())

    def _warm_up(self) -> None:
        # load the code for shrinking before the seconds are measured, because a long run calls this code
        shrinking = replace(self, shrinking=ShrinksAtOnce()) if self.shrinking else self
        super(Solve, shrinking)._warm_up()

    def measured(self, result: Solution) -> Record:
        """Return the entries of a run's record, measured on a solution."""
        problem, alpha = result.problem, result.alpha
        at_bound = (alpha != 0.0) & ((alpha == problem.lower) | (alpha == problem.upper))
        record = super().measured(result) | {
            "support_vectors": int(np.count_nonzero(alpha)),
            "bounded_support_vectors": int(np.count_nonzero(at_bound)),
            "status": result.status.name,
        }
        if problem.has_labels:
            wrong = np.where(result.decision_values >= 0.0, 1.0, -1.0) != problem.v
            record["training_error"] = float(np.mean(wrong))
        return record if result.trace is None else record | of_trace(result.trace)


def of_trace(trace: Trace) -> Record:
    """Return the number of free steps and of planned steps in a trace, and the histogram of μ/μ̂ − 1."""
    planned = trace["planned"] == 1
    ratio = trace["step"][planned] / trace["newton"][planned] - 1.0
    counts, _ = np.histogram(ratio, bins=np.array(STEP_RATIO_EDGES))
    return {
        "free_steps": int(trace["free"].sum()),
        "planned_steps": int(planned.sum()),
        "step_ratio_histogram": counts.tolist(),
    }
