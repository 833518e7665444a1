"""Rules of every family and kernel matrices, written from the pages, each broken in every way: one table.

`check_strategy` names the rule, the problem and the cause. A plain call names the rules where something raises, and
never answers without a word from a point that is none. What a method returns is looked at by `check_strategy`.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from types import FunctionType
from typing import Any, ClassVar

import numpy as np
import pytest

from refsvm import (
    RBF,
    SVMP,
    BallRule,
    ConjugateSecondOrder,
    ConjugateStep,
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
from refsvm.core.kernels.matrix import KernelMatrix
from refsvm.core.seeders.spread import complete
from refsvm.datasets import load
from refsvm.testing import check_strategy, practice_problems, trackers

from ..settings import needs_numba
from .simple import fails

CALLS, SHARED = itertools.count(), np.zeros(3)
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


@dataclass(frozen=True)
class LooksSeldom(StoppingRule):
    """Looks every 50 steps, and says so."""

    period: int = 50

    def check(self, state):
        return int(state.iteration % self.period == 0 and state.gap <= 1e-3)


@dataclass(frozen=True)
class SecondHand(PathTracker):
    """The shipped tracker, at second hand."""

    def follow(self, walk, end):
        yield from SVMP().follow(walk, end)


class Cosines(KernelMatrix):
    """A matrix evaluated when it is asked for, as one on another machine would be."""

    n = 12

    def __init__(self):
        self.X = np.random.default_rng(0).normal(size=(12, 3))

    def __repr__(self):
        return f"{type(self).__name__}()"

    def matrix(self):
        return 2.0 * np.cos(self.X @ self.X.T)

    def block(self, rows, columns=None, out=None):
        K = self.matrix()
        part = K[rows] if columns is None else K[np.ix_(rows, columns)]
        if out is not None:
            out[...] = part
        return part

    def diagonal(self):
        return 2.0 * np.cos((self.X * self.X).sum(axis=1))


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


def with_entry(i, j, add):
    def block(self, rows, columns=None):
        columns = range(self.n) if columns is None else columns
        K = np.array(Tanimoto.block(self, rows, columns))
        K[np.ix_(np.asarray(rows) == i, np.asarray(columns) == j)] += add
        return K

    return {"block": block}


def at(step, method, otherwise):
    """A method that raises when so many steps are taken."""

    def raises(self, state, *pair):
        return state.nothing if state.iteration == step else otherwise(self, state, *pair)

    return {method: raises}


def after(select, change):
    """A selector whose pair is changed by what comes later."""
    return {"select": lambda self, state: change(*select(self, state))}


def leaves_upper(self, state):
    """Raises the first variable, whether it can rise or not."""
    others = np.flatnonzero(state.alpha[1:] > state.lower[1:]) + 1
    return (0, int(others[state.gradient[others].argmin()])) if len(others) else (-1, -1)


def leaves_lower(self, state):
    at_bound = np.flatnonzero(state.alpha == state.lower)
    at_bound = at_bound[at_bound != state.top]
    return (state.top, int(at_bound[0])) if len(at_bound) else (state.top, state.bottom)


def undecided(self, state):
    """Remembers on the module how often it was asked."""
    if state.gap <= 0.0:
        return -1, -1
    down = np.flatnonzero((state.alpha > state.lower) & (state.gradient < state.gradient[state.top]))
    return state.top, int(down[next(CALLS) % len(down)])


def newton(factor):
    return {
        "length": lambda self, state, i, j: min(
            max(factor * state.slope / state.curvature, state.low), state.high
        )
    }


def touches(state, i, j):
    state.gradient[i] *= 1.0 + 1e-15
    state.gradient[j] -= 1e-15


def plans(state, i, j):
    state.n_candidates = 1
    state.candidates[0] = i, j


def first(act, method, base):
    """The method of the base, after something that it may not do."""

    def does(self, state, *pair):
        act(state, *pair)
        return getattr(base, method)(self, state, *pair)

    return {method: does}


def reckless(self, state, i, j):
    """Says that it plans, and goes to the end of the box."""
    if state.last_planned or not state.iteration:
        return Alternating.length(self, state, i, j)
    state.candidates[0], state.candidate_curvatures[0] = state.working_sets[0], state.curvatures[0]
    state.n_candidates = 1
    return state.high


def since_the_last_look(self, state):
    last, state.stop_memory[0] = state.stop_memory[0], state.objective
    return int(state.gap <= 1e-3 or (state.iteration > 4 and state.objective == last))


def tidies(state):
    if state.gap <= 1e-3:
        state.alpha[np.abs(state.alpha) < 0.1] = 0.0


def whimsical(self, solved, problem):
    return problem.feasible(np.random.default_rng(next(CALLS)).normal(size=problem.n))


def follows(change):
    """SVMP at second hand: what it yields is changed as a list."""
    return {"follow": lambda self, walk, end: change(list(SVMP().follow(walk, end)))}


def refuses(self, walk, end):
    raise ValueError("The direction is not unique.")
    yield


def remembers(self, walk, end):
    """Starts a little later at every other call."""
    call = next(CALLS)
    for point in SVMP().follow(walk, end):
        yield point._replace(intercept=point.intercept + 1e-15 * (call % 2))


def deaf(self, rows, columns=None, out=None):
    """Forgets the columns."""
    part = Cosines.block(self, rows)
    if out is not None:
        out[...] = part if part.shape == out.shape else 0.0
    return part


def ends_with_the_first_chain(self, state):
    ended = not state.last_free and state.iteration >= 3
    return (-1, -1) if ended else ConjugateSecondOrder.select(self, state)


def too_sure(self, state):
    """Proves the other sign than that of h."""
    r = int(np.flatnonzero((state.lower == 0.0) & (state.upper == 0.0))[0])
    h = state.v[r] - state.gradient[r] + 0.5 * (state.gradient[state.top] + state.gradient[state.bottom])
    return 3 if h >= 0.0 else 2


A_PAIR = r"which is (no|not a) pair"
NO_WORD = None  # a plain call cannot know, and its answer is right, or its status says so

# what is changed of the rule; what the check says; what a plain call says, where that is asked
SLIPS: dict[Any, dict[str, tuple[Any, ...]]] = {
    Drawn: {
        "counts from the end": (
            {"select": lambda self, state: (state.top, state.bottom - len(state.alpha))},
            A_PAIR,
            rf"select\(\) returned \(\d+, -\d+\), {A_PAIR}",
        ),
        "gives up": ({"select": lambda self, state: (-1, -1)}, r"as .*select\(\) found no pair", NO_WORD),
        "asserts": ({"select": asserts}, r"(select|seed|follow)\(\) raised AssertionError\.", ""),
        "runs out": ({"select": runs_out}, r"select\(\) raised StopIteration\.", "StopIteration"),
        "box": (put("upper", lambda state: 1e3), r"select\(\) wrote to state\.upper", "α is outside the box"),
        "memory": ({"memory": lambda self, problem, steps=0: None}, r"memory\(\) returned None",
                   r"memory\(\) returned None"),
        "rows": ({"rows_needed": lambda self, n: None}, r"rows_needed\(2\) returned None", "'NoneType' and 'int'"),
        "signature": ({"select": lambda self: (0, 1)}, "takes 1 positional argument", "takes 1 positional argument"),
        "raises": (at(3, "select", Drawn.select), r"step 4: \w+\.select\(\) raised AttributeError: .*nothing"),
        "stalls": ({"select": lambda self, state: (-1, -1) if state.iteration >= 2 else Drawn.select(self, state)},
                   r"step 2: the solve ended with ψ = .* above tol"),
        "None": ({"select": lambda self, state: None}, rf"select\(\) returned None, {A_PAIR}"),
        "one variable": (after(Drawn.select, lambda i, j: (j, j)), rf"select\(\) returned \((\d+), \1\), {A_PAIR}"),
        "beyond": ({"select": lambda self, state: (state.top, len(state.alpha))},
                   rf"step 1: select\(\) returned \(\d, 2\), {A_PAIR} of 2 variables; the loop raised IndexError"),
        "leaves the upper set": ({"select": leaves_upper}, "i = 0, which is not in I_up"),
        "leaves the lower set": ({"select": leaves_lower}, r"j = \d+, which is not in I_down"),
        "undecided": ({"select": undecided}, "in the first solve and .* in the second"),
        "fresh twin": ({"twin": lambda self: lambda parameters, state: (-1, -1)}, r"twin\(\) returned different"),
    },
    Alternating: {
        "array": ({"length": lambda self, state, i, j: np.array([state.high])}, r"length\(\) returned .*array\(",
                  "only .* arrays can be converted|Conversion of an array"),
        "forgets to return": ({"length": lambda self, state, i, j: None}, r"length\(\) returned None",
                              "'float' and 'NoneType'"),
        "momentum": ({"uses_momentum": True},
                     r"length\(\) returned .*instead of \(μ, κ\)", "must be an iterable, not float"),
        "nan": ({"length": lambda self, state, i, j: np.nan}, r"μ = nan, outside", "α or G would not be finite"),
        "no box": ({"length": lambda self, state, i, j: state.slope / state.curvature}, r"outside \[lo, hi\]",
                   r"Σα is .* instead of 0"),
        "history": ({"history": "3"}, "history is '3'; give a whole number", "history is '3'; give a whole number"),
        "raises": (at(4, "length", Alternating.length), r"step 5: \w+\.length\(\) raised AttributeError: "),
        "too long": (newton(2.5), "the step lowers f by"),
        "too short": (newton(1e-4), "have not solved"),
        "gradient": (first(touches, "length", Alternating), r"wrote to state\.gradient"),
        "plans": (first(plans, "length", Alternating), "left 1 candidates with history = 0"),
        "reckless": ({"history": 1, "length": reckless}, "the planned step and the step after it lower f"),
        "parameters": ({"parameters": lambda self: ("nine tenths",)},
                       r"parameters\(\) returned \('nine tenths',\); it must return a tuple of floats"),
        "list of parameters": ({"parameters": lambda self: [1.0]}, r"parameters\(\) returned \[1.0\]"),
    },
    FromFirst: {
        "forgets to go on": ({"check": lambda self, state: 1 if state.gap < 1e-3 else None},
                             r"check\(\) returned None", NO_WORD),
        "minus": ({"check": lambda self, state: -2 * (state.gap < 1e-3)}, r"check\(\) returned -2",
                  r"check\(\) returned -2; expected"),
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
        "raises": ({"check": lambda self, state: state.duality_gap(b=0.0)},
                   r"step 1: \w+\.check\(\) raised TypeError: .*argument 'b'"),
        "ten steps": ({"check": lambda self, state: int(state.iteration >= 10 or state.gap <= 0.0)},
                      r"step 10: .* stops too early, at ψ = "),
        "tidies": (first(tidies, "check", FromFirst), r"wrote to state\.alpha"),
        "last look": ({"check": since_the_last_look},
                      r"check\(\) wrote to its memory and then answered differently .*: 0, then 1\. Store the"),
        "text": ({"check": lambda self, state: "yes"}, r"check\(\) returned 'yes'; expected a whole number"),
        "integer memory": ({"memory": lambda self, problem, steps=0: np.zeros(1, dtype=int)},
                           r"memory\(\) returned array\(\[0\]\); it must return a float64 vector, a new vector"),
        "shared memory": ({"memory": lambda self, problem, steps=0: SHARED}, r"memory\(\) returned the same array"),
        "a string": ({"reasons": "abc"}, r"\.reasons is 'abc'; give a sentence for each code"),
        "no reasons": ({"reasons": ()}, r"\.reasons is \(\)"),
    },
    Inwards: {
        "sum": ({"seed": lambda self, solved, problem: np.clip(solved.alpha, problem.lower, problem.upper)},
                "is infeasible by", "WARNS the seed of .* is not feasible"),
        "None": ({"seed": lambda self, solved, problem: None}, "gave None", "the seed of .* holds None"),
        "nan": ({"seed": lambda self, solved, problem: np.full(problem.n, np.nan)}, "is not finite",
                "the seed of .* contains NaN"),
        "column": ({"seed": lambda self, solved, problem: np.zeros((problem.n, 1))}, r"shape \(32, 1\)",
                   r"the seed of .* has shape \(60, 1\)"),
        "in place": ({"seed": in_place}, "wrote to the solution that it received", "read-only"),
        "memory": ({"memory": lambda self, solved, steps=0: np.ones(3)}, "unexpected keyword argument 'memory'",
                   "unexpected keyword argument 'memory'"),
        "memory of none": ({"memory": lambda self, solved, steps=0: [1.0]}, r"memory\(\) returned \[1\.0\]",
                           r"memory\(\) returned \[1\.0\]"),
        "raises": ({"seed": lambda self, solved, problem: solved.alphas},
                   r"\w+\.seed\(\) raised AttributeError: .*alphas"),
        "short": ({"seed": lambda self, solved, problem: solved.alpha[1:]}, "expected a float64 vector of 32"),
        "shared": ({"seed": lambda self, solved, problem: solved.alpha}, "or the solution keeps; return a new array"),
        "whimsical": ({"seed": whimsical}, "gave two different seeds"),
    },
    Bisected: {
        "no yield": ({"follow": lambda self, walk, end: None}, "'NoneType' object is not iterable",
                     "'NoneType' object is not iterable"),
        "short": ({"follow": lambda self, walk, end: SVMP().follow(walk, 2.0 * end)}, "the path goes from 0.001 to 50",
                  "the path goes from 0.1 to 5, not from 0.1 to 10"),
        "nan": (relays(lambda point: point._replace(scaled=np.nan * point.scaled)), "is not finite", "is not finite"),
        "kind": (relays(lambda point: point._replace(kind=None)), r"breakpoints of kind \['None'\]", NO_WORD),
        "elbow": (relays(lambda point: point._replace(elbow=-5)), "a breakpoint has an elbow of -5", NO_WORD),
        "accuracy": ({"accuracy": 2.0}, r"accuracy is 2\.0; give a number", NO_WORD),
    },
    Tanimoto: {
        "None": ({"block": lambda self, rows, columns=None: None}, r"\(a NoneType\)", r"\(a NoneType\)"),
        "symmetry": (with_entry(7, 13, 0.5), r"not symmetric, by 0\.5 at \(7, 13\)", NO_WORD),
        "nan": (with_entry(5, 5, np.nan), "the value nan", "the value nan"),
        "no kernel": ({"value": lambda self, one, other: 1.0 - Tanimoto.value(self, one, other)},
                      r"is_psd is True, but the matrix has the eigenvalue -", NO_WORD),
        "diagonal": ({"diagonal": lambda self: np.where(np.arange(24) == 17, 3.0, 1.0)},
                     r"diagonal\(\) differs from the diagonal of block\(\), by 2 at \(17,\)", NO_WORD),
        "n": ({"n": property(lambda self: "24", lambda self, n: None)}, r"\.n='24' is not a whole number",
              r"\.n='24' is not a whole number"),
        "data_error": ({"data_error": "small"}, r"\.data_error='small' is not a number",
                       r"\.data_error='small' is not a"),
        "columns": ({"block": lambda self, rows: [[1.0]]}, "takes 2 positional arguments",
                    "takes 2 positional arguments"),
    },
    SecondHand: {
        "raises": ({"follow": lambda self, walk, end: {}["elbow"]}, r"\w+\.follow\(\) raised KeyError: 'elbow'"),
        "numbers": (follows(lambda points: [100.0]), r"follow\(\) yielded 100.0; it must yield what walk.breakpoint"),
        "nothing": (follows(lambda points: []), "the path ends with|the path goes from"),
        "skips": (follows(lambda points: [each for k, each in enumerate(points) if k % 3 or each is points[-1]]),
                  "between them"),
        "shifts": (relays(lambda point: point._replace(intercept=point.intercept + 1e-4 / point.C)),
                   "the optimality conditions are violated by"),
        "refuses": ({"follow": refuses}, r"\w+\.follow\(\) raised ValueError: The direction is not unique\."),
        "refuses all": ({"follow": refuses, "may_refuse": True}, "it refused every problem"),
        "remembers": ({"follow": remembers}, "A second call returns another path"),
        "too exact": ({"accuracy": 1e-18}, "the optimality conditions are violated by"),
    },
    Cosines: {
        "raises": ({"block": lambda self, rows, columns=None, out=None: self.values},
                   r"\w+\.block\(\) raised AttributeError: .*values"),
        "n": ({"n": "12"}, "n is '12'; give the number of variables"),
        "undecided": ({"matrix": lambda self: Cosines.matrix(self) + next(CALLS)}, "returns other values|differs from"),
        "columns": ({"block": deaf}, r"block\(rows, columns\) differs from block\(rows\)"),
        "out": ({"block": lambda self, rows, columns=None, out=None: Cosines.block(self, rows, columns)},
                "does not write to out"),
    },
    ConjugateSecondOrder: {"gives up": ({"select": ends_with_the_first_chain}, "the solve ended with")},
    ConjugateStep: {
        "cut at the pair alone": ({"_inside": lambda self, state, i, j, sigma, mu: (
            min(mu, state.high), min(mu, state.high) * sigma)}, "leaves the box by"),
        "too far": ({"_inside": lambda self, state, i, j, sigma, mu: ConjugateStep._inside(
            self, state, i, j, sigma, 3.0 * mu)}, "the step lowers f by"),
        "swapped": ({"length": lambda self, *at: ConjugateStep.length(self, *at)[::-1]}, r"changed nothing"),
    },
    BallRule: {
        "too sure": ({"check": too_sure}, r"at the optimum h is"),
        "other reasons": ({"reasons": tuple(BallRule.reasons[k] for k in (0, 2, 1, 3)),
                           "outcome": lambda self, *of: BallRule.outcome(BallRule(), *of)}, "at the optimum h is"),
    },
}  # fmt: skip

TABLE = [(family, *each) for family, slips in SLIPS.items() for each in slips.items()]
PLAIN = [(family, slip, *entry) for family, slip, entry in TABLE if len(entry) > 2]
TRACKERS = Bisected, SecondHand
OF_NO_PROBLEM = (
    "tolerance", "accuracy", "rows", "with_reference", "outcome", "parameters", "integer memory", "a string",
    "fresh twin", "list of parameters", "shared memory", "no reasons",
)  # fmt: skip


@pytest.fixture
def family(request):
    if request.param in TRACKERS:
        pytest.importorskip("scipy")  # a path begins with a linear program
    return request.param


def named(key: str, part: Any) -> Any:
    """A function under the name of the method that it stands for, as what is said names it."""
    if not isinstance(part, FunctionType):
        return part
    return FunctionType(
        part.__code__.replace(co_name=key), part.__globals__, key, part.__defaults__, part.__closure__
    )


def broken(family: Any, slip: str, parts: dict[str, Any]) -> Any:
    parts = {"twin": lambda self: None} | {key: named(key, part) for key, part in parts.items()}
    made = type("Broken" + slip.title().replace(" ", ""), (family,), parts)
    return made() if family in (Tanimoto, Cosines) else dataclass(frozen=True)(made)()


def plainly(family: Any, rule: Any) -> Any:
    """What a user does with a rule of this family."""
    if family is Tanimoto:
        return solve(DualProblem.classification(y=Y[:24], gram=rule), engine="numpy")
    if family is Inwards:
        return leave_one_out(PROBLEM, seeder=rule, engine="numpy", stop=KKTGap(1e-3))
    if family in TRACKERS:
        return regularization_path(
            X, Y, kernel=RBF(0.005), C_min=0.1, C_max=10.0, tracker=rule, engine="numpy"
        )
    name = {Drawn: "selector", Alternating: "step", FromFirst: "stop"}[family]
    return solve(PROBLEM, engine="numpy", max_iter=2000, **{name: rule})


@pytest.mark.parametrize("family", [*list(SLIPS)[:8], LooksSeldom], indirect=True)
@pytest.mark.slow
def test_the_rule_itself_passes(family, monkeypatch):
    if family is Bisected:
        monkeypatch.setattr(trackers, "C_MAX", 0.1)
    report = check_strategy(family())
    assert report.steps > 500 or family is not LooksSeldom
    assert family is not Inwards or report.twin in (
        "Inwards has no twin; seeds are made in NumPy only.",
        "No twin was compared: Numba or refsvm.compiled is missing.",
    )
    if family not in (Cosines, LooksSeldom):
        plainly(family, family())


@pytest.mark.parametrize(
    ("family", "slip", "parts", "words"),
    [
        pytest.param(
            *row[:2],
            *row[2][:2],
            marks=[pytest.mark.slow] * (row[1] == "too short") + [needs_numba] * (row[1] == "fresh twin"),
        )
        for row in TABLE
    ],
    indirect=["family"],
)
def test_the_check_names_rule_problem_and_cause(family, slip, parts, words):
    rule = broken(family, slip, parts)
    sentence = fails(rule, words)
    assert type(rule).__name__ in sentence
    assert slip in OF_NO_PROBLEM or any(f"Problem {name!r}" in sentence for name in NAMES), sentence


@pytest.mark.parametrize(("family", "slip", "parts", "_", "words"), PLAIN, indirect=["family"])
def test_a_plain_call_names_the_rule_too(family, slip, parts, _, words):
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


def test_a_selector_may_stall_if_it_says_so():
    assert check_strategy(broken(Drawn, "stalls", {**SLIPS[Drawn]["stalls"][0], "may_stall": True})).steps > 0


@needs_numba
def test_a_twin_of_another_role_is_found():
    from refsvm.compiled.selectors.greedy import greedy

    fails(
        broken(Alternating, "role", {"twin": lambda self: greedy}),
        r"fits another kind of rule; .* @twin\(LENGTH\)",
    )
