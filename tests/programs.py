"""Programs and packages that a few tests need beyond those of all tests.

Where one is missing, its tests are skipped. Where the variable REFSVM_REQUIRED names it, they fail: the gate sets it.
"""

from __future__ import annotations

import os
import shutil
from importlib.util import find_spec

import pytest


def missing(name: str) -> bool:
    """Whether there is neither a program nor a package of this name."""
    return shutil.which(name) is None and find_spec(name) is None


def needs(*names: str) -> pytest.MarkDecorator:
    """Mark of tests that are skipped where one of these is missing.

    Raises
    ------
    RuntimeError
        If REFSVM_REQUIRED names one that is missing.
    """
    absent = [name for name in names if missing(name)]
    required = set(os.environ.get("REFSVM_REQUIRED", "").split())
    if refused := required.intersection(absent):
        raise RuntimeError(f"REFSVM_REQUIRED names what is not installed: {', '.join(sorted(refused))}.")
    return pytest.mark.skipif(bool(absent), reason=f"not installed: {', '.join(absent)}")
