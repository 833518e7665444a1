"""parametric_path: every problem between two, compared with solving it."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

from refsvm import (
    RBF,
    SVMP,
    DualProblem,
    Hastie,
    KKTGap,
    Linear,
    Status,
    parametric_path,
    regularization_path,
    solve,
)
from refsvm.analysis.paths import PathState, PivotedQR, ProblemLine, UpdatedInverse, UpdatedQR
from refsvm.core.trackers.backup import MOST_STEPS

from .lines import DATA, LINES, line

pytest.importorskip("scipy")
START, END, T = line("C", "rbf")
REGULAR = [kind for kind in LINES if kind != "cost"]  # where both classes begin with many events at once


@pytest.mark.parametrize("data", DATA)
def test_every_problem_between_any_two_boxes_is_solved(data: str) -> None:
    start, end, t = line("anything", data)
    path = parametric_path(start, end, t=t, merge=False, engine="numpy")
    assert path.status is Status.CONVERGED
    assert path.kkt_audit(between=3).worst <= 1e-6
    for at in [*t, *np.random.default_rng(0).uniform(size=4).tolist()]:
        problem, alpha = path.problem(at), path.alpha(at)
        best = solve(problem, stop=KKTGap(1e-10), engine="numpy").objective
        assert problem.objective(alpha) == pytest.approx(best, rel=1e-8, abs=1e-8)
        assert path.objective(at) == pytest.approx(best, rel=1e-8, abs=1e-8)
        assert ((alpha >= problem.lower) & (alpha <= problem.upper)).all()
        assert alpha.sum() == pytest.approx(problem.z, abs=1e-9)


def test_a_line_may_begin_in_a_box_without_zero() -> None:
    away = np.where(np.arange(START.n) % 2, 1.0, -1.0)
    begin = DualProblem(START.gram, START.v, 0.0, np.minimum(away, 2.0 * away), np.maximum(away, 2.0 * away))
    path = parametric_path(begin, END, engine="numpy")
    assert path.kkt_audit().worst <= 1e-6
    best = solve(begin, stop=KKTGap(1e-10), engine="numpy").objective
    assert begin.objective(path.alpha(0.0)) == pytest.approx(best, rel=1e-8)


def test_a_jump_keeps_both_sides() -> None:
    """Two equal rows with equal targets; one target rises: α moves from one to the other before t does."""
    X, y = np.array([[0.0], [0.0], [1.0], [2.0]]), np.array([1.0, 1.0, 0.0, 0.5])
    one, other = (
        DualProblem.regression(
            X, y + up * np.array([1.0, 0.0, 0.0, 0.0]), kernel=RBF(0.5), C=1.0, epsilon=0.1
        )
        for up in (-0.1, 0.1)
    )
    path = parametric_path(one, other, t=(-0.1, 0.1))
    twice = path.t[:-1][np.diff(path.t) == 0.0]
    assert len(twice) >= 1
    at = float(twice[0])
    before, after, problem = path.alpha(at, before=True), path.alpha(at), path.problem(at)
    assert np.abs(before - after).max() > 0.1
    np.testing.assert_allclose(problem.gradient(before), problem.gradient(after), atol=1e-12)
    assert "jump" in path.record.kind


def test_b_jumps_where_no_variable_is_free() -> None:
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([-1, 1, -1, 1])
    one, other = (
        DualProblem.classification(X, y, kernel=RBF(2.0), C=np.where(y > 0, C, 0.2)) for C in (0.1, 0.3)
    )
    path = parametric_path(one, other, t=(0.1, 0.3))
    jumps = np.flatnonzero(path.record.kind == "jump")
    assert len(jumps)
    at = float(path.t[jumps[0]])
    assert path.intercept(at, before=True) != path.intercept(at)
    np.testing.assert_array_equal(path.alpha(at, before=True), path.alpha(at))


@pytest.mark.parametrize(
    "algebra", [PivotedQR(), UpdatedInverse(), UpdatedQR()], ids=["qr", "inverse", "updated qr"]
)
def test_any_algebra_follows_any_line(algebra: Any) -> None:
    for kind in ("cost", "anything"):
        start, end, t = line(kind, "whole numbers, linear")
        path = parametric_path(start, end, t=t, tracker=SVMP(algebra=algebra), engine="numpy")
        assert path.kkt_audit().worst <= 1e-6


def test_limits_end_a_path_early_and_say_so() -> None:
    with pytest.warns(UserWarning, match=r"The path ends at t=.*, before its end: max_events was reached"):
        path = parametric_path(START, END, t=T, max_events=3)
    assert path.status is Status.MAX_ITER
    assert len(path.t) == 4
    seen: list[float] = []
    path = parametric_path(START, END, t=T, callback=lambda point: seen.append(point.t) or len(seen) == 2)
    assert path.status is Status.CALLBACK
    assert path.t[1:].tolist() == seen


def test_a_tracker_that_ends_too_soon_is_told_wherever_it_is_asked() -> None:
    class Half(SVMP):
        def follow(self, walk: Any, end: float) -> Any:
            return super().follow(walk, 0.5 * (walk.t + end))

    for follow in (partial(parametric_path, START), solve(START).continue_to):
        with pytest.raises(RuntimeError, match=r"the path goes from 0 to 0\.5, not from 0 to 1"):
            follow(END, tracker=Half())
    # it is told in C, and ends at 1/(½ (1/0.4 + 1/2.5)) = 20/29
    X, y = np.array([[0.0], [1.0], [3.0]]), np.array([-1, -1, 1])
    with pytest.raises(RuntimeError, match=r"the path goes from 0\.4 to 0\.689655, not from 0\.4 to 2\.5"):
        regularization_path(X, y, kernel=RBF(1.0), C_min=0.4, C_max=2.5, tracker=Half())

    class Whole(SVMP):
        pass

    assert regularization_path(X, y, kernel=RBF(1.0), C_min=0.4, C_max=2.5, tracker=Whole()).C[-1] == 2.5


@pytest.mark.parametrize("kind", REGULAR)
def test_hastie_follows_what_is_regular(kind: str) -> None:
    start, end, t = line(kind, "rbf")
    path = parametric_path(start, end, t=t, tracker=Hastie(), engine="numpy")
    assert path.kkt_audit().worst <= 1e-6
    other = parametric_path(start, end, t=t, engine="numpy")
    for at in np.linspace(*t, 5).tolist():
        np.testing.assert_allclose(path.alpha(at), other.alpha(at), atol=1e-7)


def test_hastie_says_where_it_refuses() -> None:
    start, end, t = line("cost", "rbf")
    with pytest.raises(ValueError, match=r"at t=.*use tracker=SVMP\(\)"):
        parametric_path(start, end, t=t, tracker=Hastie(), engine="numpy")


def test_problems_made_apart_share_their_matrix_if_it_is_equal() -> None:
    X, y = np.array([[0.0], [1.0], [2.0]]), np.array([-1, 1, 1])
    one, other = (DualProblem.classification(X.copy(), y, kernel=RBF(0.5), C=C) for C in (1.0, 2.0))
    assert parametric_path(one, other).status is Status.CONVERGED


def test_the_line_is_exact_at_its_ends_and_small_near_them() -> None:
    between = ProblemLine(START, END, (1e6, 1e-6), 1.0)
    assert (between.at(1e6), between.at(1e-6)) == (START, END)
    np.testing.assert_allclose(between.at(2e-6).upper, END.upper, rtol=1e-9)
    assert PathState(START, np.eye(START.n)).along.is_c_path


@pytest.mark.slow
def test_a_start_that_smo_does_not_reach_is_walked_to() -> None:
    rng = np.random.default_rng(0)
    X = 20.0 * rng.normal(size=(40, 30))
    y = X @ rng.normal(size=30) / 20.0 + rng.normal(size=40)
    start, end = (
        DualProblem.regression(X, target, kernel=Linear(), C=1.0, epsilon=0.01)
        for target in (y, y + (np.arange(40) == 3))
    )
    few = solve(start, stop=KKTGap(1e-9), max_iter=MOST_STEPS, engine="numpy")
    assert few.status is Status.MAX_ITER
    path = parametric_path(start, end, merge=False, engine="numpy")
    assert path.status is Status.CONVERGED
    assert path.counts["start"] == 2
    assert path.kkt_audit().worst < 1e-8
    assert path.objective(0.0) > few.objective
