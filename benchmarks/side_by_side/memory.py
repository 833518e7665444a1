"""How much memory a process holds, as Linux reports it."""

from __future__ import annotations

from pathlib import Path

import numpy as np

__all__ = ["peak_size", "resident_size"]


def peak_size() -> float:
    """Return the largest resident size of this process so far, in bytes; NaN where /proc does not tell.

    ``getrusage`` would not do: there a new process inherits the peak of the one that started it.
    """
    return _status("self", "VmHWM")


def resident_size(process: int) -> float:
    """Return the resident size of a process, in bytes; NaN if there is no such process any more."""
    return _status(process, "VmRSS")


def _status(process: int | str, field_name: str) -> float:
    """Return a size in bytes from the status file of a process; NaN if there is none."""
    try:
        lines = Path(f"/proc/{process}/status").read_text(encoding="utf-8").splitlines()
    except OSError:
        return np.nan
    sizes = [float(line.split()[1]) * 1024 for line in lines if line.startswith(f"{field_name}:")]
    return sizes[0] if sizes else np.nan
