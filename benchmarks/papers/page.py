"""What the scripts of this folder share: their arguments, the line of progress, and the page of tables they write."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from headlines import with_headlines
from measured_by import cells, line, line_of, sections

from refsvm.core.engine.progress import Progress
from refsvm.experiment import Comparison, Experiment, Grid
from refsvm.experiment.grid import p_value, ratio_of

BENCHMARKS = Path(__file__).resolve().parents[1]
LINES = (
    "[A list](index.md#how-long-each-command-takes) shows how many minutes the script takes. The line below",
    "each table states the mean load of the machine over five minutes; the script alone causes a load of 1.0.",
)
READS = {
    "seconds": "We measured seconds on one core of a shared machine; a high load makes the seconds inaccurate. Compare "
    "the seconds within a table, not with the published seconds of older computers.",
    "±": "Each ± shows a standard deviation over random orders or random choices of the examples; the page "
    "states how many. All strategies use the same orders and choices. All p values come from the paired two-sided "
    "Wilcoxon test. For a claim about several sets we adjust p by Holm's method. A difference that is not significant "
    "may still exist.",
    "SV ": "The column SV counts all support vectors, and the column BSV the support vectors at the bound C.",
    " there |": "Columns marked *there* show the published figures.",
}
"""What the head of a page says, by a sign that its sections have."""
NEW = {"runs": 0}
"""Runs that were carried out since the last section, and not read from the store."""


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

    def tell(at: Progress) -> None:
        is_last = at.done == at.total
        if is_last or sys.stderr.isatty():
            end = "\n" if is_last else ""
            print(f"\r{title}: {at.done}/{at.total} runs", end=end, file=sys.stderr, flush=True)

    NEW["runs"] += experiment.run(n_jobs=jobs, callback=tell, progress=False)
    return experiment


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

    def keeps(self, heading: str) -> bool:
        """Whether the page has had that section, which then stays as it stands: what it needs is not here."""
        for title, text in self._sections():
            if title == heading:
                self.parts.append(text)
                self.kept.append(title)
                return True
        return False

    def says(self, heading: str, words: str) -> bool:
        """Whether the page as it stands has these words in a section."""
        return words in dict(self._sections()).get(heading, "")

    def _sections(self) -> list[tuple[str, str]]:
        """Return headings and texts of the page as it stands."""
        if self.chosen.output is None or not self.chosen.output.exists():
            return []
        return list(sections(self.chosen.output.read_text(encoding="utf-8")).items())

    def add(self, heading: str, *parts: str | Grid) -> None:
        """Add a section, with the line of what measured its tables; print it too."""
        texts = [
            f"## {heading}",
            *(part.to_markdown() if isinstance(part, Grid) else part.strip() for part in parts),
        ]
        self._tell_lost(heading, "\n\n".join(texts))
        if any(isinstance(part, Grid) for part in parts):
            texts.append(self._line(heading, "\n\n".join(texts)))
        self.parts += texts
        print("\n\n".join(("", *texts)), flush=True)

    def _tell_lost(self, heading: str, text: str) -> None:
        """Say which rows the page had in this section that are not in its tables any more."""
        before, now = (
            [row[0] for row in cells(each)] for each in (dict(self._sections()).get(heading, ""), text)
        )
        lost = [name for name in dict.fromkeys(before) if name not in now]
        if lost:
            print(
                f"{heading}: the page had {', '.join(lost)}; --full names sets to measure.", file=sys.stderr
            )

    def _line(self, heading: str, text: str) -> str:
        """Return the line of now if something was measured, or else that of the same tables on the page."""
        there, measured = dict(self._sections()).get(heading, ""), NEW["runs"]
        NEW["runs"] = 0
        return (line_of(there) if not measured and cells(there) == cells(text) else "") or line()

    def write(self) -> None:
        """Write the page, if a file is named, with the headlines of its paper at the top."""
        if self.chosen.output is not None:
            if getattr(self.chosen, "only", None):
                self._put_back()
            head = [f"# {self.title}", self._head()]
            text = with_headlines(self.chosen.output.stem, "\n\n".join([*head, *self.parts]) + "\n")
            self.chosen.output.write_text(text, encoding="utf-8")

    def _put_back(self) -> None:
        """Keep the sections that were not asked for, and that the script has not come to, where they stand."""
        text = "\n\n".join(self.parts)
        before, there, last = re.split(r"(?m)^## ", text)[0].strip(), list(sections(text).items()), -1
        for heading, kept in self._sections():
            places = [place for place, (written, _) in enumerate(there) if written == heading]
            if places:
                last = places[0]
            elif not self.wants(heading):
                last += 1
                there.insert(last, (heading, kept))
        self.parts = [*filter(None, [before]), *(section for _, section in there)]

    def _head(self) -> str:
        """Say how the page came about, and how its tables are read."""
        text = "\n\n".join(self.parts)
        said = [words for sign, words in READS.items() if sign in text]
        return " ".join([f"The script `{self.script}` writes this page.", *LINES, *said])
