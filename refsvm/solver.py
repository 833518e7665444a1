"""The loop. `steps` is SMO itself, readable; `iterate` sets it up; `solve` runs it, or its compiled twin, to the end.

until the stopping rule is satisfied
select a working set (i, j)
choose a step length μ
αᵢ += μ,  αⱼ −= μ,  G −= μ(K[i] − K[j])
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Generator
from contextlib import closing
from importlib.util import find_spec
from typing import Any, Protocol

import numpy as np

from refsvm._checks import vector
from refsvm.decompose import ShrinkingEngine
from refsvm.limits import Limits
from refsvm.problem import DualProblem
from refsvm.result import Solution, Status, Trace
from refsvm.rows import stored_rows
from refsvm.selectors.base import WorkingSetSelector
from refsvm.selectors.second_order import SecondOrder
from refsvm.state import SolverState
from refsvm.steps.base import StepRule
from refsvm.steps.newton import NewtonStep
from refsvm.steps.planning_ahead import PlanningAheadStep
from refsvm.stopping.base import StoppingRule
from refsvm.stopping.kkt_gap import KKTGap

__all__ = ["iterate", "solve", "steps"]

Steps = Generator[SolverState, None, int]


def steps(state: SolverState, selector: WorkingSetSelector, step: StepRule, stop: StoppingRule) -> Steps:
    """SMO: yield the state after every step; return the code of the stopping rule, or −1 if no pair is left."""
    while not (code := stop.check(state)):
        # --- select ---
        i, j = selector.select(state)
        if min(i, j) < 0 or state.stalled > 1:
            return -1
        # --- step ---
        first, second = (i, j) if state.rows.slots[i] >= 0 else (j, i)
        state.rows.use(first)  # a stored row first, so that the other one does not take its place
        state.rows.use(second)
        state.measure(i, j)
        state.n_candidates = 0
        mu = step.length(state, i, j)
        # --- update ---
        state.move(i, j, mu)
        yield state
    return code


def iterate(
    problem: DualProblem,
    *,
    selector: WorkingSetSelector | None = None,
    step: StepRule | None = None,
    stop: StoppingRule | None = None,
    start: Any = None,
    cache_mb: float = 200.0,
) -> Steps:
    """Walk through the solution of a dual problem, one readable NumPy step at a time.

    Parameters
    ----------
    problem : DualProblem
    selector, step, stop : rules
        By default SecondOrder(), KKTGap(1e-3), and PlanningAheadStep() where the selector takes candidates,
        NewtonStep() where it does not.
    start : array-like of shape (n,), optional
        Signed α to start from; see `solve`.
    cache_mb : float
        Budget for kernel rows in MiB.

    Yields
    ------
    SolverState
        The same object after every step: copy what you want to keep.

    Raises
    ------
    ValueError
        If the rules do not fit together or the budget is too small.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import DualProblem, RBF, iterate
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([-1, 1, 1, -1])
    >>> [round(state.gap, 3) for state in iterate(DualProblem.classification(X, y, kernel=RBF(1.0), C=10.0))]
    [1.476, 0.415, 0.0]
    """
    rules = chosen_rules(selector, step, stop)
    return steps(_begin(problem, rules, start, cache_mb), *rules)


def solve(
    problem: DualProblem,
    *,
    selector: WorkingSetSelector | None = None,
    step: StepRule | None = None,
    stop: StoppingRule | None = None,
    start: Any = None,
    engine: str = "auto",
    shrinking: bool = True,
    cache_mb: float = 200.0,
    cache_dtype: str = "auto",
    max_iter: int | None = None,
    time_limit: float | None = None,
    callback: Callable[[SolverState], object] | None = None,
    trace: bool | int = False,
) -> Solution:
    """Solve max vᵀα − ½αᵀKα, 1ᵀα = z, L ≤ α ≤ U by sequential minimal optimisation.

    Parameters
    ----------
    problem : DualProblem
    selector, step, stop : rules
        By default SecondOrder(), KKTGap(1e-3), and PlanningAheadStep() where the selector takes candidates,
        NewtonStep() where it does not.
    start : array-like of shape (n,), optional
        Signed α to start from, for instance ``solution.alpha`` of an interrupted solve; zero (or the nearest
        feasible point) by default. An infeasible start is repaired with a warning.
    engine : {"auto", "numba", "numpy"}
        The compiled loop, or the readable one; both take the same steps bit for bit. "auto" compiles where Numba is
        installed.
    shrinking : bool
        Solve restricted to the variables that matter, again and again (`refsvm.decompose`): much faster, same answer
        up to the tolerance. False takes the steps of the papers, one by one on all variables.
    cache_mb : float
        Budget for kernel rows in MiB; copies made by shrinking may add a quarter.
    cache_dtype : {"auto", "float64", "float32"}
        How kernel rows are kept. float32 keeps twice as many and rounds K by 6e-8 of each entry, as LIBSVM
        does; the objective moves by about as much. "auto" is float64, unless shrinking is on, n ≥ 10,000
        and the budget does not hold the whole matrix.
    max_iter : int, optional
        Limit on the steps; max(10⁷, 100n) by default.
    time_limit : float, optional
        Limit in seconds, checked between chunks of some ten milliseconds.
    callback : callable, optional
        Called with the `SolverState` between chunks; a true result stops the solve. With shrinking, a
        callback changes when the gradient of all variables is brought up to date, and so the path: same optimum, but
        not the same steps from run to run.
    trace : bool or int
        Record every step, or every k-th.

    Returns
    -------
    Solution
        Always: also when a limit was reached or Ctrl-C pressed; ``solution.status`` says which.

    Raises
    ------
    ValueError
        On arguments out of range, rules that do not fit together, or a rule without a twin under ``"numba"``.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import DualProblem, RBF, solve
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([-1, 1, 1, -1])
    >>> solution = solve(DualProblem.classification(X, y, kernel=RBF(1.0), C=10.0))
    >>> solution.status.name, solution.iterations, round(solution.objective, 6)
    ('CONVERGED', 3, 2.506874)
    """
    began = time.perf_counter()
    limits = Limits(problem.n, max_iter, time_limit, callback)
    rules = chosen_rules(selector, step, stop)
    state = _begin(problem, rules, start, cache_mb, row_dtype(cache_dtype, problem.n, cache_mb, shrinking))
    recorder = None if trace is False else Trace(1 if trace is True else trace)
    make = engine_called(engine, rules)
    if shrinking:
        runner: Engine = ShrinkingEngine(state, rules, make, limits, recorder)
    else:
        runner = make(state, rules, recorder)
    with limits.interruptible(), closing(runner):
        status, code = _run_to_the_end(runner, state, rules[2], limits, recorder)
    if state.least_curvature < -1e-8 * float(np.abs(state.diagonal).max()):
        warnings.warn(
            f"The kernel is not positive semi-definite (a pair has q = {state.least_curvature:.3g} < 0); "
            "the result is a stationary point, perhaps not the global optimum.",
            stacklevel=2,
        )
    return Solution(
        problem=problem,
        alpha=state.alpha,
        gradient=state.gradient,
        iterations=state.iteration,
        kernel_rows=state.rows.computed,
        kernel_hits=state.rows.hits,
        status=status,
        reason=rules[2].reasons[code - 1] if code > 0 else status.value,
        seconds=time.perf_counter() - began,
        engine=runner.name,
        trace=recorder,
    )


class Engine(Protocol):
    """What runs the steps: `ReadableEngine` here, `refsvm.fast.engine.CompiledEngine`."""

    name: str
    paced: bool  # whether `advance` wants to be given chunks of some ten milliseconds

    def advance(self, budget: int) -> int:
        """Take up to `budget` steps; return a stopping code (> 0), 0 if the budget is spent, −1 if no pair is left."""
        ...

    def close(self) -> None:
        """Release what the engine holds."""
        ...


class ReadableEngine:
    """Runs `steps`."""

    name, paced = "numpy", True

    def __init__(self, state: SolverState, rules: Rules, trace: Trace | None) -> None:
        self._state, self._rules, self._trace = state, rules, trace

    def advance(self, budget: int) -> int:
        """Take up to `budget` steps."""
        loop, state = steps(self._state, *self._rules), self._state
        for _ in range(budget):
            try:
                with np.errstate(over="ignore"):  # a gain may exceed all numbers where q is hardly above 0
                    next(loop)
            except StopIteration as end:
                return int(end.value)
            if self._trace is not None and state.iteration % self._trace.every == 0:
                self._trace.append(state)
        return 0

    def close(self) -> None:
        """Nothing to release."""


Rules = tuple[WorkingSetSelector, StepRule, StoppingRule]


def chosen_rules(
    selector: WorkingSetSelector | None, step: StepRule | None, stop: StoppingRule | None
) -> Rules:
    """Fill in the default rules and refuse what is no rule or does not fit together."""
    selector = SecondOrder() if selector is None else selector
    if step is None:
        step = PlanningAheadStep() if getattr(selector, "takes_candidates", False) else NewtonStep()
    rules = (selector, step, KKTGap() if stop is None else stop)
    bases = {"selector": WorkingSetSelector, "step": StepRule, "stop": StoppingRule}
    for (name, base), rule in zip(bases.items(), rules, strict=True):
        if not isinstance(rule, base):
            raise ValueError(
                f"{name}={rule!r} is not a {base.__name__}; pass an instance of one, such as "
                f"{name}={type(rules_default(name)).__name__}()."
            )
    if rules[1].history and not rules[0].takes_candidates:
        raise ValueError(
            f"selector={rules[0]!r} cannot be combined with step={rules[1]!r}: the convergence proof of planned steps "
            "needs a selector that also considers the pairs planned with, such as SecondOrder()."
        )
    return rules


def rules_default(name: str) -> object:
    """Return the default rule of a role, for messages."""
    return {"selector": SecondOrder(), "step": NewtonStep(), "stop": KKTGap()}[name]


def row_dtype(name: str, n: int, cache_mb: float, shrinking: bool) -> type:
    """Return the type in which kernel rows are kept."""
    if name not in ("auto", "float64", "float32"):
        raise ValueError(f'cache_dtype={name!r} is unknown; choose "auto", "float64" or "float32".')
    crowded = shrinking and n >= 10_000 and 8 * n * n > cache_mb * 2**20
    return np.float32 if name == "float32" or (name == "auto" and crowded) else np.float64


def _begin(
    problem: DualProblem, rules: Rules, start: Any, cache_mb: float, dtype: type = np.float64
) -> SolverState:
    """Return the state before the first step."""
    rows = stored_rows(problem.gram, cache_mb, dtype)
    needed = min(rules[0].rows_needed(problem.n), problem.n)
    if needed > rows.capacity:
        raise ValueError(
            f"selector={rules[0]!r} needs {needed} kernel rows in memory and cache_mb={cache_mb!r} holds "
            f"{rows.capacity}; give at least {needed * 8 * problem.n / 2**20:.3g}."
        )
    return SolverState(problem, _starting_point(problem, start), rows, *rules)


def _starting_point(problem: DualProblem, start: Any) -> np.ndarray:
    """Return a feasible α; a given one that is not feasible is repaired with a warning."""
    if start is None:
        return problem.feasible(np.zeros(problem.n))
    given = vector("start", start, problem.n)
    point = problem.feasible(given)
    scale = 1e-9 * max(1.0, float(np.abs(point).max()))
    if np.abs(point - given).max() > scale:
        warnings.warn(
            "start is not feasible (outside the box, or its sum is not z); the nearest repair is used.",
            stacklevel=4,
        )
    return point


def engine_called(name: str, rules: Rules) -> Callable[[SolverState, Rules, Trace | None], Engine]:
    """Return what makes the engine called `name` for a state, these rules and a trace."""
    if name not in ("auto", "numba", "numpy"):
        raise ValueError(f'engine={name!r} is unknown; choose "auto", "numba" or "numpy".')
    installed = find_spec("numba") is not None
    if name == "numba" and not installed:
        raise ValueError('engine="numba" needs the package numba; install it or use engine="numpy".')
    if name == "numpy" or not installed or (name == "auto" and any(rule.twin() is None for rule in rules)):
        return ReadableEngine
    from refsvm.fast.engine import CompiledEngine

    return CompiledEngine


def _run_to_the_end(
    engine: Engine, state: SolverState, stop: StoppingRule, limits: Limits, trace: Trace | None
) -> tuple[Status, int]:
    """Run; where rounding may have spoiled the gradient, compute it afresh and go on if that changes the verdict."""
    for _ in range(10):
        status, code = _run(engine, state, stop, limits, trace)
        if not state.drifted():
            break
        state.refresh()
        if status not in (Status.CONVERGED, Status.STALLED):
            break
        code = stop.check(state)
        if code:
            return Status.CONVERGED, code
        status = Status.STALLED
    return status, code


def _run(
    engine: Engine, state: SolverState, stop: StoppingRule, limits: Limits, trace: Trace | None
) -> tuple[Status, int]:
    """Run chunk after chunk, each of some ten milliseconds, until the rule or a limit says stop."""
    chunk = 16
    while True:
        began = time.perf_counter()
        left = limits.max_iter - state.iteration
        code = engine.advance(min(chunk, left) if engine.paced else left)
        now = time.perf_counter()
        if trace is not None:
            trace.stamp(began - limits.began, now - limits.began)
        code = code or max(stop.check(state), 0)
        if code:
            return (Status.CONVERGED, code) if code > 0 else (Status.STALLED, 0)
        status = limits.reached(state)
        if status is not None:
            return status, 0
        chunk = int(min(max(chunk * 0.02 / (now - began), chunk / 2, 16), chunk * 4, 1e9))
