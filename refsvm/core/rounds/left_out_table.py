"""LeftOutTable: the results of leave-one-out for each example of one machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from refsvm.core.engine.progress import Progress
from refsvm.core.result import Solution, Status, Trace
from refsvm.core.rounds.machine import Machine
from refsvm.core.rounds.round import Round, RoundResult
from refsvm.core.rounds.rounds import Rounds
from refsvm.core.rounds.runner import LATE_FROM, log_if_slow
from refsvm.core.rounds.sufficiency import Check, sufficient
from refsvm.core.rounds.walked import few_steps, walked
from refsvm.core.seeders.base import Seeder
from refsvm.core.stopping import KKTGap, StoppingRule
from refsvm.core.stopping.ball_rule import BallRule, of_sign
from refsvm.core.stopping.relative import rounding_of_gradient

ALL_AT_ONCE: Final = 2000
"""With at most this many examples, all kernel rows are computed at once."""

SMALLEST_TOL: Final = 1e-10
"""Smallest KKT gap that a round may reach to prove the sign of h, unless rounding of G allows only a larger gap."""


class LeftOutTable:
    """The results of leave-one-out for one machine, with one entry for each of its m examples.

    Parameters
    ----------
    machine : Machine
        The machine (one model of a task); its problem contains all examples.
    rounds : Rounds
        The `Rounds` object that solves the rounds of this problem.
    asked : sequence of int, optional
        The examples to leave out; all by default.
    start : ndarray of shape (n,), optional
        Feasible signed α at which the solve on all examples starts; near α = 0 by default.
    progress : Progress, optional
        Progress report for the solve on all examples.
    should_end : callable, optional
        Function that is called after each round with the number of decided examples; if it returns True, the rounds
        end.

    Attributes
    ----------
    decided, signs, values : ndarrays of shape (m,)
        For each example: how its prediction was found ("" if it is undecided), the sign of h if only the sign is known,
        and the value of h.
    iterations : ndarray of shape (m,), int64
        For each example, number of steps of the rounds that leave it out.
    unsolved : dict of int to Status
        For each example whose round did not satisfy the stopping rule, the status of this round.
    traces : dict of int to Trace
        For each example, the trace of the round that leaves it out, if recorded.
    status : Status
        CONVERGED, or the reason why the call ended early.
    full, given : Solution
        The solution on all examples: of the centred problem that the solver uses, and of the problem as given.
    proves : bool
        True if signs can be proved: the problem has labels, a finite box, float64 rows and (as `algorithm_1` finds out)
        a positive semi-definite K.
    proved : ndarray of shape (m,), bool
        For each example, True if the sign of h is proved.
    is_slow : bool
        True if SMO takes many steps on all examples.
    rule_kept : bool or None
        True if the stopping rule passed the efficiency test, None if there was no test.
    """

    full: Solution
    given: Solution
    status = Status.CONVERGED
    is_slow = False
    rule_kept: bool | None = None
    _early = 0  # number of rounds that ended before they reached the KKT tolerance

    def __init__(
        self, machine: Machine, rounds: Rounds, asked: Sequence[int] | None = None, start: np.ndarray | None = None,
        progress: Progress | None = None, should_end: Callable[[int], bool] | None = None,
    ) -> None:  # fmt: skip
        m = rounds.problem.n // machine.copies
        problem, self.machine, self.rounds = rounds.problem, machine, rounds
        self.proves = problem.has_labels and not problem.is_open and rounds.rows.facts.rounding < 1.0
        self.asked = np.arange(m) if asked is None else np.array(asked, dtype=np.int64)
        self.decided, self.signs = np.full(m, "", dtype=object), np.zeros(m)
        self.proved = np.zeros(m, dtype=bool)
        self.values, self.iterations = np.full(m, np.nan), np.zeros(m, dtype=np.int64)
        self.unsolved, self.traces = dict[int, Status](), dict[int, Trace]()
        self._start, self._should_end = start, should_end
        self._progress = Progress("leave_one_out") if progress is None else progress

    def solve_on_all(self, kkt: KKTGap) -> None:
        """Train on all examples; if SMO takes many steps, follow a path in C (`refsvm.core.rounds.walked`)."""
        rounds, m = self.rounds, len(self.decided)
        if rounds.rows.holds_all and m <= ALL_AT_ONCE:
            rounds.rows.fetch(np.arange(rounds.rows.gram.n))
        with log_if_slow(
            m, "Leave-one-out of %d examples: the first solve, which uses all examples, takes longer than %.0f s; "
            "each of up to %d rounds may take a part of this time", m, LATE_FROM, m,
        ):  # fmt: skip
            few = min(rounds.max_iter, few_steps(rounds.problem.n))
            rounds.limits.progress = self._progress
            self.given = rounds.solve(
                start=self._start, max_iter=rounds.max_iter if rounds.options.shrinking else few
            )
            # on a slow problem, rounds start from exact seeds and take their remaining steps with shrinking
            self.is_slow = self.given.status is Status.MAX_ITER and self.given.iterations < rounds.max_iter
            if self.is_slow:
                self.rounds, self.given = walked(rounds, self.given, kkt)
            # only this solve reports KKT gaps; the rounds do not
            rounds.limits.progress = self.rounds.limits.progress = None
        self.full = self.rounds.solutions["all"] = self.given.in_solver_coordinates(self.rounds.problem)
        if self.proves:  # recompute G from scratch, because rounds start from this G and proofs rely on it
            fresh = self.full.problem.v - self.rounds.rows.product(self.full.alpha)
            self.full = self.rounds.solutions["all"] = replace(self.full, gradient=fresh, iterations=0)
        if self.full.status not in {Status.CONVERGED, Status.STALLED}:
            self.status = self.full.status

    def check(self, checks: tuple[Check, ...]) -> None:
        """Apply the sufficiency checks."""
        rows, copies = self.rounds.rows, self.machine.copies
        self.decided, self.signs, self.values = sufficient(self.full, rows, checks, copies)
        self.proved = (self.decided != "") & self.proves

    def round(self, r: int) -> Round:
        """Return the round that leaves example r out."""
        if self.machine.copies == 1:
            return Round(r, "all")
        return Round(self.machine.variables(np.array([r])), "all", evaluate=r)

    def undecided(self) -> list[int]:
        """Return the examples to leave out that are not yet decided."""
        return self.asked[self.decided[self.asked] == ""].tolist()

    def count(self) -> int:
        """Return the number of decided examples among the examples to leave out."""
        return int(np.count_nonzero(self.decided[self.asked] != ""))

    def record_rounds(self, rounds: Iterator[RoundResult], stop: StoppingRule) -> None:
        """Record the results of rounds, until a limit, the callback or Ctrl-C ends the rounds."""
        if self.status is not Status.CONVERGED:
            return
        self._progress.begin("")
        count = self.count()
        for out, value, steps, reason, status, _, _, _, trace, sign in rounds:
            r, count = int(out if self.machine.copies == 1 else out[0]), count + 1
            self.iterations[r] += steps
            if status is not Status.CONVERGED:
                self.unsolved[r] = status
            if status in (Status.TIME_LIMIT, Status.NOT_FINITE):
                self.status = status
                break
            name, self.values[r] = stop.outcome(reason, value)
            self._early += name != "kkt"
            if name == "kkt" and self.proves:
                name, self.values[r] = ("kkt", of_sign(value, sign)) if sign else ("tie", value)
            self.proved[r] = self.proves and name != "tie"
            self.decided[r] = "limit" if status is Status.MAX_ITER else name
            if trace is not None and r in self.traces:
                self.traces[r].append_later(trace, len(self.traces[r]))
            elif trace is not None:
                self.traces[r] = trace
            if self._should_end is not None and self._should_end(count):
                self.status = Status.CALLBACK
                break
        if self.rounds.status is not Status.CONVERGED:
            self.status = self.rounds.status
        # if a limit has ended the rounds, the examples whose signs are not proved are undecided
        if self.status is not Status.CONVERGED:
            self.decided[self.decided == "tie"] = ""

    def mark_walked(self) -> None:
        """Mark examples as decided by "path" if the exact seed of their round was the optimum and no step followed."""
        self.decided[(self.decided == "kkt") & (self.iterations == 0)] = "path"

    def smallest_tolerance(self, r: int | None = None) -> float:
        """Return the smallest KKT gap that rounding errors of G allow in all rounds, or in the round without r."""
        sizes, alpha, G = np.sqrt(np.abs(self.rounds.rows.diagonal())), self.full.alpha, self.full.gradient
        if r is not None:
            sizes, alpha, G = (np.delete(each, r) for each in (sizes, alpha, G))
        return max(SMALLEST_TOL, rounding_of_gradient(alpha * sizes, G, float(sizes.max())))

    def ties(self) -> list[int]:
        """Return the examples whose rounds have not proved the sign of h."""
        return np.flatnonzero(self.decided == "tie").tolist()

    def settle(self, rounds: Rounds, seeder: Seeder, stop: BallRule, ties: list[Round]) -> None:
        """Solve the rounds in `ties` again, each from its seed, with a rule that proves the sign of h."""
        unsolved = self.unsolved.copy()
        self.decided[[each.left_out for each in ties]] = ""
        self.record_rounds(rounds.run(ties, seeder, stop.with_reference(self.full), proves=True), stop)
        # record "kkt" in place of "ball", because these rounds already reached the KKT tolerance in their first run
        settled = np.array([each.left_out for each in ties], dtype=np.int64)
        self.decided[settled[self.decided[settled] == "ball"]] = "kkt"
        # keep the statuses of the first runs of these rounds, which reached the user's tolerance
        if self.status is Status.CONVERGED:
            self.unsolved = unsolved

    def gap_rule_pays(self, tried: int) -> bool:
        """Return True if the stopping rule ended at least half of the first `tried` (the paper's M) rounds early."""
        is_kept = self.status is Status.CONVERGED and self._early >= tried / 2
        if self.status is Status.CONVERGED:
            self.rule_kept = is_kept
        return is_kept
