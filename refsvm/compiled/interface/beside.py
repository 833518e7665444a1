"""Compiled code that nobody waits for: loaded if it is on disk, else compiled by a child process meanwhile.

The child writes to Numba's cache on disk, where its parent and all later processes find the code. It takes orders by
its standard input. Where that ends, because the parent has ended in whatever way, the child ends too. A lock lets one
process of all that use the same cache have a child. Nothing here imports Numba, or anything else of the package.

``REFSVM_COMPILE_BESIDE=0`` switches it off: who needs compiled code that is not on disk waits for it then. So it is
where no other Python can be started: in frozen and embedding programs.
"""

from __future__ import annotations

import atexit
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from contextlib import suppress
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from refsvm.compiled.interface.stamp import cache_folder, may_be_on_disk, stamp

__all__ = ["is_there"]

LOOK_SECONDS: Final = 0.1
"""Between two looks for the same code, at least."""

PAUSE: Final = 10.0
"""How many times as long as a look in vain it takes until the next."""

TRIALS: Final = 2
"""How often a child is asked for the same code."""

MAIN: Final = {
    "kernels": ("kernels/rows.py", "addition"),
    "sparse": ("kernels/sparse.py", "product"),
    "loop": ("solver/loop.py", "*_steps"),
    "single loop": ("solver/loop.py", "loop_with_single_rows"),
    "rounds": ("rounds/rounds.py", "compiled_rounds"),
    "single rounds": ("rounds/rounds.py", "rounds_with_single_rows"),
}
"""The file and the function of each family of `families` that is compiled last."""

STAND_INS: Final = {
    "selectors": "most_violating_pair",
    "steps": "overrelaxed",
    "stopping": "working_set_gap",
    "seeders": "cold",
}
"""What the child compiles in place of a user's rule, which is called through a pointer as these are."""

COMMAND: Final = (
    "import json, sys; sys.path[:] = json.loads(sys.stdin.readline()); "
    "from refsvm.compiled.interface.child import main; main()"
)


@cache
def is_on() -> bool:
    """Whether a child can compile."""
    is_python = Path(sys.executable or "").stem.lower().startswith(("python", "pypy"))
    wanted = os.environ.get("REFSVM_COMPILE_BESIDE", "1") != "0" and find_spec("numba") is not None
    compiles = os.environ.get("NUMBA_DISABLE_JIT", "0") in ("", "0")
    return wanted and compiles and is_python and not getattr(sys, "frozen", False)


def is_there(family: str, rules: tuple[Any, ...] = ()) -> bool:
    """Whether compiled code can be had without waiting for the compiler; if not, a child is about to compile it.

    Where a child cannot help, the answer is True: whoever needs the code compiles it, or says what is wrong.

    Parameters
    ----------
    family : str
        One of `refsvm.compiled.interface.families`.
    rules : tuple of Rule
        Whose twins belong to it; each has one.

    Warns
    -----
    UserWarning
        Once in a process, if the child fails twice: the readable engine goes on.
    """
    if not is_on():
        return True
    order = json.dumps([family, [place_of(rule) for rule in rules]])
    began = time.perf_counter()
    if began < _compiler.next_look.get(order, 0.0) or not _compiler.one_looks.acquire(blocking=False):
        return False
    try:
        return could_load(order, rules) or _compiler.cannot_help(order)
    finally:
        now = time.perf_counter()
        _compiler.next_look[order] = now + max(LOOK_SECONDS, PAUSE * (now - began))
        _compiler.one_looks.release()


def place_of(rule: Any) -> str:
    """Return where a rule of the package stands, such as "steps.newton"; for a user's rule, that of its stand-in."""
    if type(rule).__module__.startswith("refsvm."):
        return type(rule).__module__.removeprefix("refsvm.")
    bases = (base.__module__ for base in type(rule).__mro__)
    room = next(name.split(".")[1] for name in bases if name.startswith("refsvm."))
    return f"{room}.{STAND_INS.get(room, '')}"


def could_load(order: str, rules: tuple[Any, ...]) -> bool:
    """Load what is on disk, and say whether that was all."""
    family, places = json.loads(order)
    pointers = [place for place in places if place.startswith(("seeders.", "trackers."))]
    wanted = [(f"{place.replace('.', '/')}.py", place.rpartition(".")[2]) for place in pointers]
    if family in MAIN:
        wanted.append(MAIN[family])
    if not all(may_be_on_disk(*each) for each in wanted):
        return False
    try:  # by its name: what is imported there imports this file
        found = import_module("refsvm.compiled.interface.families")
        return bool(found.could_load(family, tuple(rule.twin() for rule in rules)))
    except Exception:  # noqa: BLE001  whoever needs the code will say what is wrong
        return True


class Compiler:
    """The child of this process, if it has one, and what it was asked for."""

    def __init__(self) -> None:
        self.one_looks = threading.Lock()
        self.next_look: dict[str, float] = {}
        self.process: subprocess.Popen[bytes] | None = None
        self.trials: dict[str, int] = {}
        self.asked: set[str] = set()
        self.reason = "it was ended"
        self.has_warned = False

    def cannot_help(self, order: str) -> bool:
        """Ask the child for this code, unless it is at it already; return whether there can be none."""
        if self.process is not None and order in self.asked:
            return False
        if self.trials.get(order, 0) == TRIALS:
            self.warn()
            return False
        if self.process is None:
            lock = lock_file()
            if lock is None:  # another process has a child
                return False
            try:
                self.start(lock)
            except OSError:
                return True
        assert self.process is not None
        assert self.process.stdin is not None
        self.trials[order] = self.trials.get(order, 0) + 1
        self.asked.add(order)
        with suppress(OSError):  # it may have ended just now
            self.process.stdin.write(f"{order}\n".encode())
        return False

    def warn(self) -> None:
        """Say once why there is no compiled code."""
        if not self.has_warned:
            self.has_warned = True
            warnings.warn(
                f"Compiling failed in a child process ({self.reason}), and the work goes on in NumPy; "
                "call refsvm.warm_up() to compile here, or see what is wrong.",
                stacklevel=5,
            )

    def start(self, lock: int) -> None:
        """Start the child, and a thread that waits for its end."""
        environment = {
            **os.environ,
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
            "MKL_NUM_THREADS": "1",
        }
        environment["NUMBA_CACHE_DIR"] = cache_folder() or ""
        self.process = process = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-c", COMMAND], env=environment, bufsize=0,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            # Ctrl-C is for the parent. In a session of its own the child would be no nicer than its parent: Linux
            # shares the processor among sessions first (sched_autogroup)
            process_group=0,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )  # fmt: skip
        self.asked = set()
        threading.Thread(target=self.wait, args=(process, lock), daemon=True, name="refsvm-compiler").start()
        assert process.stdin is not None
        process.stdin.write(f"{json.dumps(sys.path)}\n".encode())

    def wait(self, process: subprocess.Popen[bytes], lock: int) -> None:
        """Wait for the end of the child, and remember what it says of its failures."""
        assert process.stdin is not None
        assert process.stdout is not None
        said = process.stdout.read().decode(errors="replace").strip().splitlines()
        process.wait()
        if said:
            self.reason = said[-1]
        for each in (process.stdin, process.stdout):
            each.close()
        if lock >= 0:
            os.close(lock)
        self.process = None


_compiler = Compiler()


@atexit.register
def end() -> None:
    """End the child with its parent."""
    process = _compiler.process
    if process is not None:
        process.kill()
        process.wait()


def lock_file() -> int | None:
    """Return the file that is locked while this process has a child, −1 where files cannot be locked, or None."""
    user = os.getuid() if hasattr(os, "getuid") else ""
    of = hashlib.sha1(
        f"{stamp()} {cache_folder()} {__file__} {user}".encode(), usedforsecurity=False
    ).hexdigest()
    try:
        file = os.open(Path(tempfile.gettempdir(), f"refsvm-{of[:16]}.lock"), os.O_RDWR | os.O_CREAT, 0o600)
    except OSError:
        return -1
    try:
        if os.name == "nt":
            import msvcrt

            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
        else:
            import fcntl

            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        os.close(file)
        return None
    except OSError:  # not on this file system
        os.close(file)
        return -1
    return file


def _forget() -> None:
    """In a forked process: the child is its parent's, and so is the end of the pipe that keeps it alive."""
    global _compiler
    process, _compiler = _compiler.process, Compiler()
    if process is not None:
        process.returncode = 0  # nobody waits for it here
        for each in (process.stdin, process.stdout):
            if each is not None:
                each.close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
