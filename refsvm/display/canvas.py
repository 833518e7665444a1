"""Display: the base of all displays, which handles axes and legends; Curves: the base of displays with named curves."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from textwrap import wrap
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self

from refsvm.core._checks import shown
from refsvm.core.result import Status
from refsvm.display.contrast import legible, made_legible

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
else:
    Axes = Figure = Any  # matplotlib is imported at the first drawing

__all__ = ["PALETTE", "Axes", "Curves", "Display", "require", "require_some", "write_notes"]

PALETTE: Final = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#222222")
"""Colours that colour-blind readers can distinguish (M. Okabe and K. Ito), as in the book."""


@dataclass(eq=False)
class Display:
    """Base of the displays: a plot that can be drawn again, and that stores its axes.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
        The axes of the latest drawing.
    figure_ : matplotlib.figure.Figure
        The whole figure, even if the axes are in a subfigure.
    """

    ax_: Axes = field(init=False, repr=False)
    figure_: Figure = field(init=False, repr=False)

    def __init_subclass__(cls) -> None:
        cls.__repr__ = Display.__repr__  # type: ignore[method-assign]  # dataclass keeps this method

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    def _draw_on(self, ax: Axes | None, look: Mapping[str, Any] | None = None) -> None:
        """Set `ax_` to `ax` or to the axes of a new figure; if `look` sets a colour, `made_legible` changes only texts.

        Raises
        ------
        ValueError
            If `ax` is not an Axes of matplotlib.
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
                f"ax={shown(ax)} is not an Axes of matplotlib; give an Axes, such as axes[0] of fig, axes = "
                "plt.subplots(2)."
            )
        if ax is None:
            _, ax = plt.subplots(layout="constrained")
            ax.set_prop_cycle(color=[legible(colour, ax.get_facecolor()) for colour in PALETTE])
        self.ax_ = ax
        figure: Any = self.ax_.figure
        self.figure_ = figure.figure  # a subfigure belongs to a figure
        self._before = set(ax.get_children())
        self._is_given = look is not None and bool({"color", "c", "facecolor", "edgecolor"} & set(look))

    def _labelled(self, legend: dict[str, Any] | None = None, **labels: Any) -> Self:
        """Set labels and scales, add the legend, make text and curves legible; return the display itself.

        By default, the legend is placed above the axes, where it covers no curve. A figure without a layout may have no
        space above the axes; Matplotlib then places the legend where it covers as little of the curves as possible.
        """
        self.ax_.set(**labels)
        if legend is not None:
            self.ax_.legend(**legend)
        elif self.figure_.get_layout_engine() is None:
            self.ax_.legend(frameon=False)
        else:
            legend_above(self.ax_)
        return self._finished()

    def _finished(self, *others: Any) -> Self:
        """Make texts and curves stand out from the background, on `ax_` and on the further axes `others`."""
        for ax in (self.ax_, *others):
            made_legible(ax, set(ax.get_children()) if self._is_given else self._before)
        return self

    def _noted(self, notes: Sequence[str]) -> Self:
        """Write sentences above the axes; return the display itself."""
        write_notes(self.ax_, notes)
        return self._finished()


ABOVE: Final = "refsvm: above the axes"
"""Marks a legend that is placed above its axes."""


def legend_above(ax: Axes) -> None:
    """Place the legend above the axes and their title, in as many columns as fit."""
    from matplotlib.transforms import ScaledTranslation

    handles, labels = ax.get_legend_handles_labels()
    if not handles:
        return
    figure: Any = ax.figure
    titles: list[Any] = [ax.title, ax._left_title, ax._right_title]  # type: ignore[attr-defined]
    points = [
        (each.get_text().count("\n") + 1) * each.get_fontsize() * 1.3 + 8.0
        for each in titles
        if each.get_text()
    ]
    lifted = ax.transAxes + ScaledTranslation(0.0, max(points, default=0.0) / 72.0, figure.dpi_scale_trans)
    look: dict[str, Any] = {
        "frameon": False, "loc": "lower left", "bbox_to_anchor": (0.0, 1.0), "bbox_transform": lifted,
        "borderaxespad": 0.2, "borderpad": 0.2, "columnspacing": 1.4, "handlelength": 1.6,
        "fontsize": "medium" if len(handles) < 5 else "small",
    }  # fmt: skip
    room = ax.get_window_extent().width
    for columns in range(min(len(handles), 6), 0, -1):
        legend = ax.legend(handles, labels, ncols=columns, **look)
        if legend.get_window_extent().width <= room:
            break
    legend.set_gid(ABOVE)


def literal(name: Any) -> str:
    """Return the text that makes Matplotlib show a name unchanged, even if the name contains a dollar sign.

    The function escapes a dollar sign, which would start a formula. It puts a blank before a leading underscore,
    because a legend omits labels that start with an underscore.

    Examples
    --------
    >>> from refsvm.display.canvas import literal
    >>> literal("price"), literal("_Mine"), len(literal("$5"))
    ('price', ' _Mine', 3)
    """
    text = str(name).replace("$", r"\$")
    return f" {text}" if text.startswith("_") else text


def write_notes(ax: Axes, notes: Sequence[str]) -> None:
    """Write notes above axes, for instance which runs did not converge."""
    if notes:
        lines = [line for note in notes for line in wrap(literal(note), width=80)]
        ax.set_title("\n".join(lines), loc="left", fontsize="small")
        legend = ax.get_legend()
        if legend is not None and legend.get_gid() == ABOVE:
            legend_above(ax)


def require(name: str, value: Any, kind: type | tuple[type, ...], advice: str) -> None:
    """Raise an error if `value` is not of the type `kind`; the message says what to give."""
    if not isinstance(value, kind):
        wanted = " or ".join(each.__name__ for each in (kind if isinstance(kind, tuple) else (kind,)))
        raise ValueError(f"{name}={shown(value)} is not of type {wanted}; {advice}.")


def require_some(name: str, mapping: Mapping[str, Any], wanted: str) -> None:
    """Raise an error unless `mapping` is a mapping with at least one entry; the message says what to give."""
    if not isinstance(mapping, Mapping):
        raise ValueError(f"{name}={shown(mapping)} has no names; give a dict with at least one {wanted}.")
    if not mapping:
        raise ValueError(f"{name}={{}} is empty; give at least one {wanted}.")


@dataclass(eq=False)
class Curves(Display, ABC):
    """Base of the displays with named curves; the method `_line` of a subclass draws one curve.

    Attributes
    ----------
    lines_ : dict of str to matplotlib.lines.Line2D
        The lines of the latest drawing.
    example : str
        Description of a valid curve, with an example; error messages contain this text.
    kind : type
        Type of each curve.
    """

    example: ClassVar[str]
    kind: ClassVar[type]
    curves: dict[str, Any]
    lines_: dict[str, Any] = field(init=False, repr=False, default_factory=dict)

    def plot(self, ax: Axes | None = None, **line_kwargs: Any) -> Self:
        """Draw all curves on `ax` or a new figure.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on.
        **line_kwargs
            Settings of the lines in `lines_`, passed to ``Axes.plot``.

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
            name: self._line(curve, {"label": literal(name), **line_kwargs})
            for name, curve in self.curves.items()
        }
        self._labelled(**self._labels())
        return self._noted([note for name, curve in self.curves.items() if (note := self._note(name, curve))])

    def _note(self, name: str, curve: Any) -> str:
        """Return a note, written above the plot, about an incomplete curve; an empty text for a complete curve."""
        status = getattr(curve, "status", Status.CONVERGED)
        return "" if status is Status.CONVERGED else f"The path of {name} ended early ({status.name})."

    @abstractmethod
    def _line(self, curve: Any, look: dict[str, Any]) -> Any:
        """Draw a curve, and return the line that represents it in the legend."""

    @abstractmethod
    def _labels(self) -> dict[str, Any]:
        """Return the labels, scales and limits of the axes as keyword arguments of ``Axes.set``."""
