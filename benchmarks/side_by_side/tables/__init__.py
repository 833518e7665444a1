"""The tables of ``benchmarks/peers.py``, one file each.

To add one: write a file here with a task (what is timed: see `side_by_side.tasks`), the libraries
to compare if they are not those of `LIBRARIES`, and a `Table` whose ``part`` measures and lays out. Then add a line
below.
"""

from .base import Table
from .defaults import DefaultsTable
from .fit import FitTable
from .grid import GridTable
from .growth import GrowthTable
from .large import LargeTable
from .loo import LeaveOneOutTable
from .predict import PredictTable
from .regression import RegressionTable
from .shares import SharesTable

__all__ = ["TABLES", "Table"]

TABLES: tuple[Table, ...] = (
    FitTable(),
    PredictTable(),
    RegressionTable(),
    LargeTable(),
    GrowthTable(),
    SharesTable(),
    DefaultsTable(),
    LeaveOneOutTable(),
    GridTable(),
)
"""In the order in which they are measured."""
