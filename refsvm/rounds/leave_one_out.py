"""leave_one_out: the exact leave-one-out error.

Algorithm 1 of Franc, Laskov & Müller (2008):

    solve on all examples
    decide what the sufficiency checks decide
    for each of the others:  empty its box, start at the seed, go on until the stopping rule is satisfied
    the error is the share of wrong predictions
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

import numpy as np

from refsvm._checks import penalties, positive, positive_or_inf
from refsvm.engine.limits import interruptible
from refsvm.formulations import classification_given, numbered
from refsvm.kernels.matrix import KernelMatrix
from refsvm.kernels.rows import megabytes
from refsvm.problem import DualProblem
from refsvm.result import Solution, Status, Trace
from refsvm.rounds.results import LeaveOneOut
from refsvm.rounds.round import Round, RoundResult
from refsvm.rounds.rounds import Rounds
from refsvm.rounds.sufficiency import CHECKS, Check, chosen_checks, sufficient
from refsvm.seeders import TOP, Seeder
from refsvm.selectors.base import WorkingSetSelector
from refsvm.solver.rules import Rules
from refsvm.steps.base import StepRule
from refsvm.stopping import BallRule, KKTGap, StoppingRule

TRIED: Final = 10
"""Rounds after which a rule that decides early has to have done so in half of them, or is given up: the paper's M."""

ALL_AT_ONCE: Final = 2000
"""Up to this many examples, all kernel rows are computed at once."""

FULL_TOL: Final = 0.1
"""The full solution is that much more exact than the rounds: they begin there, and the checks rest on it."""

BALL: Final = BallRule(relative=True)

PATH_TOL: Final = 1e-8
"""The KKT gap of rounds whose seeds are exact: what does not meet it was not reached by the path alone."""

INTERVAL_SECONDS: Final = 0.02
"""The callback is called no more often."""


def leave_one_out(
    X: Any = None, y: Any = None, *, kernel: Any = None, gram: Any = None, C: float | np.ndarray = 1.0,
    seeder: Seeder | None = None, stop: StoppingRule | None = None, selector: WorkingSetSelector | None = None,
    step: StepRule | None = None, checks: Iterable[str | Check] = CHECKS, efficiency_test: bool = True,
    n_jobs: int | None = None, engine: str = "auto", cache_mb: float = 200.0, max_iter: int | None = None,
    time_limit: float | None = None, callback: Callable[[int, int], object] | None = None, trace: bool | int = False,
) -> LeaveOneOut:  # fmt: skip
    """Predict each example by a machine trained on all others.

    Parameters
    ----------
    X : array-like or CSR of shape (n, d)
        Examples; with ``kernel=Precomputed()`` the (n, n) Gram matrix. Or a `DualProblem` of classification; y, kernel,
        gram and C are then left out.
    y : array-like of shape (n,)
        Two classes, whatever they are called; the larger is the positive one.
    kernel, gram, C
        As in `DualProblem.classification`.
    seeder : Seeder
        Where a round starts; ``TOP()`` by default, which needs the fewest steps. ``ATO(margin=inf, budget=inf)`` walks
        to the optimum without r from event to event; steps of SMO follow only where what is free is singular.
    stop : StoppingRule
        When a round ends; ``BallRule(relative=True)`` by default, ``KKTGap(1e-8, relative=True)`` where the seeder
        walks to the end. The ball proves the sign, in most rounds without a step, and of the decision value nothing
        else: ``KKTGap(1e-3)`` goes on to the value. `LOODualityGap` proves the sign too, but a step with it costs
        several without.
    selector, step
        As in `refsvm.solve`.
    checks : iterable of Check or str
        Which checks may decide without training: some of "zero alpha", "training error", "xi-alpha bound", "ball", or
        your own (`refsvm.rounds.sufficiency.Check`).
    efficiency_test : bool
        Give up a rule for left-out examples that has decided fewer than half of the first ten rounds early. `BallRule`
        is tested too seldom to cost much, and is never given up.
    n_jobs : int, optional
        Threads; −1 for one on each core. Where joblib is set up for processes (``joblib.parallel_config``), processes.
    engine : {"auto", "numba", "numpy"}
        The rounds in compiled code, or readable: same predictions, same α. "auto" begins readable and goes on in
        compiled code once that pays.
    cache_mb : float
        Budget for kernel rows in MiB. Compiled rounds need all n² values in it; otherwise rows are computed on demand.
    max_iter : int, optional
        Limit on the steps of each round.
    time_limit : float, optional
        Seconds for everything.
    callback : callable, optional
        Called with the number of examples decided and n from time to time; a true result ends it.
    trace : bool or int
        Record every step, or every k-th, of each round; the steps are the same.

    Returns
    -------
    LeaveOneOut
        Always: after a limit or Ctrl-C with what is decided so far, ``is_complete`` False and a `status` that says why.

    Raises
    ------
    ValueError
        On arguments out of range, and on more than two classes.

    Notes
    -----
    An example that is alone in its class leaves one class to train on. The machine is then constant, and wrong.
    Examples with C = 0 are predicted by the machine that never used them. Where K is not positive semi-definite the
    checks 2 and 3 and rules for left-out examples prove nothing; ε-KKT decides then, with a warning.

    Examples
    --------
    >>> from refsvm import RBF, leave_one_out
    >>> from refsvm.datasets import load
    >>> heart = load("heart")
    >>> loo = leave_one_out(heart.X, heart.y, kernel=RBF(0.005), C=1.0)
    >>> round(loo.error, 4), loo.is_complete, loo.counts["zero alpha"]
    (0.1444, True, 112)
    """
    began, seeder = time.perf_counter(), Seeder.checked("seeder", TOP() if seeder is None else seeder)
    default = KKTGap(PATH_TOL, relative=True) if seeder.is_exact else BALL
    stop = StoppingRule.checked("stop", default if stop is None else stop)
    kkt = KKTGap(positive(f"the tolerance of stop={stop!r}", stop.tolerance), stop.relative)
    gram, y, C = classification_given(X, y, kernel, gram, C)
    classes, problem = binary_problem(gram, y, C)
    checks, cache_mb = chosen_checks(checks), positive_or_inf("cache_mb", cache_mb)
    rounds = Rounds(
        problem, selector=selector, step=step, stop=KKTGap(kkt.tol * FULL_TOL, relative=True), engine=engine,
        shrinking=problem.gram.dense is None and megabytes(problem.n, problem.n) > cache_mb,
        cache_mb=cache_mb, max_iter=max_iter, time_limit=time_limit, n_jobs=n_jobs,
        cache_dtype="float64", trace=trace,  # what is proved is proved of float64 rows
    )  # fmt: skip
    with interruptible():  # Ctrl-C ends the rounds between two of them
        # 1. solve on all examples, more exactly than the rounds
        found = LOOProgress(rounds, callback, began)
        if found.status is not Status.CONVERGED:
            return found.result(classes)
        warn_if_stalled(found.full, rounds.rules, kkt.tol)
        # 2. the sufficiency checks, those that hold for this kernel
        if not problem.gram.is_psd:
            checks, stop = checks_valid_for_kernel(rounds, checks, stop, kkt)
        found.decided, found.signs, found.values = sufficient(found.full, rounds.rows, checks)
        # 3. for each of the others: empty its box, start at the seed, go on until the rule is satisfied
        stop, rest = stop.with_reference(found.full), [Round(r, "all") for r in found.undecided()]
        tried = TRIED if efficiency_test and stop.left_out and not isinstance(stop, BallRule) else 0
        if tried:
            found.by_rounds(rounds.run(rest[:tried], seeder, stop), stop)
            # efficiency test: half of the first M rounds were decided early, or the rule is given up
            stop = stop if len(rest) <= tried or found.keeps(tried) else kkt
        found.by_rounds(rounds.run(rest[tried:], seeder, stop), stop)
        if seeder.is_exact:
            found.decided[(found.decided == "kkt") & (found.iterations == 0)] = "path"
    # 4. the error is the share of wrong predictions
    return found.result(classes)


def warn_if_stalled(full: Solution, rules: Rules, tol: float) -> None:
    """Say so if the solution on all examples, from which all else follows, is not one."""
    tol *= min(1.0, full.decision_range)
    if full.status is Status.STALLED and full.kkt_gap > tol:
        warnings.warn(
            f"On all examples selector={rules.selector!r} with step={rules.step!r} stalled at ψ = {full.kkt_gap:.3g}, "
            f"above {tol:g}; the checks rest on that solution and may be wrong.",
            stacklevel=3,
        )


class LOOProgress:
    """What is known of the examples so far; it begins with the solution on all of them.

    Parameters
    ----------
    rounds : Rounds
    callback : callable, optional
        Called with the number of examples decided and n.
    began : float
        When the call began.
    """

    def __init__(self, rounds: Rounds, callback: Callable[[int, int], object] | None, began: float) -> None:
        if callback is not None and not callable(callback):
            raise ValueError(f"callback={callback!r} cannot be called; pass a function of two numbers.")
        n = rounds.rows.n
        self._rounds, self._callback, self._began, self._told = rounds, callback, began, -np.inf
        if rounds.rows.holds_all and n <= ALL_AT_ONCE:
            rounds.rows.fetch(np.arange(n))
        self._given = rounds.solve()
        self.full = rounds.solutions["all"] = self._given.where_solved(rounds.problem)
        is_solved = self.full.status in {Status.CONVERGED, Status.STALLED}
        self.status = Status.CONVERGED if is_solved else self.full.status
        self.decided, self.signs, self.values = sufficient(self.full, rounds.rows, ())
        self.iterations, self.early = np.zeros(n, dtype=np.int64), 0
        self.gap_rule_kept: bool | None = None
        self.traces: dict[int, Trace] = {}

    def undecided(self) -> list[int]:
        """Return the examples that nothing has decided yet."""
        return [r for r, name in enumerate(self.decided.tolist()) if not name]

    def by_rounds(self, rounds: Iterator[RoundResult], stop: StoppingRule) -> None:
        """Take over how rounds ended, until a limit, the callback or Ctrl-C ends them."""
        if self.status is not Status.CONVERGED:
            return
        count = len(self.decided) - len(self.undecided())
        for r, value, steps, reason, status, _, _, _, trace in rounds:
            self.iterations[r], count = steps, count + 1
            if status is Status.TIME_LIMIT:
                self.status = status
                break
            name, self.values[r] = stop.outcome(reason, value)
            self.early += name != "kkt"
            self.decided[r] = "limit" if status is Status.MAX_ITER else name
            if trace is not None:
                self.traces[r] = trace
            if self._callback is not None and self._should_end(self._callback, count):
                self.status = Status.CALLBACK
                break
        if self._rounds.status is not Status.CONVERGED:
            self.status = self._rounds.status

    def _should_end(self, callback: Callable[[int, int], object], count: int) -> bool:
        """Tell the callback from time to time how many are decided; return whether it wants to end."""
        now, n = time.perf_counter(), len(self.decided)
        if now < self._told + INTERVAL_SECONDS and count < n:
            return False
        self._told = now
        return bool(callback(count, n))

    def keeps(self, tried: int) -> bool:
        """Whether M_prec/M ≥ 0.5: the rule for left-out examples has decided so many of the first rounds early."""
        if self.status is Status.CONVERGED:
            self.gap_rule_kept = self.early >= tried / 2
        return bool(self.gap_rule_kept)

    def result(self, classes: np.ndarray) -> LeaveOneOut:
        """Return the result, in the names of the classes."""
        decided, rounds = self.decided, self._rounds
        # sign h(xᵣ); ties count as +1
        signs = np.where(np.isnan(self.values), self.signs, np.where(self.values >= 0.0, 1.0, -1.0))
        predictions, labels = (classes[(each > 0.0).astype(int)] for each in (signs, self.full.problem.v))
        return LeaveOneOut(
            predictions=predictions, labels=labels,
            decided_by=decided.astype(str), decision_values=self.values,
            iterations=self.full.iterations + int(self.iterations.sum()), round_iterations=self.iterations,
            kernel_rows=rounds.rows.computed, seconds=time.perf_counter() - self._began, full_solution=self._given,
            status=Status.CONVERGED if (decided != "").all() else self.status, engine=rounds.used or self.full.engine,
            gap_rule_kept=self.gap_rule_kept, traces=self.traces,
        )  # fmt: skip


def checks_valid_for_kernel(
    rounds: Rounds, checks: tuple[Check, ...], stop: StoppingRule, kkt: StoppingRule
) -> tuple[tuple[Check, ...], StoppingRule]:
    """Return the checks and the stopping rule whose proofs hold: most rest on a positive semi-definite K."""
    rows, n = rounds.rows, rounds.rows.n
    convex = rounds.state.least_curvature >= 0.0
    if convex and rows.holds_all and n <= ALL_AT_ONCE:
        rows.fetch(np.arange(n))
        K = rows.values[rows.slots]
        convex = bool(np.linalg.eigvalsh(K)[0] >= -1e-8 * np.abs(K).max())
    if convex:
        return checks, stop
    warnings.warn(
        "The kernel is not positive semi-definite: the checks on training errors and on the xi-alpha bound and "
        "the leave-one-out stopping rule need that, and are not used; each round ends at the KKT gap.",
        stacklevel=3,
    )
    return tuple(check for check in checks if not check.needs_convex), kkt if stop.left_out else stop


def binary_problem(gram: KernelMatrix, y: Any, C: Any) -> tuple[np.ndarray, DualProblem]:
    """Return the names of the two classes, and the problem in which the larger one is 1."""
    classes, codes = numbered(y, gram.n)
    if len(classes) > 2:
        raise ValueError(
            f"y holds {len(classes)} classes and leave_one_out takes two; do it for each pair of classes, or use "
            "scikit-learn's cross_val_predict with LeaveOneOut() and refsvm.SVC()."
        )
    return classes, next(DualProblem._of_pairs(gram, codes, penalties(C, gram.n)))
