"""`nu_path` solves novelty detection for every share ν of novelties."""

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


@takes_model(("OneClassSVM",), moves=("nu",))
def nu_path(
    X: ArrayLike = None,
    *,
    nu: tuple[float, float],
    kernel: KernelLike = "rbf",
    gamma: str | float = "scale",
    degree: int = 3,
    coef0: float = 0.0,
    gram: ArrayLike = None,
    weights: float | np.ndarray = 1.0,
    **options: Any,
) -> ParametricPath:
    """Compute, for every ν between two values, the region that contains all but at most a share ν of the examples.

    Parameters
    ----------
    X, kernel, gamma, degree, coef0, gram, weights
        As in `DualProblem.one_class`.
    nu : (float, float)
        ν at the start and at the end of the path, in (0, 1]; ν may rise or fall.
    **options
        tracker, merge, engine, cache_mb, time_limit, max_events, callback, progress, as in
        `parametric_path`.

    Returns
    -------
    ParametricPath
        The path, with ν as its t. As in `refsvm.OneClassSVM`, at most a share ν of the examples has h < 0; examples
        on the boundary are inside.

    Raises
    ------
    ValueError
        As in `DualProblem.one_class` and `parametric_path`.

    References
    ----------
    G. Lee and C. Scott, "The one class support vector machine solution path", ICASSP 2007; the paper scales α by ν, so
    that the box moves instead of the sum.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import RBF, nu_path
    >>> path = nu_path(np.array([[0.0], [1.0], [2.0], [9.0]]), kernel=RBF(0.5), nu=(0.3, 0.9))
    >>> (path.decision_function(np.array([[5.0]]), 0.3) < 0.0).tolist(), path.alpha(0.5).sum().round(12).tolist()
    ([True], 2.0)
    """
    K = matrix_given(X, chosen_kernel(kernel, gamma, degree, coef0), gram)
    first, last = nu
    start, end = (DualProblem.one_class(gram=K, nu=each, weights=weights) for each in (first, last))
    return line_between("nu_path", start, end, lambda path: path, name="nu", t=nu, **options)
