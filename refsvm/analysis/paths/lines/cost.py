"""`cost_path` trains a classifier for every division of a total cost between both kinds of errors."""

from __future__ import annotations

from typing import Any

import numpy as np

from refsvm.analysis.paths.parametric import ParametricPath
from refsvm.analysis.paths.parametric_path import line_between
from refsvm.analysis.paths.roc_curve import CostPath
from refsvm.analysis.resampling.of_model import takes_model
from refsvm.core._checks import positive
from refsvm.core.kernels.checked import matrix_given
from refsvm.core.problem import DualProblem
from refsvm.services.labels import signed
from refsvm.services.names import chosen_kernel
from refsvm.services.types import ArrayLike, KernelLike


@takes_model(("SVC",))
def cost_path(
    X: ArrayLike = None,
    y: ArrayLike = None,
    *,
    kernel: KernelLike = "rbf",
    gamma: str | float = "scale",
    degree: int = 3,
    coef0: float = 0.0,
    gram: ArrayLike = None,
    C: float = 1.0,
    **options: Any,
) -> CostPath:
    """Train a classifier for every division of a total penalty C: C₊ for class +1, and C₋ = C − C₊ for class −1.

    The larger of the two labels is class +1. At both ends of the path α = 0: one class has the penalty 0, and the model
    always predicts the other class.

    Parameters
    ----------
    X, y, kernel, gamma, degree, coef0, gram
        As in `DualProblem.classification`.
    C : float
        The sum of both penalties, finite.
    **options
        tracker, merge, engine, cache_mb, time_limit, max_events, callback, progress, as in
        `parametric_path`.

    Returns
    -------
    CostPath
        The path, with C₊ as its t; `CostPath.roc` computes the exact ROC curve.

    Raises
    ------
    ValueError
        As in `DualProblem.classification` and `parametric_path`.

    References
    ----------
    F. R. Bach, D. Heckerman and E. Horvitz, "Considering cost asymmetry in learning classifiers", JMLR 7, 2006; the
    paper excludes both ends and singular systems, and perturbs slack variables to keep α unique.

    Examples
    --------
    >>> from refsvm import RBF, cost_path
    >>> from refsvm.datasets import make_banana
    >>> data = make_banana(40, rng=0)
    >>> path = cost_path(data.X, data.y, kernel=RBF(0.25), C=2.0)
    >>> curve = path.roc(data.X, data.y)
    >>> curve.fpr[[0, -1]], curve.tpr[[0, -1]]
    (array([0., 1.]), array([0., 1.]))
    """
    K, C = matrix_given(X, chosen_kernel(kernel, gamma, degree, coef0), gram), positive("C", C)
    classes, labels = signed(y, K.n)
    whole = DualProblem.classification(y=labels, gram=K, C=C)
    zero = np.zeros(whole.n)
    start, end = whole.boxed(whole.lower, zero), whole.boxed(zero, whole.upper)

    def with_classes(path: ParametricPath) -> CostPath:
        return CostPath(**vars(path) | {"classes": classes})

    return line_between("cost_path", start, end, with_classes, name="C₊", t=(0.0, C), **options)
