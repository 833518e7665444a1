"""`regularization_path` trains an SVM for every C of a range with a path tracker."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

import numpy as np

from refsvm.analysis.paths.merging import merge_variables, merged_problem
from refsvm.analysis.paths.several_classes import OneVsOnePath, has_several_classes, one_vs_one_path
from refsvm.analysis.resampling.of_model import takes_model
from refsvm.analysis.resampling.task import unit_of_problem
from refsvm.analysis.resampling.weights import given_weights, refuse_absent_class
from refsvm.core.engine.limits import PathLimits, unless_interrupted
from refsvm.core.engine.progress import Progress
from refsvm.core.kernels.checked import matrix_given
from refsvm.core.kernels.functions import Kernel, Precomputed
from refsvm.core.paths.duplicates import no_merging
from refsvm.core.paths.path import RegularizationPath
from refsvm.core.paths.tracked import SIGNS
from refsvm.core.paths.tracking import track
from refsvm.core.problem import DualProblem
from refsvm.core.trackers.base import PathTracker
from refsvm.core.walk.breakpoint import Breakpoint
from refsvm.services.labels import labelled, signed
from refsvm.services.line import line_of
from refsvm.services.names import chosen_kernel
from refsvm.services.types import ArrayLike

C_MIN: Final = 1e-4
C_MAX: Final = 1e3
"""Default ends of a path, in units of a regression's targets."""


@takes_model(("SVC", "SVR"), moves=("C",))
def regularization_path(
    X: ArrayLike = None,
    y: ArrayLike = None,
    *,
    kernel: str | Kernel | Precomputed | Callable[..., np.ndarray] | None = "rbf",
    gamma: str | float = "scale",
    degree: int = 3,
    coef0: float = 0.0,
    gram: ArrayLike = None,
    epsilon: float | None = None,
    C_min: float | None = None,
    C_max: float | None = None,
    sample_weight: ArrayLike = None,
    tracker: PathTracker | None = None,
    merge: bool = True,
    engine: str = "auto",
    cache_mb: float = 1000.0,
    time_limit: float | None = None,
    max_events: int | None = None,
    callback: Callable[[Breakpoint], object] | None = None,
    progress: bool | str = "auto",
) -> RegularizationPath | OneVsOnePath:
    """Train a C-SVM for every C from C_min to C_max at once.

    Parameters
    ----------
    X : array-like or CSR of shape (n, d)
        Examples; with ``kernel=Precomputed()`` the (n, n) kernel matrix.
        Instead of X, y and kernel you can pass a `DualProblem` of
        classification or regression; the path multiplies the penalties of this
        problem by C. You can also pass an `SVC` or `SVR` first, before X and
        y; its C is ignored.
    y : array-like of shape (n,)
        Labels of any type. With two classes the larger label is the positive
        class. With more than two classes each pair of classes has its own
        path, and the pairs vote as in `refsvm.SVC`.
    kernel, gamma, degree, coef0
        As in `DualProblem.classification`, RBF by default. The kernel must be
        positive semi-definite.
    gram : array-like of shape (n, n) or object, optional
        The kernel matrix instead of X and kernel, as in
        `DualProblem.classification`. If `gram` is an object, duplicate
        examples are not merged.
    epsilon : float, optional
        If given, the task is a regression with this ε.
    C_min, C_max : float
        The range of C, 0 < C_min < C_max. The default is 1e-4 to 1e3; for a
        regression, these numbers times the standard deviation of the targets.
    sample_weight : array-like of shape (n,), optional
        wᵢ ≥ 0: example i has the penalty C wᵢ. Each class needs a positive
        weight.
    tracker : PathTracker, optional
        Algorithm that follows the path, by default ``SVMP()``.
    merge : bool, default True
        Whether examples with equal features and labels share one variable.
        Merging changes no value of the path, and saves time on duplicates.
        Without merging, the tracker must handle duplicates.
    engine : {"auto", "numba", "numpy"}, default "auto"
        Whether the search for events runs in compiled or in readable code;
        both give the same path bit for bit.
    cache_mb : float, default 1000
        Budget for the whole kernel matrix in MiB.
    time_limit : float, optional
        Limit in seconds.
    max_events : int, optional
        Limit on the number of breakpoints for each pair of classes; by default
        max(10⁵, 100n).
    callback : callable, optional
        Called with every `Breakpoint`. If the callback returns True, the path
        ends at this breakpoint.
    progress : bool or "auto", default "auto"
        Whether to show the progress on a line on stderr. "auto" shows the line
        in a terminal or a notebook after two seconds (`refsvm.services.line`).

    Returns
    -------
    RegularizationPath or `refsvm.analysis.paths.OneVsOnePath`
        The path; an `OneVsOnePath` if there are several classes. After a limit
        the path ends at the last breakpoint found, and ``path.status`` names
        the limit.

    Raises
    ------
    ValueError
        If data contain NaN, shapes differ, y contains one class, C_min ≥
        C_max, the kernel is not positive semi-definite, or its matrix exceeds
        the budget.
    KeyboardInterrupt
        After Ctrl-C: a `refsvm.core.engine.limits.Interrupted`, whose
        ``result`` is the path so far.

    Warns
    -----
    ConvergenceWarning
        If rounding errors or a limit end the path early; without scikit-learn
        a `refsvm.core.engine.unsolved.UnsolvedWarning`.

    Examples
    --------
    >>> from refsvm import RBF, regularization_path
    >>> from refsvm.datasets import load
    >>> heart = load("heart")
    >>> path = regularization_path(heart.X, heart.y, kernel=RBF(0.005), C_min=0.01, C_max=100.0)
    >>> path.kkt_audit().worst <= 1e-6
    True

    Three classes:

    >>> from sklearn.datasets import load_iris
    >>> iris = load_iris()
    >>> path = regularization_path(iris.data, iris.target, kernel=RBF(0.5), C_min=0.1, C_max=10.0)
    >>> len(path.paths), path.predict(iris.data[::50], C=1.0)
    (3, array([0, 1, 2]))
    """
    kernel = chosen_kernel(kernel, gamma, degree, coef0)
    path_progress = Progress("regularization_path", "percent", "the path so far")
    line = line_of(path_progress, progress)
    if epsilon is not None:
        if isinstance(X, DualProblem):
            raise ValueError("X is a DualProblem, which holds epsilon already; leave epsilon out.")
        X, y = DualProblem.regression(y=y, gram=matrix_given(X, kernel, gram), epsilon=epsilon), None
        kernel = gram = None
    if not isinstance(X, DualProblem) and has_several_classes(y):
        with line as shown:
            several = one_vs_one_path(
                matrix_given(X, kernel, gram), y, sample_weight, cache_mb, C_min=C_MIN if C_min is None else C_min,
                C_max=C_MAX if C_max is None else C_max, tracker=tracker,
                merge=merge, engine=engine, time_limit=time_limit, max_events=max_events, callback=callback,
                progress=shown,
            )  # fmt: skip
        return unless_interrupted("regularization_path", several)
    classes = SIGNS
    if isinstance(X, DualProblem):
        alone = y is kernel is gram is None
        # novelty detection has no path along C, so a problem that is not a regression must have labels
        is_regression = alone and X.z == 0.0 and not X.has_labels
        problem = X if is_regression else labelled(X, y, kernel, gram)
    else:
        K = matrix_given(X, kernel, gram)
        classes, labels = signed(y, K.n)
        problem = DualProblem.classification(y=labels, gram=K)
    if (weight := given_weights(sample_weight, problem.n)) is not None:
        refuse_absent_class(classes, (problem.v > 0.0) * 1, weight)
        # the weights only change the boxes: a box has the size C times the weight of its example
        problem = problem.boxed(weight * problem.lower, weight * problem.upper)
    unit = unit_of_problem(problem) or 1.0
    least, most = (C_MIN * unit if C_min is None else C_min), (C_MAX * unit if C_max is None else C_max)
    with line as shown:
        merged = merge_variables(problem, problem) if merge else no_merging(problem)
        problem = merged_problem(problem, merged)
        limits = PathLimits(problem.n, max_events, time_limit, callback)
        limits.progress = shown or limits.progress
        path = track(
            problem, C_min=least, C_max=most, tracker=tracker, merged=merged, engine=engine,
            cache_mb=cache_mb, limits=limits,
        )  # fmt: skip
    return unless_interrupted("regularization_path", replace(path, classes=classes))
