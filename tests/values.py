"""A rule is a frozen value: one that is equal to another may take its place in a set, and none changes."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields, replace
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
