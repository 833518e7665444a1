"""influence: left-out examples and groups, equal to refits; limits; first order; losses; forget's receipt."""

from __future__ import annotations

import inspect
import signal
import sys
from dataclasses import replace

import numpy as np
import pytest

from refsvm import RBF, DualProblem, KKTGap, Linear, Polynomial, Precomputed, Status, solve
from refsvm.analysis.derivatives import (
    Logistic,
    influence,
    left_out,
    optimum,
)
from refsvm.analysis.derivatives.losses import LOSSES
from refsvm.analysis.resampling.task import task_given
from refsvm.core.engine.limits import Deadline
from refsvm.core.rounds.rounds import Rounds
from refsvm.core.solver.options import RunOptions

from ...settings import FAST, interrupted

rng = np.random.default_rng(3)
X, T = rng.normal(size=(60, 3)), rng.normal(size=(7, 3))
score = X[:, 0] - X[:, 1] ** 2 + 0.5 * rng.normal(size=60)
y = np.where(score > np.median(score), 1.0, -1.0)
labels, targets = np.where(T[:, 0] - T[:, 1] ** 2 > -1.0, 1.0, -1.0), T[:, 0] - T[:, 1] ** 2
PROBLEMS = {
    "two classes": lambda i: DualProblem.classification(X[i], y[i], kernel=RBF(0.5), C=2.0),
    "regression": lambda i: DualProblem.regression(X[i], score[i], kernel=RBF(0.3), C=3.0, epsilon=0.1),
    "around the mean": lambda i: DualProblem.classification(X[i] + 50.0, y[i], kernel=Linear(), C=1.0),
    "few free": lambda i: DualProblem.classification(X[i], y[i], kernel=Polynomial(2, 1.0, 1.0), C=0.3),
    "a gamma of each feature": lambda i: DualProblem.regression(X[i], score[i], kernel=RBF([0.3, 0.5, 0.1])),
}
TWO, REGRESSION = (PROBLEMS[name](np.arange(60)) for name in ("two classes", "regression"))
GROUPS = [rng.choice(60, size, replace=False) for size in (1, 1, 2, 3, 5, 8, 13, 20, 30)]


def refit(name, gone, points):
    """Return h of the machine that is trained without some examples."""
    problem = PROBLEMS[name](np.setdiff1d(np.arange(60), gone))
    solution = solve(problem, stop=KKTGap(1e-11, relative=True), engine=FAST)
    gram = solution.problem.gram
    while hasattr(gram, "source"):
        gram = gram.source
    alpha = solution.alpha.reshape(-1, gram.n).sum(axis=0)
    return gram.kernel(points, gram.X) @ alpha + solution.intercept


@pytest.mark.parametrize("engine", ["numpy", FAST])
@pytest.mark.parametrize("name", PROBLEMS)
def test_groups_are_those_of_refits(name, engine):
    points = T + (50.0 if name == "around the mean" else 0.0)
    found = influence(PROBLEMS[name](np.arange(60)), GROUPS, points, engine=engine)
    full = refit(name, [], points)
    np.testing.assert_allclose(found.decision_values, full, atol=1e-8)
    for gone, change in zip(GROUPS, found.changes, strict=True):
        np.testing.assert_allclose(full + change, refit(name, gone, points), atol=1e-8)
    assert found.status is Status.CONVERGED
    assert found.is_known.all()
    assert found.kkt_gaps.max() <= 1e-10 * max(1.0, np.ptp(full))


def test_without_room_for_the_matrix_steps_alone_lead_there():
    by_steps = influence(TWO, GROUPS, T, cache_mb=0.01)
    np.testing.assert_allclose(by_steps.changes, influence(TWO, GROUPS, T).changes, atol=1e-8)
    assert by_steps.iterations > influence(TWO, GROUPS, T).iterations


def test_each_example_by_default_and_of_the_examples_themselves():
    solution = solve(TWO, stop=KKTGap(1e-10))
    found, other = influence(solution), influence(TWO)
    np.testing.assert_allclose(found.changes, other.changes, atol=1e-9)
    np.testing.assert_array_equal(found.names, np.arange(60))
    assert found.changes.shape == (60, 60)
    at_zero = solution.alpha == 0.0
    assert (found.changes[at_zero] == 0.0).all()
    assert (found.largest[~at_zero] > 0.0).all()
    without = found.decision_values[5] + found.changes[5, 5]
    np.testing.assert_allclose(without, refit("two classes", [5], X[5:6])[0], atol=1e-8)
    # an example that is left out has a smaller margin
    assert (y * np.diag(found.changes) < 1e-9).all()


def test_first_order_is_the_system_of_the_sets():
    solution = solve(REGRESSION, stop=KKTGap(1e-12), polish=True)
    alpha = solution.alpha
    free = np.flatnonzero((alpha != 0.0) & (np.abs(alpha) < 3.0))
    bounded = np.flatnonzero(np.abs(alpha) == 3.0)
    gone = np.append(free[:2] % 60, bounded[:2] % 60)
    found = influence(solution, [gone], T)
    stays = free[~np.isin(free % 60, gone)]
    out = np.flatnonzero(np.isin(np.arange(120) % 60, gone))
    K, e = RBF(0.3)(X, X), np.arange(120) % 60
    A = np.ones((len(stays) + 1, len(stays) + 1))
    A[0, 0], A[1:, 1:] = 0.0, K[np.ix_(e[stays], e[stays])]
    x = np.linalg.solve(A, np.append(alpha[out].sum(), K[np.ix_(e[stays], e[out])] @ alpha[out]))
    moved = np.bincount(np.append(e[stays], e[out]), np.append(x[1:], -alpha[out]), 60)
    expected = RBF(0.3)(T, X) @ moved + x[0]
    np.testing.assert_allclose(found.first_order[0], expected, atol=1e-8)


def test_no_first_order_where_no_variable_stays_free_or_the_problem_is_not_solved(monkeypatch):
    alpha = solve(TWO, stop=KKTGap(1e-10)).alpha
    free = np.flatnonzero((alpha != 0.0) & (np.abs(alpha) < 2.0))
    found = influence(TWO, [free, [0]], T)
    assert np.isnan(found.first_order[0]).all()
    assert np.isfinite(found.first_order[1]).all()
    assert np.isfinite(found.changes).all()
    solved = left_out.LeftOutGroups._solved
    monkeypatch.setattr(
        left_out.LeftOutGroups, "_solved", lambda *given: replace(solved(*given), status=Status.STALLED)
    )
    found = influence(TWO, [free, [0]], T)
    assert np.isnan(found.first_order).all()
    assert np.isfinite(found.changes).all()


@pytest.mark.parametrize("loss", LOSSES)
def test_the_loss_without_a_group(loss):
    name = "two classes" if LOSSES[loss].has_labels else "regression"
    marks = labels if LOSSES[loss].has_labels else targets
    found = influence(PROBLEMS[name](np.arange(60)), GROUPS, T, marks, loss=loss)
    for gone, change in zip(GROUPS, found.loss_changes, strict=True):
        h = refit(name, gone, T)
        np.testing.assert_allclose(found.loss + change, LOSSES[loss]().value(h, marks).mean(), atol=1e-7)
    h = found.decision_values + found.first_order
    expected = LOSSES[loss]().value(h, marks).mean(axis=1) - found.loss
    np.testing.assert_allclose(found.first_order_loss, expected)


def test_the_loss_of_the_examples_themselves():
    found = influence(TWO, GROUPS, loss=Logistic())
    np.testing.assert_allclose(found.loss, Logistic().value(found.decision_values, y).mean())
    assert np.isnan(influence(TWO, GROUPS).loss_changes).all()


def test_groups_by_name():
    names = np.array(["a", "b", "c"])[np.arange(60) % 3]
    found = influence(TWO, names, T)
    assert found.names.tolist() == ["a", "b", "c"]
    listed = influence(TWO, [np.arange(first, 60, 3) for first in range(3)], T)
    np.testing.assert_array_equal(found.changes, listed.changes)
    assert repr(found).startswith("Influence(3 of 3 groups left out, 7 decision values, largest change ")
    assert "\n" not in repr(found)


def test_a_group_that_leaves_one_class():
    found = influence(TWO, [np.flatnonzero(y > 0)], T)
    assert (found.decision_values + found.changes[0] < 0.0).all()


def test_duplicates_and_given_matrices():
    i = np.append(np.arange(60), np.arange(10))
    K = RBF(0.5)(X[i], X[i])
    given = DualProblem.classification(K, y[i], kernel=Precomputed(), C=2.0)
    by_matrix = influence(given, [np.arange(60, 70)], RBF(0.5)(T, X[i]))
    without = by_matrix.decision_values + by_matrix.changes[0]
    np.testing.assert_allclose(without, refit("two classes", [], T), atol=1e-8)


def test_groups_are_trained_in_parts(monkeypatch):
    whole = influence(TWO, GROUPS, T, engine="numpy")
    monkeypatch.setattr(left_out, "AT_ONCE", 2)
    in_parts = influence(TWO, GROUPS, T, engine="numpy")
    np.testing.assert_array_equal(in_parts.changes, whole.changes)
    assert in_parts.iterations == whole.iterations


def test_products_with_kernel_values_come_in_parts(monkeypatch):
    found = [influence(REGRESSION, GROUPS, points, engine="numpy") for points in (T, None)]
    monkeypatch.setattr(optimum, "ENTRIES", 100)
    monkeypatch.setattr(sys.modules["refsvm.analysis.derivatives.influence"], "SELDOM", 1)  # each α by itself
    for whole, points in zip(found, (T, None), strict=True):
        in_parts = influence(REGRESSION, GROUPS, points, engine="numpy")
        np.testing.assert_allclose(in_parts.changes, whole.changes, atol=1e-12)
        np.testing.assert_allclose(in_parts.first_order, whole.first_order, atol=1e-12)


def test_groups_whose_sets_are_not_found_are_solved_by_steps(monkeypatch):
    by_sets = influence(TWO, GROUPS, T, engine="numpy")
    monkeypatch.setattr(left_out, "settled", lambda *_: None)
    by_steps = influence(TWO, GROUPS, T, engine="numpy")
    np.testing.assert_allclose(by_steps.changes, by_sets.changes, atol=1e-8)
    assert by_steps.is_known.all()
    assert by_steps.iterations > by_sets.iterations


def test_machines_that_are_not_solved_are_told(monkeypatch):
    monkeypatch.setattr(left_out, "settled", lambda *_: None)
    solution = solve(TWO, stop=KKTGap(1e-11))
    with pytest.warns(UserWarning, match=r"machines trained for influence"):
        found = influence(solution, GROUPS, T, max_iter=2, engine="numpy")
    assert found.is_known.all()
    assert found.kkt_gaps.max() > 1e-6


def test_a_tolerance_of_its_own():
    loose, tight = (influence(TWO, GROUPS, T, tol=tol, cache_mb=0.01, engine="numpy") for tol in (1e-2, 1e-8))
    assert loose.iterations < tight.iterations
    assert 1e-8 < loose.kkt_gaps.max() <= 1e-2 * max(1.0, np.ptp(loose.decision_values))
    assert tight.kkt_gaps.max() <= 1e-8 * max(1.0, np.ptp(tight.decision_values))


def test_what_is_printed():
    found = influence(TWO, GROUPS, T, labels, loss="logistic", engine="numpy")
    told = found._card().pairs
    assert found._card().sentence == "9 of 9 groups left out, complete"
    assert told["decision values"] == "7"
    assert float(told["mean loss"]) == pytest.approx(found.loss, rel=1e-5)
    assert float(told["largest change"]) == pytest.approx(np.abs(found.changes).max(), rel=1e-5)
    assert told["steps"] == f"{found.iterations:,}"
    assert not found._card().is_partial
    with pytest.raises(AttributeError):
        found.loss = 0.0
    defaults = {name: each.default for name, each in inspect.signature(influence).parameters.items()}
    assert (defaults["tol"], defaults["cache_mb"], defaults["loss"]) == (None, 1000.0, None)


def test_groups_as_they_may_be_given():
    found = influence(TWO, [[3, -1, 3], [59, 3], (0,)], T, engine="numpy")
    assert [each.tolist() for each in found.members] == [[3, 59], [3, 59], [0]]
    np.testing.assert_array_equal(found.changes[0], found.changes[1])
    days = np.arange(60) // 20 * 7
    for whole in (days, 1.0 * days):
        assert influence(TWO, whole, T, engine="numpy").names.tolist() == [0, 7, 14]


def test_frame():
    pandas = pytest.importorskip("pandas")
    found = influence(TWO, GROUPS, T, labels, loss="logistic")
    frame = found.to_frame()
    assert isinstance(frame, pandas.DataFrame)
    assert frame["size"].tolist() == [len(each) for each in GROUPS]
    np.testing.assert_array_equal(frame["loss_change"], found.loss_changes)
    np.testing.assert_array_equal(frame["largest_change"], found.largest)


def test_a_time_limit_leaves_nan_and_warns():
    with pytest.warns(UserWarning, match="groups are not done") as warned:
        found = influence(TWO, time_limit=1e-9, engine="numpy")
    assert f" {(~found.is_known).sum()} of 60 groups are not done" in str(warned[0].message)
    assert found.status is Status.TIME_LIMIT
    assert np.isnan(found.changes[~found.is_known]).all()


def test_a_time_limit_ends_machines_that_are_solved_by_steps(monkeypatch):
    seconds = [1.0]
    monkeypatch.setattr(left_out, "settled", lambda *_: None)
    monkeypatch.setattr(Deadline, "left", lambda _: seconds[-1])
    with pytest.warns(UserWarning, match="groups are not done"):
        found = influence(
            TWO, GROUPS[4:], time_limit=1.0, engine="numpy", callback=lambda _: seconds.append(-2.0)
        )
    assert 0 < found.is_known.sum() < 5
    assert found.status is Status.TIME_LIMIT


def test_a_callback_ends_it():
    problem, seen = TWO, []
    found = influence(
        problem, GROUPS, callback=lambda told: seen.append((told.done, told.total)) or told.done == 4
    )
    assert seen == [(k, 9) for k in range(1, 5)]
    assert found.status is Status.CALLBACK
    assert found.is_known.sum() == 4
    assert np.isnan(found.loss_changes).all()
    whole = influence(problem, GROUPS)
    np.testing.assert_allclose(found.changes[found.is_known], whole.changes[found.is_known], atol=1e-9)
    assert np.isnan(found.first_order[~found.is_known]).all()


@pytest.mark.parametrize("change_nothing", [False, True])
def test_ctrl_c_raises_with_what_was_found(change_nothing):
    solution = solve(TWO, stop=KKTGap(1e-10))
    groups = np.flatnonzero(solution.alpha == 0.0)[:, None].tolist() if change_nothing else GROUPS
    found = interrupted(
        influence,
        solution,
        groups,
        callback=lambda told: told.done == 3 and signal.raise_signal(signal.SIGINT),
    )
    assert found.status is Status.INTERRUPTED
    assert 3 <= found.is_known.sum() < len(groups)
    assert np.isnan(found.changes[~found.is_known]).all()


def test_the_machine_of_all_is_settled_or_ends_the_call(monkeypatch):
    machine = next(task_given(TWO, None, None, None).machines())
    stop, settled, results = KKTGap(1e-10, relative=True), left_out.settled, []
    monkeypatch.setattr(left_out, "settled", lambda *given: results.append(settled(*given)) or results[-1])
    found = left_out.LeftOutGroups(machine, Rounds.of(machine.problem, RunOptions(stop=stop)), None)
    assert [found.given] == results
    monkeypatch.setattr(left_out, "settled", lambda *_: None)
    options = RunOptions(stop=stop, max_iter=1)
    found = left_out.LeftOutGroups(machine, Rounds.of(machine.problem, options), None)
    assert found.status is found.full.status is Status.MAX_ITER
    assert list(found.run([np.array([0])])) == []
