"""What each stopping rule is made of: its default settings, and the numbers that its twin gets."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest

from refsvm import BallRule, DualProblem, KKTGap, LOODualityGap, Precomputed, StoppingRule, WorkingSetGap
from refsvm.core.kernels import Gram
from refsvm.core.stopping.loo_duality_gap import EXAMPLE, HEAD, _ascend
from refsvm.core.stopping.relative import rounding_of_gradient

from ...values import begins_at, is_a_value, remembers_as, what_it_says


@pytest.mark.parametrize(
    ("rule", "shown", "parameters"),
    [
        (KKTGap(), "KKTGap(tol=0.001, relative=False)", (1e-3, 0.0)),
        (KKTGap(0.1, relative=True), "KKTGap(tol=0.1, relative=True)", (0.1, 1.0)),
        (WorkingSetGap(), "WorkingSetGap(tol=0.001)", (1e-3,)),
        (
            BallRule(),
            "BallRule(tol=0.001, every=5, example=None, relative=False, near=inf)",
            (1e-3, 5.0, 0.0, math.inf),
        ),
        (
            LOODualityGap(),
            "LOODualityGap(tol=0.001, example=None, variables=2, relative=False)",
            (1e-3, 2.0, 0.0),
        ),
    ],
    ids=repr,
)
def test_a_rule_is_a_value(rule, shown, parameters):
    is_a_value(rule, shown, parameters)
    remembers_as(rule, StoppingRule)


class Often(KKTGap):
    """It looks in every n-th step."""

    def __init__(self, period):
        object.__setattr__(self, "period", period)


@pytest.mark.parametrize("period", [0, -3, 1.0, None, True])
def test_a_period_that_is_no_number_of_steps_is_refused(period):
    if period is True:  # a bool is a whole number in Python, and means each step
        assert StoppingRule.checked("stop", Often(period)).period == 1
        return
    with pytest.raises(ValueError, match=r"Often.period is \S+; give a whole number of steps, at least 1."):
        StoppingRule.checked("stop", Often(period))


@pytest.mark.parametrize("period", [1, 2, 1000])
def test_a_period_is_any_number_of_steps(period):
    assert StoppingRule.checked("stop", Often(period)).period == period


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


def test_a_restricted_problem_is_solved_to_half_of_the_gap_by_default():
    for gap in (0.5, 3.0):
        assert StoppingRule.restricted_tolerance(KKTGap(), gap) == gap / 2.0


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


@pytest.mark.parametrize(
    ("kind", "name", "least"),
    [
        *((kind, "tol", 1e-300) for kind in (KKTGap, WorkingSetGap, BallRule, LOODualityGap)),
        (BallRule, "every", 1),
        (BallRule, "example", 0),
        (LOODualityGap, "example", 0),
    ],
)
def test_the_least_that_a_rule_takes(kind, name, least):
    begins_at(kind, name, least)


def test_rules_of_leave_one_out_say_that_an_example_is_left_out():
    for rule in (KKTGap(), WorkingSetGap()):
        assert what_it_says(rule) == set()
    for rule in (BallRule(), LOODualityGap()):
        assert what_it_says(rule) == {"left_out"}


@pytest.mark.parametrize("n", [4, 100, 900])
@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
def test_the_rounding_of_a_gradient_is_that_of_its_largest_terms(n, unit):
    """In any unit of α and K; of so many independent roundings it grows by their root."""
    rng = np.random.default_rng(n)
    alpha, G, largest = unit * rng.normal(size=n), unit * rng.normal(size=n), 7.0
    allowed = rounding_of_gradient(alpha, G, largest)
    of_one = rounding_of_gradient(np.abs(alpha).max(keepdims=True), np.abs(G).max(keepdims=True), largest)
    assert allowed == pytest.approx(np.sqrt(n) * of_one, abs=0.0)
    of_a_unit = rounding_of_gradient(np.ones(1), np.zeros(1), 1.0)
    assert of_one == pytest.approx(of_a_unit * (7.0 * np.abs(alpha).max() + np.abs(G).max()), abs=0.0)
    # by the rounding itself, of Kα summed in float64 beside the same in long double
    K = rng.uniform(-7.0, 7.0, size=(n, n))
    lost = np.abs(K @ alpha - (K.astype(np.longdouble) @ alpha.astype(np.longdouble))).max()
    allowed, most = rounding_of_gradient(alpha, K @ alpha, 7.0), max(lost, 2.0**-52 * np.abs(K @ alpha).max())
    assert lost <= allowed <= 1e4 * most


@pytest.mark.parametrize("relative", [False, True])
def test_what_a_rule_remembers_is_as_long_as_it_says(relative):
    """v and two numbers; 4n numbers and those of its head, and two more of a relative rule."""
    problem = DualProblem(Gram(Precomputed(), np.eye(3)), np.ones(3), 0.0, -np.ones(3), np.ones(3))
    assert len(KKTGap(relative=relative).memory(problem)) == 5 * relative
    gap = LOODualityGap(relative=relative).memory(problem.without(1))
    assert len(gap) == HEAD + 12 + 2 * relative


def test_a_rule_without_a_body_cannot_be_made():
    with pytest.raises(TypeError, match="abstract"):
        StoppingRule()


@pytest.mark.parametrize("n", [1, 9, 400])
def test_rounding_is_16_units_in_the_last_place_of_the_largest_terms(n):
    """By which the tolerance of a relative rule is never less, in either engine; a bound that users read as a gap."""
    alpha, G = np.linspace(-0.5, 3.0, n), np.linspace(2.0, -1.0, n)
    largest = 7.0 * np.abs(alpha).max() + np.abs(G).max()
    expected = pytest.approx(16.0 * 2.0**-52 * n**0.5 * largest, rel=1e-12, abs=0.0)
    assert rounding_of_gradient(alpha, G, 7.0) == expected
    v, zero = np.array([5.0, -5.0, 5.0]), np.zeros(3)
    constant = DualProblem(Gram(Precomputed(), np.eye(3)), v, 0.0, zero, zero)
    least = KKTGap(1e-9, relative=True).tolerance_for_rounding(constant, np.zeros(3), 0.0)
    assert least == pytest.approx(16.0 * 2.0**-52 * 5.0, rel=1e-12, abs=0.0)


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
