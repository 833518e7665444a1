"""`epsilon_path` solves a regression for every width of the tube."""

from __future__ import annotations

from typing import Any

import numpy as np

from refsvm.analysis.paths.parametric import ParametricPath
from refsvm.analysis.paths.parametric_path import line_between
from refsvm.analysis.resampling.of_model import takes_model
from refsvm.core.kernels.checked import matrix_given
from refsvm.core.problem import DualProblem
from refsvm.services.names import chosen_kernel
from refsvm.services.types import ArrayLike, KernelLike


@takes_model(("SVR",), moves=("epsilon",))
def epsilon_path(
    X: ArrayLike = None,
    y: ArrayLike = None,
    *,
    epsilon: tuple[float, float],
    kernel: KernelLike = "rbf",
    gamma: str | float = "scale",
    degree: int = 3,
    coef0: float = 0.0,
    gram: ArrayLike = None,
    C: float | np.ndarray = 1.0,
    **options: Any,
) -> ParametricPath:
    """Solve ε-insensitive regression for every ε between two values.

    Parameters
    ----------
    X, y, kernel, gram, C
        As in `DualProblem.regression`; C is finite.
    epsilon : (float, float)
        ε at the start and at the end of the path, at least 0; ε may rise or fall. If the first ε is half the range
        of y, all α are 0 at the first point, and SMO needs no step for this point.
    **options
        tracker, merge, engine, cache_mb, time_limit, max_events, callback, progress, as in
        `parametric_path`.

    Returns
    -------
    ParametricPath
        The path, with ε as its t.

    Raises
    ------
    ValueError
        As in `DualProblem.regression` and `parametric_path`.

    References
    ----------
    G. Wang, D.-Y. Yeung and F. H. Lochovsky, "A new solution path algorithm in support vector regression", IEEE
    Transactions on Neural Networks 19(10), 2008, for regular systems; `epsilon_path` also handles singular systems. L.
    Gunter and J. Zhu, "Efficient computation and model selection for the support vector regression", Neural Computation
    19, 2007, follow 1/C at fixed ε, as `regularization_path` does for a `DualProblem.regression`.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import RBF, epsilon_path
    >>> X = np.linspace(0.0, 6.0, 30)[:, None]
    >>> path = epsilon_path(X, np.sin(X[:, 0]), kernel=RBF(0.5), C=10.0, epsilon=(1.0, 0.01))
    >>> path.n_support(1.0), path.n_support(0.1), bool(path.kkt_audit().worst < 1e-8)
    (0, 7, True)
    """
    K = matrix_given(X, chosen_kernel(kernel, gamma, degree, coef0), gram)
    widest, narrowest = epsilon
    start, end = (DualProblem.regression(y=y, gram=K, C=C, epsilon=each) for each in (widest, narrowest))
    return line_between("epsilon_path", start, end, lambda path: path, name="epsilon", t=epsilon, **options)
