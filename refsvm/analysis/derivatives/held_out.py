"""HeldOutLoss: J, the mean loss of the examples under models trained without their folds, and its gradient.

J(θ) = mean over all examples of ℓ(h₋ᵢ(xᵢ), yᵢ)

h₋ᵢ is the model trained without the fold of i, and θ contains the logarithms of the parameters. For ∂J/∂θ,
`HeldOutLoss` solves one linear system for each model (`refsvm.analysis.derivatives.pullback`), and adds up the results.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from refsvm.analysis.derivatives.left_out import LeftOutGroups
from refsvm.analysis.derivatives.losses import Loss, loss_called
from refsvm.analysis.resampling.folds import fold_numbers
from refsvm.analysis.resampling.task import task_given
from refsvm.analysis.solve import solve
from refsvm.analysis.units import relative_gap, unit_of_targets
from refsvm.core._checks import column_names, examples, hint, positive, shown, targets
from refsvm.core.kernels.functions import RBF
from refsvm.core.problem import DualProblem
from refsvm.core.result import Solution
from refsvm.core.rounds.rounds import Rounds
from refsvm.core.shown import Stamped
from refsvm.core.solver.options import RunOptions
from refsvm.services.names import gamma_on, in_order, kernel_called, of_features, parameters_named

TOL: Final = 1e-10
"""KKT gap to which each model is solved, relative to the range of h, in units of the targets."""

EDGE: Final = 1.0 + 1e-6
"""A parameter counts as lying at a bound if the two differ by at most this factor."""

NUDGES: Final = (1.0 + 1e-6, 1.0 - 1e-6, 1.0 + 1e-5)
"""At an event, where the left and the right gradient differ, C is multiplied by one of these factors."""


@dataclass(frozen=True)
class Space:
    """The tuned parameters as a vector θ of logarithms, with bounds.

    Attributes
    ----------
    names : tuple of str
        Names among "C", "gamma", "gammas", "epsilon" and "class_weight"; "gammas" means one γ for each feature.
    sizes : tuple of int
        Number of entries of θ for each name: d for "gammas", otherwise 1.
    bounds : ndarray of shape (p, 2)
        Bounds of θ.
    fixed : dict
        Values of the parameters that are not tuned.
    bounded_by_user : frozenset of str
        Names of the parameters whose bounds the user gave.
    """

    names: tuple[str, ...]
    sizes: tuple[int, ...]
    bounds: np.ndarray
    fixed: dict[str, Any]
    bounded_by_user: frozenset[str] = frozenset()

    def at_default_bounds(self, values: dict[str, Any]) -> list[str]:
        """Return, as texts, the scalar parameters that are at an end of their default bounds."""
        ends = [
            (name, values[name] / np.exp(self.bounds[sum(self.sizes[:place])]))
            for place, name in enumerate(self.names)
            if name in values and name != "gammas" and name not in self.bounded_by_user
        ]
        return [
            f"{name}={values[name]:.4g} ({'smallest' if low <= EDGE else 'largest'})"
            for name, (low, high) in ends
            if low <= EDGE or high >= 1.0 / EDGE
        ]

    def values(self, theta: np.ndarray) -> dict[str, Any]:
        """Return the parameters by name; the entries of "gammas" become a tuple named gamma."""
        parts = np.split(np.exp(theta), np.cumsum(self.sizes)[:-1])
        parameters = dict(self.fixed)
        for name, part in zip(self.names, parts, strict=True):
            parameters["gamma" if name == "gammas" else name] = (
                tuple(part.tolist()) if name == "gammas" else float(part[0])
            )
        return parameters

    def theta(self, values: dict[str, Any]) -> np.ndarray:
        """Return θ for values of the parameters, clipped to the bounds; a single γ is repeated for each feature."""
        parts = [
            np.full(size, np.log(values["gamma" if name == "gammas" else name]))
            for name, size in zip(self.names, self.sizes, strict=True)
        ]
        return np.clip(np.concatenate(parts), *self.bounds.T)

    def starts(self, first: dict[str, Any], count: int, rng: np.random.Generator) -> list[np.ndarray]:
        """Return the starting points: `first`, and random points within the middle half of the bounds."""
        points = [self.theta(first)]
        low, high = self.bounds.T
        for _ in range(count - 1):
            shares = rng.uniform(0.25, 0.75, len(self.sizes))
            points.append(low + (high - low) * np.repeat(shares, self.sizes))
        return points


class Folds(LeftOutGroups):
    """The models, each trained without one fold; a fold whose removal changes nothing gets the full model."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.solutions: dict[int, Solution] = {}
        self._of_all = self._on_data(self.full)

    def _on_data(self, solution: Solution) -> Solution:
        """Return a copy of the solution whose problem has the kernel matrix of `machine`, not of the rounds."""
        gram = self.machine.problem.centred.gram
        return replace(solution, problem=solution.problem.with_gram(gram))

    def _take(self, place: Any, solution: Solution) -> None:
        self.solutions[place] = self._of_all if solution is self.full else self._on_data(solution)


class EndedEarly(Exception):  # noqa: N818  a signal, not an error
    """Raised if a limit has ended the search; the argument of the exception is the status."""


class HeldOutLoss(Stamped):
    """J and its gradient at θ.

    Parameters
    ----------
    X, y : ndarrays or CSR of shape (n, d), and ndarray of shape (n,)
        Examples; labels −1 and +1, or targets.
    fold : ndarray of shape (n,), int64
        Fold number of each example.
    loss : Loss
        The loss of a decision value.
    space : Space
        The tuned parameters.
    kernel_at : callable
        Function from γ to the kernel.
    options : RunOptions
        Options of the solves.

    Attributes
    ----------
    events : int
        Number of folds whose model was at an event in the last call: a variable was just reaching or leaving a bound.
        The gradients of these folds are computed at a nearby C.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm.datasets import load
    >>> from refsvm.analysis.derivatives.held_out import held_out_loss
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
        """Return the problem of all examples for given values of the parameters."""
        known, C = self.kernel_at(values.get("gamma", 1.0)), values["C"]
        if not self.loss.has_labels:
            return DualProblem.regression(self.X, self.y, kernel=known, C=C, epsilon=values["epsilon"])
        if self._has_weights:
            C = C * np.where(self.y > 0.0, values["class_weight"], 1.0)
        return DualProblem.classification(self.X, self.y, kernel=known, C=C)

    @np.errstate(under="ignore")
    def __call__(self, theta: np.ndarray) -> tuple[float, np.ndarray]:
        """Return J and its gradient, shape (p,)."""
        values, n = self.space.values(theta), len(self.y)
        # --- compute h of each example by the model trained without the example's fold ---
        folds = self._solved(self.problem(values), values["C"])
        by_solution: dict[int, tuple[Solution, list[np.ndarray]]] = {}
        total, gradient, self.events = 0.0, np.zeros(len(theta)), 0
        for place, solution in folds.solutions.items():
            some = self.members[place]
            losses = self.loss.value(solution.decision_values[some], self.y[some])
            self.fold_losses[place] = losses.mean()
            total += float(losses.sum())
            by_solution.setdefault(id(solution), (solution, []))[1].append(some)
        # --- add up ∂J/∂θ over the models; folds that change nothing when left out share the full model ---
        for solution, parts in by_solution.values():
            self.ends()
            gradient += self._gradient(solution, np.concatenate(parts), values)
        return total / n, gradient / n

    def _solved(self, problem: DualProblem, C: float) -> Folds:
        """Return the models, each trained without one fold; the solve on all examples starts from the last call's α."""
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
            raise EndedEarly(folds.status)
        return folds

    def _gradient(self, solution: Solution, some: np.ndarray, values: dict[str, Any]) -> np.ndarray:
        """Return the gradient with respect to θ of the loss of some examples, for the model trained without them.

        At an event, where the left and the right gradient differ, the function returns the gradient at a slightly
        different C (see `NUDGES`).
        """
        for nudge in (1.0, *NUDGES):
            at = {**values, "C": values["C"] * nudge}
            try:
                near = solution if nudge == 1.0 else self._next_to(solution, values, nudge)
                return self._adjoint(near, some, at)
            except ValueError:
                self.events += nudge == 1.0
        return np.zeros(len(self.space.bounds))  # no C has a gradient: this fold adds 0 to ∇J

    def _next_to(self, solution: Solution, values: dict[str, Any], nudge: float) -> Solution:
        """Solve the problem of `solution` again with every C multiplied by `nudge`, and return the new solution."""
        at = solution.problem
        problem = self.problem(values).centred.boxed(at.lower * nudge, at.upper * nudge)
        start, options = problem.feasible(solution.alpha * nudge), self.options
        return solve(problem, start=start, stop=options.stop, time_limit=options.time_limit, polish=True)

    def _adjoint(self, solution: Solution, some: np.ndarray, values: dict[str, Any]) -> np.ndarray:
        """Return Σᵢ ∂ℓ/∂h(xᵢ) ∂h(xᵢ)/∂θ over the examples i in `some`; raise a ValueError at an event."""
        h = solution.decision_values[some]
        rates = solution.pullback(X=self.X[some], decision_function=self.loss.slope(h, self.y[some]))
        # the derivative with respect to an example's weight equals the derivative with respect to log Cᵢ
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


def held_out_loss(
    X: Any, y: Any, *, parameters: Sequence[str] = ("C", "gamma"), loss: str | Loss | None = None, folds: Any = 5,
    rng: Any = None, kernel: Any = "rbf", gamma: Any = "scale", degree: int = 3, coef0: float = 0.0,
    C: float | None = None, epsilon: float | None = None, class_weight: float = 1.0,
    bounds: dict[str, tuple[float, float]] | None = None, engine: str = "auto", cache_mb: float = 1000.0,
    n_jobs: int | None = None,
) -> HeldOutLoss:  # fmt: skip
    """Return J as a function of θ, for the arguments of `tune_by_gradient`."""
    columns, X = column_names(X), examples(X)
    n = X.shape[0]
    is_regression = epsilon is not None
    y = targets(y, n) if is_regression else _two_labels(y, n)
    known = loss_called(loss or ("squared" if is_regression else "squared hinge"), not is_regression)
    names = _names(parameters, kernel, is_regression)
    bounds = _bounds_given(bounds, names)
    unit = unit_of_targets(y) if is_regression else None
    first: dict[str, Any] = {"C": (unit or 1.0) if C is None else positive("C", C)}
    if isinstance(kernel, str) and "gamma" in parameters_named(kernel):
        first["gamma"] = _gamma_given(of_features(in_order(gamma, columns), kernel), X, names)
    if is_regression:
        first["epsilon"] = positive("epsilon", epsilon) if "epsilon" in names else float(epsilon)  # type: ignore[arg-type]
    else:
        first["class_weight"] = positive("class_weight", class_weight)
    sizes = tuple(X.shape[1] if name == "gammas" else 1 for name in names)
    limits = [_bounds_of(name, X, unit or 1.0, bounds) for name in names]
    space = Space(names, sizes, np.log(np.repeat(limits, sizes, axis=0)), first, frozenset(bounds))
    folds = n if isinstance(folds, str) and folds == "loo" else folds
    is_number, marks = isinstance(folds, int | np.integer), y if is_regression else (y > 0.0).astype(np.int64)
    shares = is_number and not is_regression and folds < n
    fold = fold_numbers(folds, marks, stratified=shares, rng=rng if is_number else None)
    options = RunOptions(
        stop=relative_gap(TOL, unit), engine=engine, cache_mb=cache_mb, cache_dtype="float64", n_jobs=n_jobs,
    )  # fmt: skip

    def kernel_at(width: Any) -> Any:
        return kernel_called(kernel, X, gamma=width, degree=degree, coef0=coef0)

    return HeldOutLoss(X, y, fold, known, space, kernel_at, options)


def _two_labels(y: Any, n: int) -> np.ndarray:
    labels = targets(y, n)
    if not (np.isin(labels, (-1.0, 1.0)).all() and np.ptp(labels) > 0.0):
        raise ValueError(
            f"y contains {len(np.unique(labels))} different numbers; give the labels −1 and +1, or targets "
            "together with epsilon=. For more classes use SVCCV."
        )
    return labels


def _names(parameters: Sequence[str], kernel: Any, is_regression: bool) -> tuple[str, ...]:
    """Return the checked names of the parameters to tune."""
    names = (parameters,) if isinstance(parameters, str) else tuple(parameters)
    has_gamma = isinstance(kernel, str) and "gamma" in parameters_named(kernel)
    allowed = ["C"] + ["gamma"] * has_gamma + ["gammas"] * (has_gamma and kernel == "rbf")
    allowed.append("epsilon" if is_regression else "class_weight")
    wrong = [name for name in names if name not in allowed]
    if wrong or not names or len(set(names)) < len(names) or {"gamma", "gammas"} <= set(names):
        raise ValueError(
            f"parameters={names!r} cannot be tuned; give different names among {', '.join(map(repr, allowed))}"
            + ', but not both "gamma" and "gammas".' * has_gamma
        )
    return names


def _gamma_given(gamma: Any, X: Any, names: tuple[str, ...]) -> float | tuple[float, ...]:
    """Return γ: a number, or a tuple with one number for each feature."""
    if not isinstance(gamma, tuple):
        return gamma_on(X, gamma)
    RBF(gamma).scaled(X[:1])  # `scaled` raises an error unless there is one γ for each column
    if "gamma" in names:
        raise ValueError(
            f"gamma has {len(gamma)} entries, but a single gamma is tuned; give one number, or tune 'gammas'."
        )
    return gamma


def _bounds_given(bounds: Any, names: tuple[str, ...]) -> dict[str, tuple[float, float]]:
    """Check and return the user's bounds."""
    if not isinstance(bounds, dict | None):
        raise ValueError(
            f"bounds={shown(bounds)} is not a dictionary; give one such as {{'C': (0.1, 10.0)}}."
        )
    checked = {}
    for name, pair in (bounds or {}).items():
        if name not in names:
            remedy = hint(str(name), names, f"give bounds of {', '.join(map(repr, names))}.")
            raise ValueError(f"bounds contains {name!r}, which is not among the tuned parameters; {remedy}")
        try:
            low, high = pair
        except (TypeError, ValueError):
            low = high = 1.0  # an empty interval, for which the next `if` raises the error
        low, high = (positive(f"bounds: a bound of {name}", each) for each in (low, high))
        if not low < high:
            raise ValueError(f"bounds of {name!r} are {pair!r:.80}; give two numbers, the smaller first.")
        checked[name] = low, high
    return checked


def _bounds_of(name: str, X: Any, unit: float, bounds: dict[str, tuple[float, float]]) -> tuple[float, float]:
    """Return the bounds of a parameter."""
    if name in bounds:
        return bounds[name]
    if name in ("gamma", "gammas"):
        scale = gamma_on(X, "scale")
        return (1e-3 if name == "gamma" else 1e-5) * scale, 1e3 * scale
    # C and ε have the unit of the targets
    ends = {"C": (1e-2 * unit, 1e4 * unit), "epsilon": (1e-3 * unit, unit), "class_weight": (0.1, 10.0)}
    return ends[name]
