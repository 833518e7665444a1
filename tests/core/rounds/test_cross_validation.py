"""Cross-validation gives the predictions of brute force, whatever the seeder, the order and the threads."""

from __future__ import annotations

import signal
from typing import ClassVar

import numpy as np
import pytest

from refsvm import (
    ATO,
    AVG,
    MIR,
    RBF,
    SIR,
    TOP,
    Cold,
    DualProblem,
    KKTGap,
    Linear,
    Precomputed,
    Status,
    cross_validate,
    solve,
)
from refsvm.analysis.resampling.folds import fold_numbers
from refsvm.core.rounds import runner
from refsvm.datasets import load, make_banana

from ...settings import FAST, interrupted, needs_numba


def problem_of(name):
    """Return examples, labels and kernel of a bundled set."""
    data = load(name)
    return data.X, np.where(data.y == data.y.max(), 1, -1), RBF(data.gamma or 1 / data.d)


@pytest.mark.parametrize("seed", [0, 1, 5])
def test_no_seeder_chooses_b_where_an_interval_of_it_is_optimal(seed, engine):
    """Without one of the larger class all α are at their bounds, but for the rounding of what a seed has moved."""
    rng = np.random.default_rng(seed)
    y = np.r_[-np.ones(12), np.ones(13)]
    X = rng.normal(size=(25, 2)) + 0.7 * y[:, None]
    options = {"kernel": RBF(0.5), "C": 0.01, "folds": 25, "stop": KKTGap(1e-6), "engine": engine}
    cold = cross_validate(X, y, seeder=Cold(), **options)
    for seeder in (AVG(), TOP(), SIR(), MIR(), ATO()):
        seeded = cross_validate(X, y, seeder=seeder, **options)
        np.testing.assert_allclose(seeded.decision_values, cold.decision_values, atol=1e-5)


def test_kernel_rows_are_computed_once():
    X, y, kernel = problem_of("heart")
    result = cross_validate(X, y, kernel=kernel, C=10.0, folds=10, rng=0)
    assert result.kernel_rows == len(X)
    scarce = cross_validate(X, y, kernel=kernel, C=10.0, folds=10, rng=0, cache_mb=0.1)
    assert (scarce.predictions == result.predictions).mean() > 0.99
    assert scarce.kernel_rows > 0


class Pressing(SIR):
    """Presses Ctrl-C when it makes its third seed."""

    made: ClassVar[list[int]] = []

    def seed(self, solved, problem):
        self.made.append(1)
        if len(self.made) == 3:
            signal.raise_signal(signal.SIGINT)
        return super().seed(solved, problem)

    def twin(self):
        return None


def test_control_c_keeps_the_rounds_that_are_done():
    X, y, kernel = problem_of("heart")
    options = {"kernel": kernel, "folds": 8, "engine": "numpy", "rng": 0}
    Pressing.made.clear()
    result = interrupted(cross_validate, X, y, seeder=Pressing(), **options)
    assert result.status is Status.INTERRUPTED
    assert [each.fold for each in result.rounds] == [0, 1]
    assert not result.is_complete
    whole, done = cross_validate(X, y, **options), result.fold < 2
    assert (whole.status, whole.is_complete) == (Status.CONVERGED, True)
    assert np.array_equal(result.decision_values[done], whole.decision_values[done])
    assert np.isnan(result.decision_values[~done]).all()
    assert np.isnan(result.error)
    wrong = (whole.predictions != y)[done].sum()
    assert result.error_bounds == (wrong / len(y), (wrong + (~done).sum()) / len(y))
    assert whole.error_bounds == (whole.error, whole.error)
    assert np.array_equal(result.predictions[~done], y[~done])
    assert np.array_equal(result.errors[:2], whole.errors[:2])
    assert np.isnan(result.errors[2:]).all()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@needs_numba
def test_control_c_ends_compiled_rounds_too():
    X, y, kernel = problem_of("heart")
    Pressing.made.clear()
    result = interrupted(
        cross_validate, X, y, kernel=kernel, folds=100, seeder=Pressing(), engine="numba", rng=0
    )
    assert result.status is Status.INTERRUPTED
    assert 0 < len(result.rounds) < 100


@pytest.mark.parametrize(
    ("seeder", "last", "rounds"), [(None, 1, []), (Cold(), 1, [0]), (Cold(), 3, [0, 1, 2])]
)
def test_a_callback_that_says_so_ends_all_rounds(seeder, last, rounds):
    X, y, kernel = problem_of("heart")
    begun, options = [], {"kernel": kernel, "folds": 8, "engine": "numpy", "shrinking": False}

    def told(state):
        begun.extend([1] if state.iteration == 16 else [])  # the first chunk of a solve
        return len(begun) == last

    result = cross_validate(X, y, seeder=seeder, callback=told, **options)
    assert result.status is Status.CALLBACK
    assert [each.fold for each in result.rounds] == rounds
    assert [each.status for each in result.rounds][:-1] == [Status.CONVERGED] * len(rounds[1:])
    assert not result.is_complete
    assert len(begun) == last


def test_a_limit_is_told():
    X, y, kernel = problem_of("heart")
    with pytest.warns(UserWarning, match=r"4 of 4 rounds of cross-validation are not solved.*raise max_iter"):
        result = cross_validate(X, y, kernel=kernel, folds=4, max_iter=5)
    assert result.status is Status.MAX_ITER
    assert {each.status for each in result.rounds} == {Status.MAX_ITER}
    assert result.is_complete


@pytest.mark.parametrize("engine", ["numpy", FAST])
def test_a_time_limit_holds_for_all_rounds(engine, monkeypatch):
    X, y, kernel = problem_of("heart")
    # on a busy machine the first thousand steps alone may take longer than all rounds may be late
    monkeypatch.setattr(runner, "OVERTIME_SECONDS", np.inf)
    options = {"kernel": kernel, "C": 1e6, "stop": KKTGap(1e-10), "engine": engine}
    with pytest.warns(UserWarning, match=r"rounds of cross-validation are not solved.*Raise time_limit"):
        result = cross_validate(X, y, folds=4, time_limit=1e-9, **options)
    assert {each.status for each in result.rounds} == {Status.TIME_LIMIT}
    assert result.status is Status.TIME_LIMIT
    assert not result.is_known.any()  # machines that are not trained say nothing
    assert result.error_bounds == (0.0, 1.0)


def test_the_steps_on_all_examples_are_counted():
    X, y, kernel = problem_of("heart")
    full = solve(DualProblem.classification(X, y, kernel=kernel, C=5.0)).iterations
    for seeder, more in ((SIR(), full), (Cold(), 0)):
        result = cross_validate(X, y, kernel=kernel, C=5.0, folds=4, seeder=seeder)
        assert result.iterations == sum(each.iterations for each in result.rounds) + more


def test_hard_margins():
    X, y, _ = problem_of("wbc")
    hard = cross_validate(X[:60], y[:60], kernel=RBF(0.5), C=np.inf, folds=5)
    soft = cross_validate(X[:60], y[:60], kernel=RBF(0.5), C=1e6, folds=5)
    np.testing.assert_allclose(hard.decision_values, soft.decision_values, atol=0.02)


def test_a_precomputed_matrix_and_a_fold_of_one_class():
    X, y, _ = problem_of("heart")
    order = np.argsort(y, kind="stable")
    X, y = X[order][::3], y[order][::3]
    by_class = cross_validate(X, y, kernel=Linear(), folds=(y > 0).astype(int))
    assert (by_class.predictions == -y).all()  # trained on one class only
    given = cross_validate(X @ X.T, y, kernel=Precomputed(), folds=5, rng=0)
    same = cross_validate(X, y, kernel=Linear(), folds=5, rng=0)
    np.testing.assert_allclose(given.decision_values, same.decision_values, atol=5e-3)
    assert given.kernel_rows == 0


def test_folds():
    codes = np.repeat([0, 1], 6)
    assert np.bincount(fold_numbers(5, codes)).tolist() == [3, 2, 3, 2, 2]
    dealt = fold_numbers(3, codes, stratified=True, rng=0)
    assert all(np.bincount(dealt[codes == c]).tolist() == [2, 2, 2] for c in (0, 1))
    assert np.array_equal(fold_numbers(np.repeat([7, 3, 5], 4), codes), np.repeat([2, 0, 1], 4))
    assert not np.array_equal(fold_numbers(3, codes, rng=0), fold_numbers(3, codes, rng=1))


def test_a_frame_has_a_row_for_each_round():
    pytest.importorskip("pandas")
    data = make_banana(30, rng=0)
    result = cross_validate(data.X, data.y, kernel=RBF(0.5), C=10.0, folds=3, from_full=False, engine="numpy")
    frame = result.rounds_frame()
    assert frame["fold"].tolist() == [0, 1, 2]
    assert frame["status"].unique().tolist() == ["CONVERGED"]
    assert frame["iterations"].sum() == result.iterations


def test_a_frame_has_a_row_for_each_example_and_the_index_of_the_examples():
    pd = pytest.importorskip("pandas")
    data = make_banana(30, rng=0)
    X = pd.DataFrame(data.X, index=[f"patient {k}" for k in range(30)])
    for y in (data.y, np.array(["a", "b", "c"])[np.arange(30) % 3]):
        result = cross_validate(X, y, kernel=RBF(0.5), folds=3, rng=0, engine="numpy")
        frame = result.to_frame()
        assert [*frame.index] == [*X.index]
        assert np.array_equal(frame["label"], y)
        assert np.array_equal(frame["prediction"], result.predictions)
        assert np.array_equal(frame["fold"], result.fold)
        values = frame.filter(like="decision_value").to_numpy()
        assert np.array_equal(values, result.decision_values)
    assert [*frame.columns[3:]] == ["decision_value a b", "decision_value a c", "decision_value b c"]


@pytest.mark.parametrize("from_full", [False, True])
def test_readable_rounds_in_parts_are_those_in_turn(from_full, monkeypatch):
    """Two threads take parts of a few rounds each; the first round is over before they begin."""
    data = make_banana(60, rng=0)
    given = {"kernel": RBF(0.5), "folds": 6, "rng": 0, "engine": "numpy"}
    given |= {"from_full": True} if from_full else {"seeder": Cold()}
    in_turn = cross_validate(data.X, data.y, **given)
    monkeypatch.setattr("refsvm.analysis.resampling.workers.sharing_pays", lambda *arguments: True)
    in_parts = cross_validate(data.X, data.y, n_jobs=2, **given)
    np.testing.assert_array_equal(in_parts.predictions, in_turn.predictions)
    np.testing.assert_array_equal(in_parts.decision_values, in_turn.decision_values)
    assert in_parts.status is Status.CONVERGED
