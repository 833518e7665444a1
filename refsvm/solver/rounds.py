"""Rounds: many related solves over one kernel matrix.

Leave-one-out, cross-validation, a grid over C and the path are families of problems that share K, v and z and differ in
their box: a left-out example or a fold has L = U = 0, another C scales the box. A round

    sets the box,  moves to its start (α += δ, G −= Kδ),  solves,  reads the result off the state

so that kernel rows are computed once for all rounds, and a round costs little more than its steps.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from refsvm._checks import whole
from refsvm.kernels.rows import KernelRows, RowsOf
from refsvm.problem import DualProblem
from refsvm.result import Solution, Status, Trace
from refsvm.selectors.base import WorkingSetSelector
from refsvm.solver.engine import Engine
from refsvm.solver.handover import EngineMaker, solving
from refsvm.solver.hard_margin import HardMarginEngine
from refsvm.solver.limits import Limits, interruptible, is_interruptible
from refsvm.solver.polish import polish as polish_state
from refsvm.solver.rules import Rules, chosen_rules
from refsvm.solver.run import run_to_the_end
from refsvm.solver.shrinking import ShrinkingEngine, ShrinkingPolicy, fetch_if_few
from refsvm.solver.start import row_dtype, row_store, starting_point, warn_of_rounding
from refsvm.state import SolverState
from refsvm.steps.base import StepRule
from refsvm.stopping.base import StoppingRule

__all__ = ["Rounds"]


class Rounds:
    """Solve a family of problems that share the kernel matrix, v and z, and differ in their box.

    Parameters
    ----------
    problem : DualProblem
        Its box is that of a round that names none.
    selector, step, stop, engine, shrinking, cache_mb, cache_dtype, max_iter, callback, polish
        As in `refsvm.solve`. `max_iter` is a limit for each round.
    time_limit : float, optional
        Seconds for all rounds together.

    Attributes
    ----------
    rows : KernelRows
        The one store of kernel rows.
    state : SolverState
        Where the last round ended. Made by the first round.

    Raises
    ------
    ValueError
        On arguments out of range or rules that do not fit together.

    Notes
    -----
    A round begins with counters and scratch memory of its own. Its steps depend on earlier rounds through the rounding
    of G alone, and not even so if it starts cold or names its `origin`. Not to be shared by threads.

    Examples
    --------
    Brute-force leave-one-out:

    >>> import numpy as np
    >>> from refsvm import RBF, DualProblem, Rounds
    >>> from refsvm.datasets import load
    >>> heart = load("heart")
    >>> problem = DualProblem.classification(heart.X, heart.y, kernel=RBF(0.005), C=1.0)
    >>> rounds, errors = Rounds(problem), 0
    >>> for r in range(problem.n):
    ...     solution = rounds.solve(problem.without(r))
    ...     errors += heart.y[r] * solution.decision_values[r] <= 0
    >>> int(errors)
    40
    """

    state: SolverState

    def __init__(
        self,
        problem: DualProblem,
        *,
        selector: WorkingSetSelector | None = None,
        step: StepRule | None = None,
        stop: StoppingRule | None = None,
        engine: str = "auto",
        shrinking: bool | ShrinkingPolicy = True,
        cache_mb: float = 200.0,
        cache_dtype: str = "auto",
        max_iter: int | None = None,
        time_limit: float | None = None,
        callback: Callable[[SolverState], object] | None = None,
        polish: bool = False,
    ) -> None:
        began = time.perf_counter()
        self._given = problem
        self._limits = Limits(problem.n, max_iter, time_limit, callback)
        self._max_iter = self._limits.max_iter
        self._rules = chosen_rules(selector, step, stop)
        self._policy = shrinking if isinstance(shrinking, ShrinkingPolicy) else ShrinkingPolicy()
        self._shrinks, self._polishes = shrinking is not False, polish
        dtype = row_dtype(cache_dtype, problem.n, cache_mb, self._shrinks)
        self._make = EngineMaker(engine)
        warn_of_rounding(problem.gram, self._rules.stop)
        self.rows: KernelRows = row_store(problem, self._rules, cache_mb, dtype)
        self._engine: Engine | None = None
        self._traced = self._has_warned = False
        self._longest = 0
        self._preparation = time.perf_counter() - began  # counted as part of the first round

    @cached_property
    def problem(self) -> DualProblem:
        """The problem with a Gram matrix that takes its rows from the store, so that none is computed twice."""
        gram = self._given.gram
        stored = gram if gram.dense is not None else RowsOf(self.rows, np.arange(gram.n))
        return self._given.with_gram(stored)

    def boxed(self, lower: np.ndarray, upper: np.ndarray) -> DualProblem:
        """Return the problem of a round, for instance to hand it to a seeder.

        Parameters
        ----------
        lower, upper : ndarrays of shape (n,), float64
            The box.

        Returns
        -------
        DualProblem
            Its ``gram`` reads the stored kernel rows.
        """
        return self.problem.boxed(lower, upper)

    def solve(
        self,
        box: DualProblem | None = None,
        *,
        lower: np.ndarray | None = None,
        upper: np.ndarray | None = None,
        start: Any = None,
        origin: Solution | None = None,
        stop: StoppingRule | None = None,
        max_iter: int | None = None,
        trace: bool | int = False,
    ) -> Solution:
        """Solve one round.

        Parameters
        ----------
        box : DualProblem, optional
            The problem in the box of this round: what `boxed` or ``problem.without(r)`` return.
        lower, upper : ndarrays of shape (n,), float64, optional
            The box itself. Without any, it is that of the problem.
        start : array-like of shape (n,), optional
            Signed α to start from; cold by default. An infeasible start is repaired with a warning.
        origin : Solution, optional
            An earlier round, from whose α and G the start is reached; where the last round ended by default. Results
            are then the same whatever rounds lie between.
        stop : StoppingRule, optional
            The stopping rule of this round.
        max_iter : int, optional
            The limit on the steps of this round.
        trace : bool or int
            Record every step, or every k-th.

        Returns
        -------
        Solution
            With counters of this round alone, and copies of α and G.

        Raises
        ------
        ValueError
            If the box is not a box or that of another problem, holds no α with the sum z, or the start is not a vector
            of n numbers.
        """
        began, self._preparation = self._limits.begin_round() - self._preparation, 0.0
        self._limits.max_iter = self._max_iter if max_iter is None else whole("max_iter", max_iter, 1)
        problem = self._in_box(box, lower, upper)
        rules = self._rules if stop is None else chosen_rules(self._rules.selector, self._rules.step, stop)
        recorder = None if trace is False else Trace(1 if trace is True else trace)
        rows_before, hits_before, inside_block = self.rows.computed, self.rows.hits, is_interruptible()
        with interruptible() as interrupt, solving():
            self._limits.interrupt = interrupt
            cold = start is None and problem.holds_zero
            self._move(problem, None if cold else starting_point(problem, start), origin, rules)
            engine = self._engine_for(problem, rules, recorder)
            status, code = run_to_the_end(engine, self.state, rules.stop, self._limits, recorder)
            if self._polishes and status is Status.CONVERGED:
                polish_state(self.state)
        if (
            interrupt.pressed and not inside_block
        ):  # though it may have converged: who else would tell the caller?
            status, code = Status.INTERRUPTED, 0
        state = self.state
        if state.least_curvature < -1e-8 * state.largest_diagonal:
            self._warn_of_indefinite_kernel()
        solution = Solution(
            problem=problem,
            alpha=state.alpha.copy(),
            gradient=state.gradient.copy(),
            iterations=state.iteration,
            kernel_rows=self.rows.computed - rows_before,
            kernel_hits=self.rows.hits - hits_before,
            status=status,
            reason=rules.stop.reasons[code - 1] if code > 0 else status.value,
            seconds=time.perf_counter() - began,
            engine=", ".join(self._make.used),
            trace=recorder,
        )
        # known here: not to be looked for again
        solution.__dict__["_most_violating"] = state.top, state.bottom, state.gap
        self._longest = solution.__dict__["longest_round"] = max(self._longest, state.iteration)
        return solution

    def _in_box(
        self, box: DualProblem | None, lower: np.ndarray | None, upper: np.ndarray | None
    ) -> DualProblem:
        """Return the problem of a round; a box that is a problem needs no check but that it is this one."""
        given = self._given
        if box is None:
            if lower is None and upper is None:
                return given
            return self.boxed(
                given.lower if lower is None else lower, given.upper if upper is None else upper
            )
        if lower is not None or upper is not None:
            raise ValueError("box and lower or upper are both given; give the one or the other.")
        if not isinstance(box, DualProblem):
            raise ValueError(
                f"box={box!r:.60} is not a DualProblem; pass problem.without(r), or lower and upper."
            )
        stored, grams = self.problem.gram, (given.gram, self.problem.gram)
        if box.v is not given.v or box.z != given.z or not any(box.gram is gram for gram in grams):
            raise ValueError(
                "box is made of another problem; make it of that of these rounds, by boxed or without."
            )
        return box if box.gram is stored else box.with_gram(stored)

    def _move(
        self, problem: DualProblem, start: np.ndarray | None, origin: Solution | None, rules: Rules
    ) -> None:
        """Set the box and bring the state to the start (None: α = 0), by whichever way takes fewer kernel rows."""
        if not hasattr(self, "state"):
            if self._shrinks:
                fetch_if_few(self.rows, self._policy)
            first = np.zeros(problem.n) if start is None or origin is not None else start
            self.state = rules.begin(problem, first, self.rows)
            if start is None or origin is None:
                return
        state = self.state
        if origin is not None and start is not None:
            state.alpha[:], state.gradient[:] = origin.alpha, origin.gradient
            state.updates, state.largest = -state.iteration, float(np.abs(origin.alpha).max())
        elif start is None or np.count_nonzero(start) <= np.count_nonzero(start - state.alpha):
            state.alpha.fill(0.0)
            state.gradient[:] = state.v
            state.updates, state.largest = -state.iteration, 0.0
        if start is not None:
            state.shift(start - state.alpha)
            state.alpha[:] = start
        state.restart(problem.lower, problem.upper, rules.memories(problem))

    def _engine_for(self, problem: DualProblem, rules: Rules, trace: Trace | None) -> Engine:
        """Return the engine of the last round, or a new one where that does not do."""
        usable = self._engine is not None and not (problem.is_open or self._traced or trace is not None)
        if self._engine is not None and usable and self._engine.restart(rules):
            del self._make.used[:-1]  # the last one used goes on
            return self._engine
        self.close()
        self._make.used.clear()
        self._traced = trace is not None
        if self._shrinks:
            self._engine = ShrinkingEngine(self.state, rules, self._make, self._limits, self._policy, trace)
        else:
            self._engine = self._make(self.state, rules, trace)
        if problem.is_open:
            self._engine = HardMarginEngine(self.state, self._engine, balanced=self._given.z == 0.0)
        return self._engine

    def _warn_of_indefinite_kernel(self) -> None:
        """Say so once for all rounds."""
        if not self._has_warned:
            self._has_warned = True
            warnings.warn(
                f"The kernel is not positive semi-definite (a pair has q = {self.state.least_curvature:.3g} < 0); "
                "the result is a stationary point, perhaps not the global optimum.",
                stacklevel=4,
            )

    def close(self) -> None:
        """Release the compiled loop; done when the object is deleted, too. Another round would load it again."""
        if self._engine is not None:
            self._engine.close()
            self._engine = None

    def __del__(self) -> None:
        if getattr(self, "_engine", None) is not None:
            self.close()
