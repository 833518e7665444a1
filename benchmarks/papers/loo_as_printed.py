"""Algorithm 1 of Franc, Laskov & Müller (2008) as it is printed, from the public parts of this package."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scanned_gap import ScannedGap

from refsvm import (
    AVG,
    RBF,
    ImprovedSMO,
    KKTGap,
    LOODualityGap,
    MostViolatingPair,
    NewtonStep,
    Rounds,
    Solution,
    Status,
    TrainingError,
    XiAlphaBound,
    ZeroAlpha,
    leave_one_out,
)
from refsvm.core.kernels.rows import KernelRows
from refsvm.core.rounds.sufficiency import largest_distance, sufficient
from refsvm.experiment import Grid, Strategy
from refsvm.experiment.problem import Instance
from refsvm.experiment.strategy import one_thread

__all__ = [
    "AgainstOptimum",
    "AsPrinted",
    "BothAsPrinted",
    "FullSolution",
    "ThirdCheck",
    "columns_counted",
    "signs_compared",
    "solved_at_last",
    "table_3_as_printed",
    "third_check",
]


@dataclass(frozen=True)
class PrintedBound(XiAlphaBound):
    """Check 3 of Table 1 as printed: 2αᵣR² + ξᵣ < 1, and one free support vector, which may be r itself."""

    def decide(self, full: Solution, rows: KernelRows) -> np.ndarray:
        """Compare 2|α|R² + ξ with 1."""
        problem, alpha, y = full.problem, full.alpha, full.problem.v
        free = (alpha > problem.lower) & (alpha < problem.upper)
        radius = largest_distance(rows) if free.any() else np.inf
        if radius == np.inf:
            return np.zeros(problem.n)
        slack = np.maximum(0.0, 1.0 - y * full.decision_values)
        return np.where(2.0 * np.abs(alpha) * radius + slack < 1.0, y, 0)


TABLE_1 = ZeroAlpha(), TrainingError(), PrintedBound()
TRIED = 10
"""M of the efficiency test."""

FEW_ROWS = 4
"""A store of so few rows: nearly every kernel column that a step reads is computed, and counted."""


@dataclass(frozen=True)
class AsPrinted(Strategy):
    """The leave-one-out error by the standard approach or by the proposed one.

    The full solution and the rounds are solved to the ε-KKT conditions (8): each holds up to ε, so ψ ≤ 2ε. α is seeded
    from the full solution, `AVG`.

    Parameters
    ----------
    proposed : bool
        Algorithm 3 in the rounds, one variable of η a step, as long as M_Prec/M is not below 0.5; else Algorithm 2.
    epsilon : float
        ε of (8).
    train : int
        Training examples: the first of the order. The others are for testing.
    counted : bool
        Count kernel columns with a store of the fewest rows, which takes long.
    max_iter : int
        Most steps of a solve.
    improved : bool
        Improved SMO, the solver of the paper, for α and η; else the most violating pair, and the η that gains most.
    """

    proposed: bool = False
    epsilon: float = 1e-3
    train: int = 150
    counted: bool = False
    max_iter: int = 2_000_000
    improved: bool = False

    def run(self, instance: Instance) -> dict[str, Any]:
        """Solve, check, train without the others."""
        m = min(self.train, len(instance.y) - 1)
        part = replace(instance, X=instance.X[:m], y=instance.y[:m])
        with one_thread():
            began, cpu = time.perf_counter(), time.process_time()
            record = self._algorithm_1(part, instance.X[m:], instance.y[m:])
            return record | {"seconds": time.perf_counter() - began, "cpu": time.process_time() - cpu}

    def _algorithm_1(self, instance: Instance, others: np.ndarray, labels: np.ndarray) -> dict[str, Any]:
        problem, kkt = instance.dual(), KKTGap(2.0 * self.epsilon)
        selector = ImprovedSMO(kkt.tol) if self.improved else MostViolatingPair()
        rounds = Rounds(
            problem, selector=selector, step=NewtonStep(), stop=kkt, engine="numba", shrinking=False,
            max_iter=self.max_iter, cache_dtype="float64",
            cache_mb=(FEW_ROWS + 0.1) * 8 * problem.n / 2**20 if self.counted else 200.0,
        )  # fmt: skip
        # Step 1
        full = rounds.solve()
        if full.status is not Status.CONVERGED:
            return {"error": None, "iterations": full.iterations}
        if not self.counted:
            rounds.rows.fetch(np.arange(problem.n))  # for R² of check 3
        values = selector.kernel_values(rounds.state) if self.improved else 0
        # Step 2
        decided = sufficient(full, rounds.rows, TABLE_1)[0]
        wrong = int((decided == "training error").sum())
        # Step 3
        gap_rule = ScannedGap if self.improved else LOODualityGap
        rule = gap_rule(kkt.tol, variables=1) if self.proposed else kkt
        pending, early, steps, columns, cut = np.flatnonzero(decided == ""), 0, 0, full.kernel_rows, 0
        gamma_steps, seeder = 0, AVG()
        for done, r in enumerate(pending.tolist()):
            if done == TRIED and rule is not kkt and early < TRIED / 2:
                rule = kkt
            box = problem.without(r)
            found = rounds.solve(box, start=seeder.seed(full, box), origin=full, stop=rule)
            proved = rule is not kkt and found.reason == rule.reasons[1]
            early, cut = early + proved, cut + (found.status is not Status.CONVERGED)
            steps, columns = steps + found.iterations, columns + found.kernel_rows
            gamma_steps += found.iterations if rule is not kkt else 0
            if self.improved:
                values += selector.kernel_values(rounds.state, solved=not proved)
                values += rule.kernel_values(rounds.state) if rule is not kkt else 0
            wrong += bool((found.decision_values[r] >= 0.0) != (instance.y[r] > 0.0))
        h = instance.kernel(others, instance.X) @ full.alpha + full.intercept
        return {
            "error": wrong / problem.n, "wrong": wrong, "test_error": float(((h >= 0.0) != (labels > 0.0)).mean()),
            "iterations": full.iterations + steps, "full_iterations": full.iterations, "gamma_steps": gamma_steps,
            "rounds": len(pending), "early": early, "cut": cut, "columns": columns,
            "kept": rule is not kkt, "values": values / problem.n,
        }  # fmt: skip


EXACT, TIE = KKTGap(1e-10), 1e-7
"""The KKT gap of the optimum, and the |h| below which its sign is not asked for."""


@dataclass(frozen=True)
class AgainstOptimum(Strategy):
    """The sign of each round of Algorithm 3, and of `leave_one_out`, compared with that of the optimum."""

    train: int = 150
    epsilon: float = 1e-3
    max_iter: int = 2_000_000

    def run(self, instance: Instance) -> dict[str, Any]:
        """Solve, check, train without each of the others, by F < H and to the optimum."""
        m = min(self.train, len(instance.y) - 1)
        problem, kkt = (
            replace(instance, X=instance.X[:m], y=instance.y[:m]).dual(),
            KKTGap(2.0 * self.epsilon),
        )
        rule, seeder, counts = LOODualityGap(kkt.tol, variables=1), AVG(), Counter[str]()
        with one_thread():
            options: dict[str, Any] = {"engine": "numba", "max_iter": self.max_iter, "cache_dtype": "float64"}
            rounds = Rounds(
                problem, selector=MostViolatingPair(), step=NewtonStep(), stop=kkt, shrinking=False, **options
            )
            full, exact, loo = rounds.solve(), Rounds(problem, stop=EXACT, **options), leave_one_out(problem)
            rounds.rows.fetch(np.arange(problem.n))
            for r in np.flatnonzero(sufficient(full, rounds.rows, TABLE_1)[0] == "").tolist():
                box = problem.without(r)
                found = rounds.solve(box, start=seeder.seed(full, box), origin=full, stop=rule)
                h = float(exact.solve(box, start=found.alpha).decision_values[r])
                by = "F < H" if found.reason == rule.reasons[1] else "ψ ≤ 2ε"
                differs = abs(h) > TIE and (found.decision_values[r] >= 0.0) != (h >= 0.0)
                counts += Counter({by: 1, f"{by}, other": int(differs)})
                counts["leave_one_out, other"] += int(abs(h) > TIE and loo.predictions[r] != np.sign(h))
        names = ("F < H", "F < H, other", "ψ ≤ 2ε", "ψ ≤ 2ε, other", "leave_one_out, other")
        return {name: counts[name] for name in names}


@dataclass(frozen=True)
class ThirdCheck(Strategy):
    """What the third check decides beyond the first two, ours and as printed, and whether the rest is right."""

    train: int = 150
    epsilon: float = 1e-3
    max_iter: int = 2_000_000

    def run(self, instance: Instance) -> dict[str, Any]:
        """Solve, check, and train without each example that only the printed check decides."""
        m = min(self.train, len(instance.y) - 1)
        problem = replace(instance, X=instance.X[:m], y=instance.y[:m]).dual()
        with one_thread():
            rounds = Rounds(problem, stop=KKTGap(2.0 * self.epsilon), engine="numba", max_iter=self.max_iter)
            full = rounds.solve()
            if full.status is not Status.CONVERGED:
                return {"ours": None}
            rounds.rows.fetch(np.arange(problem.n))
            open_ = sufficient(full, rounds.rows, TABLE_1[:2])[0] == ""
            ours, printed = (
                open_ & (check.decide(full, rounds.rows) != 0) for check in (XiAlphaBound(), PrintedBound())
            )
            rest, right = np.flatnonzero(printed & ~ours), 0
            for r in rest.tolist():
                box = problem.without(r)
                found = rounds.solve(box, start=AVG().seed(full, box), origin=full)
                right += bool(found.decision_values[r] * problem.v[r] > 0.0)
        return {
            "open": int(open_.sum()), "ours": int(ours.sum()), "printed": int(printed.sum()), "rest": len(rest),
            "right": right, "dropped": int((ours & ~printed).sum()),
        }  # fmt: skip


@dataclass(frozen=True)
class BothAsPrinted(Strategy):
    """The standard and the proposed approach one after the other, so that their seconds can be compared."""

    train: int = 150
    counted: bool = False
    max_iter: int = 5_000_000
    improved: bool = False

    def warm_up(self) -> None:
        """Load compiled code."""
        X, y = np.arange(8.0)[:, None], np.array([-1.0, 1.0, 1.0, -1.0, 1.0, -1.0, 1.0, -1.0])
        replace(self, train=6).run(Instance(X, y, RBF(1.0), 1.0))

    def run(self, instance: Instance) -> dict[str, Any]:
        """Run both."""
        record = {}
        for name in ("standard", "proposed"):
            own = AsPrinted(
                "", name == "proposed", train=self.train, counted=self.counted, max_iter=self.max_iter,
                improved=self.improved,
            ).run(instance)  # fmt: skip
            record |= {f"{name}: {key}": value for key, value in own.items()}
        return record


@dataclass(frozen=True)
class FullSolution(Strategy):
    """Steps of the paper's solver to the solution on all examples."""

    train: int = 150
    epsilon: float = 1e-3
    max_iter: int = 5_000_000

    def run(self, instance: Instance) -> dict[str, Any]:
        """Solve once."""
        m = min(self.train, len(instance.y) - 1)
        problem = replace(instance, X=instance.X[:m], y=instance.y[:m]).dual()
        with one_thread():
            found = Rounds(
                problem, selector=MostViolatingPair(), step=NewtonStep(), stop=KKTGap(2.0 * self.epsilon),
                engine="numba", shrinking=False, max_iter=self.max_iter,
            ).solve()  # fmt: skip
        return {"iterations": found.iterations, "solved": found.status is Status.CONVERGED}


def table_3_as_printed(
    names: Sequence[str],
    records: dict[str, list[dict[str, Any]]],
    published: dict[str, tuple[float, float, float]],
) -> Grid:
    """Speed-ups of the proposed approach, and how often it decided; summed over the models of each set."""
    rows = []
    for name in names:
        own = [record for record in records[name] if record["standard: error"] is not None]
        steps, early, there = {}, _sum(own, "proposed: early"), published[name]
        steps["standard"] = 2 * _sum(own, "standard: iterations")
        steps["proposed"] = 2 * _sum(own, "proposed: iterations") + _sum(own, "proposed: gamma_steps")
        kept = sum(bool(record["proposed: kept"]) for record in own)
        apart = sum(record["standard: wrong"] != record["proposed: wrong"] for record in own)
        rows.append((
            name,
            f"{_sum(own, 'standard: cpu') / _sum(own, 'proposed: cpu'):.1f}", f"{there[0]:.1f}",
            f"{steps['standard'] / steps['proposed']:.1f}", f"{there[1]:.1f}",
            f"{100 * early / max(_sum(own, 'proposed: rounds'), 1):.1f}", f"{there[2]:.1f}",
            f"{steps['standard'] * 1e-6:.3g}", f"{kept} of {len(own)}",
            f"{len(records[name]) - len(own)}", f"{apart}",
        ))  # fmt: skip
    heads = (
        "set", "time", "there", "KerEval", "there", "Prec %", "there", "KerEval of the standard approach, 10⁶",
        "models that keep the rule", "models not solved", "models with other errors",
    )  # fmt: skip
    return Grid(heads, tuple(rows))


def signs_compared(records: Sequence[dict[str, Any]]) -> Grid:
    """Count the signs that are not those of the optimum, by set and kernel."""
    heads = (
        "set", "models", "ended by F < H", "other signs", "ended at ψ ≤ 2ε", "of these other signs",
        "other signs of leave_one_out",
    )  # fmt: skip
    rows = []
    for name in dict.fromkeys(record["problem"].partition(" ")[0] for record in records):
        for kernel in ("linear", "RBF"):
            own = [each for each in records if each["problem"].startswith(f"{name} {kernel}")]
            names = ("F < H", "F < H, other", "ψ ≤ 2ε", "ψ ≤ 2ε, other", "leave_one_out, other")
            rows.append((f"{name}, {kernel}", str(len(own)), *(f"{_sum(own, each):,.0f}" for each in names)))
    return Grid(heads, tuple(rows))


def third_check(records: Sequence[dict[str, Any]]) -> Grid:
    """How many examples the third check decides, by set and kernel."""
    rows = []
    for name in dict.fromkeys(record["problem"].partition(" ")[0] for record in records):
        for kernel in ("linear", "RBF"):
            own = [
                each for each in records
                if each["problem"].startswith(f"{name} {kernel}") and each["ours"] is not None
            ]  # fmt: skip
            counts = (f"{_sum(own, metric):,.0f}" for metric in ("open", "ours", "printed", "rest", "right"))
            rows.append((f"{name}, {kernel}", str(len(own)), *counts))
    totals = [sum(int(row[k].replace(",", "")) for row in rows) for k in range(1, 7)]
    heads = ("set", "models", "left open", "decided, ours", "as printed", "by that alone", "of these right")
    return Grid(heads, (*rows, ("all", *(f"{each:,}" for each in totals))))


def columns_counted(records: Sequence[dict[str, Any]]) -> Grid:
    """Speed-ups in kernel columns: counted by steps, and in a store of four."""
    rows = []
    for name in dict.fromkeys(record["problem"].partition(" ")[0] for record in records):
        own = [record for record in records if record["problem"].startswith(f"{name} ")]
        row = [name]
        for kernel in ("linear", "RBF"):
            some = [record for record in own if f" {kernel}" in record["problem"]]
            two = 2 * _sum(some, "standard: iterations")
            three = 2 * _sum(some, "proposed: iterations") + _sum(some, "proposed: gamma_steps")
            row += [
                f"{two / three:.1f}",
                f"{_sum(some, 'standard: columns') / _sum(some, 'proposed: columns'):.1f}",
            ]
        rows.append(tuple(row))
    return Grid(("set", "linear: by steps", "four in store", "RBF: by steps", "four in store"), tuple(rows))


def solved_at_last(records: Sequence[dict[str, Any]]) -> Grid:
    """Steps to the full solution, or to the limit."""
    return Grid(
        ("model", "steps"),
        tuple(
            (record["problem"], f"{'' if record['solved'] else '> '}{record['iterations']:,}")
            for record in records
        ),
    )


def _sum(records: Sequence[dict[str, Any]], metric: str) -> float:
    return float(sum(record[metric] for record in records))
