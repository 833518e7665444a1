"""A step may go on along the last displacement: α += μ(eᵢ − eⱼ) + κΔ, in both loops alike."""

from __future__ import annotations

import numpy as np
import pytest

from refsvm import (
    KKTGap,
    LOODualityGap,
    MostViolatingPair,
    NewtonStep,
    SecondOrder,
    cross_validate,
    iterate,
    leave_one_out,
    solve,
)
from refsvm.datasets import load
from refsvm.kernels import RBF
from refsvm.testing import Case, check_engines, practice_problems

from ..settings import FAST, needs_numba
from .carrying import Conjugate

PROBLEMS, HEART = practice_problems(), load("heart")


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_displacement_is_what_the_step_added(name):
    """Δ and KΔ explain every change, f grows by the gain, and G stays v − Kα."""
    problem, before = PROBLEMS[name], np.zeros(0)
    for state in iterate(problem, step=Conjugate(), stop=KKTGap(1e-4)):
        if len(before):
            np.testing.assert_allclose(state.alpha - before, state.displacement, rtol=0.0, atol=1e-9)
        before = state.alpha.copy()
        np.testing.assert_allclose(
            state.displacement_image, problem.gram.block(np.arange(problem.n)) @ state.displacement, atol=1e-7
        )
        if state.iteration > 200:
            break
    np.testing.assert_allclose(
        state.gradient, problem.gradient(state.alpha), atol=1e-6 * (1 + np.abs(before).max())
    )
    np.testing.assert_allclose(state.objective, problem.objective(state.alpha), rtol=1e-7, atol=1e-9)
    slope = float(state.displacement @ state.gradient)
    np.testing.assert_allclose(state.carried_slope, slope, atol=1e-6 * (1.0 + abs(state.objective)))


def test_carrying_takes_fewer_steps_to_the_same_optimum():
    problem = PROBLEMS["large penalty"]
    plain, carried = (
        solve(problem, step=step, stop=KKTGap(1e-6), shrinking=False, engine="numpy")
        for step in (NewtonStep(), Conjugate())
    )
    assert carried.iterations < 0.8 * plain.iterations
    assert carried.objective == pytest.approx(plain.objective, rel=1e-8)


def test_nothing_is_kept_where_nothing_is_carried():
    state = next(iterate(PROBLEMS["duplicates"]))
    assert (state.displacement, state.displacement_image) == (None, None)


@needs_numba
@pytest.mark.parametrize("selector", [SecondOrder(), MostViolatingPair()])
@pytest.mark.parametrize("name", PROBLEMS)
def test_both_loops_carry_alike(name, selector):
    case = Case(name, PROBLEMS[name], (selector, Conjugate(), KKTGap(1e-4)))
    for shrinking in (False, True):
        check_engines(case, shrinking=shrinking)


@pytest.mark.parametrize("stop", [KKTGap(1e-5), LOODualityGap(1e-5)])
@pytest.mark.slow
def test_rounds_carry_as_well(stop):
    X, y = HEART.X[:60], HEART.y[:60]
    options = {"kernel": RBF(0.05), "C": 3.0, "engine": FAST}
    plain, carried = (
        leave_one_out(X, y, stop=stop, step=step, **options) for step in (NewtonStep(), Conjugate())
    )
    assert np.array_equal(plain.predictions, carried.predictions)
    readable = leave_one_out(X, y, stop=stop, step=Conjugate(), **{**options, "engine": "numpy"})
    assert np.array_equal(readable.round_iterations, carried.round_iterations)


@pytest.mark.slow  # its rules are compiled for it alone
def test_folds_carry_as_well():
    options = {"kernel": RBF(0.05), "C": 3.0, "rng": 0, "stop": KKTGap(1e-6)}
    plain, carried = (
        cross_validate(HEART.X, HEART.y, step=step, engine=FAST, **options)
        for step in (NewtonStep(), Conjugate())
    )
    np.testing.assert_allclose(plain.decision_values, carried.decision_values, atol=1e-4)
