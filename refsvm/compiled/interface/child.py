"""The process that compiles beside another one: see `refsvm.compiled.interface.beside`."""

from __future__ import annotations

import json
import os
import sys
import threading
from queue import Empty, PriorityQueue
from typing import Any, Final

from refsvm.kernels.numba_trouble import numba_trouble
from refsvm.rule import mirrored

__all__ = ["main"]

IDLE_SECONDS: Final = 1.0
"""How long it waits for another order."""

SLOW: Final = {"seeders.ato", "seeders.mir"}
"""Whose twins take longer than all that others wait for."""

NICENESS: Final = 5
"""With one core, on which its parent gets three quarters of the time then."""


def main() -> None:
    """Compile what is ordered, a line of standard input each; say in a line of standard output what fails."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    if cores == 1 and hasattr(os, "nice"):
        os.nice(NICENESS)
    orders: PriorityQueue[Any] = PriorityQueue()
    threading.Thread(target=listen, args=(orders,), daemon=True).start()
    try:
        while True:
            *_, (family, places) = orders.get(timeout=IDLE_SECONDS)
            compile_one(family, places)
    except Empty:
        sys.stdout.flush()
        os._exit(0)


def listen(orders: PriorityQueue[Any]) -> None:
    """Take orders until the parent is no more; then end at once, whatever is being compiled.

    Who wants rounds began with a solve, and asked for the loop first: rounds need no other one.
    """
    for number, line in enumerate(sys.stdin):
        family, places = json.loads(line)
        orders.put((2 if SLOW & set(places) else family.endswith("loop"), number, (family, places)))
    os._exit(0)


def compile_one(family: str, places: list[str]) -> None:
    """Compile a family of code."""
    try:
        from refsvm.compiled.interface.families import load

        load(family, tuple(mirrored(f"refsvm.{place}") for place in places))
    except Exception as error:  # noqa: BLE001  whatever the compiler raises
        sys.stdout.write(f"{numba_trouble(error)}\n")
