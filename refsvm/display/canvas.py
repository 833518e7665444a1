"""Display: base of all displays, with the axes; Curves: base of displays of named curves."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from textwrap import wrap
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
else:
    Axes = Figure = SubFigure = Any  # matplotlib is imported when something is drawn

__all__ = ["PALETTE", "Axes", "Curves", "Display", "require_some"]

PALETTE: Final = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#222222")
"""Colours that differ for readers who do not see red and green (M. Okabe and K. Ito), those of the book."""


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
        if ax is None:
            _, ax = plt.subplots(layout="constrained")
            ax.set_prop_cycle(color=PALETTE)
        self.ax_ = ax
        self.figure_ = self.ax_.figure

    def _labelled(self, legend: dict[str, Any] | None = None, **labels: Any) -> Self:
        """Set labels and scales, and make the legend; return the display itself."""
        self.ax_.set(**labels)
        self.ax_.legend(**({"frameon": False} if legend is None else legend))
        return self

    def _noted(self, notes: Sequence[str]) -> Self:
        """Write sentences above the axes; return the display itself."""
        if notes:
            lines = [line for note in notes for line in wrap(note, width=80)]
            self.ax_.set_title("\n".join(lines), loc="left", fontsize="small")
        return self


def require_some(name: str, given: Mapping[str, Any], wanted: str) -> None:
    """Refuse to draw nothing; the message names what is missing."""
    if not given:
        raise ValueError(f"{name}={{}} is empty; give at least one {wanted}.")


@dataclass(eq=False)
class Curves(Display, ABC):
    """Base of the displays of curves by name; each draws one curve in `_line`.

    Attributes
    ----------
    lines_ : dict of str to matplotlib.lines.Line2D
    example : str
        Argument to give, named in the message if there is no curve.
    """

    example: ClassVar[str]
    curves: dict[str, Any]
    lines_: dict[str, Any] = field(init=False, repr=False, default_factory=dict)

    def plot(self, ax: Axes | None = None, **line_kwargs: Any) -> Self:
        """Draw into `ax`, or into a new figure.

        Parameters
        ----------
        ax : matplotlib Axes, optional
        **line_kwargs
            For the lines of `lines_`, as in ``Axes.plot``.

        Returns
        -------
        Self
            The display itself.

        Raises
        ------
        ValueError
            If there is no curve.
        ImportError
            If matplotlib is not installed.
        """
        require_some("curves", self.curves, self.example)
        self._draw_on(ax)
        self.lines_ = {
            name: self._line(curve, {"label": name, **line_kwargs}) for name, curve in self.curves.items()
        }
        return self._labelled(**self._labels())

    @abstractmethod
    def _line(self, curve: Any, look: dict[str, Any]) -> Any:
        """Draw a curve, and return the line that stands for it in the legend."""

    @abstractmethod
    def _labels(self) -> dict[str, Any]:
        """Return what the axes are called, their scales and limits."""
