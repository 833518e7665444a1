"""What stopping rules tell the solver: rows that they read, what they remember, and how far rounding counts."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from refsvm import BallRule, DualProblem, KKTGap, LOODualityGap, Precomputed, StoppingRule, WorkingSetGap
from refsvm.core.kernels import Gram
from refsvm.core.stopping.loo_duality_gap import EXAMPLE, HEAD, _ascend
from refsvm.core.stopping.relative import rounding_of_gradient


@pytest.mark.parametrize(
    ("rule", "rows"), [(KKTGap(), 0), (WorkingSetGap(), 0), (BallRule(), 1), (LOODualityGap(), 2)], ids=repr
)
def test_the_rows_that_a_rule_reads_at_a_time(rule, rows):
    assert rule.rows_needed(100) == rows


def test_a_rule_without_a_tolerance_has_that_of_the_others():
    kind = type("Never", (StoppingRule,), {"check": lambda self, state: 0})
    assert kind().tolerance == 1e-3


@pytest.mark.parametrize(
    ("rule", "gap", "expected"),
    [
        (KKTGap(0.5, relative=True), 0.5, KKTGap(0.125)),
        (KKTGap(0.5, relative=True), 0.25, KKTGap(0.125)),
        (KKTGap(0.5, relative=True), 0.75, None),  # it has been compared with nothing yet
        (KKTGap(0.5), 0.25, None),
        (BallRule(0.5, relative=True), 0.5, BallRule(0.125)),
    ],
)
def test_a_relative_rule_has_the_absolute_tolerance_that_it_has_found(rule, gap, expected):
    state = SimpleNamespace(gap=gap, stop_memory=np.array([9.0, 7.0, 0.125]))
    found = rule.with_absolute_tolerance(state)
    assert (found is rule) if expected is None else found == expected


@pytest.mark.parametrize(
    ("rule", "s", "wanted"),
    [
        (KKTGap(0.01), 0.25, 0.01),
        (KKTGap(0.01, relative=True), 4.0, 0.01),
        (KKTGap(0.01, relative=True), 0.25, 0.0025),
        # a hundredth of Σ|αᵢ| = 1 times the largest range of a row, 4
        (KKTGap(0.01, relative=True), 0.0, 0.01 * 0.04),
    ],
    ids=["absolute", "a range above 1", "a range below 1", "no range"],
)
def test_the_tolerance_that_rounding_is_compared_with(rule, s, wanted):
    K = np.diag([4.0, 2.0, 1.0])
    problem = DualProblem(Gram(Precomputed(), K), np.ones(3), 1.0, np.zeros(3), np.ones(3))
    found = rule.tolerance_for_rounding(problem, np.array([0.5, 0.5, 0.0]), s)
    assert found == pytest.approx(wanted, rel=1e-12)


def test_examples_without_a_box_say_nothing_of_the_tolerance():
    """The third column is far from the others, but it is that of an example left out."""
    K, v, C = np.diag([4.0, 2.0, 900.0]), np.ones(3), np.array([1.0, 1.0, 0.0])
    K[2, :2] = K[:2, 2] = 50.0
    problem = DualProblem(Gram(Precomputed(), K), v, 1.0, np.zeros(3), C)
    # the range of the other two in both rows is 4 and 2
    found = KKTGap(0.01, relative=True).tolerance_for_rounding(problem, np.array([0.5, 0.5, 0.0]), 0.0)
    assert found == pytest.approx(0.01 * 0.04, rel=1e-12)


@pytest.mark.parametrize("n", [1, 9, 400, 900])
@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
def test_rounding_is_16_units_in_the_last_place_of_the_largest_terms(n, unit):
    """In any unit of α and K; of so many independent roundings it grows by their root, and G never rounds by more."""
    rng = np.random.default_rng(n)
    alpha, K = unit * rng.normal(size=n), rng.uniform(-7.0, 7.0, size=(n, n))
    largest = 7.0 * np.abs(alpha).max() + np.abs(K @ alpha).max()
    expected = pytest.approx(16.0 * 2.0**-52 * n**0.5 * largest, rel=1e-12, abs=0.0)
    assert (allowed := rounding_of_gradient(alpha, K @ alpha, 7.0)) == expected
    # Kα summed in float64 beside the same in long double
    lost = np.abs(K @ alpha - (K.astype(np.longdouble) @ alpha.astype(np.longdouble))).max()
    assert lost <= allowed <= 1e4 * max(lost, 2.0**-52 * np.abs(K @ alpha).max())


def test_a_tolerance_is_never_less_than_the_rounding_of_the_targets():
    v, zero = np.array([5.0, -5.0, 5.0]), np.zeros(3)
    constant = DualProblem(Gram(Precomputed(), np.eye(3)), v, 0.0, zero, zero)
    least = KKTGap(1e-9, relative=True).tolerance_for_rounding(constant, np.zeros(3), 0.0)
    assert least == pytest.approx(16.0 * 2.0**-52 * 5.0, rel=1e-12, abs=0.0)


@pytest.mark.parametrize("relative", [False, True])
def test_what_a_rule_remembers_is_as_long_as_it_says(relative):
    """v and two numbers; 4n numbers and those of its head, and two more of a relative rule."""
    problem = DualProblem(Gram(Precomputed(), np.eye(3)), np.ones(3), 0.0, -np.ones(3), np.ones(3))
    assert len(KKTGap(relative=relative).memory(problem)) == 5 * relative
    gap = LOODualityGap(relative=relative).memory(problem.without(1))
    assert len(gap) == HEAD + 12 + 2 * relative


@pytest.mark.parametrize("rule", [KKTGap, BallRule, LOODualityGap])
@pytest.mark.parametrize("tol", [0.25, 1e-5])
def test_the_memory_of_a_relative_rule_begins_with_no_range_and_its_tolerance(rule, tol):
    left_out = DualProblem.classification(np.eye(3), [-1, 1, 1], kernel=Precomputed()).without(1)
    assert rule(tol, relative=True).memory(left_out)[-2:].tolist() == [0.0, tol]


@pytest.mark.parametrize("variables", [1, 2])
@pytest.mark.parametrize("i", [0, 1])
def test_eta_that_moves_alone_costs_the_row_of_its_variable(i, variables):
    """Of a matrix without a tie between two variables no partner gains anything."""
    read = []
    gradient = np.where(np.arange(4) == i, 1.0, 0.0)
    state = SimpleNamespace(
        stop_memory=np.zeros(HEAD + 16), alpha=np.zeros(4), lower=np.zeros(4),
        upper=np.array([1.0, 1.0, 1.0, 0.0]), diagonal=np.ones(4),
        row=lambda k: read.append(k) or np.eye(4)[k] * (k < 3),
    )  # fmt: skip
    state.stop_memory[EXAMPLE] = 3
    state.stop_memory[HEAD + 4 : HEAD + 8] = gradient
    assert _ascend(state, variables)
    assert set(read) == {i}
    assert state.stop_memory[HEAD : HEAD + 4].tolist() == gradient.tolist()
