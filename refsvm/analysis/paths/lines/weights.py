"""`weight_path` trains a classifier for all penalties between two vectors of penalties."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from refsvm.analysis.paths.parametric import ParametricPath
from refsvm.analysis.paths.parametric_path import line_between
from refsvm.analysis.resampling.of_model import takes_model
from refsvm.core.kernels.checked import matrix_given
from refsvm.core.problem import DualProblem
from refsvm.services.labels import signed
from refsvm.services.names import chosen_kernel
from refsvm.services.types import ArrayLike, KernelLike


@takes_model(("SVC",), moves=("C",))
def weight_path(
    X: ArrayLike = None,
    y: ArrayLike = None,
    *,
    C: tuple[Any, Any],
    kernel: KernelLike = "rbf",
    gamma: str | float = "scale",
    degree: int = 3,
    coef0: float = 0.0,
    gram: ArrayLike = None,
    **options: Any,
) -> ParametricPath:
    """Train a classifier for all penalties between two vectors: Cᵢ(t) = (1 − t) C[0]ᵢ + t C[1]ᵢ.

    If the penalty of an example is 0 at one end of the path, the path adds or removes this example. The larger label is
    the positive class.

    Parameters
    ----------
    X, y, kernel, gamma, degree, coef0, gram
        As in `DualProblem.classification`.
    C : (float or ndarray of shape (n,), float or ndarray of shape (n,))
        The penalties at t = 0 and at t = 1, finite.
    **options
        t, tracker, merge, engine, cache_mb, time_limit, max_events, callback, progress, as in
        `parametric_path`.

    Returns
    -------
    ParametricPath
        The path.

    Raises
    ------
    ValueError
        As in `DualProblem.classification` and `parametric_path`.

    References
    ----------
    M. Karasuyama, N. Harada, M. Sugiyama and I. Takeuchi, "Multi-parametric solution-path algorithm for
    instance-weighted support vector machines", Machine Learning 88, 2012; G. Cauwenberghs and T. Poggio, "Incremental
    and decremental support vector machine learning", NIPS 2000 (change of one weight).

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import RBF, weight_path
    >>> X, y = np.array([[0.0], [1.0], [2.0], [4.0]]), np.array([-1, 1, -1, 1])
    >>> path = weight_path(X, y, kernel=RBF(0.5), C=(np.array([1.0, 1.0, 1.0, 0.0]), 2.0))
    >>> path.alpha(0.0)[3], path.alpha(0.5)[3].round(3)
    (np.float64(0.0), np.float64(1.0))
    """
    K = matrix_given(X, chosen_kernel(kernel, gamma, degree, coef0), gram)
    first, last = C
    classes, labels = signed(y, K.n)
    start, end = (DualProblem.classification(y=labels, gram=K, C=each) for each in (first, last))
    return line_between("weight_path", start, end, lambda path: replace(path, classes=classes), **options)
