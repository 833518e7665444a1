"""What the tests of the steppers share."""

from __future__ import annotations

from types import ModuleType

import pytest

from ..programs import module


@pytest.fixture
def page() -> ModuleType:
    """The module that makes the steppers of a page."""
    return module("stepper_page", "docs/_ext")
