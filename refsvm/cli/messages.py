"""Prints notes and errors on stderr, each as one sentence without a traceback."""

from __future__ import annotations

import errno
import logging
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final, NoReturn

import typer
from typer.core import TyperGroup

from refsvm.services.line import Stream
from refsvm.services.printable import printable

INTERRUPTED: Final = 130
REFUSED: Final = 2
UNFINISHED: Final = 3

_UNWRITTEN: Final = {errno.ENOSPC, errno.EPIPE, errno.EIO, errno.EBADF, errno.EFBIG, errno.EDQUOT}
"""Codes of output errors: a full disk, a closed pipe, a quota."""

_flags: dict[str, bool] = {"quiet": False, "verbose": False}
"""The flags --quiet and --verbose, which the parser sets before a command starts."""

# find the class of usage errors among the bases of `BadParameter`: versions of typer import it from different modules
_WrongUsage: Final[Any] = typer.BadParameter.__mro__[1]


class OneSentence(TyperGroup):
    """A group of commands that prints one sentence on stderr and exits with code 2 if the input is bad."""

    def main(self, *args: Any, **options: Any) -> NoReturn:
        """Run a command with the arguments of the process, and exit with the command's code."""
        for stream in (sys.stdout, sys.stderr):
            if getattr(stream, "errors", None) == "strict" and hasattr(stream, "reconfigure"):
                # escape letters that a code page of Windows lacks
                stream.reconfigure(errors="backslashreplace")
        try:
            with _warnings_as_notes(), listening(_tell_notice):
                code = super().main(*args, **{**options, "standalone_mode": False})
                print(end="", flush=True)
        except _WrongUsage as error:
            code = _refuse(error.format_message())
        except SystemExit as ended:  # Click raises SystemExit if a program such as head closes the pipe
            if not isinstance(ended.__context__, BrokenPipeError):
                raise
            code = 0
        except OSError as error:
            code = 0 if isinstance(error, BrokenPipeError) else _refuse(_system_message(error))
            try:
                print(end="", flush=True)
            except OSError:  # redirect stdout, because Python would flush it again at exit, and fail
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        # print only the exceptions with which the package refuses input; other exceptions are bugs and need a traceback
        except (ValueError, ImportError) as error:
            code = _refuse(str(error))
        except MemoryError:
            code = _refuse(
                "The data or the kernel rows do not fit into memory; use fewer data or a smaller --cache-mb."
            )
        except typer.Abort:
            _say("note: Interrupted; there is no result yet.")
            code = INTERRUPTED
        raise SystemExit(code if isinstance(code, int) else 0)  # None means success


def be_quiet(wanted: bool) -> bool:
    """Suppress notes and progress lines, but not errors, from now on."""
    _flags["quiet"] = wanted
    return wanted


def be_verbose(wanted: bool) -> bool:
    """Print the package's log messages from now on."""
    _flags["verbose"] = wanted
    return wanted


def is_watched() -> bool:
    """Return whether a progress line would be visible: stderr is a terminal, and --quiet was not given."""
    return not _flags["quiet"] and Stream(sys.stderr).isatty()


def note(text: str) -> None:
    """Print a sentence on stderr, unless --quiet was given."""
    if not _flags["quiet"]:
        _say(text)


def unfinished(text: str) -> NoReturn:
    """Print a note about a command that ended incomplete, and exit with code 3."""
    _say(f"refsvm: {text}")
    raise typer.Exit(UNFINISHED)


def interrupted(*sentences: str) -> NoReturn:
    """Print a note that says what is done so far, and exit with the code for Ctrl-C."""
    for sentence in sentences:
        _say(f"note: {sentence}")
    raise typer.Exit(INTERRUPTED)


def _say(text: str) -> None:
    """Print one sentence on one line of stderr, ending with a full stop."""
    line = printable(" ".join(text.split()))
    # look up sys.stderr now: while progress is shown, it is a stream that prints above the progress line
    stream = Stream(sys.stderr)
    stream.write(f"{line}\n" if line.endswith((".", "?", "!")) else f"{line}.\n")
    stream.flush()  # a calling program may have replaced stderr by a buffered stream


def _refuse(text: str) -> int:
    _say(f"refsvm: {text}")
    return REFUSED


def _system_message(error: OSError) -> str:
    """Return a sentence with the operating system's error message and the name of the file concerned."""
    if error.strerror is None:
        return str(error)
    is_output = error.errno in _UNWRITTEN
    if error.filename is None:
        # errors of files contain a name (`services.files`), so this error comes from the output or the system
        what = "The standard output cannot be written" if is_output else "The system refuses"
        return f"{what}: {error.strerror}"
    return f"{error.filename!r} cannot be {'written' if is_output else 'opened'}: {error.strerror}"


@contextmanager
def _warnings_as_notes() -> Iterator[None]:
    """Inside the block, print each warning of the package as a note, once."""
    shown = set()

    def say(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
        # deprecations concern programmers
        if issubclass(category, (UserWarning, RuntimeWarning)) and str(message) not in shown:
            shown.add(str(message))
            note(f"note: {message}")

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = say
        yield


def _tell_notice(record: logging.LogRecord) -> None:
    """Print a log record of the package as a note if the record is marked as a message for users of the command line.

    The package marks a record for users in this way: ``logger.info("Compiling ...", extra={"notice": True})``.
    """
    if getattr(record, "notice", False) or _flags["verbose"]:
        note(f"note: {record.getMessage()}")


@contextmanager
def listening(tell: Callable[[logging.LogRecord], None]) -> Iterator[None]:
    """Call `tell` for every log record of the package inside the block."""
    logger, handler = logging.getLogger("refsvm"), logging.Handler(logging.INFO)
    handler.emit = tell  # type: ignore[assignment, method-assign]
    # restore the logger's settings at the end, because a Python program may have called the command line
    level = logger.level
    logger.addHandler(handler)
    if logger.getEffectiveLevel() > logging.INFO:
        logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
