"""Seconds to fit against n and d."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from side_by_side.growth import Growth, plotted
from side_by_side.libraries import Library
from side_by_side.problems import FAMILIES
from side_by_side.report import PLACE, Part, growth_tables, objectives
from side_by_side.round_robin import RoundRobin
from side_by_side.tasks import Fit

from .base import Table, provenance, settings

__all__ = ["GrowthTable"]

SIZES, DIMENSIONS = (1000, 2000, 5000, 10_000, 20_000, 50_000), (2, 8, 32, 128, 512)


class GrowthTable(Table):
    """Seconds to fit problems of growing size, with fitted exponents and a plot."""

    name = "growth"
    help = "seconds to fit against n and d"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the sizes."""
        parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="n, for --growth")
        parser.add_argument("--dimensions", type=int, nargs="*", default=DIMENSIONS, help="d, for --growth")

    def part(self, options: argparse.Namespace, libraries: Sequence[Library]) -> Part:
        """Measure, and draw if the page is written."""
        how = settings(options, rounds=3)
        growths = []
        for (family, variable), make in FAMILIES.items():
            sizes = options.sizes if variable == "n" else options.dimensions
            if not sizes or (options.only and family not in options.only):
                continue
            with RoundRobin(libraries, how) as turns:
                rows = [turns.measure(Fit, make(size)) for size in sizes]
            growths.append(Growth(family, variable, rows))
        rows = [row for growth in growths for row in growth.rows]
        picture = ""
        if options.write:
            options.write.mkdir(parents=True, exist_ok=True)
            plotted(growths, options.write / "growth.png")
            picture = f"![Seconds to fit against size]({PLACE.parent.name}/{PLACE.name}/growth.png)"
        return Part(self.name, picture, growth_tables(growths), objectives(rows), provenance(libraries, how))
