"""``refsvm warm-up``: compiles refsvm ahead of time."""

from __future__ import annotations

import typer

import refsvm
from refsvm.core.engine.progress import Progress
from refsvm.services.line import line_of


def warm_up() -> None:
    """Compile all code of refsvm, once on each computer, so that the first run of each command is fast."""
    line = Progress("refsvm warm-up")
    with line_of(line, "auto"):
        seconds = refsvm.warm_up(line.begin)
    typer.echo(f"All of refsvm is compiled; it took {seconds:.1f} s.")
