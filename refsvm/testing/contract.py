"""What the base classes of the rules promise, checked while a solve is walked through in the readable loop.

Nothing is wrapped around a rule. After every step the change of the state is explained by the pair and the
step length that the state remembers; what they do not explain, a rule has written without being allowed to.
"""

from __future__ import annotations

import copy
import itertools
import traceback
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from operator import index
from typing import Any

import numpy as np

from refsvm import DualProblem, Rule, Seeder, Solution, solve
from refsvm.engine import handover
from refsvm.selectors import SecondOrder, WorkingSetSelector
from refsvm.solver import steps
from refsvm.solver.rules import Rules, starting_point, stored_rows
from refsvm.state import TAU, SolverState, moved
from refsvm.steps import NewtonStep, StepRule
from refsvm.stopping import KKTGap, StoppingRule

__all__ = ["Case", "check_solve", "check_value", "check_verdict", "require", "telling"]

STEP_LIMIT = 20_000  # steps within which a rule must solve a practice problem
EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class Case:
    """A problem and the three rules that solve it.

    Parameters
    ----------
    name : str
    problem : DualProblem
    rules : Rules

    Examples
    --------
    >>> from refsvm import KKTGap, NewtonStep, SecondOrder
    >>> from refsvm.solver.rules import Rules
    >>> from refsvm.testing import Case, practice_problems
    >>> Case("duplicates", practice_problems()["duplicates"], Rules(SecondOrder(), NewtonStep(), KKTGap())).name
    'duplicates'
    """

    name: str
    problem: DualProblem
    rules: Rules

    def __post_init__(self) -> None:
        object.__setattr__(self, "rules", Rules(*self.rules))

    @staticmethod
    def default_rules(tol: float = 1e-3) -> Rules:
        """Return the rules that others are combined with."""
        return Rules(SecondOrder(), NewtonStep(), KKTGap(tol))

    def solve(self, *around: Rule, **options: Any) -> Solution:
        """Solve the problem by the rules, or others in `options`, as `refsvm.solve` does; errors name all of them."""
        with telling(self.name, (*around, *self.rules)):
            return solve(self.problem, **{**self.rules._asdict(), **options})

    def require(self, condition: Any, iteration: int, sentence: str) -> None:
        """Unless `condition` holds, raise an AssertionError naming the problem, the rules and the step."""
        if not condition:
            rules = ", ".join(map(repr, self.rules))
            raise AssertionError(f"Problem {self.name!r} with {rules}, step {iteration}: {sentence}")


def require(condition: Any, sentence: str) -> None:
    """Unless `condition` holds, raise an AssertionError with a sentence."""
    if not condition:
        raise AssertionError(sentence)


@contextmanager
def telling(name: str, rules: Iterable[object], state: SolverState | None = None) -> Iterator[None]:
    """Turn whatever is raised in this block into an AssertionError that names the problem, the rules and the step."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that a kernel is indefinite is known here
            yield
    except (AssertionError, StopIteration):
        raise
    except Exception as error:
        rules, step = tuple(rules), 0 if state is None else state.iteration + 1
        frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
        asked = [
            f"{type(rule).__name__}.{frame.f_code.co_name}()"
            for frame in frames
            for rule in rules
            if frame.f_locals.get("self") is rule
        ]
        who, cause = asked[-1] if asked else _wrong_answer(rules, state), str(error).rstrip(".")
        raise AssertionError(
            f"Problem {name!r} with {', '.join(map(repr, rules))}, step {step}: {who} raised "
            f"{type(error).__name__}: {cause}."
        ) from error


def _wrong_answer(rules: Iterable[object], state: SolverState | None) -> str:
    """Say what the selector and the step answer where the loop, and none of them, has raised."""
    if state is None or not isinstance(rules, tuple) or not isinstance(rules[0], WorkingSetSelector):
        return "the solve"
    try:
        i, j = map(index, rules[0].select(state))
    except (TypeError, ValueError):  # it is in the message
        return "the loop"
    if max(i, j) >= (n := len(state.alpha)):
        return f"select() returned ({i}, {j}), which is no pair of {n} variables; the loop"
    return f"length() returned {rules[1].length(state, i, j)!r}; the loop"


def check_value(rule: Rule, problem: DualProblem) -> None:
    """Check what a rule is, before it is used: a frozen value, and what its methods return without a state.

    Raises
    ------
    AssertionError
        If the rule is no frozen, hashable dataclass, or one of its methods that need no state is wrong.
    """
    name = type(rule).__name__
    parameters = getattr(type(rule), "__dataclass_params__", None)
    frozen = parameters is not None and parameters.frozen
    require(frozen, f"{name} is not a frozen dataclass; decorate it with @dataclass(frozen=True).")
    require(copy.deepcopy(rule) == rule, f"{name} does not equal its copy; give it comparable fields.")
    try:
        hash(rule)
    except TypeError as error:
        raise AssertionError(f"{name} cannot be hashed ({error}); give it hashable fields.") from error
    values: Any = rule.parameters()
    numbers = isinstance(values, tuple) and all(isinstance(value, int | float) for value in values)
    require(numbers, f"{name}.parameters() returned {values!r}; it must return a tuple of floats.")
    if handover.numba_is_installed():
        require(rule.twin() is rule.twin(), f"{name}.twin() returned two functions; make it once.")
        _check_role(rule)
    if not isinstance(rule, WorkingSetSelector | StepRule | StoppingRule):
        return
    memory: Any = rule.memory(problem)
    another = rule.memory(problem)
    right = isinstance(memory, np.ndarray) and memory.dtype == np.float64 and memory.ndim == 1
    require(right, f"{name}.memory() returned {memory!r}; it must return a float64 vector.")
    shared = np.shares_memory(memory, another)
    require(not shared, f"{name}.memory() returned one array twice; make a new one for each solve.")
    if isinstance(rule, StoppingRule):
        reasons: Any = rule.reasons
        sentences = isinstance(reasons, tuple) and all(isinstance(each, str) for each in reasons)
        require(
            sentences and reasons,
            f"{name}.reasons is {rule.reasons!r}; give a sentence for each code of check().",
        )


def _check_role(rule: Rule) -> None:
    """Check that the twin is one of the rule's own role, as far as it says for which it is made."""
    from refsvm.compiled.interface import layout, seeding

    length = "LENGTH_AND_CARRY" if getattr(rule, "carries", False) else "LENGTH"
    roles = {WorkingSetSelector: "SELECT", StepRule: length, StoppingRule: "CHECK", Seeder: "SEED"}
    for base, role in roles.items():
        expected = getattr(seeding if role == "SEED" else layout, role)
        if isinstance(rule, base) and getattr(rule.twin(), "signature", expected) != expected:  # type: ignore[redundant-expr]
            found = f"{type(rule).__name__}.twin() is a twin of another role"
            raise AssertionError(f"{found}; that of a {base.__name__} is decorated with @twin({role}).")


def check_solve(case: Case) -> int:
    """Walk through a solve twice and check every step; return how many there are.

    The second time the stopping rule is asked twice before each step, as happens between chunks.

    Raises
    ------
    AssertionError
        If a rule breaks its contract, or the two walks differ.
    """
    first, second = _walk(case, ask_again=False), _walk(case, ask_again=True)
    for t, (one, other) in enumerate(itertools.zip_longest(first, second)):
        sentence = (
            f"(i, j, μ, ψ) is {one} in the first solve and {other} in the second, with check() asked twice; "
            "keep no memory on the rule, and let asking again change nothing."
        )
        case.require(one == other, t + 1, sentence)
    return len(first)


def _walk(case: Case, ask_again: bool) -> list[tuple[float, ...]]:
    """Take every step of a solve, checking each; return (i, j, μ, ψ) for all of them."""
    problem, stop = case.problem, case.rules.stop
    start = starting_point(problem, None)
    state = case.rules.begin(problem, start, stored_rows(problem.gram))
    loop, cost = steps(state, *case.rules), state.objective if case.rules.step.carries else 0.0
    taken: list[tuple[float, ...]] = []
    while state.iteration < STEP_LIMIT:
        alpha, gradient = state.alpha.copy(), state.gradient.copy()
        try:
            with telling(case.name, case.rules, state):
                next(loop)
        except StopIteration as end:
            _check_end(case, state, (alpha, gradient), end.value)
            return taken
        _check_step(case, state, (alpha, gradient))
        cost = _check_gain(case, state, cost)
        taken.append((*state.working_sets[0].tolist(), state.last_step, state.gap))
        if ask_again:
            _check_code(case, state, stop.check(state))
    case.require(False, STEP_LIMIT, f"still not solved; ψ = {state.gap:.3g}.")
    return taken


def _check_step(case: Case, state: SolverState, before: tuple[np.ndarray, np.ndarray]) -> None:
    """Check that pair and step are allowed, and that they explain all that has changed."""
    t, (i, j), mu = state.iteration, state.working_sets[0].tolist(), state.last_step
    n, lower, upper, (alpha, gradient) = case.problem.n, case.problem.lower, case.problem.upper, before
    pair = 0 <= i < n and 0 <= j < n and i != j
    wanted = "return two different indices (i, j), or (-1, -1) where no pair gains"
    case.require(pair, t, f"select() returned ({i}, {j}), which is no pair of {n} variables; {wanted}.")
    case.require(alpha[i] < upper[i], t, f"select() returned i = {i}, which is not in I_up.")
    case.require(alpha[j] > lower[j], t, f"select() returned j = {j}, which is not in I_down.")
    box = f"[lo, hi] = [{state.low!r}, {state.high!r}]"
    carries = case.rules.step.carries
    case.require(carries or state.low <= mu <= state.high, t, f"length() returned μ = {mu!r}, outside {box}.")
    same = np.array_equal(state.lower, lower) and np.array_equal(state.upper, upper)
    case.require(same, t, "a rule wrote to state.lower or state.upper; the box belongs to the problem.")
    if carries:
        _check_carried(case, state, before)
        return
    # αᵢ += μ,  αⱼ −= μ,  G −= μ (K[i] − K[j])
    alpha[i] = moved(alpha[i], mu, lower[i], upper[i])
    alpha[j] = moved(alpha[j], -mu, lower[j], upper[j])
    gradient -= mu * (state.row(i) - state.row(j))
    case.require(np.array_equal(state.alpha, alpha), t, "a rule wrote to state.alpha; only the loop may.")
    same = np.array_equal(state.gradient, gradient)
    case.require(same, t, "a rule wrote to state.gradient; only the loop may.")
    count, history = state.n_candidates, case.rules[1].history
    case.require(0 <= count <= history, t, f"length() left {count} candidates with history = {history}.")


def _check_carried(case: Case, state: SolverState, before: tuple[np.ndarray, np.ndarray]) -> None:
    """Check that the displacement stays inside the box, up to rounding, and explains what has changed."""
    t, (alpha, gradient), change = state.iteration, before, np.asarray(state.displacement)
    over = np.maximum(change - (state.upper - alpha), (state.lower - alpha) - change).max()
    size = 1.0 + np.abs(alpha).max()
    case.require(over <= 1e-12 * size, t, f"length() returned a (μ, κ) that leaves the box by {over:.3g}.")
    same = np.abs(alpha + change - state.alpha).max() <= 1e-12 * size
    case.require(same, t, "a rule wrote to state.alpha; only the loop may.")
    same = np.array_equal(gradient - np.asarray(state.displacement_image), state.gradient)
    case.require(same, t, "a rule wrote to state.gradient; only the loop may.")


def _check_gain(case: Case, state: SolverState, cost: float) -> float:
    """Check that f has not fallen, a planned step and the next taken together; return by how much it has."""
    if case.rules.step.carries:  # f is summed from the gains
        fallen = cost - state.objective
        rises = fallen <= 1e-12 * (1.0 + abs(cost))
        case.require(rises, state.iteration, f"the step lowers f by {fallen:.3g}.")
        return state.objective
    mu, q = state.last_step, state.curvature if state.curvature > TAU else 0.0
    # g = μℓ − ½μ²q; where q is not positive the true gain is at least μℓ
    gain = mu * state.slope - 0.5 * mu * mu * q
    if state.last_planned:
        return min(gain, 0.0)
    rounding = 1e-12 * (abs(mu * state.slope) + mu * mu * q - cost)
    steps_taken = "the planned step before and this one lower" if cost < 0.0 else "the step lowers"
    case.require(gain + cost >= -rounding, state.iteration, f"{steps_taken} f by {-gain - cost:.3g}.")
    return 0.0


def _check_code(case: Case, state: SolverState, code: Any) -> None:
    """Check that a stopping rule gave 0 or the number of one of its reasons."""
    count = len(case.rules.stop.reasons)
    known = isinstance(code, int | np.integer) and 0 <= code <= count
    said = f"check() returned {code!r}; expected a whole number from 0 to {count}."
    case.require(known, state.iteration, said)


def _check_end(case: Case, state: SolverState, last: tuple[np.ndarray, np.ndarray], code: Any) -> None:
    """Check that the loop ended for an allowed reason, at a feasible point that is good enough."""
    problem, (selector, _, stop), t = case.problem, case.rules, state.iteration
    alpha, gradient = last
    same = np.array_equal(state.alpha, alpha) and np.array_equal(state.gradient, gradient)
    case.require(same, t, "a rule wrote to state.alpha or state.gradient; only the loop may.")
    if code != -1:
        _check_code(case, state, code)
    off = infeasibility(problem, alpha)
    case.require(off <= EPS * (t + problem.n), t, f"α is not feasible, by {off:.3g} of the size of the box.")
    drift = float(np.abs(problem.gradient(alpha) - gradient).max())
    size = float(np.abs(problem.v).max() + np.abs(alpha).sum() * np.abs(state.diagonal).max())
    near = drift <= 100 * EPS * (t + 1) * size
    case.require(near, t, f"state.gradient differs from v − Kα by {drift:.3g}.")
    if isinstance(stop, KKTGap) and not (code == -1 and selector.may_stall):
        gap = problem.kkt_gap(alpha)
        why = ", as two steps in a row changed nothing" if state.stalled >= 2 else ""
        said = f"the solve ended with ψ = {gap:.3g} above tol = {stop.tol}{why}."
        case.require(gap <= 1.01 * stop.tol, t, said)


def check_verdict(case: Case) -> None:
    """Check that a stopping rule stops at a point that is good.

    Good is a loss of a twentieth of f, or a KKT gap of ten times the tolerance; for a rule made for left-out examples,
    the sign that the optimum gives.
    """
    stop = case.rules.stop
    exact, found = (case.solve(stop=each, engine="numpy", shrinking=False) for each in (KKTGap(1e-6), stop))
    if stop.left_out:
        r = np.flatnonzero((case.problem.lower == 0.0) & (case.problem.upper == 0.0))[0]
        # the value as leave-one-out takes it: what the rule proves has the last word
        decided, h = stop.outcome(found.reason, float(found.decision_values[r]))
        expected = exact.decision_values[r]
        near = abs(expected) <= 1e-6 if decided != "kkt" else h * expected > -1e-6
        good = near or (h >= 0.0) == (expected >= 0.0) or "indefinite" in case.name
        said = f"{stop!r} stops at h = {h:.3g}; at the optimum it is {expected:.3g}."
        case.require(good, found.iterations, said)
        return
    lost = exact.objective - found.objective
    good = lost <= 0.05 * abs(exact.objective) or found.kkt_gap <= 10.0 * stop.tolerance
    said = f"{stop!r} stops too early, at ψ = {found.kkt_gap:.3g} and f = {found.objective:.3g}, {lost:.3g} below f*."
    case.require(good, found.iterations, said)


def infeasibility(problem: DualProblem, alpha: np.ndarray) -> float:
    """By how much α leaves the box or misses its sum, relative to the largest sum the box allows.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm.testing import practice_problems
    >>> from refsvm.testing.contract import infeasibility
    >>> infeasibility(practice_problems()["two examples"], np.array([0.0, 2.0]))
    0.1
    """
    outside = np.maximum(problem.lower - alpha, 0.0) + np.maximum(alpha - problem.upper, 0.0)
    off = float(outside.sum()) + abs(float(alpha.sum()) - problem.z)
    size = float(np.abs(problem.lower).sum() + np.abs(problem.upper).sum())
    return off / size if off > 0.0 else 0.0
