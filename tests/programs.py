"""Programs and packages that a few tests need beyond those of all tests, and modules beside the package.

Where one is missing, its tests are skipped. Where the variable REFSVM_REQUIRED names it, they fail: the gate sets it.
"""

from __future__ import annotations

import os
import shutil
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

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


def module(name: str, folder: str = "benchmarks") -> ModuleType:
    """Import a module of a folder of the repository, which is on the path for as long."""
    place = str(Path(__file__).parents[1] / folder)
    sys.path.insert(0, place)
    try:
        return import_module(name)
    finally:
        sys.path.remove(place)
