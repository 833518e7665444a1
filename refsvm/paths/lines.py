"""Lines with a name: `parametric_path` between two problems of one family, in the unit of what moves.

==============  ===============================================================================
`epsilon_path`  the tube of regression: v¹ = −1 and +1 on the two copies of an example
`nu_path`       the share of one-class: z¹ = Σ wᵢ
`cost_path`     C₊ from 0 to C, C₋ = C − C₊: one class's box opens while that of the other closes
`weight_path`   any Cᵢ to any other
==============  ===============================================================================
"""

from __future__ import annotations

from typing import Any

import numpy as np

from refsvm._checks import positive
from refsvm.kernels.checked import matrix_given
from refsvm.paths.parametric import ParametricPath
from refsvm.paths.parametric_path import parametric_path
from refsvm.paths.roc_curve import CostPath
from refsvm.problem import DualProblem

__all__ = ["cost_path", "epsilon_path", "nu_path", "weight_path"]


def epsilon_path(
    X: Any = None,
    y: Any = None,
    *,
    epsilon: tuple[float, float],
    kernel: Any = None,
    gram: Any = None,
    C: float | np.ndarray = 1.0,
    **options: Any,
) -> ParametricPath:
    """Solve ε-insensitive regression for every width of the tube between two.

    Parameters
    ----------
    X, y, kernel, gram, C
        As in `DualProblem.regression`; C is finite.
    epsilon : (float, float)
        ε at both ends, not negative; it may rise or fall. It falls from where no example is outside the tube, half the
        range of y, cheaply: there α = 0.
    **options
        tracker, merge, engine, cache_mb, time_limit, max_events, callback, as in `parametric_path`.

    Returns
    -------
    ParametricPath
        Its t is ε.

    Raises
    ------
    ValueError
        As `DualProblem.regression` and `parametric_path`.

    References
    ----------
    G. Wang, D.-Y. Yeung and F. H. Lochovsky, "A new solution path algorithm in support vector regression", IEEE
    Transactions on Neural Networks 19(10), 2008, for regular systems; here singular ones as well. L. Gunter and J. Zhu,
    "Efficient computation and model selection for the support vector regression", Neural Computation 19, 2007, follow
    1/C at fixed ε, which is `regularization_path` of a `DualProblem.regression`.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import RBF, epsilon_path
    >>> X = np.linspace(0.0, 6.0, 30)[:, None]
    >>> path = epsilon_path(X, np.sin(X[:, 0]), kernel=RBF(0.5), C=10.0, epsilon=(1.0, 0.01))
    >>> path.n_support(1.0), path.n_support(0.1), bool(path.kkt_audit().worst < 1e-8)
    (0, 7, True)
    """
    K = matrix_given(X, kernel, gram)
    widest, narrowest = epsilon
    start, end = (DualProblem.regression(y=y, gram=K, C=C, epsilon=each) for each in (widest, narrowest))
    return parametric_path(start, end, t=epsilon, **options)


def nu_path(
    X: Any = None,
    *,
    nu: tuple[float, float],
    kernel: Any = None,
    gram: Any = None,
    weights: float | np.ndarray = 1.0,
    **options: Any,
) -> ParametricPath:
    """Find the region that holds all but a share ν of the examples, for every ν between two.

    Parameters
    ----------
    X, kernel, gram, weights
        As in `DualProblem.one_class`.
    nu : (float, float)
        ν at both ends, in (0, 1]; it may rise or fall.
    **options
        tracker, merge, engine, cache_mb, time_limit, max_events, callback, as in `parametric_path`.

    Returns
    -------
    ParametricPath
        Its t is ν.

    Raises
    ------
    ValueError
        As `DualProblem.one_class` and `parametric_path`.

    References
    ----------
    G. Lee and C. Scott, "The one class support vector machine solution path", ICASSP 2007, who scale α by ν, so that
    the box moves and not the sum; the breakpoints are the same.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import RBF, nu_path
    >>> path = nu_path(np.array([[0.0], [1.0], [2.0], [9.0]]), kernel=RBF(0.5), nu=(0.3, 0.9))
    >>> (path.decision_function(np.array([[5.0]]), 0.3) < 0.0).tolist(), path.alpha(0.5).sum().round(12).tolist()
    ([True], 2.0)
    """
    K = matrix_given(X, kernel, gram)
    first, last = nu
    start, end = (DualProblem.one_class(gram=K, nu=each, weights=weights) for each in (first, last))
    return parametric_path(start, end, t=nu, **options)


def cost_path(
    X: Any = None,
    y: Any = None,
    *,
    kernel: Any = None,
    gram: Any = None,
    C: float = 1.0,
    **options: Any,
) -> CostPath:
    """Train for every cost of the two errors: C₊ from 0 to C for class +1, and C₋ = C − C₊ for class −1.

    At both ends α = 0: one class counts for nothing, and all is said to be of the other.

    Parameters
    ----------
    X, y, kernel, gram
        As in `DualProblem.classification`.
    C : float
        The sum of both penalties, finite.
    **options
        tracker, merge, engine, cache_mb, time_limit, max_events, callback, as in `parametric_path`.

    Returns
    -------
    CostPath
        Its t is C₊; `CostPath.roc` is the exact curve of the operating points.

    Raises
    ------
    ValueError
        As `DualProblem.classification` and `parametric_path`.

    References
    ----------
    F. R. Bach, D. Heckerman and E. Horvitz, "Considering cost asymmetry in learning classifiers", JMLR 7, 2006, who
    stay away from both ends and from singular systems, and whose slack variables are perturbed to keep α unique.

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
    K, C = matrix_given(X, kernel, gram), positive("C", C)
    whole = DualProblem.classification(y=y, gram=K, C=C)
    zero = np.zeros(whole.n)
    path = parametric_path(
        whole.boxed(whole.lower, zero), whole.boxed(zero, whole.upper), t=(0.0, C), **options
    )
    return CostPath(**vars(path))


def weight_path(
    X: Any = None,
    y: Any = None,
    *,
    C: tuple[Any, Any],
    kernel: Any = None,
    gram: Any = None,
    **options: Any,
) -> ParametricPath:
    """Train for all penalties between two: Cᵢ(t) = (1 − t) C[0]ᵢ + t C[1]ᵢ.

    An example of weight 0 at one end comes, or goes.

    Parameters
    ----------
    X, y, kernel, gram
        As in `DualProblem.classification`.
    C : (float or ndarray of shape (n,), float or ndarray of shape (n,))
        The penalties at t = 0 and at t = 1, finite.
    **options
        t, tracker, merge, engine, cache_mb, time_limit, max_events, callback, as in `parametric_path`.

    Returns
    -------
    ParametricPath

    Raises
    ------
    ValueError
        As `DualProblem.classification` and `parametric_path`.

    References
    ----------
    M. Karasuyama, N. Harada, M. Sugiyama and I. Takeuchi, "Multi-parametric solution-path algorithm for
    instance-weighted support vector machines", Machine Learning 88, 2012; G. Cauwenberghs and T. Poggio, "Incremental
    and decremental support vector machine learning", NIPS 2000, for one weight.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import RBF, weight_path
    >>> X, y = np.array([[0.0], [1.0], [2.0], [4.0]]), np.array([-1, 1, -1, 1])
    >>> path = weight_path(X, y, kernel=RBF(0.5), C=(np.array([1.0, 1.0, 1.0, 0.0]), 2.0))
    >>> path.alpha(0.0)[3], path.alpha(0.5)[3].round(3)
    (np.float64(0.0), np.float64(1.0))
    """
    K = matrix_given(X, kernel, gram)
    first, last = C
    start, end = (DualProblem.classification(y=y, gram=K, C=each) for each in (first, last))
    return parametric_path(start, end, **options)
