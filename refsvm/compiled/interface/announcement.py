"""Whoever waits for the compiler is told so: one record of the logger ``refsvm`` in each process that compiles.

Numba reports when it starts to compile a function, and reports nothing when it finds the code on disk.
"""

from __future__ import annotations

import logging
from functools import cache
from typing import Any

from numba.core import event

__all__ = ["announce_compilation"]

_log = logging.getLogger("refsvm")


class _FirstCompilation(event.Listener):
    """Logs the first function of this package that is compiled."""

    def __init__(self) -> None:
        self.is_announced = False

    def on_start(self, event: Any) -> None:
        """Called before Numba compiles any function, those of other packages included."""
        function = event.data["dispatcher"].py_func
        if not self.is_announced and function.__module__.startswith("refsvm."):
            self.is_announced = True
            # marked as a notice for the command line, which shows it (`refsvm.cli.messages`)
            _log.info(
                "Numba compiles refsvm's loop and rules for this machine; that takes some five to ten seconds, once.",
                extra={"notice": True},
            )

    def on_end(self, event: Any) -> None:
        """Say nothing."""


_listener = _FirstCompilation()


@cache
def announce_compilation() -> None:
    """Listen to Numba from now on; once in a process."""
    event.register("numba:compile", _listener)
