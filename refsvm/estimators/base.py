"""The base of the estimators: parameters, checks, kernels and storage.

Validation and tags are scikit-learn's own; `SVC`, `SVR` and `OneClassSVM` differ in the dual problem they make.
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

from refsvm.analysis.multiclass.one_vs_one import RowKernel, kernel_values
from refsvm.analysis.multiclass.prediction import decision_values, pair_sums
from refsvm.core._checks import is_sparse
from refsvm.core.engine.limits import Interrupted, interruptible
from refsvm.core.engine.progress import Progress
from refsvm.core.kernels import Kernel, Linear, Precomputed
from refsvm.core.kernels.blocks import shaped
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

Estimator = TypeVar("Estimator", bound=BaseEstimator)

PROBABILITIES: Final = (
    "gives no probabilities of its own; calibrate it: "
    "CalibratedClassifierCV({name}(), ensemble=False).fit(X, y).predict_proba(X)"
)


@dataclass(kw_only=True, eq=False, repr=False)
class KernelEstimator(BaseEstimator):
    """Base of all estimators: the parameters that all of them have, and whether they fit together with X.

    `SVC` describes the parameters. A subclass adds its own, and `dataclasses.dataclass` writes the constructor that
    scikit-learn wants: keywords only, stored as they are.
    """

    kernel: Any = "rbf"
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
        "selector": [WorkingSetSelector, str, type, None],  # a name or a class stands for its defaults
        "step": [StepRule, str, type, None],
        "shrinking": ["boolean"],
        "cache_size": [Interval(Real, 0.0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left"), Options(Integral, {-1}), None],
        "engine": [StrOptions({"auto", "numba", "numpy"})],
        "verbose": ["verbose", StrOptions({"auto"})],
    }

    def _line(self, unit: str = "", kept: str = "the last point") -> AbstractContextManager[Progress | None]:
        """Return the context of `fit`, which shows its line and is entered as its progress."""
        progress = Progress(type(self).__name__, unit, kept)
        return line_of(progress, self.verbose if self.verbose == "auto" else bool(self.verbose))

    def __getstate__(self) -> dict[str, Any]:
        """Return the attributes, with objects of this package as names and numbers."""
        return to_state(super().__getstate__())

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(from_state(state))

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name.

        Parameters
        ----------
        deep : bool
            Also those of the kernel and the rules, such as ``kernel__gamma`` of ``kernel=RBF(gamma=0.5)``.

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
        """Set parameters; ``kernel__gamma`` and its like put another kernel or rule in the place of the present one.

        Parameters
        ----------
        **params
            Values by name, those of `get_params`.

        Returns
        -------
        object
            Itself.

        Raises
        ------
        ValueError
            If there is no such parameter; or if a kernel or rule refuses a value, and then nothing is set.
        """
        own = super().get_params(deep=False)
        nested: defaultdict[str, dict[str, Any]] = defaultdict(dict)
        for path in [*params]:
            name, _, rest = path.partition("__")
            if rest and name in own and not has_own_parameters(params.get(name, own[name])):
                nested[name][rest] = params.pop(path)
        changed = {
            name: with_parameters(name, params.get(name, own[name]), given) for name, given in nested.items()
        }
        super().set_params(**params | changed)
        return self

    def __sklearn_tags__(self) -> Any:
        """Whether X is a kernel matrix, and whether it may be sparse."""
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = is_precomputed(self.kernel)
        tags.input_tags.sparse = not tags.input_tags.pairwise
        return tags

    def _validate_params(self) -> None:
        """Check the parameters that were given by scikit-learn; a default value needs no check."""
        if isinstance(self.kernel, type):
            raise ValueError(
                f"kernel={self.kernel.__name__} is a class; pass an instance of it, such as "
                f"{self.kernel.__name__}(gamma=0.5) or Linear()."
            )
        # the user's own switch, by which scikit-learn's estimators go, too
        if get_config()["skip_parameter_validation"]:
            return
        own, constraints = type(self), self._parameter_constraints
        # scikit-learn looks at every parameter, which a small fit notices; nearly all are the defaults
        given = {
            name: value
            for name, value in vars(self).items()
            if name in constraints and value is not getattr(own, name, MISSING)
        }
        validate_parameter_constraints(constraints, given, caller_name=own.__name__)

    def _kernel(self, X: Any, gamma: Any, weights: np.ndarray | None = None) -> Any:
        """Return the kernel as an object, γ resolved."""
        gamma = in_order(gamma, getattr(self, "feature_names_in_", ()))
        return kernel_called(
            self.kernel, X, gamma=gamma, degree=self.degree, coef0=self.coef0, weights=weights
        )


FORGOTTEN: Final = ("held_", "_kept", "_held_kept", "_held_out", "receipt_")
"""Attributes of an earlier fit that do not outlive a new one."""


@dataclass(kw_only=True, eq=False, repr=False)
class KernelMachine(KernelEstimator):
    """Base of the estimators that train once: checks the arguments, and stores itself in plain types."""

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
        """Check X, and y in `fit`, by scikit-learn. A user's kernel takes examples of any kind."""
        if reset:  # a new beginning, see `refsvm.estimators.incremental`
            for name in FORGOTTEN:
                self.__dict__.pop(name, None)
        if is_user_kernel(kernel):
            return self._checked_of_any_kind(X, y, reset=reset, **checks)
        matrix = is_precomputed(kernel)
        if matrix and is_sparse(X):
            raise TypeError(
                "Sparse precomputed kernels are not supported, nearly every value of a kernel matrix is not zero; "
                "pass X.toarray()."
            )
        checks |= {"accept_sparse": False if matrix else "csr", "dtype": np.float64, "order": "C"}
        return checked_data(self, X, y, reset=reset, **checks)

    def _checked_of_any_kind(self, X: Any, y: Any, *, reset: bool, **checks: Any) -> Any:
        """Check what a user's kernel gets: examples of any kind."""
        # trained on texts or graphs, it must not insist on columns; trained on a table, it must
        table = not reset and hasattr(self, "n_features_in_")
        checks |= {"accept_sparse": "csr", "dtype": None, "ensure_2d": table, "allow_nd": not table}
        checked = validate_data(self, X, y, reset=reset, **checks)
        data = checked if isinstance(y, str) and y == NO_LABELS else checked[0]
        if reset and data.ndim == 2:
            _check_n_features(self, data, reset=True)
        return checked

    def _by_number(self, kernel: Any, X: Any) -> tuple[Any, Any, int]:
        """Return a user's kernel and its examples as the solver sees them, and the kernel rows computed already.

        It is called once with all of X if its matrix fits the budget. It gets blocks of rows otherwise.
        """
        n = X.shape[0]
        by_number, numbers = RowKernel(kernel, X), np.arange(n)
        # a kernel in Python is slow to call: one call, if there is memory for what it returns
        if megabytes(n, n) > self.cache_size:
            return by_number, numbers[:, None], 0
        return Precomputed(), Gram(by_number, numbers[:, None]).block(numbers), n

    @property
    def _stopping_rule(self) -> StoppingRule:
        """The stopping rule: `tol` if it is one, and the relative KKT gap of this tolerance otherwise."""
        return stopping_rule_of(self.tol)

    def _run_options(self, progress: Progress | None) -> RunOptions:
        """Return the options of the solves of `fit`; the clock begins here."""
        return RunOptions(
            selector=self.selector, step=self.step, stop=self._stopping_rule, engine=self.engine,
            shrinking=self.shrinking, progress=progress, cache_mb=self.cache_size, cache_dtype=self.cache_dtype,
            max_iter=None if self.max_iter == -1 else self.max_iter, time_limit=self.time_limit, polish=True,
            n_jobs=getattr(self, "n_jobs", None),
        )  # fmt: skip

    def arguments_for(self, function: str, X: Any, y: Any) -> tuple[dict[str, Any], bool]:
        """Return the arguments of `refsvm.leave_one_out` or `cross_validate` that ask for this machine.

        Parameters
        ----------
        function : str
            Name of the function.
        X, y
            The examples, and their labels or targets.

        Returns
        -------
        arguments : dict
        counts_alike : bool
            Whether all examples count alike, though their penalties differ.

        Raises
        ------
        ValueError
            On parameters out of range, class weights that depend on the training part, and a time limit.
        """
        self._validate_params()
        if self.time_limit is not None:
            raise ValueError(
                f"time_limit of a model is that of one fit; give {function}(…, time_limit=…) its own."
            )
        names = ("gamma", "degree", "coef0") if isinstance(self.kernel, str) else ()
        own = {name: getattr(self, name) for name in ("kernel", *names, "selector", "step", "engine")}
        own |= {"cache_mb": self.cache_size, "max_iter": None if self.max_iter == -1 else self.max_iter}
        machine, counts_alike = self._machine(y)
        if isinstance(self.tol, StoppingRule):
            own["stop"] = self.tol
        elif self.tol != KernelMachine.tol:
            by_sign = function == "leave_one_out" and not {"epsilon", "nu"} & machine.keys()
            own["stop"] = BallRule(self.tol, relative=True) if by_sign else self._stopping_rule
        return own | machine, counts_alike

    def _machine(self, y: Any) -> tuple[dict[str, Any], bool]:
        """Return C, or ε or ν, as the functions take them, and whether all examples count alike."""
        return {name: getattr(self, name) for name in ("C", "epsilon", "nu") if hasattr(self, name)}, False

    @contextmanager
    def _interruptible(self) -> Iterator[interruptible]:
        """End the solves of this block at Ctrl-C; raise it when the block has stored the last point reached."""
        # the flag is read inside of the block: at its end the handler of the caller is back
        with interruptible() as interrupt:
            yield interrupt
            pressed = interrupt.pressed
        if pressed:
            raise Interrupted(
                f"{type(self).__name__}.fit was interrupted; the fitted attributes hold the last point reached.",
                self,
            )

    def _check_fitted(self) -> None:
        """Refuse an estimator that has not been fitted."""
        if not hasattr(self, "dual_coef_"):  # its own way to find out takes longer than many a prediction
            check_is_fitted(self)

    def to_sklearn(self) -> Any:
        """Return the estimator of the same name in `sklearn.svm`, fitted, with the same decisions up to rounding.

        Tools that know scikit-learn's classes only, such as converters to ONNX, take the result. It can be used and
        stored; fitted again, it trains with LIBSVM.

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
        # here and not above: the classes of LIBSVM's wrapper take time to import
        from refsvm.estimators.export import to_sklearn

        self._check_fitted()
        return to_sklearn(self)

    _centred: ClassVar[tuple[np.ndarray, np.ndarray, np.ndarray] | None] = None
    """Where a linear kernel was evaluated around, b there, and b around 0, where that is less precise."""

    @property
    def _origin(self) -> np.ndarray | None:
        """The first of them."""
        return None if self._centred is None else self._centred[0]

    def _set_intercepts(self, b: list[float], origin: np.ndarray | None) -> None:
        """Set b, which belongs to this origin, and ``intercept_``, which belongs to 0; all else is fitted already."""
        self.__dict__.pop("_centred", None)
        self.intercept_ = np.array(b)
        if origin is not None:
            # to the mean of the support vectors, which a model file tells
            if (mean := origin_of(self.support_vectors_)) is not None:
                self.intercept_ += (self._sums(around(origin, self.support_vectors_)) * (mean - origin)).sum(
                    axis=1
                )
                origin, b = mean, self.intercept_.tolist()
            self.intercept_ -= weights_at(origin, self.support_vectors_, self._sums)
            self.__dict__["_centred"] = origin, np.array(b), self.intercept_.copy()

    def _sums(self, values: Any) -> np.ndarray:
        """Σ αᵢ valuesᵢ over the support vectors, one row for each decision function."""
        return pair_sums(self.dual_coef_, self.n_support_, values)

    def _decision_values(self, X: Any, reduce: Callable[[np.ndarray], np.ndarray] = np.asarray) -> np.ndarray:
        """Return h(x) of each decision function, shape (t, number of them); only the support vectors are looked at.

        Or what `reduce` makes of some rows of them at a time: those of hundreds of classes may not fit into memory.
        """
        self._check_fitted()
        X = self._checked(X, kernel=self.kernel_, reset=False)
        if is_user_kernel(self.kernel_):
            return reduce(self._users_values(X) + self.intercept_)
        vectors = self.support_ if is_precomputed(self.kernel_) else self.support_vectors_
        origin, intercept = self._origin, self.intercept_
        if self._centred is not None:  # what the caller has added to intercept_ counts, too
            intercept = self._centred[1] + (intercept - self._centred[2])
        return decision_values(
            self.kernel_, X, vectors, self._sums, origin, lambda sums: reduce(sums + intercept)
        )

    def _users_values(self, X: Any) -> np.ndarray:
        """Σ αᵢ k(x, xᵢ) of a user's kernel, which meets all training examples, as in scikit-learn."""
        t, n = X.shape[0], self._examples.shape[0]
        # a user's kernel makes rows with all training examples, which may be far more than the support vectors
        height = max(1, int(self.cache_size * 2**20 / (8 * n)))
        parts = []
        for start in range(0, t, height):
            some = X if height >= t else X[start : start + height]
            K = shaped(kernel_values(self.kernel_, some, self._examples), (some.shape[0], n))
            parts.append(self._sums(K[:, self.support_].T).T)
        return np.concatenate(parts)

    @property
    def coef_(self) -> np.ndarray:
        """Weights w = Σ αᵢxᵢ of the linear kernel, one row for each decision function.

        Of features that are far from 0 compared with how much they vary, h(x) = w·x + b cancels: `decision_function`,
        which evaluates w·(x − c) with c in their midst, is more precise.
        """
        self._check_fitted()
        if not isinstance(self.kernel_, Linear):
            name = type(self).__name__
            raise AttributeError(
                f"coef_ needs the linear kernel; this {name} was fitted with {self.kernel_!r}."
            )
        coef = self._sums(around(self._origin, self.support_vectors_))
        coef.flags.writeable = False  # it is computed afresh each time: writing to it would change nothing
        return coef


def reject_probability(estimator: type[Estimator]) -> type[Estimator]:
    """Decorate an estimator: ``probability=`` is refused, and the message names the alternative.

    ``probability=False``, which asks for nothing, passes.
    """
    init = estimator.__init__

    @wraps(init)
    def constructor(self: Any, *arguments: Any, probability: bool = False, **parameters: Any) -> None:
        name = type(self).__name__
        if probability:
            raise TypeError(
                f"{name} has no probability={probability!r}; it {PROBABILITIES.format(name=name)}."
            )
        init(self, *arguments, **parameters)

    estimator.__init__ = constructor
    return estimator


def stopping_rule_of(tol: float | StoppingRule) -> StoppingRule:
    """Return `tol` if it is a stopping rule, and the relative KKT gap of this tolerance otherwise."""
    return tol if isinstance(tol, StoppingRule) else KKTGap(tol, relative=True)
