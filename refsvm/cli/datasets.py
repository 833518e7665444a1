"""``refsvm datasets``: list the bundled data sets."""

from __future__ import annotations

from refsvm.cli import options, tables
from refsvm.datasets import load, names

__all__ = ["datasets"]

COLUMNS = ("name", "n", "d", "description", "source", "licence", "C", "gamma")


def datasets(json: options.Json = False) -> None:
    """List the bundled data sets."""
    bundled = [load(name) for name in names()]
    if json:
        tables.print_json([{key: getattr(dataset, key) for key in COLUMNS} for dataset in bundled])
    else:
        tables.datasets_table(bundled)
