"""Draws the plots of ``--plot`` and writes them to a file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from refsvm.services.files import written_whole


@contextmanager
def picture(file: Path, rows: int = 1) -> Iterator[Any]:
    """Yield axes, one below the other, for the block to draw on, and then write the picture to a file.

    Raises
    ------
    ValueError
        If matplotlib cannot write a file with this ending.
    """
    import matplotlib as mpl

    # choose a backend that draws to files, because a server has no display
    mpl.use("agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(rows, 1, figsize=(8, 4 * rows), squeeze=False, layout="constrained")
    try:
        yield axes[:, 0]
        kind = file.suffix[1:] or mpl.rcParams["savefig.format"]
        with written_whole(file.with_suffix(f".{kind}")) as stream:
            figure.savefig(stream, format=kind)
    except ValueError as error:
        raise ValueError(f"plot={str(file)!r} cannot be written: {error}.") from None
    finally:
        # close the figure, which matplotlib would otherwise keep in memory
        plt.close(figure)


def bars(
    file: Path,
    names: Sequence[str],
    parts: Mapping[str, Sequence[float]],
    label: str,
    notes: Sequence[str] = (),
) -> None:
    """Draw a horizontal bar for each name, divided into parts from left to right; write notes above the bars."""
    from refsvm.display import BarDisplay

    with picture(file) as axes:
        BarDisplay(tuple(names), parts, label, tuple(notes)).plot(axes[0])
