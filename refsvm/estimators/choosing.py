"""ChoosingEstimator: base of the estimators that choose parameters and train a model with the best parameters."""

from __future__ import annotations

from abc import ABC
from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Integral
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from refsvm.core.shown import Shown
from refsvm.estimators.base import PROBABILITIES, KernelEstimator
from refsvm.estimators.shown import card_of_search
from refsvm.estimators.validation import NO_LABELS, checked_data
from refsvm.services.names import is_precomputed, is_user_kernel
from refsvm.services.types import ArrayLike


@dataclass(kw_only=True, eq=False, repr=False)
class ChoosingEstimator(KernelEstimator, ABC):
    """Base of estimators that choose parameters: `best_estimator_` predicts, ``cv_results_`` lists all candidates."""

    _parameter_constraints: ClassVar[dict[str, Any]] = KernelEstimator._parameter_constraints | {
        "cv": [
            Interval(Integral, 2, None, closed="left"),
            StrOptions({"loo"}),
            HasMethods(["split"]),
            Iterable,
        ],
        "n_jobs": [Integral, None],
        "store": [str, Path, None],
    }

    _model: ClassVar[type]
    """The class of the estimator whose parameters are chosen."""

    _is_classifier: ClassVar[bool] = False

    _label_checks: ClassVar[dict[str, Any]] = {}
    """Arguments of scikit-learn's check of y."""

    def _checked(self, X: Any, y: Any = NO_LABELS, *, reset: bool) -> Any:
        """Return X, and in `fit` y, checked by scikit-learn; X must be a table of numbers even for a user's kernel."""
        # after `fit`, use the kernel of the best estimator, because `self.kernel` may have changed after the fit
        kernel = self.kernel if reset else self.best_estimator_.kernel
        sparse = False if is_user_kernel(kernel) or is_precomputed(kernel) else "csr"
        checks = {"accept_sparse": sparse, "dtype": np.float64, "order": "C"}
        return checked_data(self, X, y, reset=reset, **checks, **(self._label_checks if reset else {}))

    def _shared(self) -> dict[str, Any]:
        """Return the parameters that search and estimator share, except `verbose` and `time_limit`."""
        # leave out `verbose`, which has different meanings in the search and in the estimator
        names = set(self._model().get_params(deep=False)) & set(self.get_params(deep=False))
        return {name: getattr(self, name) for name in names - {"verbose", "time_limit"}}

    def plot(self, ax: Any = None, **look: Any) -> Any:
        """Draw the scores of a fitted search.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; by default a new figure.
        **look
            Options of the display, which is a `refsvm.display.GridDisplay` for a grid of C and γ, and a
            `refsvm.display.SearchDisplay` otherwise.

        Returns
        -------
        Display
            The display; its attribute ``ax_`` contains the axes.
        """
        check_is_fitted(self, "cv_results_")
        return Shown.plot(self, ax, **look)  # `refsvm` sets `Shown.plot`, which draws any result

    @property
    def _repr_html_(self) -> Any:
        """Return the HTML that a notebook shows: the summary of a fitted search, and scikit-learn's diagram."""
        diagram = super()._repr_html_
        return lambda: self._found_html() + diagram()

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        """Return scikit-learn's representations for a notebook; add the summary of a fitted search to the HTML."""
        shown: dict[str, Any] = super()._repr_mimebundle_(**options)
        if "text/html" in shown:
            shown["text/html"] = self._found_html() + shown["text/html"]
        return shown

    def _found_html(self) -> str:
        """Return the summary of a fitted search as HTML; an empty text before `fit`."""
        return card_of_search(self).html(type(self).__name__) if "cv_results_" in self.__dict__ else ""

    def _best(self) -> Any:
        """Return the trained estimator."""
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_

    def __getattr__(self, name: str) -> Any:
        """Return an attribute that only the trained estimator has, such as ``coef_``."""
        if name in ("predict_proba", "predict_log_proba") and self._is_classifier:
            raise AttributeError(f"{type(self).__name__} {PROBABILITIES.format(name=type(self).__name__)}.")
        # exclude best_estimator_: the lookup would never end in an object without it, such as an incomplete copy
        if name.endswith("_") and not name.startswith("_") and name != "best_estimator_":
            if "best_estimator_" in self.__dict__:
                return getattr(self.best_estimator_, name)
            if "cv_results_" in self.__dict__ and hasattr(self._model, name):
                return self._best()  # without a model, `_best` raises an error that says why
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Return the prediction of the best estimator for each row of X; see `SVC.predict` and `SVR.predict`."""
        best = self._best()
        return np.asarray(best.predict(self._checked(X, reset=False)))


class ChoosingClassifier(ClassifierMixin, ChoosingEstimator):
    """Base of classifiers that choose parameters."""

    _is_classifier = True

    def decision_function(self, X: ArrayLike) -> np.ndarray:
        """Return decision values of the best classifier; see `SVC.decision_function`."""
        best = self._best()
        return np.asarray(best.decision_function(self._checked(X, reset=False)))
