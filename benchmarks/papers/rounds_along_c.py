"""RoundsAlongC: the strategy that a path replaces, warm-started rounds at given values of C."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from refsvm import ActiveSet, DualProblem, KKTGap, Rounds, regularization_path
from refsvm.experiment import Instance, Strategy
from refsvm.experiment.strategy import Record

__all__ = ["RoundsAlongC"]


@dataclass(frozen=True)
class RoundsAlongC(Strategy):
    """Solve at every breakpoint of the path, each round from the one before, and compare with tracking in one process.

    ``tol`` is the KKT gap of a round. The path itself is exact to about 1e-12, far below that.
    """

    C_min: float = 1e-4
    C_max: float = 1e3
    tol: float = 1e-3
    repeats: int = 3

    def run(self, instance: Instance) -> Record:
        """Track and solve, `repeats` times each in turn; medians."""
        paths, rounds, iterations = [], [], 0
        for _ in range(self.repeats):
            began = time.process_time()
            path = regularization_path(
                instance.X, instance.y, kernel=instance.kernel, C_min=self.C_min, C_max=self.C_max
            )
            paths.append(time.process_time() - began)
            began = time.process_time()
            iterations = self._rounds(instance, path.C)
            rounds.append(time.process_time() - began)
        tracked, solved = float(np.median(paths)), float(np.median(rounds))
        return {
            "breakpoints": len(path.C),
            "seconds": tracked,
            "rounds_seconds": solved,
            "ratio": solved / tracked,
            "microseconds_per_event": 1e6 * tracked / len(path.C),
            "mean_elbow": float(path.record.elbow.mean()),
            "round_iterations": iterations,
        }

    def _rounds(self, instance: Instance, values: np.ndarray) -> int:
        problem = DualProblem.classification(instance.X, instance.y, kernel=instance.kernel, C=1.0)
        rounds, seeder, solution, iterations = Rounds(problem, stop=KKTGap(self.tol)), ActiveSet(), None, 0
        for C in values.tolist():
            lower, upper = C * problem.lower, C * problem.upper
            start = None if solution is None else seeder.seed(solution, rounds.boxed(lower, upper))
            solution = rounds.solve(lower=lower, upper=upper, start=start)
            iterations += solution.iterations
        return iterations
