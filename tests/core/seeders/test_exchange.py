"""SIR, MIR, ATO and the active set: feasible for any exchange, and what each does to α."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refsvm import RBF, SIR, ActiveSet, DualProblem, Precomputed, solve
from refsvm.core.seeders.mir import least_squares

from ...catalogue import SEEDERS
from ...settings import needs_numba
from .test_ato import boxed, problem_of


@pytest.fixture(scope="module")
def heart():
    return problem_of()


@st.composite
def exchanges(draw):
    """Two boxes of one problem: any examples absent before, any absent after; degenerate data on purpose."""
    n = draw(st.integers(4, 24))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    kind = draw(st.sampled_from(["random", "duplicates", "constant", "rank one"]))
    X = rng.normal(size=(n, 2))
    if kind == "duplicates":
        X = X[rng.integers(0, 3, size=n)]
    elif kind == "constant":
        X = np.ones((n, 2))
    y = np.where(rng.random(n) < draw(st.sampled_from([0.5, 0.1, 0.9])), 1, -1)
    y[:2] = 1, -1
    C = 10.0 ** draw(st.integers(-6, 6)) * (rng.uniform(size=n) if draw(st.booleans()) else np.ones(n))
    if kind == "rank one":
        problem = DualProblem.classification(np.outer(X[:, 0], X[:, 0]), y, kernel=Precomputed(), C=C)
    else:
        problem = DualProblem.classification(X, y, kernel=RBF(0.5), C=C)
    absent = rng.random((2, n)) < draw(st.sampled_from([0.0, 0.2, 0.5]))
    case = draw(st.sampled_from(["any", "nothing removed", "nothing added", "a class", "all"]))
    if case == "nothing removed":
        absent[1] &= absent[0]
    elif case == "nothing added":
        absent[0] &= absent[1]
    elif case == "a class":
        absent[0], absent[1] = y == 1, y == -1
    elif case == "all":
        absent[0] = True
    return boxed(problem, absent[0]), boxed(problem, absent[1])


@pytest.mark.parametrize("seeder", SEEDERS, ids=repr)
@settings(deadline=None, max_examples=60)
@given(problems=exchanges())
def test_feasible_whatever_is_removed_and_added(seeder, problems):
    old, new = problems
    seed = seeder.seed(solve(old, engine="numpy", max_iter=200), new)
    C = max(np.abs(new.lower).max(), np.abs(new.upper).max())
    assert (new.lower <= seed).all()
    assert (seed <= new.upper).all()
    assert abs(seed.sum()) <= 1e-12 * C * new.n


def test_sir_replaces_by_the_most_similar_of_the_class(heart):
    fold = np.arange(heart.n) % 10
    old, new = boxed(heart, fold == 0), boxed(heart, fold == 1)
    solved = solve(old)
    seed, K = SIR().seed(solved, new), heart.gram.block(np.arange(heart.n))
    at_bound = (solved.alpha == heart.lower) | (solved.alpha == heart.upper)
    assert (seed == solved.alpha)[(fold > 1) & at_bound].all()
    r = np.flatnonzero((fold == 1) & (solved.alpha != 0))[0]
    candidates = np.flatnonzero((fold == 0) & (heart.v == heart.v[r]))
    t = candidates[K[r, candidates].argmax()]
    assert abs(seed[t] - solved.alpha[r]) < 0.5 * abs(solved.alpha[r])


@needs_numba
def test_a_large_seed_number_is_the_same_in_the_twin(heart):
    from refsvm.compiled.interface.seeding import compiled_seed
    from refsvm.core.kernels.cached_rows import stored_rows

    positive, negative = np.flatnonzero(heart.v > 0), np.flatnonzero(heart.v < 0)
    before, after = np.zeros((2, heart.n), dtype=bool)
    before[negative[:20]] = after[positive[:10]] = True
    solved, new = solve(boxed(heart, before)), boxed(heart, after)
    for number in (2**53 + 1, 2**62 + 3):
        seeder = SIR(seed_number=number)
        found = compiled_seed(seeder, solved, new, stored_rows(heart.gram))
        np.testing.assert_array_equal(found, seeder.seed(solved, new))


def test_the_active_set_saves_steps(heart):
    small, wider = (heart.boxed(t * heart.lower, t * heart.upper) for t in (0.01, 0.02))
    start = ActiveSet().seed(solve(small), wider)
    assert solve(wider, start=start).iterations < 0.7 * solve(wider).iterations


@pytest.mark.parametrize("unit", [1e-170, 1e-100, 1e-90])
def test_rows_whose_squares_vanish_give_no_step(unit):
    """‖Aᵀs‖² is of order unit⁴: there is nothing to divide by."""
    rows = unit * np.random.default_rng(0).normal(size=(3, 5))
    assert least_squares(rows, np.ones(5), 10, 1e-9).tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("rank", [3, 8])
def test_least_squares_of_least_norm(rank):
    rng = np.random.default_rng(rank)
    rows = rng.normal(size=(8, rank)) @ rng.normal(size=(rank, 30))
    right = rng.normal(size=30)
    expected = np.linalg.pinv(rows.T) @ right
    np.testing.assert_allclose(least_squares(rows, right.copy(), 50, 1e-12), expected, atol=1e-6)
