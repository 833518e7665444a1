"""The contract of the base classes of rules, checked during a solve in the readable loop.

The check calls the rule itself, without a wrapper. After every step, the pair and the step length stored in the state
must explain the change of the state; any other change means that a rule wrote to the state.
"""

from __future__ import annotations

import copy
import itertools
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from refsvm import DualProblem, Rule, Solution, solve
from refsvm.core.kernels.cached_rows import stored_rows
from refsvm.core.selectors import SecondOrder
from refsvm.core.solver.loop import steps
from refsvm.core.solver.rules import Rules, starting_point
from refsvm.core.state import TAU, SolverState, moved
from refsvm.core.steps import NewtonStep
from refsvm.core.stopping import KKTGap
from refsvm.core.stopping.base import validated_code
from refsvm.testing.failures import explain_failures

STEP_LIMIT = 20_000  # number of steps within which a rule must solve a practice problem
EPS = float(np.finfo(np.float64).eps)
WATCHED = "alpha", "gradient", "diagonal", "lower", "upper"


@dataclass(frozen=True, eq=False)
class Case:
    """A problem and the three rules that solve it.

    Parameters
    ----------
    name : str
        Name of the problem, for messages.
    problem : DualProblem
        The problem.
    rules : Rules
        Selector, step rule and stopping rule.

    Examples
    --------
    >>> from refsvm import KKTGap, NewtonStep, SecondOrder
    >>> from refsvm.core.solver.rules import Rules
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
        """Return the rules with which a tested rule is combined."""
        return Rules(SecondOrder(), NewtonStep(), KKTGap(tol))

    def solve(self, *around: Rule, **options: Any) -> Solution:
        """Solve the problem with this case's rules, or with the rules given as `options` in their place.

        If the solve fails, the message names the case's rules and the rules in `around`, such as a shrinking rule.
        """
        with explain_failures(self.name, (*around, *self.rules)):
            return solve(self.problem, **{**self.rules._asdict(), **options})

    def require(self, condition: Any, iteration: int, sentence: str) -> None:
        """Unless `condition` holds, raise an AssertionError naming the problem, the rules and the step."""
        if not condition:
            rules = ", ".join(map(repr, self.rules))
            raise AssertionError(f"Problem {self.name!r} with {rules}, step {iteration}: {sentence}")


def check_solve(case: Case) -> int:
    """Run a solve twice and check every step; return the number of steps.

    In the second run, the stopping rule is called twice before each step.

    Raises
    ------
    AssertionError
        If a rule breaks its contract, or the two runs differ.
    """
    # solve twice, because memory kept on the rule instead of in the state changes the second run
    first, second = _walk(case, ask_again=False), _walk(case, ask_again=True)
    for t, (one, other) in enumerate(itertools.zip_longest(first, second)):
        sentence = (
            f"(i, j, μ, ψ) is {one} in the first solve and {other} in the second, where check() is called twice; "
            "keep no memory on the rule, and let a second call of check() change nothing."
        )
        case.require(one == other, t + 1, sentence)
    return len(first)


def _walk(case: Case, ask_again: bool) -> list[tuple[float, ...]]:
    """Take the steps of a solve and check each step; return (i, j, μ, ψ) of all steps."""
    problem = case.problem
    start = starting_point(problem, None)
    with explain_failures(case.name, case.rules):
        state = case.rules.begin(problem, start, stored_rows(problem.gram))
    loop, cost = steps(state, *case.rules), state.objective if case.rules.step.uses_momentum else 0.0
    taken: list[tuple[float, ...]] = []
    while state.iteration < STEP_LIMIT:
        # copy only the arrays to which a rule could write, because a deep copy would include all kernel rows
        before = copy.copy(state)
        for name in WATCHED:
            setattr(before, name, getattr(state, name).copy())
        if case.rules.step.uses_momentum:
            before.displacement, before.displacement_image = np.array(
                [state.displacement, state.displacement_image]
            )
        try:
            with explain_failures(case.name, case.rules, state):
                next(loop)
        except StopIteration as end:
            _check_end(case, state, before, end.value)
            return taken
        _check_step(case, state, before)
        cost = _check_gain(case, state, cost)
        taken.append((*state.working_sets[0].tolist(), state.last_step, state.gap))
        if ask_again:
            with explain_failures(case.name, case.rules, state):
                _check_asked_again(case, state)
    case.require(False, STEP_LIMIT, f"the rules have not solved the problem; ψ = {state.gap:.3g}.")
    return taken


def _check_asked_again(case: Case, state: SolverState) -> None:
    """Check that the stopping rule gives the same answer when it is called twice at one state."""
    stop = case.rules.stop
    before, first = state.stop_memory.copy(), validated_code(stop, stop.check(state))
    second = validated_code(stop, stop.check(state))
    if first == second:
        return
    wrote = not np.array_equal(before, state.stop_memory, equal_nan=True)
    what = "check() answered differently"
    if wrote:
        what = "check() wrote to its memory and then answered differently"
    case.require(
        False, state.iteration,
        f"{what} when it was asked again at the same state: {first}, then {second}. Store the number of the last step "
        "in state.stop_memory, and write there at a later step only.",
    )  # fmt: skip


def _check_step(case: Case, state: SolverState, before: SolverState) -> None:
    """Check that the pair and the step are permitted, and that they explain every change of the state."""
    t, (i, j), mu = state.iteration, state.working_sets[0].tolist(), state.last_step
    uses_momentum = case.rules.step.uses_momentum
    outside = f"length() returned μ = {mu!r}, outside [lo, hi] = [{state.low!r}, {state.high!r}]."
    case.require(uses_momentum or (type(mu) in (int, float, np.float64) and np.isfinite(mu)), t, outside)
    if not uses_momentum:
        _check_explained(case, state, before)
    case.require(
        before.alpha[i] < case.problem.upper[i], t, f"select() returned i = {i}, which is not in I_up."
    )
    case.require(
        before.alpha[j] > case.problem.lower[j], t, f"select() returned j = {j}, which is not in I_down."
    )
    case.require(uses_momentum or state.low <= mu <= state.high, t, outside)
    if uses_momentum:
        _check_carried(case, state, before)
    count, history = state.n_candidates, case.rules.step.history
    case.require(0 <= count <= history, t, f"length() left {count} candidates with history = {history}.")


def _check_explained(case: Case, state: SolverState, before: SolverState) -> None:
    """Check that nothing but the step of the pair has changed the state."""
    (i, j), mu, problem = state.working_sets[0].tolist(), state.last_step, case.problem
    # repeat the operations of the loop in the same order, so that the results are equal bit for bit
    expected, alpha, gradient = copy.copy(before), before.alpha.copy(), before.gradient.copy()
    expected.measure(i, j)
    # αᵢ += μ,  αⱼ −= μ,  G −= μ (K[i] − K[j])
    alpha[i] = moved(alpha[i], mu, problem.lower[i], problem.upper[i])
    alpha[j] = moved(alpha[j], -mu, problem.lower[j], problem.upper[j])
    gradient -= mu * (state.row(i) - state.row(j))
    for name, value, owner in (
        ("lower", problem.lower, "rules must not change the box"),
        ("upper", problem.upper, "rules must not change the box"),
        ("diagonal", before.diagonal, "rules must not change it"),
        ("alpha", alpha, "only the loop may change it"),
        ("gradient", gradient, "only the loop may change it"),
        *(
            (name, getattr(expected, name), "only the loop may change it")
            for name in ("slope", "curvature", "low", "high")
        ),
    ):
        if not np.array_equal(getattr(state, name), value):
            subject = _rule_that_writes(case, state, before, name)
            case.require(False, state.iteration, f"{subject} wrote to state.{name}; {owner}.")


def _rule_that_writes(case: Case, state: SolverState, before: SolverState, name: str) -> str:
    """Call each rule again at the previous state; return the rule that writes to the array `name`, or "a rule"."""
    i, j = state.working_sets[0].tolist()
    for rule, method, pair in zip(case.rules, ("select", "length", "check"), ((), (i, j), ()), strict=True):
        trial = copy.copy(before)
        for array in WATCHED:
            setattr(trial, array, getattr(before, array).copy())
        trial.measure(i, j)
        value = copy.copy(getattr(trial, name))
        # a rule may fail at a state that it has never seen; then try the next rule
        with suppress(Exception):
            getattr(rule, method)(trial, *pair)
        if not np.array_equal(getattr(trial, name), value):
            return f"{type(rule).__name__}.{method}()"
    return "a rule"


def _check_carried(case: Case, state: SolverState, before: SolverState) -> None:
    """Check that a step with momentum stays in the box up to rounding, and that nothing else changed the state."""
    t, (i, j), mu, alpha = state.iteration, state.working_sets[0].tolist(), state.last_step, before.alpha
    # μ(eᵢ − eⱼ) + κΔ,  μ(K[i] − K[j]) + κKΔ
    change = state.last_carry * np.asarray(before.displacement)
    change[i] += mu
    change[j] -= mu
    image = mu * (state.row(i) - state.row(j)) + state.last_carry * np.asarray(before.displacement_image)
    # a step with momentum also moves the variables that the previous step moved
    over = np.maximum(change - (state.upper - alpha), (state.lower - alpha) - change).max()
    size = 1.0 + np.abs(alpha).max()
    case.require(over <= 1e-12 * size, t, f"length() returned a (μ, κ) that leaves the box by {over:.3g}.")
    same = np.abs(alpha + change - state.alpha).max() <= 1e-12 * size
    case.require(same, t, "a rule wrote to state.alpha; only the loop may change it.")
    same = np.array_equal(before.gradient - image, state.gradient)
    case.require(same, t, "a rule wrote to state.gradient; only the loop may change it.")


def _check_gain(case: Case, state: SolverState, cost: float) -> float:
    """Check that f has not fallen; return the next `cost`: f with momentum, otherwise a planned step's loss."""
    if case.rules.step.uses_momentum:  # with momentum, f is the sum of the gains
        fallen = cost - state.objective
        rises = fallen <= 1e-12 * (1.0 + abs(cost))
        case.require(rises, state.iteration, f"the step lowers f by {fallen:.3g}.")
        return state.objective
    mu, q = state.last_step, state.curvature if state.curvature > TAU else 0.0
    # g = μℓ − ½μ²q; if q is not positive, the true gain is at least μℓ
    gain = mu * state.slope - 0.5 * mu * mu * q
    # a planned step may lose as much as the next step gains
    if state.last_planned:
        return min(gain, 0.0)
    rounding = 1e-12 * (abs(mu * state.slope) + mu * mu * q - cost)
    steps_taken = "the planned step and the step after it lower" if cost < 0.0 else "the step lowers"
    case.require(gain + cost >= -rounding, state.iteration, f"{steps_taken} f by {-gain - cost:.3g}.")
    return 0.0


def _check_end(case: Case, state: SolverState, last: SolverState, code: Any) -> None:
    """Check that the loop ended for a permitted reason, at a feasible and sufficiently exact point."""
    problem, (selector, step, stop), t = case.problem, case.rules, state.iteration
    alpha, gradient = last.alpha, last.gradient
    if code != -1:
        with explain_failures(case.name, case.rules):
            validated_code(stop, code)
    for name in ("alpha", "gradient"):
        same = np.array_equal(getattr(state, name), getattr(last, name))
        subject = "" if same else _rule_that_writes(case, state, last, name)
        case.require(same, t, f"{subject} wrote to state.{name}; only the loop may change it.")
    # the sum of α may drift only by the rounding errors of the steps
    off = infeasibility(problem, alpha)
    message = f"α is infeasible by {off:.3g} times the size of the box; {step!r}.length() must return float64 numbers."
    case.require(off <= EPS * (t + problem.n), t, message)
    drift = float(np.abs(problem.gradient(alpha) - gradient).max())
    size = float(np.abs(problem.v).max() + np.abs(alpha).sum() * np.abs(state.diagonal).max())
    near = drift <= 100 * EPS * (t + 1) * size
    case.require(near, t, f"state.gradient differs from v − Kα by {drift:.3g}.")
    if isinstance(stop, KKTGap) and not (code == -1 and selector.may_stall):
        gap = problem.kkt_gap(alpha)
        why = f", as {selector!r}.select() found no pair" if code == -1 else ""
        why = ", as two steps in a row changed nothing" if state.stalled >= 2 else why
        message = f"the solve ended with ψ = {gap:.3g} above tol = {stop.tol}{why}."
        case.require(gap <= 1.01 * stop.tol, t, message)


def check_verdict(case: Case) -> None:
    """Check that a stopping rule stops at a sufficiently exact point.

    A point is sufficiently exact if f is below its optimum f* by at most |f*|/20, or if the KKT gap is at most ten
    times the tolerance. A rule for left-out examples must report the sign that h has at the optimum.
    """
    stop = case.rules.stop
    # solve without shrinking, which would call the rule on restricted problems
    exact, stopped = (case.solve(stop=each, engine="numpy", shrinking=False) for each in (KKTGap(1e-6), stop))
    if stop.left_out:
        r = np.flatnonzero((case.problem.lower == 0.0) & (case.problem.upper == 0.0))[0]
        # leave-one-out uses the value or sign that the rule proved, so its sign must be the sign of the exact value
        with explain_failures(case.name, case.rules):
            decided, h = stop.outcome(stopped.reason, float(stopped.decision_values[r]))
        expected = exact.decision_values[r]
        good = abs(expected) <= 1e-6 or (h >= 0.0) == (expected >= 0.0) or "indefinite" in case.name
        message = f"{stop!r} stops at h = {h:.3g}; at the optimum h is {expected:.3g}."
        case.require(good or decided == "kkt", stopped.iterations, message)
        if decided != "kkt":
            return
    lost = exact.objective - stopped.objective
    good = lost <= 0.05 * abs(exact.objective) or stopped.kkt_gap <= 10.0 * stop.tolerance
    where = f"ψ = {stopped.kkt_gap:.3g} and f = {stopped.objective:.3g}, {lost:.3g} below f*"
    message = f"{stop!r} stops too early, at {where}."
    case.require(good, stopped.iterations, message)


def infeasibility(problem: DualProblem, alpha: np.ndarray) -> float:
    """Return how far α violates the box and the sum constraint, relative to the sum of all |L| and |U|.

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
