"""``refsvm warm-up``: compile everything ahead of time."""

from __future__ import annotations

import typer

import refsvm
from refsvm.core.engine.progress import Progress
from refsvm.services.line import line_of


def warm_up() -> None:
    """Compile all that refsvm compiles, once for each machine; other commands are fast from their first run on."""
    told = Progress("refsvm warm-up")
    with line_of(told, "auto"):
        seconds = refsvm.warm_up(told.begin)
    typer.echo(f"All of refsvm is compiled; it took {seconds:.1f} s.")
