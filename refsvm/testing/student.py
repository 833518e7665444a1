"""Runs a student's cells and calls a function that they define; `refsvm.testing.grade` starts this file as a program.

The program cannot import refsvm: it runs without site-packages and loads NumPy from NumPy's folder. Each line of
standard input holds one call as JSON, and the program writes each answer as a line of JSON to the pipe that its
argument names. The parent process knows the expected values, and the program never holds them.
"""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from types import ModuleType
from typing import Any

MODULES = (
    "abc", "array", "bisect", "cmath", "collections", "contextlib", "copy", "dataclasses", "decimal", "enum",
    "fractions", "functools", "heapq", "itertools", "math", "numbers", "operator", "queue", "random", "re",
    "statistics", "string", "time", "types", "typing", "warnings", "numpy", "numpy.fft", "numpy.linalg", "numpy.ma",
    "numpy.polynomial", "numpy.random", "numpy.typing",
)  # fmt: skip
"""The modules that an answer may import."""

HOOK = """
def refuse(event, arguments):
    if event == "import":
        raise ImportError(f"answers may import NumPy and parts of the standard library, but not {arguments[0]}")
    elif event == "open":
        raise PermissionError("answers may not open files")
    elif event == "object.__setattr__" and arguments[1] != "__code__":
        pass
    elif event not in {
        "builtins.id", "compile", "exec", "function.__new__", "object.__getattr__",
        "sys._getframe", "sys._getframemodulename", "time.sleep",
    }:
        raise PermissionError(f"answers may not use {event}")
"""
"""An audit hook, which no Python code can remove. The hook uses only constants, which no answer can replace."""

HARMLESS = {"_exit", "fspath", "getcwd", "getpid", "getppid", "lstat", "stat", "urandom", "write"}
"""The functions of `os` that an answer may use. The hook does not see some other functions, which could make files or
slow the grader down."""


def confine(limits: dict[str, int]) -> None:
    """Give up the rights to open files, start processes or use much memory and time; install the audit hook."""
    import resource

    if os.geteuid() == 0:  # become another user, because root could lift the limits
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)
    for name, most in limits.items():
        with suppress(OSError, ValueError):  # systems other than Linux refuse some limits
            resource.setrlimit(getattr(resource, name), (most, most))
    del sys.modules["resource"]
    posix = sys.modules["posix"]
    for name in [each for each, value in vars(posix).items() if type(value) is type(len)]:
        for module in (os, posix) if name not in HARMLESS else ():
            vars(module).pop(name, None)
    for kept in vars(os).values():
        if isinstance(kept, set):  # os.supports_dir_fd contains mkfifo, whose calls the hook misses
            kept.clear()
    vars(sys.modules["_imp"]).pop("create_builtin")  # `create_builtin` could load all of `os` again
    names: dict[str, Any] = {}
    exec(HOOK, names)
    sys.addaudithook(names["refuse"])


def unpacked(value: Any, ask: Callable[[int], Any]) -> Any:
    """Return the argument that `value` describes: a number, an array, or the function that asks for a row of K."""
    if not isinstance(value, dict):
        return value
    return ask if "row" in value else sys.modules["numpy"].array(value["values"], dtype=value["dtype"])


def plain(value: Any) -> Any:
    """Return a NumPy array or scalar as lists or as a number, which JSON can write."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(
        f"an answer must consist of numbers, tuples, lists and arrays, not of {type(value).__name__}"
    )


def run(cells: list[str], function: str, calls: Any, answers: Any) -> None:
    """Execute the cells in order, then answer calls until there are no more calls."""

    def ask(i: int) -> Any:
        answers.write(json.dumps({"row": int(i)}) + "\n")
        return unpacked(json.loads(calls.readline()), ask)

    notebook = sys.modules["__main__"] = ModuleType("__main__")  # Jupyter runs cells in this module
    names = vars(notebook)
    failed = ""
    for number, cell in enumerate(cells, 1):
        try:
            exec(compile(cell, f"answer cell {number}", "exec"), names)
        except BaseException as error:  # noqa: BLE001  also SystemExit
            failed = failed or f" (answer cell {number} raised {type(error).__name__}: {error})"
    for line in calls:
        try:
            if not callable(names.get(function)):
                raise NameError(f"no cell that begins with # answer defines {function}(){failed}")
            value = names[function](*(unpacked(each, ask) for each in json.loads(line)))
            text = json.dumps({"value": value}, default=plain)
        except BaseException as error:  # noqa: BLE001
            text = json.dumps({"error": f"{type(error).__name__}: {error}"[:300].rstrip(": ")})
        answers.write(text + "\n")


def main() -> None:
    """Read settings and cells, import modules that answers may use, and give up all rights before the first cell."""
    calls, answers = sys.stdin, os.fdopen(int(sys.argv[1]), "w", buffering=1, encoding="utf-8")
    sys.stdin = io.StringIO()
    settings = json.loads(calls.readline())
    sys.modules["ctypes"] = None  # type: ignore[assignment]
    sys.path.append(settings["numpy"])
    for name in MODULES:
        import_module(name)
    sys.path.remove(settings["numpy"])
    confine(settings["limits"])
    run(settings["cells"], settings["function"], calls, answers)


if __name__ == "__main__":
    main()
