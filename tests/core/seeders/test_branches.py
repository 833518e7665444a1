"""The seed of each seeder, worked out by hand for every branch of its body, on both sides."""

from __future__ import annotations

import numpy as np
import pytest

from refsvm import (
    ATO,
    AVG,
    MIR,
    RBF,
    SIR,
    TOP,
    ActiveSet,
    Cold,
    DualProblem,
    KKTGap,
    Precomputed,
    Solution,
    Status,
    solve,
)
from refsvm.core.kernels import Gram
from refsvm.core.kernels.rows import KernelRows
from refsvm.core.seeders.exchange import offset
from refsvm.core.seeders.mir import gradient_change
from refsvm.core.seeders.neighbour import extrapolate
from refsvm.core.seeders.sir import FACTOR, MODULUS

from ...settings import NUMBA

if NUMBA:
    from refsvm.compiled.backend import CompiledBackend


def problem(lower, upper, K=None, z=0.0, v=None):
    lower, upper = np.array(lower, dtype=float), np.array(upper, dtype=float)
    n = len(lower)
    K, v = (
        np.eye(n) if K is None else np.array(K, dtype=float),
        np.ones(n) if v is None else np.array(v, dtype=float),
    )
    return DualProblem(Gram(Precomputed(), K), v, z, lower, upper)


def solution(of: DualProblem, alpha, gradient=None) -> Solution:
    """As if this α were the solution."""
    alpha = np.array(alpha, dtype=float)
    G = of.gradient(alpha) if gradient is None else np.array(gradient, dtype=float)
    return Solution(of, alpha, G, 100, 0, 0, Status.CONVERGED, "", 0.0, "numpy", longest_round=100)


def seed(engine, seeder, solved, new):
    """The seed, by the seeder or by its twin."""
    shared = (seeder.memory(solved, 100),) if isinstance(seeder, ATO) else ()
    if engine == "numba":
        seeder = CompiledBackend().seeder(seeder, KernelRows(new.gram))
    return seeder.seed(solved, new, *shared)


def check(engine, seeder, solved, new, expected):
    np.testing.assert_allclose(seed(engine, seeder, solved, new), expected, rtol=0, atol=1e-14)


OLD = problem([0, 0, -1, -1], [1, 1, 0, 0])
SOLVED = solution(OLD, [0.6, 0.3, -0.7, -0.2])


def test_cold(engine):
    check(engine, Cold(), SOLVED, OLD.without(1), [0.0] * 4)
    # 0 is outside one box, and the sum is 1: 0.5 is missing and shared by all but the one at its bound
    new = problem([0.5, 0.0, 0.0, 0.0], [0.5, 1.0, 1.0, 0.1], z=1.0)
    check(engine, Cold(), solution(new, [0.5, 0.5, 0.0, 0.0]), new, [0.5, 0.2, 0.2, 0.1])
    new = problem([-1.0, -1.0, -2.0], [1.0, -0.4, -0.6])
    check(engine, Cold(), solution(new, [0.5, -0.4, -0.6]), new, [1.0, -0.4, -0.6])


def test_avg(engine):
    for seeder in (AVG(), TOP()):  # what leaves has no weight
        check(engine, seeder, solution(OLD, [0.6, 0.0, -0.4, -0.2]), OLD.without(1), [0.6, 0.0, -0.4, -0.2])
    # 0.3 is missing; 0, 2 and 3 are free: 0.1 each
    check(engine, AVG(), SOLVED, OLD.without(1), [0.7, 0.0, -0.6, -0.1])
    # −0.7 is too much; 0, 1, 3 are free: 0.7/3 each
    check(engine, AVG(), SOLVED, OLD.without(2), [0.6 - 0.7 / 3, 0.3 - 0.7 / 3, 0.0, -0.2 - 0.7 / 3])
    # only 0 is free, and takes 0.2 of 0.6; the rest goes to all that can rise: 2 and 3
    bounded = solution(OLD, [0.8, 0.6, -1.0, -0.4])
    check(engine, AVG(), solution(OLD, [0.8, 0.2, -1.0, 0.0]), OLD.without(1), [1.0, 0.0, -1.0, 0.0])
    new = problem([0, 0, -1, -0.4], [1, 0, 0, 0])
    check(engine, AVG(), bounded, new, [1.0, 0.0, -0.8, -0.2])


KERNEL = [[1.0, 0.9, 0.5, 0.7], [0.9, 1.0, 0.8, 0.8], [0.5, 0.8, 1.0, 0.1], [0.7, 0.8, 0.1, 1.0]]


def test_top(engine):
    old = problem([0, 0, -1, -1], [1, 1, 0, 0], KERNEL)
    # r = 1 loses 0.3: the most similar one, 0, takes it
    check(engine, TOP(), solution(old, [0.6, 0.3, -0.7, -0.2]), old.without(1), [0.9, 0.0, -0.7, -0.2])
    # 0 has room for 0.1 only; 2 comes before 3, whose kernel value is the same
    check(engine, TOP(), solution(old, [0.9, 0.3, -0.7, -0.5]), old.without(1), [1.0, 0.0, -0.5, -0.5])
    check(engine, TOP(), solution(old, [0.9, 0.5, -0.3, -1.1 + 0.0]), old.without(1), [1.0, 0.0, 0.0, -1.0])
    # r = 2 loses −0.7: 1 is the most similar, then 0, then 3
    check(engine, TOP(), solution(old, [0.6, 0.3, -0.7, -0.2]), old.without(2), [0.2, 0.0, 0.0, -0.2])
    # two are removed, one after the other
    check(engine, TOP(), solution(old, [0.6, 0.3, -0.7, -0.2]), old.without([1, 3]), [0.7, 0.0, -0.7, 0.0])


def test_top_shares_the_rest_of_another_sum():
    """Nothing is clipped. Twins are asked for boxes alone."""
    old, new = (problem([0, 0, -1, -1], [1, 1, 0, 0], KERNEL, z) for z in (0.0, 0.2))
    check("numpy", TOP(), solution(old, [0.6, 0.3, -0.7, -0.2]), new, [0.65, 0.35, -0.65, -0.15])


def test_active_set(engine):
    larger = problem([0, 0, -2, -2], [2, 2, 0, 0])
    # at U, at L, at −C, free: the sum is then right
    check(engine, ActiveSet(), solution(OLD, [1.0, 0.0, -1.0, 0.0]), larger, [2.0, 0.0, -2.0, 0.0])
    check(engine, ActiveSet(), solution(OLD, [1.0, 0.3, -1.0, -0.3]), larger, [2.0, 0.3, -2.0, -0.3])
    # one at U, the others free: −1 is missing and shared by the three
    expected = np.array([3.0, 0.4, -0.9, -0.5]) - [1.0, *[1 / 3] * 3]
    check(engine, ActiveSet(), solution(OLD, [1.0, 0.4, -0.9, -0.5]), larger, expected)
    # smaller: free ones are clipped, and one without a box before is not at its bound
    smaller = problem([0, 0, -0.5, -0.5], [0.5, 0.5, 0, 0])
    check(engine, ActiveSet(), solution(OLD, [0.8, 0.1, -0.5, -0.4]), smaller, [0.5, 0.25, -0.5, -0.25])
    closed = problem([0, 0, -1, -1], [1, 0, 0, 0])
    check(engine, ActiveSet(), solution(closed, [0.6, 0.0, -0.4, -0.2]), larger, [0.6, 0.0, -0.4, -0.2])
    # a bound at infinity is not gone to
    endless = problem([0, 0, -np.inf, -np.inf], [np.inf, np.inf, 0, 0])
    check(engine, ActiveSet(), solution(OLD, [1.0, 0.3, -1.0, -0.3]), endless, [1.0, 0.3, -1.0, -0.3])


SIX = np.eye(6) + 0.1
SIX[0, 3], SIX[0, 4], SIX[0, 5] = 0.2, 0.6, 0.4
SIX[1, 3], SIX[1, 4], SIX[1, 5] = 0.3, 0.5, 0.9
SIX = np.triu(SIX) + np.triu(SIX, 1).T


def exchanged(signs, alpha):
    """0 and 1 go, 3, 4 and 5 come; 2 stays."""
    signs = np.array(signs)
    lower, upper = np.where(signs < 0, -1.0, 0.0), np.where(signs > 0, 1.0, 0.0)
    there = np.arange(6) < 3, np.arange(6) > 1
    old, new = (problem(np.where(each, lower, 0.0), np.where(each, upper, 0.0), SIX) for each in there)
    return solution(old, alpha), new


def test_sir(engine):
    # r = 0 takes 4, the most similar of its class, although 5 is left over for r = 1, which is nearest to it
    solved, new = exchanged([1, 1, -1, 1, 1, 1], [0.4, 0.5, -0.9, 0, 0, 0])
    check(engine, SIR(), solved, new, [0, 0, -0.9, 0, 0.4, 0.5])
    # 4 is of the other class: r = 0 takes 5, r = 1 what is left
    solved, new = exchanged([1, 1, -1, 1, -1, 1], [0.4, 0.5, -0.9, 0, 0, 0])
    check(engine, SIR(), solved, new, [0, 0, -0.9, 0.5, 0, 0.4])
    # the same with the signs turned round
    solved, new = exchanged([-1, -1, 1, -1, 1, -1], [-0.4, -0.5, 0.9, 0, 0, 0])
    check(engine, SIR(), solved, new, [0, 0, 0.9, -0.5, 0, -0.4])
    # r = 0 has no weight to give
    solved, new = exchanged([1, 1, -1, 1, 1, 1], [0.0, 0.5, -0.5, 0, 0, 0])
    check(engine, SIR(), solved, new, [0, 0, -0.5, 0, 0, 0.5])


@pytest.mark.parametrize("number", [0, 1, 5, 10**6, 10**6 + 1, 10**6 + 2])
def test_sir_where_no_example_of_the_class_is_left(number, engine):
    """A random one takes the weight with its own sign; what the sum lacks is spread over those that came."""
    solved, new = exchanged([1, -1, 1, -1, -1, -1], [0.4, -0.5, 0.1, 0, 0, 0])
    random = [3, 4, 5][FACTOR * (1 + number) % MODULUS % 3]
    similar = 4 if random == 5 else 5
    # −0.8 is too much: of 0.4 each one reaches 0, and the other −0.1
    expected = np.array([0, 0, 0.1, 0, 0, 0])
    expected[similar] = -0.1
    check(engine, SIR(number), solved, new, expected)


def root(rising):
    """Where a function that rises from below 0 to above it is 0, between −40 and 40."""
    low, high = -40.0, 40.0
    for _ in range(100):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if rising(middle) < 0.0 else (low, middle)
    return middle


def filled(alpha, among, missing, lower, upper):
    """α where the same amount is added to all of these and cut at the box, by bisection over the amount."""
    start, low, high = alpha[among], lower[among], upper[among]
    after = high if missing > 0.0 else low
    if abs(missing) < abs((after - start).sum()):
        step = root(lambda d: (np.clip(start + d, low, high) - start).sum() - missing)
        after = np.clip(start + step, low, high)
    changed = alpha.copy()
    changed[among] = after
    return changed


def by_least_squares(K, solved, new, T, dG):
    """α after the removal of 0: T by the pseudo-inverse, cut; then what the sum lacks over T, the free ones, all."""
    X, lower, upper = np.flatnonzero(new.upper > new.lower), new.lower, new.upper
    right = np.append(K[X, 0] * solved.alpha[0] - dG[X], solved.alpha[0])
    alpha = solved.alpha.copy()
    alpha[0] = 0.0
    alpha[T] = np.linalg.pinv(np.vstack([K[np.ix_(X, T)], np.ones(len(T))])) @ right
    alpha = np.clip(alpha, lower, upper)
    alpha = filled(alpha, T, -alpha.sum(), lower, upper)
    alpha = filled(alpha, (lower < alpha) & (alpha < upper), -alpha.sum(), lower, upper)
    return filled(alpha, np.arange(len(alpha)), -alpha.sum(), lower, upper)


@pytest.mark.parametrize(
    ("data", "box", "matters"),
    [
        pytest.param(0, [9.0] * 6, True, id="nothing is cut"),
        pytest.param(2, [9.0] * 6, True, id="what leaves has no weight"),
        pytest.param(7, [9.0] * 6, False, id="5 is cut at 0"),
        pytest.param(6, [0.6] * 6, True, id="both are cut, 5 takes the rest"),
        pytest.param(
            0, [9.0, 9.0, 9.0, 9.0, 0.2, 9.0], False, id="both are cut, the free ones take the rest"
        ),
        pytest.param(5, [2.0, 0.1, 2.1, 2.0, 0.2, 0.0], False, id="4 joins alone, and 1 is full too"),
    ],
)
@pytest.mark.parametrize("holds_0", [True, False])
def test_mir(data, box, matters, holds_0, engine):
    """0 leaves, 4 and 5 join. Of T only what gains is to change G, by b − G."""
    rng = np.random.default_rng(data)
    A, signs, box = rng.normal(size=(6, 8)), np.array([1, -1, 1, -1, 1, -1]), np.array(box)
    K = A @ A.T / 8.0
    lower, upper = np.where(signs < 0, -box, 0.0), np.where(signs > 0, box, 0.0)
    upper[3] = 0.0 if holds_0 else -0.05
    there, T = np.arange(6) < 4, np.array([4, 5] if box[5] else [4])
    old = problem(np.where(there, lower, 0), np.where(there, upper, 0), K, v=signs)
    new = problem(np.where(np.arange(6) > 0, lower, 0), np.where(np.arange(6) > 0, upper, 0), K, v=signs)
    solved = solve(old, stop=KKTGap(1e-12), engine="numpy")
    G, b = solved.gradient, offset(solved)
    wanted = (old.lower < solved.alpha) & (solved.alpha < old.upper)
    wanted[4:] = G[4] > b, G[5] < b and 5 in T
    dG = np.where(wanted, b - G, 0.0)
    np.testing.assert_allclose(gradient_change(solved, new, T), dG, atol=1e-12)
    found = seed(engine, MIR(tol=1e-12), solved, new)
    np.testing.assert_allclose(found, by_least_squares(K, solved, new, T, dG), atol=1e-8)
    # without dG, or with its sign turned round, the seed is another one
    for other in (0.0 * dG, -dG):
        assert (abs(found - by_least_squares(K, solved, new, T, other)).max() > 0.05) == matters


@pytest.mark.parametrize(
    "seeder", [Cold(), AVG(), TOP(), ActiveSet(), SIR(), MIR(), ATO(margin=np.inf, budget=np.inf)], ids=repr
)
def test_a_seeder_says_whether_it_reads_kernel_rows(seeder, monkeypatch):
    """Rows in single precision are kept as they are for one that reads none."""
    read, X = [], np.random.default_rng(2).normal(size=(12, 2))
    old = DualProblem.classification(X, np.repeat([-1, 1], 6), kernel=RBF(1.0))
    solved = solve(old.without([3, 9]), stop=KKTGap(1e-12), engine="numpy")
    for name in ("row", "block"):
        real = getattr(Gram, name)
        monkeypatch.setattr(Gram, name, lambda *at, real=real: read.append(at) or real(*at))
    seeder.seed(solved, old.without([1, 8]))
    assert bool(read) == seeder.reads_rows


def test_the_offset_of_a_solution():
    """Midway between the ends of G; the end that there is; 0 where no variable may move."""
    box = problem([0, 0, -1], [1, 1, 0])
    assert offset(solution(box, [0.5, 0.0, -0.5], [0.4, 0.1, 0.2])) == pytest.approx(0.5 * (0.4 + 0.2))
    assert offset(solution(box, [1.0, 1.0, 0.0], [0.4, 0.1, 0.2])) == pytest.approx(0.1)  # all may fall only
    assert offset(solution(problem([0, 0], [0, 0]), [0.0, 0.0], [0.4, 0.1])) == 0.0


def test_a_neighbour_shows_how_alpha_changes():
    old, new = problem([0, 0, -1, -1], [1, 1, 0, 0]), problem([0, 0, -2, -2], [2, 2, 0, 0])
    source, before = solution(old, [0.5, 0.25, -0.5, -0.25]), solution(old, [0.5, 0.5, -0.75, -0.25])
    after = solution(new, [0.75, 0.5, -1.0, -0.25])
    # 0: same here and there, so as after; 1: unchanged there, so as here; 2: −1 + (−0.5 + 0.75); 3: both
    found = extrapolate(np.zeros(4), new, after, before, source)
    np.testing.assert_allclose(found, [0.75, 0.25, -0.75, -0.25])
    # clipped; what is left out there keeps its value
    after = solution(new.without(3), [1.9, 0.1, -2.0, 0.0])
    source, before = solution(old, [1.0, 0.25, -1.0, -0.25]), solution(old, [0.5, 0.5, -1.0, 0.0])
    found = extrapolate(np.array([9.0, 9.0, 9.0, -0.5]), new, after, before, source)
    # 1.9 + 0.5, 0.1 − 0.25, −2, kept: 2, 0, −2 and −0.5, of which −0.5 is spread over the free one, then all
    assert found.sum() == pytest.approx(0.0, abs=1e-14)
    assert found[0] == 2.0
    np.testing.assert_allclose(found[3], 0.0, atol=1e-14)
    # without a before: as after, clipped
    found = extrapolate(np.zeros(4), old, solution(new, [1.0, 0.5, -1.0, -0.5]))
    np.testing.assert_allclose(found, [1.0, 0.5, -1.0, -0.5])
