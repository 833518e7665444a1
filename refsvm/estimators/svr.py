"""SVR: ε-insensitive regression with scikit-learn's interface."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar, Final, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils._param_validation import Interval

from refsvm.analysis.paths.conformal import conformal_intervals
from refsvm.analysis.resampling.jackknife import HeldOutMachines, held_out_machines
from refsvm.analysis.resampling.weights import copies
from refsvm.core._checks import refuses
from refsvm.core.kernels.blocks import called
from refsvm.core.kernels.origin import around
from refsvm.core.problem import DualProblem
from refsvm.estimators.base import stopping_rule_of
from refsvm.estimators.single import SingleMachine
from refsvm.estimators.validation import scaled
from refsvm.services.names import is_precomputed
from refsvm.services.types import ArrayLike

FOLDS: Final = 10
"""Number of folds of CV+."""


@dataclass(kw_only=True, eq=False, repr=False)
class SVR(RegressorMixin, SingleMachine):
    """ε-insensitive support vector regression; you can choose the rules for the working set and for the step.

        min ½‖w‖² + Σ Cᵢ max(0, |yᵢ − h(xᵢ)| − ε),     h(x) = Σ βᵢ k(x, xᵢ) + b

    `DualProblem.regression` states the dual problem: it has two variables for each example and otherwise the form of
    classification, so that the same rules solve both. Names, defaults and array shapes follow `sklearn.svm.SVR`.

    Parameters
    ----------
    kernel, gamma, degree, coef0, tol, shrinking, max_iter, verbose
        As in `SVC`.
    selector, step, cache_size, cache_dtype, time_limit, engine
        As in `SVC`.
    C : float, default 1.0
        Penalty of an error beyond ε, positive; infinity allows no error beyond ε. Example i has Cᵢ = C × sample weight.
        C, ε and `tol` are in the unit of the targets; see the notes.
    epsilon : float, default 0.1
        ε ≥ 0: errors up to ε cost nothing.
    keep_examples : bool, default True
        Whether `fit` keeps copies of the examples, which `predict_interval` and `forget` need. If False, the model and
        its pickles contain support vectors only.
    warm_start : bool, default False
        Start from the α of the previous `fit`. If the number of examples has changed, `fit` warns and starts from zero.

    Attributes
    ----------
    support_, n_support_ : ndarrays of shape (m,) and (1,), int32
        Indices of the support vectors, ascending, and number of support vectors.
    support_vectors_ : ndarray or CSR of shape (m, d)
        Empty for a precomputed kernel.
    dual_coef_, intercept_ : ndarrays of shape (1, m) and (1,), float64
        β of the support vectors, never sparse, and b.
    coef_ : ndarray of shape (1, d), float64
        The weights w, for the linear kernel only; never sparse.
    alpha_ : ndarray of shape (n,), float64
        β of all training examples.
    n_iter_, n_kernel_rows_ : int
        Steps taken (at least 1, as scikit-learn requires), and kernel rows computed.
    dual_objective_, primal_objective_, duality_gap_, kkt_gap_ : float
        f(α), F(α, b) at the best b, their difference, ψ(α).
    status_, fit_status_ : Status, int
        The reason why training ended, and 0 if training converged.
    kernel_, shape_fit_, n_features_in_, feature_names_in_
        As in `SVC`.

    Notes
    -----
    The defaults C = 1, ε = 0.1 and tol = 1e-3 are scikit-learn's, and suit targets with a standard deviation near 1.
    With prices of thousands of euros, C = 1 keeps h nearly constant, and `tol` asks for a precision of a thousandth of
    a euro. With targets of size 1e-3, every target is within ε of a constant. Multiply all three defaults by the
    standard deviation of the targets, divide the targets by their standard deviation, or let `SVRCV` choose C and ε;
    the defaults of `SVRCV` are multiples of this deviation.

    References
    ----------
    A. J. Smola and B. Schölkopf, "A tutorial on support vector regression", Statistics and Computing 14, 2004;
    C.-C. Chang and C.-J. Lin, "LIBSVM: a library for support vector machines", ACM TIST 2 (27), 2011, section 2.4.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import SVR
    >>> X = np.linspace(0.0, 6.0, 40)[:, None]
    >>> model = SVR(C=10.0, gamma=0.5, epsilon=0.05).fit(X, np.sin(X[:, 0]))
    >>> bool(np.abs(model.predict(X) - np.sin(X[:, 0])).max() < 0.06), model.status_.name
    (True, 'CONVERGED')
    """

    C: float = 1.0
    epsilon: float = 0.1
    keep_examples: bool = True

    _settings: ClassVar[tuple[str, ...]] = ("C", "epsilon")

    _parameter_constraints: ClassVar[dict[str, Any]] = SingleMachine._parameter_constraints | {
        "C": [Interval(Real, 0.0, None, closed="right")],
        "epsilon": [Interval(Real, 0.0, None, closed="left")],
        "keep_examples": ["boolean"],
    }

    def __getstate__(self) -> dict[str, Any]:
        """Return the attributes for pickle, without the examples of `fit` unless `keep_examples` is true."""
        state = super().__getstate__()
        if not hasattr(self, "held_"):
            # leave out attributes that can be computed again from the kept examples
            for name in ("_held_kept", "_held_out", *(() if self.keep_examples else ("_kept",))):
                state.pop(name, None)
        return state

    def _keep(self, X: Any, y: np.ndarray, weights: np.ndarray) -> None:
        """Keep copies of X, y and weights, because the caller may change the arrays."""
        if self.keep_examples and not is_precomputed(self.kernel_):
            copies_of = {"X": X.copy(), "y": y.copy(), "weights": weights.copy()}
            self._kept = {**copies_of, "settings": self._fitted_with()}

    def _hold_kept(self) -> None:
        """Put the examples that `fit` kept into `held_`."""
        if not hasattr(self, "held_") and hasattr(self, "_kept"):
            self.held_ = self._known_examples("forget")
            for name in ("_kept", "_held_kept", "_held_out"):
                self.__dict__.pop(name, None)

    def _settings_of_fit(self) -> dict[str, Any]:
        """Return C and ε with which the model was trained; return an empty dict if no examples are in memory."""
        is_held = hasattr(self, "held_")
        known: dict[str, Any] = self.held_ if is_held else getattr(self, "_kept", {}).get("settings", {})
        return dict(known.get("settings", {}))

    def _known_examples(self, caller: str) -> dict[str, Any]:
        """Return the examples that `partial_fit` or `fit` keeps in memory, with their settings."""
        if hasattr(self, "held_"):
            return self.held_
        known = self.__dict__.get("_held_kept")
        if known is None or known[0] is not self._kept:
            known = self._kept, self._held_of(**self._kept, caller=caller)
            self._held_kept = known
        held: dict[str, Any] = known[1]
        return held

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike = None) -> Self:
        """Train on the examples.

        Parameters
        ----------
        X : array-like or sparse of shape (n, d)
            As in `SVC.fit`.
        y : array-like of shape (n,)
            Targets.
        sample_weight : array-like of shape (n,), optional
            Factor of C for each example. Examples with a weight of 0 or less are left out.

        Returns
        -------
        SVR
            The estimator itself.

        Raises
        ------
        ValueError
            If parameters are out of range, X or y contains NaN or infinity, or a target exceeds 1e150.
        KeyboardInterrupt
            After Ctrl-C; the fitted attributes describe the last point.

        Warns
        -----
        ConvergenceWarning
            If a limit was reached or the selector stalled. The estimator can still predict.
        """
        return self._train(X, y, sample_weight)

    def partial_fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike = None) -> Self:
        """Train on more examples; the model is then the optimum for all examples so far, as in `SVC.partial_fit`.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`.

        Returns
        -------
        SVR
            The estimator itself.

        Raises
        ------
        ValueError
            As in `SVC.partial_fit`.
        """
        return self._partial(X, y, sample_weight, begins=self._begins())

    def _checked_examples(self, X: Any, y: Any, kernel: Any, *, reset: bool) -> tuple[Any, np.ndarray]:
        X, y = self._checked(X, y, kernel=kernel, reset=reset, y_numeric=True)
        return X, np.asarray(y, dtype=np.float64)

    def _problem(
        self, gram: Any, y: np.ndarray, weights: np.ndarray, settings: dict[str, Any]
    ) -> DualProblem:
        C = scaled(settings["C"], weights)
        return DualProblem.regression(y=y, gram=gram, C=C, epsilon=settings["epsilon"])

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Return h(x) for each row of X.

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

    @refuses(
        **dict.fromkeys(("coverage", "confidence_level"), "give confidence={}"),
        alpha="give confidence=1 - {}",
    )
    def predict_interval(self, X: ArrayLike, confidence: float = 0.9, method: str = "full") -> np.ndarray:
        """Return an interval for the target of each row of X.

        If the examples are exchangeable, each interval contains the true target with a probability near `confidence`.
        The notes describe the three methods and their guarantees.

        Parameters
        ----------
        X : array-like or sparse of shape (t, d)
        confidence : float
            The confidence, in (0, 1); 0.9 by default.
        method : {"full", "jackknife+", "cv+"}
            Method that computes the interval; "full" by default.

        Returns
        -------
        ndarray of shape (t, 2), float64
            Lower and upper ends. Both ends are infinite if there are fewer than confidence/(1 − confidence) examples.
            If the lower end of "jackknife+" or "cv+" exceeds the upper end, as may happen at a low confidence, both
            ends are NaN, and `predict_interval` warns.

        Raises
        ------
        ValueError
            If the examples are missing, as after ``SVR(keep_examples=False).fit``; if their kernel matrix of 8n²
            bytes exceeds `cache_size`; if the kernel is precomputed, C is infinite or weights are not whole numbers;
            or if the confidence is outside (0, 1) or the method is unknown.

        Notes
        -----
        "full" is exact full conformal prediction. For each possible target t, a model is trained on all examples and
        (x, t). The interval contains t if the share of this model's residuals that are smaller than the residual of (x,
        t) is below `confidence`. Residuals count as equal if they differ by less than 10⁻⁷ times the range of the
        targets, including t. For exchangeable examples the interval contains the next target with probability at least
        `confidence`, whatever the distribution and however well h fits. For each row, the method follows the optimum
        along t (`refsvm.analysis.paths.conformal`), which costs O(n²) operations for each event.

        "jackknife+" uses the residuals and the models of leave-one-out, and "cv+" the residuals and the models of ten
        folds (`refsvm.analysis.resampling.jackknife`). The models are trained once, and kept until the examples change.
        An interval of "jackknife+" contains the next target with a probability of at least 2 · confidence − 1; for
        "cv+" this bound is slightly lower. For "jackknife+" and "cv+" the probability is usually about `confidence`.

        The probability is taken over random examples and targets. An example of weight 2 counts as two examples, which
        are left out together; the new example has weight 1. Parameters that were set after the last `fit` or
        `partial_fit` have no effect. ``gamma="scale"`` is computed without x, which breaks exchangeability slightly;
        pass a number for γ instead.

        Examples
        --------
        >>> import numpy as np
        >>> from refsvm import SVR
        >>> rng = np.random.default_rng(0)
        >>> X = rng.uniform(0.0, 6.0, (60, 1))
        >>> model = SVR(gamma=0.5).fit(X, np.sin(X[:, 0]) + 0.1 * rng.normal(size=60))
        >>> low, high = model.predict_interval([[2.0]], confidence=0.8)[0]
        >>> bool(low < np.sin(2.0) < high), bool(high - low < 0.5)
        (True, True)
        >>> low, high = model.predict_interval([[2.0]], confidence=0.8, method="jackknife+")[0]
        >>> bool(low < np.sin(2.0) < high), bool(high - low < 0.5)
        (True, True)
        """
        if method not in ("full", "jackknife+", "cv+"):
            raise ValueError(f'method={method!r} is unknown; choose "full", "jackknife+" or "cv+".')
        self._check_fitted()
        # use the settings of the trained model, because parameters that the user sets after `fit` apply to the next fit
        fitted = self._settings_of_fit()
        if not fitted or is_precomputed(self.kernel_) or np.isinf(fitted["C"]):
            raise ValueError(
                "predict_interval needs the examples, a kernel function and a finite C; train with fit and "
                "keep_examples=True, or with partial_fit, and not with kernel='precomputed' or C=inf."
            )
        held, kernel = self._known_examples("predict_interval"), self.kernel_
        X, examples = (
            around(held.get("origin"), each)
            for each in (self._checked(X, kernel=kernel, reset=False), held["X"])
        )
        rows = np.flatnonzero(held["weights"] > 0.0)
        # call `copies` before any training, because it raises an error for weights that are not whole numbers
        copies("predict_interval", held["weights"], len(held["y"]))
        cross = called(kernel, X, examples)[:, rows]
        if method != "full":
            machines = self._held_out_machines(method, held, rows)
            return without_crossed(machines.intervals(cross, confidence), confidence)
        return conformal_intervals(
            self._gram(rows, held).block(np.arange(len(rows))),
            held["y"][rows],
            cross,
            np.array([called(kernel, X[[i]], X[[i]])[0, 0] for i in range(X.shape[0])]),
            C=fitted["C"],
            weights=held["weights"][rows],
            epsilon=fitted["epsilon"],
            confidence=confidence,
            engine=self.engine,
        )

    def _held_out_machines(self, method: str, held: dict[str, Any], rows: np.ndarray) -> HeldOutMachines:
        """Return a model for each example of `rows`, trained without it, or a model for each of ten folds."""
        tol = held.get("tol", self.tol)  # refsvm 0.3.0 stored no tolerance
        settings = (method, tol, self.engine)
        known = getattr(self, "_held_out", None)
        if known is None or known[0] is not held or known[1] != settings:
            folds, weights = np.arange(len(rows)) % FOLDS if method == "cv+" else None, held["weights"][rows]
            problem = self._problem(self._gram(rows, held), held["y"][rows], weights, held["settings"])
            stop = None if tol == SVR.tol else stopping_rule_of(tol)
            machines = held_out_machines(problem, folds, weights=weights, stop=stop, engine=self.engine)
            self._held_out = (held, settings, machines)
        return self._held_out[-1]


def without_crossed(intervals: np.ndarray, confidence: float) -> np.ndarray:
    """Replace intervals whose lower end exceeds their upper end by NaN, and warn how many were replaced.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm.estimators.svr import without_crossed
    >>> without_crossed(np.array([[0.0, 1.0]]), 0.9)
    array([[0., 1.]])
    """
    crossed = intervals[:, 0] > intervals[:, 1]
    if crossed.any():
        warnings.warn(
            f"{crossed.sum()} of {len(crossed)} intervals are empty (NaN): at confidence={confidence:g} their lower "
            "ends exceed their upper ends. Use a larger confidence, such as 0.5.",
            stacklevel=3,
        )
    return np.where(crossed[:, None], np.nan, intervals)
