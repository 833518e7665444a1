"""Engine.run: what is done where rounding may have spoiled the gradient."""

from __future__ import annotations

import numpy as np

from refsvm import KKTGap, Rounds, Status, StoppingRule, solve
from refsvm.state import SolverState

from ..solver.plain import OVERLAPPING


def test_a_spoiled_gradient_is_computed_afresh_before_it_is_believed(engine, shrinking):
    rounds = Rounds(OVERLAPPING, engine=engine, shrinking=shrinking, stop=KKTGap(1e-6))
    first = rounds.solve()
    state = rounds.state
    state.gradient += 0.1 * np.random.default_rng(0).normal(size=OVERLAPPING.n)
    state.updates = 10**15  # so many that each may have left its rounding
    second = rounds.solve(start=first.alpha)
    assert second.status is Status.CONVERGED
    assert OVERLAPPING.kkt_gap(second.alpha) <= 1.01e-6
    np.testing.assert_allclose(second.gradient, OVERLAPPING.gradient(second.alpha), atol=1e-12)


class Stubborn(StoppingRule):
    """Satisfied, but not when asked again: a tolerance below the rounding of G."""

    def __init__(self) -> None:
        self.answers = [1, 0] * 10

    def check(self, state):
        return self.answers.pop(0)


def test_what_the_fresh_gradient_never_confirms_is_no_convergence(monkeypatch):
    monkeypatch.setattr(SolverState, "drifted", lambda state, tolerance=0.0: True)
    rule = Stubborn()
    solution = solve(OVERLAPPING, stop=rule, engine="numpy", shrinking=False)
    assert not rule.answers
    assert solution.status is Status.STALLED


def test_a_limit_is_not_taken_back(monkeypatch):
    """Where the steps ran out, the gradient is made right, and no other verdict is looked for."""
    monkeypatch.setattr(SolverState, "drifted", lambda state, tolerance=0.0: True)
    solution = solve(OVERLAPPING, max_iter=7, engine="numpy", shrinking=False)
    assert (solution.status, solution.iterations) == (Status.MAX_ITER, 7)
    np.testing.assert_allclose(solution.gradient, OVERLAPPING.gradient(solution.alpha), atol=1e-12)
