"""OneClassSVM: novelty detection with scikit-learn's interface."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import OutlierMixin
from sklearn.utils._param_validation import Interval

from refsvm.analysis.paths.novelty import intercept_of_inside
from refsvm.core.problem import DualProblem
from refsvm.core.result import Solution
from refsvm.estimators.single import SingleMachine
from refsvm.estimators.validation import LARGEST_SQUARED_WEIGHT
from refsvm.services.types import ArrayLike


@dataclass(kw_only=True, eq=False, repr=False)
class OneClassSVM(OutlierMixin, SingleMachine):
    """The one-class SVM; you can choose the rules for the working set and for the step.

    The model is a region: h(x) = Σ αᵢ k(x, xᵢ) + b is positive inside, and at most a share ν of the examples lies
    outside. `DualProblem.one_class` states the dual problem; only its linear term, its bounds and the sum of α differ
    from classification, so the same rules apply. Names, defaults and array shapes follow `sklearn.svm.OneClassSVM`.

    Parameters
    ----------
    kernel, gamma, degree, coef0, tol, shrinking, max_iter, verbose
        As in `SVC`.
    selector, step, cache_size, cache_dtype, time_limit, engine
        As in `SVC`.
    nu : float, default 0.5
        ν in (0, 1]: at most a share ν of the examples lies outside, and at least a share ν are support vectors.
    warm_start : bool, default False
        Start from the α of the previous `fit`. If the number of examples has changed, `fit` warns and starts from zero.

    Attributes
    ----------
    offset_ : ndarray of shape (1,), float64
        −b, the threshold of `score_samples`.
    support_, n_support_, support_vectors_, dual_coef_, intercept_, coef_, alpha_, n_iter_, n_kernel_rows_
        As in `SVR`.
    dual_objective_, primal_objective_, duality_gap_, kkt_gap_, status_, fit_status_, kernel_, shape_fit_
        As in `SVR`.
    n_features_in_, feature_names_in_
        As in `SVC`.

    References
    ----------
    B. Schölkopf, J. C. Platt, J. Shawe-Taylor, A. J. Smola and R. C. Williamson, "Estimating the support of a
    high-dimensional distribution", Neural Computation 13, 2001; C.-C. Chang and C.-J. Lin, "LIBSVM: a library for
    support vector machines", ACM TIST 2 (27), 2011, section 2.3, which scales α in the same way.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import OneClassSVM
    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> model = OneClassSVM(nu=0.1, gamma=0.1).fit(X)
    >>> model.predict([[0.0, 0.0], [5.0, 5.0]]).tolist(), int((model.predict(X) < 0).sum()) <= 10
    ([1, -1], True)
    """

    nu: float = 0.5

    _settings: ClassVar[tuple[str, ...]] = ("nu",)
    _largest_weight: ClassVar[float] = LARGEST_SQUARED_WEIGHT
    _parameter_constraints: ClassVar[dict[str, Any]] = SingleMachine._parameter_constraints | {
        "nu": [Interval(Real, 0.0, 1.0, closed="right")],
    }

    def fit(self, X: ArrayLike, y: ArrayLike = None, sample_weight: ArrayLike = None) -> Self:
        """Train on the examples.

        Parameters
        ----------
        X : array-like or sparse of shape (n, d)
            As in `SVC.fit`.
        y : ignored
            Accepted because scikit-learn passes y to all estimators.
        sample_weight : array-like of shape (n,), optional
            Upper bound of αᵢ for each example, 1 by default. Examples with a weight of 0 or less are left out.

        Returns
        -------
        OneClassSVM
            The estimator itself.

        Raises
        ------
        ValueError
            If parameters are out of range, or X contains NaN or infinity.
        KeyboardInterrupt
            After Ctrl-C; the fitted attributes describe the last point.

        Warns
        -----
        ConvergenceWarning
            If a limit was reached or the selector stalled. The estimator can still predict.
        """
        return self._train(X, y, sample_weight)

    def partial_fit(self, X: ArrayLike, y: ArrayLike = None, sample_weight: ArrayLike = None) -> Self:
        """Train on more examples; the model is then the optimum for all examples so far, as in `SVC.partial_fit`.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`.

        Returns
        -------
        OneClassSVM
            The estimator itself.

        Raises
        ------
        ValueError
            As in `SVC.partial_fit`.
        """
        return self._partial(X, y, sample_weight, begins=self._begins())

    def _checked_examples(self, X: Any, y: Any, kernel: Any, *, reset: bool) -> tuple[Any, np.ndarray]:
        X = self._checked(X, kernel=kernel, reset=reset)
        return X, np.zeros(X.shape[0])

    @property
    def offset_(self) -> np.ndarray:
        """Return −b, shape (1,): the threshold that separates the values of `score_samples`."""
        return -self.intercept_

    def _problem(
        self, gram: Any, y: np.ndarray, weights: np.ndarray, settings: dict[str, Any]
    ) -> DualProblem:
        return DualProblem.one_class(gram=gram, nu=settings["nu"], weights=weights)

    def _intercept(self, solution: Solution) -> float:
        """Return the least b, with a margin for rounding, for which all examples with αᵢ below its bound lie inside.

        With this b, at most a share ν of the training examples lies outside.
        """
        gradient, problem = solution.exact_ends, solution.problem
        inside = solution.alpha < problem.upper
        return intercept_of_inside(problem.gram, solution.alpha, gradient, inside, solution.intercept)

    def decision_function(self, X: ArrayLike) -> np.ndarray:
        """Return h(x) for each row of X, positive inside the region.

        Parameters
        ----------
        X : array-like or sparse of shape (t, d)
            For ``kernel="precomputed"``, the kernel values between these rows and the n training examples, shape (t,
            n).

        Returns
        -------
        ndarray of shape (t,), float64
        """
        return np.asarray(self._decision_values(X)[:, 0])

    def score_samples(self, X: ArrayLike) -> np.ndarray:
        """Return h(x) without b, which is `decision_function` plus ``offset_``.

        Parameters
        ----------
        X : array-like or sparse of shape (t, d)

        Returns
        -------
        ndarray of shape (t,), float64
        """
        return self.decision_function(X) + self.offset_

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Return +1 for each row of X inside the region and −1 for each row outside.

        Parameters
        ----------
        X : array-like or sparse of shape (t, d)

        Returns
        -------
        ndarray of shape (t,), int64
        """
        return np.where(self.decision_function(X) >= 0.0, 1, -1)
