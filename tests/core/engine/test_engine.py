"""Run: where rounding may have spoiled the gradient, and where a rule has spoiled the rest."""

from __future__ import annotations

import numpy as np
import pytest

from refsvm import AVG, KKTGap, NewtonStep, Rounds, SecondOrder, Status, leave_one_out, solve

from ...settings import needs_jit
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


class Misfitted(AVG):
    """A seeder with the twin of a step rule; compiled code would call it by its address, with other arguments."""

    def twin(self):
        return NewtonStep().twin()


class NoFunction(NewtonStep):
    def twin(self):
        return "newton"


class NoMethod(NewtonStep):
    twin = None


@needs_jit
def test_a_twin_of_another_role_is_refused_and_not_called():
    with pytest.raises(ValueError, match=r"Misfitted.twin\(\) fits another kind of rule; .* @twin\(SEED\)"):
        leave_one_out(OVERLAPPING, seeder=Misfitted(), engine="numba")


@needs_jit
def test_a_twin_that_is_no_function_is_not_the_fault_of_numba(monkeypatch):
    for rule, words in (
        (NoFunction(), r"NoFunction.twin\(\) returned 'newton', which is no"),
        (NoMethod(), "NoMethod.twin is None; make"),
    ):
        with pytest.raises(ValueError, match=words):
            solve(OVERLAPPING, step=rule, engine="numba")
        monkeypatch.setattr("refsvm.compiled.auto.ALLOWANCE_SECONDS", -1.0)
        with pytest.warns(UserWarning, match=f"^{words}.*goes on in NumPy"):
            assert solve(OVERLAPPING, step=rule, shrinking=False).status is Status.CONVERGED


class Scribbling(SecondOrder):
    """Works in place on the kernel row that it was shown."""

    def select(self, state):
        row = state.row(state.top)
        row *= -2.0
        return super().select(state)


def test_a_kernel_row_cannot_be_written_to():
    with pytest.raises(ValueError, match="read-only") as failure:
        solve(OVERLAPPING, selector=Scribbling(), engine="numpy")
    (said,) = failure.value.__notes__
    assert said.startswith("The error occurred after 0 steps on 60 variables, with Scribbling(")
