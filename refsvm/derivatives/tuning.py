"""tune_by_gradient: parameters that minimise a held-out loss, found along its gradient.

    J(θ) = mean over all examples of ℓ(h₋ᵢ(xᵢ), yᵢ),   h₋ᵢ the machine without the fold of i,   θ the logarithms
    ∂J/∂θ by the adjoint of each fold (`refsvm.derivatives.pullback`)
    from several starts:  L-BFGS-B within bounds, each solve from the one before it
    the parameters of the least J

A grid ends at two parameters; a gradient costs about as much as J itself, however many there are.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

import numpy as np

from refsvm._checks import examples, positive, targets, whole
from refsvm.derivatives.left_out import LeftOut
from refsvm.derivatives.losses import Loss, loss_called
from refsvm.engine.limits import Deadline, interruptible, unless_interrupted
from refsvm.engine.line import line_of
from refsvm.engine.progress import Progress, of_progress
from refsvm.engine.unsolved import warn
from refsvm.kernels.names import gamma_on, kernel_called, parameters_named
from refsvm.problem import DualProblem
from refsvm.result import Solution, Status
from refsvm.rounds.folds import fold_numbers
from refsvm.rounds.rounds import Rounds
from refsvm.rounds.task import task_given
from refsvm.solver.options import RunOptions
from refsvm.solver.solve import solve
from refsvm.stopping.kkt_gap import KKTGap
from refsvm.summary import Shown, Summary

NAMES: Final = ("C", "gamma", "gammas", "epsilon", "class_weight")
"""The parameters that can be tuned; "gammas" is one γ for each feature."""

TOL: Final = 1e-10
"""The KKT gap of each machine, relative to the range of h."""

NUDGES: Final = (1.0 + 1e-6, 1.0 - 1e-6, 1.0 + 1e-5)
"""Factors of C that lead away from an event, where the gradient has two sides."""


GAIN: Final = 1e-3
"""The search ends where an iteration gains less than this, and where no slope is larger: parts of the first J."""


@dataclass(frozen=True)
class Space:
    """The parameters as one vector θ of logarithms, between bounds.

    Attributes
    ----------
    names : tuple of str
        Some of `NAMES`.
    sizes : tuple of int
        Numbers of each: d of "gammas", 1 of all others.
    bounds : ndarray of shape (p, 2)
        Of θ.
    fixed : dict
        The values of the others.
    """

    names: tuple[str, ...]
    sizes: tuple[int, ...]
    bounds: np.ndarray
    fixed: dict[str, Any]

    def values(self, theta: np.ndarray) -> dict[str, Any]:
        """Return the parameters by name, "gammas" as a tuple called gamma."""
        parts = np.split(np.exp(theta), np.cumsum(self.sizes)[:-1])
        found = dict(self.fixed)
        for name, part in zip(self.names, parts, strict=True):
            found["gamma" if name == "gammas" else name] = (
                tuple(part.tolist()) if name == "gammas" else float(part[0])
            )
        return found

    def theta(self, values: dict[str, Any]) -> np.ndarray:
        """Return θ of parameters by name, within the bounds; of one γ for all features that of each."""
        parts = [
            np.full(size, np.log(values["gamma" if name == "gammas" else name]))
            for name, size in zip(self.names, self.sizes, strict=True)
        ]
        return np.clip(np.concatenate(parts), *self.bounds.T)

    def starts(self, first: dict[str, Any], count: int, rng: np.random.Generator) -> list[np.ndarray]:
        """Return where the search starts: at given values, and at ones drawn within the middle half of the bounds."""
        found = [self.theta(first)]
        low, high = self.bounds.T
        for _ in range(count - 1):
            drawn = [
                np.full(size, share)
                for size, share in zip(self.sizes, rng.uniform(0.25, 0.75, len(self.sizes)), strict=True)
            ]
            found.append(low + (high - low) * np.concatenate(drawn))
        return found


class Folds(LeftOut):
    """The machines without each fold, whose solutions are kept; those that are the machine of all are one object."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.solutions: dict[int, Solution] = {}
        self._of_all = self._on_data(self.full)

    def _on_data(self, solution: Solution) -> Solution:
        """Return the solution over the kernel matrix as it was given, and not over stored rows."""
        gram = self.machine.problem.centred.gram
        return replace(solution, problem=solution.problem.with_gram(gram))

    def _take(self, place: Any, solution: Solution) -> None:
        self.solutions[place] = self._of_all if solution is self.full else self._on_data(solution)


class _EndedEarly(Exception):  # noqa: N818  a signal, and no error
    """A limit has ended the search; its status is the argument."""


class _Enough(Exception):  # noqa: N818  a signal, and no error
    """A start has had its evaluations; L-BFGS-B itself asks after a search along a line alone."""


class HeldOutLoss:
    """J and its gradient at θ.

    Parameters
    ----------
    X, y : ndarrays or CSR of shape (n, d), and ndarray of shape (n,)
        Examples; labels −1 and +1, or targets.
    fold : ndarray of shape (n,), int64
    loss : Loss
    space : Space
    kernel_at : callable
        From γ to the kernel.
    options : RunOptions

    Attributes
    ----------
    events : int
        Folds of the last call that stood at an event, whose gradient is that of a C next to it.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm.datasets import load
    >>> from refsvm.derivatives.tuning import held_out_loss
    >>> heart = load("heart")
    >>> J = held_out_loss(heart.X, heart.y, parameters=("C", "gamma"), folds=5)
    >>> value, gradient = J(np.log([1.0, 0.005]))
    >>> step = np.array([1e-4, 0.0])
    >>> slope = (J(np.log([1.0, 0.005]) + step)[0] - J(np.log([1.0, 0.005]) - step)[0]) / 2e-4
    >>> round(value, 3), bool(abs(slope - gradient[0]) < 1e-5)
    (0.491, True)
    """

    def __init__(
        self, X: Any, y: np.ndarray, fold: np.ndarray, loss: Loss, space: Space,
        kernel_at: Callable[[Any], Any], options: RunOptions,
    ) -> None:  # fmt: skip
        self.X, self.y, self.loss, self.space, self.options = X, y, loss, space, options
        self.kernel_at = kernel_at
        self._has_weights = "class_weight" in space.names or space.fixed.get("class_weight", 1.0) != 1.0
        self.members = [np.flatnonzero(fold == h) for h in range(int(fold.max()) + 1)]
        self.ends: Callable[[], None] = lambda: None
        self.events, self.fold_losses = 0, np.zeros(len(self.members))
        self._before: tuple[np.ndarray, float] | None = None

    def problem(self, values: dict[str, Any]) -> DualProblem:
        """Return the problem of all examples at these parameters."""
        known = self.kernel_at(values.get("gamma", 1.0))
        if not self.loss.has_labels:
            return DualProblem.regression(
                self.X, self.y, kernel=known, C=values["C"], epsilon=values["epsilon"]
            )
        C = values["C"]
        if self._has_weights:
            C = C * np.where(self.y > 0.0, values["class_weight"], 1.0)
        return DualProblem.classification(self.X, self.y, kernel=known, C=C)

    def __call__(self, theta: np.ndarray) -> tuple[float, np.ndarray]:
        """Return J and its gradient, shape (p,)."""
        values, n = self.space.values(theta), len(self.y)
        # --- h of each example by the machine without its fold ---
        folds = self._solved(self.problem(values), values["C"])
        by_solution: dict[int, tuple[Solution, list[np.ndarray]]] = {}
        total, gradient, self.events = 0.0, np.zeros(len(theta)), 0
        for place, solution in folds.solutions.items():
            some = self.members[place]
            losses = self.loss.value(solution.decision_values[some], self.y[some])
            self.fold_losses[place] = losses.mean()
            total += float(losses.sum())
            by_solution.setdefault(id(solution), (solution, []))[1].append(some)
        # --- ∂J/∂θ: one adjoint for each machine; examples whose absence changes nothing share that of all ---
        for solution, parts in by_solution.values():
            self.ends()
            gradient += self._gradient(solution, np.concatenate(parts), values)
        return total / n, gradient / n

    def _solved(self, problem: DualProblem, C: float) -> Folds:
        """Return the machines without each fold, from the α of the last call."""
        machine = next(task_given(problem, None, None, None).machines())
        start = None
        if self._before is not None:
            alpha, old = self._before
            start = machine.problem.feasible(alpha * (C / old))
        folds = Folds(machine, Rounds.of(machine.problem, self.options), start)
        self._before = folds.full.alpha, C
        for _ in folds.run(self.members):
            self.ends()
        if folds.ended():
            raise _EndedEarly(folds.status)
        return folds

    def _gradient(self, solution: Solution, some: np.ndarray, values: dict[str, Any]) -> np.ndarray:
        """Return the gradient of the summed loss of some examples by θ, of the machine that they are held out of.

        At an event it has two sides: then that of a C a millionth away is taken, which has one.
        """
        for nudge in (1.0, *NUDGES):
            at = {**values, "C": values["C"] * nudge}
            try:
                return self._adjoint(
                    solution if nudge == 1.0 else self._next_to(solution, values, nudge), some, at
                )
            except ValueError:
                self.events += nudge == 1.0
        return np.zeros(len(self.space.bounds))  # the other folds say where to go

    def _next_to(self, solution: Solution, values: dict[str, Any], nudge: float) -> Solution:
        """Return the machine of the same fold at another C."""
        at = solution.problem
        problem = self.problem(values).centred.boxed(at.lower * nudge, at.upper * nudge)
        return solve(
            problem,
            start=problem.feasible(solution.alpha * nudge),
            stop=KKTGap(TOL, relative=True),
            polish=True,
        )

    def _adjoint(self, solution: Solution, some: np.ndarray, values: dict[str, Any]) -> np.ndarray:
        """Return Σ ∂ℓ/∂h ∂h/∂θ; ValueError at an event."""
        h = solution.decision_values[some]
        rates = solution.pullback(X=self.X[some], decision_function=self.loss.slope(h, self.y[some]))
        # a rate by a weight is one by the logarithm of its penalty
        weights = rates["weights"] if self._has_weights else np.zeros(0)
        by_name: dict[str, Any] = {}
        for name in self.space.names:
            if name == "class_weight":
                by_name[name] = weights[self.y > 0.0].sum()
            elif name == "C" and self._has_weights:
                by_name[name] = weights.sum()
            else:
                of = "gamma" if name == "gammas" else name
                by_name[name] = np.multiply(values[of], rates[of])
        return np.concatenate([np.atleast_1d(each) for each in by_name.values()])


class Evaluation(NamedTuple):
    """A value of J.

    Attributes
    ----------
    params : dict
        The tuned parameters, by name; of one γ for each feature "gamma" is a tuple.
    loss : float
    fold_losses : ndarray of shape (folds,)
        The mean loss of each fold.
    start : int
        Number of the start.
    slope : float
        The largest entry of the gradient by logarithms.
    events : int
        Folds that stood at an event.
    elapsed : float
        Seconds since the call began.
    """

    params: dict[str, Any]
    loss: float
    fold_losses: np.ndarray
    start: int
    slope: float
    events: int
    elapsed: float


@dataclass(frozen=True, eq=False, repr=False)
class Tuning(Shown):
    """The result of a search along the gradient.

    Attributes
    ----------
    best : dict
        The parameters of the least held-out loss: "C", "gamma" (a number, or a tuple of one for each feature),
        "epsilon", "class_weight", as far as the problem has them.
    loss : float
        J there; NaN if a limit came before the first value.
    evaluations : list of Evaluation
        The values of J, in order.
    status : Status
        CONVERGED, or what ended the search.
    seconds : float
    """

    best: dict[str, Any]
    loss: float
    evaluations: list[Evaluation]
    status: Status
    seconds: float

    @property
    def best_of_starts(self) -> np.ndarray:
        """The least loss from each start, shape (starts,): far apart where J has many optima."""
        starts = dict.fromkeys(each.start for each in self.evaluations)
        return np.array(
            [min(each.loss for each in self.evaluations if each.start == start) for start in starts]
        )

    def to_frame(self) -> Any:
        """Return the evaluations as a pandas DataFrame, one row for each."""
        import pandas as pd

        names = ("loss", "start", "slope", "events", "elapsed")
        rows = [each.params | {name: getattr(each, name) for name in names} for each in self.evaluations]
        return pd.DataFrame(rows)

    def _summary(self) -> Summary:
        shown = in_short(self.best)
        is_partial = self.status is not Status.CONVERGED
        line = f"loss {self.loss:.6g} at {shown or 'nothing'} after {len(self.evaluations)} evaluations"
        told = {
            "loss": f"{self.loss:.6g}", "evaluations": f"{len(self.evaluations):,}",
            "starts": f"{len(self.best_of_starts):,}", "seconds": f"{self.seconds:.3f}", "status": self.status.name,
        }  # fmt: skip
        line += f", {self.status.name}" * is_partial
        return Summary(line, sentence=self.status.value, is_partial=is_partial, pairs=told)


def in_short(params: dict[str, Any]) -> str:
    """Return parameters in a line.

    Examples
    --------
    >>> from refsvm.derivatives.tuning import in_short
    >>> in_short({"C": 2.0, "gamma": (0.5, 0.1)})
    'C=2, 2 gammas'
    """
    return ", ".join(
        f"{name}={value:.4g}" if np.ndim(value) == 0 else f"{len(value)} gammas"
        for name, value in params.items()
    )


def held_out_loss(
    X: Any, y: Any, *, parameters: Sequence[str] = ("C", "gamma"), loss: str | Loss | None = None, folds: Any = 5,
    rng: Any = None, kernel: Any = "rbf", gamma: Any = "scale", degree: int = 3, coef0: float = 0.0,
    C: float = 1.0, epsilon: float | None = None, class_weight: float = 1.0,
    bounds: dict[str, tuple[float, float]] | None = None, engine: str = "auto", cache_mb: float = 1000.0,
    n_jobs: int | None = None,
) -> HeldOutLoss:  # fmt: skip
    """Return J as a function of θ, with the arguments of `tune_by_gradient`."""
    X = examples(X)
    n = X.shape[0]
    is_regression = epsilon is not None
    y = targets(y, n) if is_regression else _two_labels(y, n)
    known = loss_called(loss or ("squared" if is_regression else "squared hinge"), not is_regression)
    names = _names(parameters, kernel, is_regression)
    given: dict[str, Any] = {"C": positive("C", C)}
    if isinstance(kernel, str) and "gamma" in parameters_named(kernel):
        given["gamma"] = gamma_on(X, gamma) if np.ndim(gamma) == 0 else gamma
    if is_regression:
        given["epsilon"] = positive("epsilon", epsilon) if "epsilon" in names else float(epsilon)  # type: ignore[arg-type]
    else:
        given["class_weight"] = positive("class_weight", class_weight)
    sizes = tuple(X.shape[1] if name == "gammas" else 1 for name in names)
    limits = [_bounds_of(name, X, y, bounds or {}) for name in names]
    space = Space(names, sizes, np.log(np.repeat(limits, sizes, axis=0)), given)
    folds = n if isinstance(folds, str) and folds == "loo" else folds
    is_number, marks = isinstance(folds, int | np.integer), y if is_regression else (y > 0.0).astype(np.int64)
    shares = is_number and not is_regression and folds < n
    fold = fold_numbers(folds, marks, stratified=shares, rng=rng if is_number else None)
    options = RunOptions(
        stop=KKTGap(TOL, relative=True), engine=engine, cache_mb=cache_mb, cache_dtype="float64", n_jobs=n_jobs,
    )  # fmt: skip

    def kernel_at(width: Any) -> Any:
        return kernel_called(kernel, X, gamma=width, degree=degree, coef0=coef0)

    return HeldOutLoss(X, y, fold, known, space, kernel_at, options)


def tune_by_gradient(
    X: Any, y: Any, *, parameters: Sequence[str] = ("C", "gamma"), loss: str | Loss | None = None, folds: Any = 5,
    rng: Any = None, kernel: Any = "rbf", gamma: Any = "scale", degree: int = 3, coef0: float = 0.0,
    C: float = 1.0, epsilon: float | None = None, class_weight: float = 1.0,
    bounds: dict[str, tuple[float, float]] | None = None, starts: int = 3, max_evaluations: int = 60,
    engine: str = "auto", cache_mb: float = 1000.0, time_limit: float | None = None, n_jobs: int | None = None,
    progress: bool | str = "auto", callback: Callable[[Progress], object] | None = None,
) -> Tuning:  # fmt: skip
    """Return the parameters of the least held-out loss, found along its gradient.

    Parameters
    ----------
    X : array-like or CSR of shape (n, d)
    y : array-like of shape (n,)
        Labels −1 and +1; with `epsilon` the targets of a regression.
    parameters : sequence of str
        The parameters to tune: "C"; "gamma", or "gammas" for one γ for each feature of the kernel "rbf"; "epsilon" of a
        regression; "class_weight", the factor of C of the class +1.
    loss : str or Loss, optional
        "squared hinge", the default, or "logistic"; of a regression "squared", the default, "huber" or "pinball". See
        `refsvm.derivatives.losses`.
    folds : int, "loo", array-like of int, splitter, or iterable of pairs (train, test)
        As in `refsvm.cross_validate`; a number shares each class equally. "loo" is exact leave-one-out.
    rng : int, numpy.random.Generator or None
        Shuffles the examples before they are shared among folds, and draws the starts.
    kernel, degree, coef0
        As in `refsvm.SVC`.
    C, gamma, epsilon, class_weight
        The first start, and the values of what is not tuned.
    bounds : dict of str to (float, float), optional
        By name; by default C from 1e-2 to 1e4, γ from 1e-3 to 1e3 times "scale" (of one for each feature from 1e-5),
        ε from 1e-3 to 1 times the standard deviation of the targets, the weight from 0.1 to 10.
    starts : int
        The first at the values that are given, the others drawn within the middle half of the bounds, on the scale of
        logarithms.
    max_evaluations : int
        Most values of J from each start.
    engine, cache_mb, n_jobs
        As in `refsvm.leave_one_out`.
    time_limit : float, optional
        Seconds for everything.
    progress : bool or "auto"
        One line that says how far the call is, as in `refsvm.leave_one_out`.
    callback : callable, optional
        Called after each evaluation with a `refsvm.engine.progress.Progress`, which has the attributes of the last
        `Evaluation`, too; a true result ends the search.

    Returns
    -------
    Tuning
        After a limit with the best until then.

    Raises
    ------
    ValueError
        On arguments out of range or that contradict each other.
    ModuleNotFoundError
        Without SciPy.
    KeyboardInterrupt
        After Ctrl-C: a `refsvm.engine.limits.Interrupted`, whose ``result`` has the best until then.

    Warns
    -----
    ConvergenceWarning
        If the time limit comes first; `refsvm.engine.unsolved.UnsolvedWarning` if scikit-learn is not loaded.

    Notes
    -----
    A search from a start ends where an iteration gains less than a thousandth of the first J, which is much less than
    J's own standard error over the folds. J is smooth but for kinks at events, where a variable changes its set. There
    the gradient is that of a C a millionth away. J has many optima, plateaus where all examples or none are support
    vectors, and on small data less of a slope than of noise: `Tuning.best_of_starts` says how far apart the starts
    ended.

    References
    ----------
    O. Chapelle, V. Vapnik, O. Bousquet and S. Mukherjee, "Choosing multiple parameters for support vector machines",
    Machine Learning 46, 2002. S. S. Keerthi, V. Sindhwani and O. Chapelle, "An efficient method for gradient-based
    adaptation of hyperparameters in SVM models", NIPS 2006.

    Examples
    --------
    >>> from refsvm.datasets import load
    >>> from refsvm.derivatives import tune_by_gradient
    >>> heart = load("heart")
    >>> found = tune_by_gradient(heart.X, heart.y, starts=1)
    >>> sorted(found.best), found.loss < found.evaluations[0].loss
    (['C', 'gamma'], True)
    """
    began = time.perf_counter()
    watching = None if callback is None else of_progress(callback)
    J = held_out_loss(
        X, y, parameters=parameters, loss=loss, folds=folds, rng=rng, kernel=kernel, gamma=gamma, degree=degree,
        coef0=coef0, C=C, epsilon=epsilon, class_weight=class_weight, bounds=bounds, engine=engine, cache_mb=cache_mb,
        n_jobs=n_jobs,
    )  # fmt: skip
    return minimised(
        J, J, starts=starts, max_evaluations=max_evaluations, rng=rng, time_limit=time_limit, progress=progress,
        watching=watching, began=began,
    )  # fmt: skip


def minimised(
    J: HeldOutLoss, value_at: Callable[[np.ndarray], tuple[float, np.ndarray]], *, starts: int, max_evaluations: int,
    rng: Any, time_limit: float | None, progress: bool | str, began: float,
    watching: Callable[[Progress], object] | None = None,
) -> Tuning:  # fmt: skip
    """Return the least J from several starts, as `tune_by_gradient` does.

    Parameters
    ----------
    J : HeldOutLoss
    value_at : callable
        From θ to J and its gradient: J itself, or one that looks them up first.
    starts, max_evaluations, rng, time_limit, progress
        As in `tune_by_gradient`.
    began : float
        The clock when the call began.
    watching : callable, optional
        Called after each evaluation; a true result ends the search.
    """
    minimize, deadline = _minimizer(), Deadline.after(time_limit)
    starts, most = whole("starts", starts, 1), whole("max_evaluations", max_evaluations, 1)
    J.options = replace(J.options, time_limit=deadline)
    rows, status, number = list[Evaluation](), Status.CONVERGED, 0
    told = Progress("tune_by_gradient", "evaluations", "the best of these")
    told.begin("", total=starts * most)

    def evaluated(theta: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = value_at(theta)
        tuned = {name: each for name, each in J.space.values(theta).items() if name in _tuned(J.space)}
        slope, elapsed = float(np.abs(gradient).max()), time.perf_counter() - began
        rows.append(Evaluation(tuned, value, J.fold_losses.copy(), number, slope, J.events, elapsed))
        least = min(rows, key=lambda each: each.loss)
        told.state, told.best = rows[-1], f"{least.loss:.4g} at {in_short(least.params)}"
        told.tell(len(rows))
        if watching is not None and watching(told):
            raise _EndedEarly(Status.CALLBACK)
        if sum(each.start == number for each in rows) == most:
            raise _Enough
        unit = abs(rows[0].loss) or 1.0
        return value / unit, gradient / unit

    with line_of(told, progress), interruptible() as interrupt:

        def ends() -> None:
            if interrupt.pressed:
                raise _EndedEarly(Status.INTERRUPTED)
            if deadline.left() <= 0.0:
                raise _EndedEarly(Status.TIME_LIMIT)

        J.ends = ends
        try:
            for start in J.space.starts(J.space.fixed, starts, np.random.default_rng(rng)):
                with suppress(_Enough):
                    minimize(
                        evaluated, start, jac=True, method="L-BFGS-B", bounds=J.space.bounds,
                        options={"maxfun": most, "ftol": GAIN, "gtol": GAIN},
                    )  # fmt: skip
                number += 1
        except _EndedEarly as ended:
            status = ended.args[0]
    best = min(rows, key=lambda each: each.loss, default=None)
    params, value = ({}, np.nan) if best is None else (best.params, best.loss)
    result = Tuning(params, value, rows, status, time.perf_counter() - began)
    if status is Status.TIME_LIMIT:
        warn(
            f"tune_by_gradient was ended by time_limit after {len(rows)} evaluations; the best of them is returned."
        )
    return unless_interrupted("tune_by_gradient", result, interrupt.pressed)


def _minimizer() -> Any:
    try:
        from scipy.optimize import minimize
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError("tune_by_gradient needs SciPy: pip install scipy") from error
    return minimize


def _tuned(space: Space) -> set[str]:
    return {"gamma" if name == "gammas" else name for name in space.names}


def _two_labels(y: Any, n: int) -> np.ndarray:
    labels = targets(y, n)
    if not (np.isin(labels, (-1.0, 1.0)).all() and np.ptp(labels) > 0.0):
        raise ValueError(
            f"y holds {len(np.unique(labels))} different numbers; give the labels −1 and +1, both of them, or epsilon= "
            "with targets. SVCCV tunes machines of more classes."
        )
    return labels


def _names(parameters: Sequence[str], kernel: Any, is_regression: bool) -> tuple[str, ...]:
    """Return the names of what is tuned, checked."""
    names = (parameters,) if isinstance(parameters, str) else tuple(parameters)
    has_gamma = isinstance(kernel, str) and "gamma" in parameters_named(kernel)
    allowed = ["C"] + ["gamma"] * has_gamma + ["gammas"] * (has_gamma and kernel == "rbf")
    allowed.append("epsilon" if is_regression else "class_weight")
    wrong = [name for name in names if name not in allowed]
    if wrong or not names or len(set(names)) < len(names) or {"gamma", "gammas"} <= set(names):
        raise ValueError(
            f"parameters={names!r} cannot be tuned here; give different ones of {', '.join(map(repr, allowed))}"
            + ', and "gamma" or "gammas".' * has_gamma
        )
    return names


def _bounds_of(
    name: str, X: Any, y: np.ndarray, given: dict[str, tuple[float, float]]
) -> tuple[float, float]:
    """Return the bounds of a parameter."""
    if name in given:
        low, high = (positive(f"a bound of {name}", each) for each in given[name])
        if not low < high:
            raise ValueError(f"bounds of {name!r} are {given[name]!r}; give the smaller one first.")
        return low, high
    if name in ("gamma", "gammas"):
        scale = gamma_on(X, "scale")
        return (1e-3 if name == "gamma" else 1e-5) * scale, 1e3 * scale
    if name == "epsilon":
        spread = float(y.std()) or 1.0
        return 1e-3 * spread, spread
    return {"C": (1e-2, 1e4), "class_weight": (0.1, 10.0)}[name]
