"""What is measured. A task is one class: what is got ready without the clock, and what runs against it."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from refsvm.datasets import Dataset

from .libraries import Library
from .problems import halves

__all__ = ["TASKS", "Answer", "Evidence", "Fit", "Predict", "Task", "peak_size"]

TOL = 1e-3
ENOUGH = 0.1
"""Seconds after which a turn ends; a task that takes less is repeated within the turn."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """What a library did, for the check that all did the same.

    Attributes
    ----------
    support, coef : ndarrays of shape (m,) or None
        Support vectors and their coefficients, whichever sign the library gives the classes.
    labels : ndarray of shape (n,) or None
        Predictions.
    iterations, kernel_rows : int or None
        Where the library counts them.
    parts : dict of str to float
        Seconds of the parts of the task, if they were watched.
    """

    support: np.ndarray | None = None
    coef: np.ndarray | None = None
    labels: np.ndarray | None = None
    iterations: int | None = None
    kernel_rows: int | None = None
    parts: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Answer:
    """Seconds of the fastest repetition of a turn, the peak resident size of the process in bytes, the evidence."""

    seconds: float
    peak: float
    evidence: Evidence


class Task(ABC):
    """Something that libraries do with a data set.

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

    def estimator(self) -> Any:
        """Return a new estimator of the library, with the problem's parameters."""
        return self.library.make(
            C=self.data.C, kernel="rbf", gamma=self.data.gamma, tol=TOL, cache_size=self.cache_mb
        )

    def warm_up(self) -> None:
        """Fit a few of the examples: compiles what has to be compiled and starts the threads."""
        few = halves(self.data)
        self.estimator().fit(*self.library.adapted(few.X, few.y))

    @abstractmethod
    def ready(self) -> None:
        """Get ready for one repetition; not timed."""

    @abstractmethod
    def run(self) -> None:
        """Do it; timed."""

    @abstractmethod
    def evidence(self) -> Evidence:
        """Return what came out of the first repetition."""

    def answer(self) -> Answer:
        """Repeat for `ENOUGH` seconds, at least once; the fastest repetition counts."""
        best = spent = self.repetition()
        peak, evidence = peak_size(), self.evidence()
        while spent < ENOUGH:
            seconds = self.repetition()
            best, spent = min(best, seconds), spent + max(seconds, ENOUGH / 20)
        return Answer(best, peak, evidence)

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
        return Answer(time.perf_counter() - began, peak_size(), self.evidence())


class Threads(Task):
    """Ask how many threads the library may use; its seconds mean nothing."""

    name = "threads"

    def ready(self) -> None:
        """Do nothing: the library is loaded by `warm_up`."""

    run = ready

    def evidence(self) -> Evidence:
        """Return the number of threads as the only part."""
        return Evidence(parts={"threads": float(self.library.threads())})


def peak_size() -> float:
    """Return the largest resident size of this process so far, in bytes; NaN where /proc does not tell.

    ``getrusage`` would not do: there a new process inherits the peak of the one that started it.
    """
    return told("self", "VmHWM")


def told(process: int | str, field_name: str) -> float:
    """Return a size in bytes from the status file of a process; NaN if there is none, or no such process any more."""
    try:
        lines = Path(f"/proc/{process}/status").read_text(encoding="utf-8").splitlines()
    except OSError:
        return np.nan
    sizes = [float(line.split()[1]) * 1024 for line in lines if line.startswith(f"{field_name}:")]
    return sizes[0] if sizes else np.nan


TASKS: dict[str, type[Task]] = {task.name: task for task in (Fit, Predict, FirstFit, Threads)}
