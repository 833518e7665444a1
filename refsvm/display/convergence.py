"""ConvergenceDisplay: draws the KKT gaps or the objectives of several solves in one plot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final, Self

import numpy as np

from refsvm.analysis.recording import Recording
from refsvm.core._checks import real
from refsvm.core.result import Solution, Trace
from refsvm.display.canvas import Axes, Curves, require, require_some
from refsvm.experiment.race import SOLVED, RuleComparison, name_in_table

METRICS: Final = {
    "gap": r"KKT gap $\psi$",
    "objective": r"distance to the best objective, $f^* - f$",
}
AGAINST: Final = {"iterations": "iteration", "rows": "rows", "seconds": "seconds"}
"""Quantities of the vertical axis, and the label of each."""

X_LABELS: Final = {"iterations": "steps", "rows": "kernel rows computed", "seconds": "seconds"}
POINTS: Final = 4000
"""Largest number of points of a curve: a longer curve shows the smallest and largest value of each of its sections."""


@dataclass(eq=False)
class ConvergenceDisplay(Curves):
    """Draws the KKT gap, or the distance to the best objective, of several solves on a logarithmic scale.

    For each solve, a thin line shows every recorded value, a thick line shows the smallest value so far, and a dot
    marks the end. The thin lines are not monotone, because the gap rises and falls, and a planned step may lower the
    objective.

    Parameters
    ----------
    curves : dict of str to (ndarray, ndarray)
        Maps the name of a solve to its abscissae and values, float64; a value that is not positive is replaced by NaN.
    metric : {"gap", "objective"}
        The quantity on the vertical axis.
    against : {"iterations", "rows", "seconds"}
        The quantity on the horizontal axis.
    notes : tuple of str
        Sentences above the plot, for instance which solves did not converge.

    Attributes
    ----------
    ax_, figure_
        As in `Display`.
    lines_ : dict of str to matplotlib.lines.Line2D
        The thick lines.

    See Also
    --------
    ConvergenceDisplay.from_result : Draws the result of `refsvm.compare`, a solution or a recording.
    ConvergenceDisplay.from_solutions : Draws several solutions or recordings.

    Examples
    --------
    >>> from refsvm import DualProblem, MostViolatingPair, RBF, SecondOrder, solve
    >>> from refsvm.datasets import make_banana
    >>> from refsvm.display import ConvergenceDisplay
    >>> data = make_banana(60, rng=0)
    >>> problem = DualProblem.classification(data.X, data.y, kernel=RBF(0.25))
    >>> solutions = {
    ...     type(rule).__name__: solve(problem, selector=rule, shrinking=False, trace=True)
    ...     for rule in (MostViolatingPair(), SecondOrder())
    ... }
    >>> display = ConvergenceDisplay.from_solutions(solutions, against="rows")
    >>> display.ax_.get_xlabel()
    'kernel rows computed'
    """

    example, kind = "solve, such as {'Newton': (steps, gaps)}", tuple
    curves: dict[str, tuple[np.ndarray, np.ndarray]]
    metric: str = "gap"
    against: str = "iterations"
    notes: tuple[str, ...] = ()

    @classmethod
    def from_result(
        cls, result: RuleComparison | Solution | Recording | Trace, *, ax: Axes | None = None, **look: Any
    ) -> Self:
        """Draw the runs of a comparison, or one run; see `from_solutions`.

        Parameters
        ----------
        result : RuleComparison, Solution, Recording or Trace
            A solution must have a trace. Before a recording is drawn, this call computes all its steps.
        ax : matplotlib Axes, optional
            Axes to draw on.
        **look
            ``metric``, ``against``, ``best`` and settings of the lines, as in `from_solutions`.
        """
        kinds = (RuleComparison, Solution, Recording, Trace)
        require("result", result, kinds, "give the result of compare(…) or solve(…, trace=True)")
        runs = result.runs if isinstance(result, RuleComparison) else {_name(result): result}
        return cls.from_solutions(runs, ax=ax, **look)

    @classmethod
    def from_solutions(
        cls,
        solutions: Mapping[str, Solution | Recording | Trace],
        *,
        metric: str = "gap",
        against: str = "iterations",
        best: float | None = None,
        ax: Axes | None = None,
        **line_kwargs: Any,
    ) -> Self:
        """Draw traces, solutions with a trace, or recordings; before drawing a recording, compute all its steps.

        Parameters
        ----------
        solutions : mapping of str to Solution, Recording or Trace
            Solutions made with ``trace=True`` or ``trace=k``; the legend shows the names.
        metric : {"gap", "objective"}
            The KKT gap ψ(α), or f* − f(α). With shrinking, ψ is the gap of the restricted problem.
        against : {"iterations", "rows", "seconds"}
            The abscissae: steps taken, kernel rows computed, or seconds since the start; recordings store no seconds.
        best : float, optional
            f*, for instance the objective of a solve with a small tolerance. By default, f* is the largest objective
            that a drawn solve reached, so that the curve of this solve drops to zero at its end.
        ax : matplotlib Axes, optional
            Axes to draw on; by default a new figure.
        **line_kwargs
            Settings of the thick lines, passed to ``Axes.plot``.

        Returns
        -------
        ConvergenceDisplay

        Raises
        ------
        ValueError
            If there is no solution, a solution has no trace or no seconds, or `metric` or `against` is unknown.
        ImportError
            If matplotlib is not installed.
        """
        _one_of("metric", metric, METRICS)
        _one_of("against", against, AGAINST)
        require_some("solutions", solutions, "solution, such as {'Newton': solve(…)}")
        for name, solution in solutions.items():
            advice = "give the result of solve(…, trace=True), or a Recording"
            require(f"solutions[{name!r}]", solution, (Solution, Recording, Trace), advice)
            if isinstance(solution, Recording) and against == "seconds":
                raise ValueError(
                    f"solutions[{name!r}] is a recording, which has no seconds; "
                    "choose against='iterations' or 'rows'."
                )
        ends = {name: _end_of(solution) for name, solution in solutions.items()}
        rows = {name: _trace_of(solution, name).rows for name, solution in solutions.items()}
        if best is None:
            best = max(
                max(end, rows[name]["objective"].max(initial=-np.inf)) for name, (end, _) in ends.items()
            )
        optimum = real("best", best)
        curves = {}
        for name, steps in rows.items():
            values = steps["gap"] if metric == "gap" else optimum - steps["objective"]
            x = steps[AGAINST[against]].astype(np.float64)
            curves[name] = x, np.where(values > 0.0, values, np.nan)
        notes = tuple(f"{name} did not converge ({why})." for name, (_, why) in ends.items() if why)
        return cls(curves, metric, against, notes).plot(ax, **line_kwargs)

    def plot(self, ax: Axes | None = None, **line_kwargs: Any) -> Self:
        """Draw the curves and the notes; see `Curves.plot`."""
        return super().plot(ax, **line_kwargs)._noted(self.notes)

    def _line(self, curve: tuple[np.ndarray, np.ndarray], look: dict[str, Any]) -> Any:
        (x, values), least = curve, np.fmin.accumulate(curve[1])
        at = _thinned(values)
        (line,) = self.ax_.plot(x[at], least[at], **{"lw": 1.8, **look})
        # draw each thin line below the thick line of its solve and above earlier curves
        thin: dict[str, Any] = {"color": line.get_color(), "zorder": line.get_zorder() - 0.5}
        self.ax_.plot(x[at], values[at], **thin, lw=0.5, alpha=0.4)
        self.ax_.plot(x[-1:], least[-1:], "o", **thin, ms=5)
        return line

    def _labels(self) -> dict[str, Any]:
        return {"yscale": "log", "xlabel": X_LABELS[self.against], "ylabel": METRICS[self.metric]}


def _one_of(name: str, value: str, known: Mapping[str, str]) -> None:
    if value not in known:
        raise ValueError(f"{name}={value!r} is unknown; choose {' or '.join(map(repr, known))}.")


def _name(run: Solution | Recording | Trace) -> str:
    """Return the name that the legend shows for a single run."""
    return name_in_table(run) if isinstance(run, Recording) else "solve"


def _end_of(solution: Solution | Recording | Trace) -> tuple[float, str]:
    """Return the final f of a run, and why the run is unsolved ("" if solved); compute all steps of a recording."""
    if isinstance(solution, Trace):
        return -np.inf, ""
    if isinstance(solution, Solution):
        return solution.objective, "" if solution.status in SOLVED else solution.status.name
    last = solution.states[solution.reach(solution.limit)]
    if solution.status is None:
        return last.objective, type(solution.error).__name__
    return last.objective, "" if solution.status in SOLVED else solution.status.name


def _trace_of(solution: Solution | Recording | Trace, name: str) -> Trace:
    trace = solution if isinstance(solution, Trace) else solution.trace
    if trace is None or not len(trace):
        advice = "has no trace; record one with solve(…, trace=True)"
        why = "took no step" if isinstance(solution, Recording) else advice
        raise ValueError(f"solutions[{name!r}] {why}.")
    return trace


def _thinned(values: np.ndarray) -> np.ndarray:
    """Return the indices of the smallest and the largest value in each section of a long curve, and the last index."""
    if len(values) <= POINTS:
        return np.arange(len(values))
    ends = np.linspace(0, len(values), POINTS // 2, dtype=np.int64)
    places = [len(values) - 1]
    for start, end in pairwise(ends.tolist()):
        stretch = values[start:end]
        if not np.isnan(stretch).all():
            places += [start + int(np.nanargmin(stretch)), start + int(np.nanargmax(stretch))]
    return np.unique(places)
