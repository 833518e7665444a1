"""`warm_up` compiles all code of `refsvm.compiled` on request."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any, Final

from refsvm.compiled.twins import have_twins, numba_compiles, numba_is_installed, place_of_twin
from refsvm.core import seeders, selectors, steps, stopping, trackers
from refsvm.core.rule import rules_in
from refsvm.core.seeders import TOP, ActiveSet, Cold, Seeder
from refsvm.core.selectors import ConjugateSecondOrder, MostViolatingPair, SecondOrder
from refsvm.core.steps import ConjugateStep, NewtonStep, OverrelaxedNewtonStep, PlanningAheadStep
from refsvm.core.stopping import BallRule, KKTGap, WorkingSetGap

DEFAULT: Final = SecondOrder(), PlanningAheadStep(), KKTGap()
RESTRICTED: Final = ConjugateSecondOrder(), ConjugateStep(), KKTGap()
"""The default rules on restricted problems."""

NEWTON: Final = SecondOrder(), NewtonStep(), KKTGap()
PAPER: Final = MostViolatingPair(), NewtonStep(), KKTGap()
POINTERS: Final = MostViolatingPair(), OverrelaxedNewtonStep(), WorkingSetGap()
"""Rules that are not built into a loop; the loop that is compiled for them calls all other rules through pointers."""

TWINS: Final = [
    rule()
    for folder in (seeders, selectors, steps, stopping, trackers)
    for rule in rules_in(folder)
    if place_of_twin(rule.__module__)
]
"""One rule for each twin."""

FAMILIES: Final[list[tuple[str, tuple[Any, ...]]]] = [
    ("kernels", ()),
    *((f"{name} float64", ()) for name in ("norms", "gaussian_rows", "products", "gaussian", "solutions")),
    ("sparse", ()),
    ("loop", DEFAULT),
    ("loop", RESTRICTED),
    ("single loop", DEFAULT),
    ("single loop", RESTRICTED),
    ("rounds", (Cold(), *DEFAULT)),
    ("small", DEFAULT),
    ("rounds", (TOP(), *DEFAULT[:2], BallRule())),
    ("single rounds", (ActiveSet(), *DEFAULT)),
    ("loop", POINTERS),
    ("rounds", (Cold(), *POINTERS)),
    ("small", POINTERS),
    ("loop", NEWTON),
    ("loop", PAPER),
    ("single loop", NEWTON),
    *(("twin", (rule,)) for rule in TWINS),
    *((f"{name} float32", ()) for name in ("norms", "gaussian_rows", "products", "gaussian")),
    *((f"{name} float64", ()) for name in ("products_of_rows", "hyperbolic_tangents")),
]
"""All families (`refsvm.compiled.interface.families`) with their rules; the most used families come first."""


def load(family: str, rules: tuple[Any, ...]) -> None:
    """Load a family of functions for these rules from disk, or compile the functions."""
    import_module("refsvm.compiled.interface.families").load(family, tuple(rule.twin() for rule in rules))


def prepare_arithmetic() -> None:
    """Compile or load all functions of the arithmetic for float64 rows, because any problem may call any of them."""
    for family, rules in FAMILIES:
        if family in ("kernels", "sparse") or family.endswith("float64"):
            load(family, rules)


def prepare(seeder: Seeder) -> None:
    """Load or compile the code for rounds with the default rules before the time of the rounds is measured."""
    if numba_compiles():
        first = seeder if have_twins([seeder]) else Cold()
        for family, rules in (("loop", DEFAULT), ("loop", RESTRICTED), ("rounds", (first, *DEFAULT))):
            load(family, rules)


def warm_up(tell: Callable[[str], object] | None = None) -> float:
    """Compile all compiled code, or load it from disk, so that later calls and processes need not wait.

    Without this call, ``engine="auto"`` works in NumPy while a child process compiles. To get full speed from the first
    solve on, call `warm_up` beforehand, for example when you build a container. Compiled code is kept in the folder
    that ``NUMBA_CACHE_DIR`` names. By default this is a folder next to the package's files; if the package's folders
    are not writable, it is the user's cache folder.

    Parameters
    ----------
    tell : callable, optional
        Function that is called with a line about each step, such as `print`.

    Returns
    -------
    float
        Number of seconds that the call took.

    Raises
    ------
    ValueError
        If Numba is not installed, or if ``NUMBA_DISABLE_JIT`` is set.

    Examples
    --------
    >>> import refsvm
    >>> refsvm.warm_up(print)  # doctest: +SKIP
    compiling 1 of 37: kernels
    ...
    """
    if not numba_is_installed():
        raise ValueError("warm_up() needs Numba, which is not installed; install the package numba.")
    if not numba_compiles():
        value = os.environ["NUMBA_DISABLE_JIT"]
        raise ValueError(f"NUMBA_DISABLE_JIT={value} turns compilation off; unset this variable.")
    began = time.perf_counter()
    for number, (family, rules) in enumerate(FAMILIES, start=1):
        if tell is not None:
            names = ", ".join(type(rule).__name__ for rule in rules)
            tell(f"compiling {number} of {len(FAMILIES)}: {family} {names}".rstrip())
        load(family, rules)
    return time.perf_counter() - began
