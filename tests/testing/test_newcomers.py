"""Six more rules written from the pages, one a family and a kernel matrix, each broken as a newcomer may break it.

`check_strategy` names the rule, the problem and the cause. A plain call names the rules where something raises, and
never answers without a word from a point that is none. What a method returns is looked at by `check_strategy`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

from refsvm import (
    RBF,
    SVMP,
    DualProblem,
    KKTGap,
    PathTracker,
    Seeder,
    StepRule,
    StoppingRule,
    WorkingSetSelector,
    leave_one_out,
    regularization_path,
    solve,
)
from refsvm.datasets import load
from refsvm.seeders.spread import complete
from refsvm.testing import check_strategy, practice_problems, trackers

HEART = load("heart")
X, Y = HEART.X[:60], HEART.y[:60]
PROBLEM = DualProblem.classification(X, Y, kernel=RBF(0.005), C=10.0)
NAMES = [*practice_problems(), "five hundred examples", "any", "all", "a block of rows"]


@dataclass(frozen=True)
class Drawn(WorkingSetSelector):
    """A random i that violates by ψ/2; the draws come from the memory."""

    seed: int = 1

    def memory(self, problem, steps=0):
        return np.array([float(self.seed)])

    def select(self, state):
        if state.gap <= 0.0:
            return -1, -1
        memory = state.selector_memory
        memory[0] = (memory[0] * 16807.0) % 2147483647.0
        slope = state.gradient - state.gradient[state.bottom]
        able = np.flatnonzero((state.alpha < state.upper) & (slope >= 0.5 * state.gap))
        return int(able[int(memory[0]) % len(able)]), state.bottom


@dataclass(frozen=True)
class Alternating(StepRule):
    """ℓ/q and ω ℓ/q in turn, clipped."""

    omega: float = 1.3

    def memory(self, problem, steps=0):
        return np.zeros(1)

    def length(self, state, i, j):
        state.step_memory[0] = 1.0 - state.step_memory[0]
        omega = 1.0 if state.step_memory[0] == 1.0 else self.omega
        return min(max(omega * (state.slope / state.curvature), state.low), state.high)


@dataclass(frozen=True)
class FromFirst(StoppingRule):
    """ψ is small, or a small share of the first one."""

    share: float = 1e-5
    tol: float = 1e-3
    reasons: ClassVar[tuple[str, ...]] = ("The gap is small.", "The gap is a small share of the first one.")

    def memory(self, problem, steps=0):
        return np.zeros(1)

    def check(self, state):
        if state.stop_memory[0] == 0.0:
            state.stop_memory[0] = state.gap
        if state.gap <= self.tol:
            return 1
        return 2 if state.gap <= self.share * state.stop_memory[0] else 0


@dataclass(frozen=True)
class Inwards(Seeder):
    """(1 − θ)α + θ(L + U)/2 of the free ones; the sum is repaired."""

    theta: float = 0.2

    def seed(self, solved, problem):
        lower, upper = problem.lower, problem.upper
        alpha = np.clip(solved.alpha, lower, upper)
        free = (alpha > lower) & (alpha < upper)
        middle = 0.5 * (lower + upper)
        alpha = np.where(free, (1.0 - self.theta) * alpha + self.theta * middle, alpha)
        return complete(alpha, problem.z, lower, upper)


@dataclass(frozen=True)
class Bisected(PathTracker):
    """Exact points on a grid of λ, halved until the chord is right where it is looked at."""

    accuracy: ClassVar[float] = 0.05

    def follow(self, walk, end):
        v, K = walk.problem.v.copy(), walk.problem.gram.block(np.arange(walk.problem.n))
        lower, upper = walk.variables.lower, walk.variables.upper

        def optimum(t, start):
            scaled = DualProblem(walk.problem.gram, t * v, 0.0, lower, upper)
            found = solve(scaled, stop=KKTGap(1e-3 * t), start=start, shrinking=False, engine="numpy")
            return t, found.alpha, found.intercept

        def violation(left, right, share):
            t, s, b = ((1.0 - share) * x + share * z for x, z in zip(left, right, strict=True))
            excess = t * v - K @ s - b
            return max(excess[s < upper].max(initial=0.0), -excess[s > lower].min(initial=0.0)) / t

        left = walk.t, walk.variables.alpha.copy(), walk.b
        ahead = [optimum(end, left[1])]
        while ahead:
            right = ahead[-1]
            worst = max(violation(left, right, share) for share in (0.25, 0.5, 0.75))
            if worst > 0.3 * self.accuracy and left[0] - right[0] > 1e-9 * left[0]:
                ahead.append(optimum(0.5 * (left[0] + right[0]), left[1]))
                continue
            left = ahead.pop()
            walk.place(*left, "backup")
            yield walk.breakpoint("backup" if ahead else "end")


class Tanimoto:
    """k(A, B) = |A ∩ B| / |A ∪ B| of sets."""

    is_psd = True

    def __init__(self, n=24):
        rng = np.random.default_rng(0)
        self.sets, self.n = [frozenset(rng.choice(12, 5).tolist()) for _ in range(n)], n

    def block(self, rows, columns=None):
        columns = range(self.n) if columns is None else columns
        return [[self.value(self.sets[i], self.sets[j]) for j in columns] for i in rows]

    def value(self, one, other):
        return len(one & other) / len(one | other)


def put(name, value):
    """A slip that writes to the state and goes on as it should."""

    def select(self, state):
        getattr(state, name)[:] = value(state)
        return Drawn.select(self, state)

    return {"select": select}


def asserts(self, *arguments):
    raise AssertionError


def runs_out(self, *arguments):
    return next(iter(()))


def relays(change):
    """SVMP at second hand: each point changed, or left out where that is None."""

    def follow(self, walk, end):
        for point in SVMP().follow(walk, end):
            changed = change(point)
            if changed is not None:
                yield changed

    return {"follow": follow}


def in_place(self, solved, problem):
    np.clip(solved.alpha, problem.lower, problem.upper, out=solved.alpha)
    return complete(solved.alpha, problem.z, problem.lower, problem.upper)


def spoils_gradient(self, solved, problem):
    seed = Inwards.seed(self, solved, problem)
    solved.gradient[:] = 0.0
    return seed


def with_entry(i, j, add):
    def block(self, rows, columns=None):
        columns = range(self.n) if columns is None else columns
        K = np.array(Tanimoto.block(self, rows, columns))
        K[np.ix_(np.asarray(rows) == i, np.asarray(columns) == j)] += add
        return K

    return {"block": block}


A_PAIR = r"which is no pair"
NO_WORD = None  # a plain call cannot know, and its answer is right, or its status says so

SLIPS: dict[Any, dict[str, tuple[dict[str, Any], str, str | None]]] = {
    Drawn: {
        "counts from the end": (
            {"select": lambda self, state: (state.top, state.bottom - len(state.alpha))},
            A_PAIR,
            rf"select\(\) returned \(\d+, -\d+\), {A_PAIR}",
        ),
        "gives up": ({"select": lambda self, state: (-1, -1)}, r"as .*select\(\) found no pair", NO_WORD),
        "three": ({"select": lambda self, state: (0, 1, 0.5)}, A_PAIR, "too many values to unpack"),
        "asserts": ({"select": asserts}, r"asserts\(\) raised AssertionError\.", ""),
        "runs out": ({"select": runs_out}, r"runs_out\(\) raised StopIteration\.", "StopIteration"),
        "diagonal": (put("diagonal", lambda state: 1.0), r"select\(\) wrote to state\.diagonal", NO_WORD),
        "box": (put("upper", lambda state: 1e3), r"select\(\) wrote to state\.upper", "α is outside the box"),
        "memory": ({"memory": lambda self, problem, steps=0: None}, r"memory\(\) returned None",
                   r"memory\(\) returned None"),
        "rows": ({"rows_needed": lambda self, n: None}, r"rows_needed\(2\) returned None", "'NoneType' and 'int'"),
        "signature": ({"select": lambda self: (0, 1)}, "takes 1 positional argument", "takes 1 positional argument"),
    },
    Alternating: {
        "array": ({"length": lambda self, state, i, j: np.array([state.high])}, r"length\(\) returned .*array\(",
                  "only .* arrays can be converted"),
        "forgets to return": ({"length": lambda self, state, i, j: None}, r"length\(\) returned None",
                              "'float' and 'NoneType'"),
        "momentum": ({"uses_momentum": True},
                     r"length\(\) returned .*in place of \(μ, κ\)", "must be an iterable, not float"),
        "nan": ({"length": lambda self, state, i, j: np.nan}, r"μ = nan, outside", "α or G is not finite"),
        "inf": ({"length": lambda self, state, i, j: np.inf}, r"μ = inf, outside", "is not finite|invalid value"),
        "no box": ({"length": lambda self, state, i, j: state.slope / state.curvature}, r"outside \[lo, hi\]",
                   r"Σα is .* in place of 0"),
        "history": ({"history": "3"}, "history is '3'; give a whole number", "history is '3'; give a whole number"),
        "signature": ({"length": lambda self, state: state.high}, "takes 2 positional arguments",
                      "takes 2 positional arguments"),
    },
    FromFirst: {
        "forgets to go on": ({"check": lambda self, state: 1 if state.gap < 1e-3 else None},
                             r"check\(\) returned None", NO_WORD),
        "minus": ({"check": lambda self, state: -2 * (state.gap < 1e-3)}, r"check\(\) returned -2",
                  r"check\(\) returned -2; expected"),
        "nan": ({"check": lambda self, state: np.nan}, r"check\(\) returned nan", r"check\(\) returned nan"),
        "one reason": ({"reasons": ("One.",), "share": 0.9, "__annotations__": {"share": float}},
                       r"check\(\) returned 2; expected a whole number from 0 to 1", r"check\(\) returned 2; expected"),
        "period": ({"period": -3}, r"period is -3; give a whole number", r"period is -3; give a whole number"),
        "restricted": ({"restricted_tolerance": lambda self, gap: None}, r"restricted_tolerance\(0\)=None",
                       "'NoneType'"),
        "tolerance": ({"tolerance": None}, r"tolerance is None; give a KKT gap", NO_WORD),
        "with_reference": ({"with_reference": lambda self, solved: None},
                           r"with_reference\(solved\) returned None", NO_WORD),
        "outcome": ({"outcome": lambda self, reason, value: value}, r"outcome\(\) returned 0\.5", NO_WORD),
        "at once": ({"check": lambda self, state: 1, "left_out": True}, r"stops too early, at ψ = 2", NO_WORD),
        "signature": ({"check": lambda self: 0}, "takes 1 positional argument", "takes 1 positional argument"),
    },
    Inwards: {
        "sum": ({"seed": lambda self, solved, problem: np.clip(solved.alpha, problem.lower, problem.upper)},
                "is not feasible, by", "WARNS the seed of .* is not feasible"),
        "None": ({"seed": lambda self, solved, problem: None}, "gave None", "the seed of .* holds None"),
        "nan": ({"seed": lambda self, solved, problem: np.full(problem.n, np.nan)}, "is not finite",
                "the seed of .* contains NaN"),
        "column": ({"seed": lambda self, solved, problem: np.zeros((problem.n, 1))}, r"shape \(32, 1\)",
                   r"the seed of .* has shape \(60, 1\)"),
        "in place": ({"seed": in_place}, "wrote to the solution it was given", "read-only"),
        "gradient": ({"seed": spoils_gradient}, "wrote to the solution it was given", "read-only"),
        "memory": ({"memory": lambda self, solved, steps=0: np.ones(3)}, "unexpected keyword argument 'memory'",
                   "unexpected keyword argument 'memory'"),
        "memory of none": ({"memory": lambda self, solved, steps=0: [1.0]}, r"memory\(\) returned \[1\.0\]",
                           r"memory\(\) returned \[1\.0\]"),
        "asserts": ({"seed": asserts}, r"asserts\(\) raised AssertionError\.", ""),
    },
    Bisected: {
        "no yield": ({"follow": lambda self, walk, end: None}, "'NoneType' object is not iterable",
                     "'NoneType' object is not iterable"),
        "short": ({"follow": lambda self, walk, end: SVMP().follow(walk, 2.0 * end)}, "the path goes from 0.001 to 50",
                  "the path goes from 0.1 to 5, not from 0.1 to 10"),
        "far": ({"follow": lambda self, walk, end: SVMP().follow(walk, 0.5 * end)}, "the path goes from 0.001 to 200",
                "the path goes from 0.1 to 20, not"),
        "nan": (relays(lambda point: point._replace(scaled=np.nan * point.scaled)), "is not finite", "is not finite"),
        "intercept": (relays(lambda point: point._replace(intercept=None)), "'isfinite' not supported",
                      "'isfinite' not supported"),
        "moves": (relays(lambda point: point._replace(moves=None)), "'NoneType' object is not iterable",
                  "'NoneType' object is not iterable"),
        "length": (relays(lambda point: point._replace(scaled=np.zeros(7))), r"could not broadcast .*\(7,\)",
                   r"could not broadcast .*\(7,\)"),
        "kind": (relays(lambda point: point._replace(kind=None)), r"breakpoints of kind \['None'\]", NO_WORD),
        "elbow": (relays(lambda point: point._replace(elbow=-5)), "a breakpoint has an elbow of -5", NO_WORD),
        "accuracy": ({"accuracy": 2.0}, r"accuracy is 2\.0; give a number", NO_WORD),
        "asserts": ({"follow": asserts}, r"asserts\(\) raised AssertionError\.", ""),
    },
    Tanimoto: {
        "None": ({"block": lambda self, rows, columns=None: None}, r"\(a NoneType\)", r"\(a NoneType\)"),
        "symmetry": (with_entry(7, 13, 0.5), r"not symmetric, by 0\.5 at \(7, 13\)", NO_WORD),
        "nan": (with_entry(5, 5, np.nan), "the value nan", "the value nan"),
        "no kernel": ({"value": lambda self, one, other: 1.0 - Tanimoto.value(self, one, other)},
                      r"is_psd is True, and the matrix has the eigenvalue -", NO_WORD),
        "diagonal": ({"diagonal": lambda self: np.where(np.arange(24) == 17, 3.0, 1.0)},
                     r"diagonal\(\) is not that of block\(\), by 2 at \(17,\)", NO_WORD),
        "n": ({"n": property(lambda self: "24", lambda self, n: None)}, r"\.n='24' is not a whole number",
              r"\.n='24' is not a whole number"),
        "data_error": ({"data_error": "small"}, r"\.data_error='small' is not a number",
                       r"\.data_error='small' is not a"),
        "columns": ({"block": lambda self, rows: [[1.0]]}, "takes 2 positional arguments",
                    "takes 2 positional arguments"),
    },
}  # fmt: skip

TABLE = [(family, *each) for family, slips in SLIPS.items() for each in slips.items()]


def broken(family: Any, slip: str, parts: dict[str, Any]) -> Any:
    name = "Broken" + slip.title().replace(" ", "")
    made = type(name, (family,), dict(parts))
    return made() if family is Tanimoto else dataclass(frozen=True)(made)()


def plainly(family: Any, rule: Any) -> Any:
    """What a user does with a rule of this family."""
    if family is Tanimoto:
        return solve(DualProblem.classification(y=Y[:24], gram=rule), engine="numpy")
    if family is Inwards:
        return leave_one_out(PROBLEM, seeder=rule, engine="numpy", stop=KKTGap(1e-3))
    if family is Bisected:
        return regularization_path(
            X, Y, kernel=RBF(0.005), C_min=0.1, C_max=10.0, tracker=rule, engine="numpy"
        )
    name = {Drawn: "selector", Alternating: "step", FromFirst: "stop"}[family]
    return solve(PROBLEM, engine="numpy", max_iter=2000, **{name: rule})


@pytest.mark.parametrize("family", SLIPS)
@pytest.mark.slow
def test_the_rule_itself_passes(family, monkeypatch):
    if family is Bisected:
        pytest.importorskip("scipy")
        monkeypatch.setattr(trackers, "C_MAX", 0.1)
    check_strategy(family())
    plainly(family, family())


@pytest.mark.parametrize(("family", "slip", "parts"), [(*each[:2], each[2][0]) for each in TABLE])
def test_the_check_names_rule_problem_and_cause(family, slip, parts):
    if family is Bisected:
        pytest.importorskip("scipy")
    assert len(SLIPS[family]) >= 8
    rule = broken(family, slip, parts)
    with pytest.raises(AssertionError) as failure:
        check_strategy(rule)
    sentence = str(failure.value)
    assert re.search(SLIPS[family][slip][1], sentence), sentence
    assert type(rule).__name__ in sentence
    assert sentence.endswith(".")
    without_state = slip in ("tolerance", "accuracy", "rows", "with_reference", "outcome")
    assert without_state or any(f"Problem {name!r}" in sentence for name in NAMES), sentence


@pytest.mark.parametrize(
    ("family", "slip", "parts", "words"), [(*each[:2], each[2][0], each[2][2]) for each in TABLE]
)
def test_a_plain_call_names_the_rule_too(family, slip, parts, words):
    if family is Bisected:
        pytest.importorskip("scipy")
    rule = broken(family, slip, parts)
    if words is NO_WORD:
        plainly(family, rule)
    elif words.startswith("WARNS "):
        with pytest.warns(UserWarning, match=words.removeprefix("WARNS ")):
            plainly(family, rule)
    else:
        with pytest.raises(Exception) as failure:  # noqa: PT011  what the rule itself raises comes through
            plainly(family, rule)
        said = " ".join([str(failure.value), *getattr(failure.value, "__notes__", [])])
        assert re.search(words, said), said
        assert type(rule).__name__ in said or slip in ("signature", "yield", "rows") or family is Bisected
