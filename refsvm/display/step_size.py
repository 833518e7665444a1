"""StepSizeDisplay: draws a histogram of the lengths of planned steps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from refsvm.core._checks import positive, whole
from refsvm.core.result import Solution, Trace
from refsvm.display.canvas import Axes, Display, literal, require, require_some


@dataclass(eq=False)
class StepSizeDisplay(Display):
    """Draws a histogram of μ/μ̂ − 1; μ is the length of a planned step, and μ̂ the length of the Newton step.

    0 means a Newton step, and a value below −1 means a step backwards. The axis is linear up to `linear` on both sides
    of 0, and logarithmic beyond; 0 lies between two bins.

    Parameters
    ----------
    sizes : dict of str to ndarray
        Maps the name of a solve to μ/μ̂ − 1 of its planned steps, float64.

    See Also
    --------
    StepSizeDisplay.from_traces : Creates a display from traces.

    References
    ----------
    T. Glasmachers, "The planning-ahead SMO algorithm", 2008, §7.3 and Figure 3.

    Examples
    --------
    >>> from refsvm import DualProblem, PlanningAheadStep, RBF, solve
    >>> from refsvm.datasets import make_chessboard
    >>> from refsvm.display import StepSizeDisplay
    >>> board = make_chessboard(60, rng=0)
    >>> problem = DualProblem.classification(board.X, board.y, kernel=RBF(0.5), C=1000.0)
    >>> solution = solve(problem, step=PlanningAheadStep(), shrinking=False, trace=True)
    >>> display = StepSizeDisplay.from_trace(solution.trace)
    >>> bool(display.sizes["planned steps"].min() > -1e-6)
    True
    """

    sizes: dict[str, np.ndarray]

    @classmethod
    def from_result(cls, result: Solution | Trace, *, ax: Axes | None = None, **kwargs: Any) -> Self:
        """Draw the planned steps of a solution with a trace; see `from_traces`."""
        trace = result.trace if isinstance(result, Solution) else result
        return cls.from_traces({"planned steps": trace}, ax=ax, **kwargs)  # type: ignore[dict-item]

    @classmethod
    def from_traces(cls, traces: Mapping[str, Trace], *, ax: Axes | None = None, **kwargs: Any) -> Self:
        """Draw the planned steps of several solves.

        Parameters
        ----------
        traces : mapping of str to Trace
            Traces of solves with `PlanningAheadStep`; the legend shows the names.
        ax : matplotlib Axes, optional
            Axes to draw on; by default a new figure.
        **kwargs
            Passed to `plot`.

        Returns
        -------
        StepSizeDisplay

        Raises
        ------
        ValueError
            If there is no trace, or a trace contains no planned step.
        ImportError
            If matplotlib is not installed.
        """
        require_some("traces", traces, "trace, such as {'N = 1': solution.trace}")
        sizes = {}
        for name, trace in traces.items():
            advice = "solution.trace is one after solve(…, step=PlanningAheadStep(), trace=True)"
            require(f"traces[{name!r}]", trace, Trace, advice)
            steps = trace.rows[trace["planned"] == 1]
            if not len(steps):
                raise ValueError(
                    f"traces[{name!r}] contains no planned step; record a trace with "
                    "solve(…, step=PlanningAheadStep(), trace=True)."
                )
            sizes[name] = steps["step"] / steps["newton"] - 1.0
        return cls(sizes).plot(ax, **kwargs)

    @classmethod
    def from_trace(cls, trace: Trace, *, ax: Axes | None = None, **kwargs: Any) -> Self:
        """Draw the planned steps of one solve; see `from_traces`."""
        return cls.from_traces({"planned steps": trace}, ax=ax, **kwargs)

    def plot(self, ax: Axes | None = None, *, bins: int = 60, linear: float = 0.1, **kwargs: Any) -> Self:
        """Draw bins on `ax` or a new figure.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on.
        bins : int
            Number of bins, which have equal widths on the axis.
        linear : float
            Half the width of the linear part of the axis.
        **kwargs
            Passed to ``Axes.hist``.

        Returns
        -------
        StepSizeDisplay
            The display itself.

        Raises
        ------
        ValueError
            If bins or linear is not positive.
        """
        self._draw_on(ax, kwargs)
        self.ax_.set_xscale("symlog", linthresh=positive("linear", linear), linscale=1.0)
        edges = self._edges(whole("bins", bins, 1))
        histtype = "stepfilled" if len(self.sizes) == 1 else "step"
        for name, size in self.sizes.items():
            look = {"histtype": histtype, "lw": 1.6, "label": literal(name), **kwargs}
            self.ax_.hist(size, bins=edges.tolist(), weights=np.full(len(size), 1.0 / len(size)), **look)
        self.ax_.axvline(0.0, color="0.3", lw=1, ls=":")
        return self._labelled(xlabel=r"$\mu/\hat\mu-1$", ylabel="share of the planned steps")

    def _edges(self, bins: int) -> np.ndarray:
        """Return the edges of the bins, at equal distances on the axis, with an edge at 0."""
        axis = self.ax_.xaxis.get_transform()
        every = axis.transform(np.concatenate([*self.sizes.values(), [0.0]]))
        width = max(float(np.ptp(every)) / bins, 1e-12)
        marks = np.arange(np.floor(every.min() / width), np.floor(every.max() / width) + 2)
        return np.asarray(axis.inverted().transform(marks * width))
