"""The task of rounds: its words, its machines, the matrix that they share, and how they predict."""

from __future__ import annotations

import numpy as np
import pytest

from refsvm import RBF, DualProblem, Linear, leave_one_out
from refsvm.analysis.resampling.task import Task, shared_gram, task_given
from refsvm.core.kernels import Gram
from refsvm.core.kernels.matrix import View
from refsvm.core.kernels.rows import megabytes

X = np.array([[0.0], [1.0], [2.0], [4.0], [7.0], [9.0]])
TWO, THREE, TARGETS = [0, 0, 1, 1, 1, 0], ["a", "b", "c", "b", "a", "c"], [0.0, 1.0, 1.5, 2.0, 2.5, 4.0]
C = np.array([1.0, 2.0, 0.5, 1.0, 1.0, 3.0])


@pytest.mark.parametrize(
    ("y", "given", "words"),
    [
        (TWO, {}, "C=1"),
        (TWO, {"C": 2.5}, "C=2.5"),
        (THREE, {"C": C}, "C=0.5 to 3"),
        (TARGETS, {"epsilon": 0.25, "C": 3.0}, "C=3, epsilon=0.25"),
        (TARGETS, {"epsilon": 0.25, "C": C}, "C=0.5 to 3, epsilon=0.25"),
        (None, {"nu": 0.25}, "nu=0.25"),
        (None, {"nu": 0.75, "C": C}, "nu=0.75"),
    ],
)
def test_a_task_names_its_machine(y, given, words):
    task = task_given(X, y, Linear(), None, **given)
    assert task.machine == f"Linear(), {words}"
    shared = task.with_shared_matrix(200.0)
    assert shared.machine == task.machine  # a matrix that is held is still that of its kernel
    assert shared.rows_computed == 6
    assert shared.gram.dense is not None
    assert shared.with_shared_matrix(200.0).rows_computed == 0
    assert task.with_shared_matrix(1e-6).gram is task.gram
    assert task.with_shared_matrix(1e-6).rows_computed == 0
    assert task.on(task.gram) is task


MACHINES = [
    (TWO, {}, True),
    (THREE, {}, False),
    (TARGETS, {"epsilon": 0.1}, True),
    (None, {"nu": 0.5}, False),
]


@pytest.mark.parametrize(("y", "given", "has_one"), MACHINES)
def test_several_machines_that_leave_out_one_share_a_matrix(y, given, has_one, monkeypatch):
    shared, share = [], Task.with_shared_matrix

    def noted(task, *options):
        shared.append(task)
        return share(task, *options)

    monkeypatch.setattr(Task, "with_shared_matrix", noted)
    leave_one_out(X, y, kernel=Linear(), engine="numpy", **given)
    assert len(shared) == (not has_one)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("twice", [False, True])
def test_a_matrix_is_shared_where_the_budget_holds_it(dtype, twice):
    """Of two variables for each example that of the examples is held."""
    gram = View(Gram(RBF(0.5), X), np.tile(np.arange(6), 2)) if twice else Gram(RBF(0.5), X)
    room, is_single = megabytes(6, 6, dtype), dtype == np.float32
    assert shared_gram(gram, 0.99 * room, is_single) is gram
    found = shared_gram(gram, room, is_single)
    held = found.source if twice else found
    assert held.dense.dtype == dtype
    assert found.n == gram.n
    every = np.arange(gram.n)
    np.testing.assert_allclose(found.block(every), gram.block(every), rtol=1e-6)
    assert shared_gram(found, np.inf, is_single) is found


def test_a_shared_matrix_is_around_the_mean_where_alpha_adds_up_to_0():
    far = Gram(Linear(), X + 1e5)
    for is_balanced in (True, False):
        found = shared_gram(far, 200.0, is_balanced=is_balanced)
        assert (found.dense.max() < 100.0) == is_balanced
    assert shared_gram(far, 200.0).dense.max() < 100.0
    assert task_given(X + 1e5, TWO, Linear(), None).with_shared_matrix(200.0).gram.dense.max() < 100.0
    assert task_given(X + 1e5, None, Linear(), None, nu=0.5).with_shared_matrix(200.0).gram.dense.min() > 1e9


def test_a_problem_is_a_task_by_itself():
    """Its penalties are weights, and its targets stand between v of both copies."""
    y = np.array([-1, -1, 1, 1, 1, -1])
    task = task_given(DualProblem.classification(X, y, kernel=Linear(), C=C), None, None, None)
    assert (task.kind, task.labels.tolist(), task.classes.tolist()) == ("classification", y.tolist(), [-1, 1])
    np.testing.assert_allclose(task.C, C)
    problem = DualProblem.regression(X, TARGETS, kernel=Linear(), C=C, epsilon=0.25)
    task = task_given(problem, None, None, None)
    assert task.kind == "regression"
    np.testing.assert_allclose((task.labels, task.C), (TARGETS, C), rtol=1e-14)
    task = task_given(DualProblem.one_class(X, kernel=Linear(), weights=C), None, None, None)
    assert (task.kind, task.labels.tolist()) == ("novelty", [1] * 6)
    np.testing.assert_allclose(task.weights, C, rtol=1e-14)
