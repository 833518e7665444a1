"""The names on the command line, one table each; that of the kernels is `refsvm.services.names`.

The rules are those that their rooms register: HybridMaximumGain is hybrid-maximum-gain, NewtonStep newton. One of
yours is FILE.py:NAME, a class.
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


def _named(room: ModuleType) -> dict[str, Any]:
    """Return the rules of a room by their names on the command line."""
    return dict(sorted((name_of(rule), rule) for rule in rules_in(room)))


SELECTORS: Final = _named(selectors)
SEEDERS: Final = _named(seeders)
STEPS: Final = _named(steps)
STOPS: Final = _named(stopping)
TRACKERS: Final = _named(trackers)
TASKS: Final = dict.fromkeys((CLASSIFICATION, REGRESSION, NOVELTY))
ENGINES: Final[dict[str, str]] = {"numba": "the compiled loop", "numpy": "the readable loop"}


def one(option: str, name: str, table: Mapping[str, Any]) -> Any:
    """Return the entry of a table, or a rule of the user by FILE.py:NAME; refuse a name that is neither."""
    if name not in table and IN_FILE(name):
        return rule_in_file(option, name, _family(option, name, table))
    if name not in table:
        near = hint(name, table, f"choose from {', '.join(table)}.", shown=str)
        raise ValueError(f"{option}={name!r} is unknown; {near}")
    return table[name]


def _family(option: str, name: str, table: Mapping[str, Any]) -> type[Rule]:
    """Return the base of the rules of a table; refuse a rule of yours where a table has none."""
    lineage = getattr(next(iter(table.values())), "__mro__", ())
    if Rule not in lineage:
        raise ValueError(
            f"{option}={name!r}: no {option} of yours can be given; choose from {', '.join(table)}."
        )
    family: type[Rule] = lineage[lineage.index(Rule) - 1]
    return family


def names(option: str, text: str, table: Mapping[str, Any]) -> list[str]:
    """Split a list of names such as "mvp,second-order"; "all" is the whole table."""
    if text == "all":
        return list(table)
    wanted = list(dict.fromkeys(word.strip() for word in text.split(",")))
    for name in wanted:
        one(option, name, table)
    return wanted


def scale_or_number(text: str) -> str | float:
    """Return γ as it was given: a number, "scale" or "auto"."""
    if text in ("scale", "auto"):
        return text
    try:
        return positive("gamma", float(text))
    except ValueError:
        raise ValueError(f"gamma={text!r} is not a positive number; give one, or scale or auto.") from None
