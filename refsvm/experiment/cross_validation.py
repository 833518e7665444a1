"""CrossValidate: the strategy that cross-validates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from refsvm.experiment.problem import Instance
from refsvm.experiment.strategy import Record, Strategy, one_thread
from refsvm.kernels import RBF
from refsvm.resampling.cross_validation import cross_validate
from refsvm.result import Status
from refsvm.seeders import SIR, Seeder
from refsvm.selectors import WorkingSetSelector
from refsvm.steps import StepRule
from refsvm.stopping import KKTGap, StoppingRule

__all__ = ["CrossValidate"]


@dataclass(frozen=True)
class CrossValidate(Strategy):
    """One call of `refsvm.cross_validate`, its arguments by the same names.

    The folds are neighbours in the order of the examples, which the experiment makes random: each permutation has
    folds of its own, the same for every strategy.

    Parameters
    ----------
    name : str
        Name in the tables.
    seeder : Seeder
    folds : int
        As many as examples, or more: leave-one-out.
    from_full : bool
    stop : StoppingRule
    selector, step : rules, optional
    cache_mb : float
    engine : {"auto", "numba", "numpy"}

    Notes
    -----
    The metrics are ``error``, ``iterations``, ``kernel_rows``, ``seed_seconds``, ``rest_seconds`` (all but the seeds),
    ``seconds`` and ``unfinished``, the number of rounds that are not solved to the tolerance.

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

    seeder: Seeder = SIR()  # noqa: RUF009 (a frozen object)
    folds: int = 10
    from_full: bool = True
    stop: StoppingRule = KKTGap()  # noqa: RUF009
    selector: WorkingSetSelector | None = None
    step: StepRule | None = None
    cache_mb: float = 200.0
    engine: str = "auto"

    def run(self, instance: Instance) -> Record:
        """Cross-validate."""
        with one_thread():
            result = cross_validate(
                instance.X,
                instance.y,
                kernel=instance.kernel,
                C=instance.C,
                **self.arguments() | {"folds": min(self.folds, len(instance.y))},
            )
        if result.status is Status.INTERRUPTED:
            raise KeyboardInterrupt
        statuses = [each.status for each in result.rounds]
        return {
            "error": result.error,
            "iterations": result.iterations,
            "kernel_rows": result.kernel_rows,
            "seed_seconds": result.seed_seconds,
            "rest_seconds": result.seconds - result.seed_seconds,
            "seconds": result.seconds,
            "unfinished": sum(status is not Status.CONVERGED for status in statuses),
        }

    def warm_up(self) -> None:
        """Cross-validate on eight points."""
        X, y = np.arange(8.0)[:, None], np.array([-1.0, 1.0, 1.0, -1.0, 1.0, -1.0, 1.0, -1.0])
        self.run(Instance(X, y, RBF(1.0), 1.0))
