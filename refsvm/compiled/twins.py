"""Finds the twins of rules and prepares their arguments. This module does not import Numba."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final

import numpy as np

from refsvm.compiled.trouble import TwinError
from refsvm.core.rule import Rule, is_builtin

SPARE: Final = 8
"""Number of spare entries after the hyper-parameters, because compiled code does not check the end of an array."""


@cache
def numba_is_installed() -> bool:
    """Return True if Numba is installed."""
    return find_spec("numba") is not None


def numba_compiles() -> bool:
    """Return True if Numba is installed, and ``NUMBA_DISABLE_JIT`` does not turn compilation off."""
    return numba_is_installed() and os.environ.get("NUMBA_DISABLE_JIT", "0") in ("", "0")


@cache
def place_of_twin(module: str) -> str | None:
    """Return the name of the `refsvm.compiled` module that mirrors a module of `refsvm.core`, or None."""
    folder, _, name = module.rpartition(".")
    place = f"refsvm.compiled.{folder.removeprefix('refsvm.').removeprefix('core.')}"
    if not folder.startswith("refsvm.") or not find_spec(place) or not find_spec(f"{place}.{name}"):
        return None
    return f"{place}.{name}"


@cache
def mirrored(module: str) -> Callable[..., Any] | None:
    """Return the twin in the module of `refsvm.compiled` that mirrors this module of `refsvm`, or None.

    Examples
    --------
    >>> from refsvm.compiled.twins import mirrored
    >>> mirrored("refsvm.core.trackers.hastie").__name__, mirrored("refsvm.core.trackers.base")
    ('hastie', None)
    """
    place = place_of_twin(module)
    return None if place is None else getattr(import_module(place), module.rpartition(".")[2])


Rule.find_twin = staticmethod(mirrored)


def have_twins(rules: Iterable[Any]) -> bool:
    """Return True if every rule has a twin, without importing the twins of the package."""
    return all(
        twin_of(rule) is not None
        if type(rule).twin is not Rule.twin
        else place_of_twin(type(rule).__module__) is not None
        for rule in rules
    )


def twin_of(rule: Any) -> Callable[..., Any] | None:
    """Return the twin of a rule, or None; raise a TwinError if the twin is not compiled or has the wrong signature.

    The check is necessary because compiled code calls a twin by its address, without checking argument types.
    """
    kind: type[Rule] = type(rule)
    method: Any = rule.twin
    if is_builtin(kind):
        shipped: Callable[..., Any] | None = method()
        return shipped
    name = kind.__name__
    if not callable(method):
        raise TwinError(
            f"{name}.twin is {method!r}; make it a method that returns a Numba function, or remove it."
        )
    twin: Any = method()
    if twin is not None and not hasattr(twin, "py_func") and (numba_compiles() or not callable(twin)):
        raise TwinError(
            f"{name}.twin() returned {twin!r}, which is not a Numba function; decorate a function with @twin(...) of "
            "refsvm.compiled.interface.twin."
        )
    if rule.role and hasattr(twin, "signature"):
        role = "LENGTH_AND_CARRY" if getattr(rule, "uses_momentum", False) else rule.role
        place = import_module(f"refsvm.compiled.interface.{'seeding' if role == 'SEED' else 'layout'}")
        if twin.signature != getattr(place, role):
            raise TwinError(
                f"{name}.twin() fits another kind of rule; decorate the function with @twin({role})."
            )
    checked: Callable[..., Any] | None = twin
    return checked


def twins_of(rules: Iterable[Any]) -> tuple[Callable[..., Any], ...]:
    """Return the twins of all rules; if a rule has no twin, raise a ValueError that says what to do."""
    twins = []
    for rule in rules:
        twins.append(twin_of(rule))
        if twins[-1] is None:
            name = type(rule).__name__
            raise ValueError(
                f'engine="numba" needs a compiled twin of every rule and {name} has none; use engine="numpy", or '
                f"return an @njit function from {name}.twin()."
            )
    return tuple(twins)  # type: ignore[arg-type]


def parameters_of(rule: Rule) -> np.ndarray:
    """Return the hyper-parameters for the twin, shape (k,); a user's twin that reads beyond their end gets NaN."""
    numbers: Any = rule.parameters()
    if is_builtin(type(rule)):
        return np.array(numbers, dtype=np.float64)
    try:
        values = np.array(numbers, dtype=np.float64)
    except (TypeError, ValueError):
        values = np.zeros(())
    if values.ndim != 1:
        raise TwinError(f"{rule!r}.parameters() returned {numbers!r}; it must return a tuple of floats.")
    padded = np.full(len(values) + SPARE, np.nan)
    padded[: len(values)] = values
    return padded[: len(values)]
