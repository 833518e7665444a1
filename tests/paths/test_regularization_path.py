"""The front door: bad input, limits, engines, and what a path tells."""

from __future__ import annotations

import os
import signal
from typing import Any

import numpy as np
import pytest

from refsvm import DualProblem, Precomputed, Sigmoid, Status, regularization_path
from refsvm.paths import ErrorCurve, track

from ..settings import needs_numba
from .sets import small, solved

pytest.importorskip("scipy")
SETS = small()
X, Y, KERNEL = SETS["overlapping, rbf"]


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
        ({"tracker": "svmp"}, "is not a PathTracker"),
        ({"engine": "fortran"}, "choose 'auto', 'numba' or 'numpy'"),
        ({"sample_weight": -np.ones(36)}, "must not be negative"),
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


@needs_numba
@pytest.mark.parametrize("name", SETS)
def test_engines_give_the_same_path_bit_for_bit(name: str) -> None:
    X, y, kernel = SETS[name]
    paths = [
        regularization_path(X, y, kernel=kernel, C_max=1e2, engine=engine, merge=False)
        for engine in ("numpy", "numba")
    ]
    for one, other in zip(paths[0].record, paths[1].record, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("limit", ["callback", "max_events", "interrupt", "time"])
def test_a_path_that_is_stopped_is_valid_as_far_as_it_goes(limit: str) -> None:
    def press(point: Any) -> bool:
        if limit == "interrupt" and point.C > 0.5:
            os.kill(os.getpid(), signal.SIGINT)
        return limit == "callback" and point.C > 0.5

    arguments: dict[str, Any] = {"max_events": 7} if limit == "max_events" else {}
    if limit == "time":
        arguments = {"time_limit": 1e-9}
    path = regularization_path(X, Y, kernel=KERNEL, C_max=1e2, callback=press, **arguments)
    expected = {
        "callback": Status.CALLBACK,
        "max_events": Status.MAX_ITER,
        "interrupt": Status.INTERRUPTED,
        "time": Status.TIME_LIMIT,
    }
    assert path.status is expected[limit]
    assert len(path.C) > 1
    assert path.C[-1] < 1e2
    assert path.kkt_audit().worst <= 1e-6
    C = 0.5 * (path.C[0] + path.C[-1])
    assert path.objective(C) == pytest.approx(solved(X, Y, KERNEL, C).objective, rel=1e-7)
    with pytest.raises(ValueError, match="outside of the path"):
        path.alpha(99.0)


def test_decision_values_are_those_of_a_solve() -> None:
    path = regularization_path(X, Y, kernel=KERNEL, C_max=1e2)
    new = np.random.default_rng(8).normal(size=(9, 3))
    for C in (0.02, 1.0, 40.0):
        solution = solved(X, Y, KERNEL, C, tol=1e-12)
        expected = KERNEL(new, X) @ solution.alpha + solution.intercept
        np.testing.assert_allclose(path.decision_function(new, C), expected, atol=1e-7)
        np.testing.assert_array_equal(path.predict(new, C), np.where(expected >= 0, 1, -1))
        assert path.n_support(C) == np.count_nonzero(solution.alpha)
    with pytest.raises(ValueError, match="X has 2 features"):
        path.decision_function(new[:, :2], 1.0)


def test_precomputed_kernels_give_the_same_path() -> None:
    plain = regularization_path(X, Y, kernel=KERNEL, C_max=1e2)
    path = regularization_path(KERNEL(X, X), Y, kernel=Precomputed(), C_max=1e2)
    np.testing.assert_allclose(path.C, plain.C, rtol=1e-9)
    np.testing.assert_allclose(
        path.decision_function(KERNEL(X[:5], X), 3.0), plain.decision_function(X[:5], 3.0), atol=1e-8
    )
    with pytest.raises(ValueError, match="one column for each of the 36"):
        path.predict(np.ones((2, 3)), 1.0)


def test_sparse_data_give_the_same_path() -> None:
    sparse = pytest.importorskip("scipy.sparse")
    plain = regularization_path(X, Y, kernel=KERNEL, C_max=1e2)
    path = regularization_path(sparse.csr_array(X), Y, kernel=KERNEL, C_max=1e2)
    np.testing.assert_allclose(path.C, plain.C, rtol=1e-8)


def test_validation_error_is_exact() -> None:
    path = regularization_path(X, Y, kernel=KERNEL, C_max=1e2)
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
    with pytest.raises(ValueError, match="no range of C in common"):
        ErrorCurve.total([one, ErrorCurve(np.array([10.0, 20.0]), np.array([0]), 1)])
    with pytest.raises(ValueError, match="outside of the path"):
        one.at(11.0)


def test_events_tell_who_moved() -> None:
    pytest.importorskip("pandas")
    path = regularization_path(X, Y, kernel=KERNEL, C_max=1e2)
    frame = path.to_frame()
    assert len(frame) == len(path.events)
    side = np.full(len(Y), "right", dtype="U5")
    for row in frame.itertuples():
        assert side[row.index] == row.before
        side[row.index] = row.after
    alpha = np.abs(path.alpha(1e2))
    assert (alpha[side == "right"] == 0).all()
    assert (alpha[side == "left"] == 1e2).all()


def test_memory_grows_with_the_changes() -> None:
    path = regularization_path(X, Y, kernel=KERNEL, C_max=1e2)
    assert len(path.record.value) <= len(Y) + 2 * path.record.elbow.sum() + len(path.events)
