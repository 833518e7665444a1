"""solve: one problem, from its arguments to a Solution."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from refsvm.core._checks import refuses, shown
from refsvm.core.engine.limits import Deadline, unless_interrupted
from refsvm.core.engine.progress import Progress
from refsvm.core.problem import DualProblem
from refsvm.core.result import Solution
from refsvm.core.selectors.base import WorkingSetSelector
from refsvm.core.solver.options import RunOptions
from refsvm.core.solver.run import solved
from refsvm.core.solver.shrinking import Shrinking
from refsvm.core.steps.base import StepRule
from refsvm.core.stopping.base import StoppingRule
from refsvm.services.guards.chosen import rows_and_guards
from refsvm.services.line import line_of


@refuses(
    "solve takes a problem: solve(DualProblem.classification(X, y, …))",
    tol="give stop=KKTGap({})", C="C belongs to the problem: DualProblem.classification(X, y, C={})",
    kernel="the kernel belongs to the problem: DualProblem.classification(X, y, kernel={})",
)  # fmt: skip
def solve(
    problem: DualProblem,
    *,
    selector: WorkingSetSelector | None = None,
    step: StepRule | None = None,
    stop: StoppingRule | None = None,
    start: Any = None,
    engine: str = "auto",
    shrinking: bool | Shrinking = True,
    cache_mb: float = 200.0,
    cache_dtype: str = "auto",
    max_iter: int | None = None,
    time_limit: float | Deadline | None = None,
    callback: Callable[[Progress], object] | None = None,
    trace: bool | int = False,
    polish: bool = False,
    progress: bool | str = "auto",
) -> Solution:
    """Solve max vᵀα − ½αᵀKα, 1ᵀα = z, L ≤ α ≤ U by sequential minimal optimisation.

    Parameters
    ----------
    problem : DualProblem
    selector, step, stop : rules
        By default SecondOrder(), KKTGap(1e-3), and PlanningAheadStep() if the
        selector takes candidates, NewtonStep() if it does not. If neither
        selector nor step is given, restricted problems are solved with
        ConjugateSecondOrder() and ConjugateStep().
    start : array-like of shape (n,), optional
        Signed α to start from, for instance ``error.result.alpha`` of an
        interrupted solve; zero (or the nearest feasible point) by default. An
        infeasible start is repaired with a warning.
    engine : {"auto", "numba", "numpy"}
        The compiled loop, or the readable one; both take the same steps bit
        for bit. "auto" begins in the readable loop and goes on in the compiled
        one if Numba is installed and the time spent pays for loading it.
    shrinking : bool or Shrinking
        Repeatedly solve a restricted problem over the variables still likely
        to change (`refsvm.core.solver.shrinking`). Much faster; same solution
        to within the tolerance. False takes the steps of the papers, one by
        one on all variables.
    cache_mb : float
        Budget for kernel rows in MiB; copies made by shrinking may add a
        quarter.
    cache_dtype : {"auto", "float64", "float32"}
        How kernel rows are kept. float32 keeps twice as many, computes those
        of RBF and linear kernels in half the time, and rounds K by some 1e-7,
        as LIBSVM does; ``solution.objective_error`` is the effect on the
        objective. "auto" begins in float32 if shrinking is on, the tolerance
        at least 1e-4, 1.2e-7 C max K ≤ a tenth of it, and one of two holds: n
        ≥ 3,000 with an RBF kernel and the rules SecondOrder, NewtonStep,
        PlanningAheadStep, their conjugate ones and KKTGap; or n ≥ 10,000 and a
        budget that does not hold all of K. The rounding moves G by about
        2.4e-7 max K √Σα², where α of equal examples is summed before it is
        squared. If that exceeds the tolerance, the solve goes on in float64
        rows. If it exceeds a tenth, the stopping rule is asked again with
        float64 values of G where they decide. "float32" is kept, with a
        warning from a tenth on.
    max_iter : int, optional
        Limit on the steps; max(10⁷, 100n) by default.
    time_limit : float, optional
        Limit in seconds, checked between chunks of some ten milliseconds.
    callback : callable, optional
        Called with a `refsvm.core.engine.progress.Progress` between chunks,
        and at the end of a solve that takes a single one; its ``state`` is the
        `SolverState`. A true result stops the solve. With
        shrinking, a callback changes when the gradient of all
        variables is brought up to date, and so the path: same optimum, but not
        the same steps from run to run.
    trace : bool or int
        Record every step, or every k-th.
    polish : bool
        Take one exact step on the free variables at the end, if they are few
        (`refsvm.services.guards.polish`).
    progress : bool or "auto"
        A line on stderr that says how far it is. "auto" shows it in a terminal
        or a notebook, from two seconds on (`refsvm.services.line`).

    Returns
    -------
    Solution
        Also when a limit was reached; ``solution.status`` says which.

    Raises
    ------
    ValueError
        On arguments out of range, rules that do not fit together, or a rule
        without a twin under ``"numba"``.
    KeyboardInterrupt
        After Ctrl-C: a `refsvm.core.engine.limits.Interrupted`, whose
        ``result`` is the solution at the last point reached.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import DualProblem, RBF, solve
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([-1, 1, 1, -1])
    >>> solution = solve(DualProblem.classification(X, y, kernel=RBF(1.0), C=10.0))
    >>> solution.status.name, solution.iterations, round(solution.objective, 6)
    ('CONVERGED', 3, 2.506874)
    """
    if not isinstance(problem, DualProblem):
        raise ValueError(
            f"solve takes a problem, and {shown(problem)} is not one: solve(DualProblem.classification(X, y, …))."
        )
    with line_of(Progress("solve", kept="the last point"), progress) as line:
        options = RunOptions(
            selector=selector, step=step, stop=stop, engine=engine, shrinking=shrinking, cache_mb=cache_mb,
            cache_dtype=cache_dtype, max_iter=max_iter, time_limit=time_limit, callback=callback, trace=trace,
            polish=polish, progress=line, rows_and_guards=rows_and_guards,
        )  # fmt: skip
        solution = solved(problem, options, start)
        if line:
            line.end(solution.status.value, solution.kkt_gap, solution.iterations)
    return unless_interrupted("solve", solution)
