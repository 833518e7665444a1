"""Six rules written from the pages alone, one a family and a kernel matrix, each broken on purpose in eight ways.

Whatever is wrong, the message names the rule, the problem, and the cause.
"""

from __future__ import annotations

import itertools
import re
import time
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from refsvm import SVMP, PathTracker, Seeder, StepRule, StoppingRule, WorkingSetSelector
from refsvm.kernels.matrix import KernelMatrix
from refsvm.seeders.spread import complete
from refsvm.testing import check_strategy, practice_problems, trackers

from ..settings import NUMBA

CALLS = itertools.count()
NAMES = [*practice_problems(), "five hundred examples", "any", "all", "a block of rows"]


@dataclass(frozen=True)
class FarthestPair(WorkingSetSelector):
    """The most violating pair, with the j of the largest ℓ²: the same, written anew."""

    slip: str = ""

    def select(self, state):
        if self.slip == "raises" and state.iteration == 3:
            return state.nothing
        if state.gap <= 0.0 or (self.slip == "gives up" and state.iteration == 2):
            return -1, -1
        up = np.where(state.alpha < state.upper, state.gradient, -np.inf)
        down = np.where(state.alpha > state.lower, state.gradient, np.inf)
        i, j = int(up.argmax()), int(down.argmin())
        if self.slip == "writes":
            state.alpha[i] += 1e-9
        if self.slip == "undecided" and next(CALLS) % 2:
            j = int(np.flatnonzero(down < np.inf)[-1])
        answers = {
            "None": None,
            "floats": (float(i), float(j)),
            "backwards": (j, i),
            "beyond": (i, len(state.alpha)),
        }
        return answers.get(self.slip, (i, j))

    def parameters(self):
        return ()


@dataclass(frozen=True)
class HalfNewton(StepRule):
    """Nine tenths of the Newton step, clipped."""

    slip: str = ""
    factor: float = 0.9

    def length(self, state, i, j):
        mu = min(max(self.factor * state.slope / state.curvature, state.low), state.high)
        if self.slip == "raises" and state.iteration == 4:
            return 1.0 / 0
        if self.slip == "writes":
            state.gradient[i] += 1e-12
        if self.slip == "plans":
            state.n_candidates = 3
        answers = {"None": None, "outside": 2.0 * state.high, "nan": float("nan"), "falls": state.high}
        return answers.get(self.slip, mu)

    def parameters(self):
        return ("nine tenths",) if self.slip == "parameters" else (self.factor,)


@dataclass(frozen=True)
class RelativeGap(StoppingRule):
    """The duality gap, relative to f."""

    slip: str = ""
    tol: float = 1e-3
    reasons: ClassVar[tuple[str, ...]] = ("The relative duality gap is at most tol.",)

    def check(self, state):
        if self.slip == "raises":
            return state.duality_gap(b=0.0)
        if self.slip == "at once":
            return 1
        if self.slip == "ten steps":
            return int(state.iteration >= 10 or state.gap <= 0.0)
        if self.slip == "writes":
            state.gradient[0] = 0.0
        if self.slip == "asked":
            state.stop_memory[0] += 1.0
            return int(state.stop_memory[0] > 30 or state.gap <= 1e-3)
        done = state.gap <= 1e-3 or state.duality_gap() <= self.tol * abs(state.objective)
        return {"code": 7 * done, "text": "yes" if done else 0}.get(self.slip, int(done))

    def memory(self, problem, steps=0):
        return np.zeros(1, dtype=int) if self.slip == "memory" else np.zeros(1)


class OneString(RelativeGap):
    reasons = "abc"


@dataclass(frozen=True)
class Nearest(Seeder):
    """What is lost goes to the variable with the largest room."""

    slip: str = ""

    def seed(self, solved, problem):
        lower, upper = problem.lower, problem.upper
        alpha = np.clip(solved.alpha, lower, upper)
        answers = {
            "sum": alpha + 0.5 * (upper - alpha),
            "box": solved.alpha.copy(),
            "nan": np.full(problem.n, np.nan),
            "list": alpha.tolist(),
            "short": alpha[1:],
            "shared": solved.alpha,
        }
        if self.slip == "raises":
            return solved.alphas
        if self.slip == "undecided":
            alpha[next(CALLS) % problem.n] = 0.0
        if self.slip in answers:
            return answers[self.slip]
        return complete(alpha, problem.z, lower, upper)


@dataclass(frozen=True)
class Follower(PathTracker):
    """The shipped tracker, at second hand."""

    slip: str = ""

    def follow(self, *arguments):
        if self.slip == "raises":
            raise KeyError("elbow")
        if self.slip == "hangs":
            while True:
                time.sleep(0.001)
        found = SVMP().follow(*arguments)
        if self.slip == "None":
            yield None
        if self.slip == "nothing":
            return
        for count, each in enumerate(found):
            if self.slip == "late" and count == 1:
                return
            if self.slip == "skips" and count % 3 == 1:
                continue
            if self.slip == "refuses" and count == 1:
                raise ValueError("The direction is not unique.")
            if self.slip == "remembers" and next(CALLS) % 7 == 3:
                continue
            yield each


class Cosines(KernelMatrix):
    """A matrix evaluated when it is asked for, as one on another machine would be."""

    def __init__(self, slip=""):
        rng = np.random.default_rng(0)
        self.X, self.slip, self.n = rng.normal(size=(12, 3)), slip, "12" if slip == "n" else 12

    def __repr__(self):
        return f"Cosines({self.slip!r})"

    def block(self, rows, columns=None, out=None):
        K = np.cos(self.X @ self.X.T) + np.cos(self.X @ self.X.T).T
        if self.slip == "raises":
            return self.values
        if self.slip == "symmetry":
            K[2, 5] += 1.0
        if self.slip == "nan":
            K[1, 1] = np.nan
        if self.slip == "undecided":
            K += next(CALLS)
        part = K[rows] if columns is None or self.slip == "columns" else K[np.ix_(rows, columns)]
        if out is not None and self.slip != "out":
            out[...] = part if part.shape == out.shape else 0.0
        return np.array(part)

    def diagonal(self):
        diagonal = 2.0 * np.cos((self.X * self.X).sum(axis=1))
        return diagonal[::-1] if self.slip == "diagonal" else diagonal


BROKEN = {
    FarthestPair: {
        "raises": r"step 4: FarthestPair.select\(\) raised AttributeError: .*nothing",
        "gives up": r"step 2: the solve ended with ψ = .* above tol",
        "None": r"select\(\) returned None, which is no pair",
        "floats": r"select\(\) returned \(\d+\.0, \d+\.0\), which is no pair",
        "backwards": r"not in I_up|not in I_down|lowers f",
        "beyond": r"step 1: select\(\) returned \(\d, 2\), which is no pair of 2 variables; the loop raised IndexError",
        "writes": r"wrote to state\.alpha|α is not feasible",
        "undecided": r"in the first solve and .* in the second|which is no pair",
    },
    HalfNewton: {
        "raises": r"step 5: HalfNewton.length\(\) raised ZeroDivisionError: ",
        "None": r"length\(\) returned None",
        "outside": r"length\(\) returned μ = .*, outside \[lo, hi\]",
        "nan": r"length\(\) returned μ = nan, outside \[lo, hi\]",
        "falls": r"the step lowers f by",
        "writes": r"wrote to state\.gradient",
        "plans": r"left 3 candidates with history = 0",
        "parameters": r"parameters\(\) returned \('nine tenths',\); it must return a tuple of floats",
    },
    RelativeGap: {
        "raises": r"step 1: RelativeGap.check\(\) raised TypeError: .*argument 'b'",
        "at once": r"step 0: .* stops too early, at ψ = ",
        "ten steps": r"step 10: .* stops too early, at ψ = ",
        "writes": r"wrote to state\.",
        "asked": r"in the first solve and .* in the second",
        "code": r"check\(\) returned 7; expected a whole number from 0 to 1",
        "text": r"check\(\) returned 'yes'; expected a whole number",
        "memory": r"memory\(\) returned array\(\[0\]\); it must return a float64 vector",
    },
    Nearest: {
        "raises": r"Nearest.seed\(\) raised AttributeError: .*alphas",
        "sum": r"is not feasible, by",
        "box": r"is not feasible, by",
        "nan": r"gave a seed that is not finite",
        "list": r"gave \[.*\]; expected a float64 vector of 32",
        "short": r"expected a float64 vector of 32",
        "shared": r"holds on to; return a new one",
        "undecided": r"gave two different seeds|is not feasible",
    },
    Follower: {
        "raises": r"Follower.follow\(\) raised KeyError: 'elbow'",
        "hangs": r"Follower.follow\(\) hangs: no answer after 1 seconds",
        "None": r"Follower\(slip='None'\).follow\(\) yielded None; it must yield what walk.breakpoint",
        "nothing": r"the path ends with|the path goes from",
        "late": r"the path ends with|the path goes from",
        "skips": r"the optimality conditions are violated by|the path (goes|ends)",
        "refuses": r"Follower.follow\(\) raised ValueError: The direction is not unique\.",
        "remembers": r"gives another path|the optimality conditions|the path (goes|ends)",
    },
    Cosines: {
        "raises": r"Cosines.block\(\) raised AttributeError: .*values",
        "n": r"n is '12'; give the number of variables",
        "symmetry": r"the matrix is not symmetric",
        "nan": r"block\(rows\) holds what is not finite",
        "undecided": r"gives other values when it is asked again|is no part of",
        "columns": r"block\(rows, columns\) is no part of block\(rows\)",
        "out": r"does not write to out",
        "diagonal": r"diagonal\(\) is not that of block\(\)",
    },
}


@pytest.mark.parametrize("family", BROKEN)
@pytest.mark.slow
def test_the_rule_itself_passes(family):
    if family.__name__ == "Follower":
        pytest.importorskip("scipy")  # a path begins with a linear program
    check_strategy(family())


@pytest.mark.parametrize(
    ("family", "slip", "words"),
    [(family, *each) for family, slips in BROKEN.items() for each in slips.items()],
)
def test_a_slip_is_told_with_rule_problem_and_cause(family, slip, words, monkeypatch):
    if family.__name__ == "Follower":
        pytest.importorskip("scipy")  # a path begins with a linear program
    assert len(BROKEN[family]) == 8
    monkeypatch.setattr(trackers, "MOST_SECONDS", 1.0 if slip == "hangs" else 60.0)
    rule = family(slip)
    with pytest.raises(AssertionError) as failure:
        check_strategy(rule)
    sentence = str(failure.value)
    assert re.search(words, sentence), sentence
    assert family.__name__ in sentence
    assert sentence.endswith(".")
    without_state = slip in ("parameters", "memory")
    assert without_state or any(f"Problem {name!r}" in sentence for name in NAMES), sentence


def test_reasons_are_sentences():
    with pytest.raises(AssertionError, match=r"OneString.reasons is 'abc'; give a sentence for each code"):
        check_strategy(OneString())


@pytest.mark.skipif(not NUMBA, reason="Numba is not installed")
def test_a_twin_of_another_role_is_found():
    from refsvm.compiled.selectors.greedy import greedy

    @dataclass(frozen=True)
    class Confused(HalfNewton):
        def twin(self):
            return greedy

    with pytest.raises(
        AssertionError, match=r"Confused.twin\(\) is a twin of another role; .* @twin\(LENGTH\)"
    ):
        check_strategy(Confused())


@dataclass(frozen=True)
class LooksSeldom(StoppingRule):
    """Looks every 50 steps, and says so."""

    period: int = 50

    def check(self, state):
        return int(state.iteration % self.period == 0 and state.gap <= 1e-3)


@pytest.mark.slow
def test_a_rule_that_looks_seldom_passes():
    assert check_strategy(LooksSeldom()).steps > 500


def test_a_tracker_is_taken_at_its_word():
    pytest.importorskip("scipy")

    @dataclass(frozen=True)
    class Rough(Follower):
        accuracy: ClassVar[float] = 1e-18

    with pytest.raises(AssertionError, match=r"Rough.*the optimality conditions are violated by"):
        check_strategy(Rough())
