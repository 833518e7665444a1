"""What the twins of seeders are given, and the signature of their role."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numba import float64, int8, int64, types

from refsvm.fast.dispatch import entry_point, pointer_to
from refsvm.fast.twin import cached, ready

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
"""seed(parameters, seeding) -> 0, or −1 − i where kernel row i is wanted, or MORE"""

MORE = 1
"""Answer of a twin that wants all of `refsvm.Seeder.prepare` in place of the outline."""


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


def compiled_seeds(seed, seeder, seeding, lower, upper, factors, starts):  # type: ignore[no-untyped-def]
    """Write the seeds for some boxes, the given one times a row of `factors` each; return 0, or the code of `seed`."""
    for place in range(len(starts)):
        for t in range(len(lower)):
            seeding.lower[t] = seeding.upper[t] = 0.0
            if factors[place, t] != 0.0:  # 0 · ∞ is 0
                seeding.lower[t], seeding.upper[t] = (
                    lower[t] * factors[place, t],
                    upper[t] * factors[place, t],
                )
        code = seed(seeder, seeding)
        if code != 0:
            return code
        for t in range(len(lower)):
            starts[place, t] = seeding.seed[t]
    return 0


seeds_of_boxes = cached(compiled_seeds, nogil=True)
SEEDS = (types.FunctionType(SEED), _vector, SEEDING, _vector, _vector, _matrix, _matrix)
"""Arguments of `compiled_seeds`."""


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
        self._seeder, self._solved, self._rows, n = seeder, solved, rows, solved.problem.n
        self._seeding = seeding_of(solved, np.empty(n), np.empty(n), rows, seeder.outline(solved))
        self._has_all = False
        self._parameters = np.array(seeder.parameters(), dtype=np.float64)

    def __call__(self, problem: DualProblem) -> np.ndarray:
        """Return the feasible α."""
        self._seeding.lower[:], self._seeding.upper[:] = problem.lower, problem.upper
        while (code := self._twin(self._parameters, self._seeding)) != 0:
            self._provide(code)
        return self._seeding.seed.copy()

    def write(self, problem: DualProblem, factors: np.ndarray, starts: np.ndarray) -> None:
        """Write the feasible α for several boxes: that of the problem times the factors.

        Parameters
        ----------
        problem : DualProblem
        factors, starts : ndarrays of shape (boxes, n), float64
            Contiguous; `starts` is written to.
        """
        run, seed = entry_point(seeds_of_boxes, SEEDS, ()), pointer_to(self._twin)
        box = np.array(problem.lower), np.array(problem.upper)
        while (code := run(seed, self._parameters, self._seeding, *box, factors, starts)) != 0:
            self._provide(code)

    def _provide(self, code: int) -> None:
        """Get what the twin has asked for: a kernel row, or all of what its seeder prepares."""
        asked = f"The twin of {self._seeder!r} asked for"
        if code == MORE and not self._has_all:
            memory, self._has_all = self._seeder.prepare(self._solved), True
            room = np.empty(len(self._seeding.seed) + len(memory))
            self._seeding = self._seeding._replace(memory=memory, scratch=room)
        elif code >= 0:
            raise RuntimeError(f"{asked} what its seeder prepares, which it has.")
        elif self._rows.slots[-1 - code] >= 0:
            raise RuntimeError(f"{asked} kernel row {-1 - code}, which is in memory.")
        else:
            self._rows.row(-1 - code)


def compiled_seed(seeder: Seeder, solved: Solution, problem: DualProblem, rows: KernelRows) -> np.ndarray:
    """Return ``seeder.seed(solved, problem)`` as its twin computes it, from the kernel rows that are stored."""
    return CompiledSeeds(seeder, solved, rows)(problem)
