"""Seconds and peak memory on large problems; finished rows are kept, so they may be measured one by one."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from side_by_side.libraries import Library
from side_by_side.problems import chosen, drawn, large
from side_by_side.report import Part, large_table, objectives, slower
from side_by_side.round_robin import RoundRobin
from side_by_side.store import keep, kept
from side_by_side.tasks import Fit

from .base import Table, provenance, settings

__all__ = ["LargeTable"]

RUNS = Path(__file__).resolve().parents[2] / "runs" / "large.json"


class LargeTable(Table):
    """Seconds and gigabytes to fit large problems; rows measured in earlier calls are shown too."""

    name = "large"
    help = "seconds and peak memory on large problems, each in a process of its own"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the file with the finished rows."""
        parser.add_argument(
            "--store", type=Path, default=RUNS, help="where finished rows of --large are kept"
        )

    def part(self, options: argparse.Namespace, libraries: Sequence[Library]) -> Part:
        """Measure."""
        how = settings(options, rounds=1, cache_mb=2000.0, fresh=True)
        usual = large(options.data_dir)
        problems = usual + drawn()
        for problem in chosen(problems, options.only or [each.name for each in usual]):
            with RoundRobin(libraries, how) as turns:
                keep(options.store, turns.measure(Fit, problem.load()))
        finished = kept(options.store)
        rows = [finished[problem.name] for problem in problems if problem.name in finished]
        return Part(self.name, large_table(rows), slower(rows), objectives(rows), provenance(libraries, how))
