"""The headline claims of each paper, answered by the figures in the tables of its page.

    python benchmarks/papers/headlines.py      write the first section of each page anew

Every figure of ours is read from the page, so the section is true of the tables below it, and `page.Page` writes it
with them. What the papers claim stands in `claims.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from claims import alpha_seeding, conjugate, leave_one_out, maximum_gain, planning_ahead, svmp
from page_tables import Answer, Tables

HEADING: Final = "The headlines"
CLAIMS: Final[dict[str, Callable[[Tables], Iterator[Answer]]]] = {
    each.__name__: each
    for each in (maximum_gain, planning_ahead, leave_one_out, alpha_seeding, svmp, conjugate)
}
"""By the name of the page."""

BASIS: Final = {
    "alpha_seeding": "All figures come from one random order of the examples, so the table has no standard deviations. "
    "Each time is the least time of three runs, but leave-one-out ran only once.",
    "conjugate": "All figures come from one order of the examples of each set. Each time is the least time of two "
    "runs. Each p comes from Wilcoxon's test with one value for each set.",
    "leave_one_out": "Each verdict states on how many realisations (random choices of the examples) it rests, and how "
    "uncertain it is.",
    "maximum_gain": "A figure without a number of orders comes from all orders that its table uses.",
    "planning_ahead": "A figure without a number of orders comes from all orders that its table uses.",
    "svmp": "All figures come from one random choice of the examples, so the table has no standard deviations.",
}
"""How many realisations the verdicts of a page rest on."""

PAGES: Final = Path(__file__).resolve().parents[2] / "docs" / "papers"


def section(name: str, text: str) -> str:
    """Return the section that answers the paper of this page, "" of a page without one or without its tables."""
    if name not in CLAIMS:
        return ""
    try:
        rows = list(CLAIMS[name](Tables(text)))
    except LookupError:
        return ""
    lines = [
        f"## {HEADING}", "",
        f"The table compares the paper's claims with the tables of this page. {BASIS[name]}",
        "", "| the paper | here | verdict |", "|:---|:---|:---|",
    ]  # fmt: skip
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])


def with_headlines(name: str, text: str) -> str:
    """Return the page with the section before its first one, in place of the one that it has."""
    bare = re.sub(rf"^## {HEADING}\n.*?(?=^## )", "", text, flags=re.MULTILINE | re.DOTALL)
    made = section(name, bare)
    return re.sub(r"^## ", lambda _: f"{made}\n\n## ", bare, count=1, flags=re.MULTILINE) if made else bare


if __name__ == "__main__":
    for name in CLAIMS:
        place = PAGES / f"{name}.md"
        place.write_text(with_headlines(name, place.read_text(encoding="utf-8")), encoding="utf-8")
