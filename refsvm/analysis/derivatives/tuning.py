"""tune_by_gradient: parameters that minimise a held-out loss, found along its gradient.

    J(θ), ∂J/∂θ      of all parameters at once (`refsvm.analysis.derivatives.held_out`)
    from several starts:  L-BFGS-B within bounds, each solve from the one before it
    the parameters of the least J

A grid ends at two parameters; a gradient costs about as much as J itself, however many there are.
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
from refsvm.services.summary import Card, Shown, ended, parameter

GAIN: Final = 1e-3
"""A search ends where an iteration gains less than this part of J, or this part of the first slope is left."""


class _Enough(Exception):  # noqa: N818  a signal, and no error
    """A start has had its evaluations; L-BFGS-B itself asks after a search along a line alone."""


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

    def _card(self) -> Card:
        is_partial, count = self.status is not Status.CONVERGED, len(self.evaluations)
        line = (
            f"loss {self.loss:.6g} at {in_short(self.best)} after {count} evaluations"
            if count
            else "no evaluation"
        )
        found = {"mean loss": f"{self.loss:.6g}"} if self.evaluations else {}
        found |= {f"best {name}": parameter(value) for name, value in self.best.items()}
        told = found | {
            "evaluations": f"{len(self.evaluations):,}",
            "starts": f"{len(self.best_of_starts):,}", "seconds": f"{self.seconds:.3f}", "status": self.status.name,
        }  # fmt: skip
        line += f", {self.status.name}" * is_partial
        return Card(
            line, sentence=ended([f"{count:,} evaluations"], self.status), is_partial=is_partial, pairs=told
        )


def in_short(params: dict[str, Any]) -> str:
    """Return parameters in a line.

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
        `refsvm.analysis.derivatives.losses`.
    folds : int, "loo", array-like of int, splitter, or iterable of pairs (train, test)
        As in `refsvm.cross_validate`; a number shares each class equally. "loo" is exact leave-one-out.
    rng : int, numpy.random.Generator or None
        Shuffles the examples before they are shared among folds, and draws the starts.
    kernel, degree, coef0
        As in `refsvm.SVC`.
    C, gamma, epsilon, class_weight
        The first start, and the values of what is not tuned. C is 1 by default; of a regression, the standard deviation
        of the targets.
    bounds : dict of str to (float, float), optional
        By name; by default C from 1e-2 to 1e4, of a regression times the standard deviation of the targets, γ from 1e-3
        to 1e3 times "scale" (of one for each feature from 1e-5), ε from 1e-3 to 1 times the standard deviation of the
        targets, the weight from 0.1 to 10.
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
        Called after each evaluation with a `refsvm.core.engine.progress.Progress`, which has the attributes of the last
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
        After Ctrl-C: a `refsvm.core.engine.limits.Interrupted`, whose ``result`` has the best until then.

    Warns
    -----
    UserWarning
        If the best C, γ, ε or weight is an end of its default bounds.
    ConvergenceWarning
        If the time limit comes first; `refsvm.core.engine.unsolved.UnsolvedWarning` if scikit-learn is not loaded.

    Notes
    -----
    A search from a start ends where an iteration gains less than a thousandth of J, which is much less than J's own
    standard error over the folds. J is smooth but for kinks at events, where a variable changes its set. There
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
    names = {"gamma" if name == "gammas" else name for name in J.space.names}
    rows, status, number = list[Evaluation](), Status.CONVERGED, 0
    told = Progress("tune_by_gradient", "evaluations", "the best of these")
    told.begin("", total=starts * most)

    def evaluated(theta: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = value_at(theta)
        tuned = {name: each for name, each in J.space.values(theta).items() if name in names}
        slope, elapsed = float(np.abs(gradient).max()), time.perf_counter() - began
        rows.append(Evaluation(tuned, value, J.fold_losses.copy(), number, slope, J.events, elapsed))
        least = min(rows, key=lambda each: each.loss)
        told.state, told.best = rows[-1], f"{least.loss:.4g} at {in_short(least.params)}"
        told.tell(len(rows))
        if watching is not None and watching(told):
            raise EndedEarly(Status.CALLBACK)
        if sum(each.start == number for each in rows) == most:
            raise _Enough
        # the first step changes no parameter by more than the factor e
        unit = next(each.slope for each in rows if each.start == number) or 1.0
        return value / unit, gradient / unit

    with line_of(told, progress), interruptible() as interrupt, np.errstate(under="ignore"):

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
            f"tune_by_gradient was ended by time_limit after {len(rows)} evaluations; the best of them is returned."
        )
    elif at := J.space.at_default_bounds(result.best):
        warnings.warn(
            f"The best value is an end of the default bounds: {', '.join(at)}. Values beyond may be better; give "
            "bounds= with these.",
            stacklevel=frames_within() + 1,
        )
    return unless_interrupted("tune_by_gradient", result, interrupt.pressed)


def _best_of(rows: list[Evaluation], status: Status, seconds: float) -> Tuning:
    """Return the result of these evaluations."""
    best = min(rows, key=lambda each: each.loss, default=None)
    params, value = ({}, np.nan) if best is None else (best.params, best.loss)
    return Tuning(params, value, rows, status, seconds)


def _minimizer() -> Any:
    try:
        from scipy.optimize import minimize
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError("tune_by_gradient needs SciPy: pip install scipy") from error
    return minimize
