"""Whoever waits for the compiler is told so, by one record of the logger ``refsvm`` in each process that compiles.

Numba reports when it starts to compile a function, and reports nothing when it finds the code on disk. So this is also
the place to forbid it: `no_compiling` is for those who want compiled code only if they need not wait for it.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from numba.core import event

__all__ = ["NotCompiledYet", "announce_compilation", "no_compiling"]

_log = logging.getLogger("refsvm")


class NotCompiledYet(BaseException):
    """Raised in place of compiling within `no_compiling`; no handler of errors is to take it for one."""


class _Thread(threading.local):
    """What this thread compiles: how many functions within each other, and whether it may."""

    depth, may_compile = 0, True


_thread = _Thread()


@contextmanager
def no_compiling() -> Iterator[None]:
    """Within this block this thread loads functions of the package from disk, or raises NotCompiledYet.

    A function that is not of the package, such as a user's twin, is compiled all the same: no other process can.
    """
    announce_compilation()
    _thread.may_compile = False
    try:
        yield
    finally:
        _thread.may_compile = True


class _FirstCompilation(event.Listener):
    """Logs the first function of this package that is compiled."""

    def __init__(self) -> None:
        self.is_announced = False

    def on_start(self, event: Any) -> None:
        """Called before Numba compiles any function, those of other packages included."""
        function = event.data["dispatcher"].py_func
        _thread.depth += 1
        if not function.__module__.startswith("refsvm."):
            return
        if not _thread.may_compile and _thread.depth == 1:
            raise NotCompiledYet(function.__name__)
        if not self.is_announced:
            self.is_announced = True
            # marked as a notice for the command line, which shows it (`refsvm.cli.messages`)
            _log.info(
                "Numba compiles refsvm's loop and rules for this machine; that takes some five to ten seconds, once.",
                extra={"notice": True},
            )

    def on_end(self, event: Any) -> None:
        """Called after that, also if it was forbidden."""
        _thread.depth = max(0, _thread.depth - 1)


_listener = _FirstCompilation()


@cache
def announce_compilation() -> None:
    """Listen to Numba from now on; once in a process."""
    event.register("numba:compile", _listener)
