"""refsvm alone: what another default would change."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from side_by_side.libraries import DEFAULTS, Library
from side_by_side.report import Part, defaults_table, objectives
from side_by_side.tasks import Fit

from .base import Table, measured_on_suite, provenance, settings

__all__ = ["DefaultsTable"]


class DefaultsTable(Table):
    """refsvm with one default changed at a time."""

    name = "defaults"
    help = "refsvm alone: what another default would change"

    def part(self, options: argparse.Namespace, libraries: Sequence[Library]) -> Part:
        """Measure."""
        how = settings(options, rounds=3)
        rows = measured_on_suite(Fit, options, DEFAULTS, how)
        return Part(self.name, defaults_table(rows), objectives(rows), provenance(DEFAULTS[:1], how))
