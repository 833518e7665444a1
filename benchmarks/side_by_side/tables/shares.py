"""refsvm alone: which part of the work takes which share of the seconds."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from side_by_side.libraries import Library
from side_by_side.report import Part, shares_table
from side_by_side.watching import Watch

from .base import Table, measured_on_suite, provenance, settings

__all__ = ["SharesTable"]


class SharesTable(Table):
    """Where the seconds of refsvm go."""

    name = "shares"
    help = "refsvm alone: which part of the work takes which share of the seconds"

    def part(self, options: argparse.Namespace, libraries: Sequence[Library]) -> Part:
        """Measure."""
        how = settings(options, rounds=3)
        rows = measured_on_suite(Watch, options, libraries[:1], how)
        return Part(self.name, shares_table(rows), provenance(libraries[:1], how))
