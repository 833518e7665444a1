"""The names on the command line, one table each; that of the kernels is `refsvm.kernels.names`.

The rules are those that their rooms register: HybridMaximumGain is hybrid-maximum-gain, NewtonStep newton. One of
yours is FILE.py:NAME, a class.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from inspect import isabstract
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from refsvm import seeders, selectors, steps, stopping, trackers
from refsvm._checks import hint, positive
from refsvm.rounds.task import CLASSIFICATION, NOVELTY, REGRESSION
from refsvm.rule import Rule, name_of, rules_in


def _named(room: ModuleType) -> dict[str, Any]:
    """Return the rules of a room by their names on the command line."""
    return dict(sorted((name_of(rule), rule) for rule in rules_in(room)))


SELECTORS: Final = _named(selectors)
SEEDERS: Final = _named(seeders)
STEPS: Final = _named(steps)
STOPS: Final = _named(stopping)
TRACKERS: Final = _named(trackers)
TASKS: Final = dict.fromkeys((CLASSIFICATION, REGRESSION, NOVELTY))
_IN_FILE: Final = re.compile(r"(.+\.py):(\w+)").fullmatch
ENGINES: Final[dict[str, str]] = {"numba": "the compiled loop", "numpy": "the readable loop"}


def one(option: str, name: str, table: Mapping[str, Any]) -> Any:
    """Return the entry of a table, or a rule of the user by FILE.py:NAME; refuse a name that is neither."""
    if name not in table and (found := _IN_FILE(name)):
        return _checked(option, name, _named_in(option, Path(found[1]), found[2]), table)
    if name not in table:
        near = hint(name, table, f"choose from {', '.join(table)}.", shown=str)
        raise ValueError(f"{option}={name!r} is unknown; {near}")
    return table[name]


def _checked(option: str, name: str, rule: Any, table: Mapping[str, Any]) -> Any:
    """Return a class of the user, which makes a rule of the family of a table without arguments."""
    example = next(iter(table.values()))
    lineage = getattr(example, "__mro__", ())
    if Rule not in lineage:
        raise ValueError(
            f"{option}={name!r}: no {option} of yours can be given; choose from {', '.join(table)}."
        )
    family = lineage[lineage.index(Rule) - 1]
    if not isinstance(rule, type) or not issubclass(rule, family) or isabstract(rule):
        raise ValueError(
            f"{option}={name!r} is no {family.__name__}; derive it from refsvm.{family.__name__}, and write its method."
        )
    return rule


@cache
def _named_in(option: str, file: Path, name: str) -> Any:
    """Return what a Python file calls by a name; the file is run once."""
    if not file.is_file():
        raise ValueError(
            f"{option}='{file}:{name}': there is no file {str(file)!r}; check spelling and folder."
        )
    module_name = file.stem if file.stem not in sys.modules else f"{file.stem} of {file}"
    spec = spec_from_file_location(module_name, file)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[module_name] = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise ValueError(
            f"{option}='{file}:{name}': {file} ends with {type(error).__name__}: {error}"
        ) from error
    if not hasattr(module, name):
        near = hint(name, vars(module), f"write class {name} in it.", shown=str)
        raise ValueError(f"{option}='{file}:{name}': {file} has no {name}; {near}")
    return getattr(module, name)


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
