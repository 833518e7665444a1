"""What rounds over one data set share: the kernel matrix, and the binary problems of several classes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any, Final

import numpy as np

from refsvm.kernels.gram import KernelMatrix, held_as_array
from refsvm.kernels.rows import megabytes
from refsvm.problem import DualProblem
from refsvm.seeders.base import Seeder
from refsvm.selectors.base import WorkingSetSelector
from refsvm.solver.rules import chosen_rules
from refsvm.steps.base import StepRule
from refsvm.stopping.base import StoppingRule

__all__ = ["pair_problems", "read_single", "shared_gram"]


SINGLE_FROM: Final = 1_500
"""Examples from which on rounds read kernel values as float32: a step waits for memory, and halves its wait."""


def shared_gram(gram: KernelMatrix, cache_mb: float, single: bool = False) -> KernelMatrix:
    """Return the kernel matrix as an array where the budget holds it, computed in one product; else as it was.

    Any number of rounds and threads may read it, and nothing is computed twice.
    """
    dtype = np.float32 if single else np.float64
    if gram.dense is not None or megabytes(gram.n, gram.n, dtype) > cache_mb:
        return gram
    return held_as_array(gram, dtype)


def read_single(
    problem: DualProblem,
    seeder: Seeder,
    *,
    selector: WorkingSetSelector | None = None,
    step: StepRule | None = None,
    stop: StoppingRule | None = None,
    cache_dtype: str = "auto",
    **_: Any,
) -> bool:
    """Whether rounds of these rules and this seeder read kernel values as float32, as `refsvm.solve` may.

    Parameters
    ----------
    problem : DualProblem
    seeder : Seeder
    selector, step, stop, cache_dtype
        As in `refsvm.Rounds`, whose other arguments do not matter.
    """
    rules = chosen_rules(selector, step, stop)
    if seeder.reads_rows or not rules.read_single or cache_dtype == "float64":
        return False
    return cache_dtype == "float32" or (problem.n >= SINGLE_FROM and rules.allow_single(problem))


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
        yield DualProblem._of_checked(gram, labels, np.minimum(0.0, signed), np.maximum(0.0, signed))
