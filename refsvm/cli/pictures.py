"""Plots for ``--plot``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from refsvm.services.files import written_whole


@contextmanager
def picture(file: Path, rows: int = 1) -> Iterator[Any]:
    """Yield axes to draw on, one below the other, and write them to a file.

    Raises
    ------
    ValueError
        If matplotlib cannot write this kind of file.
    """
    import matplotlib as mpl

    # use a backend that draws to files and needs no display, as on a server
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
        # matplotlib keeps figures in memory until they are closed
        plt.close(figure)


def bars(
    file: Path,
    names: Sequence[str],
    parts: Mapping[str, Sequence[float]],
    label: str,
    notes: Sequence[str] = (),
) -> None:
    """Draw a bar for each name, with its parts side by side from the left and notes above."""
    from refsvm.display import BarDisplay

    with picture(file) as axes:
        BarDisplay(tuple(names), parts, label, tuple(notes)).plot(axes[0])
