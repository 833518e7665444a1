"""Rounds in a given order in compiled code: what `refsvm.fast.sequence` gets and returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from refsvm.kernels.rows import KernelRows
from refsvm.resampling.left_out import can_be_compiled
from refsvm.result import Solution, Status
from refsvm.seeders.active_set import ActiveSet
from refsvm.seeders.base import Seeder
from refsvm.seeders.cold import Cold
from refsvm.solver.rounds import Rounds
from refsvm.solver.rules import Rules

__all__ = ["CompiledSequence", "Kept", "can_run_compiled", "can_run_single"]


@dataclass(frozen=True)
class Kept:
    """Solutions by their places, as arrays of shape (places, n).

    Attributes
    ----------
    alpha, gradient, lower, upper : ndarrays of shape (places, n), float64
    """

    alpha: np.ndarray
    gradient: np.ndarray
    lower: np.ndarray
    upper: np.ndarray

    @classmethod
    def of(cls, places: int, n: int) -> Self:
        """Return room for so many solutions."""
        return cls(*(np.zeros((places, n)) for _ in range(4)))

    def keep(self, place: int, solution: Solution) -> None:
        """Copy a solution."""
        self.alpha[place], self.gradient[place] = solution.alpha, solution.gradient
        self.lower[place], self.upper[place] = solution.problem.lower, solution.problem.upper


def can_run_compiled(rows: KernelRows, rules: Rules, seeder: Seeder) -> bool:
    """Whether all kernel rows are stored, every rule has a twin, and the seeder prepares nothing in Python."""
    return type(seeder).prepare is Seeder.prepare and can_be_compiled(rows, rules, seeder)


def can_run_single(rules: Rules, seeder: Seeder) -> bool:
    """Whether compiled code takes these rules with float32 rows: the default ones, and seeders that read no row."""
    from refsvm.fast.dispatch import are_built_in

    return isinstance(seeder, ActiveSet | Cold) and are_built_in(*(rule.twin() for rule in rules))


class CompiledSequence:
    """Runs rounds in compiled code; not to be shared by threads.

    Parameters
    ----------
    rounds : Rounds
    rows : KernelRows
        All kernel rows; float32 ones only for the default rules and a seeder that reads none.
    rules : Rules
    seeder : Seeder
    factors : ndarray of shape (boxes, n), float64
    starts : ndarray of shape (any, n), float64
        Seeds that are given.
    kept : Kept
        Where solutions are read and written.
    limit : int
        Steps after which a round is left to Python.
    """

    def __init__(
        self,
        rounds: Rounds,
        rows: KernelRows,
        rules: Rules,
        seeder: Seeder,
        factors: np.ndarray,
        starts: np.ndarray,
        kept: Kept,
        limit: int,
    ) -> None:
        from refsvm.fast.layout import fresh_state
        from refsvm.fast.seeding import room_for_seeds

        problem = rounds.problem
        n, memories = problem.n, rules.memories(problem)
        self._rounds, self._kept, self._factors, self._starts = rounds, kept, factors, starts
        self._memories = np.concatenate(memories)
        self._state = fresh_state(rows, 2 + rules.step.history, memories, np.empty(n), np.empty(n))
        self._seeding = room_for_seeds(problem, self._state.lower, self._state.upper, rounds.rows)
        self._unit = np.array(problem.lower), np.array(problem.upper)
        self._twins = (seeder.twin(), *(rule.twin() for rule in rules))
        self._parameters = [np.array(rule.parameters(), dtype=np.float64) for rule in (seeder, *rules)]
        largest = float(np.abs(self._state.diagonal).max())
        # the limit on steps, max |Kᵢᵢ|, the tolerance for drift, the curvature below which K is not convex
        self._numbers = np.array([limit, largest, rules.stop.restricted_tolerance(0.0), -1e-8 * largest])

    def run(self, plan: np.ndarray) -> tuple[np.ndarray, np.ndarray, Solution | None]:
        """Run rounds until one is left to Python.

        Parameters
        ----------
        plan : ndarray of dtype `refsvm.resampling.sequence.PLAN`

        Returns
        -------
        ndarray of shape (m,), ndarray of shape (m, n), Solution or None
            Steps and decision values of the rounds that have converged. The solution says where the round after them
            stands: at the limit on steps (MAX_ITER), or where it has to be run again (STALLED). None: all are done.
        """
        from refsvm.fast.loop import BUDGET_SPENT
        from refsvm.fast.sequence import run_sequence

        results, values = np.zeros((len(plan), 3)), np.empty((len(plan), len(self._unit[0])))
        names = ["box", "place", "source", "before", "after", "start"]
        numbers = np.column_stack([plan[name] for name in names])
        penalties, kept = np.array(plan["penalty"]), self._kept
        done = run_sequence(
            self._twins,
            self._parameters,
            (
                self._seeding, self._state, self._memories, self._numbers, *self._unit, self._factors, self._starts,
                numbers, penalties, kept.alpha, kept.gradient, kept.lower, kept.upper, results, values,
            ),
        )  # fmt: skip
        rest = None
        if done < len(plan):
            code, steps, curvature = results[done]
            if curvature < self._numbers[3]:
                self._numbers[3] = -np.inf  # the readable round warns, once
            rest = self._present(Status.MAX_ITER if code == BUDGET_SPENT else Status.STALLED, int(steps))
        return results[:done, 1].astype(np.int64), values[:done], rest

    def _present(self, status: Status, steps: int) -> Solution:
        """Return where the round stands that is not done."""
        state = self._state
        return Solution(
            problem=self._rounds.boxed(state.lower, state.upper),
            alpha=state.alpha.copy(), gradient=state.gradient.copy(),
            iterations=steps, kernel_rows=0, kernel_hits=0, status=status, reason=status.value, seconds=0.0,
            engine="numba",
        )  # fmt: skip
