"""`tune_by_gradient` uses the gradient of a held-out loss J(θ) to find the parameters θ that minimise J.

`refsvm.analysis.derivatives.held_out` computes J(θ) and ∂J/∂θ for all parameters together. L-BFGS-B minimises J within
bounds from several starts. For each θ, the solve on all examples starts from the solution for the previous θ.

A grid is practical for at most two parameters; a gradient costs about as much as J for any number of parameters.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

import numpy as np

from refsvm.analysis.derivatives.held_out import EndedEarly, HeldOutLoss, held_out_loss
from refsvm.analysis.derivatives.losses import Loss
from refsvm.core._checks import frames_within, whole
from refsvm.core.engine.limits import Deadline, interruptible, unless_interrupted
from refsvm.core.engine.progress import Progress
from refsvm.core.engine.unsolved import warn
from refsvm.core.result import Status
from refsvm.services.line import checked_callback, line_of
from refsvm.services.summary import Card, Shown, counted, ended, parameter

GAIN: Final = 1e-3
"""A search ends if J falls by less than this fraction, or if the slope is below this fraction of its first value."""


class _Enough(Exception):  # noqa: N818  a signal, not an error
    """Raised when a start has used all its evaluations; only an exception can end L-BFGS-B within a line search."""


class Evaluation(NamedTuple):
    """One value of J.

    Attributes
    ----------
    params : dict
        The tuned parameters by name; with one γ for each feature, "gamma" is a tuple.
    loss : float
        The value J.
    fold_losses : ndarray of shape (folds,)
        The mean loss of each fold.
    start : int
        Index of the start.
    slope : float
        The largest absolute entry of the gradient with respect to the logarithms of the parameters.
    events : int
        Number of folds whose model was at an event, where J has a kink.
    elapsed : float
        Seconds since the start of the call.
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
        The tuned parameters with the smallest held-out loss, by name; with one γ for each feature, "gamma" is a tuple.
    loss : float
        J at these parameters; NaN if a limit ended the search before the first evaluation.
    evaluations : list of Evaluation
        All evaluated values of J, in order.
    status : Status
        CONVERGED, or the limit that ended the search.
    seconds : float
        Wall time of the call.
    """

    best: dict[str, Any]
    loss: float
    evaluations: list[Evaluation]
    status: Status
    seconds: float

    @property
    def best_of_starts(self) -> np.ndarray:
        """The smallest loss from each start, shape (starts,); if J has many optima, the losses differ widely."""
        starts = dict.fromkeys(each.start for each in self.evaluations)
        return np.array(
            [min(each.loss for each in self.evaluations if each.start == start) for start in starts]
        )

    def to_frame(self) -> Any:
        """Return a pandas DataFrame with a row for each evaluation of J."""
        import pandas as pd

        names = ("loss", "start", "slope", "events", "elapsed")
        rows = [each.params | {name: getattr(each, name) for name in names} for each in self.evaluations]
        return pd.DataFrame(rows)

    def _card(self) -> Card:
        is_partial, count = self.status is not Status.CONVERGED, len(self.evaluations)
        line = "no evaluation"
        if count:
            line = f"loss {self.loss:.6g} at {in_short(self.best)} after {counted(count, 'evaluation')}"
        best = {"mean loss": f"{self.loss:.6g}"} if self.evaluations else {}
        best |= {f"best {name}": parameter(value) for name, value in self.best.items()}
        pairs = best | {
            "evaluations": f"{len(self.evaluations):,}",
            "starts": f"{len(self.best_of_starts):,}", "seconds": f"{self.seconds:.3f}", "status": self.status.name,
        }  # fmt: skip
        line += f", {self.status.name}" * is_partial
        return Card(
            line,
            sentence=ended([counted(count, "evaluation")], self.status),
            is_partial=is_partial,
            pairs=pairs,
        )


def in_short(params: dict[str, Any]) -> str:
    """Return parameters as a short text.

    Examples
    --------
    >>> from refsvm.analysis.derivatives.tuning import in_short
    >>> in_short({"C": 2.0, "gamma": (0.5, 0.1)})
    'C=2, 2 gammas'
    """
    return ", ".join(
        f"{name}={value:.4g}" if np.ndim(value) == 0 else f"{len(value)} gammas"
        for name, value in params.items()
    )


def tune_by_gradient(
    X: Any, y: Any, *, parameters: Sequence[str] = ("C", "gamma"), loss: str | Loss | None = None, folds: Any = 5,
    rng: Any = None, kernel: Any = "rbf", gamma: Any = "scale", degree: int = 3, coef0: float = 0.0,
    C: float | None = None, epsilon: float | None = None, class_weight: float = 1.0,
    bounds: dict[str, tuple[float, float]] | None = None, starts: int = 3, max_evaluations: int = 60,
    engine: str = "auto", cache_mb: float = 1000.0, time_limit: float | None = None, n_jobs: int | None = None,
    progress: bool | str = "auto", callback: Callable[[Progress], object] | None = None,
) -> Tuning:  # fmt: skip
    """Return the parameters with the smallest held-out loss J that a search along the gradient of J finds.

    Parameters
    ----------
    X : array-like or CSR of shape (n, d)
        Examples.
    y : array-like of shape (n,)
        Labels −1 and +1; with `epsilon` the targets of a regression.
    parameters : sequence of str
        The parameters to tune: "C"; "gamma", or "gammas" for one γ for each feature of the kernel "rbf"; "epsilon"
        for a regression; "class_weight", the factor of C for the class +1.
    loss : str or Loss, optional
        Held-out loss: "squared hinge" (default) or "logistic"; for a regression "squared" (default), "huber" or
        "pinball". See `refsvm.analysis.derivatives.losses`.
    folds : int, "loo", array-like of int, splitter, or iterable of pairs (train, test)
        As in `refsvm.cross_validate`. If `folds` is a number, each fold gets an equal share of each class; "loo" is
        exact leave-one-out.
    rng : int, numpy.random.Generator or None
        Shuffles the examples before they are assigned to folds, and draws the starts.
    kernel, degree, coef0
        As in `refsvm.SVC`.
    C, gamma, epsilon, class_weight
        Values of the first starting point; a parameter that is not tuned keeps its value. The default of C is 1, or,
        for a regression, the standard deviation of the targets.
    bounds : dict of str to (float, float), optional
        Lower and upper bound of each parameter by name; the notes list the default bounds.
    starts : int
        Number of starts. The first start is at the given values; the other starts are drawn from the middle half of the
        bounds, on a logarithmic scale.
    max_evaluations : int
        Largest number of evaluations of J from each start.
    engine, cache_mb, n_jobs
        As in `refsvm.leave_one_out`.
    time_limit : float, optional
        Limit on the whole call in seconds.
    progress : bool or "auto"
        Progress line on stderr, as in `refsvm.leave_one_out`.
    callback : callable, optional
        Called after each evaluation with a `refsvm.core.engine.progress.Progress`, which also has the attributes of
        the last `Evaluation`. If the callback returns True, the search ends.

    Returns
    -------
    Tuning
        The result; if a limit ends the search, the result contains the best parameters so far.

    Raises
    ------
    ValueError
        If arguments are out of range or contradict each other.
    ModuleNotFoundError
        If SciPy is not installed.
    KeyboardInterrupt
        After Ctrl-C: a `refsvm.core.engine.limits.Interrupted`, whose ``result`` contains the best parameters so far.

    Warns
    -----
    UserWarning
        If the best C, γ, ε or weight is at an end of its default bounds.
    ConvergenceWarning
        If the time limit ends the search; without scikit-learn a `refsvm.core.engine.unsolved.UnsolvedWarning`.

    Notes
    -----
    The default bounds are: C from 1e-2 to 1e4 (for a regression times the standard deviation of the targets); γ from
    1e-3 to 1e3 times "scale" (with one γ for each feature from 1e-5); ε from 1e-3 to 1 times the standard deviation of
    the targets; the class weight from 0.1 to 10.

    The search from a starting point ends when an iteration reduces J by less than a thousandth of J or of the slope of
    J at this point, whichever is larger; this amount is far below the standard error of J over the folds. The search
    also ends when the slope falls to a thousandth of its first value. J is smooth except for kinks at events,
    where a variable reaches or leaves a bound; at a kink the search usually takes the gradient at a C that is larger by
    a millionth. J has many optima, and plateaus where all or no examples are support vectors; on small data the slope
    of J may be smaller than the noise of J. `Tuning.best_of_starts` shows the smallest J that each start reached.

    References
    ----------
    O. Chapelle, V. Vapnik, O. Bousquet and S. Mukherjee, "Choosing multiple parameters for support vector machines",
    Machine Learning 46, 2002. S. S. Keerthi, V. Sindhwani and O. Chapelle, "An efficient method for gradient-based
    adaptation of hyperparameters in SVM models", NIPS 2006.

    Examples
    --------
    >>> from refsvm.datasets import load
    >>> from refsvm.analysis.derivatives import tune_by_gradient
    >>> heart = load("heart")
    >>> found = tune_by_gradient(heart.X, heart.y, starts=1)
    >>> sorted(found.best), found.loss < found.evaluations[0].loss
    (['C', 'gamma'], True)
    """
    began = time.perf_counter()
    watching = checked_callback(callback)
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
    """Minimise J from several starts, and return the result of `tune_by_gradient`.

    Parameters
    ----------
    J : HeldOutLoss
        The loss.
    value_at : callable
        Function that returns the value and the gradient of `J` at θ: `J` itself, or a function that calls `J` only if
        it finds no stored value.
    starts, max_evaluations, rng, time_limit, progress
        As in `tune_by_gradient`.
    began : float
        Time at the start of the call.
    watching : callable, optional
        Called after each evaluation. If the callback returns True, the search ends.
    """
    minimize, deadline = _minimizer(), Deadline.after(time_limit)
    starts, most = whole("starts", starts, 1), whole("max_evaluations", max_evaluations, 1)
    J.options = replace(J.options, time_limit=deadline)
    names = {"gamma" if name == "gammas" else name for name in J.space.names}
    rows, status, number = list[Evaluation](), Status.CONVERGED, 0
    counter = Progress("tune_by_gradient", "evaluations", "the best of these")
    counter.begin("", total=starts * most)

    def evaluated(theta: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = value_at(theta)
        tuned = {name: each for name, each in J.space.values(theta).items() if name in names}
        slope, elapsed = float(np.abs(gradient).max()), time.perf_counter() - began
        rows.append(Evaluation(tuned, value, J.fold_losses.copy(), number, slope, J.events, elapsed))
        least = min(rows, key=lambda each: each.loss)
        counter.state, counter.best = rows[-1], f"{least.loss:.4g} at {in_short(least.params)}"
        counter.tell(len(rows))
        if watching is not None and watching(counter):
            raise EndedEarly(Status.CALLBACK)
        if sum(each.start == number for each in rows) == most:
            raise _Enough
        # divide J by its slope at the start, so that the first step changes no parameter by more than a factor e
        unit = next(each.slope for each in rows if each.start == number) or 1.0
        return value / unit, gradient / unit

    with line_of(counter, progress), interruptible() as interrupt, np.errstate(under="ignore"):

        def ends() -> None:
            if interrupt.pressed:
                raise EndedEarly(Status.INTERRUPTED)
            if deadline.left() <= 0.0:
                raise EndedEarly(Status.TIME_LIMIT)

        J.ends = ends
        try:
            for start in J.space.starts(J.space.fixed, starts, np.random.default_rng(rng)):
                with suppress(_Enough):
                    minimize(
                        evaluated, start, jac=True, method="L-BFGS-B", bounds=J.space.bounds,
                        options={"maxfun": most, "ftol": GAIN, "gtol": GAIN},
                    )  # fmt: skip
                number += 1
        except EndedEarly as ended:
            status = ended.args[0]
    result = _best_of(rows, status, time.perf_counter() - began)
    if status is Status.TIME_LIMIT:
        warn(
            f"time_limit ended tune_by_gradient after {counted(len(rows), 'evaluation')}; it returns the best "
            "parameters so far."
        )
    elif at := J.space.at_default_bounds(result.best):
        warnings.warn(
            f"The best value is at an end of the default bounds: {', '.join(at)}. Values beyond the end may be better; "
            "pass wider bounds=.",
            stacklevel=frames_within() + 1,
        )
    return unless_interrupted("tune_by_gradient", result, interrupt.pressed)


def _best_of(rows: list[Evaluation], status: Status, seconds: float) -> Tuning:
    """Return a `Tuning` with the parameters of the evaluation that had the smallest J."""
    best = min(rows, key=lambda each: each.loss, default=None)
    params, value = ({}, np.nan) if best is None else (best.params, best.loss)
    return Tuning(params, value, rows, status, seconds)


def _minimizer() -> Any:
    try:
        from scipy.optimize import minimize
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError("tune_by_gradient needs SciPy: pip install scipy") from error
    return minimize
