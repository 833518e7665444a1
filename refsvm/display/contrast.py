"""Contrast: chooses colours that stand out from their background in every style of Matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LEAST: Final = 3.0
"""Smallest contrast of text and curves, as the web guidelines WCAG 2.1 (1.4.11) require for graphics."""

SHADES: Final = 64
"""Number of steps from a colour to black or white."""


def contrast(one: Any, other: Any) -> float:
    """Return the ratio of the luminances of two colours, from 1 to 21, as WCAG 2.1 defines it.

    Examples
    --------
    >>> from refsvm.display.contrast import contrast
    >>> contrast("black", "white"), round(contrast("#777777", "white"), 2)
    (21.0, 4.48)
    """
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: Any) -> float:
    """Return the relative luminance of a colour."""
    from matplotlib.colors import to_rgb

    parts = np.array(to_rgb(colour))
    linear = np.where(parts <= 0.03928, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def mixed(one: Any, other: Any, share: float) -> tuple[float, float, float]:
    """Return the mixture of two colours in which the second colour has a given share.

    Examples
    --------
    >>> from refsvm.display.contrast import mixed
    >>> mixed("white", "black", 0.25)
    (0.75, 0.75, 0.75)
    """
    from matplotlib.colors import to_rgb

    red, green, blue = (1.0 - share) * np.array(to_rgb(one)) + share * np.array(to_rgb(other))
    return float(red), float(green), float(blue)


def ink(ground: Any) -> str:
    """Return "black" or "white", whichever stands out more from a background; this contrast is at least 4.5."""
    return max(("black", "white"), key=lambda colour: contrast(colour, ground))


def legible(colour: Any, *grounds: Any, alpha: float = 1.0) -> Any:
    """Return a colour, or its nearest shade that has enough contrast with all backgrounds.

    Parameters
    ----------
    colour : matplotlib colour
        The colour.
    *grounds : matplotlib colours
        The backgrounds. If no shade has enough contrast with all backgrounds, the function considers the first
        background alone.
    alpha : float
        Opacity with which the colour is drawn.

    Examples
    --------
    >>> from refsvm.display.contrast import contrast, legible
    >>> legible("#0072B2", "white")
    '#0072B2'
    >>> contrast(legible("#222222", "black"), "black") >= 3.0
    True
    """

    def suits(shade: Any, among: tuple[Any, ...]) -> bool:
        return all(contrast(mixed(ground, shade, alpha), ground) >= LEAST for ground in among)

    for among in (grounds, grounds[:1]):
        if suits(colour, among):
            return colour
        for step in range(1, SHADES + 1):
            for end in ("black", "white"):
                if suits(shade := mixed(colour, end, step / SHADES), among):
                    return shade
    return ink(grounds[0])


def made_legible(ax: Axes, before: set[Any]) -> None:
    """Recolour texts and new artists that do not stand out from the background of the axes.

    Parameters
    ----------
    ax : Axes
        The axes.
    before : set
        Artists that were on the axes before the drawing; they stay unchanged.
    """
    figure: Any = ax.figure
    page = _opaque(figure.get_facecolor(), "white")
    ground = _opaque(ax.get_facecolor(), page)
    for artist in set(ax.get_children()) - before:
        if artist.get_gid() != OWN_GROUND:
            _recolour(artist, ground)
    for words in (ax.title, ax._left_title, ax._right_title, ax.xaxis.label, ax.yaxis.label):  # type: ignore[attr-defined]
        words.set_color(legible(words.get_color(), page))
    for axis in (ax.xaxis, ax.yaxis):
        if labels := axis.get_ticklabels():
            axis.set_tick_params(which="both", labelcolor=legible(labels[0].get_color(), page))
    if (legend := ax.get_legend()) is not None:
        grounds: tuple[Any, ...] = ground, page
        if legend.get_frame_on():
            grounds = (_opaque(legend.get_frame().get_facecolor(), ground),)
        for text in (*legend.get_texts(), legend.get_title()):
            text.set_color(legible(text.get_color(), *grounds))
        for handle in legend.legend_handles:
            if handle is not None and handle.get_alpha() is None:
                _recolour(handle, ground)


OWN_GROUND: Final = "refsvm: on a ground of its own"
"""Marks an artist that has its own background, such as a number in a cell."""


def _opaque(colour: Any, behind: Any) -> tuple[float, float, float]:
    """Return the colour that is visible where a translucent colour lies in front of another colour."""
    from matplotlib.colors import to_rgba

    rgba = to_rgba(colour)
    return mixed(behind, rgba[:3], rgba[3])


def _recolour(artist: Any, ground: Any) -> None:
    """Recolour a line, markers, a text or a histogram's outline where it does not stand out from the background."""
    from matplotlib.collections import Collection
    from matplotlib.lines import Line2D
    from matplotlib.patches import Polygon
    from matplotlib.text import Text

    if isinstance(artist, Line2D):
        _recolour_line(artist, ground)
    elif isinstance(artist, Text):
        artist.set_color(legible(artist.get_color(), ground))
    elif isinstance(artist, Collection) and artist.get_array() is None:
        faces, edges = artist.get_facecolor(), artist.get_edgecolor()
        if len(faces):
            artist.set_facecolor([legible(each[:3], ground) for each in np.atleast_2d(faces)])
        if len(edges):
            artist.set_edgecolor([legible(each[:3], ground) for each in np.atleast_2d(edges)])
    elif isinstance(artist, Polygon) and artist.get_alpha() is None:
        if artist.get_fill():
            artist.set_facecolor(legible(artist.get_facecolor()[:3], ground))
        artist.set_edgecolor(legible(artist.get_edgecolor()[:3], ground))


def _recolour_line(line: Any, ground: Any) -> None:
    """Change the colour of a line so that it stands out; make the line opaque if no colour suffices."""
    alpha = 1.0 if line.get_alpha() is None else float(line.get_alpha())
    colour = line.get_color()
    shade = legible(colour, ground, alpha=alpha)
    if contrast(mixed(ground, shade, alpha), ground) < LEAST:
        line.set_alpha(None)
        shade = legible(colour, ground)
    if shade is not colour:
        line.set_color(shade)
