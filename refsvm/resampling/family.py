"""What rounds over one data set share: the kernel matrix, the binary problems, and how a seed is made."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations, pairwise
from typing import Any

import numpy as np

from refsvm.kernels.gram import KernelMatrix, held_as_array
from refsvm.kernels.rows import megabytes
from refsvm.problem import DualProblem
from refsvm.result import Solution
from refsvm.seeders.base import Seeder
from refsvm.solver.handover import numba_is_installed
from refsvm.solver.rounds import Rounds

__all__ = ["in_parts", "pair_problems", "seeds_from", "shared_gram"]


def shared_gram(gram: KernelMatrix, cache_mb: float) -> KernelMatrix:
    """Return the kernel matrix as an array where the budget holds it, computed in one product; else as it was.

    Any number of rounds and threads may read it, and nothing is computed twice.
    """
    if gram.dense is not None or megabytes(gram.n, gram.n) > cache_mb:
        return gram
    return held_as_array(gram)


def pair_problems(gram: KernelMatrix, codes: np.ndarray, penalties: np.ndarray) -> Iterator[DualProblem]:
    """Yield the binary problems of all pairs of classes, over all n examples: those of other classes have L = U = 0.

    So one kernel matrix serves all pairs, and the decision values of every example are read off each gradient. Order
    and signs are those of `refsvm.multiclass.one_vs_one.pairs`.

    Parameters
    ----------
    gram : KernelMatrix
        Of all n examples.
    codes : ndarray of shape (n,), int
        Class numbers 0 … k − 1.
    penalties : ndarray of shape (n,), float64
        C of each example.
    """
    k = int(codes.max()) + 1
    for p, q in combinations(range(k), 2):
        positive, negative = (q, p) if k == 2 else (p, q)
        labels = (codes == positive) * 1.0 - (codes == negative) * 1.0
        signed = np.where(labels == 0.0, 0.0, labels * penalties)
        yield DualProblem(gram, labels, 0.0, np.minimum(0.0, signed), np.maximum(0.0, signed))


def seeds_from(seeder: Seeder, solved: Solution, rounds: Rounds) -> Callable[[DualProblem], np.ndarray]:
    """Return ``seeder.seeds_from(solved)``, the twin's where there is one and all kernel rows are in memory."""
    compiles = numba_is_installed() and solved.engine != "numpy" and seeder.twin() is not None
    if compiles and rounds.rows.holds_all and rounds.rows.values.dtype == np.float64:
        from refsvm.fast.seeding import CompiledSeeds

        return CompiledSeeds(seeder, solved, rounds.rows)
    return seeder.seeds_from(solved)


def in_parts(items: list[Any], count: int) -> list[list[Any]]:
    """Split a list into at most `count` parts of neighbours, sizes as equal as possible.

    Examples
    --------
    >>> from refsvm.resampling.family import in_parts
    >>> in_parts([1, 2, 3, 4, 5], 2)
    [[1, 2], [3, 4, 5]]
    """
    count = max(1, min(count, len(items)))
    edges = [len(items) * part // count for part in range(count + 1)]
    return [items[a:b] for a, b in pairwise(edges)]
