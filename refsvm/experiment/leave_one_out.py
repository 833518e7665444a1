"""LeaveOneOutError: the strategy that computes a leave-one-out error."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from refsvm.experiment.problem import Instance
from refsvm.experiment.strategy import Record, Strategy, one_thread
from refsvm.kernels import RBF
from refsvm.resampling.leave_one_out import leave_one_out
from refsvm.resampling.result import LeaveOneOut
from refsvm.resampling.sufficiency import CHECKS
from refsvm.result import Status
from refsvm.seeders import TOP, Seeder
from refsvm.selectors import WorkingSetSelector
from refsvm.steps import StepRule
from refsvm.stopping import KKTGap, StoppingRule

__all__ = ["LeaveOneOutError", "measured"]


@dataclass(frozen=True)
class LeaveOneOutError(Strategy):
    """One call of `refsvm.leave_one_out`, its arguments by the same names.

    Parameters
    ----------
    name : str
        Name in the tables.
    seeder : Seeder
    stop : StoppingRule
    selector, step : rules, optional
    checks : tuple of str
    efficiency_test : bool
    cache_mb : float
    engine : {"auto", "numba", "numpy"}
    max_iter : int, optional

    Notes
    -----
    The metrics are ``error``, ``iterations`` (of all rounds and the full solution), ``round_iterations`` (of the
    rounds), ``rounds``, ``kernel_rows``, ``seconds``, ``full_iterations``, ``full_seconds``, how many examples each
    check and rule decided, and ``early``, the share of rounds that the leave-one-out rule ended.

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

    seeder: Seeder = TOP()  # noqa: RUF009 (a frozen object)
    stop: StoppingRule = KKTGap()  # noqa: RUF009
    selector: WorkingSetSelector | None = None
    step: StepRule | None = None
    checks: tuple[str, ...] = CHECKS
    efficiency_test: bool = True
    cache_mb: float = 200.0
    engine: str = "auto"
    max_iter: int | None = None

    def run(self, instance: Instance) -> Record:
        """Compute the error."""
        return measured(self.computed(instance))

    def computed(self, instance: Instance) -> LeaveOneOut:
        """Call `leave_one_out` with one thread; Ctrl-C interrupts, so that half a run is never stored."""
        with one_thread():
            loo = leave_one_out(
                instance.X,
                instance.y,
                kernel=instance.kernel,
                C=instance.C,
                **self.arguments(LeaveOneOutError),
            )
        if loo.status is Status.INTERRUPTED:
            raise KeyboardInterrupt
        return loo

    def warm_up(self) -> None:
        """Leave each of six points out."""
        X = np.arange(6.0)[:, None]
        self.computed(Instance(X, np.array([-1.0, 1.0, 1.0, -1.0, 1.0, -1.0]), RBF(1.0), 1.0))


def measured(loo: LeaveOneOut) -> Record:
    """Take from a result what is stored."""
    rounds = int(loo.counts["duality gap"] + loo.counts["kkt"] + loo.counts["limit"])
    return {
        "error": loo.error,
        "iterations": loo.iterations,
        "round_iterations": int(loo.round_iterations.sum()),
        "rounds": rounds,
        "early": loo.counts["duality gap"] / rounds if rounds else 0.0,
        "kernel_rows": loo.kernel_rows,
        "seconds": loo.seconds,
        "full_iterations": loo.full_solution.iterations,
        "full_seconds": loo.full_solution.seconds,
        "engine": loo.engine,
        "status": loo.status.name,
        **loo.counts,
    }
