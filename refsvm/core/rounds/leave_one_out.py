"""Leave-one-out: Algorithm 1 of Franc, Laskov & Müller (2008), for one machine.

    solve on all examples
    decide what the sufficiency checks decide
    for each of the others:  empty its box, start at the seed, go on until the stopping rule is satisfied
    where h is next to zero at the KKT gap:  go on to smaller gaps, until its sign is certain
    the error is the share of wrong predictions

`refsvm.leave_one_out` runs it for each machine of a task.
"""

from __future__ import annotations

import warnings
from typing import Final

import numpy as np

from refsvm.core._checks import frames_within
from refsvm.core.engine.unsolved import REMEDY, warn
from refsvm.core.result import Solution, Status
from refsvm.core.rounds.left_out_table import ALL_AT_ONCE, LeftOutTable
from refsvm.core.rounds.rounds import Rounds
from refsvm.core.rounds.sufficiency import Check
from refsvm.core.seeders.base import Seeder
from refsvm.core.solver.rules import Rules
from refsvm.core.stopping import BallRule, KKTGap, StoppingRule

TRIED: Final = 10
"""Rounds after which a rule that decides early has to have done so in half of them, or is given up: the paper's M."""

SURE: Final = 5.0
"""A decision value of more than so many ε counts as having its sign at the optimum, too: of 7,097 rounds of RBF kernels
that ended at the KKT gap no value was further than 4.1 ε from that of the optimum."""

SMALLEST_TOL: Final = 1e-8
"""The KKT gap to which a round goes on for the sign of h; where |h| is less than `SURE` times that, it is a tie."""


def algorithm_1(
    table: LeftOutTable, seeders: tuple[Seeder, Seeder], stop: StoppingRule, kkt: KKTGap, checks: tuple[Check, ...],
    efficiency_test: bool,
) -> None:  # fmt: skip
    """Decide the examples of one machine: Algorithm 1 of Franc, Laskov & Müller.

    The second of the seeders is that of problems on which SMO takes many steps.
    """
    # 1. solve on all examples, more exactly than the rounds
    table.solve_on_all(kkt)
    rounds, seeder = table.rounds, seeders[table.is_slow]
    if table.status is not Status.CONVERGED:
        return
    warn_if_stalled(table.full, rounds.rules, kkt.tol)
    # 2. the sufficiency checks, those that hold for this kernel
    if not rounds.problem.gram.facts.is_psd and table.proves:
        checks, stop = checks_valid_for_kernel(rounds, checks, stop, kkt)
    table.check(checks)
    # 3. for each of the others: empty its box, start at the seed, go on until the rule is satisfied
    stop, rest = stop.with_reference(table.full), [table.round(r) for r in table.undecided()]
    tried = TRIED if efficiency_test and stop.left_out and not isinstance(stop, BallRule) else 0
    # a rule that proves signs costs a look in every round, which it has to be worth
    if tried:
        table.record_rounds(rounds.run(rest[:tried], seeder, stop), stop)
        # efficiency test: half of the first M rounds were decided early, or the rule is given up
        stop = stop if len(rest) <= tried or table.gap_rule_pays(tried) else kkt
    table.record_rounds(rounds.run(rest[tried:], seeder, stop), stop)
    if seeder.is_exact:
        table.mark_walked()
    settle_signs(table, seeder, kkt)
    # 4. the error is the share of wrong predictions, over all machines: `refsvm.leave_one_out`


def settle_signs(table: LeftOutTable, seeder: Seeder, kkt: KKTGap) -> None:
    """Go on with the rounds that the KKT gap has ended next to h = 0, a digit at a time, until |h| is sure of its sign.

    A round begins anew at its seed: few do, and no others have to be kept for them.
    """
    tol, unsolved = kkt.tol, table.unsolved.copy()
    while table.proves and tol > SMALLEST_TOL and (near := table.near_zero(SURE * tol, kkt.relative)):
        tol = max(0.1 * tol, SMALLEST_TOL)
        stop = KKTGap(tol, kkt.relative)
        table.record_rounds(table.rounds.run(table.again(near), seeder, stop), stop)
        if table.status is Status.CONVERGED:  # these rounds are solved to the tolerance that was asked for
            table.unsolved = unsolved.copy()
    if tol > SMALLEST_TOL:  # a limit has come before; which way these would turn is not known
        table.mark_undecided(SURE * tol, kkt.relative)


def warn_if_stalled(full: Solution, rules: Rules, tol: float) -> None:
    """Warn if the solution on all examples, on which all else rests, has stalled."""
    tol *= rules.stop.share_of_tolerance(full.decision_range)
    if full.status is Status.STALLED and full.kkt_gap > tol:
        warn(
            f"On all examples selector={rules.selector!r} with step={rules.step!r} stalled at ψ = {full.kkt_gap:.3g}, "
            f"above {tol:g}; the checks rest on that solution and may be wrong. {REMEDY[full.status]}"
        )


def checks_valid_for_kernel(
    rounds: Rounds, checks: tuple[Check, ...], stop: StoppingRule, kkt: StoppingRule
) -> tuple[tuple[Check, ...], StoppingRule]:
    """Return the checks and the stopping rule whose proofs hold: most rest on a positive semi-definite K."""
    rows, n = rounds.rows, rounds.rows.n
    # the steps on all examples have looked at some curvatures; one below 0 needs no eigenvalues
    convex = rounds.state.least_curvature >= 0.0
    if convex and rows.holds_all and n <= ALL_AT_ONCE:
        rows.fetch(np.arange(n))
        K = rows.values[rows.slots]
        convex = bool(np.linalg.eigvalsh(K)[0] >= -1e-8 * np.abs(K).max())
    if convex:
        return checks, stop
    without = [check for check in checks if check.needs_convex] + [stop] * stop.left_out
    if without:
        warnings.warn(
            f"The kernel is not positive semi-definite, on which the proof of each of {without} rests: none is used"
            + "; each round ends at the KKT gap." * stop.left_out,
            stacklevel=frames_within() + 1,
        )
    return tuple(check for check in checks if not check.needs_convex), kkt if stop.left_out else stop
