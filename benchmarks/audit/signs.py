"""The audit "signs": leave-one-out asked about an example that is put where its sign is hardest to find.

The machine without example r does not depend on xᵣ. So a small problem is solved in sixty digits, and xᵣ is put on a
level set of its h, up to 10,000 away from the other examples: h(xᵣ) is known, and its error grows with that distance.
Kernels, C, weights, equal examples, labels, rules and checks are drawn; with three classes the machine is that of one
pair, and xᵣ may be in neither class of it. In most cases the others are not left out, which takes most of the time and
changes nothing for xᵣ but the efficiency test of rules. A decided sign is wrong if it is not the sign of every optimum:
of h at both ends of the interval of b.

Such a reference counts if its own bound excludes 0: √gap ‖φ(xᵣ) − φ(x)‖ is added at both ends, in sixty digits. If no
optimum is found in sixty digits another problem is drawn, and that is counted.

The distance is that of φ(xᵣ) from the φ of the mean of the others. For an RBF kernel, where that distance has a limit,
it is the distance of the examples themselves.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal, localcontext
from typing import Any, Final, NamedTuple

import numpy as np

from refsvm import (
    ATO,
    AVG,
    RBF,
    TOP,
    BallRule,
    DualProblem,
    KKTGap,
    Linear,
    LOODualityGap,
    Polynomial,
    leave_one_out,
    solve,
)
from refsvm.analysis.resampling.task import LeftOutMachine, Task

from .decimals import DIGITS, Machine, kernel_values, trained
from .frame import Audit, Found

FAR_FROM_0: Final = 0.01
LIMIT: Final = 1e5
"""Of C times the distance."""

ANGLES: Final = np.linspace(0.0, 2.0 * np.pi, 181)
PROOFS: Final = {
    "zero alpha",
    "training error",
    "xi-alpha bound",
    "ball",
    "duality gap",
    "path",
    "kkt",
    "other class",
}
RULES: Final = (None, None, KKTGap(1e-3), LOODualityGap(1e-3), BallRule(1e-2), KKTGap(1e-2, relative=True))


class Placed(NamedTuple):
    """A problem and the example that is left out, which comes last.

    Attributes
    ----------
    X, y, C : ndarrays of shape (n, 2), (n,) and (n,)
        y holds numbers of classes.
    kernel : kernel object
    column, sides : int, (int, int)
        The machine that is asked about, and the numbers of its negative and its positive class.
    distance : float
    h : (Decimal, Decimal)
        The least and the largest h(xᵣ) of an optimum.
    off : Decimal
        How far they may be off.
    """

    X: np.ndarray
    y: np.ndarray
    C: np.ndarray
    kernel: Any
    column: int
    sides: tuple[int, int]
    distance: float
    h: tuple[Decimal, Decimal]
    off: Decimal


def drawn(rng: np.random.Generator, counts: Counter[str]) -> Placed | None:
    """Return a random problem with the example in its place; None if its machine has no such level set."""
    n, classes = int(rng.integers(8, 22)), 3 if rng.random() < 0.2 else 2
    X = rng.normal(size=(n, 2))
    y = np.argsort(np.argsort(X[:, 0] + rng.uniform(0.1, 1.0) * rng.normal(size=n))) * classes // n
    if rng.random() < 0.3:  # equal examples, of which labels may differ
        some = rng.integers(n, size=n // 3)
        X[some] = X[rng.integers(n, size=n // 3)]
    C, distance = 10.0 ** rng.uniform(-2.0, 5.0), 10.0 ** rng.uniform(0.0, 4.0)
    weights = 10.0 ** rng.uniform(-12.0, 0.0, n + 1) if rng.random() < 0.3 else np.ones(n + 1)
    if rng.random() < 0.3:
        weights[n] = 10.0 ** rng.uniform(-12.0, 0.0)
    kernel: Any = (Linear(), RBF(10.0 ** rng.uniform(-3.0, 0.5) / max(1.0, rng.choice([1.0, distance])) ** 2),
                   Polynomial(degree=int(rng.integers(2, 4)), gamma=0.5, coef0=1.0))[rng.integers(3)]  # fmt: skip
    target = 10.0 ** rng.uniform(-4.0, 0.0) * rng.choice([-1.0, 1.0])
    pairs = [(0, 1)] if classes == 2 else [(0, 1), (0, 2), (1, 2)]
    column = int(rng.integers(len(pairs)))
    # with two classes the larger number is the positive one, in a pair of several the first
    sides = pairs[column] if classes == 2 else pairs[column][::-1]
    members = np.flatnonzero(np.isin(y, sides))
    labels = np.where(y[members] == sides[1], 1.0, -1.0)
    if abs(labels.sum()) > len(labels) - 4:
        return None
    machine, problem = exact_machine(kernel, X[members], labels, C * weights[:n][members])
    if machine is None:
        counts["without a reference"] += 1
        return None
    x = placed(rng, kernel, problem, machine, X[members], distance, target)
    if x is None:
        return None
    h, off = decided(kernel, X[members], machine, x)
    own = int(rng.integers(classes))
    center = X.mean(axis=0)
    far = float(np.linalg.norm(x - center)) if isinstance(kernel, RBF) else apart(kernel, x, center)
    return Placed(np.vstack([X, x]), np.append(y, own), C * weights, kernel, column, sides, far, h, off)


def named(kernel: Any) -> tuple[str, float, float, int]:
    """Return the arguments of `kernel_values` for a kernel."""
    name = {Linear: "linear", RBF: "rbf", Polynomial: "poly"}[type(kernel)]
    return name, getattr(kernel, "gamma", 1.0), getattr(kernel, "coef0", 0.0), getattr(kernel, "degree", 1)


def exact_machine(
    kernel: Any, X: np.ndarray, labels: np.ndarray, C: np.ndarray
) -> tuple[Machine | None, DualProblem]:
    """Train in sixty digits, from where the package ends."""
    problem = DualProblem.classification(X, labels, kernel=kernel, C=C)
    near = solve(problem, stop=KKTGap(1e-9), polish=True, max_iter=200_000, engine="numba")
    K = kernel_values(named(kernel)[0], X, X, *named(kernel)[1:])
    return trained(K, labels, problem.lower, problem.upper, near.alpha), problem


def decided(
    kernel: Any, X: np.ndarray, machine: Machine, x: np.ndarray
) -> tuple[tuple[Decimal, Decimal], Decimal]:
    """Return the least and the largest h(x) of an optimum, and how far they may be off."""
    name, *numbers = named(kernel)
    with localcontext(DIGITS):
        row = kernel_values(name, x[None], X, *numbers)[0]
        own, *sizes = (kernel_values(name, z[None], z[None], *numbers)[0, 0] for z in (x, *X))
        f, off = row @ machine.alpha, max(own + np.array(sizes) - 2 * row).sqrt() * abs(machine.gap).sqrt()
        return (f + machine.low, f + machine.high), off


def apart(kernel: Any, x: np.ndarray, z: np.ndarray) -> float:
    """‖φ(x) − φ(z)‖."""
    both = np.vstack([x, z])
    K = np.asarray(kernel(both, both))
    return float(np.sqrt(max(K[0, 0] + K[1, 1] - 2.0 * K[0, 1], 0.0)))


def placed(
    rng: np.random.Generator, kernel: Any, problem: DualProblem, machine: Machine, X: np.ndarray, distance: float,
    target: float,
) -> np.ndarray | None:  # fmt: skip
    """Return a point where h is about the target, at this distance or the next smaller one; None if nowhere."""
    alpha = machine.alpha.astype(float)
    if not (machine.low.is_finite() and machine.high.is_finite()):
        return None
    # of an interval of h the end that is nearer to 0
    b, center = float(machine.low if target > 0.0 else machine.high), X.mean(axis=0)

    def h(points: np.ndarray) -> np.ndarray:
        return np.asarray(kernel(np.atleast_2d(points), X)) @ alpha + b

    def at(radius: float, angle: Any) -> np.ndarray:
        return center + radius * np.stack([np.cos(angle), np.sin(angle)], axis=-1)

    for nearer in 0.5 ** np.arange(8):
        radius = distance * nearer
        if isinstance(kernel, Polynomial):  # the distance of φ
            low, high = 0.0, radius + 1.0
            for _ in range(60):
                radius = 0.5 * (low + high)
                low, high = (
                    (radius, high)
                    if apart(kernel, at(radius, 0.3), center) < distance * nearer
                    else (low, radius)
                )
        values = h(at(radius, ANGLES)) - target
        turns = np.flatnonzero(np.sign(values[1:]) != np.sign(values[:-1]))
        if len(turns):
            k = int(rng.choice(turns))
            low, high, sign = ANGLES[k], ANGLES[k + 1], np.sign(values[k])
            for _ in range(70):
                angle = 0.5 * (low + high)
                low, high = (
                    (angle, high) if np.sign(h(at(radius, angle))[0] - target) == sign else (low, angle)
                )
            return at(radius, high)
    return None


def case(seed: int, options: Any) -> Found:
    """Place an example, and ask leave-one-out about it."""
    rng = np.random.default_rng([seed, 83])
    with warnings.catch_warnings(action="ignore"):  # of large kernel values, and rounds that are not solved
        problem, counts = None, Counter[str]()
        while problem is None:
            problem = drawn(rng, counts)
        stop, seeder = (
            RULES[rng.integers(len(RULES))],
            (None, None, TOP(), AVG(), ATO(margin=np.inf, budget=np.inf))[rng.integers(5)],
        )
        checks: Any = (
            ("zero alpha", "training error", "xi-alpha bound"),
            ("zero alpha", "training error", "xi-alpha bound", "ball"),
            (),
        )[rng.integers(3)]
        engine = "numpy" if rng.random() < options.numpy else "numba"
        with only_the_last(rng.random() >= options.all):
            loo = leave_one_out(problem.X, problem.y, kernel=problem.kernel, C=problem.C, stop=stop, seeder=seeder,
                                checks=checks, engine=engine)  # fmt: skip
    return judged(problem, loo, f"{stop}, {seeder}, {len(checks)} checks, {engine}", counts)


@contextmanager
def only_the_last(wanted: bool) -> Iterator[None]:
    """Let no machine be asked about other examples than the last."""
    parts = Task.parts

    def asked(task: Task) -> Iterator[LeftOutMachine]:
        for part in parts(task):
            yield part._replace(asked=np.flatnonzero(part.examples == task.gram.n - 1).tolist())

    Task.parts = asked if wanted else parts  # type: ignore[method-assign]
    try:
        yield
    finally:
        Task.parts = parts  # type: ignore[method-assign]


def judged(problem: Placed, loo: Any, how: str, counts: Counter[str]) -> Found:
    """Compare the sign with that of every optimum."""
    two = loo.decided_by.ndim == 1
    by, h, proved = (
        each[-1] if two else each[-1, problem.column]
        for each in (loo.decided_by, loo.sides[:, 0] if two else loo.sides, loo.is_proved)
    )
    low, high, off = (float(each) for each in (*problem.h, problem.off))
    is_open, name = low <= 0.0 <= high, type(problem.kernel).__name__
    nearest = 0.0 if is_open else min(abs(low), abs(high))
    is_easy = nearest >= FAR_FROM_0 and problem.C.max() * problem.distance <= LIMIT
    where = "open" if is_open else "unknown" if nearest <= off else "easy" if is_easy else "hard"
    by = by or "limit"  # of the solution on all examples
    counts, wrong = counts + Counter({"signs": 1, name: 1, f"by {by}": 1, where: 1}), list[str]()
    counts["several classes"] += not two
    if by in ("tie", "limit"):
        counts[f"{where} {by}"] += 1
        if proved:
            wrong.append(f"{by} is called proved")
    else:
        if by not in PROOFS or not proved:
            wrong.append(f"decided by {by}, which is no proof")
        if is_open or (where != "unknown" and (h >= 0.0) != (low > 0.0)):
            wrong.append(f"h is said to be {h:.3g}")
    C, weight = problem.C.max(), problem.C[-1] / problem.C.max()
    shown = (
        f"{name}, {len(problem.y)} examples, C = {C:.3g}, weight {weight:.1g}, distance {problem.distance:.3g}, "
        f"h from {low:.6g} to {high:.6g}, decided by {by}, {h:.3g}; {how}"
    )
    return Found(wrong, counts, shown)


def enough(count: int, counts: Counter[str]) -> list[str]:
    """At most one in a hundred of the easy signs is a tie, and most signs have a reference."""
    ties, known = counts["easy tie"] + counts["easy limit"], counts["easy"] + counts["hard"]
    all_of_them = known + counts["unknown"] + counts["without a reference"]
    wrong = [f"{ties} of {counts['easy']} easy signs are ties"] if ties > 0.01 * counts["easy"] else []
    if known < 0.95 * all_of_them:
        wrong.append(f"{known} of {all_of_them} signs are known")
    return wrong if count >= 1000 else []


NUMPY: Final = {"type": float, "default": 0.02, "help": "share of the cases in the readable engine"}
ALL: Final = {"type": float, "default": 0.05, "help": "share of the cases in which each example is left out"}
AUDIT: Final = Audit(
    "Is any sign of leave-one-out wrong, of an example where it is hard to find?", case, 20_000,
    {"--numpy": NUMPY, "--all": ALL}, enough,
)  # fmt: skip
