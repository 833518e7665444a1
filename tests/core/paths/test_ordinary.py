"""Ordinary events: A⁻¹ kept up to date, runs in compiled code, and what ends them."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from refsvm import (
    RBF,
    SVMP,
    DualProblem,
    Hastie,
    Linear,
    Polynomial,
    Status,
    parametric_path,
    regularization_path,
)
from refsvm.analysis.paths import PivotedQR, UpdatedInverse, UpdatedQR
from refsvm.core.backend import chosen_backend
from refsvm.core.walk import elbow
from refsvm.core.walk.algebra import elbow_matrix
from refsvm.core.walk.state import PathState
from refsvm.core.walk.walk import BELOW
from refsvm.datasets import make_banana

from ...settings import NUMBA, needs_numba
from .sets import SETS, tracked

pytest.importorskip("scipy")

BANANA = make_banana(60, rng=1)


def state_of(elbow: list[int], X: Any = None, y: Any = None) -> PathState:
    """A state with these points on the elbow, in this order."""
    X, y = (BANANA.X, BANANA.y) if X is None else (X, y)
    problem = DualProblem.classification(X, y, kernel=RBF(0.5), C=1.0)
    state = PathState(problem, np.ascontiguousarray(problem.gram.block(np.arange(problem.n))))
    state.t = 1.0
    for i in elbow:
        state.enter(i, "start")
    return state


@pytest.mark.parametrize("pairs", [False, True], ids=["single", "in pairs"])
@pytest.mark.parametrize("algebra", [UpdatedInverse(), UpdatedQR()], ids=lambda each: type(each).__name__)
def test_factors_follow_every_change_of_the_elbow(
    algebra: Any, pairs: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One point or several at once; one that equals a member is left to new factors, which find the rank."""
    anew, factorise = [], PivotedQR.factorise
    monkeypatch.setattr(PivotedQR, "factorise", lambda *given: anew.append(1) or factorise(*given))
    X, y = (np.repeat(BANANA.X[:10], 2, axis=0), np.tile([1, -1], 10)) if pairs else (BANANA.X, BANANA.y)
    state, rng = (
        state_of([3, 9, 4, 0, 11, 12, 6, 14] if not pairs else [0, 2, 4, 6, 8], X, y),
        np.random.default_rng(0),
    )
    algebra.factorise(state)
    made, regular, several = state.system, True, []
    for step in range(40):
        anew.clear()
        for _ in range(1 + step % 3):
            i = int(rng.integers(len(y)))
            if i not in state.members and len(state.members) < 12:
                state.enter(i, "test")
            elif len(state.members) > 4:
                state.drop(i if i in state.members else state.members[0], BELOW, "test")
        factors, A = algebra.factorise(state), elbow_matrix(state)
        null = len(state.members) - len(np.unique(X[state.elbow], axis=0))
        assert factors.null.shape == (len(A), null), step
        if null == 0:
            right = rng.normal(size=len(A))
            np.testing.assert_allclose(A @ factors.solve(right), right, rtol=1e-8, atol=1e-8)
        if isinstance(algebra, UpdatedInverse):
            assert (state.system is not None) == (null == 0)
        if null == 0 and state.system is not None:
            assert state.system is made or not regular
            made = state.system
            np.testing.assert_allclose(made.inverse @ A, np.eye(made.size), atol=1e-8)
            np.testing.assert_allclose(A @ made.x[: made.size], state.right, atol=1e-8)
            np.testing.assert_array_equal(state.direction(), made.x[0])
            np.testing.assert_allclose(state.variables.speed[state.elbow], 0.0, atol=1e-8)
        elif regular and not pairs:  # updates alone: no member is equal to one that leaves
            assert not anew or step % 3, step
            several.append(bool(anew))
        regular = null == 0
    assert sum(several) < 4  # of several at once too few may stay


def test_the_squared_distance_to_the_plane_of_the_others_forewarns() -> None:
    """s = Kₖₖ − uᵀA⁻¹u; an elbow of other points shares none of the factors."""
    algebra = UpdatedQR()
    state = state_of([0, 2, 4, 6, 8], np.repeat(BANANA.X[:10], 2, axis=0), np.tile([1, -1], 10))
    algebra.factorise(state)
    kept: Any = state.kept
    assert kept.extended(1, state.K, 1e-8) is None
    A, u = elbow_matrix(state), np.append(1.0, state.K[11, state.elbow])
    s = state.K[11, 11] - u @ np.linalg.solve(A, u)
    assert kept.extended(11, state.K, 1.001 * s) is None
    assert kept.extended(11, state.K, 0.999 * s) is not None
    for i in list(state.members):
        state.drop(i, BELOW, "test")
    for i in (11, 13, 15, 17, 19):
        state.enter(i, "test")
    made, right = algebra.factorise(state), np.arange(6.0)
    np.testing.assert_allclose(made.solve(right), np.linalg.solve(elbow_matrix(state), right), rtol=1e-9)


@pytest.mark.parametrize("name", ["least_indicator", "least_ratio"])
def test_updates_of_qr_factors_need_positive_limits(name: str) -> None:
    with pytest.raises(ValueError, match=name):
        UpdatedQR(**{name: 0.0})


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 4, 6])
def test_an_inverse_that_hides_a_dependent_point_misleads_no_tracker(engine: str, seed: int) -> None:
    """With the least s of all, rounding alone lets dependent points join: what is left of the equations tells."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-3, 4, (40, 3)).astype(float)
    target = X[:, 0] + 0.3 * rng.normal(size=40)
    wide, narrow = (DualProblem.regression(X, target, kernel=Linear(), C=1.0, epsilon=e) for e in (1.0, 0.02))
    with warnings.catch_warnings(action="ignore", category=UserWarning):
        # a path stops half-way, where rounding wins
        path = parametric_path(
            wide, narrow, tracker=SVMP(algebra=UpdatedInverse(least_indicator=1e-300)), engine=engine
        )
    assert len(path.t) > 20  # to where any processor comes
    assert path.kkt_audit().worst <= 1e-6


@needs_numba
@pytest.mark.parametrize("tracker", [SVMP(), Hastie()], ids=lambda tracker: type(tracker).__name__)
def test_most_events_are_followed_in_runs(tracker: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    kind, calls, taken = type(tracker), [], type(tracker)._next_step
    monkeypatch.setattr(kind, "_next_step", lambda *arguments: calls.append(1) or taken(*arguments))
    options = {"tracker": tracker, "engine": "numba"}
    path = (
        banana(**options) if kind is SVMP else tracked("overlapping, rbf", C_min=1e-3, C_max=1e3, **options)
    )
    assert 0 < len(calls) < (0.15 if kind is SVMP else 0.25) * len(path.C)


@needs_numba
@pytest.mark.parametrize(
    ("tracker", "merge"),
    [(SVMP(), False), (Hastie(), False), (Hastie(), True)],
    ids=["SVMP", "Hastie", "Hastie, merged"],
)
@pytest.mark.parametrize("name", SETS)
def test_runs_give_the_path_of_single_steps_bit_for_bit(name: str, tracker: Any, merge: bool) -> None:
    """Hastie may refuse it: in both engines then, with the same sentence."""
    found: list[Any] = []
    for engine in ("numpy", "numba"):
        try:
            path = tracked(name, C_min=1e-3, tracker=tracker, merge=merge, engine=engine)
            found.append([each.tolist() for each in path.record])
        except ValueError as error:
            found.append(str(error))
    assert found[0] == found[1]
    assert tracker.may_refuse or isinstance(found[0], list)


def test_a_callback_sees_every_point_of_a_run_as_it_was(engine: str) -> None:
    seen = []

    def noted(point: Any) -> bool:
        seen.append(point._replace(scaled=point.scaled.copy()))
        return len(seen) == 20

    path = banana(engine=engine, callback=noted)
    assert len(path.C) == 21
    assert path.C[-1] == seen[-1].C
    for point in seen:
        problem = DualProblem.classification(BANANA.X, BANANA.y, kernel=RBF(0.5), C=point.C)
        alpha = problem.feasible(point.C * point.scaled)
        assert problem.duality_gap(alpha) <= 1e-9 * problem.objective(alpha)


class Watched:
    """Runs of events, with what is wrong put in before the fourth; notes how long each run was, 0 of "numpy"."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, spoil: Callable[[PathState], None]) -> None:
        self.spoil, self.events, self.systems = spoil, [], []
        for kind in map(type, map(chosen_backend, ["numpy"] + ["numba"] * NUMBA)):
            monkeypatch.setattr(kind, "events", self.watched(kind.events))

    def watched(self, events: Callable[..., Any]) -> Callable[..., Any]:
        def watch(backend: Any, walk: PathState, *arguments: Any) -> Any:
            if len(self.events) == 3:
                self.spoil(walk)
            points = events(backend, walk, *arguments)
            self.events.append(len(points))
            self.systems.append(walk.system)
            return points

        return watch


def banana(**options: Any) -> Any:
    return regularization_path(BANANA.X, BANANA.y, kernel=RBF(0.5), C_min=1e-3, C_max=1e3, **options)


def scale(walk: Any) -> None:
    """The inverse has lost its digits."""
    walk.system.inverse[:] *= 3.0
    walk.system.solve(walk.right)


def disturb(walk: Any) -> None:
    """The direction is a little wrong."""
    walk.system.x[: walk.system.size] *= 1.0 + 1e-9


def lift(walk: PathState) -> None:
    """The example that is to stay there longest violates its condition."""
    walk.direction(np.linalg.solve(elbow_matrix(walk), walk.right))  # its arrays are undefined before
    right = np.flatnonzero(walk.side == -walk.sign)
    i = right[(walk.sign * walk.variables.speed)[right].argmin()]
    walk.variables.excess[i] = 10.0 * walk.t * walk.sign[i]


@pytest.mark.parametrize("spoil", [scale, disturb, lift], ids=lambda spoil: spoil.__name__)
def test_what_is_wrong_on_the_way_is_mended(spoil: Any, engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run ends there and the inverse is made anew, unless the direction can be refined."""
    watched = Watched(monkeypatch, spoil)
    path = banana(engine=engine, tracker=SVMP(refresh=10))
    assert path.kkt_audit().worst <= (1e-11 if spoil is disturb else 1e-9)
    if spoil is disturb:
        assert watched.systems[3] is watched.systems[4]
        return
    assert watched.events[3] == 0
    assert engine == "numpy" or max(watched.events[4:]) > 5
    assert watched.systems[3] not in watched.systems[4:] or spoil is lift
    assert path.drift > 1e-4 or spoil is scale


def test_a_new_inverse_that_is_inaccurate_gives_way_to_its_qr_factors(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = PivotedQR.factorise
    monkeypatch.setattr(elbow, "LEFT_OVER", 0.0)  # so no inverse is good enough
    calls = []
    monkeypatch.setattr(PivotedQR, "factorise", lambda *arguments: calls.append(1) or made(*arguments))
    path = banana(engine="numpy")
    assert len(calls) > len(path.C)
    assert path.kkt_audit().worst <= 1e-9


@pytest.mark.slow
def test_a_variable_that_blocks_the_way_by_an_error_is_not_put_on_the_elbow(
    engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    outside = set()

    def lift(example: int, walk: PathState) -> None:
        if abs(walk.side[example]) == 1:
            outside.add(example)
            walk.variables.excess[example] = -10.0 * walk.t * walk.side[example]

    for example in range(2, 60, 4):
        with monkeypatch.context() as patched:
            Watched(patched, partial(lift, example))
            path = banana(engine=engine, tracker=SVMP(refresh=10))
        assert path.status is Status.CONVERGED
        assert path.kkt_audit().worst <= 1e-9
    assert len(outside) > 5


@pytest.mark.parametrize("kernel", [Linear(), Polynomial(degree=3, coef0=1.0)], ids=repr)
def test_an_ill_conditioned_elbow_costs_no_accuracy(kernel: Any, engine: str) -> None:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(40, 1)) + 0.03 * rng.normal(size=(40, 6))  # almost on a line
    y = rng.choice([-1, 1], size=40)
    path = regularization_path(X, y, kernel=kernel, C_min=1e-2, C_max=1e3, engine=engine)
    assert path.kkt_audit().worst <= 1e-7


@needs_numba
def test_both_engines_end_at_the_same_bits_where_rounding_leaves_alpha_at_its_bound() -> None:
    rng = np.random.default_rng(1669)  # of 2,000 random problems the one where it showed
    rng.integers(12, 26), rng.integers(1, 4), rng.random()
    X = np.repeat(rng.normal(size=(19, 2))[:9], 2, axis=0)
    rng.random()
    y = rng.choice([-1, 1], 18)
    y[:2] = 1, -1
    large, small = (DualProblem.classification(X, y, kernel=RBF(2.0), C=C) for C in (1.0, 1e-3))
    one, other = (
        parametric_path(large, small, t=(1.0, 1e-3), merge=False, engine=each) for each in ("numpy", "numba")
    )
    for ours, theirs in zip(one.record, other.record, strict=True):
        np.testing.assert_array_equal(ours, theirs)
