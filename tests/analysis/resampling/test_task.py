"""The task of rounds: its words, its machines, the matrix that they share, and how they predict."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from refsvm import RBF, DualProblem, Linear, leave_one_out
from refsvm.analysis.resampling.task import LeftOutMachine, Task, shared_gram, task_given
from refsvm.core.kernels import Gram
from refsvm.core.kernels.matrix import View
from refsvm.core.kernels.rows import megabytes
from refsvm.core.rounds.machine import Machine

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


@pytest.mark.parametrize(("y", "given", "has_one"), MACHINES)
def test_which_tasks_have_one_machine(y, given, has_one):
    task = task_given(X, y, Linear(), None, **given)
    assert task.has_one_machine == has_one
    assert task.pairs == ([(0, 1), (0, 2), (1, 2)] if y is THREE else [(0, 1)] if y is TWO else [(0, 0)])
    assert len([*task.machines()]) == len(task.pairs)
    copies = 2 if y is TARGETS else 1
    assert {machine.copies for machine in task.machines()} == {copies}


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


def test_the_variables_of_examples():
    some = np.array([1, 3])
    assert Machine(SimpleNamespace(n=6), (0, 0), 1).variables(some).tolist() == [1, 3]
    assert Machine(SimpleNamespace(n=12), (0, 0), 2).variables(some).tolist() == [1, 3, 7, 9]


def test_the_machine_of_two_classes_asks_the_examples_of_others():
    examples = np.array([1, 2, 5])
    part = LeftOutMachine(Machine(None, (0, 1), 1), examples, None, Gram(Linear(), X))
    assert part.others.tolist() == [0, 3, 4]
    full = SimpleNamespace(alpha=np.array([0.5, 0.0, -2.0]), intercept=0.25)
    expected = X[[0, 3, 4], 0] * (0.5 * 1.0 - 2.0 * 9.0) + 0.25
    np.testing.assert_allclose(part.values_of_others(full), expected, rtol=1e-14)


def test_novelty_detection_has_a_family_for_each_sum_of_weights():
    """z = ν times the weights that stay; sums that are equal share a family."""
    weights = np.array([1.0, 2.0, 1.0, 2.0, 3.0, 1.0])
    task = task_given(X, None, RBF(0.5), None, weights, nu=0.5)
    machine = next(task.machines())
    assert machine.problem.z == pytest.approx(0.5 * 10.0, rel=1e-14)
    held_out = [np.array(some, dtype=np.int64) for some in ([0], [1], [2], [0, 2], [4], [3, 5], [])]
    families = [(family.problem.z, places) for family, places in task.families(machine, held_out)]
    assert [places for _, places in families] == [[0, 2], [1, 3], [4, 5], [6]]
    assert [z for z, _ in families] == pytest.approx([4.5, 4.0, 3.5, 5.0], rel=1e-14)
    asked = [(part.asked, part.machine.problem.z) for part in task.parts()]
    assert asked[0][0] == []  # the machine of all examples is asked of none
    assert [some for some, _ in asked[1:]] == [[0, 2, 5], [1, 3], [4]]
    for kind in ({}, {"epsilon": 0.1}):
        other = task_given(X, TWO if not kind else TARGETS, RBF(0.5), None, **kind)
        machine = next(other.machines())
        assert [*other.families(machine, held_out)] == [(machine, [*range(7)])]


def test_predictions_of_what_is_known():
    known = np.array([True, True, False, True, True, False])
    h = np.array([[1.0], [-1.0], [1.0], [0.0], [2.0], [np.nan]])
    assert task_given(X, TWO, Linear(), None).predicted(h, known).tolist() == [1, 0, 1, 1, 1, 0]
    assert task_given(X, None, Linear(), None, nu=0.5).predicted(h, known).tolist() == [1, -1, -1, 1, 1, -1]
    found = task_given(X, TARGETS, Linear(), None, epsilon=0.1).predicted(h, known)
    np.testing.assert_array_equal(found, [1.0, -1.0, np.nan, 0.0, 2.0, np.nan])
    votes = np.array([[1.0, 1.0, 1.0]] * 3 + [[-1.0, 1.0, 1.0]] * 3)
    assert task_given(X, THREE, Linear(), None).predicted(votes, known).tolist() == [*"aacbbc"]


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
