"""SVC: the solver behind scikit-learn's interface.

Validation, labels, class weights, votes and tags are scikit-learn's own; the mathematics is `DualProblem` and `solve`;
`refsvm.multiclass.one_vs_one` takes several classes apart and puts them together again.
"""

from __future__ import annotations

import logging
import warnings
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, _fit_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import compute_class_weight
from sklearn.utils._param_validation import Interval, Options, StrOptions
from sklearn.utils.multiclass import _ovr_decision_function
from sklearn.utils.validation import _check_n_features, _check_sample_weight, check_is_fitted, validate_data

from refsvm.estimators.validation import (
    NO_LABELS,
    check_parameters,
    checked_data,
    encoded,
    refuse_empty_classes,
)
from refsvm.kernels import Linear, Precomputed
from refsvm.kernels.names import KERNELS, is_precomputed, is_users, kernel_called
from refsvm.multiclass.one_vs_one import (
    BinaryResult,
    RowKernel,
    layout,
    pairs,
    shortcoming,
    solve_pairs,
    worst,
)
from refsvm.multiclass.prediction import decision_values, pair_sums, votes
from refsvm.result import Status
from refsvm.selectors.base import WorkingSetSelector
from refsvm.steps.base import StepRule
from refsvm.stopping.kkt_gap import KKTGap

__all__ = ["SVC"]

_log = logging.getLogger("refsvm")


class SVC(ClassifierMixin, BaseEstimator):
    """C-support vector classification with exchangeable working-set selection and step rules.

    Two classes, coded y = −1 and +1, are the problem

        max yᵀα − ½ αᵀKα   subject to   1ᵀα = 0,   0 ≤ yᵢαᵢ ≤ Cᵢ

    and h(x) = Σ αᵢ k(x, xᵢ) + b > 0 means ``classes_[1]``. More classes are solved one-vs-one. Names, defaults and
    layouts are those of `sklearn.svm.SVC`; instead of ``probability`` use scikit-learn's ``CalibratedClassifierCV``.

    Parameters
    ----------
    C : float, default 1.0
        Penalty of the slack variables, positive and finite. Example i has Cᵢ = C × class weight × sample weight.
    kernel : str, kernel object or callable, default "rbf"
        "linear", "poly", "rbf", "sigmoid", "precomputed"; a kernel such as ``RBF(gamma=0.5)``, which brings its own
        parameters; or ``k(X, Z) -> (m, n)`` on blocks of examples of any kind.
    gamma : {"scale", "auto"} or float, default "scale"
        γ of "rbf", "poly" and "sigmoid": 1/(d · variance of X), 1/d, or the value; the variance heeds sample weights.
    degree, coef0 : int and float, default 3 and 0.0
        d of "poly", and c of "poly" and "sigmoid".
    tol : float, default 1e-3
        ε: training ends when the KKT gap is not above it. Small problems are then polished (`refsvm.solver.polish`).
    selector, step : WorkingSetSelector and StepRule, optional
        Which pair moves next, and how far; `SecondOrder` and `NewtonStep` by default.
    shrinking : bool, default True
        Solve on the variables that matter; False takes the steps of the papers one by one on all of them.
    cache_size : float, default 200
        Budget for kernel rows in MiB.
    cache_dtype : {"auto", "float64", "float32"}, default "auto"
        How kernel rows are kept; see `refsvm.solve`.
    class_weight : dict or "balanced", optional
        Factor of C for each class, 1 by default; "balanced" means n / (k × examples of the class).
    decision_function_shape : {"ovr", "ovo"}, default "ovr"
        One column for each class, or one for each pair of classes. Two classes always give a vector.
    break_ties : bool, default False
        Whether `predict` follows the one-vs-rest decision values rather than the votes alone. With k > 2 only.
    max_iter, time_limit : int and float, default -1 and None
        Limits on the steps for each pair of classes (−1 or None: max(10⁷, 100n)) and on the seconds of all together.
    warm_start : bool, default False
        Start from the α of the previous `fit` if there are as many examples and classes.
    engine : {"auto", "numba", "numpy"}, default "auto"
        The compiled loop or the readable one; "auto" compiles where Numba is installed.
    verbose : bool or int, default 0
        Whether the logger ``refsvm`` reports each solved pair at level INFO rather than DEBUG.

    Attributes
    ----------
    classes_, class_weight_ : ndarrays of shape (k,)
        Labels, sorted, and the factor of C for each.
    support_, n_support_ : ndarrays of shape (m,) and (k,), int32
        Indices of the support vectors, grouped by class, and how many there are of each class.
    support_vectors_ : ndarray or CSR of shape (m, d)
        Empty for a precomputed kernel.
    dual_coef_ : ndarray of shape (k − 1, m), float64
        αᵢ of each support vector in the k − 1 pairs of its class, ordered by the other class; never sparse.
    intercept_, n_iter_ : ndarrays of shape (k(k − 1)/2,), float64 and int32
        b of each pair, and the steps of this `fit`; no step at all counts as 1, as scikit-learn requires.
    coef_ : ndarray of shape (k(k − 1)/2, d), float64
        Weights w = Σ αᵢxᵢ of each pair, for the linear kernel only; never sparse.
    alpha_ : ndarray of shape (n,) or (k(k − 1)/2, n), float64
        Signed α of all training examples; one row for each pair if k > 2, zero outside its classes.
    binary_results_ : list of `refsvm.multiclass.one_vs_one.BinaryResult`
        For each pair its classes, examples, α, b, objectives, gaps, steps, kernel rows and status.
    dual_objective_, primal_objective_, duality_gap_, kkt_gap_ : float, or ndarray of shape (k(k − 1)/2,)
        f(α), F(α, b) at the best b, their difference, ψ(α); one for each pair if k > 2.
    n_kernel_rows_ : int
        Kernel rows computed, all pairs together.
    status_, fit_status_ : Status, int
        Why training ended (of the unfinished pair with the largest gap, if there is one), and 0 if all converged.
    kernel_ : Kernel, Precomputed or callable
        The kernel with its parameters resolved.
    shape_fit_, n_features_in_, feature_names_in_ : tuple, int, ndarray of shape (d,)
        Shape of X, d, and the column names if X had any.

    Notes
    -----
    Ctrl-C ends `fit` at the best point so far; pressed again before that it raises ``KeyboardInterrupt``.

    References
    ----------
    C.-C. Chang and C.-J. Lin, "LIBSVM: a library for support vector machines", ACM TIST 2 (27), 2011, section 7.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import SVC, PlanningAheadStep
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array(["out", "in", "in", "out"])
    >>> model = SVC(gamma=1.0, C=10.0, step=PlanningAheadStep()).fit(X, y)
    >>> model.predict([[1.5], [4.0]]).tolist(), model.status_.name
    (['in', 'out'], 'CONVERGED')
    >>> round(model.dual_objective_, 6), bool(model.duality_gap_ < 1e-12)
    (2.506874, True)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "C": [Interval(Real, 0.0, None, closed="neither")],
        "kernel": [StrOptions(set(KERNELS)), Precomputed, callable],
        "gamma": [StrOptions({"scale", "auto"}), Interval(Real, 0.0, None, closed="neither")],
        "degree": [Interval(Integral, 1, None, closed="left")],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "tol": [Interval(Real, 0.0, None, closed="neither")],
        "selector": [WorkingSetSelector, None],
        "step": [StepRule, None],
        "shrinking": ["boolean"],
        "cache_size": [Interval(Real, 0.0, None, closed="neither")],
        "cache_dtype": [StrOptions({"auto", "float64", "float32"})],
        "class_weight": [StrOptions({"balanced"}), dict, None],
        "decision_function_shape": [StrOptions({"ovr", "ovo"})],
        "break_ties": ["boolean"],
        "max_iter": [Interval(Integral, 1, None, closed="left"), Options(Integral, {-1}), None],
        "time_limit": [Interval(Real, 0.0, None, closed="neither"), None],
        "warm_start": ["boolean"],
        "engine": [StrOptions({"auto", "numba", "numpy"})],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        *,
        C: float = 1.0,
        kernel: Any = "rbf",
        gamma: str | float = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        tol: float = 1e-3,
        selector: WorkingSetSelector | None = None,
        step: StepRule | None = None,
        shrinking: bool = True,
        cache_size: float = 200,
        cache_dtype: str = "auto",
        class_weight: dict[Any, float] | str | None = None,
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        max_iter: int | None = -1,
        time_limit: float | None = None,
        warm_start: bool = False,
        engine: str = "auto",
        verbose: bool | int = 0,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.tol = tol
        self.selector = selector
        self.step = step
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.cache_dtype = cache_dtype
        self.class_weight = class_weight
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.warm_start = warm_start
        self.engine = engine
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = is_precomputed(self.kernel)
        tags.input_tags.sparse = not tags.input_tags.pairwise
        return tags

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train.

        Parameters
        ----------
        X : array-like or sparse of shape (n, d)
            Examples; for ``kernel="precomputed"`` the dense (n, n) kernel matrix; for a callable, whatever it takes.
            Used as it is if it is C-ordered float64 or CSR.
        y : array-like of shape (n,)
            Labels, at least two different ones.
        sample_weight : array-like of shape (n,), optional
            Factor of C for each example; those with 0 or less are left out.

        Returns
        -------
        SVC
            Itself.

        Raises
        ------
        ValueError
            On parameters out of range or rules that do not fit together, NaN, a class without examples.

        Warns
        -----
        ConvergenceWarning
            If a limit was reached, Ctrl-C pressed or the selector stalled. The estimator is usable all the same.
        """
        X, y = self._checked(X, y, kernel=self.kernel, reset=True)
        classes, codes = encoded(y)
        class_weight = np.ones(len(classes))
        if self.class_weight is not None:
            class_weight = compute_class_weight(self.class_weight, classes=classes, y=y)
        penalties, weights = self.C * class_weight[codes], None
        if sample_weight is not None:
            weights = np.maximum(_check_sample_weight(sample_weight, X), 0.0)
            penalties *= weights
        refuse_empty_classes(classes, codes[penalties > 0.0])
        kernel = self._kernel(X, weights)
        results = self._solved(kernel, X, codes, penalties)
        self.classes_, self.class_weight_, self.kernel_ = classes, class_weight, kernel
        self._store(results, X, codes)
        if sentence := shortcoming(results, self.tol):
            warnings.warn(sentence, ConvergenceWarning, stacklevel=3)
        return self

    def _validate_params(self) -> None:
        """Called by scikit-learn at the start of `fit`."""
        check_parameters(self)

    def _checked(self, X: Any, y: Any = NO_LABELS, *, kernel: Any, reset: bool) -> Any:
        """Let scikit-learn check X, and y in `fit`. A user's kernel takes what it likes."""
        if not is_users(kernel):
            sparse = False if is_precomputed(kernel) else "csr"
            return checked_data(self, X, y, reset=reset, accept_sparse=sparse, dtype=np.float64, order="C")
        table = not reset and hasattr(self, "n_features_in_")
        checked = validate_data(
            self, X, y, reset=reset, accept_sparse="csr", dtype=None, ensure_2d=table, allow_nd=not table
        )
        if reset and checked[0].ndim == 2:
            _check_n_features(self, checked[0], reset=True)
        return checked

    def _kernel(self, X: Any, weights: np.ndarray | None) -> Any:
        """Return the kernel as an object, γ resolved."""
        if not isinstance(self.kernel, str):
            return self.kernel
        return kernel_called(
            self.kernel, X, gamma=self.gamma, degree=self.degree, coef0=self.coef0, weights=weights
        )

    def _previous(self, codes: np.ndarray) -> list[BinaryResult] | None:
        """Return the results of the last `fit` if they are to start from and as many examples and classes remain."""
        if not self.warm_start or not hasattr(self, "binary_results_"):
            return None
        same = self.shape_fit_[0] == len(codes) and len(self.classes_) == codes.max() + 1
        return self.binary_results_ if same else None

    def _solved(self, kernel: Any, X: Any, codes: np.ndarray, penalties: np.ndarray) -> list[BinaryResult]:
        """Train every pair of classes."""
        if is_users(kernel):
            kernel, X = RowKernel(kernel, X), np.arange(len(codes))[:, None]
        solved = solve_pairs(
            pairs(kernel, X, codes, penalties),
            self._previous(codes),
            max_iter=None if self.max_iter == -1 else self.max_iter,
            time_limit=self.time_limit,
            selector=self.selector,
            step=self.step,
            stop=KKTGap(self.tol),
            engine=self.engine,
            shrinking=self.shrinking,
            cache_mb=self.cache_size,
            cache_dtype=self.cache_dtype,
        )
        results = []
        for result in solved:
            _log.log(logging.INFO if self.verbose else logging.DEBUG, "%s", result)
            results.append(result)
        return results

    def _store(self, results: list[BinaryResult], X: Any, codes: np.ndarray) -> None:
        """Set the fitted attributes."""
        self.binary_results_, self.shape_fit_ = results, X.shape
        self.support_, self.n_support_, self.dual_coef_ = layout(results, codes)
        self.support_vectors_ = np.empty((0, 0)) if is_precomputed(self.kernel_) else X[self.support_]
        self.intercept_ = np.array([result.intercept for result in results])
        self.n_iter_ = np.array([max(1, result.iterations) for result in results], dtype=np.int32)
        self.n_kernel_rows_ = sum(result.kernel_rows for result in results)
        for name in ("dual_objective", "primal_objective", "duality_gap", "kkt_gap"):
            values = [getattr(result, name) for result in results]
            setattr(self, f"{name}_", values[0] if len(values) == 1 else np.array(values))
        self.status_ = worst(results).status
        self.fit_status_ = int(self.status_ is not Status.CONVERGED)

    def decision_function(self, X: Any) -> np.ndarray:
        """Decision values.

        Parameters
        ----------
        X : array-like or sparse of shape (t, d)
            For ``kernel="precomputed"`` the (t, n) kernel values with the training examples.

        Returns
        -------
        ndarray of float64
            Two classes: h(x), shape (t,), positive for ``classes_[1]``. More: with "ovo" h of each pair, shape
            (t, k(k − 1)/2), positive for its first class; with "ovr" the votes for each class, moved by less than ½
            by the size of the values, shape (t, k).
        """
        values, k = self._pair_values(X), len(self.classes_)
        if k == 2:
            return values[:, 0]
        if self.decision_function_shape == "ovr":
            return np.asarray(_ovr_decision_function(values < 0, -values, k))
        return values

    def predict(self, X: Any) -> np.ndarray:
        """Class of each row of X: the one with most votes of the pairs, the first of `classes_` on a tie.

        Parameters
        ----------
        X : array-like or sparse of shape (t, d)
            As for `decision_function`.

        Returns
        -------
        ndarray of shape (t,)
        """
        self._check_fitted()
        if self.break_ties and self.decision_function_shape == "ovo":
            raise ValueError('break_ties=True needs decision_function_shape="ovr"; set one or the other.')
        k = len(self.classes_)
        if self.break_ties and k > 2:
            return np.asarray(self.classes_[self.decision_function(X).argmax(axis=1)])
        return np.asarray(self.classes_[votes(self._pair_values(X), k)])

    def _check_fitted(self) -> None:
        """Let scikit-learn refuse what has not been fitted."""
        if not hasattr(self, "classes_"):  # its own way to find out takes longer than many a prediction
            check_is_fitted(self)

    def _pair_values(self, X: Any) -> np.ndarray:
        """Return h of each pair, shape (t, k(k − 1)/2); only the support vectors are looked at."""
        self._check_fitted()
        X = self._checked(X, kernel=self.kernel_, reset=False)
        vectors = self.support_ if is_precomputed(self.kernel_) else self.support_vectors_
        pair_sum = partial(pair_sums, self.dual_coef_, self.n_support_)
        return decision_values(self.kernel_, X, vectors, pair_sum) + self.intercept_

    @property
    def alpha_(self) -> np.ndarray:
        """Signed α of all training examples."""
        self._check_fitted()
        n = self.shape_fit_[0]
        rows = np.stack([result.scattered(n) for result in self.binary_results_])
        return rows[0] if len(self.classes_) == 2 else rows

    @property
    def coef_(self) -> np.ndarray:
        """Weights of the linear kernel."""
        self._check_fitted()
        if not isinstance(self.kernel_, Linear):
            raise AttributeError(f"coef_ needs the linear kernel; this SVC was fitted with {self.kernel_!r}.")
        coef = pair_sums(self.dual_coef_, self.n_support_, self.support_vectors_)
        coef.flags.writeable = False  # it is computed afresh each time: writing to it would change nothing
        return coef
