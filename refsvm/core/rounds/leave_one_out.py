"""Leave-one-out for one machine (one model of a task): Algorithm 1 of Franc, Laskov & Müller (2008).

    Solve on all examples.
    Apply the sufficiency checks: for some examples, they find what the model without the example predicts.
    For each undecided example:  empty its box, start at the seed, take steps until the stopping rule is satisfied.
    If a round ends without a proof of the sign of h:  take steps to smaller gaps, until the sign is proved.
    The error is the share of wrong predictions.

`refsvm.leave_one_out` runs this algorithm for each machine of a task.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
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
"""The paper's M: a rule that ends rounds early is dropped unless it ends half of the first M rounds early."""


def algorithm_1(
    table: LeftOutTable, seeders: tuple[Seeder, Seeder], stop: StoppingRule, kkt: KKTGap, checks: tuple[Check, ...],
    efficiency_test: bool,
) -> None:  # fmt: skip
    """Predict each example of one machine by a model that is trained on the other examples (Algorithm 1).

    `seeders` holds the usual seeder, and the seeder for problems on which SMO takes many steps.
    """
    # 1. solve the problem on all examples, with a smaller tolerance than the tolerance of the rounds
    table.solve_on_all(kkt)
    rounds, seeder = table.rounds, seeders[table.is_slow]
    if table.status is not Status.CONVERGED:
        return
    warn_if_stalled(table.full, rounds.rules, kkt.tol)
    # 2. apply the sufficiency checks whose proofs hold for this kernel
    if not rounds.problem.gram.facts.is_psd and table.proves:
        table.proves, checks = checks_valid_for_kernel(rounds, checks, stop)
    table.check(checks)
    # 3. for each undecided example: empty its box, start at the seed, take steps until the stopping rule is satisfied
    if stop.left_out and not table.proves:
        stop = kkt
    elif isinstance(stop, BallRule):  # rounds must reach a tolerance that suffices for proofs
        stop = replace(stop, tol=min(stop.tol, table.smallest_tolerance()))
    stop, rest = stop.with_reference(table.full), [table.round(r) for r in table.undecided()]
    tried = TRIED if efficiency_test and stop.left_out and not isinstance(stop, BallRule) else 0
    # a rule that proves signs costs time in each round, so the rule is kept only if it ends enough rounds early
    if tried:
        table.record_rounds(rounds.run(rest[:tried], seeder, stop, proves=table.proves), stop)
        # efficiency test: drop the rule unless it ended half of the first M rounds early
        stop = stop if len(rest) <= tried or table.gap_rule_pays(tried) else kkt
    table.record_rounds(rounds.run(rest[tried:], seeder, stop, proves=table.proves), stop)
    # if a round ends without a proof of the sign, solve the round again with smaller tolerances
    if not isinstance(stop, BallRule):
        least, near = table.smallest_tolerance(), kkt.tol * kkt.share_of_tolerance(table.full.decision_range)
        stop = BallRule(least, relative=kkt.relative, near=max(near, least))
        table.settle(rounds, seeder, stop, [table.round(r) for r in table.ties()])
    if seeder.is_exact:
        table.mark_walked()
    # 4. `refsvm.leave_one_out` computes the error: the share of wrong predictions over all machines


def warn_if_stalled(full: Solution, rules: Rules, tol: float) -> None:
    """Warn if the solve on all examples stalled: the checks use its solution and may then be wrong."""
    tol *= rules.stop.share_of_tolerance(full.decision_range)
    if full.status is Status.STALLED and full.kkt_gap > tol:
        warn(
            f"On all examples selector={rules.selector!r} with step={rules.step!r} stalled at ψ = {full.kkt_gap:.3g}, "
            f"above {tol:g}; the checks use this solution and may be wrong. {REMEDY[full.status]}"
        )


def checks_valid_for_kernel(
    rounds: Rounds, checks: tuple[Check, ...], stop: StoppingRule
) -> tuple[bool, tuple[Check, ...]]:
    """Return two values: whether K is positive semi-definite, and the checks whose proofs hold for this K."""
    rows, n = rounds.rows, rounds.rows.n
    # K is indefinite if the solve on all examples met a curvature below 0; then do not compute the eigenvalues of K
    convex = rounds.state.least_curvature >= 0.0
    if convex and rows.holds_all and n <= ALL_AT_ONCE:
        rows.fetch(np.arange(n))
        K = rows.values[rows.slots]
        convex = bool(np.linalg.eigvalsh(K)[0] >= -1e-8 * np.abs(K).max())
    if convex:
        return True, checks
    without = [check for check in checks if check.needs_convex] + [stop] * stop.left_out
    if without:
        warnings.warn(
            f"The kernel is not positive semi-definite, so the proofs of {without} do not hold and are not used"
            + "; each round ends at the KKT gap." * stop.left_out,
            stacklevel=frames_within() + 1,
        )
    return False, tuple(check for check in checks if not check.needs_convex)
