"""Display: what all displays share, which is where they are drawn; Curves: those of curves by name."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
else:
    Axes = Figure = SubFigure = Any  # matplotlib is imported when something is drawn

__all__ = ["Axes", "Curves", "Display"]


@dataclass(eq=False)
class Display:
    """Base of the displays: a picture that can be drawn again, and where it was drawn last.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
    figure_ : matplotlib.figure.Figure or SubFigure
    """

    ax_: Axes = field(init=False, repr=False)
    figure_: Figure | SubFigure = field(init=False, repr=False)

    def _draw_on(self, ax: Axes | None) -> None:
        """Set `ax_` to these axes, or to those of a new figure.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        try:
            import matplotlib.pyplot as plt
        except ImportError:
            raise ImportError(
                f"{type(self).__name__} needs matplotlib, which is not installed; run: pip install matplotlib"
            ) from None
        self.ax_ = plt.subplots(layout="constrained")[1] if ax is None else ax
        self.figure_ = self.ax_.figure

    def _labelled(self, legend: dict[str, Any] | None = None, **labels: Any) -> Self:
        """Set labels and scales, and make the legend; return the display itself."""
        self.ax_.set(**labels)
        self.ax_.legend(**({"frameon": False} if legend is None else legend))
        return self


@dataclass(eq=False)
class Curves(Display):
    """Base of the displays of curves by name.

    Attributes
    ----------
    lines_ : dict of str to matplotlib.lines.Line2D
    """

    curves: dict[str, Any]
    lines_: dict[str, Any] = field(init=False, repr=False, default_factory=dict)

    def _begin(self, ax: Axes | None, wanted: str) -> None:
        """Draw on these axes, or new ones, if there is a curve."""
        if not self.curves:
            raise ValueError(f"curves={{}} is empty; give at least one {wanted}.")
        self._draw_on(ax)
        self.lines_ = {}
