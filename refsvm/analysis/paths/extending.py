"""`DualProblem.extended`: appends examples to a problem."""

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
    """Return the kernel matrix of n + m examples: the n examples of `gram`, then the m new examples in X.

    If the kernel matrix was given by its values, X contains the kernel values of the new examples with all
    n + m examples, shape (m, n + m). If `gram` shifts its data to an origin (`centred`), the new matrix shifts all data
    to the same origin.
    """
    X, known = examples_like(gram, X), getattr(gram, "X", None)
    kernel: Any = getattr(gram, "kernel", None)
    if known is None:
        raise ValueError(
            f"{type(gram).__name__} stores no examples, so no examples can be added; make the problem from examples."
        )
    n, m = known.shape[0], X.shape[0]
    if not isinstance(kernel, Precomputed):
        if X.shape[1] != known.shape[1]:
            raise ValueError(
                f"X has {X.shape[1]} features, but the problem's examples have {known.shape[1]}; give the same "
                "columns."
            )
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
            f"X has shape {X.shape}; give the kernel values with all {n + m} examples, shape ({m}, {n + m})."
        )
    K = np.empty((n + m, n + m), dtype=known.dtype)
    K[:n, :n], K[n:], K[:n, n:] = known, X, X[:, :n].T
    return Gram(kernel, K)


def extended(problem: DualProblem, X: ArrayLike, y: ArrayLike = None, *, C: ArrayLike = None) -> DualProblem:
    """Return the problem with new examples appended to its examples.

    Parameters
    ----------
    problem : DualProblem
    X : array-like or CSR of shape (m, d)
        The new examples. If the problem was made from a kernel matrix, X contains the kernel values of the new examples
        with all n + m examples, shape (m, n + m).
    y : array-like of shape (m,)
        Labels ±1 of the new examples, or targets; None for novelty detection.
    C : float or array-like of shape (m,), optional
        Penalties of the new examples, or weights for novelty detection; by default the common value of the problem's
        examples.

    Returns
    -------
    DualProblem
        The extended problem, with the same ε for a regression and the same ν for novelty detection.

    Raises
    ------
    ValueError
        If the problem is not a classification, a regression or novelty detection, if its examples differ in C and `C`
        is missing, or if the shapes of X and y do not fit.

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
        raise ValueError("The examples of this problem differ in C; give C= for the new examples.")
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
            "The problem is not a classification, regression or novelty detection; make it with "
            "DualProblem.classification, regression or one_class."
        )
    return DualProblem.one_class(gram=gram, nu=min(problem.z / float(width.sum()), 1.0), weights=C)


DualProblem.extended = extended
