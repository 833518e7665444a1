"""The sets and models of Franc, Laskov & Müller (2008), with their published figures."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from refsvm import RBF, Linear
from refsvm.datasets import Dataset, open_data
from refsvm.experiment import Problem

__all__ = ["MOST", "PUBLISHED", "Published", "grid", "train_of"]


@dataclass(frozen=True)
class Published:
    """A set's size of training, and for linear and RBF: LOO and test error (Table 2), speed-ups and Prec (Table 3)."""

    train: int
    errors: tuple[float, float, float, float]
    linear: tuple[float, float, float]
    rbf: tuple[float, float, float]


PUBLISHED = {
    "banana": Published(400, (41.40, 47.80, 8.55, 10.43), (9.9, 12.3, 56.9), (5.1, 6.1, 81.9)),
    "breast-cancer": Published(200, (27.20, 29.00, 23.00, 26.06), (2.0, 2.1, 64.2), (1.5, 1.6, 55.6)),
    "diabetis": Published(468, (22.05, 23.44, 21.50, 23.27), (6.3, 7.2, 93.1), (1.4, 1.5, 54.8)),
    "flare-solar": Published(666, (32.85, 32.33, 32.31, 34.04), (1.0, 1.1, 59.3), (2.2, 2.4, 50.3)),
    "german": Published(700, (24.91, 24.06, 23.71, 23.61), (4.2, 4.4, 82.0), (1.1, 1.1, 31.3)),
    "heart": Published(170, (14.24, 15.22, 13.53, 15.55), (1.9, 2.1, 83.1), (1.1, 1.2, 50.3)),
    "image": Published(1300, (15.48, 15.34, 2.94, 3.15), (12.9, 14.9, 98.3), (2.9, 3.1, 75.3)),
    "ringnorm": Published(400, (23.45, 24.59, 1.10, 1.60), (2.8, 3.0, 91.8), (1.4, 1.4, 39.1)),
    "splice": Published(1000, (15.36, 16.20, 10.60, 10.95), (1.5, 1.5, 74.5), (1.0, 1.0, 14.6)),
    "thyroid": Published(140, (8.43, 10.16, 2.29, 4.87), (3.2, 5.2, 66.0), (1.5, 2.4, 80.3)),
    "titanic": Published(150, (21.20, 23.01, 15.47, 23.99), (1.0, 1.0, 17.6), (5.7, 2.7, 50.2)),
    "twonorm": Published(400, (2.50, 2.90, 2.25, 2.59), (1.9, 2.2, 89.1), (1.0, 1.0, 22.2)),
    "waveform": Published(400, (10.90, 12.95, 8.85, 10.50), (2.4, 2.6, 90.7), (1.1, 1.1, 30.9)),
}
MOST = 150
"""Training examples of a realisation, if the paper's are more: what a busy machine does in minutes."""


@cache
def opened(name: str, data_dir: str | None) -> Dataset:
    """Read a set of the IDA benchmark."""
    return open_data(f"ida_{name}", data_dir=data_dir)


def grid(name: str, kernel: str, chosen: Any) -> list[Problem]:
    """Θ: C = 10^i for the linear kernel; C = 500^(i/7) and γ = 2^(−11j/7) for RBF, all of it or a part."""
    directory = None if chosen.data_dir is None else str(chosen.data_dir)

    def problem(label: str, of: Any, C: float) -> Problem:
        return Problem(f"{name} {label}", _Opened(name, directory), of, C)

    everything = name in chosen.full
    if kernel == "linear":
        powers = range(-2, 3) if everything else range(-2, 2)
        return [problem(f"linear C=1e{i}", Linear(), 10.0**i) for i in powers]
    penalties, widths = (range(8), range(8)) if everything else ((1, 4, 7), (1, 3, 5))
    return [
        problem(f"RBF {i},{j}", RBF(2.0 ** (-11.0 * j / 7.0)), 500.0 ** (i / 7.0))
        for i in penalties
        for j in widths
    ]


@dataclass(frozen=True)
class _Opened:
    """Opens a set; a value, so that it can be sent to a process."""

    name: str
    data_dir: str | None

    def __call__(self) -> Dataset:
        return opened(self.name, self.data_dir)


def train_of(name: str, chosen: Any) -> int:
    """Training examples of a realisation."""
    most = 30 if chosen.quick else PUBLISHED[name].train if name in chosen.full else MOST
    return min(most, PUBLISHED[name].train)
