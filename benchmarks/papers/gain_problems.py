"""The problems and selectors of Glasmachers & Igel (2006), with their published figures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import data
from cpu_solve import CPUSolve
from newton_step_gap import NewtonStepGap

from refsvm import (
    RBF,
    HybridMaximumGain,
    KKTGap,
    MostViolatingPair,
    NewtonStep,
    SecondOrder,
    Shrinking,
    WorkingSetGap,
)
from refsvm.datasets import Dataset
from refsvm.experiment import Problem, Solve

MVP, SECOND = "LIBSVM-2.71 (MVP)", "LIBSVM-2.8 (second order)"
HMG, HMG_NEWTON, HMG_KKT = "HMG, μ* < ε", "HMG, μ̂ < ε", "HMG, KKT gap"


@dataclass(frozen=True)
class Task:
    """A line of Table 1: a data set with its σ and C, and which part of its kernel matrix the cache holds."""

    name: str
    load: Callable[[], Dataset]
    n: int
    sigma: float
    C: float
    fraction: float

    @property
    def problem(self) -> Problem:
        """The problem, with γ = 1/(2σ²)."""
        return Problem(self.name, self.load, RBF(1 / (2 * self.sigma**2)), self.C)

    def cache_mb(self, fraction: float | None = None) -> float:
        """Memory for that part of the n² float64 values of K, for three rows at least."""
        rows = max(3.0, (self.fraction if fraction is None else fraction) * self.n)
        return rows * self.n * 8 / 2**20


WHOLE = {"connect-4": 30_555}  # as in the paper; all 60,000 digits take hours
FULL = ("connect-4", "MNIST")
SMALL = {"spambase": 2000, "connect-4": 2000, "MNIST": 1000}
"""Sizes for the open questions."""


def tasks(data_dir: Path | None, sizes: dict[str, int]) -> dict[str, Task]:
    """Return the three public problems of Table 1, the first n examples of each in one random order."""
    lines = {
        "spambase": (data.standardised_spambase, 10.0, 50.0, 0.472),
        "connect-4": (data.connect_4, 1.5, 4.5, 0.0107),
        "MNIST": (data.mnist, 3500.0, 50.0, 0.0028),
    }
    found = {}
    for name, n in sizes.items():
        read, sigma, C, fraction = lines[name]
        load = partial(part, read, data_dir, n)
        found[name] = Task(f"{name} ({n:,})", load, n, sigma, C, fraction)
    return found


def part(read: Callable[[Path | None], Dataset], data_dir: Path | None, n: int) -> Dataset:
    """Read a data set and take its first n examples."""
    return data.first(read(data_dir), n)


def strategies(task: Task, shrinking: bool | Shrinking, fraction: float | None = None) -> list[Solve]:
    """MVP, second order, and HMG with the paper's stopping rule, read in two ways, and with that of the others."""
    solve = partial(
        CPUSolve, step=NewtonStep(), shrinking=shrinking, cache_mb=task.cache_mb(fraction), max_iter=10**9,
        cache_dtype="float64",
    )  # fmt: skip
    return [
        solve(MVP, selector=MostViolatingPair()),
        solve(SECOND, selector=SecondOrder()),
        solve(HMG, selector=HybridMaximumGain(), stop=WorkingSetGap()),
        solve(HMG_NEWTON, selector=HybridMaximumGain(), stop=NewtonStepGap()),
        solve(HMG_KKT, selector=HybridMaximumGain(), stop=KKTGap()),
    ]


# Iterations, seconds and objective of Table 2; iterations and seconds without shrinking of Table 4.
TABLE_1 = {  # dim., part of K in the cache, ℓ, SV, BSV
    "spambase": ("57", "47.2 %", 4601, "18.5 %", "11.7 %"),
    "connect-4": ("42", "1.07 %", 30_555, "27.0 %", "7.7 %"),
    "MNIST": ("784", "0.28 %", 60_000, "10.5 %", "4.6 %"),
}
TABLE_2 = {
    "spambase": {MVP: (36610, 11.21, 27019.138), SECOND: (9228, 8.44, 27019.140), HMG_NEWTON: (10563, 9.17, 27019.140)},
    "connect-4": {MVP: (65167, 916, 13557.542), SECOND: (45504, 734, 13557.542), HMG_NEWTON: (50281, 633, 13557.536)},
    "MNIST": {
        MVP: (185162, 13657, 143199.142), SECOND: (110441, 9957, 143199.146), HMG_NEWTON: (152873, 7485, 143199.160)
    },
}  # fmt: skip
TABLE_4 = {
    "spambase": {MVP: (33340, 12.77), SECOND: (9123, 8.98), HMG_NEWTON: (9342, 11.41)},
    "connect-4": {MVP: (65735, 2223), SECOND: (45466, 1567), HMG_NEWTON: (49512, 1005)},
    "MNIST": {MVP: (187653, 94981), SECOND: (110470, 58213), HMG_NEWTON: (155182, 41097)},
}
TABLE_5 = {  # part of the kernel matrix in the cache → seconds
    0.0056: {MVP: 958, SECOND: 766, HMG_NEWTON: 656},
    0.0112: {MVP: 916, SECOND: 734, HMG_NEWTON: 633},
    0.0280: {MVP: 758, SECOND: 649, HMG_NEWTON: 583},
    0.0560: {MVP: 603, SECOND: 547, HMG_NEWTON: 555},
}
ONE_ROW = {"spambase": (14023, 27019.134), "connect-4": (83305, 13557.529)}
WHOLE_CACHE = {"spambase": (7280, 27019.143), "connect-4": (51285, 13557.538)}
