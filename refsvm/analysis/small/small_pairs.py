"""Makes stacks of small problems (`refsvm.analysis.small.small`), one problem for each pair of small classes.

If the kernel matrix of all examples fits into the budget, it is computed once. With a smaller budget, the classes are
divided into groups. Each group then has a kernel matrix, for the pairs of classes within the group, and every two
groups have a kernel matrix, for the pairs with one class in each of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations_with_replacement
from typing import Final, NamedTuple

import numpy as np

from refsvm.analysis.small.small import FEW, SmallProblems
from refsvm.analysis.small.stacked import SmallBackend
from refsvm.core.kernels.gram import dense_gram
from refsvm.core.kernels.matrix import KernelMatrix
from refsvm.core.kernels.precision import noise_of_values
from refsvm.core.solver.rules import Rules

CHUNK_ENTRIES: Final = 2**19
"""Number of kernel values in a stack: 4 MiB, whose steps take some ten milliseconds."""

FEWEST_EXAMPLES: Final = 2 * FEW
"""Number of examples whose kernel matrix is computed in one piece; a budget below this permits no stacks."""


class Stack(NamedTuple):
    """Pairs of classes whose problems have the same number of examples, all started at α = 0.

    Attributes
    ----------
    numbers : ndarray of shape (P,), int64
        Indices of the pairs in the order (0, 1), (0, 2), …, (k − 2, k − 1).
    first, second : ndarrays of shape (P,), int64
        Class numbers of each pair; the first class is the positive class.
    rows : ndarray of shape (P, m), int64
        Examples of each pair, ascending.
    problems : SmallProblems
        The problems of the pairs.
    noise : float
        Approximate rounding error of kernel values; 0 if it is negligible.
    is_psd : bool
        Whether the kernel is known to be positive semi-definite.
    """

    numbers: np.ndarray
    first: np.ndarray
    second: np.ndarray
    rows: np.ndarray
    problems: SmallProblems
    noise: float
    is_psd: bool

    def solve(self, backend: SmallBackend, rules: Rules, limit: int) -> np.ndarray:
        """Take up to `limit` steps in each problem; return which solutions `SmallProblems.finish` accepts."""
        backend.small(self.problems, rules, limit)
        return self.problems.finish(rules, self.noise, self.is_psd)


def stacks(gram: KernelMatrix, codes: np.ndarray, penalties: np.ndarray, cache_mb: float) -> Iterator[Stack]:
    """Yield the pairs of small classes, in stacks of pairs with equally many examples; needs at least three classes.

    Parameters
    ----------
    gram : KernelMatrix
        The kernel matrix of n examples.
    codes : ndarray of shape (n,), int
        Class numbers 0 … k − 1.
    penalties : ndarray of shape (n,), float64
        C of each example, positive and finite.
    cache_mb : float
        Budget for kernel values in MiB.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import RBF
    >>> from refsvm.core.kernels import Gram
    >>> from refsvm.analysis.small.small_pairs import stacks
    >>> gram, codes = Gram(RBF(1.0), np.arange(5.0)[:, None]), np.array([0, 1, 2, 1, 0])
    >>> [(stack.numbers.tolist(), stack.rows.tolist()) for stack in stacks(gram, codes, np.ones(5), cache_mb=1.0)]
    [([1, 2], [[0, 2, 4], [1, 2, 3]]), ([0], [[0, 1, 3, 4]])]
    """
    k, sizes, members = int(codes.max()) + 1, np.bincount(codes), members_of(codes)
    for one, other in combinations_with_replacement(groups(sizes, cache_mb), 2):
        within = one is other
        first, second = (each.ravel() for each in np.meshgrid(one, other, indexing="ij"))
        some = (first < second) if within else slice(None)
        first, second = np.minimum(first, second)[some], np.maximum(first, second)[some]
        size = sizes[first] + sizes[second]
        if not (size <= FEW).any():
            continue
        examples = np.flatnonzero(np.isin(codes, one if within else np.concatenate([one, other])))
        part = gram if len(examples) == gram.n else gram.restrict(examples)
        K = part.dense
        if K is None or K.dtype != np.float64:
            K = dense_gram(part).dense
        assert K is not None
        noise = noise_of_values(gram, float(np.abs(K.diagonal()).max()))
        for m in np.unique(size[size <= FEW]).tolist():
            alike = np.flatnonzero(size == m)
            for chunk in np.array_split(alike, -(-len(alike) * m * m // CHUNK_ENTRIES)):
                p, q = first[chunk], second[chunk]
                # `members` pads short rows with n; n is larger than the index of any example, so sorting puts n last
                rows = np.sort(np.concatenate([members[p], members[q]], axis=1), axis=1)[:, :m]
                there = np.searchsorted(examples, rows)
                signed = np.where(codes[rows] == p[:, None], 1.0, -1.0)
                box = signed * penalties[rows]
                kernels = K[there[:, :, None], there[:, None, :]]
                problems = SmallProblems(kernels, signed, np.minimum(0.0, box), np.maximum(0.0, box))
                numbers = p * k - p * (p + 1) // 2 + q - p - 1
                yield Stack(numbers, p, q, rows, problems, noise, gram.facts.is_psd)


def members_of(codes: np.ndarray) -> np.ndarray:
    """Return a table whose row c lists the examples of class c, ascending, if c is small; other entries are n."""
    n, sizes = len(codes), np.bincount(codes)
    few = sizes < FEW
    members = np.full((len(sizes), int(sizes[few].max(initial=1))), n)
    order = np.argsort(codes, kind="stable")
    places = np.arange(n) - (np.cumsum(sizes) - sizes)[codes[order]]
    some = few[codes[order]]
    members[codes[order][some], places[some]] = order[some]
    return members


def groups(sizes: np.ndarray, cache_mb: float) -> list[np.ndarray]:
    """Divide the small classes into groups so that the kernel matrix of any two groups fits into the budget."""
    few = np.flatnonzero(sizes < FEW)
    most = max((cache_mb * 2**20 / 8.0) ** 0.5, FEWEST_EXAMPLES)
    ends = np.cumsum(sizes[few])
    if not len(few) or ends[-1] <= most:
        return [few] if len(few) > 1 else []
    # limit a group to half of the number of examples whose kernel matrix fits into the budget
    number = (ends - 1) // max(int(most / 2.0) - FEW, 1)
    return [few[number == each] for each in np.unique(number)]
