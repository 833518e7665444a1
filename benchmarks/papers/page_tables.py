"""The tables of a page, read back as numbers."""

from __future__ import annotations

import re
from math import exp, log
from typing import NamedTuple


class Answer(NamedTuple):
    """What a paper claims, what is found here, and whether that holds."""

    claim: str
    here: str
    verdict: str


class Tables:
    """The tables of a page, by the first words of their section."""

    def __init__(self, text: str) -> None:
        parts = re.split(r"^## ", text, flags=re.MULTILINE)[1:]
        self.sections = {part.partition("\n")[0]: part for part in parts}

    def has(self, section: str) -> bool:
        """Whether the page has a section that begins so."""
        return any(each.startswith(section) for each in self.sections)

    def text(self, section: str) -> str:
        """Return the text of the first section that begins so, its lines joined."""
        heading = next((each for each in self.sections if each.startswith(section)), section)
        return " ".join(self.sections[heading].split())

    def rows(self, section: str, table: int = 0) -> list[dict[str, str]]:
        """Return the rows of a table by the names of its columns; the n-th column of one name is `name:n`."""
        heading = next((each for each in self.sections if each.startswith(section)), section)
        found = re.findall(r"(?:^\|.*\n?)+", self.sections[heading], flags=re.MULTILINE)[table]
        lines = [[cell.strip() for cell in line.strip()[1:-1].split("|")] for line in found.splitlines()]
        head, body = lines[0], lines[2:]
        names = [
            f"{name}:{head[:i].count(name)}" if name in head[:i] else name for i, name in enumerate(head)
        ]
        return [dict(zip(names, row, strict=True)) for row in body if row[0] != "geometric mean"]

    def column(self, section: str, name: str, table: int = 0, part: int = 0) -> dict[str, float]:
        """Return the numbers of a column by the first cell of their row: of "here / there" cells one part."""
        return {
            next(iter(row.values())): number(row[name].split(" / ")[part])
            for row in self.rows(section, table)
            if row[name] not in {"", "–", "—"}
        }

    def orders(self, section: str) -> int:
        """Return over how many random orders a section says that its figures are."""
        heading = next(each for each in self.sections if each.startswith(section))
        found = re.search(r"(\d+) orders", self.sections[heading])
        return int(found[1]) if found else 1


def number(cell: str) -> float:
    """Return the first number of a cell."""
    found = re.search(r"-?[\d,]+(?:\.\d+)?(?:e-?\d+)?", cell)
    if found is None:
        raise ValueError(f"{cell!r} has no number.")
    return float(found[0].replace(",", ""))


def holds(condition: bool, words: str = "") -> str:
    """Return the verdict."""
    return f"{'holds' if condition else 'does not hold'}{words}"


def percent(share: float) -> str:
    """Return a share in per cent."""
    return f"{100 * share:.0f} %"


def mean(values: list[float]) -> float:
    """Return the arithmetic mean."""
    return sum(values) / len(values)


def geometric(values: list[float]) -> float:
    """Return the geometric mean."""
    return exp(mean([log(value) for value in values]))
