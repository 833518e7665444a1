"""A recording keeps the states of a solve, bit for bit, and asks each rule once for each step."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from refsvm import (
    RBF,
    ConjugateSecondOrder,
    ConjugateStep,
    DualProblem,
    HybridMaximumGain,
    KKTGap,
    Linear,
    MaximumGain,
    MostViolatingPair,
    NewtonStep,
    OverrelaxedNewtonStep,
    PlanningAheadStep,
    Polynomial,
    Recording,
    SecondOrder,
    Status,
    WorkingSetSelector,
    solve,
)
from refsvm.datasets import make_banana


def distance(A, B):
    """A kernel of one's own, of the distances in the plane."""
    return np.exp(-np.abs(A[:, None] - B[None]).sum(axis=-1))


@dataclass(frozen=True)
class RandomPair(WorkingSetSelector):
    """Any violating pair."""

    seed: int = 0

    def select(self, state):
        G = state.gradient
        up, down = np.flatnonzero(state.alpha < state.upper), np.flatnonzero(state.alpha > state.lower)
        pairs = [(i, j) for i in up for j in down if G[i] > G[j]]
        drawn = np.random.default_rng([self.seed, state.iteration])
        return pairs[drawn.integers(len(pairs))] if pairs else (-1, -1)


DATA = make_banana(40, rng=1)
TARGETS = np.sin(2.0 * DATA.X[:, 0]) + 0.1 * DATA.X[:, 1]
PROBLEMS = {
    "classification, RBF": DualProblem.classification(DATA.X, DATA.y, kernel=RBF(0.5), C=10.0),
    "classification, linear": DualProblem.classification(DATA.X + 30.0, DATA.y, kernel=Linear(), C=1.0),
    "classification, callable": DualProblem.classification(DATA.X, DATA.y, kernel=distance, C=10.0),
    "regression": DualProblem.regression(DATA.X, TARGETS, kernel=Polynomial(degree=2), C=0.5),
    "one class": DualProblem.one_class(DATA.X, kernel=RBF(0.5), nu=0.3),
}
RULES = {
    "defaults": {},
    "most violating": {"selector": MostViolatingPair(), "step": NewtonStep()},
    "planned": {"selector": SecondOrder(), "step": PlanningAheadStep()},
    "conjugate": {"selector": ConjugateSecondOrder(), "step": ConjugateStep()},
    "hybrid": {"selector": HybridMaximumGain(), "step": OverrelaxedNewtonStep()},
    "of the user": {"selector": RandomPair(), "stop": KKTGap(0.05)},
}
MOST = 400


@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("kind", PROBLEMS)
def test_states_are_those_of_a_trace(kind, rules):
    problem, chosen = PROBLEMS[kind], RULES[rules]
    solution = solve(problem, **chosen, trace=True, shrinking=False, engine="numpy", max_iter=MOST)
    recording = Recording(problem, **chosen, limit=MOST)
    states, trace = list(recording), solution.trace
    assert len(states) - 1 == len(trace) == solution.iterations > 5
    taken, after = [state.next for state in states[:-1]], states[1:]
    for name, values in {
        "iteration": [state.iteration for state in after],
        "i": [step.i for step in taken],
        "j": [step.j for step in taken],
        "step": [step.length for step in taken],
        "newton": [step.slope / step.curvature for step in taken],
        "planned": [step.planned for step in taken],
        "free": [step.free for step in taken],
        "moved": [step.moved for step in taken],
        "objective": [state.objective for state in after],
        "gap": [state.gap for state in after],
        "rows": [state.kernel_rows for state in after],
    }.items():
        assert trace[name].tolist() == values, name
    last = states[-1]
    assert last.next is None
    assert (recording.status, recording.reason) == (solution.status, solution.reason)
    assert np.array_equal(last.alpha, solution.alpha)
    assert np.array_equal(last.gradient, solution.gradient)
    assert last.intercept == solution.intercept


@pytest.mark.parametrize("kind", PROBLEMS)
def test_the_numbers_of_a_step_describe_its_sub_problem(kind):
    problem = PROBLEMS[kind]
    states = list(Recording(problem, selector=ConjugateSecondOrder(), step=ConjugateStep()))
    carried = 0
    for before, after in pairwise(states):
        G, alpha, step = before.gradient, before.alpha, before.next
        i, j = step.i, step.j
        K = problem.gram.block(np.array([i, j]), np.array([i, j]))
        assert step.slope == pytest.approx(G[i] - G[j], abs=1e-10)
        assert step.raw_curvature == pytest.approx(K[0, 0] + K[1, 1] - 2.0 * K[0, 1], abs=1e-10)
        assert step.low == max(problem.lower[i] - alpha[i], alpha[j] - problem.upper[j])
        assert step.high == min(problem.upper[i] - alpha[i], alpha[j] - problem.lower[j])
        assert step.after == tuple(after.alpha[[i, j]])
        assert before.objective == pytest.approx(problem.objective(alpha), abs=1e-9)
        primal = problem.primal_objective(alpha, before.intercept)
        assert before.primal_objective == pytest.approx(primal, abs=1e-9)
        assert (step.along == step.raw_curvature) == (step.carry == 0.0)
        carried += step.carry != 0.0
    assert carried > 1


class Counting(WorkingSetSelector):
    """The most violating pair; counts its calls, and fails when it is told to."""

    def __init__(self, fails_at: int = -1) -> None:
        self.calls, self.fails_at = 0, fails_at

    def select(self, state):
        self.calls += 1
        if state.iteration == self.fails_at:
            raise ZeroDivisionError("a slip")
        return (state.top, state.bottom) if state.gap > 0 else (-1, -1)


def test_a_rule_is_asked_once_for_each_step_and_one_ahead():
    selector = Counting()
    recording = Recording(PROBLEMS["classification, RBF"], selector=selector)
    assert selector.calls == 0
    for k in (0, 3, 1, 3, 0):
        assert recording.at(k).iteration == k
    assert selector.calls == 4  # the step from the third state is known
    assert recording.reach(2) == 2
    assert len(list(recording)) == selector.calls + 1
    assert recording.has_ended
    assert selector.calls == len(recording.states) - 1


def test_states_cannot_be_written_to_and_stay():
    recording = Recording(PROBLEMS["classification, RBF"])
    first = recording.at(0)
    alpha, gradient = first.alpha.copy(), first.gradient.copy()
    list(recording)
    assert recording.at(0) is first
    assert np.array_equal(first.alpha, alpha)
    assert np.array_equal(first.gradient, gradient)
    for array in (first.alpha, first.gradient):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0


def test_the_error_of_a_rule_ends_the_recording_and_is_raised():
    recording = Recording(PROBLEMS["classification, RBF"], selector=Counting(fails_at=3))
    assert recording.reach(100) == 3
    assert recording.at(3).next is None
    assert recording.status is None
    with pytest.raises(ZeroDivisionError, match="a slip") as failure:
        recording.at(4)
    assert "after 3 steps" in failure.value.__notes__[0]
    assert recording.error is failure.value
    with pytest.raises(ZeroDivisionError):
        list(recording)
    with pytest.raises(ValueError, match=r"select\(\) returned \(1, 1\)"):
        list(Recording(PROBLEMS["one class"], selector=Same()))


class Idle(WorkingSetSelector):
    """Gives up after four steps."""

    def select(self, state: Any) -> Any:
        return (state.top, state.bottom) if state.iteration < 4 else (-1, -1)


def test_a_selector_that_finds_no_pair_stalls():
    recording = Recording(PROBLEMS["regression"], selector=Idle())
    assert len(list(recording)) == 5
    assert (recording.status, recording.reason) == (Status.STALLED, Status.STALLED.value)


class Same(WorkingSetSelector):
    """No pair."""

    def select(self, state: Any) -> Any:
        return 1, 1


def test_ctrl_c_in_a_rule_is_raised_and_ends_the_recording():
    class Pressed(Counting):
        def select(self, state):
            if state.iteration == 2:
                raise KeyboardInterrupt
            return super().select(state)

    recording = Recording(PROBLEMS["classification, RBF"], selector=Pressed())
    with pytest.raises(KeyboardInterrupt):
        recording.reach(10)
    assert recording.reach(10) == 1
    assert recording.has_ended


def test_limits_and_what_is_not_there():
    problem = PROBLEMS["classification, RBF"]
    steps = len(list(Recording(problem))) - 1
    exact, short = Recording(problem, limit=steps), Recording(problem, limit=steps - 1)
    assert len(list(exact)) == steps + 1
    assert exact.status is Status.CONVERGED
    assert len(list(short)) == steps
    assert short.status is Status.MAX_ITER
    with pytest.raises(
        IndexError, match=rf"iteration={steps} does not exist, because the solve ended after {steps - 1}"
    ):
        short.at(steps)
    with pytest.raises(ValueError, match="iteration"):
        short.at(-1)
    with pytest.raises(ValueError, match="limit"):
        Recording(problem, limit=0)
    with pytest.raises(ValueError, match="cache_mb"):
        Recording(problem, cache_mb=-1.0)
    with pytest.raises(ValueError, match="cannot be combined"):
        Recording(problem, selector=MaximumGain(), step=PlanningAheadStep())


def test_a_recording_begins_where_it_is_told():
    problem = PROBLEMS["classification, RBF"]
    middle = Recording(problem).at(7)
    again = Recording(problem, selector=SecondOrder(), step=NewtonStep(), start=middle.alpha).at(0)
    assert np.array_equal(again.alpha, middle.alpha)


def test_a_frame_has_the_columns_of_a_trace():
    pytest.importorskip("pandas")
    problem = PROBLEMS["regression"]
    recording = Recording(problem)
    assert len(recording.to_frame()) == 0
    list(recording)
    frame = recording.to_frame()
    trace = solve(problem, trace=True, shrinking=False, engine="numpy").trace.to_frame()
    shared = [name for name in trace.columns if name != "seconds"]
    assert frame[shared].equals(trace[shared])
    kept = recording.trace.to_frame()
    assert kept[shared].equals(trace[shared])
    assert kept["seconds"].isna().all()
    assert {"slope", "curvature", "low", "high", "intercept", "primal_objective"} < set(frame.columns)
