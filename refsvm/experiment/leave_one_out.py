"""LeaveOneOutError: a strategy that runs leave-one-out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Final

import numpy as np

from refsvm.analysis.resampling import LeaveOneOut
from refsvm.analysis.resampling.leave_one_out import leave_one_out
from refsvm.analysis.resampling.results import DECIDERS
from refsvm.analysis.resampling.task_table import OTHER_CLASS
from refsvm.core.rounds.sufficiency import CHECKS, chosen_checks
from refsvm.core.seeders.base import Seeder
from refsvm.core.seeders.top import TOP
from refsvm.core.selectors.base import WorkingSetSelector
from refsvm.core.steps.base import StepRule
from refsvm.core.stopping.base import StoppingRule
from refsvm.core.stopping.kkt_gap import KKTGap
from refsvm.experiment.problem import Instance
from refsvm.experiment.strategy import Call, Record

RULES: Final = DECIDERS[3:]
"""The reasons that may decide an example during a round."""


@dataclass(frozen=True)
class LeaveOneOutError(Call):
    """A strategy that calls `refsvm.leave_one_out` once, for any task; its fields are the arguments of the call.

    Parameters
    ----------
    name : str
        Name in the tables.
    seeder, stop, selector, step, checks, efficiency_test, cache_mb, engine, max_iter
        As in `refsvm.leave_one_out`.

    Notes
    -----
    The metrics are the scores of the task (``error``; for regression ``rmse``, ``mae`` and ``r2``; for novelty
    detection ``outside``), ``iterations`` (rounds and full solution), ``round_iterations`` (rounds only), ``rounds``,
    ``kernel_rows``, ``seconds``, ``full_iterations``, ``full_seconds``, and the number of examples that each check and
    rule decided (with several classes, summed over the pairs). ``early`` is the share of rounds that a rule for
    left-out examples ended, and ``unfinished`` is the number of examples whose models are not solved.

    Examples
    --------
    >>> from functools import partial
    >>> from refsvm import AVG, RBF
    >>> from refsvm.datasets import load
    >>> from refsvm.experiment import LeaveOneOutError, Problem
    >>> heart = Problem("heart", partial(load, "heart"), kernel=RBF(0.005), C=1.0).instance()
    >>> record = LeaveOneOutError("AVG", seeder=AVG()).run(heart)
    >>> round(record["error"], 4), record["zero alpha"], record["rounds"]
    (0.1444, 112, 118)
    """

    copied: ClassVar = ("iterations", "kernel_rows", "seconds", "engine")

    seeder: Seeder = TOP()  # noqa: RUF009 (a frozen object)
    stop: StoppingRule = KKTGap()  # noqa: RUF009
    selector: WorkingSetSelector | None = None
    step: StepRule | None = None
    checks: tuple[str, ...] = CHECKS
    efficiency_test: bool = True
    cache_mb: float = 200.0
    engine: str = "auto"
    max_iter: int | None = None

    def call(self, instance: Instance, **arguments: Any) -> LeaveOneOut:
        """Run leave-one-out on an instance."""
        return leave_one_out(**instance.arguments(), **arguments)

    def measured(self, result: LeaveOneOut) -> Record:
        """Return the scores, the number of examples that each check and rule decided, and the costs."""
        names = [check.name for check in chosen_checks(self.checks)]
        # make one column for each pair of classes
        decided = result.decided_by.reshape(len(result.labels), -1)
        # "ball" may mean a check or a rule; if the round took no step, the check decided the example
        by_rule = np.isin(decided, RULES) & (result.round_iterations > 0)[:, None]
        in_round = ~np.isin(decided, ("", OTHER_CLASS)) & (by_rule | ~np.isin(decided, names))
        rounds = int(in_round.sum())
        # count the rounds that a rule ended before they reached the optimum or a limit
        early = int((in_round & ~np.isin(decided, ("path", "kkt", "tie", "limit"))).sum())
        record = result.scores | super().measured(result)
        return record | {
            "round_iterations": int(result.round_iterations.sum()),
            "rounds": rounds,
            "early": early / rounds if rounds else 0.0,
            "full_iterations": sum(full.iterations for full in result.full_solutions),
            "full_seconds": sum(full.seconds for full in result.full_solutions),
            "status": result.status.name,
            "unfinished": int((~result.is_solved).sum()),
            **result.counts,
        }
