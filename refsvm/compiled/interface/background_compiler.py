"""Background compilation: a child process compiles code that is not on disk, while the work continues in NumPy.

The child writes to Numba's cache, where its parent and all later processes find the code. The child reads orders from
its standard input. When the parent ends in any way, the child's input is closed, and the child ends. The child holds a
lock while it lives, so that among all processes that share a cache only one has a child. This module imports Numba only
in the child.

With ``REFSVM_COMPILE_BESIDE=0``, no child is started: each process compiles missing code when it needs the code. A
process also compiles code itself if it cannot start another Python, as in frozen or embedding programs.
"""

from __future__ import annotations

import atexit
import errno
import hashlib
import json
import os
import subprocess
import sys
import sysconfig
import tempfile
import threading
import warnings
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from queue import Empty, PriorityQueue
from typing import Any, Final

from refsvm.compiled.interface.code_files import COMPILED, cache_folder, can_keep
from refsvm.compiled.interface.stamp import stamp
from refsvm.compiled.trouble import numba_trouble
from refsvm.compiled.twins import mirrored

TRIALS: Final = 2
"""Largest number of times that the same code is ordered."""

IDLE_SECONDS: Final = 1.0
"""Seconds that a child waits for another order."""

NICENESS: Final = 5
"""Niceness of the child if there is only one core; the parent then gets three quarters of the core's time."""

STAND_INS: Final = {
    "selectors": "most_violating_pair",
    "steps": "overrelaxed",
    "stopping": "working_set_gap",
    "seeders": "cold",
}
"""Rules that are compiled in place of a user's own rules, because the loop calls all of them through pointers."""

SLOW: Final = {"seeders.ato", "seeders.mir"}
"""Twins that are compiled last, because compiling them takes longer than compiling all other twins together."""

PACKAGE: Final = str(Path(__file__).parents[2] / "__init__.py")

COMMAND: Final = """
import json, sys
from importlib.util import module_from_spec, spec_from_file_location
sys.path[:], package = json.loads(sys.stdin.readline())
spec = spec_from_file_location("refsvm", package)
sys.modules["refsvm"] = module_from_spec(spec)
spec.loader.exec_module(sys.modules["refsvm"])
from refsvm.compiled.interface.background_compiler import child
child()
"""
"""The child's program. It imports the package from the parent's file, because the path may lead to another copy."""


@cache
def is_on() -> bool:
    """Return True if a child process may compile."""
    is_python = Path(sys.executable or "").stem.lower().startswith(("python", "pypy"))
    wanted = os.environ.get("REFSVM_COMPILE_BESIDE", "1") != "0" and find_spec("numba") is not None
    compiles = os.environ.get("NUMBA_DISABLE_JIT", "0") in ("", "0")
    return wanted and compiles and is_python and not getattr(sys, "frozen", False)


class Compiler:
    """The child process that compiles for this process, and the orders for the child."""

    process: subprocess.Popen[str] | None = None
    reason = "it was ended"
    """The last message of the latest child."""

    def __init__(self) -> None:
        self.asked: set[str] = set()
        self.trials: dict[str, int] = {}
        self.has_warned = False

    def ask(self, order: str) -> bool:
        """Send the order to the child, unless the child already has it; return False if no child can be started."""
        if self.has_ended():
            # give up only after a second child, because the first child may have died for lack of memory
            if self.trials.get(order, 0) == TRIALS:
                self.warn()
                return True
            lock = lock_file()
            if lock is None:  # another process has a child that compiles
                return True
            try:
                self.start(lock)
            except OSError:
                return False
            finally:
                os.close(lock)  # the child has inherited the lock
        if order not in self.asked:
            self.asked.add(order)
            self.trials[order] = self.trials.get(order, 0) + 1
            self.send(order)
        return True

    def has_ended(self) -> bool:
        """Return True if there is no running child; forget a child that has ended."""
        process = self.process
        if process is not None and process.poll() is not None:
            messages = process.stdout.read().splitlines() if process.stdout is not None else []
            self.reason = messages[-1] if messages else self.reason
            _close(process)
            self.process = None
        return self.process is None

    def start(self, lock: int) -> None:
        """Start a child process, which inherits the lock."""
        # the child needs only one thread, because it only compiles
        threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        # a new child knows no earlier orders, so all code may be ordered again
        self.asked = set()
        self.process = subprocess.Popen(
            [sys.executable, *own_flags(), "-W", "ignore", "-c", COMMAND], text=True, encoding="utf-8",
            env={**os.environ, **threads, "NUMBA_CACHE_DIR": cache_folder() or ""},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            pass_fds=[lock] if os.name == "posix" else [],
            # give the child its own process group, so that Ctrl-C does not reach it, but not its own session: Linux
            # divides the processor equally among sessions, whatever the nice values of their processes are
            process_group=0,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )  # fmt: skip
        self.send(json.dumps([own_path(), PACKAGE]))

    def send(self, line: str) -> None:
        """Write an order to the standard input of the child."""
        assert self.process is not None
        assert self.process.stdin is not None
        with suppress(OSError):  # the child may have ended
            self.process.stdin.write(f"{line}\n")
            self.process.stdin.flush()

    def warn(self) -> None:
        """Warn once that compiling failed, and why."""
        if not self.has_warned:
            self.has_warned = True
            warnings.warn(
                f"Compiling failed in a child process ({self.reason}), and the work goes on in NumPy; "
                "call refsvm.warm_up() to compile in this process, or to see the error.",
                stacklevel=6,
            )


def _close(process: subprocess.Popen[str]) -> None:
    """Close the pipes to a child."""
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with suppress(OSError):
                pipe.close()


_compiler = Compiler()


def ask(family: str, rules: Any) -> bool:
    """Let a child process compile the code; return False if no child can be started and this process must compile it.

    Warns
    -----
    UserWarning
        Once in a process, if the child fails twice, or if no folder for compiled code is writable; the work continues
        in NumPy.
    """
    if not can_keep(COMPILED / "twins.py"):  # without a writable folder, code that the child compiles is lost
        return True
    return _compiler.ask(json.dumps([family, [place_of(rule) for rule in rules]]))


def place_of(rule: Any) -> str:
    """Return a rule's module path, such as "steps.newton"; for a user's rule, the path of a rule of the same family."""
    # a user's subclass of a rule of this package counts as a user's rule, because the loop calls it through a pointer
    names = [base.__module__ for base in type(rule).__mro__ if base.__module__.startswith("refsvm.")]
    places = [name.removeprefix("refsvm.").removeprefix("core.") for name in names]
    if type(rule).__module__ == names[0]:
        return places[0]
    folder = next(folder for place in places if (folder := place.partition(".")[0]) in STAND_INS)
    return f"{folder}.{STAND_INS[folder]}"


def own_flags() -> list[str]:
    """Return the child's options: the options of this interpreter, and -P, which drops the working directory.

    Without these options the child might run code that its parent does not run, such as a file json.py in the working
    directory or in a folder of PYTHONPATH.
    """
    return ["-P", *subprocess._args_from_interpreter_flags()]  # type: ignore[attr-defined]


def own_path() -> list[str]:
    """Return the module search path for the child: the path of this process without the working directory.

    Entries of `sys.path` that are not strings are left out, because Python ignores them.
    """
    # keep the working directory in the path if it is a folder in which packages are installed
    installed = sysconfig.get_paths().values()
    entries: list[Any] = [*sys.path]
    strings = [each for each in entries if isinstance(each, str)]
    return [each for each in strings if each in installed or not _is_working_directory(each)]


def _is_working_directory(folder: str) -> bool:
    """Return True if an entry of the path is the working directory; an empty entry means the working directory."""
    try:
        return not folder or Path(folder).samefile(".")
    except OSError:
        return False


def lock_folder() -> int:
    """Open the folder for locks, which must belong to this user only.

    Raises
    ------
    OSError
        If the folder cannot be used, for example because another user has made a folder of this name in the folder for
        temporary files.
    """
    name = f"refsvm-{os.getuid()}" if hasattr(os, "getuid") else "refsvm"
    place = Path(tempfile.gettempdir(), name)
    with suppress(FileExistsError):
        place.mkdir(mode=0o700)
    # refuse a symbolic link in place of the folder, because the link might lead to any folder of this user
    folder = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    state = os.fstat(folder)
    if state.st_uid != os.getuid() or state.st_mode & 0o077:
        os.close(folder)
        raise PermissionError(
            errno.EACCES, "the folder belongs to another user, or is open to others", str(place)
        )
    return folder


def lock_file() -> int | None:
    """Return an open file that is locked until all processes have closed it; return None if it is locked already.

    Without a folder for locks, each process has its own child, which is slower but correct.
    """
    key = f"{stamp()} {cache_folder()} {__file__} {os.getuid() if hasattr(os, 'getuid') else ''}"
    name = f"refsvm-{hashlib.sha1(key.encode(), usedforsecurity=False).hexdigest()[:16]}.lock"
    try:
        import fcntl

        folder = lock_folder()
        try:
            file = os.open(name, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600, dir_fd=folder)
        finally:
            os.close(folder)
    except (ImportError, OSError):  # this system has no file locks
        return os.open(os.devnull, os.O_RDWR)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(file)
        return None
    except OSError:  # this file system has no locks
        pass
    return file


@atexit.register
def end() -> None:
    """Kill the child process when this process ends."""
    process = _compiler.process
    if process is not None:
        # kill the child instead of waiting, because compiling may take seconds
        process.kill()
        process.wait()
        _close(process)


def _reset_after_fork() -> None:
    """In a forked process, forget the child, and close the pipe: an open pipe would keep the child alive."""
    global _compiler
    process, _compiler = _compiler.process, Compiler()
    if process is not None:
        process.returncode = 0  # only the process that started the child may wait for it
        _close(process)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_reset_after_fork)


# -- in the child --------------------------------------------------------------------------------------------------


def child() -> None:
    """Compile the code that each line of standard input orders; on failure, write a line to standard output."""
    # count the cores that this process may use; a container or a batch system may limit them
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    if cores == 1 and hasattr(os, "nice"):
        os.nice(NICENESS)
    orders: PriorityQueue[Any] = PriorityQueue()
    # read orders in another thread, which ends the process when the parent ends, even while this thread compiles
    threading.Thread(target=listen, args=(orders,), daemon=True).start()
    with suppress(Empty):
        while True:
            *_, (family, places) = orders.get(timeout=IDLE_SECONDS)
            try:
                from refsvm.compiled.interface.families import load

                load(family, tuple(mirrored(f"refsvm.core.{place}") for place in places))
            except Exception as error:  # noqa: BLE001  anything that the compiler raises
                sys.stdout.write(f"{numba_trouble(error)}\n")
    sys.stdout.flush()
    # exit without clean-up, because Numba's exit handlers could keep an orphaned process alive
    os._exit(0)


def listen(orders: PriorityQueue[Any]) -> None:
    """Read orders until the parent ends; then end this process at once, even in the middle of a compilation.

    Code for rounds is compiled before code for loops.
    """
    for number, line in enumerate(sys.stdin):
        family, places = json.loads(line)
        orders.put((2 if SLOW & set(places) else family.endswith("loop"), number, (family, places)))
    os._exit(0)
