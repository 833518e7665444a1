"""solve: solves one problem and returns a `Solution`."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

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
from refsvm.services.types import ArrayLike


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
    start: ArrayLike = None,
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
    """Solve max vᵀα − ½αᵀKα subject to 1ᵀα = z, L ≤ α ≤ U by sequential minimal optimisation.

    Parameters
    ----------
    problem : DualProblem
        The problem.
    selector, step, stop : rules
        The rules that choose which pair moves next, how far it moves, and when
        to stop: by default SecondOrder(), PlanningAheadStep() and
        KKTGap(1e-3). With ConjugateSecondOrder(), the default step is
        ConjugateStep(). With other selectors, the default step is NewtonStep()
        if the selector ignores the pairs that a PlanningAheadStep proposes. If
        you give neither selector nor step, a solve with shrinking uses
        ConjugateSecondOrder() and ConjugateStep().
    start : array-like of shape (n,), optional
        Signed α to start from, for instance ``error.result.alpha`` of an
        interrupted solve; by default zero, or a feasible point near zero. If
        the start is infeasible, `solve` repairs it and warns.
    engine : {"auto", "numba", "numpy"}, default "auto"
        "numba" is the compiled loop and "numpy" the readable loop; both take
        the same steps bit for bit. "auto" starts with the readable loop, and
        changes to compiled code if Numba is installed and the solve is long
        enough.
    shrinking : bool or Shrinking, default True
        Repeatedly solve a restricted problem over the variables that are
        likely to change (`refsvm.core.solver.shrinking`). Shrinking makes the
        solve much faster, with the same solution within the tolerance. Without
        shrinking, every step is chosen among all variables, as in the papers.
    cache_mb : float, default 200
        Budget for kernel rows in MiB; copies made by shrinking may take a
        quarter of the budget in addition.
    cache_dtype : {"auto", "float64", "float32"}, default "auto"
        Type in which kernel rows are stored. With float32 the budget holds
        twice as many rows, RBF and linear rows take half the time, and K is
        rounded by about 1e-7, as in LIBSVM. "auto" uses float32 if float32 is
        precise enough; see the notes.
    max_iter : int, optional
        Limit on the steps, by default max(10⁷, 100n).
    time_limit : float, optional
        Limit in seconds, checked about every 0.02 s.
    callback : callable, optional
        Function that takes a `refsvm.core.engine.progress.Progress`, whose
        ``state`` is the `SolverState`. The solver calls the function between
        chunks of steps, or at the end of a solve that takes a single chunk. If
        the function returns True, the solve ends.
    trace : bool or int, default False
        Record every step, or every k-th step.
    polish : bool, default False
        If few variables are free at the end of the solve, take one exact step
        on them (`refsvm.services.guards.polish`).
    progress : bool or "auto", default "auto"
        Whether to show the progress on a line on stderr. "auto" shows the line
        in a terminal or a notebook after two seconds (`refsvm.services.line`).

    Returns
    -------
    Solution
        The last point reached; ``solution.status`` says whether the solve
        converged or which limit ended it.

    Raises
    ------
    ValueError
        If an argument is out of range, `selector` and `step` cannot be
        combined, or a rule for ``engine="numba"`` has no compiled version.
    KeyboardInterrupt
        After Ctrl-C: a `refsvm.core.engine.limits.Interrupted`, whose
        ``result`` is the solution at the last point reached.

    Notes
    -----
    With shrinking and a callback, the solver updates the gradient of all
    variables at times that differ from run to run. The steps may then differ,
    but the optimum is the same.

    ``cache_dtype="auto"`` starts with float32 rows if shrinking is on, `stop`
    has a tolerance of at least 1e-4, this tolerance is at least ten times
    1.2e-7 C max K, and one of two conditions holds:

    - n ≥ 3,000, the kernel is RBF, and each rule is SecondOrder, NewtonStep,
      PlanningAheadStep, one of their conjugate variants, or KKTGap;
    - n ≥ 10,000, and the budget does not hold all of K.

    Rounding to float32 moves G by about 2.4e-7 max K √Σα², where equal
    examples count as one example with the sum of their α. If the rounding of G
    exceeds the tolerance, the solve continues with float64 rows. If the
    rounding exceeds a tenth of the tolerance, the solver computes in float64
    the entries of G that may determine the KKT gap, and evaluates the stopping
    rule again. With ``cache_dtype="float32"`` the solve keeps float32 rows
    even if the rounding exceeds the tolerance, and warns.
    ``solution.objective_error`` is the effect of the rounding on the
    objective.

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
            f"solve takes a problem, not {shown(problem)}; write solve(DualProblem.classification(X, y, …))."
        )
    with line_of(Progress("solve", kept="the last point"), progress) as line:
        options = RunOptions(
            selector=selector, step=step, stop=stop, engine=engine, shrinking=shrinking, cache_mb=cache_mb,
            cache_dtype=cache_dtype, max_iter=max_iter, time_limit=time_limit, callback=callback, trace=trace,
            polish=polish, progress=line, rows_and_guards=rows_and_guards,
        )  # fmt: skip
        with np.errstate(under="ignore"):
            solution = solved(problem, options, start)
        if line:
            line.end(solution.status.value, solution.kkt_gap, solution.iterations)
    return unless_interrupted("solve", solution)
