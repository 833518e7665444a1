"""Which event search an engine uses."""

from __future__ import annotations

from importlib.util import find_spec
from types import ModuleType

from refsvm.paths import events

__all__ = ["search_called"]


def search_called(engine: str) -> ModuleType:
    """Return `refsvm.paths.events`, or its compiled twin.

    Raises
    ------
    ValueError
        If the engine is unknown, or compiled and Numba is not installed.
    """
    if engine not in ("auto", "numba", "numpy"):
        raise ValueError(f"engine={engine!r} is unknown; choose 'auto', 'numba' or 'numpy'.")
    if engine == "numpy" or (engine == "auto" and find_spec("numba") is None):
        return events
    if find_spec("numba") is None:
        raise ValueError("engine='numba' needs Numba; install it, or use engine='numpy'.")
    from numba import config

    if engine == "auto" and config.DISABLE_JIT:  # interpreted loops are far slower than NumPy
        return events
    from refsvm.fast import paths

    return paths
