"""SVC: the solver behind scikit-learn's interface.

Labels, class weights and votes are scikit-learn's own; the mathematics is `DualProblem` and `solve`;
`refsvm.analysis.multiclass.one_vs_one` takes several classes apart and puts them together again.
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


@reject_probability
@dataclass(kw_only=True, eq=False, repr=False)
class SVC(ClassifierMixin, Incremental):
    """C-support vector classification with exchangeable working-set selection and step rules.

    Two classes, coded y = −1 and +1, are the problem

        max yᵀα − ½ αᵀKα   subject to   1ᵀα = 0,   0 ≤ yᵢαᵢ ≤ Cᵢ

    and h(x) = Σ αᵢ k(x, xᵢ) + b > 0 means ``classes_[1]``. More classes are solved one-vs-one. Names, defaults and
    layouts are those of `sklearn.svm.SVC`; instead of ``probability`` use scikit-learn's ``CalibratedClassifierCV``.

    Parameters
    ----------
    C : float, default 1.0
        Penalty of the slack variables, positive; infinity is the hard margin. Example i has Cᵢ = C × class weight ×
        sample weight.
    kernel : str, kernel object or callable, default "rbf"
        "linear", "poly", "rbf", "sigmoid", "precomputed"; a kernel such as ``RBF(gamma=0.5)``, which brings its own
        parameters; or ``k(X, Z) -> (m, n)`` on blocks of examples of any kind.
    gamma : {"scale", "auto"}, float or array-like of shape (d,), default "scale"
        γ ≥ 0 of "rbf", "poly" and "sigmoid": 1/(d · variance of X), 1/d, or the value; the variance heeds weights. Of
        "rbf" also one γ for each feature, with which the kernel is exp(−Σⱼ γⱼ(xⱼ − zⱼ)²).
    degree, coef0 : int and float, default 3 and 0.0
        d of "poly", and c of "poly" and "sigmoid".
    tol : float or StoppingRule, default 1e-3
        ε: training ends when the KKT gap is not above ε times the range of the decision values, or above ε where that
        range is more than 1. Small problems are then polished (`refsvm.services.guards.polish`). A rule, such as
        ``KKTGap(1e-3)``, which is absolute, decides itself.
    selector, step : WorkingSetSelector and StepRule, optional
        Which pair moves next, and how far; `SecondOrder` and `PlanningAheadStep` by default. A selector that considers
        no pairs planned with gets `NewtonStep`. If neither is given, restricted problems are solved with
        `ConjugateSecondOrder` and `ConjugateStep`.
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
        Start the solver at the α of the last `fit` of as many examples and classes; cold, with a warning, else.
    engine : {"auto", "numba", "numpy"}, default "auto"
        The compiled loop or the readable one, with the same steps; "auto" begins in the readable loop, and goes on in
        the compiled one if Numba is installed and the time spent pays for loading it.
    verbose : "auto", bool or int, default "auto"
        A line on stderr with the KKT gap, the steps and the seconds of `fit`, as `progress` of `refsvm.solve`, and with
        how far the walk of `partial_fit` and `forget` is. "auto" shows it in a terminal or a notebook, from two seconds
        on (`refsvm.services.line`); 1 shows it everywhere.
    n_jobs : int, optional
        Threads that solve pairs of classes at the same time; −1 means one for each processor. The result does not
        depend on it.
    random_state : int, RandomState or None, default None
        Not used: the solver is deterministic. Accepted so that code written for scikit-learn runs.

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
    binary_results_ : list of `refsvm.analysis.multiclass.one_vs_one.BinaryResult`
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
    Ctrl-C ends `fit` at the last point reached: the fitted attributes hold it, and ``KeyboardInterrupt`` is raised, so
    that a surrounding search stops too. Pressed again before that, it raises at once and nothing is stored.

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
    random_state: Any = None

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

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train.

        Parameters
        ----------
        X : array-like or sparse of shape (n, d)
            Examples; for ``kernel="precomputed"`` the dense (n, n) kernel matrix; for a callable, any objects that it
            takes. Used as it is if it is C-ordered float64 or CSR.
        y, sample_weight : array-like of shape (n,)
            Labels, at least two different ones; and factors of C: an example of weight 2 is two examples, in everything
            ("balanced" counts it twice), and one with 0 or less is none. A class of such examples alone is left out:
            `classes_` has it, and `predict` never says it.

        Returns
        -------
        SVC
            Itself.

        Raises
        ------
        ValueError
            On parameters out of range or rules that do not fit together, NaN, a single class of examples that count.
        KeyboardInterrupt
            After Ctrl-C, with the last point reached in the fitted attributes.

        Warns
        -----
        ConvergenceWarning
            If a limit was reached, the selector stalled, or an infinite C separates nothing; it is usable all the same.
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
        """Return C, with the weights of the classes, which count in no score."""
        if self.class_weight is None:
            return {"C": self.C}, False
        if isinstance(self.class_weight, str):
            raise ValueError(
                f"class_weight={self.class_weight!r} depends on the training part of a round; give weights as a dict."
            )
        labels = np.asarray(y)
        classes, codes = encoded(labels)
        return {
            "C": penalties_of(self.C, class_weights(self.class_weight, classes, labels), codes, None)
        }, True

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Train on more examples: the model is then that of all of them, exactly.

        The first call is `fit`, of which copies of the examples and their kernel matrix are held, 8n² bytes within
        `cache_size`; γ and class weights that depend on the data are those of this call from then on. Later calls walk
        from the old optimum to the new one (`refsvm.Solution.continue_to`): an event or two for each new example, every
        one in O(mn) for m free support vectors. Examples can go again: `forget`. After a `fit`, which keeps support
        vectors only, the first call begins anew, with a warning. A new C becomes that of all examples (so do ε of `SVR`
        and ν of `OneClassSVM`); another kernel, γ or class weight is refused.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`; an example of weight 0 is held, and counts for nothing. Later calls take all weights 0.
        classes : array-like, optional
            All labels that may come. The first call needs an example of each.

        Returns
        -------
        SVC
            Itself.

        Raises
        ------
        ValueError
            As `fit`; on an infinite C, labels that are new, a kernel matrix beyond `cache_size` or an indefinite one,
            and another kernel. The model is then unchanged.

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
            if (name := self._absent()) is not None:  # a walk has nothing to begin with there
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
        """Yield the pairs of classes."""
        codes = self.held_["y"].astype(np.int64)
        penalties = scaled(self.held_["settings"]["C"], before), scaled(self.C, after)
        for result in self.binary_results_:
            rows = np.flatnonzero((codes == result.negative) | (codes == result.positive))
            labels = np.where(codes[rows] == result.positive, 1.0, -1.0)
            K = self._gram(rows)
            start, end = (DualProblem.classification(y=labels, gram=K, C=C[rows]) for C in penalties)
            yield MachineChange(rows, start, end, result.scattered(len(codes))[rows])

    def _take(self, solutions: list[Solution], places: list[np.ndarray], kept: np.ndarray) -> None:
        """Set the fitted attributes, with new numbers for the examples that remain."""
        results = []
        for old, solution, rows in zip(self.binary_results_, solutions, places, strict=True):
            here = np.isin(rows, kept)
            pair = Pair(old.negative, old.positive, kept.searchsorted(rows[here]), solution.problem)
            result = BinaryResult.of(pair, solution, solution.status)
            results.append(replace(result, alpha=solution.alpha[here], origin=self.held_.get("origin")))
        self._store(results, self.held_["X"], self.held_["y"].astype(np.int64), len(self.held_["y"]))

    def _absent(self) -> Any:
        """Return the label of a class of which no example counts; None if there is none."""
        known = {
            code for each in self.binary_results_ if len(each.rows) for code in (each.negative, each.positive)
        }
        absent = sorted({*range(len(self.classes_))} - known)
        return self.classes_.tolist()[absent[0]] if absent else None

    def _refuse_empty(self, weights: np.ndarray) -> None:
        """Each class keeps an example that counts."""
        refuse_to_forget(self.classes_, self.held_["y"].astype(np.int64)[weights > 0.0])

    @property
    def predict_proba(self) -> Any:
        """Not there; the error names the alternative."""
        raise AttributeError(f"SVC {PROBABILITIES.format(name='SVC')}.")

    predict_log_proba = predict_proba

    def _previous(self, codes: np.ndarray) -> list[BinaryResult] | None:
        """Return the results of the last `fit`, to start from, if as many examples and classes remain."""
        before: list[BinaryResult] | None = getattr(self, "binary_results_", None)
        if not before or (self.shape_fit_[0] == len(codes) and len(self.classes_) == codes.max() + 1):
            return before
        warnings.warn(
            f"warm_start=True, but the last fit had {self.shape_fit_[0]} examples of {len(self.classes_)} classes and "
            f"this one has {len(codes)} of {codes.max() + 1}; it started cold.",
            stacklevel=3,
        )
        return None

    def _store(self, results: list[BinaryResult], X: Any, codes: np.ndarray, computed: int) -> None:
        """Set the fitted attributes."""
        self.binary_results_, self.shape_fit_ = results, X.shape
        self.support_, self.n_support_, self.dual_coef_ = layout(results, codes)
        self.support_vectors_ = np.empty((0, 0)) if is_precomputed(self.kernel_) else X[self.support_]
        self._examples = X if is_user_kernel(self.kernel_) else None  # a copy of its own
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
        values, k = self._decision_values(X), len(self.classes_)
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
            raise ValueError(
                "break_ties must be False when decision_function_shape is 'ovo'; set one or the other: ties are broken "
                'by the values of "ovr".'
            )
        k = len(self.classes_)
        if self.break_ties and k > 2:
            return np.asarray(self.classes_[self.decision_function(X).argmax(axis=1)])
        return np.asarray(self.classes_[self._decision_values(X, OneVsOne(k).votes)])

    def solutions(self, X: Any, y: Any, sample_weight: Any = None) -> dict[tuple[Any, Any], Solution]:
        """Return the solution of each pair of classes on the training examples, with its derivatives.

        Votes are counts and have no derivative; the values of the pairs do. Nothing is trained anew: each solution
        starts from the α of this model.

        Parameters
        ----------
        X, y, sample_weight
            Those that the model was trained on.

        Returns
        -------
        dict
            From pairs of classes, in the order of ``decision_function_shape="ovo"``, to `refsvm.Solution`. A pair with
            a class whose weights are all 0 is left out.

        Raises
        ------
        ValueError
            If the model was trained on other examples, labels or weights than these, or with another C.

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
