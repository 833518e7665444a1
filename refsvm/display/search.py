"""SearchDisplay: draws the scores of a search that is not a grid of C and γ."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from refsvm.display.canvas import Axes, Display, require_some


@dataclass(eq=False)
class SearchDisplay(Display):
    """Draws mean scores against C, or in the order of the evaluations, with a ring around the best score.

    Parameters
    ----------
    curves : mapping of str to (ndarray, ndarray)
        Abscissae and scores by name: a curve for each ε or each starting point.
    best : (float, float) or None
        Abscissa and value of the best score.
    xlabel : str
        Label of the abscissae.

    Examples
    --------
    >>> from refsvm import SVCCV
    >>> from refsvm.datasets import load
    >>> heart = load("heart")
    >>> SVCCV(kernel="linear", Cs=[0.01, 0.1]).fit(heart.X, heart.y).plot().ax_.get_xlabel()
    'C'
    """

    curves: Mapping[str, tuple[np.ndarray, np.ndarray]]
    best: tuple[float, float] | None = None
    xlabel: str = "evaluation"

    @classmethod
    def from_estimator(
        cls, model: Any, *, score: str = "score", ax: Axes | None = None, **line_kwargs: Any
    ) -> Self:
        """Draw the scores of a fitted search.

        Parameters
        ----------
        model : SVCCV, SVRCV, SVCGradientCV or SVRGradientCV
            The fitted search.
        score : str
            Name of the score to draw if the search computed several scores.
        ax : matplotlib Axes, optional
            Axes to draw on.
        **line_kwargs
            Passed to ``Axes.plot``.
        """
        results, chosen = model.cv_results_, getattr(model, "best_index_", -1)
        scores, params = np.asarray(results[f"mean_test_{score}"]), results["params"]
        if "start" in results:
            places = np.arange(1.0, len(params) + 1.0)
            names = [f"start {k + 1}" for k in results["start"]]
            xlabel = "evaluation"
        else:
            places, xlabel = np.array([each["C"] for each in params]), "C"
            names = [
                f"epsilon={each['epsilon']:.3g}" if "epsilon" in each else "mean score" for each in params
            ]
        curves = {}
        for name in dict.fromkeys(names):
            own = np.array([each == name for each in names])
            order = np.argsort(places[own], kind="stable")
            curves[name] = places[own][order], scores[own][order]
        best = (float(places[chosen]), float(scores[chosen])) if 0 <= chosen < len(params) else None
        return cls(curves, best, xlabel).plot(ax, **line_kwargs)

    def plot(self, ax: Axes | None = None, **line_kwargs: Any) -> Self:
        """Draw scores on `ax` or a new figure; pass further arguments to ``Axes.plot``."""
        require_some("curves", self.curves, "pair of places and scores")
        self._draw_on(ax, line_kwargs)
        for name, (places, scores) in self.curves.items():
            self.ax_.plot(places, scores, **{"label": name, "marker": "o", "ms": 4, "lw": 1.4, **line_kwargs})
        if self.best is not None:
            self.ax_.plot(*self.best, "o", ms=11, mfc="none", color="0.5", label="best")
        return self._labelled(
            xlabel=self.xlabel, ylabel="mean score", xscale="log" if self.xlabel == "C" else "linear"
        )
