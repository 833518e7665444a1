"""DualProblem.extended: the problem with more examples after its own."""

from __future__ import annotations

from typing import Any

import numpy as np

from refsvm.core._checks import (
    is_sparse,
    penalties,
    targets,
    vector,
)
from refsvm.core.kernels.checked import examples_like
from refsvm.core.kernels.functions import Precomputed
from refsvm.core.kernels.gram import Gram
from refsvm.core.kernels.matrix import KernelMatrix
from refsvm.core.problem import DualProblem
from refsvm.services.types import ArrayLike


def grown(gram: KernelMatrix, X: Any) -> Gram:
    """Return the matrix with more examples after its own: of the same kernel, or a given one with more rows.

    Of a linear kernel its `centred` matrix has the origin of that of the examples before.

    X holds the new examples; of a given matrix their values with all n + m examples, shape (m, n + m).
    """
    X, known = examples_like(gram, X), getattr(gram, "X", None)
    kernel: Any = getattr(gram, "kernel", None)
    if known is None:
        raise ValueError(f"{type(gram).__name__} holds no examples, to which others could be added.")
    n, m = known.shape[0], X.shape[0]
    if not isinstance(kernel, Precomputed):
        if X.shape[1] != known.shape[1]:
            raise ValueError(f"X has {X.shape[1]} features; the examples before have {known.shape[1]}.")
        if is_sparse(known):
            from scipy.sparse import csr_array, vstack

            every: Any = csr_array(vstack([known, X]))
        else:
            every = np.concatenate([known, X.toarray() if is_sparse(X) else X])
        whole = Gram(kernel, every)
        whole.columns = gram.columns
        return whole.decided_as(gram)
    if X.shape[1] != n + m:
        raise ValueError(
            f"X has shape {X.shape}; give the values with all {n + m} examples, shape ({m}, {n + m})."
        )
    K = np.empty((n + m, n + m), dtype=known.dtype)
    K[:n, :n], K[n:], K[:n, n:] = known, X, X[:, :n].T
    return Gram(kernel, K)


def extended(problem: DualProblem, X: ArrayLike, y: ArrayLike = None, *, C: ArrayLike = None) -> DualProblem:
    """Return the problem with more examples after its own.

    Parameters
    ----------
    problem : DualProblem
    X : array-like or CSR of shape (m, d)
        The new examples. Of a kernel matrix that was given: their kernel values with all n + m, shape (m, n + m).
    y : array-like of shape (m,)
        Their labels ±1, or targets; None for novelty detection.
    C : float or array-like of shape (m,), optional
        Their penalties, or weights; by default that of all others, which must then be one.

    Returns
    -------
    DualProblem
        Of a regression with the ε of the others, of novelty detection with their ν.

    Raises
    ------
    ValueError
        If this is a problem of another kind, the others differ in C, or X and y do not fit.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import DualProblem
    >>> problem = DualProblem.classification(np.array([[0.0], [1.0]]), np.array([-1, 1]), C=2.0)
    >>> problem.extended(np.array([[3.0]]), np.array([1])).upper
    array([0., 2., 2.])
    """
    copies = 2 if problem.gram.repeats else 1
    gram = grown(problem.gram.source if copies == 2 else problem.gram, X)
    n, m = problem.n // copies, gram.n - problem.n // copies
    width = (problem.upper - problem.lower)[:n]
    if C is None and np.ptp(width) != 0.0:
        raise ValueError("The examples of this problem differ in C; give C= for the new ones.")
    C = np.append(width, np.full(m, width[0]) if C is None else penalties(C, m))
    if copies == 2:
        epsilon = 0.5 * (problem.v[n:] - problem.v[:n])
        return DualProblem.regression(
            y=np.append(0.5 * (problem.v[n:] + problem.v[:n]), targets(y, m)),
            gram=gram,
            C=C,
            epsilon=epsilon[0],
        )
    if problem.has_labels:
        labels = vector("y", y, m)
        return DualProblem.classification(y=np.append(problem.v, labels), gram=gram, C=C)
    if problem.v.any() or problem.lower.any():
        raise ValueError(
            "extended takes problems of classification, regression and one_class; this is another kind."
        )
    return DualProblem.one_class(gram=gram, nu=min(problem.z / float(width.sum()), 1.0), weights=C)


DualProblem.extended = extended
