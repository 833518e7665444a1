"""What can be asked for by name on the command line, one table each; that of the kernels is `refsvm.kernels.names`.

Selectors and steps are those that `refsvm` exports: a rule with a line in ``refsvm/__init__.py`` has its name here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

import refsvm
from refsvm import Seeder, StepRule, StoppingRule, WorkingSetSelector
from refsvm._checks import hint, positive

__all__ = ["ENGINES", "SEEDERS", "SELECTORS", "STEPS", "STOPS", "names", "one", "scale_or_number"]

_SHORT: Final = {"most-violating-pair": "mvp", "kktgap": "kkt-gap", "looduality-gap": "loo-duality-gap"}


def _exported(base: type) -> dict[str, Any]:
    """Return the rules of one role: HybridMaximumGain as hybrid-maximum-gain, NewtonStep as newton."""
    table = {}
    for name, rule in vars(refsvm).items():
        if isinstance(rule, type) and issubclass(rule, base) and rule is not base:
            long = re.sub("(?<=[a-z0-9])(?=[A-Z])", "-", name.removesuffix("Step")).lower()
            table[_SHORT.get(long, long)] = rule
    return dict(sorted(table.items()))


SELECTORS: Final[dict[str, type[WorkingSetSelector]]] = _exported(WorkingSetSelector)
SEEDERS: Final[dict[str, type[Seeder]]] = _exported(Seeder)
STEPS: Final[dict[str, type[StepRule]]] = _exported(StepRule)
STOPS: Final[dict[str, type[StoppingRule]]] = _exported(StoppingRule)
ENGINES: Final[dict[str, str]] = {"numba": "the compiled loop", "numpy": "the readable loop"}


def one(option: str, name: str, table: Mapping[str, Any]) -> Any:
    """Return the entry of a table, or refuse a name that is not in it."""
    if name not in table:
        near = hint(name, table, f"choose from {', '.join(table)}.", shown=str)
        raise ValueError(f"{option}={name!r} is unknown; {near}")
    return table[name]


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
