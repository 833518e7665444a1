"""What the base classes of the rules promise, checked while a solve is walked through in the readable loop.

Nothing is wrapped around a rule. After every step the change of the state is explained by the pair and the
step length that the state remembers; what they do not explain, a rule has written without being allowed to.
"""

from __future__ import annotations

import copy
import dataclasses
import itertools
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np

from refsvm.kernels.rows import KernelRows
from refsvm.paths.base import PathTracker
from refsvm.problem import DualProblem
from refsvm.result import Solution
from refsvm.seeders.base import Seeder
from refsvm.selectors import SecondOrder, WorkingSetSelector
from refsvm.solver import solve, steps
from refsvm.solver.rules import Rules
from refsvm.solver.start import starting_point
from refsvm.state import TAU, SolverState, moved
from refsvm.steps import NewtonStep, StepRule
from refsvm.stopping import KKTGap, StoppingRule

__all__ = ["Case", "check_seeder", "check_solve", "check_value"]

STEP_LIMIT = 20_000  # steps within which a rule must solve a practice problem
EPS = float(np.finfo(np.float64).eps)

Rule = WorkingSetSelector | StepRule | StoppingRule


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

    def require(self, condition: Any, iteration: int, sentence: str) -> None:
        """Unless `condition` holds, raise an AssertionError naming the problem, the rules and the step."""
        if not condition:
            rules = ", ".join(map(repr, self.rules))
            raise AssertionError(f"Problem {self.name!r} with {rules}, step {iteration}: {sentence}")


def check_value(rule: Rule | Seeder | PathTracker, problem: DualProblem) -> None:
    """Check what a rule is, before it is used: a frozen value, and what its methods return without a state.

    Raises
    ------
    AssertionError
        If the rule is no frozen, hashable dataclass, or one of its methods that need no state is wrong.
    """
    name = type(rule).__name__
    parameters = getattr(type(rule), "__dataclass_params__", None)
    frozen = parameters is not None and parameters.frozen
    _require(frozen, f"{name} is not a frozen dataclass; decorate it with @dataclass(frozen=True).")
    _require(copy.deepcopy(rule) == rule, f"{name} does not equal its copy; give it comparable fields.")
    try:
        hash(rule)
    except TypeError as error:
        raise AssertionError(f"{name} cannot be hashed ({error}); give it hashable fields.") from error
    if isinstance(rule, PathTracker):
        return
    values: Any = rule.parameters()
    numbers = isinstance(values, tuple) and all(isinstance(value, int | float) for value in values)
    _require(numbers, f"{name}.parameters() returned {values!r}; it must return a tuple of floats.")
    if find_spec("numba") is not None:
        _require(rule.twin() is rule.twin(), f"{name}.twin() returned two functions; make it once.")
    if isinstance(rule, Seeder):
        return
    memory: Any = rule.prepare(problem)
    another = rule.prepare(problem)
    right = isinstance(memory, np.ndarray) and memory.dtype == np.float64 and memory.ndim == 1
    _require(right, f"{name}.prepare() returned {memory!r}; it must return a float64 vector.")
    shared = np.shares_memory(memory, another)
    _require(not shared, f"{name}.prepare() returned one array twice; make a new one for each solve.")
    if isinstance(rule, StoppingRule):
        sentences = len(rule.reasons) > 0 and all(isinstance(reason, str) for reason in rule.reasons)
        _require(sentences, f"{name}.reasons is {rule.reasons!r}; give a sentence for each code of check().")


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
    state = case.rules.begin(problem, start, KernelRows(problem.gram))
    loop, cost = steps(state, *case.rules), 0.0
    taken: list[tuple[float, ...]] = []
    while state.iteration < STEP_LIMIT:
        alpha, gradient = state.alpha.copy(), state.gradient.copy()
        try:
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
    case.require(pair, t, f"select() returned ({i}, {j}), which is no pair of {n} variables.")
    case.require(alpha[i] < upper[i], t, f"select() returned i = {i}, which is not in I_up.")
    case.require(alpha[j] > lower[j], t, f"select() returned j = {j}, which is not in I_down.")
    box = f"[lo, hi] = [{state.low!r}, {state.high!r}]"
    case.require(state.low <= mu <= state.high, t, f"length() returned μ = {mu!r}, outside {box}.")
    same = np.array_equal(state.lower, lower) and np.array_equal(state.upper, upper)
    case.require(same, t, "a rule wrote to state.lower or state.upper; the box belongs to the problem.")
    # αᵢ += μ,  αⱼ −= μ,  G −= μ (K[i] − K[j])
    alpha[i] = moved(alpha[i], mu, lower[i], upper[i])
    alpha[j] = moved(alpha[j], -mu, lower[j], upper[j])
    gradient -= mu * (state.row(i) - state.row(j))
    case.require(np.array_equal(state.alpha, alpha), t, "a rule wrote to state.alpha; only the loop may.")
    same = np.array_equal(state.gradient, gradient)
    case.require(same, t, "a rule wrote to state.gradient; only the loop may.")
    count, history = state.n_candidates, case.rules[1].history
    case.require(0 <= count <= history, t, f"length() left {count} candidates with history = {history}.")


def _check_gain(case: Case, state: SolverState, cost: float) -> float:
    """Check that f has not fallen, a planned step and the next taken together; return by how much it has."""
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
    case.require(
        known, state.iteration, f"check() returned {code!r}; expected a whole number from 0 to {count}."
    )


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
    case.require(
        drift <= 100 * EPS * (t + 1) * size, t, f"state.gradient differs from v − Kα by {drift:.3g}."
    )
    if isinstance(stop, KKTGap) and not (code == -1 and selector.may_stall):
        gap = problem.kkt_gap(alpha)
        case.require(gap <= 1.01 * stop.tol, t, f"the solve ended with ψ = {gap:.3g} above tol = {stop.tol}.")


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


def check_seeder(seeder: Seeder, problems: dict[str, DualProblem]) -> int:
    """Check that seeds are feasible and reproducible and leave the optimum where it is; return how many there were.

    One example is put back and another left out in some problems, a quarter of them in the others. The twin, if there
    is one and Numba is installed, has to give the same α bit for bit.

    Raises
    ------
    AssertionError
        If the seeder breaks its contract.
    """
    removals, seeds = itertools.cycle((2, 4)), 0
    for name, problem in problems.items():
        if problem.n < 8 or name.startswith("indefinite"):  # these have several optima
            continue
        every = next(removals) * (problem.n // 8 if problem.n % 3 else 1)
        index = np.arange(problem.n)
        old, new = _without(problem, index % every == 0), _without(problem, index % every == 1)
        _check_seed(seeder, name, old, new)
        _check_seed(seeder, name, problem, new)
        _check_seed(seeder, name, old, problem)
        seeds += 3
    return seeds


def _check_seed(seeder: Seeder, name: str, old: DualProblem, new: DualProblem) -> None:
    """Seed one problem with the solution of another."""
    rules = Rules(SecondOrder(), NewtonStep(), KKTGap(1e-6))
    case = Case(name, new, rules)
    solved = solve(old, stop=rules.stop, engine="numpy")
    alpha = solved.alpha.copy()
    seed: Any = seeder.seed(solved, new)
    again = seeder.seed(solved, new)
    case.require(np.array_equal(seed, again), 0, f"{seeder!r} gave two different seeds.")
    case.require(np.array_equal(solved.alpha, alpha), 0, f"{seeder!r} wrote to the solution it was given.")
    same = not np.shares_memory(seed, solved.alpha) and not np.shares_memory(seed, again)
    case.require(
        same, 0, f"{seeder!r} gave an array that it, or the solution, holds on to; return a new one."
    )
    right = isinstance(seed, np.ndarray) and seed.dtype == np.float64 and seed.shape == (new.n,)
    case.require(right, 0, f"{seeder!r} gave {seed!r}; expected a float64 vector of {new.n}.")
    off = infeasibility(new, seed)
    case.require(off <= 1e-12, 0, f"the seed of {seeder!r} is not feasible, by {off:.3g} of the box.")
    cold, warm = (solve(new, stop=rules.stop, engine="numpy", start=s).objective for s in (None, seed))
    sentence = f"from the seed of {seeder!r} f ends at {warm!r}, from zero at {cold!r}."
    case.require(abs(warm - cold) <= 1e-5 * (1.0 + abs(cold)), 0, sentence)
    if find_spec("numba") is not None and seeder.twin() is not None:
        _check_seed_twin(case, seeder, solved, seed)


def _check_seed_twin(case: Case, seeder: Seeder, solved: Solution, seed: np.ndarray) -> None:
    """Compare a seed with that of the twin, which has to ask for the kernel rows it wants."""
    from refsvm.fast.seeding import compiled_seed

    compiled = compiled_seed(seeder, solved, case.problem, KernelRows(case.problem.gram))
    for i in np.flatnonzero(compiled != seed).tolist():
        case.require(
            False, 0, f"the twin of {seeder!r} gives α[{i}] = {compiled[i]!r}, the seeder {seed[i]!r}."
        )


def _without(problem: DualProblem, removed: np.ndarray) -> DualProblem:
    """Leave several examples out."""
    lower, upper = np.where(removed, 0.0, problem.lower), np.where(removed, 0.0, problem.upper)
    return dataclasses.replace(problem, lower=lower, upper=upper)


def _require(condition: Any, sentence: str) -> None:
    if not condition:
        raise AssertionError(sentence)
