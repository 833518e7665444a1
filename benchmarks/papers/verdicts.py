"""What the tests of several sets say together: the verdicts of the pages.

A page asks one thing of many sets, such as whether a strategy is slower, and has one p for each. Of eighteen p that
mean nothing one is below 0.05 more often than not. So the sets within one claim are a family, and their p are adjusted
by Holm's method. A difference that is not significant is not shown to be none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import Final

from page_tables import Tables, geometric, number

from refsvm.experiment import Comparison, holm, paired_p
from refsvm.experiment.comparison import least_p
from refsvm.experiment.grid import p_value

LEVEL: Final = 0.05
"""At most this often one set or more of a family is called significant by chance."""

FIFTH: Final = 0.2
"""Numbers of events that differ from the paper's by at most this share of it are called near."""


@dataclass(frozen=True)
class Family:
    """The sets within one claim: a ratio to the baseline for each, and the p of its difference as it is printed.

    Attributes
    ----------
    ratio, p : mapping of str to float
        By set. A ratio above 1 is more than the baseline. Sets without p, of which there is one order, have no test.
    orders : int
        Orders of the examples from which each p is, of the set that has most.
    """

    ratio: Mapping[str, float]
    p: Mapping[str, float]
    orders: int

    @classmethod
    def of_table(cls, page: Tables, section: str, ratio: str, p: str = "p", table: int = 0) -> Family:
        """Return the family of two columns of a page."""
        columns = (page.column(section, name, table) for name in (ratio, p))
        return cls(*columns, page.orders(section))

    @classmethod
    def of_cells(cls, page: Tables, section: str, column: str, table: int = 0) -> Family:
        """Return the family of a column of ratios with p in brackets."""
        cells = {next(iter(row.values())): row[column] for row in page.rows(section, table)}
        ratio = {name: number(cell) for name, cell in cells.items()}
        return cls(
            ratio, {name: number(cell.split("(")[1]) for name, cell in cells.items()}, page.orders(section)
        )

    @classmethod
    def of_runs(cls, compared: Comparison, strategy: str, orders: int) -> Family:
        """Return the family of the sets of a comparison, with ratios and p as a table prints them."""
        cells = {name: compared.cells[name, strategy] for name in compared.problems}
        return cls(
            {name: cell.ratio for name, cell in cells.items() if cell.ratio is not None},
            {name: number(p_value(cell.p)) for name, cell in cells.items() if cell.p is not None},
            orders,
        )

    @property
    def adjusted(self) -> dict[str, float]:
        """The p of each set, adjusted by Holm's method for being one of so many."""
        return holm(self.p)

    @property
    def less(self) -> list[str]:
        """The sets that are significantly below the baseline."""
        return [name for name in self._sure() if self.ratio[name] < 1.0]

    @property
    def more(self) -> list[str]:
        """The sets that are significantly above the baseline."""
        return [name for name in self._sure() if self.ratio[name] > 1.0]

    @property
    def higher(self) -> list[str]:
        """The sets whose mean is above the baseline, significantly or not."""
        return [name for name, ratio in self.ratio.items() if ratio > 1.0]

    @property
    def can_show(self) -> bool:
        """Whether so many orders can show anything of so many sets: by the smallest p that there is."""
        return bool(self.p) and least_p(self.orders) * len(self.p) < LEVEL

    @property
    def together(self) -> float:
        """The p of all sets together: of the logarithms of their ratios, one for each set."""
        return 1.0 if len(self.ratio) < 2 else across(list(self.ratio.values()))

    def _sure(self) -> list[str]:
        adjusted = self.adjusted
        return [name for name in self.p if adjusted[name] < LEVEL]

    def within(self) -> str:
        """Say which correction was made, and that nothing could be shown if that is so."""
        if not self.p:
            return "one order has no p"
        words = f"Holm's method for {len(self.p)} sets, {self.orders} orders of the examples"
        return (
            words
            if self.can_show
            else f"{words}, which can show nothing: p is at least {least_p(self.orders):.2g}"
        )


def across(ratios: Sequence[float]) -> float:
    """Return the p of ratios, one for each set: Wilcoxon's signed-rank test of their logarithms."""
    p = paired_p([log(ratio) for ratio in ratios], [0.0] * len(ratios))
    return 1.0 if p is None else p


def in_all(family: Family) -> str:
    """Say the geometric mean of the ratios of a family, with the p of all sets together."""
    mean, p = geometric(list(family.ratio.values())), p_value(family.together)
    return (
        f"{mean:.3f} times in the geometric mean (p {p if p.startswith('<') else f'= {p}'} across the sets)"
    )


def never_more(family: Family, what: str) -> str:
    """Return the verdict on "it is never more": that no difference is significant does not show it."""
    if family.more:
        return f"does not hold: significantly {what} on {', '.join(family.more)}"
    if not family.ratio or family.higher:
        return f"open: it is significantly {what} on no set, which does not show that it is never {what}"
    return "holds: no mean is higher"


def either_way(family: Family, less: str, more: str) -> str:
    """Return the verdict on "now more, now less": differences of one direction alone are not that."""
    if not family.less and not family.more:
        return "is open: significantly different on no set"
    verdict = "holds" if family.less and family.more else "does not hold"
    return f"{verdict}: significantly {less} on {listed(family.less)}, {more} on {listed(family.more)}"


def near(here: Mapping[str, float], there: Mapping[str, float], share: float) -> list[str]:
    """Return the sets on which a figure of ours is that of the paper to such a share of it."""
    return [name for name in here if abs(here[name] - there[name]) <= share * abs(there[name])]


def listed(names: Sequence[str]) -> str:
    """Return names as a sentence has them."""
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]])) or "none"
