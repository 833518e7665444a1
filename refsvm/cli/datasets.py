"""``refsvm datasets``: list the bundled data sets."""

from __future__ import annotations

from refsvm.cli import options
from refsvm.cli.data import Output
from refsvm.datasets import load, names

ENTRIES = ("name", "n", "d", "description", "source", "licence", "C", "gamma")
COLUMNS = {key: f"{{{key}}}" for key in ("name", "n", "d", "licence", "source")}


@options.in_one("plot")
def datasets(output: Output) -> None:
    """List the bundled data sets."""
    bundled = [{key: getattr(load(name), key) for key in ENTRIES} for name in names()]
    output.show_table(bundled, bundled, "Bundled data sets", COLUMNS)
