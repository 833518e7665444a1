"""Both engines, bit for bit, over the whole catalogue."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from refsvm import (
    RBF,
    DualProblem,
    Greedy,
    KKTGap,
    Linear,
    NewtonStep,
    PlanningAheadStep,
    SecondOrder,
    solve,
)
from refsvm.testing import Case, check_engines, check_strategy, first_difference

from ..catalogue import PROBLEMS, SELECTORS, STEPS, STOPS, combinations
from ..settings import INTERPRETED, needs_same_bits

numba = pytest.importorskip("numba")

SMALL = [name for name, known in PROBLEMS.items() if not known.large]
LARGE = [name for name, known in PROBLEMS.items() if known.large]
LIMIT = 30 if INTERPRETED else 100


def compare(name: str, *rules, limit: int = LIMIT, **options) -> None:
    case = Case(name, PROBLEMS[name].problem, rules)
    check_engines(case, limit=min(limit, 20) if isinstance(rules[0], Greedy) else limit, **options)


@pytest.mark.slow
@pytest.mark.parametrize(("selector", "step"), list(combinations()), ids=repr)
def test_every_combination_takes_the_same_steps(selector, step):
    for name in SMALL:
        compare(name, selector, step, KKTGap(1e-6), shrinking=False)


@pytest.mark.parametrize("stop", STOPS, ids=repr)
@pytest.mark.slow
def test_every_stopping_rule_stops_both_at_the_same_step(stop):
    if stop.left_out:
        check_strategy(stop)  # on problems with a left-out example
        return
    for name in SMALL:
        for shrinking in (False, True):
            compare(name, SecondOrder(), NewtonStep(), stop, shrinking=shrinking)


@pytest.mark.slow
@pytest.mark.parametrize("step", STEPS, ids=repr)
@pytest.mark.parametrize("name", LARGE)
def test_every_step_agrees_where_the_problem_is_shrunk(name, step):
    problem = PROBLEMS[name].problem
    for cache_mb in (200.0, 50.5 * 8 * problem.n / 2**20):
        compare(name, SecondOrder(), step, KKTGap(), limit=5 * LIMIT, cache_mb=cache_mb, shrinking=True)


@pytest.mark.parametrize("name", SMALL)
def test_whole_solves_are_identical(name, shrinking):
    """Through many chunks, to the end."""
    known = PROBLEMS[name]
    if known.hard and INTERPRETED:
        pytest.skip("slow without the compiler")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The kernel is not positive semi-definite")
        rules = {"step": PlanningAheadStep(), "stop": KKTGap(1e-7), "shrinking": shrinking}
        readable, compiled = (
            solve(known.problem, **rules, engine=engine, max_iter=5000, trace=True)
            for engine in ("numpy", "numba")
        )
    assert readable.iterations == compiled.iterations
    assert np.array_equal(readable.alpha, compiled.alpha)
    assert np.array_equal(readable.gradient, compiled.gradient)
    assert first_difference(readable, compiled) is None
    assert (readable.engine, compiled.engine) == ("numpy", "numba")


@pytest.mark.parametrize("selector", SELECTORS, ids=repr)
def test_ties_among_more_variables_than_a_tile_are_broken_alike(selector):
    """Whole numbers, so that many gradients are equal, also those of variables in other tiles of 128."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, size=(300, 2)).astype(float), np.where(rng.random(300) < 0.5, 1, -1)
    problem = DualProblem.classification(X, y, kernel=Linear(), C=0.5)
    start = problem.feasible(np.where(rng.random(300) < 0.5, problem.lower, problem.upper))
    case = Case("ties", problem, (selector, NewtonStep(), KKTGap(1e-6)))
    check_engines(case, shrinking=False, limit=20, start=start)
    check_engines(case, shrinking=False, limit=20)


@needs_same_bits
def test_sparse_rows_and_callables_reach_both_engines_alike():
    sparse = pytest.importorskip("scipy.sparse")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 6)) * (rng.random((40, 6)) < 0.4)
    y = np.where(np.arange(40) % 3, 1, -1)
    for data, kernel in (
        (sparse.csr_array(X), RBF(0.5)),
        (X, lambda A, B: np.tanh(A @ B.T) + 2.0 * (A @ B.T)),
    ):
        problem = DualProblem.classification(data, y, kernel=kernel, C=5.0)
        case = Case("other input", problem, (SecondOrder(), NewtonStep(), KKTGap()))
        check_engines(case, shrinking=False, cache_mb=4 * 320 / 2**20)
        check_engines(case, shrinking=True)
