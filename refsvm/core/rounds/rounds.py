"""Rounds: many related solves that share one kernel matrix.

Leave-one-out, cross-validation and a grid over C solve problems that share K, v and z and differ only in their box. A
round that leaves out examples sets L = U = 0 for these examples, and a round with a different C multiplies all bounds.
For each round, `Rounds` sets the box, moves to the start (α += δ, G −= Kδ), solves, and reads the result. All rounds
share the kernel rows, so that a round costs little more than its steps.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from copy import copy
from dataclasses import replace
from functools import partial
from typing import Any, Final

import numpy as np

from refsvm.core._checks import ArrayLike, whole
from refsvm.core.doors import DOORS
from refsvm.core.engine.limits import Deadline, Limits, interruptible, unless_interrupted
from refsvm.core.engine.progress import Progress
from refsvm.core.kernels.rows import KernelRows
from refsvm.core.problem import DualProblem
from refsvm.core.result import Solution, Status
from refsvm.core.rounds.round import LATEST, Round, RoundResult
from refsvm.core.rounds.runner import Runner
from refsvm.core.seeders import Cold, Seeder
from refsvm.core.selectors.base import WorkingSetSelector
from refsvm.core.shown import Shown
from refsvm.core.solver.options import RunOptions
from refsvm.core.solver.rules import Rules, starting_point
from refsvm.core.solver.run import Run
from refsvm.core.solver.shrinking import Shrinking
from refsvm.core.state import SolverState
from refsvm.core.steps.base import StepRule
from refsvm.core.stopping.base import StoppingRule
from refsvm.core.stopping.kkt_gap import KKTGap

RELATIVE: Final = KKTGap(relative=True)


class Rounds(Shown):
    """Solve a family of problems that share the kernel matrix, v and z, and differ only in their box.

    Parameters
    ----------
    problem : DualProblem
        The common problem, whose box is the default box of a round.
    selector, step, stop, engine, shrinking, cache_mb, cache_dtype, max_iter,
    callback, polish
        As in `refsvm.solve`, except that the default of `stop` is
        ``KKTGap(relative=True)`` and `max_iter` limits each round.
    time_limit : float, optional
        Seconds for all rounds together.
    trace : bool or int
        True records every step of the rounds of `run`; a number k records
        every k-th step. With a trace, each worker runs rounds one by one.
    n_jobs : int, optional
        Number of workers that share the rounds of `run`, −1 for one worker per
        core. Workers are threads, or processes if joblib is set up for them
        (``joblib.parallel_config``).

    Attributes
    ----------
    rows : KernelRows
        The kernel rows that all rounds share.
    problem : DualProblem
        The common problem, with a kernel matrix that reads `rows`, so that no
        row is computed twice.
    solutions : dict of names to Solution
        The solutions that rounds have kept under a name (``Round.keep``), from
        which other rounds can start (``Round.origin``).
    state : SolverState
        The state at the end of the last round; the first round makes the state.
    status : Status
        CONVERGED, or the reason why a run ended early: INTERRUPTED (by Ctrl-C), CALLBACK or TIME_LIMIT.

    Raises
    ------
    ValueError
        If an argument is out of range, or if the selector and the step rule cannot be combined.

    Notes
    -----
    Each round begins with new counters and new scratch memory. The steps of a round depend on earlier rounds only
    through rounding errors of G. If a round starts at α = 0 or names its `origin`, its steps do not depend on earlier
    rounds. Threads must not share an object of this class.

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
        self, problem: DualProblem, *, selector: WorkingSetSelector | None = None, step: StepRule | None = None,
        stop: StoppingRule | None = None, engine: str = "auto", shrinking: bool | Shrinking = True,
        cache_mb: float = 200.0, cache_dtype: str = "auto", max_iter: int | None = None,
        time_limit: float | Deadline | None = None, callback: Callable[[Progress], object] | None = None,
        polish: bool = False, trace: bool | int = False, n_jobs: int | None = None,
    ) -> None:  # fmt: skip
        self._begin(problem, RunOptions(
            selector=selector, step=step, stop=RELATIVE if stop is None else stop, engine=engine, shrinking=shrinking,
            cache_mb=cache_mb, cache_dtype=cache_dtype, max_iter=max_iter, time_limit=time_limit, callback=callback,
            polish=polish, trace=trace, n_jobs=n_jobs,
        ))  # fmt: skip

    def _line(self) -> str:
        name = self.problem.gram.kernel_name
        return f"n={self.problem.n}, {name}; {len(self.solutions)} solutions kept, {self.status.name}"

    @classmethod
    def of(cls, problem: DualProblem, options: RunOptions) -> Rounds:
        """Make a `Rounds` object from a problem and from options that were checked before."""
        rounds = object.__new__(cls)
        rounds._begin(problem, options)
        return rounds

    def _begin(self, problem: DualProblem, options: RunOptions) -> None:
        """Make the memory for kernel rows and start the clock."""
        self.options, self.rules, self.workers = options, options.rules, DOORS.workers(options.n_jobs)
        self.solutions: dict[Hashable, Solution] = {}
        self.status, self.used = Status.CONVERGED, ""
        # number of steps of the longest round, and of the first round
        self.most_iterations, self.first_iterations = 0, 0
        self._given, self._is_centred = problem, problem.centred is not problem
        self._set_run()
        self.max_iter, self.problem = self.limits.most, problem.with_gram(self.rows)
        self._grams = [problem.gram, self.rows]  # the kernel matrices that problems of these rounds may have

    def _set_run(self, rows: KernelRows | None = None, limits: Limits[SolverState] | None = None) -> None:
        """Make the `Run` that solves all rounds; tell it that decision values are computed from its G."""
        self._run = Run(self._given, self.options, rows=rows, limits=limits, reads_values=True)
        self.rows, self.limits, self.backend = self._run.rows, self._run.limits, self._run.backend

    def boxed(self, lower: np.ndarray, upper: np.ndarray) -> DualProblem:
        """Return the problem with another box, for example for a seeder.

        Parameters
        ----------
        lower, upper : ndarrays of shape (n,), float64
            Bounds of the box.

        Returns
        -------
        DualProblem
            The problem; its ``gram`` reads the stored kernel rows.
        """
        return self.problem.boxed(lower, upper)

    def clone_for_worker(self) -> Rounds:
        """Return a copy for another worker; the copy shares the kernel rows and has its own state and engine."""
        other = object.__new__(Rounds)
        other.__dict__.update({name: value for name, value in self.__dict__.items() if name != "state"})
        # give the copy no workers: if a worker divided its rounds again, workers would wait for each other
        other.workers, other.solutions, other._grams = None, self.solutions.copy(), self._grams.copy()
        # the copy has its own run, because the data of a run belong to one thread
        other._set_run(self.rows, copy(self.limits))
        return other

    def with_shrinking(self) -> Rounds:
        """Return a copy that shares the kernel rows; its rounds use shrinking and one final exact step (`polish`)."""
        other = self.clone_for_worker()
        other.workers, other.options = self.workers, replace(self.options, shrinking=True, polish=True)
        other._set_run(other.rows, other.limits)
        return other

    def __reduce__(self) -> Any:
        """Pickle the rounds without kernel rows; unpickled rounds compute the rows again."""
        # rows may take gigabytes: computing them again is faster than pickling them
        anew = partial(Rounds.of, self._given, replace(self.options, n_jobs=1))
        return _from_pickle, (anew, self.solutions, self.first_iterations)

    def __enter__(self) -> Rounds:
        """Open a block in which Ctrl-C ends the rounds and raises KeyboardInterrupt at the end of the block."""
        self._block = interruptible()
        self._block.__enter__()
        return self

    def __exit__(self, *failure: object) -> None:
        self._block.__exit__(*failure)
        if failure[0] is None:
            unless_interrupted("A block of rounds", self, self._block.pressed)

    def run(
        self, rounds: Iterable[Round], seeder: Seeder | None = None, stop: StoppingRule | None = None, *,
        time_seeds: bool = False, proves: bool = False,
    ) -> Iterator[RoundResult]:  # fmt: skip
        """Run rounds in order; the seeder computes the start of each round from the solution that the round names.

        If all kernel rows are in memory and every rule has a compiled version,
        compiled code runs several rounds in one call, and several workers may
        divide the rounds among themselves. The α of each round is the same bit
        for bit in NumPy and in compiled code; with several workers, only the
        order in which rounds end may vary.

        Parameters
        ----------
        rounds : iterable of Round
            The rounds to run.
        seeder : Seeder, optional
            The seeder, `Cold` by default.
        stop : StoppingRule, optional
            The stopping rule of these rounds; by default the rule of this
            object.
        time_seeds : bool
            True measures the time for seeds separately from the time for
            steps.
        proves : bool
            If True, each round tries to prove the sign of h at its left-out
            example (``RoundResult.sign``). ``proves=True`` is only valid for
            classification with one left-out example in each round.

        Yields
        ------
        RoundResult
            The result of each round. Ctrl-C ends the rounds and raises
            KeyboardInterrupt. In a block ``with rounds:``, the error
            follows at the end of the block.

        Examples
        --------
        >>> from refsvm import RBF, TOP, DualProblem, Rounds
        >>> from refsvm.datasets import load
        >>> from refsvm.core.rounds.round import Round
        >>> heart = load("heart")
        >>> rounds = Rounds(DualProblem.classification(heart.X, heart.y, kernel=RBF(0.005)))
        >>> rounds.solutions["all"] = rounds.solve()
        >>> ended = rounds.run([Round(r, origin="all") for r in range(heart.n)], TOP())
        >>> int(sum(heart.y[each.left_out] * each.values <= 0 for each in ended))
        39
        """
        rules = self.rules if stop is None else self.rules._replace(stop=StoppingRule.checked("stop", stop))
        # convert solutions that the caller stored: their data may not be centred
        for name, solution in self.solutions.items():
            self.solutions[name] = solution.in_solver_coordinates(self._stored(solution.problem))
        runner = Runner(self, Cold() if seeder is None else seeder, rules, time_seeds, proves)
        if not self._run.needs_solutions(self.problem):  # the guards need no solutions of compiled rounds
            return self._unless_interrupted(runner.run(rounds))
        plan = (each if each.keep is not None else each._replace(keep=LATEST) for each in rounds)
        return self._unless_interrupted(self._reviewed(runner.run(plan), rules.stop))

    def _unless_interrupted(self, ended: Iterator[RoundResult]) -> Iterator[RoundResult]:
        """Yield the results; raise KeyboardInterrupt if Ctrl-C ended the rounds outside a ``with`` block."""
        yield from ended
        unless_interrupted("Rounds.run", self)

    def _reviewed(self, ended: Iterator[RoundResult], stop: StoppingRule) -> Iterator[RoundResult]:
        """Yield the results; then let the guards check the rounding errors of the kept solutions."""
        # after all rounds, check every kept solution, because rounding errors of decision values depend on α
        yield from ended
        for solution in self.solutions.values():
            self._run.review_solution(solution, stop)
        self.solutions.pop(LATEST, None)

    def solve(
        self, box: DualProblem | None = None, *, lower: np.ndarray | None = None, upper: np.ndarray | None = None,
        start: ArrayLike = None, origin: Solution | None = None, stop: StoppingRule | None = None,
        max_iter: int | None = None, trace: bool | int = False,
    ) -> Solution:  # fmt: skip
        """Solve one round.

        Parameters
        ----------
        box : DualProblem, optional
            The problem with the box of this round, made by `boxed` or
            ``problem.without(r)``.
        lower, upper : ndarrays of shape (n,), float64, optional
            The bounds, in place of `box`. Without a box or bounds, the round
            uses the box of the common problem.
        start : array-like of shape (n,), optional
            Signed α to start from; by default a feasible α near 0. If the start
            is infeasible, the method repairs it and warns.
        origin : Solution, optional
            An earlier solution, by default the end of the last round. The
            method computes the gradient at the start from the G of this
            solution.
        stop : StoppingRule, optional
            The stopping rule of this round.
        max_iter : int, optional
            The largest number of steps of this round.
        trace : bool or int
            True records every step; a number k records every k-th step.

        Returns
        -------
        Solution
            The solution; its counts are the steps and kernel rows of this round,
            and its α and G are copies.

        Raises
        ------
        ValueError
            If `box` belongs to another problem, if no α in the box has the sum
            z, or if the start is not a vector of n numbers.
        """
        most = self.max_iter if max_iter is None else whole("max_iter", max_iter, 1)
        rules = self.rules if stop is None else self.rules._replace(stop=StoppingRule.checked("stop", stop))
        is_given = box is None and lower is None and upper is None
        problem = self._given if is_given else self._in_box(box, lower, upper)
        start = None if start is None else starting_point(problem, start)
        origin = None if origin is None else origin.in_solver_coordinates(problem)
        solution = self.steps(problem, start, origin, rules, most, trace=trace)
        if not self.limits.was_asked:
            self.limits.ask(self.state)
        solution = solution.of(problem.with_gram(self._given.gram)) if self._is_centred else solution
        return unless_interrupted("Rounds.solve", solution)

    def steps(
        self, problem: DualProblem, start: ArrayLike, origin: Solution | None, rules: Rules, most: int, *,
        shrinks: bool = True, trace: bool | int = False,
    ) -> Solution:  # fmt: skip
        """Solve one round with arguments that were checked before; see `solve`.

        Parameters
        ----------
        problem : DualProblem
            The problem with the box of this round; its kernel matrix reads the shared rows.
        start, origin, rules, most, trace
            As in `solve`, but without defaults.
        shrinks : bool
            If False, the solver takes steps on all variables, even if other rounds shrink.
        """
        self.limits.most = most
        with self._run as run, np.errstate(under="ignore"):
            # --- set the box and move to the start (None: α = 0): α += δ, G −= Kδ ---
            if start is None and not problem.zero_is_feasible:
                start = starting_point(problem, None)
            if not hasattr(self, "state"):
                # if `origin` is given, begin at α = 0: `restart` moves to the start and computes G from `origin`
                first = start if start is not None and origin is None else np.zeros(problem.n)
                self.state = rules.begin(problem, first, self.rows)
            known = None if origin is None else (origin.alpha, origin.gradient)
            self.state.restart(problem, start, rules.memories(problem), known)
            # --- take steps until a rule or a limit ends the solve ---
            ending = run.take_steps(self.state, rules, trace, shrinks=shrinks)
        if run.rows is not self.rows:
            problem = self._take_over(run.rows, problem)
        solution = Solution.read(problem, self.state, ending, self.most_iterations)
        self.most_iterations = solution.longest_round
        return solution

    def _take_over(self, rows: KernelRows, problem: DualProblem) -> DualProblem:
        """Use the more exact rows of a guard in all later rounds; return the problem of this round with these rows."""
        self.rows, self.problem = rows, self.problem.with_gram(rows)
        self._grams.append(rows)
        self.state.problem = problem.with_gram(rows)
        # kept solutions need a G from the new rows, or seeds would carry the old rounding errors into every round
        for name, solved in self.solutions.items():
            own = solved.problem.with_gram(rows)
            self.solutions[name] = replace(
                solved, problem=own, gradient=own.gradient(solved.alpha), rounding=0.0
            )
        return self.state.problem

    def _in_box(
        self, box: DualProblem | None, lower: np.ndarray | None, upper: np.ndarray | None
    ) -> DualProblem:
        """Return the problem of a round, after checking that `box` belongs to these rounds."""
        common = self._given
        if box is None:
            return self.boxed(
                common.lower if lower is None else lower, common.upper if upper is None else upper
            )
        if lower is not None or upper is not None:
            raise ValueError("box and lower or upper are both given; give either box, or lower and upper.")
        if not isinstance(box, DualProblem):
            raise ValueError(
                f"box={box!r:.60} is not a DualProblem; pass problem.without(r), or lower and upper."
            )
        # compare identities, not numbers: comparing matrices would cost more than the round
        if box.v is not common.v or box.z != common.z or not any(box.gram is gram for gram in self._grams):
            raise ValueError(
                "box was made from another problem; make it with boxed() or without() of the problem of these rounds."
            )
        return self._stored(box)

    def _stored(self, problem: DualProblem) -> DualProblem:
        """Return the problem of a round with a kernel matrix that reads the shared rows."""
        return problem if problem.gram is self.problem.gram else problem.with_gram(self.problem.gram)

    def close(self) -> None:
        """Release the compiled loop before this object is deleted; a later round loads the loop again."""
        if hasattr(self, "state"):
            self.state.session = None


def _from_pickle(anew: Callable[[], Rounds], solutions: dict[Hashable, Solution], first: int) -> Rounds:
    """Unpickle rounds of another process."""
    rounds = anew()
    rounds.first_iterations = first
    rounds.solutions.update(solutions)
    return rounds
