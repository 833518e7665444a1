"""Display: base of all displays, with the axes; Curves: base of displays of named curves."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from textwrap import wrap
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self

from refsvm._checks import shown
from refsvm.display.contrast import legible, made_legible
from refsvm.result import Status

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
else:
    Axes = Figure = Any  # matplotlib is imported when something is drawn

__all__ = ["PALETTE", "Axes", "Curves", "Display", "require", "require_some", "write_notes"]

PALETTE: Final = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#222222")
"""Colours that differ for readers who do not see red and green (M. Okabe and K. Ito), those of the book."""


@dataclass(eq=False)
class Display:
    """Base of the displays: a picture that can be drawn again, and where it was drawn last.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
    figure_ : matplotlib.figure.Figure
        The whole figure, also where the axes are in a part of one.
    """

    ax_: Axes = field(init=False, repr=False)
    figure_: Figure = field(init=False, repr=False)

    def __init_subclass__(cls) -> None:
        cls.__repr__ = Display.__repr__  # type: ignore[method-assign]  # before a dataclass makes one of all arrays

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    def _draw_on(self, ax: Axes | None, look: Mapping[str, Any] | None = None) -> None:
        """Set `ax_` to these axes, or to those of a new figure; a colour in `look` is the caller's, and stays.

        Raises
        ------
        ValueError
            If these are no axes, or several of them.
        ImportError
            If matplotlib is not installed.
        """
        try:
            import matplotlib.pyplot as plt
            from matplotlib.axes import Axes as SomeAxes
        except ImportError:
            raise ImportError(
                f"{type(self).__name__} needs matplotlib, which is not installed; run: pip install matplotlib"
            ) from None
        if ax is not None and not isinstance(ax, SomeAxes):
            raise ValueError(
                f"ax={shown(ax)} is no Axes of matplotlib; give one, such as axes[0] of fig, axes = plt.subplots(2)."
            )
        if ax is None:
            _, ax = plt.subplots(layout="constrained")
            ax.set_prop_cycle(color=[legible(colour, ax.get_facecolor()) for colour in PALETTE])
        self.ax_ = ax
        figure: Any = self.ax_.figure
        self.figure_ = figure.figure  # of a part of a figure the whole
        self._before = set(ax.get_children())
        self._is_given = look is not None and bool({"color", "c", "facecolor", "edgecolor"} & set(look))

    def _labelled(self, legend: dict[str, Any] | None = None, **labels: Any) -> Self:
        """Set labels and scales, make the legend, and all of it legible; return the display itself."""
        self.ax_.set(**labels)
        self.ax_.legend(**({"frameon": False} if legend is None else legend))
        return self._finished()

    def _finished(self, *others: Any) -> Self:
        """Make the words, and what was drawn, legible on the ground of the style; `others` are axes on the same one."""
        for ax in (self.ax_, *others):
            made_legible(ax, set(ax.get_children()) if self._is_given else self._before)
        return self

    def _noted(self, notes: Sequence[str]) -> Self:
        """Write sentences above the axes; return the display itself."""
        write_notes(self.ax_, notes)
        return self._finished()


def write_notes(ax: Axes, notes: Sequence[str]) -> None:
    """Write sentences above axes, such as which runs did not converge."""
    if notes:
        lines = [line for note in notes for line in wrap(note, width=80)]
        ax.set_title("\n".join(lines), loc="left", fontsize="small")


def require(name: str, given: Any, kind: type | tuple[type, ...], advice: str) -> None:
    """Refuse to draw something of another kind; the message says what can be drawn."""
    if not isinstance(given, kind):
        wanted = " or ".join(each.__name__ for each in (kind if isinstance(kind, tuple) else (kind,)))
        raise ValueError(f"{name}={shown(given)} is no {wanted}; {advice}.")


def require_some(name: str, given: Mapping[str, Any], wanted: str) -> None:
    """Refuse to draw nothing, or things without names; the message names what is missing."""
    if not isinstance(given, Mapping):
        raise ValueError(f"{name}={shown(given)} has no names; give a dict with at least one {wanted}.")
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
    kind : type
        Of a curve.
    """

    example: ClassVar[str]
    kind: ClassVar[type]
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
        for name, curve in self.curves.items():
            require(f"curves[{name!r}]", curve, self.kind, f"give a {self.example}")
        self._draw_on(ax, line_kwargs)
        self.lines_ = {
            name: self._line(curve, {"label": name, **line_kwargs}) for name, curve in self.curves.items()
        }
        self._labelled(**self._labels())
        return self._noted([note for name, curve in self.curves.items() if (note := self._note(name, curve))])

    def _note(self, name: str, curve: Any) -> str:
        """Return what is to be said of a curve above the picture; nothing if it is whole."""
        status = getattr(curve, "status", Status.CONVERGED)
        return "" if status is Status.CONVERGED else f"The path of {name} ended early ({status.name})."

    @abstractmethod
    def _line(self, curve: Any, look: dict[str, Any]) -> Any:
        """Draw a curve, and return the line that stands for it in the legend."""

    @abstractmethod
    def _labels(self) -> dict[str, Any]:
        """Return what the axes are called, their scales and limits."""
