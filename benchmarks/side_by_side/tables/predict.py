"""Seconds to predict the training set, on the suite."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from side_by_side.agreement import differing
from side_by_side.libraries import Library
from side_by_side.report import Part, slower, times_table
from side_by_side.tasks import Predict

from .base import Table, measured_on_suite, provenance, settings

__all__ = ["PredictTable"]


class PredictTable(Table):
    """Milliseconds to predict the training examples of each of the eighteen sets."""

    name = "predict"
    help = "seconds to predict the training set, on the suite"

    def part(self, options: argparse.Namespace, libraries: Sequence[Library]) -> Part:
        """Measure."""
        how = settings(options, rounds=5)
        rows = measured_on_suite(Predict, options, libraries, how)
        sentences = [sentence for row in rows for sentence in differing(row)]
        agreement = " ".join(sentences) or "The libraries' predictions differ on at most 1 % of the examples."
        return Part(
            self.name,
            times_table(rows),
            f"The table shows milliseconds. {slower(rows)}",
            agreement,
            provenance(libraries, how),
        )
