"""``refsvm datasets``: list the bundled data sets."""

from __future__ import annotations

from functools import partial
from typing import Any

import typer

from refsvm.cli import options, tables
from refsvm.cli.data import Output
from refsvm.datasets import load, names
from refsvm.datasets.bundled import GENERATED, GENERATED_N

ENTRIES = ("name", "n", "d", "description", "source", "licence", "C", "gamma")
COLUMNS = {key: f"{{{key}}}" for key in ("name", "n", "d", "licence", "source")}


@options.in_one("plot")
def datasets(output: Output) -> None:
    """List the bundled data sets."""
    bundled = [{key: getattr(load(name), key) for key in ENTRIES} for name in names()]
    output.show(bundled, bundled, partial(_tell, bundled))


def _tell(bundled: list[dict[str, Any]]) -> None:
    """Print a table of the bundled data sets, and the names of the generated data sets."""
    tables.print_table("Bundled data sets", COLUMNS, bundled)
    typer.echo(f"Generated, {GENERATED_N:,} examples each: {', '.join(GENERATED)}.")
