"""The picture of a result: ``result.plot()``; BarDisplay: numbers by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Self

from refsvm._checks import is_sparse
from refsvm.display.canvas import Axes, Display
from refsvm.display.convergence import ConvergenceDisplay
from refsvm.display.cost_path import CostPathDisplay
from refsvm.display.leave_one_out import LOODecisionDisplay
from refsvm.display.path import PathDisplay, ValidationPathDisplay
from refsvm.experiment.race import RuleComparison
from refsvm.paths import ErrorCurve, PathCrossValidation, RegularizationPath, RocCurve
from refsvm.result import Solution
from refsvm.rounds.results import CrossValidation, LeaveOneOut
from refsvm.solver.recording import Recording


@dataclass(eq=False)
class BarDisplay(Display):
    """A horizontal bar for each name, its parts side by side from the left.

    Parameters
    ----------
    names : tuple of str
    parts : mapping of str to sequence of float
        The lengths of each part, one for each name; a legend names several parts.
    label : str
        Quantity and unit of the lengths.
    notes : tuple of str
        Sentences above the picture.

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

    def plot(self, ax: Axes | None = None, **bar_kwargs: Any) -> Self:
        """Draw into `ax`, or into a new figure; return the display itself.

        Parameters
        ----------
        ax : matplotlib Axes, optional
        **bar_kwargs
            As in ``Axes.barh``.
        """
        self._draw_on(ax, bar_kwargs)
        ends = [0.0] * len(self.names)
        for part, values in self.parts.items():
            self.ax_.barh(list(self.names), values, left=ends, label=part, **bar_kwargs)
            ends = [end + value for end, value in zip(ends, values, strict=True)]
        self.ax_.invert_yaxis()
        self.ax_.set_xlabel(self.label)
        if len(self.parts) > 1:
            self.ax_.legend(frameon=False)
        return self._noted(self.notes)


def plot(result: Any, ax: Axes | None = None, **look: Any) -> Display:
    """Draw a result; `refsvm` makes it the method ``plot`` of all results.

    Parameters
    ----------
    result : RuleComparison, Solution, Recording, LeaveOneOut, CrossValidation, RegularizationPath, …
        A solution needs a trace; of a recording all steps are taken. Leave-one-out of two classes in a plane shows
        each example; of others, how many examples each check and rule decided.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.
    **look
        For the display: of `ConvergenceDisplay` also ``against`` and ``metric``.

    Returns
    -------
    Display
        The display, which has the axes as ``ax_``.

    Raises
    ------
    ValueError
        If there is no picture of this result, or nothing to draw.
    ImportError
        If matplotlib is not installed.

    Examples
    --------
    >>> from refsvm import leave_one_out
    >>> from refsvm.datasets import load
    >>> leave_one_out(load("heart").X, load("heart").y).plot()
    <BarDisplay>
    """
    for kind, draw in PICTURES:
        if isinstance(result, kind):
            return draw(result, ax, **look)
    drawn = ", ".join(kind.__name__ for kind, _ in PICTURES)
    raise ValueError(f"{type(result).__name__} has no picture; these have one: {drawn}.")


def _steps(found: RuleComparison | Solution | Recording, ax: Axes | None, **look: Any) -> Display:
    return ConvergenceDisplay.from_result(found, ax=ax, **look)


def _leave_one_out(loo: LeaveOneOut, ax: Axes | None, **look: Any) -> Display:
    X = getattr(loo.full_solutions[0].problem.gram, "X", None) if len(loo.classes) == 2 else None
    if X is not None and X.shape == (len(loo.labels), 2) and not is_sparse(X) and not look:
        return LOODecisionDisplay.from_result(loo, X, ax=ax)
    counts = {name: float(count) for name, count in loo.counts.items() if count}
    return BarDisplay(tuple(counts), {"": tuple(counts.values())}, "examples decided").plot(ax, **look)


def _folds(found: CrossValidation, ax: Axes | None, **look: Any) -> Display:
    name, values = found.of_folds
    return BarDisplay(
        tuple(f"fold {number}" for number in range(len(values))), {"": values}, f"{name} of a fold"
    ).plot(ax, **look)


PICTURES: Final[tuple[tuple[type, Callable[..., Display]], ...]] = (
    (RuleComparison, _steps),
    (Solution, _steps),
    (Recording, _steps),
    (LeaveOneOut, _leave_one_out),
    (CrossValidation, _folds),
    (RegularizationPath, lambda path, ax, **look: PathDisplay.from_path(path, ax=ax, **look)),
    (
        PathCrossValidation,
        lambda found, ax, **look: ValidationPathDisplay({"folds": found.curve}).plot(ax, **look),
    ),
    (ErrorCurve, lambda curve, ax, **look: ValidationPathDisplay({"examples": curve}).plot(ax, **look)),
    (RocCurve, lambda curve, ax, **look: CostPathDisplay({"examples": curve}).plot(ax, **look)),
)
"""How each kind of result is drawn."""
