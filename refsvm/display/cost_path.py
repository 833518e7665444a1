"""CostPathDisplay: the operating points of a classifier whose costs move from one class to the other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from refsvm.display.canvas import Axes, Curves
from refsvm.paths import RocCurve


@dataclass(eq=False)
class CostPathDisplay(Curves):
    """Share of true against share of false positives, for every C₊ from 0 to C.

    Each point is a classifier of its own, trained for its costs; the curve need not be monotone.

    Parameters
    ----------
    curves : dict of str to RocCurve

    Attributes
    ----------
    ax_, figure_
        As of `Display`.
    lines_ : dict of str to matplotlib.lines.Line2D

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

    def _draw_on(self, ax: Axes | None, look: Mapping[str, Any] | None = None) -> None:
        super()._draw_on(ax, look)
        self.ax_.plot([0.0, 1.0], [0.0, 1.0], color="0.8", lw=1.0, label="chance")

    def _line(self, curve: RocCurve, look: dict[str, Any]) -> Any:
        return self.ax_.plot(curve.fpr, curve.tpr, **{"lw": 1.4, "marker": ".", **look})[0]

    def _labels(self) -> dict[str, Any]:
        limits = {"xlim": (-0.02, 1.02), "ylim": (-0.02, 1.02)}
        return {"xlabel": "false positives", "ylabel": "true positives", **limits}
