"""CostPathDisplay: draws the ROC curve of all classifiers whose costs for the two classes have a fixed sum."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from refsvm.analysis.paths import RocCurve, cost_path
from refsvm.display.canvas import PALETTE, Axes, Curves, require
from refsvm.display.machine import machine_of

INK = PALETTE[6]


@dataclass(eq=False)
class CostPathDisplay(Curves):
    """Draws the shares of true and of false positives while the cost C₊ of class +1 rises from 0 to C.

    Each point of the curve belongs to a classifier trained for one C₊, so the curve need not be monotone.

    Parameters
    ----------
    curves : dict of str to RocCurve
        The curves by name.

    Attributes
    ----------
    ax_, figure_
        As in `Display`.
    lines_ : dict of str to matplotlib.lines.Line2D
        The curves of the latest drawing.

    Examples
    --------
    >>> from refsvm import RBF, cost_path
    >>> from refsvm.datasets import make_banana
    >>> from refsvm.display import CostPathDisplay
    >>> data = make_banana(40, rng=0)
    >>> curve = cost_path(data.X, data.y, kernel=RBF(0.25)).roc(data.X, data.y)
    >>> CostPathDisplay({"training": curve}).plot().ax_.get_ylabel()
    'true positives'
    """

    example, kind = "RocCurve, such as {'test': path.roc(X, y)}", RocCurve
    curves: dict[str, RocCurve]

    @classmethod
    def from_result(
        cls, result: RocCurve, *, name: str = "examples", ax: Axes | None = None, **look: Any
    ) -> Self:
        """Draw the ROC curve that ``path.roc(X, y)`` returns.

        Parameters
        ----------
        result : RocCurve
            The curve.
        name : str
            Name in the legend.
        ax : matplotlib Axes, optional
            Axes to draw on.
        **look
            Settings of the line, as in `plot`.
        """
        require("result", result, RocCurve, "give the result of cost_path(X, y).roc(X, y)")
        return cls({name: result}).plot(ax, **look)

    @classmethod
    def from_estimator(
        cls, model: Any, X: Any, y: Any, *, test: Any = None, ax: Axes | None = None, **options: Any
    ) -> Self:
        """With the kernel of `model`, train for all class costs C₊ and C₋ with a fixed sum, and draw the ROC curve.

        A ring marks the classifier with equal costs; this classifier is `model` itself if `model` has no class weights.

        Parameters
        ----------
        model : SVC or SVCCV
            A model, or a fitted search, whose best model is used.
        X, y : array-like
            Training examples of two classes.
        test : (X, y), optional
            Examples on which true and false positives are counted, by default the training examples.
        ax : matplotlib Axes, optional
            Axes to draw on.
        **options
            Passed to `refsvm.cost_path`.

        Examples
        --------
        >>> from refsvm import SVC
        >>> from refsvm.datasets import make_banana
        >>> from refsvm.display import CostPathDisplay
        >>> data = make_banana(60, rng=0)
        >>> drawn = CostPathDisplay.from_estimator(SVC(C=1.0, gamma=0.25), data.X, data.y)
        >>> [*drawn.curves], drawn.ax_.get_xlabel()
        (['training'], 'false positives')
        """
        arguments = machine_of(model)
        total = 2.0 * arguments.pop("C")  # C₊ + C₋
        path = cost_path(X, y, **{**arguments, "C": total, **options})
        curve = path.roc(*((X, y) if test is None else test))
        drawn = cls.from_result(curve, name="training" if test is None else "test", ax=ax)
        at = 0.5 * (path.t[0] + path.t[-1])
        if curve.t[0] <= at <= curve.t[-1]:
            drawn.ax_.plot(*curve.at(at), "o", color=INK, mfc="none", ms=10, ls="none", label="equal costs")
        return drawn._labelled(**drawn._labels())

    def _draw_on(self, ax: Axes | None, look: Mapping[str, Any] | None = None) -> None:
        super()._draw_on(ax, look)
        self.ax_.plot([0.0, 1.0], [0.0, 1.0], color="0.8", lw=1.0, label="chance")

    def _line(self, curve: RocCurve, look: dict[str, Any]) -> Any:
        return self.ax_.plot(curve.fpr, curve.tpr, **{"lw": 1.4, "marker": ".", **look})[0]

    def _labels(self) -> dict[str, Any]:
        limits = {"xlim": (-0.02, 1.02), "ylim": (-0.02, 1.02)}
        return {"xlabel": "false positives", "ylabel": "true positives", **limits}
