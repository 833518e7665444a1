"""Where a display is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["axes_for"]


def axes_for(display: object, ax: Axes | None) -> Axes:
    """Return `ax`, or the axes of a new figure.

    Parameters
    ----------
    display : object
        What is to be drawn, for the message.
    ax : matplotlib Axes or None

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ImportError
        If matplotlib is not installed.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from refsvm.display.canvas import axes_for
    >>> axes = plt.figure().add_subplot()
    >>> axes_for("anything", axes) is axes
    True
    """
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError(
            f"{type(display).__name__} needs matplotlib; install it with pip install 'refsvm[plot]'."
        ) from None
    return plt.subplots(layout="constrained")[1] if ax is None else ax
