"""The code that computes a run, which belongs to its identity, and the machine that computed it, which does not."""

from __future__ import annotations

import hashlib
import inspect
import platform
import re
import sys
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

import numpy as np

_NOT_NUMERICAL: Final = ("cli", "datasets", "display", "experiment", "testing")
"""Rooms of this package that no number of a run depends on, but by the examples and the strategy's own file."""


def code_of(*objects: Any) -> str:
    """Return a hash of the code that computes: the files of the objects' classes, and this package's numerical rooms.

    The classes are those of the objects, of the objects in their fields, and their bases; what their files import from
    elsewhere is not looked at. A class without a file, as in a notebook, counts by its source.

    Parameters
    ----------
    *objects : object
        A strategy, whose rules are among its fields, and a kernel.

    Returns
    -------
    str
        32 hexadecimal digits.
    """
    summary = hashlib.blake2b(_numerical_rooms(), digest_size=16)
    classes = {found for each in objects for found in _classes(each)}
    # sorted by the name: a set has another order in each process
    for _, code in sorted({(found.__module__, _source(found)) for found in classes}):
        summary.update(code)
    return summary.hexdigest()


def _classes(value: Any) -> Iterator[type]:
    """Classes of an object and of what it holds, those of Python and NumPy left out."""
    for found in type(value).__mro__:
        if found.__module__.partition(".")[0] not in {"numpy", *sys.stdlib_module_names}:
            yield found
    # a hybrid rule holds others, whose code decides, too
    held = [getattr(value, field.name) for field in fields(value)] if is_dataclass(value) else value
    for each in held if isinstance(held, list | tuple) else ():
        yield from _classes(each)


def _source(found: type) -> bytes:
    """Content of the file of a class; its own source if there is no file."""
    file = getattr(sys.modules.get(found.__module__), "__file__", None)
    try:
        return inspect.getsource(found).encode() if file is None else Path(file).read_bytes()
    # a class typed into an interpreter has no source; its name and fields have to do
    except (OSError, TypeError):
        return b""


@cache
def _numerical_rooms() -> bytes:
    """Hash of the files of this package that compute."""
    root, summary = Path(__file__).parents[1], hashlib.blake2b(digest_size=16)
    # whatever the disk lists first, the hash is the same
    for file in sorted(root.rglob("*.py")):
        if file.relative_to(root).parts[0] not in _NOT_NUMERICAL:
            summary.update(file.read_bytes())
    return summary.digest()


@cache
def computed_by() -> dict[str, str | None]:
    """Return the versions of Python, NumPy, Numba and the BLAS, and the processor, by which a run is computed.

    Examples
    --------
    >>> from refsvm.experiment.identity import computed_by
    >>> sorted(computed_by())
    ['blas', 'numba', 'numpy', 'processor', 'python']
    """
    cpu = Path("/proc/cpuinfo")
    model = re.search(r"model name\s*: (.*)", cpu.read_text(encoding="utf-8")) if cpu.is_file() else None
    blas: Any = np.show_config(mode="dicts")
    blas = blas["Build Dependencies"]["blas"]
    try:
        numba = version("numba")
    except PackageNotFoundError:
        numba = None
    return {
        "python": platform.python_version(),
        "numpy": np.__version__,
        "numba": numba,
        "blas": f"{blas['name']} {blas.get('version', '')}".strip(),
        "processor": platform.processor() or platform.machine() if model is None else model[1],
    }
