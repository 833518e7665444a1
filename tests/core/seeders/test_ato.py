"""ATO: its path ends at the optimum, its twin follows the same path, and it is not followed where that cannot pay."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from refsvm import (
    ATO,
    AVG,
    RBF,
    DualProblem,
    KKTGap,
    Linear,
    Polynomial,
    Precomputed,
    Rounds,
    Solution,
    Status,
    solve,
)
from refsvm.core.kernels import Gram
from refsvm.core.kernels.cached_rows import stored_rows
from refsvm.core.seeders import ato
from refsvm.core.seeders.ato import exchange
from refsvm.core.walk.walk import ABOVE, BELOW, CLOSED, FREE, TIED, Walk
from refsvm.datasets import load

from ...settings import FAST, NUMBA, needs_numba

if NUMBA:
    from refsvm.compiled.interface.seeding import compiled_seed

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


def drawn(seed):
    """Draw two problems with one kernel matrix: examples leave, come or are exchanged, or all penalties grow."""
    rng = np.random.default_rng(seed)
    X, kernel, C = rng.normal(size=(30, 2)), (RBF(1.0), RBF(0.5))[seed % 2], 10.0 ** rng.uniform(0.0, 2.0)
    if seed % 3 == 2:  # whole numbers, where a path may meet what is singular
        X, C = rng.integers(0, 3, size=(30, rng.integers(1, 4))).astype(float), 10.0 ** rng.uniform(-3.0, 0.0)
        kernel = (RBF(0.5), Linear(), Polynomial(degree=2, gamma=0.5, coef0=1.0))[rng.integers(3)]
    X, y = np.repeat(X, 1 + seed % 2, axis=0), rng.choice([-1, 1], 30 * (1 + seed % 2))
    whole, fold = DualProblem.classification(X, y, kernel=kernel, C=C), rng.integers(5, size=len(y))
    ways = [
        (whole, boxed(whole, fold == 1)),
        (boxed(whole, fold == 1), whole),
        (boxed(whole, fold == 0), boxed(whole, fold == 1)),
        (whole, whole.boxed(3.0 * whole.lower, 3.0 * whole.upper)),
    ]
    return ways[rng.integers(len(ways))]


def test_the_end_is_the_optimum(monkeypatch):
    """Both engines follow the same path, also where several tied variables wait for the last free one to leave."""
    leave, tied_then = Walk.leave, []

    def noted(walk, i, side):
        tied_then.append(int((walk.side == TIED).sum()) * (len(walk.members) == 1))
        leave(walk, i, side)

    monkeypatch.setattr(Walk, "leave", noted)
    for number in range(60):
        old, new = drawn(number)
        solved = solve(old, stop=EXACT, engine=FAST)
        seeder = ATO(budget=math.inf, margin=1.0 if number % 3 == 2 else math.inf)
        seed = seeder.seed(solved, new)
        assert number % 3 == 2 or new.kkt_gap(seed) < 1e-6, number
        if NUMBA:
            found = compiled_seed(seeder, solved, new, stored_rows(new.gram))
            np.testing.assert_array_equal(found, seed)
    assert max(tied_then) > 1


@needs_numba
def test_the_arrays_of_the_twin_grow():
    from refsvm.compiled.walk.walk import MORE

    problem = problem_of(250, 300.0, 1.0)
    solved = solve(boxed(problem, np.arange(problem.n) >= 20), stop=EXACT)
    seed = TO_THE_END.seed(solved, problem)
    free = [
        np.count_nonzero((p.lower < a) & (a < p.upper))
        for p, a in ((solved.problem, solved.alpha), (problem, seed))
    ]
    assert free[1] > free[0] + MORE
    assert problem.kkt_gap(seed) < 1e-5
    assert np.array_equal(compiled_seed(TO_THE_END, solved, problem, stored_rows(problem.gram)), seed)


@pytest.mark.parametrize(("margin", "expected"), [(1.0, [0, 2, 4]), (0.1, [0, 4]), (3.0, [0, 2, 3, 4])])
def test_where_no_g_moves_at_first_the_margin_is_a_distance(margin, expected):
    """0 takes the weight of 1, which is equal: G stays, so that no example has a speed; 2 is 0.5 away, 3 is 2."""
    K = np.eye(5)
    K[0, 1] = K[1, 0] = 1.0
    lower, upper = np.array([0.0, 0.0, 0.0, 0.0, -9.0]), np.array([9.0, 9.0, 9.0, 9.0, 0.0])
    problem = DualProblem(Gram(Precomputed(), K), np.array([2.0, 2.0, 0.5, -1.0, 0.0]), 0.0, lower, upper)
    # of two equal ones together, and 4: f = 2a − a², so a = 1, and G = b = 1 on these three
    solved = solve(problem, start=np.array([0.5, 0.5, 0.0, 0.0, -1.0]), engine="numpy")
    np.testing.assert_allclose(solved.gradient, [1.0, 1.0, 0.5, -1.0, 1.0])
    memory = TO_THE_END.memory(solved)
    watched = ATO(margin=margin).begin(exchange(solved, problem.without(1)), memory)
    assert watched.tolist() == expected


def test_a_path_that_cannot_pay_is_not_followed(heart):
    fold = np.arange(heart.n) % 10
    new = boxed(heart, fold == 1)
    solved = solve(heart)
    spread = AVG().seed(solved, new)
    assert np.array_equal(ATO(budget=1e-9).seed(solved, new), spread)
    assert np.array_equal(ATO(max_free=0).seed(solved, new), spread)
    assert not np.array_equal(TO_THE_END.seed(solved, new), spread)
    # the memory of the solution says what is allowed: a path of so many variables may take more
    memory = TO_THE_END.memory(solved)
    memory[0] = 1.0
    assert np.array_equal(TO_THE_END.seed(solved, new, memory), spread)


OF_EXCHANGE = {  # α, the old box and the new one, G − b; then the way it goes, the box where it begins, its side
    "removed, from above": (0.5, (0, 1), (0, 0), 0.0, -0.5, (0.5, 0.5), CLOSED),
    "removed, from below": (-0.5, (-1, 0), (0, 0), 0.0, 0.5, (-0.5, -0.5), CLOSED),
    "above the new box": (0.8, (0, 1), (0, 0.5), 0.0, -0.3, (0.8, 0.8), CLOSED),
    "below the new box": (-0.8, (-1, 0), (-0.5, 0), 0.0, 0.3, (-0.8, -0.8), CLOSED),
    "free": (0.25, (0, 1), (0, 2), 0.0, 0.0, (0, 2), FREE),
    "added, and is to rise": (0.0, (0, 0), (0, 1), 0.5, 1.0, (0, 0), ABOVE),
    "added, and is to fall": (0.0, (0, 0), (-1, 0), -0.5, -1.0, (0, 0), BELOW),
    "added, and stays": (0.0, (0, 0), (0, 1), -0.5, 0.0, (0, 1), BELOW),
    "at its upper bound, which moves": (1.0, (0, 1), (0, 3), 0.25, 2.0, (0, 1), ABOVE),
    "at its lower bound, which moves": (-1.0, (-1, 0), (-3, 0), -0.25, -2.0, (-1, 0), BELOW),
    "at its upper bound, which stays": (1.0, (0, 1), (0, 1), 0.25, 0.0, (0, 1), ABOVE),
    "at its lower bound, which stays": (-1.0, (-1, 0), (-1, 0), -0.25, 0.0, (-1, 0), BELOW),
    "at its upper bound, and both move": (1.0, (-1, 1), (-2, 3), 0.5, 2.0, (-2, 1), ABOVE),
    "at its lower bound, and both move": (-1.0, (-1, 1), (-3, 2), -0.5, -2.0, (-1, 2), BELOW),
    "its lower bound has come to it": (0.0, (-1, 1), (0, 1), 0.5, 1.0, (0, 0), ABOVE),
    "its upper bound has come to it": (0.0, (-1, 1), (-1, 0), -0.5, -1.0, (0, 0), BELOW),
    "no bound above": (0.0, (0, 0), (0, math.inf), 0.5, 1.0, (0, 0), ABOVE),
    "no bound below": (0.0, (0, 0), (-math.inf, 0), -0.5, -1.0, (0, 0), BELOW),
}


@pytest.mark.parametrize("name", OF_EXCHANGE)
@pytest.mark.parametrize("far", [1.0, 3.0])
def test_which_boxes_move_and_where_to(name, far):
    """F goes to its new box, T to its far bound, or as far as the largest weight where there is none, at least by 1."""
    alpha, was, becomes, excess, way, box, side = OF_EXCHANGE[name]
    other = 0.0 if far == 1.0 else -far  # a variable at its bound that is told nothing
    old = np.array([was, (-far, 0.0), (-9.0, 9.0)], dtype=float).T
    new = np.array([becomes, (-far, 0.0), (-9.0, 9.0)], dtype=float).T
    gram, alpha = Gram(Precomputed(), np.eye(3)), np.array([alpha, other, 0.5])
    before, after = (DualProblem(gram, np.zeros(3), 0.0, *both) for both in (old, new))
    gradient = np.array([excess, -9.0 if other else 0.0, 0.0])
    solved = Solution(before, alpha, gradient, 9, 0, 0, Status.CONVERGED, "", 0.0, "numpy")
    walk, way = exchange(solved, after), way * (far if name.startswith("no bound") else 1.0)
    line, of = walk.line, walk.variables
    assert walk.side[0] == side
    assert (of.lower[0], of.upper[0]) == box
    assert line.lower[0] == pytest.approx(way if side in (CLOSED, BELOW) else 0.0)
    assert line.upper[0] == pytest.approx(way if side in (CLOSED, ABOVE) else 0.0)
    assert of.pace.tolist() == pytest.approx([way, 0.0, 0.0])


def test_the_budget_ends_a_path_on_its_way(heart, monkeypatch):
    """An event costs m(w + 2m) where m are free and w watched; the path ends with that beyond four times the budget."""
    fold, works, honest = np.arange(heart.n) % 3, [], Walk.advance
    solved, new = solve(heart, stop=EXACT), boxed(heart, fold == 1)
    memory = TO_THE_END.memory(solved)
    begun = heart.n * (np.count_nonzero(exchange(solved, new).variables.pace) + memory[1])

    def advance(walk, room):
        m = len(walk.members)
        works.append((works[-1] if works else begun) + m * (len(walk.side) + 2 * m))
        return honest(walk, room)

    monkeypatch.setattr(ato, "expected", lambda *sizes: 0.0)
    monkeypatch.setattr(Walk, "advance", advance)
    TO_THE_END.seed(solved, new, memory)
    whole = works.copy()
    assert len(whole) > 20
    for event in (0, 7, 20):
        for less, count in ((0.0, event + 2), (1e-9, event + 1)):
            works.clear()
            memory[0] = whole[event] / 4.0 * (1.0 - less)
            TO_THE_END.seed(solved, new, memory)
            assert works == whole[:count]


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
@pytest.mark.parametrize("C", [1.0, pytest.param(30.0, marks=pytest.mark.slow)])
def test_the_twin_follows_as_far_as_the_budget_goes(C):
    """Where the readable path is not begun the twin's is not, to the unit of work."""
    problem = problem_of(200, C, 0.05)
    fold = np.arange(problem.n) % 5
    solved, new = solve(problem, stop=EXACT), boxed(problem, fold == 1)
    seeds = set()
    for budget in np.geomspace(1e-3, 1.0, 60):
        seeder = ATO(budget=budget)
        seed = seeder.seed(solved, new)
        assert np.array_equal(compiled_seed(seeder, solved, new, stored_rows(problem.gram)), seed)
        seeds.add(seed.tobytes())
    assert len(seeds) == 2
