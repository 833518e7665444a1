"""``refsvm warm-up``: compile everything ahead of time."""

from __future__ import annotations

import typer

import refsvm
from refsvm.cli import tables


def warm_up() -> None:
    """Compile all that refsvm compiles, once for each machine; other commands are fast from their first run on."""
    with tables.working() as show:
        seconds = refsvm.warm_up(show)
    typer.echo(f"All of refsvm is compiled; it took {seconds:.1f} s.")
