"""Notes and errors on stderr: one sentence each, no traceback."""

from __future__ import annotations

import errno
import logging
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
"""Errors of an output: a full disk, a reader that has gone, a quota."""

_told: dict[str, bool] = {"quiet": False, "verbose": False}
"""The flags --quiet and --verbose; the parser sets both before a command begins."""

# The parser's own base of wrong usage. Its module differs between versions of typer, its place in the family does not.
_WrongUsage: Final[Any] = typer.BadParameter.__mro__[1]


class OneSentence(TyperGroup):
    """A group of commands that ends in one sentence on stderr and exit code 2 where the input is bad."""

    def main(self, *args: Any, **options: Any) -> NoReturn:
        """Run a command and exit."""
        for stream in (sys.stdout, sys.stderr):
            if getattr(stream, "errors", None) == "strict" and hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="backslashreplace")  # code pages of Windows lack most letters
        try:
            with _warnings_as_notes(), listening(_tell_notice):
                code = super().main(*args, **{**options, "standalone_mode": False})
        except _WrongUsage as error:
            code = _refuse(error.format_message())
        except (
            SystemExit
        ) as ended:  # the reader, such as head, has seen enough, which Click takes for a failure
            if not isinstance(ended.__context__, BrokenPipeError):
                raise
            code = 0
        except OSError as error:
            code = _refuse(_system_message(error))
        # the package refuses input by these; anything else is a bug, and keeps its traceback
        except (ValueError, ImportError) as error:
            code = _refuse(str(error))
        except MemoryError:
            code = _refuse(
                "The data or the kernel rows do not fit into memory; give less data or a smaller --cache-mb."
            )
        except typer.Abort:
            _say("note: Interrupted; there is no result yet.")
            code = INTERRUPTED
        raise SystemExit(code if isinstance(code, int) else 0)  # a command that came to its end returns None


def be_quiet(wanted: bool) -> bool:
    """Leave out notes and progress; errors are printed all the same."""
    _told["quiet"] = wanted
    return wanted


def be_verbose(wanted: bool) -> bool:
    """Print the log of the package, too."""
    _told["verbose"] = wanted
    return wanted


def is_watched() -> bool:
    """Whether progress is visible: it goes to a terminal, and --quiet was not given."""
    return not _told["quiet"] and Stream(sys.stderr).isatty()


def note(text: str) -> None:
    """Print a sentence on stderr, unless --quiet was given."""
    if not _told["quiet"]:
        _say(text)


def unfinished(text: str) -> NoReturn:
    """Note the progress of a command that did not finish, and exit with code 3."""
    _say(f"refsvm: {text}")
    raise typer.Exit(UNFINISHED)


def interrupted(*sentences: str) -> NoReturn:
    """Print the results so far as a note, and exit after Ctrl-C."""
    for sentence in sentences:
        _say(f"note: {sentence}")
    raise typer.Exit(INTERRUPTED)


def _say(text: str) -> None:
    """Print one sentence, in a line, with a full stop."""
    line = printable(" ".join(text.split()))
    # on what is stderr now: while progress is shown, that prints above its line
    stream = Stream(sys.stderr)
    stream.write(f"{line}\n" if line.endswith((".", "?", "!")) else f"{line}.\n")
    stream.flush()  # a host program may have put a stream with a buffer there


def _refuse(text: str) -> int:
    _say(f"refsvm: {text}")
    return REFUSED


def _system_message(error: OSError) -> str:
    """Return the message of the operating system, with its file."""
    if error.strerror is None:
        return str(error)
    is_output = error.errno in _UNWRITTEN
    if error.filename is None:
        # files name themselves, see `refsvm.services.files`
        what = "The standard output cannot be written" if is_output else "The system refuses"
        return f"{what}: {error.strerror}"
    return f"{error.filename!r} cannot be {'written' if is_output else 'opened'}: {error.strerror}"


@contextmanager
def _warnings_as_notes() -> Iterator[None]:
    """Print what the package warns of as notes, each once."""
    said = set()

    def say(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
        # deprecations are for programmers
        if issubclass(category, (UserWarning, RuntimeWarning)) and str(message) not in said:
            said.add(str(message))
            note(f"note: {message}")

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = say
        yield


def _tell_notice(record: logging.LogRecord) -> None:
    """Print, as a note, a record of the package that is meant for the user of a command.

    The package marks them: ``logger.info("Compiling ...", extra={"notice": True})``.
    """
    if getattr(record, "notice", False) or _told["verbose"]:
        note(f"note: {record.getMessage()}")


@contextmanager
def listening(tell: Callable[[logging.LogRecord], None]) -> Iterator[None]:
    """Call `tell` for every record that the package logs meanwhile."""
    logger, handler = logging.getLogger("refsvm"), logging.Handler(logging.INFO)
    handler.emit = tell  # type: ignore[assignment, method-assign]
    # put back at the end: a program may have called the command line with its own settings
    level = logger.level
    logger.addHandler(handler)
    if logger.getEffectiveLevel() > logging.INFO:
        logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
