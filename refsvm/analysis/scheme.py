"""OneVsOne: lists the two-class machines that are trained for several classes, and counts their votes.

All code that trains, stores or evaluates machines of several classes takes the order, the signs and the votes of the
machines from this file.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from refsvm.core.kernels.matrix import KernelMatrix
from refsvm.core.problem import DualProblem


@dataclass(frozen=True)
class OneVsOne:
    """One machine for each pair of k classes, with the order, signs and votes of LIBSVM.

    The pairs are (0, 1), (0, 2), …, (k − 2, k − 1), and the first class of a pair is its positive class. With two
    classes the single pair is reversed, as in scikit-learn, so that h(x) > 0 means the second class.

    Parameters
    ----------
    k : int
        Number of classes; 0 for problems without classes.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm.analysis.scheme import OneVsOne
    >>> OneVsOne(3).pairs, OneVsOne(3).labels(np.array([0, 1, 2]), (0, 2))
    ([(0, 1), (0, 2), (1, 2)], array([ 1.,  0., -1.]))
    >>> OneVsOne(3).votes(np.array([[-1.0, 1.0, 1.0], [1.0, -1.0, 1.0]]))
    array([1, 0])
    """

    k: int

    @cached_property
    def pairs(self) -> list[tuple[int, int]]:
        """The numbers of the two classes of each machine, in order."""
        return [*combinations(range(self.k), 2)]

    def named(self, classes: np.ndarray) -> Iterator[tuple[Any, Any]]:
        """Yield the names of the two classes of each machine; `classes` contains the names of all classes."""
        return combinations(classes.tolist(), 2)

    def places(self, present: np.ndarray) -> list[int]:
        """Return the indices of the machines whose two classes are among `present`, an ascending list."""
        chosen = {*combinations(present.tolist(), 2)}
        return [number for number, pair in enumerate(self.pairs) if pair in chosen]

    def sides(self, pair: tuple[int, int]) -> tuple[int, int]:
        """Return the negative and the positive class of a machine."""
        return pair if self.k == 2 else (pair[1], pair[0])

    def labels(self, codes: np.ndarray, pair: tuple[int, int]) -> np.ndarray:
        """Return the examples' labels for a machine, shape (n,): 1, −1, or 0 for other classes."""
        negative, positive = self.sides(pair)
        return (codes == positive) * 1.0 - (codes == negative) * 1.0

    def votes(self, values: np.ndarray) -> np.ndarray:
        """Return the number of the class for which most machines vote; on a tie the lowest number, as in LIBSVM.

        Parameters
        ----------
        values : ndarray of shape (t, k(k − 1)/2), float64
            Decision values, including the intercepts.

        Returns
        -------
        ndarray of shape (t,), int64
        """
        if self.k == 2:
            return (values[:, 0] >= 0.0).astype(np.int64)
        count, first = np.zeros((len(values), self.k), dtype=np.int64), 0
        for p in range(self.k - 1):  # the pairs (p, p + 1) … (p, k − 1) are adjacent columns
            wins = values[:, first : first + self.k - 1 - p] > 0.0
            count[:, p] += np.count_nonzero(wins, axis=1)
            count[:, p + 1 :] += ~wins
            first += self.k - 1 - p
        return count.argmax(axis=1)


def problems_of_pairs(gram: KernelMatrix, codes: np.ndarray, penalties: np.ndarray) -> Iterator[DualProblem]:
    """Yield a problem over all n examples for each pair of classes, in the order and with the signs of `OneVsOne`.

    Examples of other classes have L = U = 0. All pairs therefore share one kernel matrix, and the gradient of each
    problem gives the decision values of all examples.

    Parameters
    ----------
    gram : KernelMatrix
        The kernel matrix of all n examples.
    codes : ndarray of shape (n,), int
        Class numbers 0 … k − 1.
    penalties : ndarray of shape (n,), float64
        C of each example.
    """
    scheme = OneVsOne(int(codes.max()) + 1)
    for pair in scheme.pairs:
        yield DualProblem._of_labels(gram, scheme.labels(codes, pair), penalties)
