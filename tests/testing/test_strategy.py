"""check_strategy finds what is wrong: each check fails on a rule that is broken on purpose."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
import pytest

from refsvm import (
    DualProblem,
    KKTGap,
    MaximumGain,
    MostViolatingPair,
    NewtonStep,
    SecondOrder,
    Seeder,
    StepRule,
    StoppingRule,
    WorkingSetSelector,
    solve,
)
from refsvm.testing import Case, StrategyReport, check_strategy, first_difference, practice_problems
from refsvm.testing.contract import infeasibility

from ..catalogue import PROBLEMS
from ..settings import INTERPRETED, NUMBA, needs_numba

CALLS = itertools.count()


class Pair(WorkingSetSelector):
    """The most violating pair, to be broken by subclasses; no twin."""

    def select(self, state):
        return (state.top, state.bottom) if state.gap > 0.0 else (-1, -1)


class Newton(StepRule):
    """The clipped Newton step, to be broken by subclasses; no twin."""

    def length(self, state, i, j):
        return min(max(state.slope / state.curvature, state.low), state.high)


class Gap(StoppingRule):
    """ψ ≤ 1e-3, to be broken by subclasses; no twin."""

    def check(self, state):
        return int(state.gap <= 1e-3)


def fails(rule, words: str) -> str:
    with pytest.raises(AssertionError, match=words) as failure:
        check_strategy(rule)
    sentence = str(failure.value)
    assert sentence.endswith(".")
    return sentence


# -- what a rule is ----------------------------------------------------------------------------------------


@dataclass
class Thawed(Pair):
    pass


@dataclass(frozen=True)
class Unhashable(Pair):
    weights: list = field(default_factory=list)


@dataclass(frozen=True)
class Incomparable(Pair):
    generator: object = field(default_factory=object)


@dataclass(frozen=True)
class ListOfParameters(Pair):
    def parameters(self):
        return [1.0]


@dataclass(frozen=True)
class ParametersOfText(Newton):
    def parameters(self):
        return ("fast",)


@dataclass(frozen=True)
class IntegerMemory(Pair):
    def prepare(self, problem):
        return np.zeros(3, dtype=int)


SHARED = np.zeros(3)


@dataclass(frozen=True)
class SharedMemory(Gap):
    def prepare(self, problem):
        return SHARED


@dataclass(frozen=True)
class FreshTwin(Pair):
    def twin(self):
        return lambda parameters, state: (-1, -1)


@dataclass(frozen=True)
class NoReasons(Gap):
    reasons: ClassVar[tuple[str, ...]] = ()


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (Thawed(), "Thawed is not a frozen dataclass"),
        (Pair(), "Pair is not a frozen dataclass"),
        (Unhashable(), "Unhashable cannot be hashed"),
        (Incomparable(), "Incomparable does not equal its copy"),
        (ListOfParameters(), r"parameters\(\) returned \[1.0\]"),
        (ParametersOfText(), r"parameters\(\) returned \('fast',\)"),
        (IntegerMemory(), r"prepare\(\) returned array.* a float64 vector"),
        (SharedMemory(), r"SharedMemory.prepare\(\) returned one array twice"),
        pytest.param(FreshTwin(), r"FreshTwin.twin\(\) returned two functions", marks=needs_numba),
        (NoReasons(), r"NoReasons.reasons is \(\)"),
    ],
)
def test_a_rule_is_a_frozen_value(rule, words):
    fails(rule, words)


@pytest.mark.parametrize("rule", [MostViolatingPair, "second order", None, 1e-3])
def test_what_is_no_rule_is_refused(rule):
    with pytest.raises(TypeError, match="pass an instance"):
        check_strategy(rule)


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
        (WritesBox(), "wrote to state.lower or state.upper"),
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
        (TooShort(), "still not solved"),
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

    def prepare(self, problem):
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


def test_a_good_seeder_passes():
    report = check_strategy(Sensible())
    assert report.twin in (
        "Sensible has no twin; seeds are made in NumPy only.",
        "The twin was not compared: Numba is not installed.",
    )


# -- twins -------------------------------------------------------------------------------------------------


def named(*functions) -> dict[str, object]:
    return {function.__name__: function for function in functions}


def broken_selectors() -> dict[str, object]:
    """Compiled selectors that differ from `MostViolatingPair`; Numba is imported only here."""
    from numba import njit

    from refsvm.fast.layout import SELECT

    @njit
    def last_of_equals(parameters, state):
        """The most violating pair, ties to the highest index."""
        now, G = state.now[0], state.gradient
        if now.gap <= 0.0:
            return -1, -1
        i, j = now.top, now.bottom
        for t in range(len(G)):
            if G[t] == G[now.top] and state.alpha[t] < state.upper[t]:
                i = t
            if G[t] == G[now.bottom] and state.alpha[t] > state.lower[t]:
                j = t
        return i, j

    @njit(SELECT)
    def writes_alpha(parameters, state):
        now = state.now[0]
        if now.iteration == 3:
            state.alpha[0] += 1e-300
        return (now.top, now.bottom) if now.gap > 0.0 else (-1, -1)

    return named(last_of_equals, writes_alpha)


def broken_others() -> dict[str, object]:
    """Compiled steps and stopping rules that differ from `NewtonStep` and `KKTGap`."""
    from numba import njit

    from refsvm.fast.layout import CHECK, LENGTH

    @njit(LENGTH)
    def one_bit_off(parameters, state, i, j):
        now = state.now[0]
        return min(max(now.slope * (1.0 / now.curvature), now.low), now.high)

    @njit(LENGTH)
    def touches_gradient(parameters, state, i, j):
        """Changes an entry of G that nobody looks at."""
        now = state.now[0]
        if now.iteration == 5:
            state.gradient[0] = state.gradient[0] * (1.0 + 1e-14)
        return min(max(now.slope / now.curvature, now.low), now.high)

    @njit(CHECK)
    def strict(parameters, state):
        return int(state.now[0].gap < 0.9 * parameters[0])

    @njit(CHECK)
    def another_reason(parameters, state):
        return 2 * int(state.now[0].gap <= parameters[0])

    return named(one_bit_off, touches_gradient, strict, another_reason)


@pytest.fixture(scope="module")
def twins():
    pytest.importorskip("numba")
    return broken_selectors() | broken_others()


def with_twin(base: type, twin, **members):
    """Subclass a shipped rule, giving it another twin."""
    return dataclass(frozen=True)(type("Broken", (base,), {"twin": lambda self: twin, **members}))()


@pytest.mark.parametrize(
    ("base", "name", "words"),
    [
        (MostViolatingPair, "last_of_equals", r"step 1: the engines differ .*: [ij] is \d+ in the readable"),
        (MostViolatingPair, "writes_alpha", r"step 4: the engines differ .*: alpha\[0\] is"),
        (NewtonStep, "one_bit_off", "the engines differ .*: step is"),
        (
            NewtonStep,
            "touches_gradient",
            r"step 6: the engines differ .*: (gradient\[0\]|objective|gap|step) is",
        ),
        (KKTGap, "strict", "the engines differ .*: iterations is"),
        (KKTGap, "another_reason", "the engines differ .*: reason is"),
    ],
)
def test_a_wrong_twin_is_found_at_its_first_wrong_step(base, name, words, twins):
    members = {"reasons": ("one", "two")} if name == "another_reason" else {}
    sentence = fails(with_twin(base, twins[name], **members), words)
    assert "Problem " in sentence
    assert "shrinking=" in sentence


def test_a_right_twin_without_signature_passes(twins):
    from numba import njit

    @njit
    def most_violating(parameters, state):
        now = state.now[0]
        return (now.top, now.bottom) if now.gap > 0.0 else (-1, -1)

    report = check_strategy(with_twin(MostViolatingPair, most_violating))
    assert report.twin.startswith("Both engines agree bit for bit in ")


def test_a_twin_that_waits_for_a_row_it_has_is_stopped(twins):
    from numba import njit

    @njit
    def insatiable(parameters, state):
        return state.now[0].top, -1

    with pytest.raises(RuntimeError, match=r"asked for kernel row .* which is in memory"):
        check_strategy(with_twin(MostViolatingPair, insatiable))


@needs_numba
def test_a_twin_that_counts_rows_differently_is_found():
    problem = practice_problems()["overlapping classes"]
    one, other = (solve(problem, engine=engine, shrinking=False) for engine in ("numpy", "numba"))
    assert first_difference(one, other) is None
    for name in ("kernel_rows", "kernel_hits", "iterations"):
        changed = replace(other, **{name: getattr(other, name) + 1})
        assert first_difference(one, changed)[1].startswith(f"{name} is ")


# -- the report --------------------------------------------------------------------------------------------


def test_the_report_says_what_was_done():
    report = check_strategy(SecondOrder(), rng=3)
    assert isinstance(report, StrategyReport)
    assert report.rule == "SecondOrder(planned_range=0.9)"
    assert report.problems == tuple(practice_problems(3))
    assert report.steps > 100
    if NUMBA:
        assert report.twin == f"Both engines agree bit for bit in {2 * 2 * 2 * len(report.problems)} solves."


def test_the_report_says_that_there_is_no_twin():
    @dataclass(frozen=True)
    class Plain(Pair):
        pass

    report = check_strategy(Plain())
    if NUMBA:
        assert report.twin == "Plain has no twin; it runs in the readable engine only."


def test_the_report_says_that_numba_is_missing(monkeypatch):
    monkeypatch.setattr("refsvm.testing.strategy.find_spec", lambda name: None)
    monkeypatch.setattr("refsvm.solver.handover.numba_is_installed", lambda: False)
    assert check_strategy(NewtonStep()).twin == "The twin was not compared: Numba is not installed."


def test_practice_problems_depend_on_the_seed_only():
    one, same, other = practice_problems(1), practice_problems(1), practice_problems(2)
    for name, problem in one.items():
        assert isinstance(problem, DualProblem)
        assert np.array_equal(problem.v, same[name].v)
    assert not np.array_equal(one["any box"].v, other["any box"].v)


@pytest.mark.parametrize("seed", [1, np.random.default_rng(3)], ids=str)
@pytest.mark.parametrize("rule", [MostViolatingPair(), SecondOrder(), NewtonStep()], ids=repr)
@pytest.mark.skipif(INTERPRETED, reason="slow without the compiler")
def test_shipped_rules_pass_on_other_problems_too(rule, seed):
    check_strategy(rule, rng=seed)


def test_infeasibility_is_measured():
    problem = PROBLEMS["two points, free"].problem
    assert infeasibility(problem, np.array([-0.5, 0.5])) == 0.0
    assert infeasibility(problem, np.array([-0.5, 0.4])) == pytest.approx(0.05)
    assert infeasibility(problem, np.array([-1.5, 1.5])) == pytest.approx(0.5)


def test_a_case_names_itself():
    case = Case("mine", PROBLEMS["xor"].problem, (MaximumGain(), NewtonStep(), KKTGap()))
    case.require(True, 3, "not said.")
    with pytest.raises(
        AssertionError, match=r"^Problem 'mine' with MaximumGain\(rows=2\), .* step 3: said.$"
    ):
        case.require(False, 3, "said.")
