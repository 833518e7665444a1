"""solve: run the loop, or its compiled twin, to the end."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from contextlib import closing
from typing import Any, Final

import numpy as np

from refsvm.problem import DualProblem
from refsvm.result import Solution, Status, Trace
from refsvm.selectors.base import WorkingSetSelector
from refsvm.solver.engine import Engine, engine_called
from refsvm.solver.hard_margin import INSEPARABLE, HardMarginEngine
from refsvm.solver.limits import Limits
from refsvm.solver.rules import chosen_rules
from refsvm.solver.shrinking import ShrinkingEngine
from refsvm.solver.start import row_dtype, starting_state
from refsvm.state import SolverState
from refsvm.steps.base import StepRule
from refsvm.stopping.base import StoppingRule

__all__ = ["solve"]

ENDINGS: Final = {-1: Status.STALLED, INSEPARABLE: Status.INSEPARABLE}
"""What an engine says by a negative code."""


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
        Solve restricted to the variables that matter, again and again (`refsvm.solver.shrinking`): much faster, same
        answer up to the tolerance. False takes the steps of the papers, one by one on all variables.
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
    state = starting_state(
        problem, rules, start, cache_mb, row_dtype(cache_dtype, problem.n, cache_mb, shrinking)
    )
    recorder = None if trace is False else Trace(1 if trace is True else trace)
    make = engine_called(engine, rules)
    if shrinking:
        runner: Engine = ShrinkingEngine(state, rules, make, limits, recorder)
    else:
        runner = make(state, rules, recorder)
    if np.isinf(problem.upper).any() or np.isinf(problem.lower).any():
        runner = HardMarginEngine(state, runner)
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
            return (Status.CONVERGED, code) if code > 0 else (ENDINGS[code], 0)
        status = limits.reached(state)
        if status is not None:
            return status, 0
        chunk = int(min(max(chunk * 0.02 / (now - began), chunk / 2, 16), chunk * 4, 1e9))
