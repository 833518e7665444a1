"""Algorithm 1 of Franc, Laskov & Müller (2008): the full solution, the checks, the rounds."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from refsvm.kernels.functions import RBF, Linear, Polynomial
from refsvm.kernels.rows import megabytes
from refsvm.problem import DualProblem
from refsvm.resampling.left_out import STATUSES, can_be_compiled
from refsvm.resampling.parallel import ChunkRunner, in_workers
from refsvm.resampling.result import LeaveOneOut
from refsvm.resampling.sufficiency import sufficient
from refsvm.result import Solution, Status
from refsvm.seeders.base import Seeder
from refsvm.solver.handover import compiled_code_is_due, numba_compiles, numba_is_installed
from refsvm.solver.limits import Interrupt
from refsvm.solver.rounds import Rounds
from refsvm.solver.rules import Rules
from refsvm.stopping.kkt_gap import KKTGap

__all__ = ["Procedure"]

TRIED: Final = 10
"""Rounds after which a rule that decides early has to have done so in half of them, or is given up: the paper's M."""

ALL_AT_ONCE: Final = 2000
"""Up to this many examples, all kernel rows are computed at once."""

FULL_TOL: Final = 0.1
"""The full solution is that much more exact than the rounds: they begin there, and the checks rest on it."""


class Procedure:
    """Algorithm 1, and what is known of the examples so far; the arguments of `leave_one_out`, checked."""

    def __init__(self, problem: DualProblem, rules: Rules, seeder: Seeder, options: dict[str, Any]) -> None:
        self.problem, self.rules, self.seeder, self.options = problem, rules, seeder, options
        self.began = time.perf_counter()
        self.status, self.used = Status.CONVERGED, ""
        self.gap_rule_kept: bool | None = None
        self.interrupt = Interrupt()
        self.full: Solution
        self.decided = np.full(problem.n, "", dtype=object)
        self.values, self.iterations = np.full(problem.n, np.nan), np.zeros(problem.n, dtype=np.int64)
        tol = getattr(rules.stop, "tol", 1e-3)
        self.kkt = KKTGap(tol)
        self.rounds = Rounds(
            problem,
            selector=rules.selector,
            step=rules.step,
            stop=KKTGap(tol * FULL_TOL),
            engine=options["engine"],
            shrinking=problem.gram.dense is None and megabytes(problem.n, problem.n) > options["cache_mb"],
            cache_mb=options["cache_mb"],
            max_iter=options["max_iter"],
            time_limit=options["time_limit"],
        )

    def close(self) -> None:
        """Release the engine."""
        self.rounds.close()

    def run(self, interrupt: Interrupt) -> None:
        """Solve on all examples, check, and train without those that the checks leave undecided."""
        self.interrupt = interrupt
        rows, n = self.rounds.rows, self.problem.n
        if rows.holds_all and n <= ALL_AT_ONCE:
            rows.fetch(np.arange(n))
        self.full = self.rounds.solve()
        if self.full.status not in (Status.CONVERGED, Status.STALLED):
            self.status = self.full.status
            return
        checks = self.options["checks"]
        if not self._is_convex():
            checks = tuple(name for name in checks if name == "zero alpha")
        self._take(sufficient(self.full, rows, checks))
        pending = np.flatnonzero(self.decided == "")
        tried = TRIED if self.options["efficiency_test"] and self.rules.stop.left_out else 0
        if self._train_without(pending[:tried]) and len(pending) > tried > 0:
            # M_prec/M < 0.5: the rule seldom decides early
            self.gap_rule_kept = bool((self.decided[pending[:tried]] == "duality gap").sum() >= tried / 2)
            if not self.gap_rule_kept:
                self.rules = self.rules._replace(stop=self.kkt)
        if self.status is Status.CONVERGED:
            self._train_without(pending[tried:])

    def _is_convex(self) -> bool:
        """Whether K is positive semi-definite, on which checks and rules for left-out examples rest."""
        kernel = getattr(self.problem.gram, "kernel", None)
        if isinstance(kernel, Linear | RBF) or (isinstance(kernel, Polynomial) and kernel.coef0 >= 0.0):
            return True
        rows, convex = self.rounds.rows, self.rounds.state.least_curvature >= 0.0
        if convex and rows.holds_all and self.problem.n <= ALL_AT_ONCE:
            rows.fetch(np.arange(self.problem.n))
            K = rows.values[rows.slots]
            convex = bool(np.linalg.eigvalsh(K)[0] >= -1e-8 * np.abs(K).max())
        if not convex:
            self.rules = self.rules._replace(stop=self.kkt) if self.rules.stop.left_out else self.rules
            warnings.warn(
                "The kernel is not positive semi-definite: the checks on training errors and on the xi-alpha bound and "
                "the leave-one-out stopping rule need that, and are not used; each round ends at the KKT gap.",
                stacklevel=4,
            )
        return convex

    def _take(self, decided: np.ndarray) -> None:
        """Take over what the checks have decided."""
        self.decided = decided
        zero = decided == "zero alpha"
        self.values[zero] = self.full.decision_values[zero]

    def _train_without(self, examples: np.ndarray) -> bool:
        """Run rounds; return whether all are done, or a limit, the callback or Ctrl-C has ended them."""
        for records in self._batches(examples):
            self._note(records)
            if self._should_end():
                return False
        return True

    def _batches(self, examples: np.ndarray) -> Iterator[np.ndarray]:
        """Run rounds, readable ones as long as the engine is "auto" and loading compiled code would not pay."""
        engine = self.options["engine"]
        usable = numba_is_installed() if engine == "numba" else numba_compiles()
        compiles = engine != "numpy" and usable and self._can_be_compiled()
        done = 0
        readable = self._runner(compiled=False)
        while done < len(examples) and compiles and engine == "auto" and not compiled_code_is_due():
            yield readable(examples[done : done + 1])
            done += 1
        runner = self._runner(compiled=True) if compiles else readable
        if done < len(examples):
            self.used = "numba" if compiles else self.full.engine
            yield from in_workers(runner, examples[done:], self.options["workers"])

    def _can_be_compiled(self) -> bool:
        return can_be_compiled(self.rounds.rows, self.rules, self.seeder)

    def _runner(self, compiled: bool) -> ChunkRunner:
        """Return what runs a chunk of rounds by the present rules."""
        options = {
            "compiled": compiled,
            "cache_mb": self.options["cache_mb"],
            "max_iter": self.options["max_iter"],
        }
        return ChunkRunner(self.problem, self.full, self.rules, self.seeder, options, self.rounds)

    def _note(self, records: np.ndarray) -> None:
        """Take over how rounds ended."""
        ended, examples = records["status"], records["example"]
        self.iterations[examples] = records["iterations"]
        for status in (Status.INTERRUPTED, Status.TIME_LIMIT):
            cut_short = ended == STATUSES.index(status)
            if cut_short.any():
                self.status = status
                records, ended, examples = records[~cut_short], ended[~cut_short], examples[~cut_short]
        self.values[examples] = records["decision_value"]
        self.decided[examples] = "kkt"
        self.decided[examples[ended == STATUSES.index(Status.MAX_ITER)]] = "limit"
        if self.rules.stop.left_out:
            self.decided[examples[records["code"] == 2]] = "duality gap"

    def _should_end(self) -> bool:
        """Whether Ctrl-C, the time limit or the callback ends it; says so in the status."""
        limit, callback = self.options["time_limit"], self.options["callback"]
        if self.interrupt.pressed:
            self.status = Status.INTERRUPTED
        elif limit is not None and time.perf_counter() - self.began >= limit:
            self.status = Status.TIME_LIMIT
        elif callback is not None and callback(int((self.decided != "").sum()), self.problem.n):
            self.status = Status.CALLBACK
        return self.status is not Status.CONVERGED

    def result(self, labels: np.ndarray, seconds: float) -> LeaveOneOut:
        """Return the result, predictions in the names of the classes."""
        y, decided = self.problem.v, self.decided
        # sign h(xᵣ); ties count as +1
        signs = np.where(np.isnan(self.values), y, np.where(self.values >= 0.0, 1.0, -1.0))
        signs[decided == "training error"] *= -1.0
        names = {float(sign): label for sign, label in zip(y, labels, strict=True)}
        complete = (decided != "").all()
        return LeaveOneOut(
            predictions=np.array([names[sign] for sign in signs.tolist()], dtype=labels.dtype),
            labels=labels,
            decided_by=decided.astype(str),
            decision_values=self.values,
            iterations=self.full.iterations + int(self.iterations.sum()),
            round_iterations=self.iterations,
            kernel_rows=self.rounds.rows.computed,
            seconds=seconds,
            full_solution=self.full,
            status=Status.CONVERGED if complete else self.status,
            engine=self.used or self.full.engine,
            gap_rule_kept=self.gap_rule_kept,
        )
