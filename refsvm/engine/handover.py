"""With engine="auto": when the compiled loop takes over from the readable one.

The first solve in a process would wait for Numba: some tenths of a second to load what was compiled earlier, several
seconds to compile it for the first time. Many problems are solved in NumPy by then. Both loops take the same steps bit
for bit, so a solve begins in the readable loop. Once `ALLOWANCE_SECONDS` of solving have been spent in the process, the
compiled loop is loaded and goes on from the same state.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pkgutil import walk_packages
from typing import Any, Final

from refsvm.kernels.numba_trouble import is_numba_trouble
from refsvm.kernels.threads import load_compiled

__all__ = [
    "compiled_code_is_due",
    "have_twins",
    "numba_compiles",
    "numba_is_installed",
    "prepare_for_threads",
]

ALLOWANCE_SECONDS = 0.2
"""Seconds of solving in NumPy after which the compiled loop is loaded."""

PIECE_STEPS = 50
"""Readable steps between two looks at the clock."""

OF_ROUNDS: Final = "rounds", "seeders", "selectors", "solver", "steps", "stopping"
"""Rooms of `refsvm.compiled` that the rounds of a thread may enter."""


class Clock:
    """Seconds that this process has spent in solves, those going on included."""

    def __init__(self) -> None:
        self.finished, self.began = 0.0, 0.0

    def allowance_is_spent(self) -> bool:
        """Whether the next steps should be compiled ones."""
        return self.finished + (time.perf_counter() - self.began) > ALLOWANCE_SECONDS


clock = Clock()
loaded: set[tuple[object, ...]] = set()
"""Types of the rules whose compiled loop has run in this process."""
broken: list[Exception] = []
"""Why Numba cannot be used in this process."""


def have_twins(rules: Iterable[Any]) -> bool:
    """Whether every rule has a twin."""
    return all(rule.twin() is not None for rule in rules)


@cache
def numba_is_installed() -> bool:
    """Whether there is a Numba to import."""
    return find_spec("numba") is not None


def numba_compiles() -> bool:
    """Whether Numba is installed, and not told to interpret (``NUMBA_DISABLE_JIT``), which is slower than NumPy."""
    return numba_is_installed() and os.environ.get("NUMBA_DISABLE_JIT", "0") in ("", "0")


@cache
def prepare_for_threads() -> None:
    """Import the modules of compiled code: threads that meet in imports may find a module half made."""
    if not numba_compiles():
        return
    try:
        load_compiled()
        for module in walk_packages(import_module("refsvm.compiled").__path__, "refsvm.compiled."):
            if module.name.split(".")[2] in OF_ROUNDS:
                import_module(module.name)
    except Exception as error:
        if not is_numba_trouble(error):  # who needs that code will say what is wrong
            raise


def compiled_code_is_due() -> bool:
    """Whether compiled code is loaded already, or the allowance for doing without is spent."""
    return bool(loaded) or clock.finished > ALLOWANCE_SECONDS
