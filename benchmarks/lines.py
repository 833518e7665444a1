"""Is every line right? Paths along C, costs, ε, ν, weights, a target, a fold out and ten in, beside `solve` at 1e-10.

    python benchmarks/lines.py --data-dir DIR                      20 sets, two kernels, eight lines; some minutes
    python benchmarks/lines.py --data-dir DIR --only heart --n 0   all examples of some sets
    python benchmarks/lines.py --random 2000                       random small problems, of whole numbers half of them

Each line is followed by both engines, which must give the same bits. Its KKT conditions are audited at breakpoints and
at two points between neighbours. At ten random t the objective is compared with that of `solve` where this ends within
its steps, and with the path's own primal objective everywhere. One line of figures for each line of problems.
"""

from __future__ import annotations

import argparse
import time
from typing import Any, NamedTuple

import numpy as np

from refsvm import RBF, DualProblem, KKTGap, Linear, Polynomial, Status, parametric_path, solve
from refsvm.datasets import open_data

SETS = (
    "sonar", "ida_heart", "ida_breast-cancer", "ida_titanic", "ida_thyroid", "ionosphere", "monks1", "monks2", "monks3",
    "wbc", "ida_diabetis", "ida_german", "tic_tac_toe", "hill_valley_noise", "ida_banana", "ida_flare-solar",
    "ida_image", "ida_splice",
)  # fmt: skip
TRIPLED, WHOLE = "heart, every row three times", "whole numbers"
NEAR, CLEAN, STEPS = 1e-8, 1e-6, 1_000_000
Problems = tuple[DualProblem, DualProblem, tuple[float, float]]


class Found(NamedTuple):
    """One line of problems: breakpoints, seconds, audit, and the worst relative differences."""

    status: Status
    breakpoints: int
    seconds: float
    audit: float
    solved: float  # from the objective of solve
    unsolved: int  # values of t at which solve did not end
    gap: float  # from the path's own primal objective
    same: bool  # both engines
    counts: dict[str, int]

    @property
    def bad(self) -> bool:
        """Whether it breaks a promise."""
        worst = max(self.solved, self.gap if self.unsolved else 0.0)
        return self.status is not Status.CONVERGED or not self.same or self.audit > CLEAN or worst > NEAR


def data(name: str, n: int, directory: str | None) -> tuple[np.ndarray, np.ndarray]:
    """Features of mean 0 and variance 1, labels ±1, of the first n examples in a fixed random order."""
    if name == WHOLE:
        rng = np.random.default_rng(0)
        return rng.integers(-2, 3, (n or 150, 3)).astype(float), rng.choice([-1, 1], n or 150)
    found = open_data("ida_heart" if name == TRIPLED else name, data_dir=directory)
    X, y = np.asarray(found.X, dtype=float), np.asarray(found.y)
    count = (n or len(y)) // (3 if name == TRIPLED else 1)
    order = np.random.default_rng(0).permutation(len(y))[:count]
    X, y = X[order], y[order]
    spread = X.std(axis=0)
    X = (X - X.mean(axis=0)) / np.where(spread > 0.0, spread, 1.0)
    return (np.repeat(X, 3, axis=0), np.repeat(y, 3)) if name == TRIPLED else (X, y)


def lines(X: np.ndarray, y: np.ndarray, kernel: Any, C: float = 1.0) -> dict[str, Problems]:
    """Eight lines of problems; the target of regression is the first feature, disturbed."""
    n, rng = len(y), np.random.default_rng(1)
    whole = DualProblem.classification(X, y, kernel=kernel, C=C)
    gram, some = whole.gram, rng.permutation(n)
    target = X[:, 0] + 0.3 * np.sin(3.0 * X[:, -1]) + 0.2 * rng.normal(size=n)
    raised = target + 2.0 * (np.arange(n) == some[0])

    def classified(C: Any) -> DualProblem:
        return DualProblem.classification(y=y, gram=gram, C=C)

    def fitted(target: np.ndarray, epsilon: float) -> DualProblem:
        return DualProblem.regression(y=target, gram=gram, C=C, epsilon=epsilon)

    costs = (np.where(y > 0, c, C - c) for c in (0.0, C))
    weights = rng.integers(0, 4, n) + (np.arange(n) < 2)
    shares = (DualProblem.one_class(gram=gram, nu=nu) for nu in (0.1, 0.9))
    return {
        "C": (classified(0.01 * C), classified(10.0 * C), (0.01 * C, 10.0 * C)),
        "cost": (*map(classified, costs), (0.0, C)),
        "epsilon": (fitted(target, 1.0), fitted(target, 0.02), (1.0, 0.02)),
        "nu": (*shares, (0.1, 0.9)),
        "weights": (whole, classified(C * weights), (0.0, 1.0)),
        "one target": (fitted(target, 0.1), fitted(raised, 0.1), (0.0, 2.0)),
        "a fold out": (whole, whole.without(some[: n // 10]), (0.0, 1.0)),
        "ten in": (whole.without(some[:10]), whole, (0.0, 1.0)),
    }


def random_line(seed: int) -> tuple[str, Problems]:
    """One of these lines through a small problem, whole numbers and repeated rows often; either way round."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(12, 26)), int(rng.integers(1, 4))
    X = rng.integers(-2, 3, (n, d)).astype(float) if rng.random() < 0.5 else rng.normal(size=(n, d))
    if rng.random() < 0.3:
        X = np.repeat(X[: n // 2], 2, axis=0)
    y = rng.choice([-1, 1], len(X))
    y[:2] = 1, -1
    kernel = (Linear(), RBF(0.5), RBF(2.0), Polynomial(degree=2, coef0=1.0))[int(rng.integers(4))]
    every = lines(X, y, kernel, C=float(rng.choice([0.1, 1.0, 10.0])))
    kind = sorted(every)[int(rng.integers(len(every)))]
    start, end, t = every[kind]
    return kind, (start, end, t) if rng.random() < 0.5 else (end, start, t[::-1])


def check(problems: Problems, merge: bool, values: int) -> Found:
    """Follow a line and compare."""
    start, end, t = problems
    began = time.perf_counter()
    path = parametric_path(start, end, t=t, merge=merge, engine="numba")
    seconds = time.perf_counter() - began
    other = parametric_path(start, end, t=t, merge=merge, engine="numpy")
    same = all(np.array_equal(a, b) for a, b in zip(path.record, other.record, strict=True))
    solved, unsolved, gap = 0.0, 0, 0.0
    for at in [*np.random.default_rng(2).uniform(*sorted(t), values).tolist(), path.t[0], path.t[-1]]:
        problem, alpha = path.problem(at), path.alpha(at)
        ours, theirs = problem.objective(alpha), solve(problem, stop=KKTGap(1e-10), max_iter=STEPS)
        size = max(abs(ours), path.line.unit[0] * path.line.widest)
        gap = max(gap, (problem.primal_objective(alpha) - ours) / size)
        if theirs.status is Status.CONVERGED:
            solved = max(solved, abs(ours - theirs.objective) / size)
        else:
            unsolved += 1
    audit = path.kkt_audit().worst
    return Found(path.status, len(path.t), seconds, audit, solved, unsolved, gap, same, path.counts)


def shown(name: str, found: Found) -> None:
    """Print one row."""
    called = " ".join(f"{key} {count}" for key, count in found.counts.items() if key != "start")
    print(
        f"{'BAD ' if found.bad else '    '}{name:54s} {found.breakpoints:6d} {found.seconds:8.3f} s "
        f"audit {found.audit:.0e}  solve {found.solved:.0e}  gap {found.gap:.0e}  unsolved {found.unsolved}  {called}",
        flush=True,
    )


def main() -> int:
    """Check and count; return the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data-dir")
    parser.add_argument("--only", nargs="+", help="sets whose names contain one of these")
    parser.add_argument("--n", type=int, default=120, help="examples of each set, 0 for all")
    parser.add_argument("--values", type=int, default=10, help="values of t at which to solve")
    parser.add_argument("--random", type=int, default=0, metavar="COUNT", help="random problems, and no sets")
    options = parser.parse_args()
    rows: list[Found] = []
    for seed in range(options.random):
        kind, problems = random_line(seed)
        rows.append(check(problems, bool(seed % 2), 4))
        if rows[-1].bad:
            shown(f"{seed} / {kind}", rows[-1])
    for name in () if options.random else (*SETS, TRIPLED, WHOLE):
        if options.only and not any(part in name for part in options.only):
            continue
        X, y = data(name, options.n, options.data_dir)
        for kernel in (RBF(1.0 / X.shape[1]), Linear()):
            for kind, problems in lines(X, y, kernel).items():
                rows.append(check(problems, False, options.values))
                shown(f"{name} / {type(kernel).__name__} / {kind}", rows[-1])
    print(
        f"{len(rows)} lines, {sum(row.bad for row in rows)} bad; worst audit {max(row.audit for row in rows):.1e}, "
        f"difference from solve {max(row.solved for row in rows):.1e}, duality gap {max(row.gap for row in rows):.1e}; "
        f"both engines alike on {sum(row.same for row in rows)}; {sum(row.unsolved for row in rows)} values of t at "
        f"which solve did not end in {STEPS:,} steps"
    )
    return 1 if any(row.bad for row in rows) else 0


if __name__ == "__main__":
    raise SystemExit(main())
