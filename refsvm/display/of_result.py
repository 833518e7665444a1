"""`plot`, a method of all results, draws a result; BarDisplay draws a bar for each of several named numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Self

from refsvm.analysis.derivatives.derivative import Derivative
from refsvm.analysis.paths import (
    ErrorCurve,
    OneVsOnePath,
    ParametricPath,
    PathCrossValidation,
    RegularizationPath,
    RocCurve,
)
from refsvm.analysis.recording import Recording
from refsvm.analysis.resampling.jackknife import HeldOutMachines
from refsvm.analysis.resampling.results import CrossValidation, LeaveOneOut
from refsvm.core._checks import is_sparse
from refsvm.core.result import Solution, Trace
from refsvm.core.state import SolverState
from refsvm.display.canvas import Axes, Display, literal, require
from refsvm.display.convergence import ConvergenceDisplay
from refsvm.display.cost_path import CostPathDisplay
from refsvm.display.cross_validation import GridDisplay
from refsvm.display.derivative import DerivativeDisplay
from refsvm.display.experiment import MeanDisplay, ProfileDisplay
from refsvm.display.leave_one_out import LOODecisionDisplay
from refsvm.display.path import PathDisplay, ValidationPathDisplay
from refsvm.display.residuals import ResidualDisplay
from refsvm.display.search import SearchDisplay
from refsvm.display.working_set import WorkingSetDisplay
from refsvm.experiment import Comparison, Experiment, Ranking
from refsvm.experiment.race import RuleComparison


@dataclass(eq=False)
class BarDisplay(Display):
    """Draws a horizontal bar for each name; the parts of a bar are side by side, from the left.

    Parameters
    ----------
    names : tuple of str
        Names of the bars.
    parts : mapping of str to sequence of float
        For each part, its length in each bar; with several parts, a legend names the parts.
    label : str
        Quantity and unit of the lengths.
    notes : tuple of str
        Sentences above the plot.

    Examples
    --------
    >>> from refsvm.display import BarDisplay
    >>> BarDisplay(("mvp", "second-order"), {"": (161, 142)}, "steps").plot().ax_.get_xlabel()
    'steps'
    """

    names: tuple[str, ...]
    parts: Mapping[str, Any]
    label: str
    notes: tuple[str, ...] = ()

    @classmethod
    def from_result(cls, result: Any, *, ax: Axes | None = None, **bar_kwargs: Any) -> Self:
        """Draw the result of leave-one-out or cross-validation, or a ranking, as bars.

        Parameters
        ----------
        result : LeaveOneOut, CrossValidation or Ranking
            The result.
        ax : matplotlib Axes, optional
            Axes to draw on.
        **bar_kwargs
            Passed to ``Axes.barh``.
        """
        require("result", result, (LeaveOneOut, CrossValidation, Ranking), "give a result that has bars")
        return cls(*bars_of(result)).plot(ax, **bar_kwargs)

    def plot(self, ax: Axes | None = None, **bar_kwargs: Any) -> Self:
        """Draw the bars on `ax` or a new figure; return the display.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on.
        **bar_kwargs
            Passed to ``Axes.barh``.
        """
        self._draw_on(ax, bar_kwargs)
        ends = [0.0] * len(self.names)
        for part, values in self.parts.items():
            self.ax_.barh([*map(literal, self.names)], values, left=ends, label=literal(part), **bar_kwargs)
            ends = [end + value for end, value in zip(ends, values, strict=True)]
        self.ax_.invert_yaxis()
        self.ax_.set_xlabel(self.label)
        if len(self.parts) > 1:
            self._labelled()
        return self._noted(self.notes)


def plot(result: Any, ax: Axes | None = None, **look: Any) -> Display:
    """Draw a result; `refsvm` makes this function the method ``plot`` of all results.

    Parameters
    ----------
    result : RuleComparison, Solution, Recording, LeaveOneOut, CrossValidation, RegularizationPath, fitted search, …
        A solution must have a trace. Before a recording is drawn, this call computes all its steps. For leave-one-out
        of two classes in a plane, the plot shows each example; for other leave-one-out results, it shows how many
        predictions each check and rule decided.
    ax : matplotlib Axes, optional
        Axes to draw on; by default a new figure.
    **look
        Arguments for the display; `ConvergenceDisplay` also takes ``against`` and ``metric``.

    Returns
    -------
    Display
        The display; its attribute ``ax_`` contains the axes.

    Raises
    ------
    ValueError
        If results of this type cannot be drawn, or the result contains nothing to draw.
    ImportError
        If matplotlib is not installed.

    Examples
    --------
    >>> from refsvm import leave_one_out
    >>> from refsvm.datasets import load
    >>> leave_one_out(load("heart").X, load("heart").y).plot()
    <BarDisplay>
    """
    if "cv_results_" in getattr(result, "__dict__", ()):
        return _search(result, ax, **look)
    for kinds, draw in PICTURES:
        if isinstance(result, kinds):
            return draw(result, ax, **look)
    drawn = ", ".join(kind.__name__ for kinds, _ in PICTURES for kind in kinds)
    raise ValueError(f"{type(result).__name__} cannot be drawn; give one of {drawn}.")


def bars_of(result: LeaveOneOut | CrossValidation | Ranking) -> tuple[Any, ...]:
    """Return the names, parts, label and notes of the bars that show a result."""
    if isinstance(result, LeaveOneOut):
        counts = {name: float(count) for name, count in result.counts.items() if count}
        return tuple(counts), {"": tuple(counts.values())}, "examples decided"
    if isinstance(result, CrossValidation):
        name, values = result.of_folds
        folds = tuple(f"fold {number}" for number in range(len(values)))
        return folds, {"": values}, f"{name} of a fold"
    ranks = dict(sorted(result.mean_rank.items(), key=lambda item: item[1]))
    label = f"mean rank over {result.problems} problems, 1 is the least"
    return tuple(ranks), {"": tuple(ranks.values())}, label, result.notes


def _leave_one_out(loo: LeaveOneOut, ax: Axes | None, **look: Any) -> Display:
    X = getattr(loo.full_solutions[0].problem.gram, "X", None) if len(loo.classes) == 2 else None
    if X is not None and X.shape == (len(loo.labels), 2) and not is_sparse(X) and not look:
        return LOODecisionDisplay.from_result(loo, X, ax=ax)
    return BarDisplay.from_result(loo, ax=ax, **look)


def _search(search: Any, ax: Axes | None, **look: Any) -> Display:
    is_grid = "mean_iterations" in search.cv_results_ and "gamma" in search.cv_results_["params"][0]
    return (GridDisplay if is_grid else SearchDisplay).from_estimator(search, ax=ax, **look)


def _state(state: SolverState, ax: Axes | None, **look: Any) -> Display:
    return WorkingSetDisplay.from_state(state, state.top, state.bottom, ax=ax, **look)


def _from(display: Any) -> Callable[..., Display]:
    """Return a function that passes a result and axes to ``from_result`` of a display."""
    return lambda result, ax, **look: display.from_result(result, ax=ax, **look)


PICTURES: Final[tuple[tuple[tuple[type, ...], Callable[..., Display]], ...]] = (
    ((RuleComparison, Solution, Recording, Trace), _from(ConvergenceDisplay)),
    ((SolverState,), _state),
    ((LeaveOneOut,), _leave_one_out),
    ((CrossValidation,), _from(BarDisplay)),
    ((HeldOutMachines,), _from(ResidualDisplay)),
    ((RegularizationPath, ParametricPath, OneVsOnePath), _from(PathDisplay)),
    ((PathCrossValidation, ErrorCurve), _from(ValidationPathDisplay)),
    ((RocCurve,), _from(CostPathDisplay)),
    ((Derivative,), _from(DerivativeDisplay)),
    ((Experiment,), _from(ProfileDisplay)),
    ((Comparison,), _from(MeanDisplay)),
    ((Ranking,), _from(BarDisplay)),
)
"""The function that draws each type of result."""
