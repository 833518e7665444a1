"""What rounds over one data set share: the kernel matrix, and the binary problems of several classes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from refsvm.kernels.gram import KernelMatrix, held_as_array
from refsvm.kernels.rows import megabytes
from refsvm.problem import DualProblem

__all__ = ["pair_problems", "shared_gram"]


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
        yield DualProblem._of_checked(gram, labels, np.minimum(0.0, signed), np.maximum(0.0, signed))
