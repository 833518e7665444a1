"""LeftOutGroups: for each group of examples, the exact model trained without the group.

`LeftOutGroups` solves the problem on all examples. For each group, it sets the bounds of the group's variables to 0,
starts at the point that the seeder `TOP` makes from the full solution, and takes steps to a loose tolerance. The
function `settled` then computes the optimum up to rounding (`refsvm.analysis.derivatives.settling`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np

from refsvm.analysis.derivatives.parameters import examples_of
from refsvm.analysis.derivatives.settling import settled
from refsvm.core.result import Solution, Status
from refsvm.core.rounds.machine import Machine
from refsvm.core.rounds.round import Round
from refsvm.core.rounds.rounds import Rounds
from refsvm.core.rounds.sufficiency import ZeroAlpha, sufficient
from refsvm.core.seeders.top import TOP
from refsvm.core.stopping.kkt_gap import KKTGap

LOOSE: Final = 1e-3
"""Rounds that are settled afterwards are solved to this KKT gap, in units of the targets."""

AT_ONCE: Final = 64
"""Number of rounds whose solutions are in memory at the same time."""


class LeftOutGroups:
    """For each group of examples, the model trained without the group.

    Parameters
    ----------
    machine : Machine
        The full problem.
    rounds : Rounds
        `Rounds` object for the problem of `machine`; each of its rounds leaves out one group.
    start : ndarray of shape (n,) or None
        α at which the solve on all examples starts, for instance the α of an earlier solution.

    Attributes
    ----------
    full : Solution
        Solution on all examples, if the solver has found it.
    status : Status
        CONVERGED, or the limit that ended the rounds.
    endings : list of Status
        The status of each model that is not solved to the tolerance.
    changes : dict
        For each group's number: the examples whose α changes, the changes of α, the change of b, and the KKT gap.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import RBF, DualProblem, KKTGap
    >>> from refsvm.analysis.derivatives.left_out import LeftOutGroups
    >>> from refsvm.core.rounds.rounds import Rounds
    >>> from refsvm.analysis.resampling.task import task_given
    >>> from refsvm.core.solver.options import RunOptions
    >>> X, y = np.array([[0.0], [1.0], [2.0], [4.0]]), np.array([-1, 1, -1, 1])
    >>> problem = DualProblem.classification(X, y, kernel=RBF(0.5), C=3.0)
    >>> machine = next(task_given(problem, None, None, None).machines())
    >>> rounds = Rounds.of(machine.problem, RunOptions(stop=KKTGap(1e-10, relative=True)))
    >>> found = LeftOutGroups(machine, rounds, None)
    >>> list(found.run([np.array([1]), np.array([0, 3])])), found.status.name
    ([0, 1], 'CONVERGED')
    >>> examples, change, intercept, gap = found.changes[0]
    >>> examples, bool(gap <= 1e-10)
    (array([0, 1, 2, 3]), True)
    """

    def __init__(self, machine: Machine, rounds: Rounds, start: np.ndarray | None) -> None:
        self.machine, self.rounds = machine, rounds
        self.matrix, self.example = examples_of(rounds.problem.gram)
        self.K = rounds.rows.block(np.arange(self.matrix.n)) if rounds.rows.holds_all else None
        self.given = self._solved(start)
        self.full = rounds.solutions["all"] = self.given.in_solver_coordinates(rounds.problem)
        self.tol = self._tolerance(self.full)
        is_done = self.full.status in {Status.CONVERGED, Status.STALLED}
        self.status = Status.CONVERGED if is_done else self.full.status
        self.endings, self.iterations = list[Status](), self.full.iterations
        self.changes: dict[int, tuple[np.ndarray, np.ndarray, float, float]] = {}

    def _tolerance(self, solution: Solution) -> float:
        stop = self.rounds.rules.stop
        return stop.tolerance * stop.share_of_tolerance(solution.decision_range)

    def _solved(self, start: np.ndarray | None) -> Solution:
        """Return the solution on all examples."""
        if self.K is not None:
            begun = self.rounds.solve(start=start, stop=self._loose)
            there = begun.in_solver_coordinates(self.rounds.problem)
            solved = settled(there, self.K, self.example, self._tolerance(there))
            if solved is not None or begun.status not in {Status.CONVERGED, Status.STALLED}:
                return begun if solved is None else solved
            start = begun.alpha
        return self.rounds.solve(start=start)

    @property
    def _loose(self) -> KKTGap:
        """The stopping rule of a round; it is loose if `settled` can make the solution of the round exact."""
        stop = self.rounds.rules.stop
        loose = LOOSE * float(stop.relative)
        return KKTGap(stop.tolerance if self.K is None else max(loose, stop.tolerance), stop.relative)

    def ended(self) -> bool:
        """Whether a limit or Ctrl-C has ended the rounds."""
        return self.status is not Status.CONVERGED

    def run(self, members: Sequence[np.ndarray]) -> Iterator[Any]:
        """For each group, train the model without the group and yield the group's number; end if a limit is reached."""
        if self.ended():
            return
        names, _, _ = sufficient(self.full, self.rounds.rows, (ZeroAlpha(),), self.machine.copies)
        changes_nothing, plan = names == ZeroAlpha.name, []
        for place, some in enumerate(members):
            if changes_nothing[some].all():  # α stays optimal if all left-out variables are 0
                self._take(place, self.full)
                yield place
            else:
                plan.append(place)
        for first in range(0, len(plan), AT_ONCE):
            yield from self._by_rounds(plan[first : first + AT_ONCE], members)
            if self.ended():
                return

    def _by_rounds(self, some: list[int], members: Sequence[np.ndarray]) -> Iterator[Any]:
        """For each group in `some`: solve loosely without the group; call `settled`; if it fails, solve to `tol`."""
        rounds, tight = self.rounds, []
        turns = [Round(self.machine.variables(members[place]), "all", place) for place in some]
        for place, turn, ended in zip(some, turns, rounds.run(turns, TOP(), self._loose), strict=False):
            self.iterations += ended.iterations
            solution = rounds.solutions.pop(place).in_solver_coordinates()
            exact = None if self.K is None else settled(solution, self.K, self.example, self.tol)
            if exact is None and not solution.kkt_gap <= self.tol:  # `not <=` is also true if the gap is NaN
                tight.append(turn)
                continue
            self._take(place, solution if exact is None else exact)
            yield place
            if rounds.limits.seconds_left() <= 0.0:
                break
        # for a few models `settled` finds no exact optimum: solve these models to the full tolerance
        if tight and rounds.limits.seconds_left() > 0.0:
            for turn, ended in zip(tight, rounds.run(tight, TOP()), strict=False):
                self.iterations += ended.iterations
                if ended.status is not Status.CONVERGED:
                    self.endings.append(ended.status)
                self._take(turn.keep, rounds.solutions.pop(turn.keep).in_solver_coordinates())
                yield turn.keep
        if rounds.status is not Status.CONVERGED:
            self.status = rounds.status
        elif rounds.limits.deadline.left() <= 0.0:
            self.status = Status.TIME_LIMIT

    def _take(self, place: Any, solution: Solution) -> None:
        """Store a solution's KKT gap, and how its b and its α of each example differ from the full solution."""
        change = np.bincount(self.example, solution.alpha - self.full.alpha, self.matrix.n)
        where = np.flatnonzero(change)
        gap = max(0.0, solution.kkt_gap)
        self.changes[place] = where, change[where], solution.intercept - self.full.intercept, gap
