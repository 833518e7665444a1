"""Explains in one sentence why an installed Numba cannot be used."""

from __future__ import annotations

import os
from pathlib import Path
from types import TracebackType


class TwinError(ValueError):
    """Raised if the twin of a rule is not a compiled function."""


def numba_trouble(error: BaseException) -> str:
    """Return a sentence that explains an error of importing Numba, or of loading or compiling code with Numba.

    Parameters
    ----------
    error : BaseException
        The error that was raised.

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
    cause = f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
    folder = _cache_folder(error.__traceback__)
    if folder is not None:
        return (
            f"Numba's cache in {folder!r} cannot be used ({cause}); delete that folder, or set the variable "
            "NUMBA_CACHE_DIR to another folder"
        )
    if type(error).__module__ == "numba.core.errors":
        return (
            f"The twin of a rule cannot be compiled ({cause}); compile it by itself to see the whole message"
        )
    return f"Numba is installed and cannot be used ({cause}); repair the installation"


def is_numba_trouble(error: BaseException) -> bool:
    """Return True if Numba cannot be imported or Numba's cache cannot be used; return False for an error of a rule.

    Examples
    --------
    >>> from refsvm.compiled.trouble import is_numba_trouble
    >>> is_numba_trouble(ImportError("libllvmlite.so: no such file")), is_numba_trouble(ValueError("no twin"))
    (True, False)
    """
    return isinstance(error, ImportError) or _cache_folder(error.__traceback__) is not None


def _cache_folder(trace: TracebackType | None) -> str | None:
    """Return the folder of Numba's cache if the error was raised in Numba's cache code, or None."""
    folder = None
    while trace is not None:
        if Path(trace.tb_frame.f_code.co_filename).parts[-3:] == ("numba", "core", "caching.py"):
            cache = trace.tb_frame.f_locals.get("self")
            folder = getattr(cache, "_cache_path", folder) or os.environ.get("NUMBA_CACHE_DIR", "__pycache__")
        trace = trace.tb_next
    return None if folder is None else str(folder)
