"""ATO: its path ends at the optimum, its twin follows the same path, and it is not followed where that cannot pay."""

from __future__ import annotations

import dataclasses
import itertools
import math

import numpy as np
import pytest

from refsvm import ATO, AVG, RBF, DualProblem, KKTGap, Linear, Polynomial, Rounds, solve
from refsvm.datasets import load
from refsvm.kernels.rows import KernelRows
from refsvm.seeders.ato import PATIENCE, TIED, Walk
from refsvm.seeders.bordered import Bordered

from ..settings import FAST, needs_numba

TO_THE_END = ATO(budget=math.inf)
EXACT = KKTGap(1e-9)


def boxed(problem, absent):
    lower, upper = np.where(absent, 0.0, problem.lower), np.where(absent, 0.0, problem.upper)
    return dataclasses.replace(problem, lower=lower, upper=upper)


def problem_of(n=150, C=10.0, gamma=0.02, twice=0):
    data = load("heart")
    X, y = data.X[:n], data.y[:n]
    X, y = np.concatenate([X, X[:twice]]), np.concatenate([y, y[:twice]])
    return DualProblem.classification(X, y, kernel=RBF(gamma), C=C)


@pytest.fixture(scope="module")
def heart():
    return problem_of()


@pytest.mark.parametrize("before", [0, None], ids=["a fold comes back", "from the full solution"])
def test_the_end_is_the_optimum(heart, before):
    fold = np.arange(heart.n) % 5
    solved, new = solve(boxed(heart, fold == before), stop=EXACT), boxed(heart, fold == 1)
    seed = TO_THE_END.seed(solved, new)
    assert new.kkt_gap(seed) < 1e-6
    np.testing.assert_allclose(new.objective(seed), solve(new, stop=EXACT).objective, rtol=1e-9)


def test_along_c_it_is_the_regularisation_path(heart):
    new = dataclasses.replace(heart, lower=3 * heart.lower, upper=3 * heart.upper)
    assert new.kkt_gap(TO_THE_END.seed(solve(heart, stop=EXACT), new)) < 1e-6


@pytest.mark.parametrize("twice", [0, 40], ids=["single", "equal examples"])
@pytest.mark.parametrize("C", [1.0, 300.0])
@needs_numba
def test_the_twin_follows_the_same_path(C, twice):
    """Long enough for its arrays to grow, which `check_strategy` is not."""
    from refsvm.fast.seeding import compiled_seed

    problem = problem_of(200, C, 0.1, twice)
    fold = np.arange(problem.n) % 2
    solved, new = solve(problem, stop=EXACT, engine=FAST), boxed(problem, fold == 1)
    walk = Walk(solved, new)
    walk.begin(2.0, TO_THE_END.prepare(solved))
    while walk.advance():
        pass
    assert len(walk.free.members) > 1.3 * walk.free.count
    assert len(walk.rows) > 64
    seed = TO_THE_END.seed(solved, new)
    assert new.kkt_gap(seed) < 1e-5
    rows = KernelRows(problem.gram)
    assert np.array_equal(compiled_seed(TO_THE_END, solved, new, rows), seed)


def test_only_those_near_b_are_watched(heart):
    fold = np.arange(heart.n) % 10
    solved, new = solve(heart, stop=EXACT), boxed(heart, fold == 1)
    counts = []
    for margin in (0.01, 2.0, math.inf):
        walk = Walk(solved, new)
        walk.begin(margin, TO_THE_END.prepare(solved))
        counts.append(len(walk.watched))
    assert counts[0] < counts[1] < counts[2] == (fold != 1).sum()


def test_a_path_that_cannot_pay_is_not_followed(heart):
    fold = np.arange(heart.n) % 10
    new = boxed(heart, fold == 1)
    solved = solve(heart)
    spread = AVG().seed(solved, new)
    assert np.array_equal(ATO(budget=1e-9).seed(solved, new), spread)
    assert np.array_equal(ATO(max_free=0).seed(solved, new), spread)
    assert not np.array_equal(TO_THE_END.seed(solved, new), spread)


def test_the_budget_ends_a_path_on_its_way(heart):
    fold = np.arange(heart.n) % 3
    solved, new = solve(heart, stop=EXACT), boxed(heart, fold == 1)
    ends, work = [], math.inf
    for part in (1.0, 0.7):
        walk = Walk(solved, new)
        walk.begin(2.0, TO_THE_END.prepare(solved))
        walk.most = part * work / PATIENCE
        while walk.advance():
            pass
        work = walk.work
        ends.append(walk.done)
    assert 0.0 < ends[1] < ends[0] == 1.0


def test_the_longest_round_of_a_family_is_known(heart):
    fold = np.arange(heart.n) % 5
    rounds = Rounds(heart, engine="numpy")
    full = rounds.solve()
    left = rounds.boxed(np.where(fold == 1, 0.0, heart.lower), np.where(fold == 1, 0.0, heart.upper))
    again = rounds.solve(lower=left.lower, upper=left.upper, start=TO_THE_END.seed(full, left), origin=full)
    assert again.iterations < full.iterations
    assert (full.longest_round, again.longest_round) == (full.iterations, full.iterations)
    assert solve(heart, engine="numpy", max_iter=7).longest_round == 7


@needs_numba
@pytest.mark.parametrize("C", [1.0, 30.0])
def test_the_twin_follows_as_far_as_the_budget_goes(C):
    """Where the readable path is not begun the twin's is not, to the unit of work."""
    from refsvm.fast.seeding import compiled_seed

    problem = problem_of(200, C, 0.05)
    fold = np.arange(problem.n) % 5
    solved, new = solve(problem, stop=EXACT), boxed(problem, fold == 1)
    seeds = set()
    for budget in np.geomspace(1e-3, 1.0, 60):
        seeder = ATO(budget=budget)
        seed = seeder.seed(solved, new)
        assert np.array_equal(compiled_seed(seeder, solved, new, KernelRows(problem.gram)), seed)
        seeds.add(seed.tobytes())
    assert len(seeds) == 2


def small_problems():
    """Few whole numbers with labels at random, two values of C, three folds."""
    quadratic = Polynomial(degree=2, gamma=0.5, coef0=1.0)
    for seed in (0, 1, 3):
        rng = np.random.default_rng(seed)
        for d, kernel in ((1, quadratic), (3, Linear()), (1, Linear()), (2, RBF(0.5))):
            data = rng.integers(0, 3, size=(40, d)).astype(float), rng.choice([-1, 1], 40)
            for C, h in itertools.product((1e-3, 0.1), range(3)):
                yield data, kernel, C, h


@needs_numba
def test_the_twin_forgets_on_whom_equal_examples_depended_once_m_is_empty(monkeypatch):
    """Several tied variables wait for the last free one: the product that took it out belongs to no M any more."""
    from refsvm.fast.seeding import compiled_seed

    leave, tied_then = Bordered.leave, []
    walks = []

    def noted(free, k):
        leave(free, k)
        if not free.count:
            tied_then.append(int((walks[-1].kinds == TIED).sum()))

    monkeypatch.setattr(Bordered, "leave", noted)
    fold = np.arange(40) % 7
    for data, kernel, C, h in small_problems():
        problem = DualProblem.classification(*data, kernel=kernel, C=C)
        solved, new = solve(boxed(problem, fold == h)), boxed(problem, fold == h + 1)
        walks.append(Walk(solved, new))
        walks[-1].begin(1.0, TO_THE_END.prepare(solved))
        while walks[-1].advance():
            pass
        seed = compiled_seed(TO_THE_END, solved, new, KernelRows(problem.gram))
        assert np.array_equal(seed, TO_THE_END.seed(solved, new))
    assert max(tied_then) > 1
