"""Shows the progress of a long call on one line of stderr, and rewrites this line.

A thread reads the `Progress` of the call at intervals, so that the computation neither writes nor waits. tqdm rewrites
the line, both in a terminal and in a notebook. If the line would not be visible, the call starts neither a line nor a
thread. `Stream` and `ProgressLine` catch every error of a stream, so that a broken stream only stops the line and never
the computation.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from functools import cache
from importlib.util import find_spec
from typing import Any, Final, Protocol

import numpy as np

from refsvm.core.engine.progress import Progress
from refsvm.services.printable import printable
from refsvm.services.summary import counted

SHOWN_FROM: Final = 2.0
"""Seconds before the line of a call appears with progress="auto"."""

REFRESH_SECONDS: Final = 0.25
"""Seconds between two states of the line."""

PLAIN_SECONDS: Final = 10.0
"""Seconds between two sentences if a line cannot be rewritten, as in a file."""

LOOK_SECONDS: Final = 0.1
"""Seconds between two checks by the thread."""


FINE_BELOW: Final = 9.95
"""Durations below this number of seconds are shown with a tenth."""

MINUTES_FROM: Final = 120.0
HOURS_FROM: Final = 7200.0
"""Durations from these numbers of seconds on are shown in minutes and in hours."""


class Writer(Protocol):
    """Base of the classes that show the text of a progress line."""

    seconds: float
    """Seconds between two texts."""

    def write(self, progress: Progress, text: str) -> None:
        """Show a text in place of the previous text."""

    def close(self) -> None:
        """End the line."""


def line_of(progress: Progress, wanted: Any) -> AbstractContextManager[Progress | None]:
    """Return a context manager that shows a line and yields `progress`, or yields None if it shows no line.

    A call inside another call, or parallel to another call in another thread, shows no line of its own. If no line
    would be visible, the context manager does nothing.

    Parameters
    ----------
    progress : Progress
        Progress of the call.
    wanted : bool or "auto"
        True shows the line, whose last state stays visible; if stderr is a file, the file gets a sentence every ten
        seconds. "auto" shows the line in a terminal or a notebook after two seconds if tqdm is installed, and removes
        the line at the end. False shows no line, neither for this call nor for calls inside it.

    Raises
    ------
    ValueError
        If `wanted` has another value.

    Examples
    --------
    >>> from refsvm.services.line import line_of
    >>> from refsvm.core.engine.progress import Progress
    >>> with line_of(Progress("leave_one_out"), "auto") as shown:
    ...     print(shown)
    None
    """
    if type(wanted) is str and wanted == "auto":
        return LineShown(ProgressLine(progress, stays=False)) if is_watched() else UNSEEN
    if not isinstance(wanted, bool | np.bool_):
        raise ValueError(f'progress={wanted!r} is unknown; choose True, False or "auto".')
    return LineShown(ProgressLine(progress, stays=True) if wanted else None)


UNSEEN: Final = nullcontext()
"""The context of a call without a line."""


class LineShown:
    """Context manager that shows a line during its block, or prevents calls inside the block from showing a line.

    Parameters
    ----------
    line : ProgressLine, optional
        The line; with None, neither the block nor the calls inside it show a line.
    """

    def __init__(self, line: ProgressLine | None) -> None:
        self._line, self._has_place = line, False

    def __enter__(self) -> Progress | None:
        self._has_place = _place.take(self._line)
        return None if self._line is None else self._line.progress

    def __exit__(self, *failure: object) -> None:
        if self._has_place:
            _place.free()
            if self._line is not None:
                self._line.close(failed=failure[0] is not None)


class Stream:
    """A wrapper of `sys.stderr` that never raises an error: after the first error of the stream it writes nothing.

    A host program may have replaced `sys.stderr` by None, a closed file, or an object with only some methods of a
    file.

    Examples
    --------
    >>> from refsvm.services.line import Stream
    >>> stream = Stream(None)
    >>> stream.write("text"), stream.isatty(), stream.columns()
    (0, False, 80)
    """

    def __init__(self, file: Any) -> None:
        self._file, self.encoding = file, self._asked(lambda: file.encoding, None)

    def _asked(self, question: Callable[[], Any], otherwise: Any) -> Any:
        try:
            return question()
        except Exception:  # noqa: BLE001  an object of the host program may raise anything
            return otherwise

    def isatty(self) -> bool:
        """Return whether the stream is an open terminal."""
        return bool(
            self._asked(lambda: not getattr(self._file, "closed", False) and self._file.isatty(), False)
        )

    def columns(self) -> int:
        """Return the width of the terminal in columns; 80 if the width is unknown."""
        return self._asked(lambda: os.get_terminal_size(self._file.fileno()).columns, 0) or 80

    def write(self, text: str) -> int:
        """Write a text unless the stream has failed; return the number of characters written."""
        if self._asked(lambda: (self._file.write(text),), None) is None:
            self._file = None
            return 0
        return len(text)

    def flush(self) -> None:
        """Flush the stream if it has a method `flush`."""
        self._asked(getattr(self._file, "flush", int), None)


class ProgressLine:
    """A line that shows the progress of a call and is rewritten when an update is due; any error ends the line.

    Parameters
    ----------
    progress : Progress
        Progress of the call.
    stays : bool
        Whether the last state stays visible. If True, the line appears in a terminal or notebook without delay.
    """

    def __init__(self, progress: Progress, stays: bool) -> None:
        self.progress, self.stays = progress, stays
        self._lock, self._is_open = threading.Lock(), True
        self._writer: Writer | None = None
        # show a line at once only if it can be rewritten; into a file, a short call writes one sentence as it ends
        is_at_once = stays and is_rewritten() and has_tqdm()
        self._due = time.perf_counter() + (0.0 if is_at_once else SHOWN_FROM)

    def look(self) -> None:
        """Show the present state of the call if an update is due."""
        with self._lock:
            if self._is_open and time.perf_counter() >= self._due:
                self._write()

    def close(self, failed: bool = False) -> None:
        """End the line; if the line stays, show the last state of the call."""
        with self._lock:
            if self._is_open and self.stays and not failed:
                self._write(is_over=True)
            self._is_open = False
            if self._writer is not None:
                with suppress(Exception):
                    self._writer.close()

    def _write(self, is_over: bool = False) -> None:
        try:
            self._writer = self._writer or writer(self.stays)
            self.progress.look()
            self._writer.write(self.progress, printable(self.progress.text(is_over)))
            self._due = time.perf_counter() + self._writer.seconds
        except Exception:  # noqa: BLE001  tqdm and notebook widgets may raise anything
            self._is_open = False


def writer(stays: bool) -> Writer:
    """Return the writer of a line: a `Bar` if the line can be rewritten, otherwise `Sentences`."""
    return Bar(stays) if is_rewritten() and has_tqdm() else Sentences()


class Bar:
    """A line of tqdm in a terminal or a notebook.

    Parameters
    ----------
    stays : bool
        Whether the last state of the line stays visible.
    """

    seconds = REFRESH_SECONDS

    def __init__(self, stays: bool) -> None:
        self._stays, self._bar, self._stream = stays, None, Stream(sys.stderr)  # type: bool, Any, Stream

    def write(self, progress: Progress, text: str) -> None:
        """Rewrite the line, with a bar if the total is known."""
        bar = " {bar}" if has_widgets() else " |{bar:10}|"  # tqdm draws a widget only for "{bar}"
        form = "{desc}" if progress.total is None else "{desc}" + bar
        if self._bar is None:
            place: dict[str, Any] = {"file": self._stream, "ncols": self._stream.columns(), "nrows": 20}
            self._bar = tqdm_here()(
                total=progress.total, desc=text, bar_format=form, leave=self._stays, initial=progress.done,
                **{"dynamic_ncols": True} if in_notebook() else place,
            )  # fmt: skip
            return
        if not in_notebook():  # follow the width of the terminal, which the user may change
            self._bar.ncols = self._stream.columns()
        if self._bar.total != progress.total:
            self._bar.reset(total=progress.total)
        self._bar.bar_format, self._bar.desc, self._bar.n = form, text, progress.done
        self._bar.refresh()

    def close(self) -> None:
        """End the line."""
        if self._bar is not None:
            if not self._stays and has_widgets():  # tqdm removes an unfinished bar only without a total
                self._bar.total = None
            self._bar.close()


class Sentences:
    """Writes the states of a call as sentences on stderr, one below the other."""

    seconds = PLAIN_SECONDS

    def write(self, progress: Progress, text: str) -> None:
        """Write a sentence."""
        stream = Stream(sys.stderr)
        stream.write(f"{text}\n")
        stream.flush()

    def close(self) -> None:
        """Do nothing: sentences on stderr need no end."""


def tqdm_here() -> Any:
    """Return tqdm's class for notebooks if ipywidgets can draw it, otherwise tqdm's class for terminals."""
    if has_widgets():
        from tqdm.notebook import tqdm
    else:
        from tqdm.std import tqdm
    # let tqdm start no thread to refresh the line, because the thread of this module refreshes it
    return type("tqdm", (tqdm,), {"monitor_interval": 0})


def in_notebook() -> bool:
    """Return whether this process is the kernel of a notebook."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)
    return hasattr(shell(), "kernel")


def has_widgets() -> bool:
    """Return whether ipywidgets can draw the line in a notebook."""
    return in_notebook() and find_spec("ipywidgets") is not None


def is_rewritten() -> bool:
    """Return whether stderr is a terminal or a notebook cell, where a line can be rewritten."""
    return Stream(sys.stderr).isatty() or in_notebook()


def is_watched() -> bool:
    """Return whether a line would be visible: tqdm can rewrite it, and the caller is the main process's main thread."""
    if not is_rewritten() or threading.current_thread() is not threading.main_thread():
        return False
    processes = sys.modules.get("multiprocessing.process")
    if processes is not None and processes.current_process().name != "MainProcess":
        return False
    return has_tqdm()


@cache
def has_tqdm() -> bool:
    """Return whether tqdm is installed."""
    return find_spec("tqdm") is not None


class Place:
    """Holds the single progress line of this process, and the thread that updates the line."""

    def __init__(self) -> None:
        self._line: ProgressLine | None = None
        self._is_free = True
        self._lock, self._is_taken = threading.Lock(), threading.Event()
        self._thread: threading.Thread | None = None

    def take(self, line: ProgressLine | None) -> bool:
        """Store the line of a call, or None if it shows none; return False if another call has not ended."""
        with self._lock:
            if not self._is_free:
                return False
            self._is_free, self._line = False, line
            if line is None:
                return True
            # let one thread update the lines of all calls, because starting a thread takes longer than a small solve
            if self._thread is None or not self._thread.is_alive():
                self._is_taken = threading.Event()
                self._thread = threading.Thread(target=self._watch, name="refsvm-line", daemon=True)
                with suppress(RuntimeError):  # if no thread can start, the line is written only at the end
                    self._thread.start()
            self._is_taken.set()
            return True

    def free(self) -> None:
        """Drop the progress line of this process, so that another call can show one."""
        with self._lock:
            self._is_free, self._line = True, None

    def _watch(self) -> None:
        """Update the progress line of this process at intervals; wait while the process shows none."""
        while True:
            with self._lock:
                line = self._line
                if line is None:
                    self._is_taken.clear()
            if line is None:
                self._is_taken.wait()
            else:
                line.look()
            time.sleep(LOOK_SECONDS)


_place = Place()


def text(progress: Progress, is_over: bool = False) -> str:
    """Return the sentence that the line shows; for a finished call, omit facts that matter only during the call."""
    known = [progress.under_way] if progress.under_way else []
    is_all = bool(progress.outcome) and progress.done == progress.total
    if progress.total is not None and not is_all and (progress.done or not progress.under_way):
        is_share = progress.unit == "percent"
        known.append(f"{progress.done:,}" + f" of {progress.total:,}" * (not is_share) + f" {progress.unit}")
    if progress.wrong is not None:
        known.append(f"{progress.wrong:,} wrong")
    if progress.gap is not None and not (is_over and progress.total and not progress.outcome):
        known.append(f"KKT gap {progress.gap:.3g}, {counted(progress.steps or 0, 'step')}")
    if progress.best:
        known.append(f"best {progress.best}")
    known.append(in_words(progress.seconds))
    if progress.outcome:
        return f"{progress.call}: {progress.outcome} {', '.join(known)}"
    if is_over:
        return f"{progress.call}: {', '.join(known)}"
    if (left := progress.seconds_left) is not None and progress.done != progress.total:
        known.append(f"{in_words(left)} left")
    key = "the stop button" if in_notebook() else "Ctrl-C"
    note = f"; {key} keeps {progress.kept}" if progress.kept else ""
    return f"{progress.call}: {', '.join(known)}{note}"


def in_words(seconds: float) -> str:
    """Return a duration in words, such as "2 minutes".

    Examples
    --------
    >>> from refsvm.services.line import in_words
    >>> in_words(8.2), in_words(150.0), in_words(9000.0)
    ('8.2 s', '2 minutes', '2.5 hours')
    """
    if seconds < MINUTES_FROM:
        return f"{seconds:.1f} s" if seconds < FINE_BELOW else f"{seconds:.0f} s"
    return f"{seconds / 60.0:.0f} minutes" if seconds < HOURS_FROM else f"{seconds / 3600.0:.1f} hours"


def checked_callback(callback: Any) -> Callable[[Progress], object] | None:
    """Return the callback; raise an error if it is neither None nor callable."""
    if callback is not None and not callable(callback):
        raise ValueError(
            f"callback={callback!r} cannot be called; pass a function with one argument, a refsvm Progress."
        )
    return callback


Progress.text = text
