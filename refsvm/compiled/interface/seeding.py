"""The arguments of seeders' twins, and the signature of these twins."""

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
    """The solved problem and the next problem; a compiled seeder may write to the last four arrays.

    `scratch` has one entry for each variable, followed by as many entries as `memory` has.
    """

    solved: np.ndarray  # α*, the optimal α of the solved problem, shape (n,)
    gradient: np.ndarray  # the gradient at α*
    solved_lower: np.ndarray  # the box of the solved problem
    solved_upper: np.ndarray
    v: np.ndarray  # v of the next problem; the next three fields are its L, U and z
    lower: np.ndarray
    upper: np.ndarray
    z: float
    # the read-only array KernelRows.values: row i of K is kernel[slots[i]], or missing if slots[i] < 0
    kernel: np.ndarray
    slots: np.ndarray
    memory: np.ndarray  # the array that the seeder's method `memory` returned
    seed: np.ndarray  # the compiled seeder writes the seed, a feasible α of the next problem, here
    chosen: np.ndarray  # one mark for each variable, which the compiled seeder may read and write
    scratch: np.ndarray  # memory for intermediate numbers
    now: np.ndarray  # one record: the index of the kernel row that the compiled seeder requests, or −1


REQUEST = np.dtype([("missing", np.int64)])

_vector, _rows = types.Array(float64, 1, "C"), types.Array(float64, 2, "C", readonly=True)
_request = types.Array(numba.from_dtype(REQUEST), 1, "C")
_indices, _bytes = types.Array(int64, 1, "C"), types.Array(int8, 1, "C")

SEEDING = Block(
    Seeding,
    (
        _vector, _vector, _vector, _vector,
        _vector, _vector, _vector, float64,
        _rows, _indices,
        _vector, _vector, _bytes, _vector, _request,
    ),
)  # fmt: skip

SEED = int64(_vector, SEEDING)
"""seed(parameters, seeding) -> 0"""


def room_for_seeds(
    problem: DualProblem, lower: np.ndarray, upper: np.ndarray, rows: KernelRows, memory: np.ndarray
) -> Seeding:
    """Return the arguments of a compiled seeder; the caller must write the solved problem and the box to them."""
    n = problem.n
    return Seeding(
        np.empty(n), np.empty(n), np.empty(n), np.empty(n),
        np.array(problem.v), lower, upper, float(problem.z), read_only(rows.values), rows.slots,
        memory, np.empty(n), np.empty(n, dtype=np.int8), np.empty(n + len(memory)), no_request(),
    )  # fmt: skip


def no_request() -> np.ndarray:
    """Return a record in which a compiled seeder can request a kernel row."""
    return np.full(1, -1, dtype=REQUEST).view(np.recarray)


class CompiledSeeds:
    """Calls a compiled seeder to compute seeds from one solution.

    Parameters
    ----------
    seeder : Seeder
    solved : Solution
    rows : KernelRows
        The kernel rows that the twin reads; missing rows are computed on request.
    memory : ndarray
        The data that the seeder has computed for all seeds from this solution, ``seeder.memory(solved, steps)``.

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
        for array, part in zip(self._seeding[:4], parts, strict=True):
            # copy each part into the existing array, because the arguments of the compiled function hold its address
            array[:] = part
        self._parameters = parameters_of(seeder)

    def __call__(self, problem: DualProblem) -> np.ndarray:
        """Return a feasible α for `problem`."""
        self._seeding.lower[:], self._seeding.upper[:] = problem.lower, problem.upper
        while self._provides_row(self._twin(self._parameters, self._seeding)):
            pass
        return self._seeding.seed.copy()

    def _provides_row(self, code: int) -> bool:
        """If the twin has requested a kernel row, compute the row and return True."""
        missing = int(self._seeding.now[0].missing)
        if missing < 0 and code != 0:
            raise RuntimeError(
                f"The twin of {self._seeder!r} returned {code}; it must return 0, and call row_or_ask for a kernel row."
            )
        if missing < 0:
            return False
        if self._rows.slots[missing] >= 0:
            raise RuntimeError(
                f"The twin of {self._seeder!r} asked for kernel row {missing}, which is in memory; use this row."
            )
        # compute the row; the caller then runs the compiled seeder again from the beginning
        self._rows.row(missing)
        self._seeding.now[0].missing = -1
        return True


def compiled_seed(seeder: Seeder, solved: Solution, problem: DualProblem, rows: KernelRows) -> np.ndarray:
    """Return ``seeder.seed(solved, problem)``, computed by the seeder's twin from stored kernel rows."""
    return CompiledSeeds(seeder, solved, rows, seeder.memory(solved, solved.longest_round))(problem)


class TwinSeeder:
    """A seeder that calls its twin; all seeds from one solution share the packed arguments."""

    def __init__(self, seeder: Seeder, rows: KernelRows) -> None:
        self.of, self.rows = seeder, rows
        self._seeds: tuple[Solution, np.ndarray, CompiledSeeds] | None = None

    def seed(self, solved: Solution, problem: DualProblem, memory: np.ndarray = NOTHING) -> np.ndarray:
        """Return a feasible α for `problem`."""
        # pack a solution only once, because packing takes longer than computing many seeds
        if self._seeds is None or self._seeds[0] is not solved or self._seeds[1] is not memory:
            self._seeds = solved, memory, CompiledSeeds(self.of, solved, self.rows, memory)
        return self._seeds[2](problem)
