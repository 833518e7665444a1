"""The audit "open_boxes": both engines where boxes are open, kernels indefinite, and numbers of NumPy's types.

A seed stands for a kernel, rules and options of `trials`, whose numbers are scalars of NumPy, and a box that is open on
some sides or on all. Many such problems have no maximum. Both engines return the same point bit for bit, with the same
status, or refuse the problem in the same sentence.
"""

from __future__ import annotations

import warnings
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np

from refsvm import DualProblem, Solution, Status, solve
from refsvm.core.kernels import Gram
from refsvm.core.solver.rules import Rules
from refsvm.testing.engines import first_difference

from .frame import Audit, Found
from .trials import Trial, any_gram, any_options, any_rules

__all__ = ["AUDIT", "open_trial"]

COMPARED = 400
"""Steps over which the engines are compared."""

WHOLE = np.uint8, np.int16, np.int64
REAL = np.float32, np.float64


def open_trial(seed: int) -> Trial:
    """Draw a trial with an open box, whose numbers are scalars of NumPy.

    Examples
    --------
    >>> from benchmarks.audit.open_boxes import open_trial
    >>> open_trial(0).problem.is_open
    True
    """
    rng = np.random.default_rng(seed)
    gram, psd, magnitude = any_gram(rng, int(rng.choice([2, 3, 5, rng.integers(4, 14), rng.integers(7, 41)])))
    if hasattr(gram, "X") and is_dataclass(gram.kernel):
        gram = Gram(in_numpy(rng, gram.kernel), gram.X)
    problem = open_box(rng, gram)
    rules = Rules(*(in_numpy(rng, rule) for rule in any_rules(rng, problem)))
    options = {name: in_numpy(rng, value) for name, value in any_options(rng, problem, rules).items()}
    start = None if rng.integers(2) else problem.feasible(rng.normal(size=problem.n))
    return Trial(problem, rules, psd, magnitude, options, start)


def in_numpy(rng: np.random.Generator, value: Any) -> Any:
    """Return a number as a scalar of NumPy that holds it, and a rule or kernel with such numbers."""
    if isinstance(value, type(None) | bool | str):
        return value
    if is_dataclass(value) and not isinstance(value, type):
        return replace(
            value,
            **{each.name: in_numpy(rng, getattr(value, each.name)) for each in fields(value) if each.init},
        )
    if isinstance(value, int):
        kind = WHOLE[rng.integers(3)]
        return kind(value) if 0 <= value < 256 else np.int64(value)
    if isinstance(value, float):
        rounded = REAL[rng.integers(2)](value)
        return rounded if np.isfinite(rounded) and bool(rounded) == bool(value) else np.float64(value)
    return value


def open_box(rng: np.random.Generator, gram: Gram) -> DualProblem:
    """Draw v, z and a box that is open: a hard margin of all examples or of some, or sides as they come."""
    n, kind, size = gram.n, rng.integers(4), 10.0 ** rng.integers(-3, 4)
    if kind < 2:
        labels = np.where(rng.uniform(size=n) < 0.5, 1.0, -1.0)
        labels[:2] = 1.0, -1.0
        bounds = labels * (np.inf if kind == 0 else np.append(np.inf, rng.choice([size, np.inf], size=n - 1)))
        return DualProblem(gram, labels, 0.0, np.minimum(bounds, 0.0), np.maximum(bounds, 0.0))
    lower, upper = -size * rng.uniform(size=n), size * rng.uniform(size=n)
    lower[rng.uniform(size=n) < (0.5 if kind == 2 else 1.0)] = -np.inf
    upper[rng.uniform(size=n) < 0.5] = np.inf
    upper[0] = np.inf
    return DualProblem(gram, size * rng.normal(size=n), 0.0, lower, upper)


def ended(trial: Trial, engine: str) -> Solution | str:
    """Return the solution, or the sentence of the refusal."""
    selector, step, stop = trial.rules
    with warnings.catch_warnings(action="ignore"):
        try:
            return solve(
                trial.problem, selector=selector, step=step, stop=stop, engine=engine, start=trial.start,
                max_iter=np.int32(COMPARED), trace=np.uint8(1), **trial.options,
            )  # fmt: skip
        except ValueError as error:
            return str(error)


def case(seed: int, options: Any) -> Found:
    """Try one seed."""
    trial = open_trial(seed)
    readable, compiled = (ended(trial, engine) for engine in ("numpy", "numba"))
    if isinstance(readable, str) or isinstance(compiled, str):
        complaints = [] if readable == compiled else [f"numpy: {readable}; numba: {compiled}"]
        return Found(complaints, ["refused"], f"{trial}: {readable}")
    found = first_difference(readable, compiled)
    # a round that led beyond all numbers is taken back, but the rows that it has read are counted
    if found and readable.status is Status.INSEPARABLE and found[1].startswith("kernel_"):
        found = None
    complaints = [] if found is None else [f"engines differ at step {found[0]}: {found[1]}"]
    same = readable.status is compiled.status and np.array_equal(
        readable.alpha, compiled.alpha, equal_nan=True
    )
    if not same:
        complaints.append(f"numpy ends as {readable.status.name}, numba as {compiled.status.name}")
    kind = "psd" if trial.psd else "indefinite"
    return Found(complaints, [readable.status.name, kind], f"{trial}: {readable.status.name}")


AUDIT = Audit(
    "Do both engines take the same steps where boxes are open, kernels indefinite and numbers NumPy's?",
    case,
    600,
)
