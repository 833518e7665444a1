"""What the twins of seeders are given, and the signature of their role."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numba import float64, int8, int64, types

from refsvm.fast.twin import ready

if TYPE_CHECKING:
    from refsvm.kernels.rows import KernelRows
    from refsvm.problem import DualProblem
    from refsvm.result import Solution
    from refsvm.seeders.base import Seeder

__all__ = ["SEED", "SEEDING", "CompiledSeeds", "Seeding", "compiled_seed", "room_for_seeds", "seeding_of"]


class Seeding(NamedTuple):
    """The solved problem, the next one, and the arrays a seeder's twin may write to: the last three.

    `scratch` has one value for each variable and as many more as `memory`.
    """

    solved: np.ndarray  # α*, shape (n,), and its gradient
    gradient: np.ndarray
    solved_lower: np.ndarray  # the box it was solved in
    solved_upper: np.ndarray
    v: np.ndarray  # of the next problem: v, its box, z
    lower: np.ndarray
    upper: np.ndarray
    z: float
    kernel: np.ndarray  # KernelRows.values: row i of K is kernel[slots[i]], missing if slots[i] < 0
    slots: np.ndarray
    memory: np.ndarray  # what `refsvm.Seeder.prepare` returned
    seed: np.ndarray  # the feasible α, to be written
    chosen: np.ndarray  # room for a mark on each variable
    scratch: np.ndarray  # room for numbers


_vector, _matrix = types.Array(float64, 1, "C"), types.Array(float64, 2, "C")
_indices, _bytes = types.Array(int64, 1, "C"), types.Array(int8, 1, "C")

SEEDING = types.NamedTuple(
    (
        _vector, _vector, _vector, _vector,
        _vector, _vector, _vector, float64,
        _matrix, _indices,
        _vector, _vector, _bytes, _vector,
    ),
    Seeding,
)  # fmt: skip

SEED = int64(_vector, SEEDING)
"""seed(parameters, seeding) -> 0, or −1 − i where kernel row i is wanted"""


def seeding_of(
    solved: Solution, lower: np.ndarray, upper: np.ndarray, rows: KernelRows, memory: np.ndarray
) -> Seeding:
    """Return the arguments of a twin that seeds a problem in this box from a solution of the same family."""
    problem, n = solved.problem, len(lower)
    return Seeding(
        np.array(solved.alpha), np.array(solved.gradient), np.array(problem.lower), np.array(problem.upper),
        np.array(problem.v), lower, upper, float(problem.z), rows.values, rows.slots,
        memory, np.empty(n), np.empty(n, dtype=np.int8), np.empty(n + len(memory)),
    )  # fmt: skip


def room_for_seeds(problem: DualProblem, lower: np.ndarray, upper: np.ndarray, rows: KernelRows) -> Seeding:
    """Return the arguments of a twin for rounds of compiled code, which writes the solved problem to them."""
    n = problem.n
    return Seeding(
        np.empty(n), np.empty(n), np.empty(n), np.empty(n),
        np.array(problem.v), lower, upper, float(problem.z), rows.values, rows.slots,
        np.zeros(0), np.empty(n), np.empty(n, dtype=np.int8), np.empty(n),
    )  # fmt: skip


class CompiledSeeds:
    """The twin's ``seeder.seeds_from(solved)``: what the seeds of one solution share is made once.

    Parameters
    ----------
    seeder : Seeder
    solved : Solution
    rows : KernelRows
        From which the twin takes kernel rows; those that it asks for are computed.

    Raises
    ------
    ValueError
        If the seeder has no twin.
    """

    def __init__(self, seeder: Seeder, solved: Solution, rows: KernelRows) -> None:
        self._twin = ready(seeder.twin())
        if self._twin is None:
            raise ValueError(f"{seeder!r} has no compiled twin; call its method seed.")
        self._seeder, self._rows, n = seeder, rows, solved.problem.n
        self._seeding = seeding_of(solved, np.empty(n), np.empty(n), rows, seeder.prepare(solved))
        self._parameters = np.array(seeder.parameters(), dtype=np.float64)

    def __call__(self, problem: DualProblem) -> np.ndarray:
        """Return the feasible α."""
        rows, seeding = self._rows, self._seeding
        seeding.lower[:], seeding.upper[:] = problem.lower, problem.upper
        while (code := self._twin(self._parameters, seeding)) < 0:
            if rows.slots[-1 - code] >= 0:
                raise RuntimeError(
                    f"The twin of {self._seeder!r} asked for kernel row {-1 - code}, which is in memory."
                )
            rows.row(-1 - code)
        return seeding.seed.copy()


def compiled_seed(seeder: Seeder, solved: Solution, problem: DualProblem, rows: KernelRows) -> np.ndarray:
    """Return ``seeder.seed(solved, problem)`` as its twin computes it, from the kernel rows that are stored."""
    return CompiledSeeds(seeder, solved, rows)(problem)
