"""Figures of one test are gone in the next."""

import sys

import pytest


@pytest.fixture(autouse=True)
def _figures_are_closed():
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
