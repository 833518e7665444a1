"""What the tests of the steppers share."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

import pytest

from .steppers import DOCS


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The module that makes the steppers of a page."""
    monkeypatch.syspath_prepend(DOCS / "_ext")
    return import_module("stepper_page")
