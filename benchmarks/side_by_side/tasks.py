"""What is measured. A task is one class: what is got ready without the clock, and what runs against it.

A table that measures something else brings its own task; `RoundRobin.measure` takes the class.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np

from refsvm.datasets import Dataset

from .agreement import dual_objective, kkt_gap
from .libraries import Library
from .memory import peak_size
from .problems import halves
from .results import Answer, Evidence

__all__ = ["TOL", "FirstFit", "Fit", "Predict", "Task", "Threads"]

TOL = 1e-3
ENOUGH_SECONDS = 0.1
"""Seconds after which a turn ends; a task that takes less is repeated within the turn."""


class Task(ABC):
    """Something that libraries do with a data set.

    The module of a subclass is imported in the process of each library, so the class has to stand in a file.

    Attributes
    ----------
    name : str
        For the line of progress.

    Parameters
    ----------
    library : Library
    data : Dataset
    cache_mb : float
        Budget for kernel rows, the same for all.
    """

    name: ClassVar[str]

    def __init__(self, library: Library, data: Dataset, cache_mb: float) -> None:
        self.library, self.data, self.cache_mb = library, data, cache_mb

    def estimator(self, **more: Any) -> Any:
        """Return a new estimator of the library, with the problem's parameters, and more if given."""
        return self.library.make(
            C=self.data.C, kernel="rbf", gamma=self.data.gamma, tol=TOL, cache_size=self.cache_mb, **more
        )

    def warm_up(self) -> None:
        """Fit a few of the examples: compiles what has to be compiled and starts the threads."""
        few = halves(self.data)
        for options in self.library.warm_up:
            self.estimator(**options).fit(*self.library.adapted(few.X, few.y))

    @abstractmethod
    def ready(self) -> None:
        """Get ready for one repetition; not timed."""

    @abstractmethod
    def run(self) -> None:
        """Do it; timed."""

    @abstractmethod
    def evidence(self) -> Evidence:
        """Return what came out of the first repetition."""

    @classmethod
    def objective(cls, data: Dataset, evidence: Evidence) -> float:
        """Return the objective of what came out, computed here, by the same code for all; NaN if there is none."""
        return dual_objective(data, evidence)

    @classmethod
    def gap(cls, data: Dataset, evidence: Evidence) -> float:
        """Return how far what came out is from optimal; called where the objective falls short of another's."""
        return kkt_gap(data, evidence)

    def answer(self) -> Answer:
        """Repeat for `ENOUGH_SECONDS` seconds, at least once; the fastest repetition counts."""
        first = best = spent = self.repetition()
        peak, evidence = peak_size(), self.evidence()
        while spent < ENOUGH_SECONDS:
            seconds = self.repetition()
            best, spent = min(best, seconds), spent + max(seconds, ENOUGH_SECONDS / 20)
        return Answer(best, first, peak, evidence)

    def repetition(self) -> float:
        """Do it once; return the seconds."""
        self.ready()
        began = time.perf_counter()
        self.run()
        return time.perf_counter() - began


class Fit(Task):
    """Train."""

    name = "fit"

    def ready(self) -> None:
        """Make an estimator, and the arguments it wants."""
        self.fitted, self.arguments = self.estimator(), self.library.adapted(self.data.X, self.data.y)

    def run(self) -> None:
        """Fit."""
        self.fitted.fit(*self.arguments)

    def evidence(self) -> Evidence:
        """Return α, and what the library counted."""
        coef = self.fitted.dual_coef_
        coef = coef.toarray() if hasattr(coef, "toarray") else coef
        iterations = getattr(self.fitted, "n_iter_", None)
        return Evidence(
            support=np.asarray(self.fitted.support_, dtype=np.int64),
            coef=np.array(coef, dtype=np.float64).ravel(),
            iterations=None if iterations is None else int(np.sum(iterations)),
            kernel_rows=getattr(self.fitted, "n_kernel_rows_", None),
        )


class Predict(Task):
    """Predict the training set."""

    name = "predict"

    def __init__(self, library: Library, data: Dataset, cache_mb: float) -> None:
        super().__init__(library, data, cache_mb)
        self.fitted: Any = None

    def ready(self) -> None:
        """Fit, the first time."""
        if self.fitted is None:
            self.fitted = self.estimator().fit(*self.library.adapted(self.data.X, self.data.y))
        self.X = self.library.adapted(self.data.X, self.data.y)[0]

    def run(self) -> None:
        """Predict."""
        self.labels = self.fitted.predict(self.X)

    def evidence(self) -> Evidence:
        """Return the labels."""
        return Evidence(labels=np.sign(np.asarray(self.labels, dtype=np.float64)).astype(np.int8))


class FirstFit(Fit):
    """The first fit of a process: importing and compiling included, nothing warmed up, once."""

    name = "first fit"

    def warm_up(self) -> None:
        """Do nothing."""

    def answer(self) -> Answer:
        """Fit once."""
        began = time.perf_counter()
        self.ready()
        self.run()
        seconds = time.perf_counter() - began
        return Answer(seconds, seconds, peak_size(), self.evidence())


class Threads(Task):
    """Ask how many threads the library may use; its seconds mean nothing."""

    name = "threads"

    def ready(self) -> None:
        """Do nothing: the library is loaded by `warm_up`."""

    run = ready

    def evidence(self) -> Evidence:
        """Return the number of threads as the only part."""
        return Evidence(parts={"threads": float(self.library.threads())})
