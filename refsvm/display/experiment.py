"""ProfileDisplay, BoxDisplay and MeanDisplay: draw the results of an experiment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from refsvm.core._checks import shown
from refsvm.display.canvas import PALETTE, Axes, Display, literal
from refsvm.display.contrast import OWN_GROUND, ink, legible

if TYPE_CHECKING:
    from refsvm.experiment import Comparison, Experiment


@dataclass(eq=False)
class ProfileDisplay(Display):
    """Draws a performance profile: the share of runs in which a strategy needs at most τ times the least cost.

    Parameters
    ----------
    ratios : mapping of str to ndarray of shape (r,), float64
        For each run (a problem with its examples in one order), the strategy's value divided by the smallest value of
        all strategies; infinite if the strategy's run is unsolved or missing.
    metric : str
        Name of the metric.
    notes : tuple of str
        Sentences above the plot; they list refused problems and numbers of unsolved runs.

    References
    ----------
    E. D. Dolan and J. J. Moré, "Benchmarking optimization software with performance profiles", Mathematical
    Programming 91, 2002.
    """

    ratios: Mapping[str, np.ndarray]
    metric: str
    notes: tuple[str, ...] = ()

    @classmethod
    def from_result(cls, result: Experiment, metric: str = "iterations", **kwargs: Any) -> Self:
        """Draw an experiment; see `from_experiment`."""
        return cls.from_experiment(result, metric, **kwargs)

    @classmethod
    def from_experiment(
        cls, experiment: Experiment, metric: str = "iterations", *, ax: Axes | None = None, **kwargs: Any
    ) -> Self:
        """Compare the strategies by a metric, such as ``iterations``, and draw the profile.

        Parameters
        ----------
        experiment : Experiment
            An experiment with finished runs.
        metric : str
            Name of a positive entry of the records.
        ax : matplotlib Axes, optional
            Axes to draw on; by default a new figure.
        **kwargs
            Passed to ``ax.step``.

        Raises
        ------
        ValueError
            If no run is solved, or the metric does not exist or is not positive.
        """
        values, notes = _values_and_notes(experiment, metric)
        places = sorted({(problem, k) for (problem, _), runs in values.items() for k in runs})
        names = [each.name for each in experiment.strategies]
        table = np.array(
            [[values.get((problem, name), {}).get(k, np.inf) for name in names] for problem, k in places]
        )
        if not (table > 0.0).all():
            raise ValueError(
                f"metric={metric!r} is not positive in every run, so ratios have no meaning; choose another metric."
            )
        ratios = table / table.min(axis=1, keepdims=True)
        return cls(dict(zip(names, ratios.T, strict=True)), metric, notes).plot(ax, **kwargs)

    def plot(self, ax: Axes | None = None, **kwargs: Any) -> Self:
        """Draw the profile; the arguments are as in `from_experiment`."""
        self._draw_on(ax, kwargs)
        most = max(float(ratio[np.isfinite(ratio)].max(initial=1.0)) for ratio in self.ratios.values())
        for name, ratio in self.ratios.items():
            # start a curve at (1, 0), raise it by the share of one run at each ratio, end it at the edge of the plot
            finite = np.sort(ratio[np.isfinite(ratio)])
            share = np.arange(len(finite) + 1) / len(ratio)
            tau, height = np.append(finite, 1.05 * most), np.append(share[1:], share[-1])
            look = {"label": literal(name), **kwargs}
            self.ax_.step(np.append(1.0, tau), np.append(0.0, height), where="post", **look)
        self._labelled(
            xscale="log", xlabel=f"{self.metric.replace('_', ' ')}, relative to the best", ylabel="share of runs",
            ylim=(0.0, 1.02),
        )  # fmt: skip
        from matplotlib.ticker import LogLocator

        # place ticks at 1, 2 and 5, because most profiles span less than a power of ten
        self.ax_.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        self.ax_.xaxis.set_major_formatter("{x:g}")
        self.ax_.minorticks_off()
        return self._noted(self.notes)


@dataclass(eq=False)
class BoxDisplay(Display):
    """Draws box plots of a metric over random orders of the examples, for each strategy and problem.

    Parameters
    ----------
    values : mapping of (str, str) to ndarray of shape (r,), float64
        Values of the metric by (problem, strategy), divided by the baseline's mean on the problem if there is a
        baseline.
    metric : str
        Name of the metric.
    baseline : str or None
        Name of the strategy whose mean is the divisor of the values; None if the values are not divided.
    notes : tuple of str
        Sentences above the plot; they list refused problems and numbers of unsolved runs.
    """

    values: Mapping[tuple[str, str], np.ndarray]
    metric: str
    baseline: str | None = None
    notes: tuple[str, ...] = ()

    @classmethod
    def from_result(cls, result: Experiment, metric: str = "iterations", **kwargs: Any) -> Self:
        """Draw an experiment; see `from_experiment`."""
        return cls.from_experiment(result, metric, **kwargs)

    @classmethod
    def from_experiment(
        cls, experiment: Experiment, metric: str = "iterations", baseline: str | None = None, *,
        ax: Axes | None = None, **kwargs: Any,
    ) -> Self:  # fmt: skip
        """Draw box plots of a metric for each strategy and problem.

        Parameters
        ----------
        experiment : Experiment
            An experiment with finished runs.
        metric : str
            Name of a numeric entry of the records.
        baseline : str, optional
            Name of a strategy; on each problem, the display divides all values by the mean of this strategy.
        ax : matplotlib Axes, optional
            Axes to draw on; by default a new figure.
        **kwargs
            Passed to ``ax.boxplot``.

        Raises
        ------
        ValueError
            If no run is solved, the metric or the strategy does not exist, or the baseline has no solved run on some
            problem.
        """
        (runs_of, notes), values = _values_and_notes(experiment, metric), {}
        cells = experiment.compare(metric, baseline).cells
        for (problem, name), runs in runs_of.items():
            base = None if baseline is None else cells.get((problem, baseline))
            if baseline is not None and (base is None or not base.runs):
                raise ValueError(
                    f"baseline={baseline!r} has no solved run on {problem!r} to divide by; "
                    "choose another strategy, or omit baseline."
                )
            values[problem, name] = np.array(list(runs.values())) / (1.0 if base is None else base.mean)
        return cls(values, metric, baseline, notes).plot(ax, **kwargs)

    def plot(self, ax: Axes | None = None, **kwargs: Any) -> Self:
        """Draw the boxes; the arguments are as in `from_experiment`."""
        self._draw_on(ax, kwargs)
        problems, names = (list(dict.fromkeys(place[k] for place in self.values)) for k in (0, 1))
        width = 0.8 / len(names)
        for k, name in enumerate(names):
            there = [problem for problem in problems if (problem, name) in self.values]
            # place the boxes of a problem side by side around its tick
            at = [problems.index(problem) + (k - 0.5 * (len(names) - 1)) * width for problem in there]
            style = {"widths": 0.8 * width, "patch_artist": True, "manage_ticks": False}
            drawn = self.ax_.boxplot(
                [self.values[p, name] for p in there], positions=at, **{**style, **kwargs}
            )
            for box, line in zip(drawn["boxes"], drawn["medians"], strict=True):
                box.set_facecolor(legible(PALETTE[k % len(PALETTE)], self.ax_.get_facecolor()))
                line.set(color=ink(box.get_facecolor()[:3]), gid=OWN_GROUND)
            drawn["boxes"][0].set_label(literal(name))
        self.ax_.set_xticks(range(len(problems)), [*map(literal, problems)])
        words = self.metric.replace("_", " ")
        self._labelled(
            xlabel="problem", ylabel=words if self.baseline is None else f"{words} / {literal(self.baseline)}"
        )
        return self._noted(self.notes)


@dataclass(eq=False)
class MeanDisplay(Display):
    """Draws a metric's mean over random orders of the examples, with a bar of one standard deviation.

    With a baseline the plot shows ratios of means, without bars.

    Parameters
    ----------
    comparison : Comparison
        The comparison.

    Examples
    --------
    >>> from refsvm.display import MeanDisplay
    >>> from refsvm.experiment import Comparison, Summary
    >>> cells = {("heart", "mvp"): Summary(3, 428.0, 7.0), ("heart", "second-order"): Summary(3, 254.0, 5.0)}
    >>> found = Comparison("iterations", ("heart",), ("mvp", "second-order"), None, cells)
    >>> MeanDisplay.from_result(found).ax_.get_xlabel()
    'iterations'
    """

    comparison: Comparison

    @classmethod
    def from_result(cls, result: Comparison, *, ax: Axes | None = None, **kwargs: Any) -> Self:
        """Draw the result of `Experiment.compare`; pass further arguments to `plot`."""
        if not hasattr(result, "cells"):
            raise ValueError(
                f"result={shown(result)} is not a Comparison; give the result of experiment.compare(…)."
            )
        return cls(result).plot(ax, **kwargs)

    def plot(self, ax: Axes | None = None, **kwargs: Any) -> Self:
        """Draw the means on `ax` or a new figure; pass further arguments to ``Axes.errorbar``."""
        self._draw_on(ax, kwargs)
        comparison = self.comparison
        names, problems = comparison.strategies, comparison.problems
        known = [cell.mean for cell in comparison.cells.values() if cell.runs and cell.mean > 0.0]
        for k, name in enumerate(names):
            if name == comparison.baseline:
                continue
            shift = 0.6 * ((k + 0.5) / len(names) - 0.5)
            at, means, spreads = [], [], []
            for row, problem in enumerate(problems):
                cell = comparison.cells.get((problem, name))
                if cell is None or not cell.runs:
                    continue
                value, spread = (cell.mean, cell.sd) if comparison.baseline is None else (cell.ratio, None)
                if value is not None and np.isfinite(value):
                    at.append(row + shift)
                    means.append(value)
                    spreads.append(0.0 if spread is None else spread)
            if at:
                look = {"fmt": "o", "ms": 5, "capsize": 2.5, "label": literal(name), **kwargs}
                self.ax_.errorbar(means, at, xerr=spreads, **look)
        self.ax_.set_yticks(range(len(problems)), [*map(literal, problems)])
        self.ax_.set_ylim(len(problems) - 0.5, -0.5)
        words = comparison.metric.replace("_", " ")
        if comparison.baseline is None and known and max(known) > 20.0 * min(known):
            self.ax_.set_xscale("log")
        if comparison.baseline is not None:
            self.ax_.axvline(1.0, color="0.6", lw=0.8, zorder=0)
        self._labelled(
            xlabel=words if comparison.baseline is None else f"{words} / {literal(comparison.baseline)}",
            ylabel="problem",
        )
        return self._noted(comparison.notes)


def _values_and_notes(
    experiment: Experiment, metric: str
) -> tuple[dict[tuple[str, str], dict[int, float]], tuple[str, ...]]:
    """Return the metric of the solved runs, and the notes; raise an error if no run was solved."""
    if not hasattr(experiment, "compare"):
        raise ValueError(f"experiment={shown(experiment)} is not an Experiment; give one with finished runs.")
    values, notes = experiment.values(metric), experiment.compare(metric).notes
    if not values:
        raise ValueError(f"No solved run has metric={metric!r}, so nothing can be drawn: {' '.join(notes)}")
    return values, notes
