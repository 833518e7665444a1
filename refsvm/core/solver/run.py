"""Run: takes the steps of a solve in chunks, until the guards accept a reason to end the solve.

    Until the stopping rule is satisfied, no step gains, or a limit is reached:
        a backend takes a chunk of steps                        (`refsvm.core.solver.shrinking`, `refsvm.core.backend`).
    Each guard reviews the reason to end, and may reject it     (`refsvm.core.guards`).

`refsvm.solve` (through `solved`) and `refsvm.Rounds` both use `Run`.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, Final

import refsvm.core.solver.readable  # noqa: F401  importing this module registers its backend
from refsvm.core.backend import chosen_backend
from refsvm.core.engine.limits import Limits, interruptible
from refsvm.core.guards.base import Guard, Verdict
from refsvm.core.kernels.rows import KernelRows
from refsvm.core.problem import DualProblem
from refsvm.core.result import Ending, Solution, Status, Trace
from refsvm.core.rule import is_builtin
from refsvm.core.solver.hard_margin import INSEPARABLE, HardMargin
from refsvm.core.solver.options import RunOptions
from refsvm.core.solver.rules import Rules, starting_point
from refsvm.core.solver.shrinking import all_variables
from refsvm.core.solver.validated import located, user_code
from refsvm.core.state import NotFiniteError, SolverState
from refsvm.core.stopping.base import StoppingRule

ENDINGS: Final = {-1: Status.STALLED, INSEPARABLE: Status.INSEPARABLE}
"""Status for each negative code of the loop."""

CHUNK_SECONDS: Final = 0.02
"""Target duration of a chunk, in seconds."""


class Run:
    """Takes the steps of one or several solves; enter the run as a context manager around each solve.

    Parameters
    ----------
    problem : DualProblem
    options : RunOptions
    rows : KernelRows, optional
        Kernel rows that the solves share; new rows by default.
    limits : Limits, optional
        Limits of the run; by default the limits in `options`, whose clock starts now.
    reads_values : bool
        True if the caller reads decision values from G; the guards then set a stricter limit for the error of G.

    Attributes
    ----------
    guards : list of refsvm.core.guards.base.Guard
        The guards, in the order in which they check the reason to end the solve.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import RBF, DualProblem
    >>> from refsvm.core.solver.options import RunOptions
    >>> from refsvm.core.solver.run import Run
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([-1, 1, 1, -1])
    >>> problem, options = DualProblem.classification(X, y, kernel=RBF(1.0), C=10.0), RunOptions(engine="numpy")
    >>> with Run(problem, options) as run:
    ...     state = options.rules.begin(problem, np.zeros(4), run.rows)
    ...     run.take_steps(state, options.rules).status.name, state.iteration
    ('CONVERGED', 3)
    """

    def __init__(
        self, problem: DualProblem, options: RunOptions, *, rows: KernelRows | None = None,
        limits: Limits[Any] | None = None, reads_values: bool = False,
    ) -> None:  # fmt: skip
        # make the limits first, because their clock also measures the preparation of the first solve
        self.limits = limits or Limits(problem.n, options.max_iter, options.time_limit, options.callback)
        if limits is None and options.progress is not None:
            self.limits.progress = options.progress
        self.rows, self.guards = options.rows_and_guards(problem, options, self.limits, rows, reads_values)
        self.shrinking, self.backend = options.shrinking, chosen_backend(options.engine)
        # seconds of preparation, which the first solve's time includes
        self._preparation = time.perf_counter() - self.limits.began

    def __enter__(self) -> Run:
        """Begin a solve: count its seconds and kernel rows from now on, and let Ctrl-C end the solve."""
        now = self.limits.last_check = time.perf_counter()
        self._began, self._preparation = now - self._preparation, 0.0
        self._counted = self.rows.computed, self.rows.hits
        self.rows.evaluator.reserve()  # a failed solve may have released the memory of the kernel rows
        # compute rows before installing the Ctrl-C handler: if a kernel raises an error, no `__exit__` removes handlers
        if self.rows.filled < self.rows.capacity:
            self.rows.fetch_if_few(self.shrinking.full_gram_up_to)
        self._block = interruptible()
        self.limits.interrupt = self._block.__enter__()
        return self

    def __exit__(self, *failure: object) -> None:
        self._block.__exit__(*failure)

    def take_steps(
        self, state: SolverState, rules: Rules, trace: int = False, shrinks: bool = True
    ) -> Ending:
        """Take steps on this state until the stopping rule, a limit or Ctrl-C ends the solve; return an `Ending`.

        Parameters
        ----------
        state : SolverState
            The state to start from; the method moves it to the last point reached.
        rules : Rules
            The selector, the step rule and the stopping rule.
        trace : bool or int
            True records every step; a number k records every k-th step.
        shrinks : bool
            False disables shrinking.
        """
        # the solution must name the engines of its own steps, not the engines of an earlier solve
        self.backend.used.clear()
        self.limits.was_asked = False
        recorder = None if trace is False else Trace(1 if trace is True else trace)
        are_ours = all(map(is_builtin, map(type, rules)))
        guards = [guard for guard in self.guards if not (are_ours and guard.for_users_rules)]
        with located(state, rules):
            verdict = self._until_stopped(state, rules, guards, recorder, shrinks and bool(self.shrinking))
        for guard in guards:
            guard.after(state, rules, verdict)
        self.rows, (status, code) = state.rows, verdict
        if self._block.pressed:  # report Ctrl-C even if the solve has converged
            status, code = Status.INTERRUPTED, 0
        return Ending(
            self.rows.computed - self._counted[0], self.rows.hits - self._counted[1],
            status, rules.stop.reasons[code - 1] if code > 0 else status.value,
            time.perf_counter() - self._began, ", ".join(self.backend.used) or self.backend.name, recorder,
            max(guard.error for guard in guards),
        )  # fmt: skip

    def _until_stopped(
        self, state: SolverState, rules: Rules, guards: list[Guard], trace: Trace | None, shrinks: bool
    ) -> Verdict:
        """Take chunks of steps until a stopping rule or a limit gives a reason to end that no guard rejects."""
        # begin with few steps, because the time of a step is not known
        limits, chunk, is_first = self.limits, 16, True
        take: Callable[..., int] = partial(
            self.shrinking.steps if shrinks else all_variables, self.backend, limits
        )
        in_chunks = not shrinks and not state.problem.is_open
        if state.problem.is_open:
            take = HardMargin(state, take).steps
        while True:
            # call no guard after a chunk whose length depends on the clock, because results would vary
            if is_first or not in_chunks:
                for guard in guards:
                    if ended := guard.before(state, rules):
                        return ended
            began, left, is_first = time.perf_counter(), limits.most - state.iteration, False
            code = _finite(take, state, rules, min(chunk, left) if in_chunks else left, trace)
            if code is None:
                return Verdict(Status.NOT_FINITE)
            now = time.perf_counter()
            if trace is not None:
                trace.stamp(began - self._began, now - self._began)
            # ignore a limit that was reached in the same step in which the stopping rule was satisfied
            code = code or rules.stop.check(state)
            if not is_builtin(type(rules.stop)):
                code = user_code(rules.stop, state, code, ENDINGS if state.problem.is_open else (-1,))
            status = ENDINGS.get(code, Status.CONVERGED) if code else limits.reached(state, state.iteration)
            if status is None:
                # the clock decides only how often a callback is called; it does not change any step
                chunk = int(min(max(chunk * CHUNK_SECONDS / (now - began), chunk / 2, 16), chunk * 4, 1e9))
                continue
            verdict: Verdict | None = Verdict(status, max(code, 0))
            for guard in guards:
                verdict = verdict and guard.review(state, rules, verdict)
            if verdict is not None:
                return verdict

    def needs_solutions(self, problem: DualProblem) -> bool:
        """Return True if a guard must check the solutions of rounds that compiled code solves."""
        return any(guard.needs_solutions(self.rows.gram, problem.fixed_noise) for guard in self.guards)

    def review_solution(self, solved: Solution, stop: StoppingRule) -> None:
        """Let the guards check the solution of a round that compiled code has solved."""
        for guard in self.guards:
            guard.review_solution(solved, stop)


def _finite(take: Callable[..., int], state: SolverState, *arguments: Any) -> int | None:
    """Take a chunk of steps and return its code, or None if a number is not finite, so that NaN ends the solve."""
    with suppress(NotFiniteError):
        code = take(state, *arguments)
        if math.isfinite(state.objective + float(state.gradient.sum())):
            return code
    return None


def solved(problem: DualProblem, options: RunOptions, start: Any = None) -> Solution:
    """Solve a problem, starting from the signed α in `start` (by default near α = 0), and return the solution."""
    with Run(problem, options) as run:
        state = options.rules.begin(problem, starting_point(problem, start), run.rows)
        # --- take steps until a rule or a limit ends the solve ---
        ending = run.take_steps(state, options.rules, options.trace)
        if not run.limits.was_asked:  # call the callback at least once, even if no step was needed
            run.limits.ask(state)
    return Solution.read(problem, state, ending)
