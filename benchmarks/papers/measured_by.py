"""The line at the end of a section with tables: version and commit of refsvm, processor and load that measured them.

    python benchmarks/papers/measured_by.py      give the sections without a complete line that of their history

`page.Page` ends each section that it measures with such a line. A section that was measured before pages had lines gets
it from the history of its page: from the oldest revision with its tables, whose head told version, processor and load
of the whole page.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from headlines import HEADING

import refsvm
from refsvm.experiment.identity import computed_by

ROOT: Final = Path(__file__).resolve().parents[2]
PAGES: Final = ROOT / "docs" / "papers"
WITHOUT: Final = ("code", "index")
"""Pages of this folder that measure nothing."""
COUNTS: Final = "counts, which no load changes"
LINE: Final = re.compile(
    r"^\*Measured by refsvm \S+ \(commit \w+\) on [^;\n]+, one core of \d+(, load (of at most )?\d+\.\d+|; "
    + COUNTS
    + r")"
    r"( \(from the head of the page of (that commit|commit \w+)\))?\.\*\Z",
    flags=re.MULTILINE,
)
SHORT: Final = re.compile(
    r"^(\*Measured by refsvm \S+ \(commit \w+\) on [^;\n]+, one core of \d+)\.\*\Z", flags=re.MULTILINE
)
"""The line of a section without seconds, as it was before it told the load."""


def line() -> str:
    """Return the line of a section that is measured now; the load is the mean of the last five minutes."""
    load = max(os.getloadavg()[1], 1.0)  # a load of one is the script itself
    machine = f"{computed_by()['processor']}, one core of {os.cpu_count()}"
    return f"*Measured by refsvm {refsvm.__version__} (commit {commit()}) on {machine}, load {load:.1f}.*"


def commit() -> str:
    """Return the commit of this repository; "unknown" without git."""
    try:
        return _git("rev-parse", "--short", "HEAD").strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def sections(text: str) -> dict[str, str]:
    """Return the sections of a page by their headings, without the headlines, whose figures are those of the others."""
    texts = re.split(r"^## ", text, flags=re.MULTILINE)[1:]
    found = {each.partition("\n")[0].strip(): f"## {each.strip()}" for each in texts}
    return {heading: text for heading, text in found.items() if heading != HEADING}


def cells(text: str) -> list[list[str]]:
    """Return the rows of all tables of a text, however wide their columns are."""
    rows = [row for row in text.splitlines() if row.startswith("|") and not set(row) <= set("|-: ")]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]


def line_of(text: str) -> str:
    """Return the complete line at the end of a section, "" if there is none."""
    found = LINE.search(text)
    return found[0] if found else ""


def from_history(page: Path, heading: str, text: str) -> str:
    """Return the line of a section that has none, or none with the load, by the revisions of its page."""
    short = SHORT.search(text)
    if short and not timed(text):
        return f"{short[1]}; {COUNTS}.*"
    for revision, head in _heads(page, heading, text):
        told = re.search(r"with refsvm ([^\s,]+)(?: \(commit (\w+)\))?", head)
        machine = re.search(r"with (\d+) cores \((.*?)\), .*?\b(load (?:of at most )?\d+\.\d+)", head)
        if told and machine:
            where = "that commit" if told[2] in (None, revision) else f"commit {revision}"
            code, core = f"refsvm {told[1]} (commit {told[2] or revision})", f"one core of {machine[1]}"
            source = f"(from the head of the page of {where})"
            return f"*Measured by {code} on {machine[2]}, {core}, {machine[3]} {source}.*"
    raise LookupError(f"no revision of {page.name} tells what measured “{heading}”")


def timed(text: str) -> bool:
    """Whether a section has seconds."""
    return any(
        re.search(r"\bseconds\b|\bCPU\b|\(s\)", row) for row in text.splitlines() if row.startswith("|")
    )


def _heads(page: Path, heading: str, text: str) -> Iterator[tuple[str, str]]:
    """Yield the revisions that have the tables of a section, oldest first, and their heads that speak of it."""
    place, found = page.relative_to(ROOT).as_posix(), []
    for revision in _git("log", "--format=%h", "--", place).split():
        there = _git("show", f"{revision}:{place}")
        if cells(sections(there).get(heading, "")) != cells(text):
            break
        head = there.partition("\n## ")[0].replace("\n", " ")
        kept = re.search(r"Kept from .*?\)\.", head)
        if not kept or heading not in kept[0]:
            found.append((revision, head))
    yield from reversed(found)


def _git(*words: str) -> str:
    """Return what git prints."""
    done = subprocess.run(["git", "-C", str(ROOT), *words], check=True, capture_output=True, text=True)
    return done.stdout


def completed(page: Path) -> str:
    """Return the page with a line in every section that has tables."""
    text = page.read_text(encoding="utf-8")
    for heading, section in sections(text).items():
        if cells(section) and not line_of(section):
            body = SHORT.sub("", section).strip()
            text = text.replace(section, f"{body}\n\n{from_history(page, heading, section)}")
    return text


if __name__ == "__main__":
    for each in sorted(PAGES.glob("*.md")):
        if each.stem not in WITHOUT:
            each.write_text(completed(each), encoding="utf-8")
