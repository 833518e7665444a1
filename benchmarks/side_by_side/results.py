"""What is passed around: evidence and answers from the processes, outcomes and rows for the tables."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

__all__ = ["Answer", "Evidence", "Outcome", "Row"]


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
    """Seconds of the fastest and of the first repetition of a turn, the peak resident size in bytes, the evidence."""

    seconds: float
    first: float
    peak: float
    evidence: Evidence


@dataclass
class Outcome:
    """What one library did on one problem.

    Attributes
    ----------
    seconds : float
        Of the fastest turn; infinite if there is none.
    first : float
        Of the first repetition that the process did on this problem.
    stopped : str
        Why there is none.
    peak : float
        Largest resident size of the process up to the end of a first repetition, in bytes.
    objective : float
        f(α), computed by our code; NaN if the task has none.
    gap : float
        ψ(α), computed by our code, if the objective falls short.
    iterations, kernel_rows : int or None
    parts : dict
        Seconds of the watched parts.
    labels : ndarray or None
        Predictions.
    """

    seconds: float = math.inf
    stopped: str = ""
    peak: float = math.nan
    objective: float = math.nan
    gap: float = math.nan
    iterations: int | None = None
    kernel_rows: int | None = None
    parts: dict[str, float] = field(default_factory=dict)
    labels: np.ndarray | None = None
    first: float = math.inf


@dataclass
class Row:
    """A problem, its size, and the outcome of each library: a row of a table."""

    name: str
    n: int
    d: int
    outcomes: dict[str, Outcome]
