"""A rule is a frozen value: one that is equal to another may take its place in a set, and none changes."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields, replace
from typing import Any

import pytest


def is_a_value(rule: Any) -> None:
    """Compare a rule with its copy, and try to change it."""
    assert replace(rule) == rule
    assert len({replace(rule), rule}) == 1
    for field in fields(rule):
        with pytest.raises(FrozenInstanceError):
            setattr(rule, field.name, getattr(rule, field.name))
    with pytest.raises(FrozenInstanceError):
        rule.another = 1
