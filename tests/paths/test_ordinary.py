"""Ordinary events: A⁻¹ kept up to date, runs in one call, and what ends them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from refsvm import RBF, SVMP, DualProblem, Linear, Polynomial, regularization_path
from refsvm.datasets import make_banana
from refsvm.paths import UpdatedInverse, UpdatedQR, runs, svmp
from refsvm.paths.algebra import elbow_matrix
from refsvm.paths.ordinary import INACCURATE, empty_log
from refsvm.paths.search import READABLE, search_called
from refsvm.paths.state import PathState

from ..settings import needs_numba
from .sets import small

pytest.importorskip("scipy")

SETS = small()
BANANA = make_banana(60, rng=1)
ENGINES = [pytest.param("numpy"), pytest.param("numba", marks=needs_numba)]


def state_of(elbow: list[int], engine: str = "numpy") -> PathState:
    """A state with these points on the elbow, in this order."""
    problem = DualProblem.classification(BANANA.X, BANANA.y, kernel=RBF(0.5), C=1.0)
    K = np.ascontiguousarray(problem.gram.block(np.arange(problem.n)))
    state = PathState(problem, K, problem.lower + problem.upper, search_called(engine), engine)
    state.lam = 1.0
    for i in elbow:
        state.enter(i, "start")
    return state


def inverse_of(state: PathState) -> np.ndarray:
    size = state.m + 1
    return np.asarray(state.factors.inverse.values[:size, :size])


@pytest.mark.parametrize("engine", ENGINES)
def test_the_inverse_follows_every_change_of_the_elbow(engine: str) -> None:
    algebra, state = UpdatedInverse(), state_of([3, 9, 4, 31], engine)
    made = algebra.factorise(state)
    for change in (7, -9, 20, 21, -3, -21, 50, -31):
        state.enter(change, "test") if change > 0 else state.leave(-change, -1, "test")
        assert algebra.factorise(state) is made
        np.testing.assert_allclose(inverse_of(state) @ elbow_matrix(state), np.eye(state.m + 1), atol=1e-12)


@pytest.mark.parametrize("engine", ENGINES)
def test_the_inverse_grows_beyond_its_first_room(engine: str) -> None:
    algebra, state = UpdatedInverse(), state_of([0, 1], engine)
    made: Any = algebra.factorise(state)
    # points far from each other
    K = state.K
    chosen = [i for i in range(2, 60) if K[i, :i].max() < 0.9]
    made.inverse = type(made.inverse)(*(part[..., :5].copy() for part in made.inverse))
    made.inverse = made.inverse._replace(values=made.inverse.values[:5].copy())
    for i in chosen[:6]:
        state.enter(i, "test")
        assert algebra.factorise(state) is made
    assert len(made.inverse.x) > state.m + 1 > 5
    np.testing.assert_allclose(inverse_of(state) @ elbow_matrix(state), np.eye(state.m + 1), atol=1e-9)


@needs_numba
def test_twins_give_the_same_inverse_bit_for_bit() -> None:
    found = []
    for search in (READABLE, search_called("numba")):
        state = state_of([5, 2, 44, 17, 30, 8, 23])
        UpdatedInverse().factorise(state)
        inverse = state.factors.inverse
        assert search.insert(state.arrays, inverse, state.m, 11, 1e-8)
        assert search.delete(inverse, state.m + 2, 3)
        assert not search.insert(state.arrays, inverse, state.m - 1, 12, 1e3)
        found.append(inverse_of(state))
    np.testing.assert_array_equal(*found)


def test_a_dependent_point_is_left_to_the_qr_factors() -> None:
    X = np.repeat(BANANA.X[:10], 2, axis=0)
    problem = DualProblem.classification(X, np.tile([1, -1], 10), kernel=RBF(0.5), C=1.0)
    K = np.ascontiguousarray(problem.gram.block(np.arange(20)))
    state = PathState(problem, K, problem.lower + problem.upper)
    for i in (0, 2, 4):
        state.enter(i, "start")
    algebra = UpdatedInverse()
    assert algebra.factorise(state).null.shape == (4, 0)
    state.enter(1, "test")  # the same row as 0
    assert algebra.factorise(state).null.shape == (5, 1)


@pytest.mark.parametrize("engine", ENGINES)
def test_most_events_are_followed_in_runs(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    taken = SVMP._next_step
    monkeypatch.setattr(SVMP, "_next_step", lambda *arguments: calls.append(1) or taken(*arguments))
    path = regularization_path(BANANA.X, BANANA.y, kernel=RBF(0.5), C_min=1e-3, C_max=1e3, engine=engine)
    assert len(calls) < 0.15 * len(path.C)


@pytest.mark.parametrize(
    "name", ["overlapping, rbf", "overlapping, linear", "banana", "chessboard", "separable"]
)
def test_runs_give_the_path_of_the_qr_factors(name: str) -> None:
    X, y, kernel = SETS[name]
    one, other = (
        regularization_path(X, y, kernel=kernel, C_min=1e-3, C_max=1e2, tracker=SVMP(algebra=algebra))
        for algebra in (UpdatedInverse(), UpdatedQR())
    )
    np.testing.assert_allclose(one.C, other.C, rtol=1e-9)
    np.testing.assert_array_equal(one.record.elbow, other.record.elbow)
    np.testing.assert_array_equal(one.events, other.events)
    for C in one.C.tolist():
        np.testing.assert_allclose(one.alpha(C), other.alpha(C), atol=1e-8 * C)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_callback_sees_every_point_of_a_run_as_it_was(engine: str) -> None:
    seen = []
    path = regularization_path(
        BANANA.X, BANANA.y, kernel=RBF(0.5), C_min=1e-2, C_max=1e2, engine=engine,
        callback=lambda point: seen.append(point) or len(seen) == 20,
    )  # fmt: skip
    assert len(path.C) == 21
    assert path.C[-1] == seen[-1].C
    for point in seen:
        problem = DualProblem.classification(BANANA.X, BANANA.y, kernel=RBF(0.5), C=point.C)
        alpha = problem.feasible(point.C * point.scaled)
        assert problem.duality_gap(alpha) <= 1e-9 * problem.objective(alpha)


class Watched:
    """`follow_run`, with what is wrong put in before the fourth call; notes how each run ended."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, spoil: Callable[[PathState, Any], None]) -> None:
        self.spoil, self.events, self.ends, self.kept = spoil, [], [], []
        monkeypatch.setattr(svmp, "follow_run", self)

    def __call__(self, state: PathState, factors: Any, limits: Any, most: int) -> Any:
        if len(self.ends) == 3:
            self.spoil(state, factors)
        points, hits = runs.follow_run(state, factors, limits, most)
        self.events.append(len(points))
        self.ends.append(hits)
        self.kept.append((factors, state.factors, state.current))
        return points, hits


def tracked(engine: str = "numpy") -> Any:
    return regularization_path(
        BANANA.X, BANANA.y, kernel=RBF(0.5), C_min=1e-3, C_max=1e3, engine=engine, tracker=SVMP(refresh=10)
    )


@pytest.mark.parametrize("engine", ENGINES)
def test_an_inverse_that_has_lost_its_digits_is_made_anew(
    engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def scale(state: PathState, factors: Any) -> None:
        factors.inverse.values[: state.m + 1, : state.m + 1] *= 1.5

    watched = Watched(monkeypatch, scale)
    path = tracked(engine)
    assert watched.ends[3] == INACCURATE
    assert watched.kept[3][1:] == (None, None)
    assert INACCURATE not in watched.ends[4:]
    assert path.kkt_audit().worst <= 1e-9


def test_a_new_inverse_that_is_inaccurate_gives_way_to_its_qr_factors(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    source = []

    def scale(state: PathState, factors: Any) -> None:
        state.factors = None
        factors.source = UpdatedQR().factorise(state)
        source.append(factors.source)
        state.factors = factors
        factors.inverse.values[: state.m + 1, : state.m + 1] *= 1.5

    watched = Watched(monkeypatch, scale)
    path = tracked()
    assert watched.kept[3][1] is source[0]
    assert watched.kept[3][2] is None
    assert path.kkt_audit().worst <= 1e-9


@pytest.mark.parametrize("engine", ENGINES)
def test_a_run_ends_where_an_example_violates_its_condition(
    engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lift(state: PathState, factors: Any) -> None:
        right = np.flatnonzero(state.side < 0)
        state.slack[right[state.rates[right].argmin()]] = 10.0 * state.lam

    watched = Watched(monkeypatch, lift)
    path = tracked(engine)
    assert watched.events[3] == 0
    assert max(watched.events[4:]) > 5
    assert path.drift > 1e-4
    assert path.kkt_audit().worst <= 1e-9


@pytest.mark.parametrize("engine", ENGINES)
def test_a_full_log_ends_the_run_between_two_events(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = tracked(engine)
    monkeypatch.setattr(runs, "empty_log", lambda events, values: empty_log(events, 40))
    path = tracked(engine)
    np.testing.assert_allclose(path.C, whole.C, rtol=1e-9)
    assert path.kkt_audit().worst <= 1e-9


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("kernel", [Linear(), Polynomial(degree=3, coef0=1.0)], ids=repr)
def test_an_ill_conditioned_elbow_costs_no_accuracy(kernel: Any, engine: str) -> None:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(40, 1)) + 0.03 * rng.normal(size=(40, 6))  # almost on a line
    y = rng.choice([-1, 1], size=40)
    path = regularization_path(X, y, kernel=kernel, C_min=1e-2, C_max=1e3, engine=engine)
    assert path.kkt_audit().worst <= 1e-7
