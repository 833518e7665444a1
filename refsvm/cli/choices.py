"""Tables of the rules and engines that the command line accepts by name; `refsvm.services.names` lists the kernels.

Each table maps names to the classes of a folder. For instance, "hybrid-maximum-gain" is the name of the class
HybridMaximumGain. A rule in your own file is called FILE.py:NAME.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType
from typing import Any, Final

from refsvm.core import seeders, selectors, steps, stopping, trackers
from refsvm.core._checks import hint, positive
from refsvm.core.rounds.machine import CLASSIFICATION, NOVELTY, REGRESSION
from refsvm.core.rule import Rule, name_of, rules_in
from refsvm.experiment.own_rules import IN_FILE, rule_in_file


def _named(folder: ModuleType) -> dict[str, Any]:
    """Return a dict that maps names on the command line to the classes of the rules in a folder."""
    return dict(sorted((name_of(rule), rule) for rule in rules_in(folder)))


SELECTORS: Final = _named(selectors)
SEEDERS: Final = _named(seeders)
STEPS: Final = _named(steps)
STOPS: Final = _named(stopping)
TRACKERS: Final = _named(trackers)
TASKS: Final = dict.fromkeys((CLASSIFICATION, REGRESSION, NOVELTY))
ENGINES: Final[dict[str, str]] = {"numba": "the compiled loop", "numpy": "the readable loop"}


def one(option: str, name: str, table: Mapping[str, Any]) -> Any:
    """Return the entry of a table, or a user's rule named FILE.py:NAME; raise an error for an unknown name."""
    if name not in table and IN_FILE(name):
        return rule_in_file(option, name, _family(option, name, table))
    if name not in table:
        near = hint(name, table, f"choose from {', '.join(table)}.", shown=str)
        raise ValueError(f"{option}={name!r} is unknown; {near}")
    return table[name]


def _family(option: str, name: str, table: Mapping[str, Any]) -> type[Rule]:
    """Return the base class of a table's rules; raise an error if the table's entries are not rules."""
    lineage = getattr(next(iter(table.values())), "__mro__", ())
    if Rule not in lineage:
        raise ValueError(
            f"{option}={name!r}: this option takes no rule from a file; choose from {', '.join(table)}."
        )
    family: type[Rule] = lineage[lineage.index(Rule) - 1]
    return family


def names(option: str, text: str, table: Mapping[str, Any]) -> list[str]:
    """Return the names in a text such as "mvp,second-order"; "all" stands for all names of the table."""
    if text == "all":
        return list(table)
    wanted = list(dict.fromkeys(word.strip() for word in text.split(",")))
    for name in wanted:
        one(option, name, table)
    return wanted


def scale_or_number(text: str) -> str | float:
    """Return γ as a number, "scale" or "auto"."""
    if text in ("scale", "auto"):
        return text
    try:
        return positive("gamma", float(text))
    except ValueError:
        raise ValueError(f"gamma={text!r} is not a positive number; give a number, scale or auto.") from None
