"""SVC: classification with scikit-learn's interface.

Labels, class weights and votes follow scikit-learn. `DualProblem` and `solve` contain the mathematics.
`refsvm.analysis.multiclass.one_vs_one` splits a problem with several classes into pairs of classes and combines the
results of the pairs.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.multiclass import _ovr_decision_function

from refsvm.analysis.multiclass.one_vs_one import BinaryResult, Pair, convergence_message, layout, worst
from refsvm.analysis.multiclass.small_pairs import train_pairs, train_present
from refsvm.analysis.scheme import OneVsOne
from refsvm.core._checks import penalties
from refsvm.core.problem import DualProblem
from refsvm.core.result import Solution, Status
from refsvm.estimators.base import PROBABILITIES, KernelMachine, reject_probability
from refsvm.estimators.incremental import Incremental, MachineChange
from refsvm.estimators.pairwise import solutions_of_pairs
from refsvm.estimators.validation import (
    checked_weights,
    class_weights,
    encoded,
    known_codes,
    no_weight,
    penalties_of,
    refuse_missing,
    refuse_single_class,
    refuse_to_forget,
    scaled,
)
from refsvm.services.names import is_precomputed, is_user_kernel
from refsvm.services.types import ArrayLike, RandomLike


@reject_probability
@dataclass(kw_only=True, eq=False, repr=False)
class SVC(ClassifierMixin, Incremental):
    """C-support vector classification; you can choose the rules for the working set and for the step.

    Two classes, coded y = −1 and +1, lead to this problem:

        max yᵀα − ½ αᵀKα   subject to   1ᵀα = 0,   0 ≤ yᵢαᵢ ≤ Cᵢ

    If h(x) = Σ αᵢ k(x, xᵢ) + b > 0, `predict` returns ``classes_[1]``. With more classes, `SVC` trains a model for each
    pair of classes. Names, defaults and array shapes follow `sklearn.svm.SVC`; instead of ``probability`` use
    scikit-learn's ``CalibratedClassifierCV``.

    Parameters
    ----------
    C : float, default 1.0
        Penalty of the slack variables, positive; infinity means the hard margin. Example i has Cᵢ = C × class weight
        × sample weight.
    kernel : str, kernel object or callable, default "rbf"
        One of "linear", "poly", "rbf", "sigmoid" and "precomputed"; a kernel object such as ``RBF(gamma=0.5)``, which
        carries its parameters; or a function ``k(X, Z) -> (m, n)`` of two blocks of examples, which may be any
        objects.
    gamma : {"scale", "auto"}, float or array-like of shape (d,), default "scale"
        γ ≥ 0 of "rbf", "poly" and "sigmoid". "scale" means 1/(d · weighted variance of X), "auto" means 1/d. "rbf"
        also takes one γ for each feature: its kernel is then exp(−Σⱼ γⱼ(xⱼ − zⱼ)²).
    degree, coef0 : int and float, default 3 and 0.0
        The exponent d of "poly", and the constant c of "poly" and "sigmoid".
    tol : float or StoppingRule, default 1e-3
        Training ends when the KKT gap is at most `tol` times the range of the decision values, or at most `tol` if this
        range exceeds 1. If one exact step can then reach the optimum of a small problem, `fit` takes this step
        (`refsvm.services.guards.polish`). If `tol` is a stopping rule, such as ``KKTGap(1e-3)`` for an absolute gap,
        this rule ends the training.
    selector, step : WorkingSetSelector and StepRule, optional
        The rule that selects the next pair of variables, by default `SecondOrder`, and the rule for the length of the
        step, by default `PlanningAheadStep`. If the selector does not consider planned pairs (``takes_candidates``),
        the default step rule is `NewtonStep`, or `ConjugateStep` for `ConjugateSecondOrder`. If you give neither rule,
        `ConjugateSecondOrder` and `ConjugateStep` solve the problems that shrinking has restricted.
    shrinking : bool, default True
        Whether to restrict steps to the variables that still change. If False, the rules choose every step among all
        variables.
    cache_size : float, default 200
        Budget for kernel rows in MiB.
    cache_dtype : {"auto", "float64", "float32"}, default "auto"
        Type in which kernel rows are stored; see `refsvm.solve`.
    class_weight : dict or "balanced", optional
        Factor of C for each class, 1 by default; "balanced" means n / (k × examples of the class).
    decision_function_shape : {"ovr", "ovo"}, default "ovr"
        Whether `decision_function` returns a column for each class or for each pair of classes. With two classes
        `decision_function` always returns a vector.
    break_ties : bool, default False
        If True, and there are more than two classes, `predict` breaks ties between votes by the one-vs-rest decision
        values.
    max_iter, time_limit : int and float, default -1 and None
        Limit on the steps for each pair of classes (−1 means max(10⁷, 100n)), and limit on the seconds of the whole
        `fit`.
    warm_start : bool, default False
        Start from the α of the last `fit`. If the number of examples or classes has changed, `fit` warns and starts
        from zero.
    engine : {"auto", "numba", "numpy"}, default "auto"
        "numba" is the compiled loop and "numpy" the readable loop; both take the same steps. "auto" starts with the
        readable loop, and changes to the compiled loop if Numba is installed and the solve is long enough to repay
        loading compiled code.
    verbose : "auto", bool or int, default "auto"
        Whether to show a line on stderr with the KKT gap, the steps and the seconds of `fit`, or the progress of
        `partial_fit` and `forget`. "auto" shows the line in a terminal or a notebook after two seconds
        (`refsvm.services.line`); 1 shows the line everywhere.
    n_jobs : int, optional
        Number of threads that solve pairs of classes at the same time; −1 means one thread for each processor. The
        result does not depend on `n_jobs`.
    random_state : int, RandomState or None, default None
        Ignored, because the solver is deterministic; `SVC` accepts it so that code written for scikit-learn runs.

    Attributes
    ----------
    classes_, class_weight_ : ndarrays of shape (k,)
        Sorted labels, and the factor of C for each class.
    support_, n_support_ : ndarrays of shape (m,) and (k,), int32
        Indices of the support vectors, grouped by class, and number of support vectors of each class.
    support_vectors_ : ndarray or CSR of shape (m, d)
        The support vectors; empty for a precomputed kernel.
    dual_coef_ : ndarray of shape (k − 1, m), float64
        For each support vector, its αᵢ in the k − 1 pairs of its class with another class, in the order of the other
        classes; never sparse.
    intercept_, n_iter_ : ndarrays of shape (k(k − 1)/2,), float64 and int32
        b of each pair, and the number of steps of this `fit` (at least 1, as scikit-learn requires).
    coef_ : ndarray of shape (k(k − 1)/2, d), float64
        Weights w = Σ αᵢxᵢ of each pair, for the linear kernel only; never sparse.
    alpha_ : ndarray of shape (n,) or (k(k − 1)/2, n), float64
        Signed α of all training examples. With more than two classes, `alpha_` has a row for each pair of classes, with
        0 for examples of other classes.
    binary_results_ : list of `refsvm.analysis.multiclass.one_vs_one.BinaryResult`
        For each pair of classes, a record of its classes, examples, α, b, objectives, gaps, steps, kernel rows and
        status.
    dual_objective_, primal_objective_, duality_gap_, kkt_gap_ : float, or ndarray of shape (k(k − 1)/2,)
        f(α), F(α, b) at the best b, their difference, and ψ(α); with more than two classes one value for each pair.
    n_kernel_rows_ : int
        Number of kernel rows computed, over all pairs.
    status_, fit_status_ : Status, int
        The reason why training ended; and 0 if all pairs converged, otherwise 1. If pairs did not converge, `status_`
        is the status of the unconverged pair with the largest gap.
    kernel_ : Kernel, Precomputed or callable
        The kernel with its parameters resolved.
    shape_fit_, n_features_in_, feature_names_in_ : tuple, int, ndarray of shape (d,)
        Shape of X, number of features, and column names if X has any.

    Notes
    -----
    Ctrl-C ends `fit` at the last point reached. The fitted attributes describe this point, and `fit` raises
    ``KeyboardInterrupt``, so that a search that called `fit` stops. A second Ctrl-C, before `fit` has stored the
    attributes, raises ``KeyboardInterrupt`` at once.

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

    C: float = 1.0
    class_weight: dict[Any, float] | str | None = None
    decision_function_shape: str = "ovr"
    break_ties: bool = False
    n_jobs: int | None = None
    random_state: RandomLike = None

    _settings: ClassVar[tuple[str, ...]] = ("C",)
    _parameter_constraints: ClassVar[dict[str, Any]] = KernelMachine._parameter_constraints | {
        "C": [Interval(Real, 0.0, None, closed="right")],
        "class_weight": [StrOptions({"balanced"}), dict, None],
        "decision_function_shape": [StrOptions({"ovr", "ovo"})],
        "break_ties": ["boolean"],
        "n_jobs": [
            Interval(Integral, 1, None, closed="left"),
            Interval(Integral, None, -1, closed="right"),
            None,
        ],
        "random_state": ["random_state"],
    }

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike = None) -> Self:
        """Train on the examples.

        Parameters
        ----------
        X : array-like or sparse of shape (n, d)
            Examples. For ``kernel="precomputed"``, X is the dense (n, n) kernel matrix; for a callable, X contains any
            objects that the callable accepts. C-ordered float64 and CSR are not copied.
        y, sample_weight : array-like of shape (n,)
            Labels of at least two classes, and factors of C. An example of weight 2 counts as two examples (also for
            "balanced"), and an example of weight 0 or less is ignored. `predict` never returns a class whose examples
            all have weight 0.

        Returns
        -------
        SVC
            The estimator itself.

        Raises
        ------
        ValueError
            If parameters are out of range, the selector and the step rule cannot be combined, X contains NaN, or only
            one class has positive weights.
        KeyboardInterrupt
            After Ctrl-C; the fitted attributes describe the last point.

        Warns
        -----
        ConvergenceWarning
            If a limit was reached, the selector stalled, or C is infinite and the classes cannot be separated. The
            estimator can still predict.
        """
        self._validate_params()
        X, y = self._checked(X, y, kernel=self.kernel, reset=True)
        classes, codes = encoded(y)
        class_weight, weights, C = np.ones(len(classes)), None, penalties(self.C, len(codes))
        present = np.arange(len(classes))
        if not (self.class_weight is None and sample_weight is None):
            weights = checked_weights(sample_weight, X)
            class_weight = class_weights(self.class_weight, classes, y, weights)
            C = penalties_of(self.C, class_weight, codes, weights)
            present = refuse_single_class(classes, codes[C > 0.0])
        kernel = self._kernel(X, self.gamma, weights)
        known, data, computed = self._by_number(kernel, X) if is_user_kernel(kernel) else (kernel, X, 0)
        start = self._previous(codes) if self.warm_start else None
        with self._line("pairs of classes") as shown, self._interruptible() as interrupt:
            if shown and len(classes) > 2:
                shown.begin("", total=len(classes) * (len(classes) - 1) // 2)
            options = self._run_options(shown)
            if len(present) == len(classes):
                results = train_pairs(known, data, codes, C, start, interrupt, options)
            else:
                results = train_present(known, data, codes, C, start, interrupt, options, present)
            if (log := logging.getLogger("refsvm")).isEnabledFor(logging.DEBUG):
                for result in results:
                    log.debug("%s", result)
            self.classes_, self.class_weight_, self.kernel_ = classes, class_weight, kernel
            self._store(results, X.copy() if is_user_kernel(kernel) else X, codes, computed)
            if shown:
                shown.tell(len(results))
                steps = sum(each.iterations for each in results)
                shown.end(self.status_.value, worst(results).kkt_gap, steps)
        if self.fit_status_:
            warnings.warn(convergence_message(results, self._stopping_rule), ConvergenceWarning, stacklevel=2)
        return self

    def _machine(self, y: Any) -> tuple[dict[str, Any], bool]:
        """Return C multiplied by the class weights, and whether all examples have the same weight in the scores."""
        if self.class_weight is None:
            return {"C": self.C}, False
        if isinstance(self.class_weight, str):
            raise ValueError(
                f"class_weight={self.class_weight!r} depends on the training part of each round; pass a dict of "
                "weights."
            )
        labels = np.asarray(y)
        classes, codes = encoded(labels)
        C = penalties_of(self.C, class_weights(self.class_weight, classes, labels), codes, None)
        return {"C": C}, True

    def partial_fit(
        self, X: ArrayLike, y: ArrayLike, classes: ArrayLike = None, sample_weight: ArrayLike = None
    ) -> Self:
        """Train on more examples; afterwards the model is the optimum for all examples so far.

        To remove examples again, call `forget`. The notes describe memory, cost, and which parameters may change.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`. An example of weight 0 is stored, but does not change the model; in later calls, all examples
            may have weight 0.
        classes : array-like, optional
            All labels that may occur in later calls. The first call needs an example of each class.

        Returns
        -------
        SVC
            The estimator itself.

        Raises
        ------
        ValueError
            As for `fit`; also if C is infinite, a label is new, the kernel matrix is indefinite or larger than
            `cache_size`, or the kernel has changed. After an error, the model is unchanged.

        Notes
        -----
        The first call trains like `fit` and keeps copies of the examples and their kernel matrix. The matrix takes 8n²
        bytes, at most `cache_size`. A γ or class weight that depends on the data keeps the value from the first call.
        Later calls follow the optimum from the old problem to the new problem (`refsvm.Solution.continue_to`). Each
        new example causes one or two events. At an event, a variable reaches or leaves a bound; an event costs O(mn)
        operations for m free support vectors.

        `fit` keeps support vectors only, so `partial_fit` after `fit` warns and discards the fitted model. If you set
        another C (or ε of `SVR`, ν of `OneClassSVM`) between calls, the next call applies the new value to all
        examples. If you set another kernel, γ or class weight, the next call raises an error.

        Examples
        --------
        >>> from refsvm import SVC
        >>> from refsvm.datasets import load
        >>> heart = load("heart")
        >>> model = SVC(gamma=0.005).partial_fit(heart.X[:200], heart.y[:200])
        >>> whole = SVC(gamma=0.005, tol=1e-9).fit(heart.X, heart.y)
        >>> model.partial_fit(heart.X[200:], heart.y[200:]).dual_objective_ - whole.dual_objective_ < 1e-9
        True
        """
        if self._begins():
            refuse_missing(classes, y)
            before = self.__dict__.copy()
            self.fit(X, y, sample_weight)
            if (name := self._absent()) is not None:  # later calls need an example of each class
                self.__dict__.clear()
                self.__dict__.update(before)
                raise ValueError(no_weight(name))
        X, y = self._checked(X, y, kernel=self.kernel_, reset=False)
        codes, weights = known_codes(self.classes_, y), checked_weights(sample_weight, X, all_zero=True)
        self._add(X, codes, penalties_of(1.0, self.class_weight_, codes, weights))
        return self

    def _count(self) -> int:
        """Return the number of pairs of classes."""
        return len(self.binary_results_)

    def _machines(self, before: np.ndarray, after: np.ndarray) -> Iterator[MachineChange]:
        """Yield a `MachineChange` for each pair of classes."""
        codes = self.held_["y"].astype(np.int64)
        penalties = scaled(self.held_["settings"]["C"], before), scaled(self.C, after)
        for result in self.binary_results_:
            rows = np.flatnonzero((codes == result.negative) | (codes == result.positive))
            labels = np.where(codes[rows] == result.positive, 1.0, -1.0)
            K = self._gram(rows)
            start, end = (DualProblem.classification(y=labels, gram=K, C=C[rows]) for C in penalties)
            yield MachineChange(rows, start, end, result.scattered(len(codes))[rows])

    def _take(self, solutions: list[Solution], places: list[np.ndarray], remaining: np.ndarray) -> None:
        """Set the fitted attributes for the remaining examples."""
        results = []
        for old, solution, rows in zip(self.binary_results_, solutions, places, strict=True):
            here = np.isin(rows, remaining)
            pair = Pair(old.negative, old.positive, remaining.searchsorted(rows[here]), solution.problem)
            result = BinaryResult.of(pair, solution, solution.status)
            results.append(replace(result, alpha=solution.alpha[here], origin=self.held_.get("origin")))
        self._store(results, self.held_["X"], self.held_["y"].astype(np.int64), len(self.held_["y"]))

    def _absent(self) -> Any:
        """Return the label of a class without an example of positive weight, or None."""
        known = {
            code for each in self.binary_results_ if len(each.rows) for code in (each.negative, each.positive)
        }
        absent = sorted({*range(len(self.classes_))} - known)
        return self.classes_.tolist()[absent[0]] if absent else None

    def _refuse_empty(self, weights: np.ndarray) -> None:
        """Raise an error unless each class keeps an example of positive weight."""
        refuse_to_forget(self.classes_, self.held_["y"].astype(np.int64)[weights > 0.0])

    @property
    def predict_proba(self) -> Any:
        """Raise an AttributeError that names the alternative to probabilities of `SVC`."""
        raise AttributeError(f"SVC {PROBABILITIES.format(name='SVC')}.")

    predict_log_proba = predict_proba

    def _previous(self, codes: np.ndarray) -> list[BinaryResult] | None:
        """Return the result of each pair from the last `fit`; None if the number of examples or classes has changed."""
        before: list[BinaryResult] | None = getattr(self, "binary_results_", None)
        if not before or (self.shape_fit_[0] == len(codes) and len(self.classes_) == codes.max() + 1):
            return before
        warnings.warn(
            f"warm_start=True, but the last fit had {self.shape_fit_[0]} examples of {len(self.classes_)} classes "
            f"and this fit has {len(codes)} of {codes.max() + 1}, so this fit starts from zero.",
            stacklevel=3,
        )
        return None

    def _store(self, results: list[BinaryResult], X: Any, codes: np.ndarray, computed: int) -> None:
        """Set the fitted attributes."""
        self.binary_results_, self.shape_fit_ = results, X.shape
        self.support_, self.n_support_, self.dual_coef_ = layout(results, codes)
        self.support_vectors_ = np.empty((0, 0)) if is_precomputed(self.kernel_) else X[self.support_]
        self._examples = X if is_user_kernel(self.kernel_) else None  # keep X, which is already a copy
        self._set_intercepts([result.centred_intercept for result in results], results[0].origin)
        if self._centred is not None:
            numbers = zip(results, self.intercept_.tolist(), strict=True)
            self.binary_results_ = [result.with_intercept(b) for result, b in numbers]
        self.n_iter_ = np.array([max(1, result.iterations) for result in results], dtype=np.int32)
        self.n_kernel_rows_ = computed + sum(result.kernel_rows for result in results)
        for name in ("dual_objective", "primal_objective", "duality_gap", "kkt_gap"):
            values = [getattr(result, name) for result in results]
            setattr(self, f"{name}_", np.array(values) if len(values) > 1 else values[0])
        self.status_ = worst(results).status
        self.fit_status_ = int(self.status_ is not Status.CONVERGED)

    def decision_function(self, X: ArrayLike) -> np.ndarray:
        """Return the decision values of the rows of X.

        Parameters
        ----------
        X : array-like or sparse of shape (t, d)
            Examples. For ``kernel="precomputed"``, kernel values between the t examples and the n training examples,
            shape (t, n).

        Returns
        -------
        ndarray of float64
            For two classes, h(x) of each row, shape (t,); it is positive for ``classes_[1]``. For more classes and
            "ovo", h of each pair, shape (t, k(k − 1)/2), which is positive for the pair's first class; with "ovr", the
            votes for each class plus a number below ½ that depends on the decision values, shape (t, k).
        """
        values, k = self._decision_values(X), len(self.classes_)
        if k == 2:
            return values[:, 0]
        if self.decision_function_shape == "ovr":
            return np.asarray(_ovr_decision_function(values < 0, -values, k))
        return values

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Return the class with most votes for each row of X; on a tie, the class that is first in `classes_`.

        Parameters
        ----------
        X : array-like or sparse of shape (t, d)
            As in `decision_function`.

        Returns
        -------
        ndarray of shape (t,)
        """
        self._check_fitted()
        if self.break_ties and self.decision_function_shape == "ovo":
            raise ValueError(
                "break_ties must be False when decision_function_shape is 'ovo', because ties are broken "
                'by the values of "ovr", so set break_ties=False or decision_function_shape="ovr".'
            )
        k = len(self.classes_)
        if self.break_ties and k > 2:
            return np.asarray(self.classes_[self.decision_function(X).argmax(axis=1)])
        return np.asarray(self.classes_[self._decision_values(X, OneVsOne(k).votes)])

    def solutions(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike = None
    ) -> dict[tuple[Any, Any], Solution]:
        """Return the solution for each pair of classes, for derivatives and other analyses.

        The decision values of each pair have derivatives; the votes have none. Each solution is made from the α of this
        model, and no model is trained again.

        Parameters
        ----------
        X, y, sample_weight
            The arguments of the `fit` that trained this model.

        Returns
        -------
        dict
            Maps pairs of classes, in the order of ``decision_function_shape="ovo"``, to a `refsvm.Solution`. A pair is
            left out if all examples of one of its classes have weight 0.

        Raises
        ------
        ValueError
            If the model was trained with other examples, labels, weights or C.

        Examples
        --------
        >>> import numpy as np
        >>> from refsvm import RBF, SVC
        >>> X, y = np.array([[0.0], [1.0], [3.0], [4.0], [7.0], [9.0]]), np.array(["a", "b", "b", "c", "a", "c"])
        >>> pairs = SVC(kernel=RBF(0.1)).fit(X, y).solutions(X, y)
        >>> for pair, solution in pairs.items():
        ...     print(pair, solution.derivative("gamma").decision_function([[2.0]]).round(2))
        ('a', 'b') [-2.74]
        ('a', 'c') [-0.71]
        ('b', 'c') [0.26]
        """
        return solutions_of_pairs(self, X, y, sample_weight)

    @property
    def alpha_(self) -> np.ndarray:
        """Signed α of all training examples."""
        self._check_fitted()
        rows = np.stack([result.scattered(self.shape_fit_[0]) for result in self.binary_results_])
        return rows[0] if len(self.classes_) == 2 else rows
