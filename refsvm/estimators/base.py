"""The base classes of the estimators, which check arguments, make kernels and store models.

scikit-learn's base classes validate the parameters and provide the tags. `SVC`, `SVR` and `OneClassSVM` differ in the
dual problem that they solve.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import MISSING, dataclass
from functools import wraps
from numbers import Integral, Real
from typing import Any, ClassVar, Final, Self, TypeVar

import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import Interval, Options, StrOptions, validate_parameter_constraints
from sklearn.utils.validation import _check_n_features, check_is_fitted, validate_data

from refsvm.analysis.multiclass.one_vs_one import RowKernel
from refsvm.analysis.multiclass.prediction import decision_values, pair_sums
from refsvm.core._checks import is_sparse
from refsvm.core.engine.limits import Interrupted, interruptible
from refsvm.core.engine.progress import Progress
from refsvm.core.kernels import Kernel, Linear, Precomputed
from refsvm.core.kernels.blocks import called, shaped
from refsvm.core.kernels.gram import Gram
from refsvm.core.kernels.origin import around, origin_of, weights_at
from refsvm.core.kernels.rows import megabytes
from refsvm.core.selectors.base import WorkingSetSelector
from refsvm.core.solver.options import RunOptions
from refsvm.core.steps.base import StepRule
from refsvm.core.stopping.ball_rule import BallRule
from refsvm.core.stopping.base import StoppingRule
from refsvm.core.stopping.kkt_gap import KKTGap
from refsvm.estimators.nested import has_own_parameters, parameters_of, with_parameters
from refsvm.estimators.plain import from_state, to_state
from refsvm.estimators.validation import NO_LABELS, checked_data
from refsvm.services.line import line_of
from refsvm.services.names import KERNELS, in_order, is_precomputed, is_user_kernel, kernel_called
from refsvm.services.types import ArrayLike, KernelLike

Estimator = TypeVar("Estimator", bound=BaseEstimator)

PROBABILITIES: Final = (
    "does not compute probabilities; calibrate its decision values instead: "
    "CalibratedClassifierCV({name}(), ensemble=False).fit(X, y).predict_proba(X)"
)


@dataclass(kw_only=True, eq=False, repr=False)
class KernelEstimator(BaseEstimator):
    """Base of all estimators; contains their common parameters, and checks the values of the parameters.

    `SVC` describes the parameters. A subclass adds its own parameters. `dataclasses.dataclass` writes the constructor,
    which takes keywords only and stores each value unchanged, as scikit-learn requires.
    """

    kernel: KernelLike = "rbf"
    degree: int = 3
    coef0: float = 0.0
    tol: float | StoppingRule | None = 1e-3
    selector: WorkingSetSelector | None = None
    step: StepRule | None = None
    shrinking: bool = True
    cache_size: float = 200
    max_iter: int | None = -1
    engine: str = "auto"
    verbose: bool | int | str = "auto"

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "kernel": [StrOptions(set(KERNELS)), Kernel, Precomputed, callable],
        "degree": [Interval(Integral, 0, None, closed="left")],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "tol": [Interval(Real, 0.0, None, closed="neither")],
        # a name or a class stands for a rule with default parameters
        "selector": [WorkingSetSelector, str, type, None],
        "step": [StepRule, str, type, None],
        "shrinking": ["boolean"],
        "cache_size": [Interval(Real, 0.0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left"), Options(Integral, {-1}), None],
        "engine": [StrOptions({"auto", "numba", "numpy"})],
        "verbose": ["verbose", StrOptions({"auto"})],
    }

    def _line(self, unit: str = "", kept: str = "the last point") -> AbstractContextManager[Progress | None]:
        """Return a context manager that shows the progress line of `fit`; entering it returns the Progress object."""
        progress = Progress(type(self).__name__, unit, kept)
        return line_of(progress, self.verbose if self.verbose == "auto" else bool(self.verbose))

    def __getstate__(self) -> dict[str, Any]:
        """Return the attributes for pickle, with kernels, rules and results of this package as names and numbers."""
        return to_state(super().__getstate__())

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(from_state(state))

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name.

        Parameters
        ----------
        deep : bool
            If true, include the parameters of the kernel and the rules, such as ``kernel__gamma`` for
            ``RBF(gamma=0.5)``.

        Returns
        -------
        dict
        """
        params: dict[str, Any] = super().get_params(deep=deep)
        if deep:
            for name, value in super().get_params(deep=False).items():
                params |= {f"{name}__{each}": inner for each, inner in parameters_of(value).items()}
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters; a name such as ``kernel__gamma`` replaces the kernel by a copy with another γ.

        Parameters
        ----------
        **params
            Values by name; `get_params` lists the names.

        Returns
        -------
        object
            The estimator itself.

        Raises
        ------
        ValueError
            If a name is unknown, or a kernel or rule refuses a value. After an error, no parameter is changed.
        """
        own = super().get_params(deep=False)
        nested: defaultdict[str, dict[str, Any]] = defaultdict(dict)
        for path in [*params]:
            name, _, rest = path.partition("__")
            if rest and name in own and not has_own_parameters(params.get(name, own[name])):
                nested[name][rest] = params.pop(path)
        changed = {
            name: with_parameters(name, params.get(name, own[name]), changes)
            for name, changes in nested.items()
        }
        super().set_params(**params | changed)
        return self

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn whether X is a kernel matrix, and whether X may be sparse."""
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = is_precomputed(self.kernel)
        tags.input_tags.sparse = not tags.input_tags.pairwise
        return tags

    def _validate_params(self) -> None:
        """Let scikit-learn check the parameters that the user has set; a default value needs no check."""
        if isinstance(self.kernel, type):
            raise ValueError(
                f"kernel={self.kernel.__name__} is a class; pass an instance of it, such as "
                f"{self.kernel.__name__}(gamma=0.5) or Linear()."
            )
        # scikit-learn's setting skip_parameter_validation switches the check of parameters off
        if get_config()["skip_parameter_validation"]:
            return
        own, constraints = type(self), self._parameter_constraints
        # pass only changed parameters to scikit-learn's check, because checking every parameter slows down a small fit
        changed = {
            name: value
            for name, value in vars(self).items()
            if name in constraints and value is not getattr(own, name, MISSING)
        }
        validate_parameter_constraints(constraints, changed, caller_name=own.__name__)

    def _kernel(self, X: Any, gamma: Any, weights: np.ndarray | None = None) -> Any:
        """Return the kernel as an object whose γ is a number."""
        gamma = in_order(gamma, getattr(self, "feature_names_in_", ()))
        return kernel_called(
            self.kernel, X, gamma=gamma, degree=self.degree, coef0=self.coef0, weights=weights
        )


FORGOTTEN: Final = ("held_", "_kept", "_held_kept", "_held_out", "receipt_")
"""Attributes of an earlier fit that a new fit deletes."""


@dataclass(kw_only=True, eq=False, repr=False)
class KernelMachine(KernelEstimator):
    """Base of the estimators that train one model; the class checks arguments and pickles estimators in plain types."""

    tol: float | StoppingRule = 1e-3
    gamma: str | float | Sequence[float] | np.ndarray = "scale"
    cache_dtype: str = "auto"
    time_limit: float | None = None
    warm_start: bool = False

    _parameter_constraints: ClassVar[dict[str, Any]] = KernelEstimator._parameter_constraints | {
        "tol": [*KernelEstimator._parameter_constraints["tol"], StoppingRule],
        "gamma": [StrOptions({"scale", "auto"}), Interval(Real, 0.0, None, closed="left"), "array-like"],
        "cache_dtype": [StrOptions({"auto", "float64", "float32"})],
        "time_limit": [Interval(Real, 0.0, None, closed="neither"), None],
        "warm_start": ["boolean"],
    }

    def _checked(self, X: Any, y: Any = NO_LABELS, *, kernel: Any, reset: bool, **checks: Any) -> Any:
        """Return X, and in `fit` also y, checked by scikit-learn. With a user's kernel, X may contain any objects."""
        if reset:  # drop the examples of earlier fits (`refsvm.estimators.incremental`)
            for name in FORGOTTEN:
                self.__dict__.pop(name, None)
        if is_user_kernel(kernel):
            return self._checked_of_any_kind(X, y, reset=reset, **checks)
        matrix = is_precomputed(kernel)
        if matrix and is_sparse(X):
            raise TypeError(
                "Sparse precomputed kernels are not supported because few values of a kernel matrix are zero; "
                "pass X.toarray()."
            )
        checks |= {"accept_sparse": False if matrix else "csr", "dtype": np.float64, "order": "C"}
        return checked_data(self, X, y, reset=reset, **checks)

    def _checked_of_any_kind(self, X: Any, y: Any, *, reset: bool, **checks: Any) -> Any:
        """Return checked examples of any kind that the user's kernel can read."""
        # compare columns only if the model was trained on a table, because texts or graphs have no columns
        table = not reset and hasattr(self, "n_features_in_")
        checks |= {"accept_sparse": "csr", "dtype": None, "ensure_2d": table, "allow_nd": not table}
        checked = validate_data(self, X, y, reset=reset, **checks)
        data = checked if isinstance(y, str) and y == NO_LABELS else checked[0]
        if reset and data.ndim == 2:
            _check_n_features(self, data, reset=True)
        return checked

    def _by_number(self, kernel: Any, X: Any) -> tuple[Any, Any, int]:
        """Convert a user's kernel and examples to forms that the solver reads; also return the number of computed rows.

        If the kernel matrix fits into `cache_size`, this call computes the whole matrix; otherwise the solver calls the
        user's kernel with blocks of rows.
        """
        n = X.shape[0]
        by_number, numbers = RowKernel(kernel, X), np.arange(n)
        # compute the matrix in a single call if possible, because calls of a Python function are slow
        if megabytes(n, n) > self.cache_size:
            return by_number, numbers[:, None], 0
        return Precomputed(), Gram(by_number, numbers[:, None]).block(numbers), n

    @property
    def _stopping_rule(self) -> StoppingRule:
        """Return `tol` if it is a stopping rule, otherwise the rule for the relative KKT gap with this tolerance."""
        return stopping_rule_of(self.tol)

    def _run_options(self, progress: Progress | None) -> RunOptions:
        """Return the solver options of `fit`; the seconds of the time limit are counted from this call."""
        return RunOptions(
            selector=self.selector, step=self.step, stop=self._stopping_rule, engine=self.engine,
            shrinking=self.shrinking, progress=progress, cache_mb=self.cache_size, cache_dtype=self.cache_dtype,
            max_iter=None if self.max_iter == -1 else self.max_iter, time_limit=self.time_limit, polish=True,
            n_jobs=getattr(self, "n_jobs", None),
        )  # fmt: skip

    def arguments_for(self, function: str, X: ArrayLike, y: ArrayLike) -> tuple[dict[str, Any], bool]:
        """Return the arguments with which `refsvm.leave_one_out` or `cross_validate` trains this estimator's model.

        Parameters
        ----------
        function : str
            Name of the function that needs the arguments.
        X, y
            The examples, and their labels or targets.

        Returns
        -------
        arguments : dict
        counts_alike : bool
            Whether the scores give all examples the same weight although their penalties differ.

        Raises
        ------
        ValueError
            If parameters are out of range, class weights depend on the training examples ("balanced"), or a time limit
            is set.
        """
        self._validate_params()
        if self.time_limit is not None:
            raise ValueError(
                f"the time_limit of a model is for one fit; pass {function}(…, time_limit=…) instead."
            )
        names = ("gamma", "degree", "coef0") if isinstance(self.kernel, str) else ()
        own = {name: getattr(self, name) for name in ("kernel", *names, "selector", "step", "engine")}
        own |= {"max_iter": None if self.max_iter == -1 else self.max_iter}
        own |= {"cache_mb": self.cache_size} if self.cache_size != KernelMachine.cache_size else {}
        machine, counts_alike = self._machine(y)
        if isinstance(self.tol, StoppingRule):
            own["stop"] = self.tol
        elif self.tol != KernelMachine.tol:
            by_sign = function == "leave_one_out" and not {"epsilon", "nu"} & machine.keys()
            own["stop"] = BallRule(self.tol, relative=True) if by_sign else self._stopping_rule
        return own | machine, counts_alike

    def _machine(self, y: Any) -> tuple[dict[str, Any], bool]:
        """Return C, ε or ν as keyword arguments, and whether all examples have equal weight in the scores."""
        return {name: getattr(self, name) for name in ("C", "epsilon", "nu") if hasattr(self, name)}, False

    @contextmanager
    def _interruptible(self) -> Iterator[interruptible]:
        """On Ctrl-C, end the solves in this block, let the block store the last point, and raise `Interrupted`."""
        # read inside the block whether Ctrl-C was pressed, because the end of the block restores the caller's handler
        with interruptible() as interrupt, np.errstate(under="ignore"):
            yield interrupt
            pressed = interrupt.pressed
        if pressed:
            raise Interrupted(
                f"{type(self).__name__}.fit was interrupted; the fitted attributes hold the last point reached.",
                self,
            )

    def _check_fitted(self) -> None:
        """Raise an error if the estimator has not been fitted."""
        if not hasattr(self, "dual_coef_"):  # this test is faster than scikit-learn's check
            check_is_fitted(self)

    def to_sklearn(self) -> Any:
        """Return the fitted estimator of the same name in `sklearn.svm`, with the same decisions up to rounding.

        Pass the returned estimator to tools that accept only scikit-learn's classes, such as converters to ONNX. The
        returned estimator can predict and be stored; if you fit it again, LIBSVM trains it.

        Returns
        -------
        sklearn.svm.SVC, SVR or OneClassSVM

        Raises
        ------
        sklearn.exceptions.NotFittedError
            Before `fit`.

        Examples
        --------
        >>> from refsvm import SVC
        >>> from refsvm.datasets import load
        >>> heart = load("heart")
        >>> model = SVC(gamma=0.005).fit(heart.X, heart.y)
        >>> theirs = model.to_sklearn()
        >>> type(theirs).__module__, bool((theirs.predict(heart.X) == model.predict(heart.X)).all())
        ('sklearn.svm._classes', True)
        """
        # import `export` only here, because importing scikit-learn's wrapper of LIBSVM takes time
        from refsvm.estimators.export import to_sklearn

        self._check_fitted()
        return to_sklearn(self)

    _centred: ClassVar[tuple[np.ndarray, np.ndarray, np.ndarray] | None] = None
    """The origin of a linear kernel, b for this origin, and b for the origin 0; None if the origin is 0."""

    @property
    def _origin(self) -> np.ndarray | None:
        """The origin that was subtracted from all examples of a linear kernel; None for the origin 0."""
        return None if self._centred is None else self._centred[0]

    def _set_intercepts(self, b: list[float], origin: np.ndarray | None) -> None:
        """Convert b, which belongs to examples minus `origin`, to ``intercept_``; store both. Needs ``dual_coef_``."""
        self.__dict__.pop("_centred", None)
        self.intercept_ = np.array(b)
        if origin is not None:
            # use the mean of the support vectors as origin, because a program can compute it from a model file
            if (mean := origin_of(self.support_vectors_)) is not None:
                self.intercept_ += (self._sums(around(origin, self.support_vectors_)) * (mean - origin)).sum(
                    axis=1
                )
                origin, b = mean, self.intercept_.tolist()
            self.intercept_ -= weights_at(origin, self.support_vectors_, self._sums)
            self.__dict__["_centred"] = origin, np.array(b), self.intercept_.copy()

    def _sums(self, values: Any) -> np.ndarray:
        """Return Σ αᵢ valuesᵢ over the support vectors, one row for each decision function."""
        return pair_sums(self.dual_coef_, self.n_support_, values)

    def _decision_values(self, X: Any, reduce: Callable[[np.ndarray], np.ndarray] = np.asarray) -> np.ndarray:
        """Return h(x) of each decision function, shape (t, number of functions), from the support vectors only.

        With hundreds of classes, the values of all rows may not fit into memory. Unless the kernel is a user's
        function, the method therefore passes the values to `reduce` in blocks of rows.
        """
        self._check_fitted()
        X = self._checked(X, kernel=self.kernel_, reset=False)
        if is_user_kernel(self.kernel_):
            return reduce(self._users_values(X) + self.intercept_)
        vectors = self.support_ if is_precomputed(self.kernel_) else self.support_vectors_
        origin, intercept = self._origin, self.intercept_
        if self._centred is not None:  # add the change that the user made to `intercept_`
            intercept = self._centred[1] + (intercept - self._centred[2])
        return decision_values(
            self.kernel_, X, vectors, self._sums, origin, lambda sums: reduce(sums + intercept)
        )

    def _users_values(self, X: Any) -> np.ndarray:
        """Return Σ αᵢ k(x, xᵢ), calling the user's kernel with all training examples, as scikit-learn does."""
        t, n = X.shape[0], self._examples.shape[0]
        # limit the number of rows, because a row contains a kernel value for every training example
        height = max(1, int(self.cache_size * 2**20 / (8 * n)))
        parts = []
        for start in range(0, t, height):
            some = X if height >= t else X[start : start + height]
            K = shaped(called(self.kernel_, some, self._examples), (some.shape[0], n))
            parts.append(self._sums(K[:, self.support_].T).T)
        return np.concatenate(parts)

    @property
    def coef_(self) -> np.ndarray:
        """Weights w = Σ αᵢxᵢ of the linear kernel, one row for each decision function.

        If features are far from 0 compared with their spread, w·x + b loses digits. `decision_function` is then more
        precise than w·x + b, because it subtracts the centre of the features from x.
        """
        self._check_fitted()
        if not isinstance(self.kernel_, Linear):
            name = type(self).__name__
            raise AttributeError(
                f"coef_ needs kernel='linear'; this {name} was fitted with {self.kernel_!r}."
            )
        coef = self._sums(around(self._origin, self.support_vectors_))
        coef.flags.writeable = False  # read-only, because changing coef_ would not change the model
        return coef


def reject_probability(estimator: type[Estimator]) -> type[Estimator]:
    """Decorate an estimator class so that ``probability=True`` raises an error that names the alternative.

    The class still accepts ``probability=False``.
    """
    init = estimator.__init__

    @wraps(init)
    def constructor(self: Any, *arguments: Any, probability: bool = False, **parameters: Any) -> None:
        name = type(self).__name__
        if probability:
            raise TypeError(
                f"{name} does not take probability={probability!r}; it {PROBABILITIES.format(name=name)}."
            )
        init(self, *arguments, **parameters)

    estimator.__init__ = constructor
    return estimator


def stopping_rule_of(tol: float | StoppingRule) -> StoppingRule:
    """Return `tol` if it is a stopping rule, otherwise the rule for the relative KKT gap with this tolerance."""
    return tol if isinstance(tol, StoppingRule) else KKTGap(tol, relative=True)
