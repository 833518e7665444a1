"""What can be asked for by name on the command line, one table each.

Selectors and steps are those that `refsvm` exports: a rule with a line in ``refsvm/__init__.py`` has its name here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import fields
from difflib import get_close_matches
from typing import Any, Final

import refsvm
from refsvm._checks import positive
from refsvm.kernels import RBF, Kernel, Linear, Polynomial, Precomputed, Sigmoid
from refsvm.selectors import WorkingSetSelector
from refsvm.steps import StepRule

__all__ = ["ENGINES", "KERNELS", "SELECTORS", "STEPS", "kernel_called", "names", "one", "width"]

_SHORT: Final = {"most-violating-pair": "mvp"}


def _exported(base: type) -> dict[str, Any]:
    """Return the rules of one role: HybridMaximumGain as hybrid-maximum-gain, NewtonStep as newton."""
    table = {}
    for name, rule in vars(refsvm).items():
        if isinstance(rule, type) and issubclass(rule, base) and rule is not base:
            words = re.findall("[A-Z][a-z0-9]*", name.removesuffix("Step"))
            long = "-".join(words).lower()
            table[_SHORT.get(long, long)] = rule
    return dict(sorted(table.items()))


SELECTORS: Final[dict[str, type[WorkingSetSelector]]] = _exported(WorkingSetSelector)
STEPS: Final[dict[str, type[StepRule]]] = _exported(StepRule)
ENGINES: Final[dict[str, str]] = {"numba": "the compiled loop", "numpy": "the readable loop"}
KERNELS: Final[dict[str, Any]] = {
    "linear": Linear,
    "poly": Polynomial,
    "rbf": RBF,
    "sigmoid": Sigmoid,
    "precomputed": Precomputed,
}


def one(option: str, name: str, table: Mapping[str, Any]) -> Any:
    """Return the entry of a table, or refuse a name that is not in it."""
    if name not in table:
        near = get_close_matches(name, table, n=1)
        hint = f"did you mean {near[0]}?" if near else f"choose from {', '.join(table)}."
        raise ValueError(f"{option}={name!r} is unknown; {hint}")
    return table[name]


def names(option: str, text: str, table: Mapping[str, Any]) -> list[str]:
    """Split a list of names such as "mvp,second-order"; "all" is the whole table."""
    if text == "all":
        return list(table)
    wanted = list(dict.fromkeys(word.strip() for word in text.split(",")))
    for name in wanted:
        one(option, name, table)
    return wanted


def kernel_called(name: str, **parameters: float) -> Kernel | Precomputed:
    """Return the kernel of that name, with those of the parameters that it has."""
    kernel = one("kernel", name, KERNELS)
    return kernel(**{key: parameters[key] for key in _parameters(kernel)})


def _parameters(kernel: Any) -> Iterable[str]:
    return (field.name for field in fields(kernel))


def width(gamma: str, X: Any) -> float:
    """Return γ: a number, or scikit-learn's "scale", 1/(d · variance of all entries of X), or "auto", 1/d."""
    if gamma in ("auto", "scale"):
        from refsvm.estimators import _gamma

        return _gamma(gamma, X)
    try:
        return positive("gamma", gamma)
    except ValueError:
        raise ValueError(f"gamma={gamma!r} is not a positive number; give one, or scale or auto.") from None
