"""The public function: bad input, limits, engines, and what a path tells."""

from __future__ import annotations

import os
import signal
import time
import warnings
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

from refsvm import SVMP, DualProblem, Linear, Sigmoid, Status, regularization_path
from refsvm.analysis.paths import ErrorCurve, track
from refsvm.core.paths.recorder import PathRecorder
from refsvm.core.trackers import backup

from ...settings import interrupted, needs_numba
from .sets import SETS, solved, tracked

pytest.importorskip("scipy")
X, Y, KERNEL = SETS["overlapping, rbf"]


@pytest.fixture(scope="module")
def path() -> Any:
    return tracked("overlapping, rbf")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"C_min": 2.0, "C_max": 1.0}, "C_min=2.0 is not below C_max=1.0"),
        ({"C_min": 0.0}, "C_min=0.0 is not positive"),
        ({"C_max": np.inf}, "C_max=inf is not finite"),
        ({"y": np.ones(36)}, "single class"),
        ({"X": np.where(X > 2, np.nan, X)}, "NaN"),
        ({"kernel": Sigmoid(gamma=0.5, coef0=-1.0)}, "not positive semi-definite"),
        ({"cache_mb": 0.001}, "does not hold the kernel matrix of 36 examples"),
        ({"tracker": "smvp"}, "did you mean 'svmp'"),
        ({"engine": "fortran"}, 'choose "auto", "numba" or "numpy"'),
        ({"sample_weight": -np.ones(36)}, "give weights of at least 0"),
        ({"sample_weight": (Y > 0) * 1.0}, "All examples of class -1 have weight 0"),
        ({"time_limit": 0}, "time_limit=0 is not positive"),
        ({"max_events": 0}, "max_events=0 is not a whole number"),
        ({"callback": 3}, "cannot be called"),
    ],
)
def test_bad_input_is_refused_with_a_sentence(change: dict[str, Any], sentence: str) -> None:
    arguments: dict[str, Any] = {"X": X, "y": Y, "kernel": KERNEL, **change}
    with pytest.raises(ValueError, match=sentence):
        regularization_path(arguments.pop("X"), arguments.pop("y"), **arguments)


def test_a_box_that_does_not_grow_from_zero_is_refused() -> None:
    problem = DualProblem.classification(X, Y, kernel=KERNEL)
    with pytest.raises(ValueError, match="bound at 0"):
        track(DualProblem(problem.gram, problem.v, 0.0, problem.lower - 1.0, problem.upper + 1.0))


@pytest.mark.parametrize(
    ("limit", "status"),
    [
        ("callback", Status.CALLBACK), ("max_events", Status.MAX_ITER), ("interrupt", Status.INTERRUPTED),
        ("time_limit", Status.TIME_LIMIT),
    ],
)  # fmt: skip
def test_a_path_that_is_stopped_is_valid_as_far_as_it_goes(
    limit: str, status: Status, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, later = time.perf_counter, [0.0]
    monkeypatch.setattr(time, "perf_counter", lambda: clock() + later[0])

    def press(point: Any) -> bool:
        later[0] = 2e6 * (point.C > 0.5)  # seconds
        if limit == "interrupt" and point.C > 0.5:
            os.kill(os.getpid(), signal.SIGINT)
        return limit == "callback" and point.C > 0.5

    arguments = {name: value for name, value in {"max_events": 7, "time_limit": 1e6}.items() if name == limit}
    said = pytest.warns(UserWarning, match=f"{limit} was reached") if arguments else nullcontext()
    with said:  # what the user ends is told by the status
        ask = partial(tracked, "overlapping, rbf", callback=press, **arguments)
        path = interrupted(ask) if limit == "interrupt" else ask()
    assert path.status is status
    assert len(path.C) > 1
    assert path.C[-1] < 1e2
    assert path.kkt_audit().worst <= 1e-6
    C = 0.5 * (path.C[0] + path.C[-1])
    assert path.objective(C) == pytest.approx(solved(X, Y, KERNEL, C).objective, rel=1e-7)
    with pytest.raises(ValueError, match="outside of the path"):
        path.alpha(99.0)


@pytest.mark.parametrize("status", [Status.INTERRUPTED, Status.TIME_LIMIT], ids=lambda each: each.name)
def test_a_start_that_is_stopped_leaves_an_empty_path(
    status: Status, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest = backup.solved

    def pressed(*arguments: Any, **options: Any) -> Any:
        signal.raise_signal(signal.SIGINT)
        return honest(*arguments, **options)

    ask = partial(regularization_path, X, Y, kernel=Linear(), C_min=1e3, C_max=1e4)
    if status is Status.INTERRUPTED:
        monkeypatch.setattr(backup, "solved", pressed)
        path = interrupted(ask)
    else:
        with pytest.warns(UserWarning, match="The path has no start at C=1000"):
            path = ask(time_limit=1e-9)
    assert path.status is status
    assert len(path.C) == len(path.events) == path.kkt_audit().points == 0
    assert repr(path) == f"RegularizationPath(0 breakpoints, {path.status.name})"
    asked = (lambda: path.alpha(60.0), lambda: path.validation_error(X, Y), lambda: path.objective(60.0))
    for each in asked:
        with pytest.raises(ValueError, match="The path is empty, as no optimum was found at C_min"):
            each()


def test_a_repair_that_is_stopped_leaves_the_points_before_it(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    honest = backup.solved

    def stopped(*arguments: Any, **options: Any) -> Any:
        return replace(honest(*arguments, **options), status=Status.INTERRUPTED, alpha=np.zeros(len(Y)))

    def spoil(point: Any) -> None:
        seen.append(point)
        if len(seen) == 8:
            point.scaled[:] = point.scaled[::-1].copy()  # the array of the tracker itself
            monkeypatch.setattr(backup, "solved", stopped)

    options: dict[str, Any] = {"callback": spoil, "engine": "numpy", "tracker": SVMP(refresh=1)}
    path = interrupted(regularization_path, X, Y, kernel=KERNEL, C_max=1e2, **options)
    assert path.status is Status.INTERRUPTED
    assert len(path.C) == 9
    assert path.kkt_audit().worst <= 1e-9


def test_ctrl_c_while_the_path_is_put_together_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = PathRecorder.record

    def pressed(recorder: PathRecorder) -> Any:
        signal.raise_signal(signal.SIGINT)
        return honest(recorder)

    monkeypatch.setattr(PathRecorder, "record", pressed)
    path = interrupted(regularization_path, X, Y, kernel=KERNEL, C_max=1e2)
    assert len(path.C) > 20
    assert path.C[-1] == 1e2


@pytest.mark.parametrize("scale", [1e3, 1e4, 1e6, 1e8])
def test_features_without_a_scale_end_in_time_with_a_sentence(scale: float) -> None:
    rng = np.random.default_rng(0)
    examples, labels = scale * rng.normal(size=(19, 3)), rng.choice([-1, 1], size=19)
    with warnings.catch_warnings(record=True, action="always") as said:
        path = regularization_path(examples, labels, kernel=Linear(), C_min=1.6, C_max=80.0)
    assert (path.status is Status.STALLED) == any("StandardScaler" in str(each.message) for each in said)
    assert path.status is Status.STALLED or scale < 1e6
    assert path.kkt_audit().worst <= 1e-5
    if path.status is Status.CONVERGED:
        assert path.C[-1] == 80.0
        problem = DualProblem.classification(examples, labels, kernel="linear", C=5.0)
        assert problem.duality_gap(path.alpha(5.0)) <= 1e-5 * path.objective(5.0)


@needs_numba
def test_an_unbalanced_path_is_mended_and_seen() -> None:
    features = np.array([[3000.0, -1127.0, -293.0], [3000.0, -1257.0, -321.0], [3000.0, -252.0, -819.0]])
    labels, weights = np.array([1, -1, -1]), np.array([2.0, 0.001, 2.0])
    for engine in ("numpy", "numba"):
        path = regularization_path(
            features, labels, kernel=Linear(), C_min=0.115, C_max=2.1, sample_weight=weights, engine=engine
        )
        assert path.kkt_audit().worst <= 1e-9
        for C in path.C.tolist():
            alpha = path.alpha(C)
            assert abs(alpha.sum()) <= 1e-12 * np.abs(alpha).sum()
            gap = DualProblem.classification(features, labels, kernel="linear", C=C * weights).duality_gap(
                alpha
            )
            assert gap <= 1e-6 * path.objective(C)
    value = path.record.value.copy()
    value[0] *= 1.0 + 1e-4
    assert replace(path, record=path.record._replace(value=value)).kkt_audit().worst > 1e-5


def test_decision_values_are_those_of_a_solve(path: Any) -> None:
    new = np.random.default_rng(8).normal(size=(9, 3))
    for C in (0.02, 1.0, 40.0):
        solution = solved(X, Y, KERNEL, C, tol=1e-12)
        expected = KERNEL(new, X) @ solution.alpha + solution.intercept
        np.testing.assert_allclose(path.decision_function(new, C), expected, atol=1e-7)
        np.testing.assert_array_equal(path.predict(new, C), np.where(expected >= 0, 1, -1))
        assert path.n_support(C) == np.count_nonzero(solution.alpha)
    with pytest.raises(ValueError, match="X has 2 features"):
        path.decision_function(new[:, :2], 1.0)


def test_many_breakpoints_are_looked_at_in_blocks(path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    curve, found = path.validation_error(X, Y), path.kkt_audit()
    for place in ("audit", "tracked"):
        monkeypatch.setattr(f"refsvm.core.paths.{place}.POINTS", 3)
    blocks, again = path.validation_error(X, Y), path.kkt_audit()
    np.testing.assert_allclose(blocks.C, curve.C, rtol=1e-12)
    np.testing.assert_array_equal(blocks.errors, curve.errors)
    assert len(curve.C) > 5
    assert again.points == found.points == 3 * len(path.C) - 2
    assert again.worst == pytest.approx(found.worst, abs=1e-12)


def test_validation_error_is_exact(path: Any) -> None:
    rng = np.random.default_rng(9)
    new = rng.normal(size=(60, 3))
    labels = np.where(new[:, 0] * new[:, 1] > 0, 1, -1)
    curve = path.validation_error(new, labels)
    assert len(curve.errors) > 5
    middles = np.sqrt(curve.C[:-1] * curve.C[1:])
    for C in np.append(middles, 10.0 ** rng.uniform(-4, 2, size=30)):
        assert curve.at(C) == pytest.approx((path.predict(new, C) != labels).mean(), abs=1e-12)
    low, high, error = curve.best()
    assert error == curve.error.min() == curve.at(np.sqrt(low * high))


def test_curves_add_up() -> None:
    one = ErrorCurve(np.array([0.1, 1.0, 10.0]), np.array([3, 1]), 10)
    two = ErrorCurve(np.array([0.2, 2.0, 5.0, 20.0]), np.array([4, 0, 6]), 10)
    total = ErrorCurve.total([one, two])
    assert (total.C[0], total.C[-1], total.count) == (0.2, 10.0, 20)
    for C in (0.3, 1.5, 3.0, 7.0):
        assert total.at(C) == pytest.approx((one.at(C) + two.at(C)) / 2)
    with pytest.raises(ValueError, match="no common range of C"):
        ErrorCurve.total([one, ErrorCurve(np.array([10.0, 20.0]), np.array([0]), 1)])
    with pytest.raises(ValueError, match="outside of the path"):
        one.at(11.0)


def test_events_tell_what_moved(path: Any) -> None:
    pytest.importorskip("pandas")
    frame = path.to_frame()
    assert len(frame) == len(path.events)
    side = np.full(len(Y), "right", dtype="U5")
    for row in frame.itertuples():
        assert side[row.index] == row.before
        side[row.index] = row.after
    alpha = np.abs(path.alpha(1e2))
    assert (alpha[side == "right"] == 0).all()
    assert (alpha[side == "left"] == 1e2).all()


def test_memory_grows_with_the_changes(path: Any) -> None:
    assert len(path.record.value) <= len(Y) + 2 * path.record.elbow.sum() + len(path.events)
