"""The rounds of leave-one-out: readable ones, and the same in compiled code, a chunk of examples at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

import numpy as np

from refsvm.kernels.rows import KernelRows
from refsvm.problem import DualProblem
from refsvm.result import Solution, Status
from refsvm.seeders.base import Seeder
from refsvm.solver.rounds import Rounds
from refsvm.solver.rules import Rules
from refsvm.stopping.base import StoppingRule

__all__ = ["ROUND", "CompiledRounds", "can_be_compiled", "readable_round"]

ROUND: Final = np.dtype(
    [
        ("example", np.int64),  # r
        ("code", np.int64),  # of the stopping rule, from 1; not positive if something else ended the round
        ("decision_value", np.float64),  # h(xᵣ) without r
        ("iterations", np.int64),
        ("status", np.int64),  # place in `Status`
    ]
)
"""How training without one example ended."""

STATUSES: Final = list(Status)


def for_example(stop: StoppingRule, r: int) -> StoppingRule:
    """Return the rule of the round without r: one that is made for left-out examples gets to know which it is."""
    return replace(stop, example=r) if stop.left_out else stop  # type: ignore[type-var]


def readable_round(
    rounds: Rounds,
    full: Solution,
    seed: Callable[[DualProblem], np.ndarray],
    stop: StoppingRule,
    r: int,
) -> tuple[np.ndarray, Solution]:
    """Train without example r: an empty box, the seed, the steps.

    Parameters
    ----------
    rounds : Rounds
    full : Solution
        Of all examples.
    seed : callable
        ``seeder.seeds_from(full)``.
    stop : StoppingRule
    r : int

    Returns
    -------
    record of dtype `ROUND`, Solution
    """
    left_out, rule = rounds.problem.without(r), for_example(stop, r)
    solution = rounds.solve(left_out, start=seed(left_out), origin=full, stop=rule)
    record = np.zeros(1, dtype=ROUND)
    record["example"], record["iterations"] = r, solution.iterations
    record["status"] = STATUSES.index(solution.status)
    record["decision_value"] = solution.decision_values[r]
    if solution.status is Status.CONVERGED:
        record["code"] = rule.reasons.index(solution.reason) + 1
    return record, solution


def can_be_compiled(rows: KernelRows, rules: Rules, seeder: Seeder) -> bool:
    """Whether all kernel rows can be stored, as compiled code wants them, and every rule has a twin."""
    values = rows.values
    usable = values.dtype == np.float64 and values.flags.c_contiguous and values.flags.writeable
    return usable and rows.holds_all and all(rule.twin() is not None for rule in (*rules, seeder))


class CompiledRounds:
    """Runs rounds in compiled code; one object for each thread.

    Parameters
    ----------
    rows : KernelRows
        All of them stored; read only.
    full : Solution
        Of all examples.
    rules : Rules
    seeder : Seeder
    memory : ndarray
        ``seeder.prepare(full)``, shared by all threads.
    max_iter : int
        Limit on the steps of a round.
    """

    def __init__(
        self,
        rows: KernelRows,
        full: Solution,
        rules: Rules,
        seeder: Seeder,
        memory: np.ndarray,
        max_iter: int,
    ) -> None:
        from refsvm.fast.layout import fresh_state
        from refsvm.fast.seeding import seeding_of

        problem, depth = full.problem, 2 + rules.step.history
        lower, upper = problem.lower.copy(), problem.upper.copy()
        memories = rules._replace(stop=for_example(rules.stop, 0)).memories(problem.without(0))
        # kept here, as all arrays: compiled code counts no references
        self._memories = np.concatenate(memories)
        self._state = fresh_state(rows, depth, memories, lower, upper)
        self._seeding = seeding_of(full, lower, upper, rows, memory)
        self._twins = (seeder.twin(), *(rule.twin() for rule in rules))
        self._parameters = [np.array(rule.parameters(), dtype=np.float64) for rule in (seeder, *rules)]
        self._numbers = np.array(
            [
                float(rules.stop.left_out),  # whether the memory of the rule begins with r
                float(max_iter),
                float(np.abs(full.alpha).max()),
                float(np.abs(self._state.diagonal).max()),
                rules.stop.restricted_tolerance(0.0),
            ]
        )

    @property
    def alpha(self) -> np.ndarray:
        """α of the last round, shape (n,)."""
        return self._state.alpha

    def run(self, examples: np.ndarray) -> np.ndarray:
        """Leave out these examples, one after the other; return records of `ROUND`, with code NOT_DONE for some."""
        from refsvm.fast.rounds import NOT_DONE, run_rounds

        results = np.zeros((len(examples), 4))
        arrays = (self._seeding, self._state, self._memories, self._numbers, examples, results)
        run_rounds(self._twins, self._parameters, arrays)
        records = np.zeros(len(examples), dtype=ROUND)
        outcome = results[:, 0].astype(np.int64)
        records["example"], records["code"] = examples, outcome
        records["decision_value"], records["iterations"] = results[:, 1], results[:, 2].astype(np.int64)
        records["status"] = STATUSES.index(Status.CONVERGED)
        records["status"][outcome == 0] = STATUSES.index(Status.MAX_ITER)
        records["status"][(outcome < 0) & (outcome != NOT_DONE)] = STATUSES.index(Status.STALLED)
        return records
