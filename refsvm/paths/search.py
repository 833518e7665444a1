"""Which event search an engine uses."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, NamedTuple

from refsvm.paths import events, inverse, ordinary

__all__ = ["READABLE", "Search", "search_called"]


class Search(NamedTuple):
    """Functions of `refsvm.paths.events`, `refsvm.paths.inverse` and `refsvm.paths.ordinary`, or their twins."""

    rates: Callable[..., None]
    elbow_fall: Callable[..., float]
    outside_fall: Callable[..., float]
    advance: Callable[..., int]
    violation: Callable[..., float]
    insert: Callable[..., bool]
    delete: Callable[..., bool]
    follow: Callable[..., tuple[int, int, int]]


def _from(*modules: Any) -> Search:
    """Collect the functions."""
    found = {
        name: getattr(module, name) for module in modules for name in Search._fields if hasattr(module, name)
    }
    return Search(**found)


READABLE = _from(ordinary, inverse, events)


def search_called(engine: str) -> Search:
    """Return the readable functions, or their compiled twins.

    Raises
    ------
    ValueError
        If the engine is unknown, or compiled and Numba is not installed.
    """
    if engine not in ("auto", "numba", "numpy"):
        raise ValueError(f"engine={engine!r} is unknown; choose 'auto', 'numba' or 'numpy'.")
    if engine == "numpy" or (engine == "auto" and find_spec("numba") is None):
        return READABLE
    if find_spec("numba") is None:
        raise ValueError("engine='numba' needs Numba; install it, or use engine='numpy'.")
    from numba import config

    if engine == "auto" and config.DISABLE_JIT:  # interpreted loops are far slower than NumPy
        return READABLE
    from refsvm.fast import ordinary as ordinary_twins
    from refsvm.fast import paths

    return _from(ordinary_twins, paths)
