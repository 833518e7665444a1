"""Functions that the chapters write, on a hundred random problems: they do as the rules of the package do."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from refsvm import (
    ATO,
    AVG,
    RBF,
    SIR,
    TOP,
    ConjugateStep,
    DualProblem,
    HybridMaximumGain,
    KKTGap,
    Linear,
    MaximumGain,
    MostViolatingPair,
    NewtonStep,
    PlanningAheadStep,
    Precomputed,
    SecondOrder,
    cross_validate,
    iterate,
    solve,
)
from refsvm.core.walk.linear_program import longest_fall
from refsvm.datasets import make_banana

from ..catalogue import matrix

TUTORIALS = Path(__file__).parents[2] / "tutorials"
pytestmark = pytest.mark.skipif(not TUTORIALS.exists(), reason="the chapters are not here")


@pytest.fixture(params=range(100))
def seed(request: pytest.FixtureRequest) -> int:
    return request.param


@cache
def functions(chapter: str) -> SimpleNamespace:
    """The functions and constants of a chapter, with its imports; nothing else of it is executed."""
    for library in ("scipy", "matplotlib", "sklearn"):
        pytest.importorskip(library)
    (file,) = TUTORIALS.glob(f"{chapter}_*.py")
    tree = ast.parse(file.read_text(encoding="utf-8"))
    kept = [each for each in tree.body if isinstance(each, ast.Import | ast.ImportFrom | ast.FunctionDef)]
    kept += [each for each in tree.body if "CLOSED" in ast.unparse(each) and isinstance(each, ast.Assign)][:1]
    names: dict[str, object] = {}
    exec(compile(ast.Module(kept, []), file.name, "exec"), names)
    return SimpleNamespace(**names)


def random_problem(seed: int, n: int = 24) -> DualProblem:
    """Two overlapping classes with a random kernel matrix, C and width; some are separable, some have many bounds."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 3 == 0, 1, -1)[rng.permutation(n)]
    X = rng.normal(size=(n, 2)) + rng.uniform(0.0, 1.5) * y[:, None]
    K = RBF(10.0 ** rng.uniform(-1.5, 1.0))(X, X)
    C = float(10.0 ** rng.uniform(-1.0, 2.5))
    return DualProblem.classification((K + K.T) / 2, y, kernel=Precomputed(), C=C)


def penalty(problem: DualProblem) -> float:
    return float((problem.upper - problem.lower).max())


def moved(problem: DualProblem, **rules) -> list[tuple[int, int]]:
    return [tuple(state.working_sets[0].tolist()) for state in iterate(problem, step=NewtonStep(), **rules)]


def test_loops_of_chapter_5_move_the_pairs_of_the_package(seed):
    problem = random_problem(seed)
    book, K, C = functions("05"), matrix(problem), penalty(problem)
    alpha, b, pairs = book.smo(K, problem.v, C)
    assert pairs == moved(problem, selector=MostViolatingPair())
    assert abs(b - problem.intercept(alpha)) < 1e-3


@pytest.mark.parametrize(
    "moved_by", [SecondOrder(), HybridMaximumGain()], ids=lambda rule: type(rule).__name__
)
def test_choices_of_chapter_7_are_those_of_the_package(seed, moved_by):
    problem, book = random_problem(seed), functions("07")
    K = matrix(problem)
    for state in iterate(problem, selector=moved_by, step=NewtonStep(), cache_mb=np.inf):
        if state.gap <= 1e-2 or state.iteration > 60:
            break
        now = K, state.gradient, state.alpha, problem.lower, problem.upper
        last = state.working_sets[0].tolist()
        assert book.second_order(*now) == SecondOrder().select(state)
        assert book.maximum_gain(*now, last) == MaximumGain().select(state)
        assert book.hybrid_maximum_gain(*now, last) == HybridMaximumGain(eta=0.0).select(state)


def test_shrinking_of_chapter_8_ends_at_the_optimum(seed):
    problem, book = random_problem(seed, n=40), functions("08")
    best = solve(problem, stop=KKTGap(1e-8)).objective
    bound = 0.5 * problem.n * penalty(problem) * 1e-3
    alpha, sizes, steps, gains, _ = book.shrunk(problem)
    assert problem.kkt_gap(alpha) <= 1e-3 + 1e-9
    assert 0.0 <= best - problem.objective(alpha) + 1e-9 <= bound + 1e-9
    assert len(sizes) == len(steps) == len(gains)
    assert min(gains) > 0.0
    alpha, active, _ = book.in_place(problem)
    assert problem.kkt_gap(alpha) <= 1e-3 + 1e-9
    assert 0.0 <= best - problem.objective(alpha) + 1e-9 <= bound + 1e-9
    assert min(active) >= 2
    assert max(active) <= problem.n


def test_the_store_of_chapter_8_computes_the_rows_of_the_package(seed):
    room, rng = 4 + seed % 8, np.random.default_rng(seed)
    X, y = rng.normal(size=(24, 2)), np.where(np.arange(24) % 3 == 0, 1, -1)
    problem = DualProblem.classification(X, y, kernel=RBF(0.5), C=float(10.0 ** rng.uniform(-1.0, 2.0)))
    run = solve(
        problem, selector=SecondOrder(), step=NewtonStep(), shrinking=False, trace=True,
        cache_mb=(room + 0.5) * 8 * problem.n / 2**20, engine="numpy",
    )  # fmt: skip
    pairs = list(zip(run.trace["i"].tolist(), run.trace["j"].tolist(), strict=True))
    states = list(functions("08").lru(pairs, room))
    assert sum(len(computed) for computed, _ in states) == run.kernel_rows
    for pair, (_, kept) in zip(pairs, states, strict=True):
        assert set(pair) <= set(kept)
        assert len(kept) <= room


def test_steps_of_chapter_10_are_those_of_the_package(seed):
    problem, book = random_problem(seed), functions("10")
    K, box, before = matrix(problem), (problem.lower, problem.upper), None
    for state in iterate(problem, step=PlanningAheadStep(), cache_mb=np.inf):
        pair = tuple(state.working_sets[0].tolist())
        if before is not None:
            alpha, G, last, may_plan = before
            own = book.planned_step(K, G, alpha, *box, pair, last) if may_plan else None
            assert (own is not None) == state.last_planned
            assert own is None or own == pytest.approx(state.last_step, rel=1e-9)
        before = state.alpha.copy(), state.gradient.copy(), pair, state.last_free and not state.last_planned


def test_seeds_of_chapters_11_and_13_are_those_of_the_package(seed):
    problem = random_problem(seed)
    book, folds, rng = functions("11"), functions("13"), np.random.default_rng(seed)
    K, box = matrix(problem), (problem.lower, problem.upper)
    full = solve(problem, stop=KKTGap(1e-8))
    r = int(rng.choice(np.flatnonzero(full.alpha)))
    left_out = problem.without(r)
    assert np.allclose(book.top(K, full.alpha, *box, r), TOP().seed(full, left_out), atol=1e-9)
    assert np.allclose(book.avg(full.alpha, *box, r), AVG().seed(full, left_out), atol=1e-9)
    fold = rng.permutation(problem.n) % 4
    leave, join = np.flatnonzero(fold == 1), np.flatnonzero(fold == 0)
    first, target = solve(problem.without(join), stop=KKTGap(1e-8)), problem.without(leave)
    own = folds.sir(K, problem.v, first.alpha, leave, join)
    if abs(own.sum()) < 1e-9:  # each has found a partner; the chapter has no more than that
        assert np.allclose(own, SIR().seed(first, target), atol=1e-9)


def test_the_walk_of_chapter_14_ends_at_the_new_optimum(seed):
    problem, book = random_problem(seed), functions("14")
    K, fold = matrix(problem), np.random.default_rng(seed).permutation(problem.n) % 4
    leave, join = np.flatnonzero(fold == 1), np.flatnonzero(fold == 0)
    first = solve(problem.without(join), stop=KKTGap(1e-12), shrinking=False)
    target = problem.without(leave)
    if not ((problem.lower < first.alpha) & (first.alpha < problem.upper)).any():
        pytest.skip("the chapter needs a free variable to begin with")
    try:
        own, events = book.exchange(K, first, target, leave, join)
    except np.linalg.LinAlgError:
        pytest.skip("the chapter says that its walk has no answer where the matrix is singular")
    best = solve(target, stop=KKTGap(1e-10))
    assert events < 1000
    assert target.objective(own) == pytest.approx(best.objective, rel=1e-6, abs=1e-6)
    seed = ATO(margin=np.inf, budget=np.inf).seed(first, target)
    assert np.allclose(own, seed, atol=1e-6 * penalty(problem))


def test_matching_of_chapter_3_adds_up(seed):
    d = np.random.default_rng(seed).normal(size=9)
    d -= d.mean()
    total = np.zeros(9)
    for i, j, t in functions("03").matched(d):
        assert d[i] > 0.0 > d[j]
        total[i] += t
        total[j] -= t
    assert np.allclose(total, d, atol=9 * 1e-3)  # the chapter rounds to three digits


@pytest.mark.parametrize("seed", range(20))
def test_streets_of_chapter_1_are_those_of_the_solver(seed):
    book, rng = functions("01"), np.random.default_rng(seed)
    y = np.repeat([-1, 1], 8)
    X = rng.normal(scale=0.4, size=(16, 2)) + np.outer(y, [1.0, 0.8])
    for own, C in ((book.widest_street(X, y), np.inf), (book.soft_street(X, y, 1.0)[:2], 1.0)):
        run = solve(DualProblem.classification(X, y, kernel=Linear(), C=C), stop=KKTGap(1e-9))
        if run.status.name == "CONVERGED":
            assert np.allclose(own[0], X.T @ run.alpha, atol=1e-3)


@pytest.mark.parametrize("seed", range(20))
def test_conjugate_moves_of_chapter_10_settle_three_variables(seed):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(3, 3))
    three = DualProblem.classification(A @ A.T + 0.1 * np.eye(3), [1, 1, -1], kernel=Precomputed(), C=1e6)
    first = next(iterate(three, step=NewtonStep())).alpha
    G = three.gradient(first)
    i, j = int(np.argmax(G)), int(np.argmin(G))
    own = functions("10").conjugate_move(matrix(three), G, i, j, first)
    assert np.ptp(three.gradient(first + own)) < 1e-6 * np.abs(G).max()
    assert solve(three, step=ConjugateStep(), shrinking=False).iterations <= 3


@pytest.mark.parametrize("seeder", [SIR(), AVG()], ids=lambda rule: type(rule).__name__)
def test_a_loop_over_folds_reads_the_same_decision_values(seeder):
    data, fold = make_banana(60, rng=1), np.arange(60) % 5
    problem = DualProblem.classification(data.X, data.y, kernel=RBF(0.5), C=10.0)
    values, rows = functions("13").held_out(problem, fold, seeder)
    result = cross_validate(problem, folds=fold, seeder=seeder)
    assert values == pytest.approx(result.decision_values.ravel(), abs=1e-12)
    assert rows == problem.n


@pytest.mark.parametrize("seed", range(20))
def test_the_fall_of_the_linear_program_is_the_same(seed):
    rng = np.random.default_rng(seed)
    rate, gap, null = rng.normal(size=5), rng.random(10), rng.normal(size=(5, 2))
    given = np.append(rate, -rate), gap, np.vstack([null, -null]), 1.0
    fall, beta = functions("15").longest(*given)
    assert 0.0 < fall == pytest.approx(longest_fall(*given)[0], abs=1e-9)
    assert (fall * given[0] + given[2] @ beta <= gap + 1e-9).all()


def test_an_inverse_of_chapter_14_follows_its_matrix(seed):
    book, rng = functions("14"), np.random.default_rng(seed)
    m = 2 + seed % 9
    A = np.pad(RBF(1.0)(points := rng.normal(size=(m, 3)), points), (1, 0), constant_values=1.0)
    A[0, 0] = 0.0
    P, k = np.linalg.inv(A), int(rng.integers(1, m + 1))
    others = np.delete(np.arange(m + 1), k)
    larger = book.joined(np.linalg.inv(A[:-1, :-1]), A[:-1, -1], A[-1, -1])
    assert np.abs(larger @ A - np.eye(m + 1)).max() <= 1e-8
    assert np.abs(book.parted(P, k) @ A[np.ix_(others, others)] - np.eye(m)).max() <= 1e-8
