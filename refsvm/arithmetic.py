"""Passes over whole arrays, in NumPy: kernel rows added up, exponents, the most violating pair, sparse products.

Compiled code installs its own (`install`), with the same bits in one pass each. Callers use ``arithmetic.current`` and
need not know which it is. There is one for the process, since a kernel matrix is made before an engine is named.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar, Final

import numpy as np

BELOW_ALL: Final = np.array(-np.inf)
ABOVE_ALL: Final = np.array(np.inf)


class Arithmetic:
    """The readable version."""

    threads: ClassVar[int] = 1
    """Threads that may work at once: interpreted code holds the interpreter's lock."""

    sparse: ClassVar[Any] = None
    """Products of sparse rows with a table or with sparse features; None leaves them to SciPy."""

    @staticmethod
    def add_rows(target: np.ndarray, factors: np.ndarray, rows: np.ndarray, chosen: np.ndarray) -> None:
        """Add Σₖ factors[k] rows[chosen[k]] to `target`, one after another."""
        # one row after another: BLAS sums in an order of its own, and the bits would depend on it
        for slot, factor in zip(chosen.tolist(), factors, strict=True):
            target += factor * rows[slot, : len(target)]

    @staticmethod
    def exponents(inner: np.ndarray, gamma: float, x_norms: np.ndarray, z_norms: np.ndarray) -> None:
        """Turn x·z into −γ‖x − z‖², in float64."""
        # −γ‖x − z‖² = 2γ x·z − γ‖x‖² − γ‖z‖²
        exponents = inner.astype(np.float64, copy=False)
        exponents *= 2.0 * gamma
        exponents -= (gamma * x_norms)[:, None]
        exponents -= gamma * z_norms
        # rounding must not make a value exceed 1
        np.minimum(exponents, 0.0, out=inner, casting="same_kind")

    @classmethod
    def gaussian(cls, inner: np.ndarray, gamma: float, x_norms: np.ndarray, z_norms: np.ndarray) -> None:
        """Turn x·z into exp(−γ‖x − z‖²)."""
        cls.exponents(inner, gamma, x_norms, z_norms)
        np.exp(inner, out=inner)

    @staticmethod
    def most_violating_pair(
        alpha: np.ndarray, gradient: np.ndarray, lower: np.ndarray, upper: np.ndarray
    ) -> tuple[int, int, float]:
        """Return argmax of G over I_up, argmin of G over I_down, and the KKT gap ψ between them.

        I_up = {i : αᵢ < Uᵢ}, I_down = {i : αᵢ > Lᵢ}; lowest index on ties. An empty side gives index −1 and ψ = −inf.
        """
        rising = np.where(alpha < upper, gradient, BELOW_ALL)
        falling = np.where(alpha > lower, gradient, ABOVE_ALL)
        top, bottom = int(rising.argmax()), int(falling.argmin())
        highest, lowest = rising.item(top), falling.item(bottom)
        if highest == -math.inf:
            top = -1
        if lowest == math.inf:
            bottom = -1
        return top, bottom, highest - lowest if min(top, bottom) >= 0 else -math.inf


current: Arithmetic = Arithmetic()
_loaders: list[Callable[[], object]] = []


def install(arithmetic: Arithmetic) -> None:
    """Use this version from now on."""
    global current  # noqa: PLW0603  one for the process
    current = arithmetic


def load_with(loader: Callable[[], object]) -> None:
    """Register the function that `fastest` calls to install compiled code."""
    _loaders.append(loader)


def fastest() -> Arithmetic:
    """Return the fastest version, for much work: it waits until compiled code is loaded, if there is any."""
    for loader in _loaders:
        loader()
    return current
