"""What the scripts of this folder share: their arguments, the line of progress, and the page of tables they write."""

from __future__ import annotations

import argparse
import os
import platform
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path

from headlines import HEADING, with_headlines

import refsvm
from refsvm.experiment import Comparison, Experiment, Grid
from refsvm.experiment.grid import p_value, ratio_of
from refsvm.experiment.identity import computed_by

BENCHMARKS = Path(__file__).resolve().parents[1]
OWN_LINE = (
    "Sections that end with a line of commit and processor were measured by that commit; it has their load."
)
QUIET = 1.6
"""Load, as a mean of five minutes, below which a script with one process is not disturbed by the rest."""


def arguments(description: str, name: str, permutations: int, long: Sequence[str]) -> argparse.Namespace:
    """Read the command line of a script."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--data-dir", type=Path, help="the archives; by default the variable REFSVM_DATA")
    parser.add_argument("--permutations", type=int, default=permutations, help="orders of the examples")
    parser.add_argument(
        "--quick", action="store_true", help="a smoke test: seconds, not minutes; nothing written"
    )
    parser.add_argument(
        "--full",
        nargs="*",
        choices=long,
        metavar="SET",
        help=f"long sets as well: {', '.join(long)}; all by default",
    )
    parser.add_argument("--jobs", type=int, help="processes")
    parser.add_argument("--store", type=Path, help=f"finished runs; by default benchmarks/runs/{name}.sqlite")
    parser.add_argument("--output", type=Path, help=f"the page; by default docs/papers/{name}.md")
    parser.add_argument(
        "--only",
        nargs="+",
        metavar="HEADING",
        help="measure these sections; the page keeps its others as they stand",
    )
    chosen = parser.parse_args()
    chosen.full = list(long) if chosen.full == [] else chosen.full or []
    if chosen.store is None:
        (BENCHMARKS / "runs").mkdir(exist_ok=True)
        chosen.store = BENCHMARKS / "runs" / f"{name}.sqlite"
    if chosen.output is None and not chosen.quick:
        chosen.output = BENCHMARKS.parent / "docs" / "papers" / f"{name}.md"
    return chosen


def relative(comparison: Comparison, mean: bool = True) -> Grid:
    """Only the ratios to the baseline, with p in brackets; and, if wanted, a row with their geometric mean."""
    names = [name for name in comparison.strategies if name != comparison.baseline]
    rows = []
    for problem in comparison.problems:
        cells = [comparison.cells[problem, name] for name in names]
        rows.append((problem, *(f"{ratio_of(cell.ratio)} ({p_value(cell.p)})" for cell in cells)))
    if mean:
        rows.append(("geometric mean", *(ratio_of(comparison.geometric_mean(name)) for name in names)))
    return Grid(("problem", *names), tuple(rows))


def joined(grids: Sequence[Grid]) -> Grid:
    """Tables of the same columns, one below the other."""
    return replace(grids[0], rows=tuple(row for grid in grids for row in grid.rows))


def carried_out(title: str, experiment: Experiment, jobs: int | None) -> Experiment:
    """Carry out what is missing of an experiment, with a line of progress on stderr."""

    def tell(done: int, total: int) -> None:
        if done < total and not sys.stderr.isatty():
            return
        print(
            f"\r{title}: {done}/{total} runs", end="\n" if done == total else "", file=sys.stderr, flush=True
        )

    experiment.run(n_jobs=jobs, callback=tell)
    return experiment


def commit() -> str:
    """Return the commit of this repository, in brackets; "" without git."""
    command = ["git", "-C", str(BENCHMARKS), "rev-parse", "--short", "HEAD"]
    try:
        return (
            f" (commit {subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()})"
        )
    except (OSError, subprocess.CalledProcessError):
        return ""


@dataclass
class Page:
    """A page of Markdown: sections of text and tables.

    Parameters
    ----------
    title, script : str
        Heading, and the file that writes the page.
    chosen : Namespace
        The `arguments` of the script.
    """

    title: str
    script: str
    chosen: argparse.Namespace
    parts: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    load: float = 0.0

    def wants(self, heading: str) -> bool:
        """Whether a section, or several that begin alike, should be measured; if not, those of the page are kept."""
        only = getattr(self.chosen, "only", None)
        if not only or any(heading.startswith(each) for each in only):
            return True
        for title, text in self._sections():
            if title.startswith(heading) and title not in self.kept:
                self.parts.append(text)
                self.kept.append(title)
        return False

    def wants_the_rest(self) -> bool:
        """Whether all other sections should be measured; if not, those of the page are kept."""
        only = getattr(self.chosen, "only", None)
        if not only:
            return True
        there = {part.partition("\n")[0][3:] for part in self.parts}
        for title, text in self._sections():
            if title not in there and not any(title.startswith(each) for each in only):
                self.parts.append(text)
                self.kept.append(title)
        return False

    def keeps(self, heading: str) -> bool:
        """Whether the page has had that section, which then stays as it stands: what it needs is not here."""
        for title, text in self._sections():
            if title == heading:
                self.parts.append(text)
                self.kept.append(title)
                return True
        return False

    def _sections(self) -> list[tuple[str, str]]:
        """Return headings and texts of the page as it stands."""
        if self.chosen.output is None or not self.chosen.output.exists():
            return []
        texts = re.split(r"^(?=## )", self.chosen.output.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
        found = [(text.partition("\n")[0][3:], text.strip()) for text in texts]
        return [(title, text) for title, text in found if title != HEADING]

    def add(self, heading: str, *parts: str | Grid) -> None:
        """Add a section; print it too."""
        texts = [
            f"## {heading}",
            *(part.to_markdown() if isinstance(part, Grid) else part.strip() for part in parts),
        ]
        timed = any(re.search(r"\bseconds\b|\bCPU\b| \(s\)", text) for text in texts)
        if timed:  # taken in the minutes before
            self.load = max(self.load, os.getloadavg()[1])
        if any(isinstance(part, Grid) for part in parts):
            texts.append(self._stamp(timed))
        self.parts += filter(None, texts)
        print("\n\n".join(("", *filter(None, texts))), flush=True)

    def write(self) -> None:
        """Write the page, if a file is named, with the headlines of its paper at the top."""
        if self.chosen.output is not None:
            head = [f"# {self.title}", self._provenance()]
            text = with_headlines(self.chosen.output.stem, "\n\n".join([*head, *self.parts]) + "\n")
            self.chosen.output.write_text(text, encoding="utf-8")

    def _stamp(self, timed: bool) -> str:
        """Say where the figures of a section come from, on a line of its own."""
        load = f", load {max(os.getloadavg()[1], 1.0):.1f}" if timed else ""
        machine = f"{computed_by()['processor']}, one core of {os.cpu_count()}"
        return f"*refsvm {refsvm.__version__}{commit()}; {machine}{load}.*"

    def _busy(self) -> str:
        """Say what else the machine did: a load of one for each process is the script itself."""
        processes = self.chosen.jobs or 1
        at_once = f"{processes} runs at a time, " if processes > 1 else ""
        if self.load < QUIET + processes - 1:
            return f"{at_once}at a load of at most {max(self.load, 1.0):.1f}: read them beside each other"
        return f"{at_once}while other work was running (load {self.load:.1f}): read them as rough figures"

    def _provenance(self) -> str:
        """Say how the page came about."""
        options = ["--full", *self.chosen.full] if self.chosen.full else []
        versions = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "numba"))
        command = " ".join((self.script, *options))
        published = any(" there |" in part for part in self.parts)
        if self.kept:  # what it says of them still holds
            head = (
                self.chosen.output.read_text(encoding="utf-8").partition("\n## ")[0].split("\n", 1)[1].strip()
            )
            return head if OWN_LINE in head else f"{head} {OWN_LINE}"
        seconds = (
            f" Seconds were taken on one core of a shared machine with {os.cpu_count()} cores "
            f"({computed_by()['processor']}), {self._busy()}, and not against the published ones, which are from the "
            "computers of their time."
        )
        return (
            f"Written by `{command}` with refsvm {refsvm.__version__}{commit()}, Python {platform.python_version()}, "
            f"{versions}."
            f" Iterations, kernel rows and objectives come out the same again on the same processor."
            f"{seconds if self.load else ''} Means ± standard deviations are over the "
            "stated number of random orders of the examples, the same for every strategy; p is that of the paired "
            "two-sided Wilcoxon test. SV and BSV are support vectors and those at the bound C"
            f"{'; columns marked *there* hold the published figures' if published else ''}."
        )
