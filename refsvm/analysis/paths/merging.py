"""Merges duplicates: examples with equal features and labels become one variable with a wider box."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from refsvm.core._checks import is_sparse
from refsvm.core.kernels.matrix import KernelMatrix, View
from refsvm.core.paths.duplicates import Merged
from refsvm.core.problem import DualProblem


def merge_variables(start: DualProblem, end: DualProblem, X: Any = None, *, alike: bool = False) -> Merged:
    """Group variables with equal kernel rows, equal v in `start`, and equal v in `end`.

    Parameters
    ----------
    start, end : DualProblem
        Problems over the same kernel matrix.
    X : ndarray or CSR of shape (n, d), optional
        The examples, by default the examples stored in the kernel matrix. Without examples, no variables are grouped.
    alike : bool
        Whether examples of different weights keep separate variables, so that each example can be left out on its own.

    Returns
    -------
    Merged

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import DualProblem
    >>> from refsvm.analysis.paths.merging import merge_variables
    >>> X, y = np.array([[1.0], [2.0], [1.0], [1.0]]), np.array([1, 1, -1, 1])
    >>> one, other = (DualProblem.classification(X, y, kernel="linear", C=C) for C in (1.0, 2.0))
    >>> merge_variables(one, other).group
    array([0, 1, 2, 0])
    """
    source, indices = source_of(start.gram)
    X = getattr(source, "X", None) if X is None else X
    rows: Any = indices.tolist()
    if X is not None:
        of_source = _row_bytes(X)
        rows = [of_source[i] for i in rows]
    number: dict[Any, int] = {}
    weight = start.lower + start.upper
    weights = weight.tolist() if alike else [0.0] * start.n
    keys = zip(start.v.tolist(), end.v.tolist(), rows, weights, strict=True)
    group = np.array([number.setdefault(key, len(number)) for key in keys])
    return Merged(np.unique(group, return_index=True)[1], group, weight)


def source_of(gram: KernelMatrix) -> tuple[Any, np.ndarray]:
    """Return the kernel matrix behind all nested `View` objects, and each variable's row in that matrix."""
    indices = np.arange(gram.n)
    while isinstance(gram, View):
        gram, indices = gram.source, gram.indices[indices]
    return gram, indices


def merged_problem(problem: DualProblem, merged: Merged) -> DualProblem:
    """Return the problem in which each group of merged variables becomes one variable, the sum of the group."""
    if len(merged.first) == problem.n:
        return problem
    lower, upper = (np.bincount(merged.group, weights=bound) for bound in (problem.lower, problem.upper))
    gram = problem.gram.restrict(merged.first)
    return DualProblem(gram, problem.v[merged.first], problem.z, lower, np.maximum(lower, upper))


def _row_bytes(X: Any) -> list[bytes]:
    """Return each row of X as bytes, with −0 replaced by 0."""
    if not is_sparse(X):
        return [row.tobytes() for row in X + 0.0]
    X = X.copy()
    X.sum_duplicates()
    X.eliminate_zeros()
    return [X.indices[a:b].tobytes() + X.data[a:b].tobytes() for a, b in pairwise(X.indptr.tolist())]
