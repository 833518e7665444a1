"""With engine="auto": when the compiled loop takes over from the readable one.

The first solve in a process would wait for Numba: some tenths of a second to load what was compiled earlier, several
seconds to compile it for the first time. Many problems are solved in NumPy by then. Both loops take the same steps bit
for bit, so a solve begins in the readable loop. Once `ALLOWANCE_SECONDS` of solving have been spent in the process, the
compiled loop is loaded and goes on from the same state. What is not on disk is compiled beside, by a child process, and
the readable loop goes on until it is there. Rounds, seeds and paths ask the same question, `may_run`.
"""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Callable, Iterable
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pkgutil import walk_packages
from typing import Any, Final

from refsvm.compiled.interface import beside
from refsvm.kernels.numba_trouble import TwinError, is_numba_trouble
from refsvm.kernels.threads import load_compiled
from refsvm.rule import Rule, is_shipped, place_of_twin

__all__ = [
    "compiled_code_is_due", "have_twins", "import_compiled", "is_ready", "may_run", "numba_compiles",
    "numba_is_installed", "prepare_for_threads", "twin_of",
]  # fmt: skip

ALLOWANCE_SECONDS = 0.2
"""Seconds of solving in NumPy after which the compiled loop is loaded."""

PIECE_STEPS = 50
"""Readable steps between two looks at the clock."""

OF_ROUNDS: Final = "rounds", "seeders", "selectors", "solver", "steps", "stopping"
"""Rooms of `refsvm.compiled` that the rounds of a thread may enter."""


class Clock:
    """Seconds that this process has spent in solves and on paths, those going on included."""

    def __init__(self) -> None:
        self.finished, self.began = 0.0, 0.0

    def allowance_is_spent(self) -> bool:
        """Whether the next steps should be compiled ones."""
        return self.finished + (time.perf_counter() - self.began) > ALLOWANCE_SECONDS


clock = Clock()
_one_imports = threading.Lock()
loaded: set[tuple[object, ...]] = set()
"""Types of the rules whose compiled loop has run in this process."""
ready: set[tuple[object, ...]] = set()
"""Families of compiled code that can be had without waiting, each with the types of its rules."""
broken: list[Exception] = []
"""Why Numba cannot be used in this process."""


def have_twins(rules: Iterable[Any]) -> bool:
    """Whether every rule has a twin; those of the package are not imported to know it."""
    return all(
        twin_of(rule) is not None
        if type(rule).twin is not Rule.twin
        else place_of_twin(type(rule).__module__) is not None
        for rule in rules
    )


def twin_of(rule: Any) -> Callable[..., Any] | None:
    """Return the twin of a rule, or None; refuse what is not compiled, or for arguments of another role.

    Compiled code calls a twin by its address, and nothing would notice there that the arguments are others.
    """
    kind: type[Rule] = type(rule)
    method: Any = rule.twin
    if is_shipped(kind):
        shipped: Callable[..., Any] | None = method()
        return shipped
    name = kind.__name__
    if not callable(method):
        raise TwinError(
            f"{name}.twin is {method!r}; make it a method that returns a Numba function, or leave it away."
        )
    twin: Any = method()
    if twin is not None and not hasattr(twin, "py_func") and (numba_compiles() or not callable(twin)):
        raise TwinError(
            f"{name}.twin() returned {twin!r}, which is no Numba function; decorate one with @twin(...) of "
            "refsvm.compiled.interface.twin."
        )
    if rule.role and hasattr(twin, "signature"):
        role = "LENGTH_AND_CARRY" if getattr(rule, "carries", False) else rule.role
        place = import_module(f"refsvm.compiled.interface.{'seeding' if role == 'SEED' else 'layout'}")
        if twin.signature != getattr(place, role):
            raise TwinError(
                f"{name}.twin() is a twin of another role; its own is decorated with @twin({role})."
            )
    found: Callable[..., Any] | None = twin
    return found


def is_ready(family: str, *rules: Any) -> bool:
    """Whether code of a family is loaded, or can be without waiting for the compiler, which begins otherwise."""
    key = family, *map(type, rules)
    if key not in ready and beside.is_there(family, rules):
        ready.add(key)
    return key in ready


def may_run(engine: str, family: str, *rules: Any, since: float = math.inf) -> bool:
    """Whether code of a family is to run from here on: the engine wants it, all rules have twins, it pays, it is there.

    Parameters
    ----------
    engine : str
    family : str
        One of `refsvm.compiled.interface.families`.
    *rules : Rule
        Whose twins belong to it.
    since : float
        When the work began that goes on, on the clock of `time.perf_counter`.
    """
    if engine != "auto":
        return engine == "numba" and numba_is_installed()
    return numba_compiles() and compiled_code_is_due(since) and have_twins(rules) and is_ready(family, *rules)


@cache
def numba_is_installed() -> bool:
    """Whether there is a Numba to import."""
    return find_spec("numba") is not None


def numba_compiles() -> bool:
    """Whether Numba is installed, and not told to interpret (``NUMBA_DISABLE_JIT``), which is slower than NumPy."""
    return numba_is_installed() and os.environ.get("NUMBA_DISABLE_JIT", "0") in ("", "0")


@cache
def prepare_for_threads() -> None:
    """Import the modules of compiled code: threads that meet in imports may find a module half made.

    Where a child compiles, one thread at a time loads what is there (`refsvm.compiled.interface.beside`).
    """
    if not numba_compiles() or beside.is_on():
        return
    try:
        load_compiled()
        for module in walk_packages(import_module("refsvm.compiled").__path__, "refsvm.compiled."):
            if module.name.split(".")[2] in OF_ROUNDS:
                import_module(module.name)
    except Exception as error:
        if not is_numba_trouble(error):  # who needs that code will say what is wrong
            raise


def import_compiled() -> None:
    """Import compiled code, one thread at a time: threads that meet in imports may find a module half made."""
    with _one_imports:
        import_module("refsvm.compiled.interface.families").load("kernels", ())


def compiled_code_is_due(since: float = math.inf) -> bool:
    """Whether compiled code is loaded already, or the allowance for doing without is spent, now or by earlier work."""
    return bool(loaded) or clock.finished + max(time.perf_counter() - since, 0.0) > ALLOWANCE_SECONDS
