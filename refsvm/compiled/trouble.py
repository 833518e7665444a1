"""Why Numba cannot be used although it is installed, in one sentence with the true cause."""

from __future__ import annotations

import os
from pathlib import Path
from types import TracebackType


class TwinError(ValueError):
    """Raised if the twin of a rule is no compiled function."""


def numba_trouble(error: BaseException) -> str:
    """Return the cause of an error while Numba was imported, or loaded or compiled something.

    Parameters
    ----------
    error : BaseException
        As it was raised.

    Returns
    -------
    str
        A sentence without the full stop: the cause, and after a semicolon the remedy.

    Examples
    --------
    >>> from refsvm.compiled.trouble import numba_trouble
    >>> numba_trouble(ImportError("libllvmlite.so: no such file"))
    'Numba is installed and cannot be used (ImportError: libllvmlite.so: no such file); repair the installation'
    """
    if isinstance(error, TwinError):
        return str(error).rstrip(".")
    lines = str(error).strip().splitlines()
    said = f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
    folder = _cache_folder(error.__traceback__)
    if folder is not None:
        return (
            f"Numba's cache in {folder!r} cannot be used ({said}); delete that folder, or name another one by the "
            "variable NUMBA_CACHE_DIR"
        )
    if type(error).__module__ == "numba.core.errors":
        return (
            f"The twin of a rule cannot be compiled ({said}); compile it by itself to see the whole message"
        )
    return f"Numba is installed and cannot be used ({said}); repair the installation"


def is_numba_trouble(error: BaseException) -> bool:
    """Whether Numba itself fails, rather than a rule: it cannot be imported, or its cache cannot be used.

    Examples
    --------
    >>> from refsvm.compiled.trouble import is_numba_trouble
    >>> is_numba_trouble(ImportError("libllvmlite.so: no such file")), is_numba_trouble(ValueError("no twin"))
    (True, False)
    """
    return isinstance(error, ImportError) or _cache_folder(error.__traceback__) is not None


def _cache_folder(trace: TracebackType | None) -> str | None:
    """Return the folder of Numba's cache if it was at work when the error was raised."""
    folder = None
    while trace is not None:
        if Path(trace.tb_frame.f_code.co_filename).parts[-3:] == ("numba", "core", "caching.py"):
            cache = trace.tb_frame.f_locals.get("self")
            folder = getattr(cache, "_cache_path", folder) or os.environ.get("NUMBA_CACHE_DIR", "__pycache__")
        trace = trace.tb_next
    return None if folder is None else str(folder)
