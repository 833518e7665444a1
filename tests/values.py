"""A rule is a frozen value: one that is equal to another may take its place in a set, and none changes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import FrozenInstanceError, fields, is_dataclass, replace
from importlib import import_module
from inspect import isabstract, signature
from pkgutil import iter_modules
from typing import Any

import pytest


def is_a_value(rule: Any, shown: str, parameters: tuple[float, ...]) -> None:
    """Compare a rule with its copy, try to change it, and see what is printed of it and what its twin is told."""
    assert repr(rule) == shown
    assert rule.parameters() == parameters
    assert replace(rule) == rule
    assert len({replace(rule), rule}) == 1
    for name in (*(field.name for field in fields(rule)), "another"):
        with pytest.raises(FrozenInstanceError):
            setattr(rule, name, 1)


def remembers_as(rule: Any, base: type) -> None:
    """Compare the arguments of a rule's `memory`, and their defaults, with those of its kind."""
    asked, own = (signature(kind.memory).parameters.values() for kind in (base, type(rule)))
    assert [(each.name, each.default) for each in own] == [(each.name, each.default) for each in asked]


def what_it_says(rule: Any) -> set[str]:
    """Return the names of the truths that a rule declares of itself: `ClassVar[bool]`s that are true."""
    declared = {
        name
        for each in type(rule).__mro__
        for name, kind in vars(each).get("__annotations__", {}).items()
        if kind == "ClassVar[bool]"
    }
    return {name for name in declared if getattr(rule, name)}


def begins_at(kind: type, name: str, least: float) -> None:
    """Give a setting the least value that it may have, and the next one below: 0 for the smallest positive number."""
    assert getattr(kind(**{name: least}), name) == least
    with pytest.raises(ValueError, match=rf"{name}=\S+ .*; give "):
        kind(**{name: least - 1 if isinstance(least, int) else 0.0})


def dataclasses_of(room: str) -> Iterator[Any]:
    """Yield the dataclasses that the modules of a room define, such as those of ``"walk"``."""
    for found in iter_modules(import_module(f"refsvm.{room}").__path__, f"refsvm.{room}."):
        for each in vars(import_module(found.name)).values():
            if isinstance(each, type) and is_dataclass(each) and each.__module__ == found.name:
                yield each


def never_change(room: str, but: frozenset[str] = frozenset()) -> None:
    """Try to change what the dataclasses of a room hold; only these may be changed."""
    kinds = [each for each in dataclasses_of(room) if each.__name__ not in but and not isabstract(each)]
    assert kinds
    for kind in kinds:
        made = object.__new__(kind)
        for name in (*(field.name for field in fields(kind)), "another"):
            with pytest.raises(FrozenInstanceError):
                setattr(made, name, 1)
