"""CrossValidate: a strategy that runs one cross-validation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from refsvm.analysis.resampling import CrossValidation
from refsvm.analysis.resampling.cross_validate import cross_validate
from refsvm.core.result import Status
from refsvm.core.seeders.base import Seeder
from refsvm.core.seeders.sir import SIR
from refsvm.core.selectors.base import WorkingSetSelector
from refsvm.core.steps.base import StepRule
from refsvm.core.stopping.base import StoppingRule
from refsvm.core.stopping.kkt_gap import KKTGap
from refsvm.experiment.problem import Instance
from refsvm.experiment.strategy import Call, Record


@dataclass(frozen=True)
class CrossValidate(Call):
    """A strategy that calls `refsvm.cross_validate` once, for any task; its fields are the arguments of the call.

    The experiment puts the examples into random orders, and a fold consists of consecutive examples of one order. Each
    order therefore has its own folds, which all strategies use.

    Parameters
    ----------
    name : str
        Name in the tables.
    seeder : Seeder
        As in `refsvm.cross_validate`.
    folds : int
        Number of folds; if `folds` is at least the number of examples, the strategy runs leave-one-out.
    from_full, stop, selector, step, cache_mb, engine
        As in `refsvm.cross_validate`.

    Notes
    -----
    The metrics are the scores of the task (``error``; for regression ``rmse``, ``mae`` and ``r2``; for novelty
    detection ``outside``), ``iterations``, ``kernel_rows``, ``seed_seconds``, ``rest_seconds`` (all seconds except
    for the seeds), ``seconds``, and ``unfinished``, the number of rounds not solved to the tolerance.

    Examples
    --------
    >>> from functools import partial
    >>> from refsvm import ATO, RBF
    >>> from refsvm.datasets import load
    >>> from refsvm.experiment import CrossValidate, Problem
    >>> heart = Problem("heart", partial(load, "heart"), kernel=RBF(0.005), C=1.0).instance()
    >>> record = CrossValidate("ATO", seeder=ATO(), folds=10).run(heart)
    >>> round(record["error"], 2), record["kernel_rows"], record["unfinished"]
    (0.17, 270, 0)
    """

    copied: ClassVar = ("iterations", "kernel_rows", "seed_seconds", "seconds")

    seeder: Seeder = SIR()  # noqa: RUF009 (a frozen object)
    folds: int = 10
    from_full: bool = True
    stop: StoppingRule = KKTGap()  # noqa: RUF009
    selector: WorkingSetSelector | None = None
    step: StepRule | None = None
    cache_mb: float = 200.0
    engine: str = "auto"

    def call(self, instance: Instance, **arguments: Any) -> CrossValidation:
        """Run the cross-validation on an instance."""
        arguments["folds"] = min(self.folds, len(instance.y))
        return cross_validate(**instance.arguments(), **arguments)

    def measured(self, result: CrossValidation) -> Record:
        """Return the scores and the costs of a cross-validation."""
        record = result.scores | super().measured(result)
        return record | {
            "rest_seconds": result.seconds - result.seed_seconds,
            "unfinished": sum(each.status is not Status.CONVERGED for each in result.rounds),
        }
