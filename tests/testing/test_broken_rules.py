"""check_strategy finds what is wrong with a selector, a step rule, a stopping rule or a seeder."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from refsvm import Seeder
from refsvm.testing import check_strategy, practice_problems

from .simple import Gap, Newton, Pair, fails

CALLS = itertools.count()


# -- selectors ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Backwards(Pair):
    def select(self, state):
        return (state.bottom, state.top) if state.gap > 0.0 else (-1, -1)


@dataclass(frozen=True)
class HalfAPair(Pair):
    def select(self, state):
        return (state.top, state.top) if state.gap > 0.0 else (-1, -1)


@dataclass(frozen=True)
class LeavesTheUpperSet(Pair):
    """Raises the first variable, whether it can rise or not."""

    def select(self, state):
        others = np.flatnonzero(state.alpha[1:] > state.lower[1:]) + 1
        return (0, int(others[state.gradient[others].argmin()])) if len(others) else (-1, -1)


@dataclass(frozen=True)
class LeavesTheLowerSet(Pair):
    def select(self, state):
        at_bound = np.flatnonzero(state.alpha == state.lower)
        at_bound = at_bound[at_bound != state.top]
        return (state.top, int(at_bound[0])) if len(at_bound) else super().select(state)


@dataclass(frozen=True)
class GivesUp(Pair):
    def select(self, state):
        return (-1, -1) if state.iteration >= 2 else super().select(state)


@dataclass(frozen=True)
class Undecided(Pair):
    """Remembers on the module how often it was asked."""

    def select(self, state):
        if state.gap <= 0.0:
            return -1, -1
        down = np.flatnonzero((state.alpha > state.lower) & (state.gradient < state.gradient[state.top]))
        return state.top, int(down[next(CALLS) % len(down)])


@dataclass(frozen=True)
class WritesAlpha(Pair):
    def select(self, state):
        state.alpha[0] = np.nextafter(state.alpha[0], np.inf)
        return super().select(state)


@dataclass(frozen=True)
class WritesBox(Pair):
    def select(self, state):
        state.upper[:] = state.upper + 1.0
        return super().select(state)


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (Backwards(), "not in I_up|not in I_down|the step lowers"),
        (HalfAPair(), r"select\(\) returned \((\d+), \1\), which is no pair"),
        (LeavesTheUpperSet(), "i = 0, which is not in I_up"),
        (LeavesTheLowerSet(), r"j = \d+, which is not in I_down"),
        (GivesUp(), r"step 2: the solve ended with ψ = .* above tol"),
        (Undecided(), "in the first solve and .* in the second"),
        (WritesAlpha(), "wrote to state.alpha"),
        (WritesBox(), r"WritesBox.select\(\) wrote to state.(lower|upper)"),
    ],
)
def test_broken_selectors_are_found(rule, words):
    sentence = fails(rule, words)
    assert repr(rule) in sentence
    assert any(f"Problem {name!r}" in sentence for name in practice_problems())


def test_a_selector_may_stall_if_it_says_so():
    @dataclass(frozen=True)
    class SaysSo(GivesUp):
        may_stall: ClassVar[bool] = True

    assert check_strategy(SaysSo()).steps > 0


def test_a_selector_that_names_half_a_pair_does_not_hang():
    @dataclass(frozen=True)
    class HalfNamed(Pair):
        def select(self, state):
            return (state.top, -1) if state.gap > 0.0 else (-1, -1)

    with pytest.raises((AssertionError, ValueError), match=r"select|pair"):
        check_strategy(HalfNamed())


# -- steps -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Unclipped(Newton):
    def length(self, state, i, j):
        return state.slope / state.curvature


@dataclass(frozen=True)
class NotANumber(Newton):
    def length(self, state, i, j):
        return float("nan") if state.iteration == 3 else super().length(state, i, j)


@dataclass(frozen=True)
class TooLong(Newton):
    def length(self, state, i, j):
        return min(max(2.5 * state.slope / state.curvature, state.low), state.high)


@dataclass(frozen=True)
class TooShort(Newton):
    def length(self, state, i, j):
        return min(max(1e-4 * state.slope / state.curvature, state.low), state.high)


@dataclass(frozen=True)
class WritesGradient(Newton):
    def length(self, state, i, j):
        state.gradient[i] *= 1.0 + 1e-15
        state.gradient[j] -= 1e-15
        return super().length(state, i, j)


@dataclass(frozen=True)
class UnannouncedPlan(Newton):
    """Leaves a candidate although it says that it does not plan."""

    def length(self, state, i, j):
        state.n_candidates = 1
        state.candidates[0] = i, j
        return super().length(state, i, j)


@dataclass(frozen=True)
class Reckless(Newton):
    """Says that it plans, and goes to the end of the box."""

    history: int = 1

    def length(self, state, i, j):
        if state.last_planned or not state.iteration:
            return super().length(state, i, j)
        state.candidates[0], state.candidate_curvatures[0] = state.working_sets[0], state.curvatures[0]
        state.n_candidates = 1
        return state.high


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (Unclipped(), r"length\(\) returned μ = .* outside \[lo, hi\]"),
        (NotANumber(), r"step 4: length\(\) returned μ = nan"),
        (TooLong(), "the step lowers f by"),
        pytest.param(TooShort(), "still not solved", marks=pytest.mark.slow),
        (WritesGradient(), "wrote to state.gradient"),
        (UnannouncedPlan(), r"left 1 candidates with history = 0"),
        (Reckless(), "the planned step before and this one lower f"),
    ],
)
def test_broken_steps_are_found(rule, words):
    fails(rule, words)


# -- stopping rules ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class UnknownReason(Gap):
    def check(self, state):
        return 2 * super().check(state)


@dataclass(frozen=True)
class NegativeCode(Gap):
    def check(self, state):
        return -5 * super().check(state)


@dataclass(frozen=True)
class Impatient(Gap):
    """Counts how often it is asked."""

    def memory(self, problem):
        return np.zeros(1)

    def check(self, state):
        state.stop_memory[0] += 1
        return int(state.gap <= 1e-3 or state.stop_memory[0] > 9)


@dataclass(frozen=True)
class TidiesUp(Gap):
    def check(self, state):
        if state.gap <= 1e-3:
            state.alpha[np.abs(state.alpha) < 0.1] = 0.0
        return super().check(state)


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (UnknownReason(), r"check\(\) returned 2; expected a whole number from 0 to 1"),
        (NegativeCode(), r"check\(\) returned -5"),
        (Impatient(), "let asking again change nothing"),
        (TidiesUp(), "wrote to state.alpha"),
    ],
)
def test_broken_stopping_rules_are_found(rule, words):
    fails(rule, words)


# -- seeders -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class KeepsAll(Seeder):
    """The old α, also of examples that were left out."""

    def seed(self, solved, problem):
        return solved.alpha.copy()


@dataclass(frozen=True)
class TakesOver(Seeder):
    def seed(self, solved, problem):
        solved.alpha[:] = problem.feasible(solved.alpha)
        return solved.alpha


@dataclass(frozen=True)
class Whimsical(Seeder):
    def seed(self, solved, problem):
        return problem.feasible(np.random.default_rng(next(CALLS)).normal(size=problem.n))


@dataclass(frozen=True)
class Integers(Seeder):
    def seed(self, solved, problem):
        return np.zeros(problem.n, dtype=int)


@dataclass(frozen=True)
class Sensible(Seeder):
    def seed(self, solved, problem):
        return problem.feasible(solved.alpha)


@pytest.mark.parametrize(
    ("seeder", "words"),
    [
        (KeepsAll(), r"the seed of KeepsAll\(\) is not feasible"),
        (TakesOver(), "wrote to the solution"),
        (Whimsical(), "gave two different seeds"),
        (Integers(), "expected a float64 vector"),
    ],
)
def test_broken_seeders_are_found(seeder, words):
    fails(seeder, words)


@pytest.mark.slow
def test_a_good_seeder_passes():
    report = check_strategy(Sensible())
    assert report.twin in (
        "Sensible has no twin; seeds are made in NumPy only.",
        "The twin was not compared: Numba is not installed.",
    )
