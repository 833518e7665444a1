"""The arguments of the twins of seeders, and the signature of their role."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numba
import numpy as np
from numba import float64, int8, int64, types

from refsvm.compiled.interface.by_address import Block, by_address
from refsvm.compiled.interface.twin import ready
from refsvm.compiled.twins import parameters_of
from refsvm.core._checks import read_only
from refsvm.core.state import NOTHING

if TYPE_CHECKING:
    from refsvm.core.kernels.rows import KernelRows
    from refsvm.core.problem import DualProblem
    from refsvm.core.result import Solution
    from refsvm.core.seeders.base import Seeder


@by_address()
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
    kernel: (
        np.ndarray
    )  # KernelRows.values, to be read only: row i of K is kernel[slots[i]], missing if slots[i] < 0
    slots: np.ndarray
    memory: np.ndarray  # what the seeder's `memory` returned
    seed: np.ndarray  # the feasible α, to be written
    chosen: np.ndarray  # room for a mark on each variable
    scratch: np.ndarray  # room for numbers
    now: np.ndarray  # one record: ``seeding.now[0].missing`` is the kernel row to be computed, −1 if none


ASKED = np.dtype([("missing", np.int64)])

_vector, _rows = types.Array(float64, 1, "C"), types.Array(float64, 2, "C", readonly=True)
_asked = types.Array(numba.from_dtype(ASKED), 1, "C")
_indices, _bytes = types.Array(int64, 1, "C"), types.Array(int8, 1, "C")

SEEDING = Block(
    Seeding,
    (
        _vector, _vector, _vector, _vector,
        _vector, _vector, _vector, float64,
        _rows, _indices,
        _vector, _vector, _bytes, _vector, _asked,
    ),
)  # fmt: skip

SEED = int64(_vector, SEEDING)
"""seed(parameters, seeding) -> 0"""


def room_for_seeds(
    problem: DualProblem, lower: np.ndarray, upper: np.ndarray, rows: KernelRows, memory: np.ndarray
) -> Seeding:
    """Return the arguments of a twin that seeds problems in this box; the solved problem is to be written to them."""
    n = problem.n
    return Seeding(
        np.empty(n), np.empty(n), np.empty(n), np.empty(n),
        np.array(problem.v), lower, upper, float(problem.z), read_only(rows.values), rows.slots,
        memory, np.empty(n), np.empty(n, dtype=np.int8), np.empty(n + len(memory)), asked(),
    )  # fmt: skip


def asked() -> np.ndarray:
    """Return the record by which a seeder's twin asks for a kernel row; none is asked for."""
    return np.full(1, -1, dtype=ASKED).view(np.recarray)


class CompiledSeeds:
    """Seeds from one solution, made by the twin.

    Parameters
    ----------
    seeder : Seeder
    solved : Solution
    rows : KernelRows
        From which the twin takes kernel rows; those that it asks for are computed.
    memory : ndarray
        Data shared by the seeds from this solution, ``seeder.memory(solved, steps)``.

    Raises
    ------
    ValueError
        If the seeder has no twin.
    """

    def __init__(self, seeder: Seeder, solved: Solution, rows: KernelRows, memory: np.ndarray) -> None:
        self._twin = ready(seeder.twin())
        if self._twin is None:
            raise ValueError(f"{seeder!r} has no compiled twin; call its method seed.")
        self._seeder, self._rows, n = seeder, rows, solved.problem.n
        self._seeding = room_for_seeds(solved.problem, np.empty(n), np.empty(n), rows, memory)
        parts = solved.alpha, solved.gradient, solved.problem.lower, solved.problem.upper
        for room, part in zip(self._seeding[:4], parts, strict=True):
            # copied into arrays that stay: the arguments of a compiled function are packed once
            room[:] = part
        self._parameters = parameters_of(seeder)

    def __call__(self, problem: DualProblem) -> np.ndarray:
        """Return the feasible α."""
        self._seeding.lower[:], self._seeding.upper[:] = problem.lower, problem.upper
        while self._provides_row(self._twin(self._parameters, self._seeding)):
            pass
        return self._seeding.seed.copy()

    def _provides_row(self, code: int) -> bool:
        """Compute the kernel row that the twin has asked for; return whether it has."""
        missing = int(self._seeding.now[0].missing)
        if missing < 0 and code != 0:
            raise RuntimeError(
                f"The twin of {self._seeder!r} returned {code}; it must return 0, and call row_or_ask for a kernel row."
            )
        if missing < 0:
            return False
        if self._rows.slots[missing] >= 0:
            raise RuntimeError(
                f"The twin of {self._seeder!r} asked for kernel row {missing}, which is in memory."
            )
        # the twin begins anew once the row is there: it keeps nothing between two calls
        self._rows.row(missing)
        self._seeding.now[0].missing = -1
        return True


def compiled_seed(seeder: Seeder, solved: Solution, problem: DualProblem, rows: KernelRows) -> np.ndarray:
    """Return ``seeder.seed(solved, problem)`` as its twin computes it, from the kernel rows that are stored."""
    return CompiledSeeds(seeder, solved, rows, seeder.memory(solved, solved.longest_round))(problem)


class TwinSeeder:
    """The seeds of a seeder as its twin makes them; arguments that come from a solution are made once."""

    def __init__(self, seeder: Seeder, rows: KernelRows) -> None:
        self.of, self.rows = seeder, rows
        self._seeds: tuple[Solution, np.ndarray, CompiledSeeds] | None = None

    def seed(self, solved: Solution, problem: DualProblem, memory: np.ndarray = NOTHING) -> np.ndarray:
        """Return the feasible α."""
        # packing a solution costs more than many a seed
        if self._seeds is None or self._seeds[0] is not solved or self._seeds[1] is not memory:
            self._seeds = solved, memory, CompiledSeeds(self.of, solved, self.rows, memory)
        return self._seeds[2](problem)
