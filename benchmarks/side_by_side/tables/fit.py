"""Seconds to fit, on the suite."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path

from side_by_side.libraries import Library
from side_by_side.problems import ringnorm_in, store
from side_by_side.report import Part, objectives, slower, times_table
from side_by_side.tasks import FirstFit, Fit
from side_by_side.worker import Stopped, Worker

from .base import Table, measured_on_suite, provenance, settings

__all__ = ["FitTable"]


class FitTable(Table):
    """Milliseconds to fit each of the eighteen sets, best and first, and seconds of the first fit of a process."""

    name = "fit"
    help = "seconds to fit, on the suite"

    def part(self, options: argparse.Namespace, libraries: Sequence[Library]) -> Part:
        """Measure."""
        how = settings(options, rounds=5)
        rows = measured_on_suite(Fit, options, libraries, how)
        return Part(
            self.name,
            times_table(rows),
            f"The table shows milliseconds of each library's fastest turn. {slower(rows)}",
            times_table(rows, "first"),
            "The table shows milliseconds of the first fit of each process on the set, with compiled code loaded.",
            objectives(rows),
            first_fits(libraries[0]),
            provenance(libraries, how),
        )


def first_fits(library: Library) -> str:
    """Return a sentence: seconds of the first fit of a process, before anything is compiled and after."""
    seconds = []
    with tempfile.TemporaryDirectory() as directory, tempfile.TemporaryDirectory() as compiled:
        problem = store(ringnorm_in(20, n=500), Path(directory))
        for _ in range(2):
            with Worker(library, environment={"NUMBA_CACHE_DIR": compiled}) as worker:
                answer = worker.ask(FirstFit, problem, 100.0)
            seconds.append(answer.reason if isinstance(answer, Stopped) else f"{answer.seconds:.2g} s")
    return (
        f"The tables leave out the first fit of {library.name} after installation ({seconds[0]}) and the first fit "
        f"of any later process ({seconds[1]}, including imports)."
    )
