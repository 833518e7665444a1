"""Strategy: what is done with an instance, and measured. Solve: one call of `refsvm.solve`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from importlib.util import find_spec
from typing import Any, Final

import numpy as np

from refsvm.experiment.identity import described
from refsvm.experiment.problem import Instance
from refsvm.kernels import RBF
from refsvm.result import Solution, Status, Trace
from refsvm.selectors import WorkingSetSelector
from refsvm.solver import solve
from refsvm.solver.rules import chosen_rules
from refsvm.steps import StepRule
from refsvm.stopping import StoppingRule

__all__ = ["STEP_RATIO_EDGES", "Solve", "Strategy"]

STEP_RATIO_EDGES: Final = (-np.inf, -1.0, -0.1, 0.0, 0.1, 0.2, 0.5, 1.0, 10.0, 100.0, 1000.0, np.inf)
"""Edges of the histogram of μ/μ̂ − 1 over the planned steps of a traced run: [−∞, −1), [−1, −0.1), …, [1000, ∞]."""


@dataclass(frozen=True)
class Strategy(ABC):
    """What is done with an instance, and measured.

    Subclasses are frozen dataclasses. All their fields but the name belong to the identity of a run.

    Parameters
    ----------
    name : str
        Name in the tables.
    """

    name: str

    @abstractmethod
    def measure(self, instance: Instance) -> dict[str, Any]:
        """Carry out one run; return its metrics, by name, as JSON can hold them.

        Called in worker processes too. Numbers can be tabulated; NaN and infinity are stored as null.
        """

    def warm_up(self) -> None:  # noqa: B027 (nothing to warm up unless a strategy says so)
        """Compile what `measure` needs; called once in each process, before anything is timed."""

    def settings(self) -> dict[str, Any]:
        """Return what makes this strategy what it is: its class, and its fields but the name."""
        own = {
            field.name: described(field.name, getattr(self, field.name))
            for field in fields(self)
            if field.name != "name"
        }
        return {"strategy": f"{type(self).__module__.partition('.')[0]}: {type(self).__qualname__}", **own}


@dataclass(frozen=True)
class Solve(Strategy):
    """One call of `refsvm.solve`, its arguments by the same names.

    Parameters
    ----------
    name : str
        Name in the tables.
    selector, step, stop : rules
        Where none is given, the default of `solve` is filled in.
    shrinking : bool
    cache_mb : float
    engine : {"auto", "numba", "numpy"}
    max_iter : int, optional
    time_limit : float, optional
    trace : bool
        Count the planned steps, and how long they are compared with Newton's.

    Raises
    ------
    ValueError
        If the rules do not fit together or have no lasting description.

    Notes
    -----
    The metrics are ``iterations``, ``kernel_rows``, ``kernel_hits``, ``seconds``, ``objective``, ``duality_gap``,
    ``kkt_gap``, ``support_vectors``, ``bounded_support_vectors`` (at a bound other than zero), ``engine``, ``status``;
    with a trace also ``free_steps``, ``planned_steps`` and ``step_ratio_histogram`` (over `STEP_RATIO_EDGES`). BLAS
    is held to one thread where threadpoolctl is installed: it makes the seconds those of one core, and the last bits of
    the kernel rows, on which the number of iterations may depend, those of every other run.

    Examples
    --------
    >>> from functools import partial
    >>> from refsvm import PlanningAheadStep, RBF
    >>> from refsvm.datasets import load
    >>> from refsvm.experiment import Problem, Solve
    >>> heart = Problem("heart", partial(load, "heart"), kernel=RBF(0.005), C=1.0).instance()
    >>> planned = Solve("planned", step=PlanningAheadStep(), shrinking=False).measure(heart)
    >>> planned["status"], round(planned["objective"], 2)
    ('CONVERGED', 129.6)
    """

    selector: WorkingSetSelector | None = None
    step: StepRule | None = None
    stop: StoppingRule | None = None
    shrinking: bool = True
    cache_mb: float = 200.0
    engine: str = "auto"
    max_iter: int | None = None
    time_limit: float | None = None
    trace: bool = False

    def __post_init__(self) -> None:
        rules = chosen_rules(self.selector, self.step, self.stop)
        for role, rule in zip(("selector", "step", "stop"), rules, strict=True):
            object.__setattr__(self, role, rule)
        object.__setattr__(self, "cache_mb", float(self.cache_mb))
        self.settings()

    def measure(self, instance: Instance) -> dict[str, Any]:
        """Solve the dual."""
        return measured(self._solve(instance))

    def warm_up(self) -> None:
        """Solve four points."""
        X = np.array([[0.0], [1.0], [2.0], [3.0]])
        self._solve(Instance(X, np.array([-1.0, 1.0, 1.0, -1.0]), RBF(1.0), 1.0))

    def _solve(self, instance: Instance) -> Solution:
        """Call `solve` with one thread; Ctrl-C interrupts, so that half a run is never stored."""
        arguments = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "name"}
        with one_thread():
            solution = solve(instance.dual(), **arguments)
        if solution.status is Status.INTERRUPTED:
            raise KeyboardInterrupt
        return solution


@contextmanager
def one_thread() -> Iterator[None]:
    """Hold BLAS to one thread, where threadpoolctl is installed."""
    if find_spec("threadpoolctl") is None:
        yield
        return
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1):
        yield


def measured(solution: Solution) -> dict[str, Any]:
    """Take from a solution what is stored."""
    problem, alpha = solution.problem, solution.alpha
    at_bound = (alpha != 0.0) & ((alpha == problem.lower) | (alpha == problem.upper))
    metrics: dict[str, Any] = {
        "iterations": solution.iterations,
        "kernel_rows": solution.kernel_rows,
        "kernel_hits": solution.kernel_hits,
        "seconds": solution.seconds,
        "objective": solution.objective,
        "duality_gap": solution.duality_gap,
        "kkt_gap": solution.kkt_gap,
        "support_vectors": int(np.count_nonzero(alpha)),
        "bounded_support_vectors": int(np.count_nonzero(at_bound)),
        "engine": solution.engine,
        "status": solution.status.name,
    }
    return metrics if solution.trace is None else metrics | of_trace(solution.trace)


def of_trace(trace: Trace) -> dict[str, Any]:
    """Count the free and the planned steps, and the latter by their μ/μ̂ − 1."""
    planned = trace["planned"] == 1
    ratio = trace["step"][planned] / trace["newton"][planned] - 1.0
    counts, _ = np.histogram(ratio, bins=np.array(STEP_RATIO_EDGES))
    return {
        "free_steps": int(trace["free"].sum()),
        "planned_steps": int(planned.sum()),
        "step_ratio_histogram": counts.tolist(),
    }
