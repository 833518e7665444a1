"""The loop, step by step: `iterate` and `solve` take the same steps, and no exact one loses."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from refsvm import DualProblem, PlanningAheadStep, Precomputed, StepRule, WorkingSetSelector, iterate, solve
from refsvm.testing.contract import infeasibility

from ...catalogue import PROBLEMS, SELECTORS, combinations
from .plain import PLAIN

COMBINATIONS = list(combinations())
pytestmark = pytest.mark.filterwarnings("ignore:The kernel is not positive semi-definite")


@pytest.mark.parametrize(("selector", "step"), COMBINATIONS, ids=repr)
def test_iterating_takes_the_steps_of_solve(selector, step):
    walked = [
        (*state.working_sets[0].tolist(), state.last_step, state.gap, state.last_planned)
        for state in iterate(PLAIN, selector=selector, step=step)
    ]
    solution = solve(PLAIN, selector=selector, step=step, engine="numpy", shrinking=False, trace=True)
    names = ("i", "j", "step", "gap", "planned")
    assert walked == list(zip(*(solution.trace[name].tolist() for name in names), strict=True))


@pytest.mark.parametrize("name", ["any box", "indefinite matrix", "indefinite kernel", "duplicates", "xor"])
def test_the_state_knows_its_values_after_every_step(name):
    problem = PROBLEMS[name].problem
    for state in iterate(problem, step=PlanningAheadStep()):
        G = problem.gradient(state.alpha)
        assert infeasibility(problem, state.alpha) <= 1e-13
        np.testing.assert_allclose(state.gradient, G, atol=1e-10)
        assert state.gap == pytest.approx(problem.kkt_gap(state.alpha), abs=1e-10)
        assert state.objective == pytest.approx(problem.objective(state.alpha, G), rel=1e-9, abs=1e-12)
    assert state.iteration > 2


def test_the_first_pair_is_the_lowest_of_equals():
    """On K = I all pairs of different labels are equally good."""
    labels = np.array([-1, -1, 1, -1, 1, 1])
    problem = DualProblem.classification(np.eye(6), labels, kernel=Precomputed())
    for selector in SELECTORS:
        state = next(iterate(problem, selector=selector))
        assert state.working_sets[0].tolist() == [2, 0], selector


@dataclass(frozen=True)
class Answering(WorkingSetSelector):
    """The most violating pair so many times, then always the same answer."""

    answer: Any
    after: int = 2

    def select(self, state):
        return (state.top, state.bottom) if state.iteration < self.after else self.answer


@pytest.mark.parametrize("after", [0, 2, 5])
@pytest.mark.parametrize(
    "answer",
    [
        (1, 1),
        (2, -3),
        (-3, 2),
        (-1, 2),
        (-2, -1),
        (-3, -2),
        (np.int64(-5), np.int8(-1)),
        (0, 0),
        (3, -1),
        (True, False),
        (np.True_, 0),
        (1, np.False_),
    ],
    ids=repr,
)
def test_what_is_no_pair_is_refused_in_a_sentence(answer, after):
    shown = tuple(each.item() if isinstance(each, np.generic) else each for each in answer)
    said, selector = re.escape(f"select() returned {shown!r}, which is not a pair"), Answering(answer, after)
    with pytest.raises(ValueError, match=said):
        list(iterate(PLAIN, selector=selector))
    with pytest.raises(ValueError, match=said) as failure:
        solve(PLAIN, selector=selector, shrinking=False)
    assert repr(selector) in failure.value.__notes__[0]


@pytest.mark.parametrize("answer", [None, 3, (0.0, 1.0), (2,), (0, 1, 2), (0, 10**6)], ids=repr)
def test_what_is_no_pair_of_numbers_raises_and_the_rules_are_named(answer):
    with pytest.raises((TypeError, ValueError, IndexError)) as failure:
        solve(PLAIN, selector=Answering(answer), shrinking=False)
    assert repr(Answering(answer)) in failure.value.__notes__[0]


@pytest.mark.filterwarnings("ignore:The selector returned")
@pytest.mark.parametrize("answer", [[0, 1], np.array([-1, -1]), (np.int32(1), np.uint8(2))], ids=repr)
def test_two_whole_numbers_are_a_pair_in_whatever_they_come(answer):
    assert solve(PLAIN, selector=Answering(answer), shrinking=False, max_iter=9).iterations >= 2


def test_an_error_within_a_rule_stays_what_it_is():
    @dataclass(frozen=True)
    class Failing(WorkingSetSelector):
        def select(self, state):
            return len(3)

    with pytest.raises(TypeError, match="has no len"):
        solve(PLAIN, selector=Failing(), shrinking=False)


def test_iterate_ends_with_the_code_of_the_stopping_rule():
    def codes():
        yield (yield from iterate(PLAIN))

    assert list(codes())[-1] == 1


@dataclass(frozen=True)
class TooFar(StepRule):
    """Twice as far as the box allows."""

    def length(self, state, i, j):
        return 2.0 * state.high


def test_a_step_beyond_the_box_is_refused():
    """αᵢ stops at 1, and αⱼ goes on to −2: the sum is another."""
    problem = DualProblem.classification(np.eye(2), [1, -1], kernel=Precomputed(), C=np.array([1.0, 3.0]))
    with pytest.raises(ValueError, match="Σα is -1 instead of 0: a step length was outside"):
        solve(problem, step=TooFar(), engine="numpy", shrinking=False, max_iter=1)
