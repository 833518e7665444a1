"""The tables of ``benchmarks/peers.py``, one file each.

To add one, say ``--loo``: write ``tables/loo.py`` with a task (what is timed: see `side_by_side.tasks`), the libraries
to compare if they are not those of `LIBRARIES`, and a `Table` whose ``part`` measures and lays out. Then add a line
below.
"""

from .base import Table
from .defaults import DefaultsTable
from .fit import FitTable
from .growth import GrowthTable
from .large import LargeTable
from .predict import PredictTable
from .shares import SharesTable

__all__ = ["TABLES", "Table"]

TABLES: tuple[Table, ...] = (
    FitTable(),
    PredictTable(),
    LargeTable(),
    GrowthTable(),
    SharesTable(),
    DefaultsTable(),
)
"""In the order in which they are measured."""
