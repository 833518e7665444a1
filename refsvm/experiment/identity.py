"""Hashes the code that computes a run, to identify the run, and describes the machine."""

from __future__ import annotations

import hashlib
import platform
import re
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np

from refsvm.experiment.strategy import Strategy
from refsvm.services.identity import NoIdentityError, digest_of, hash_of_folders
from refsvm.services.identity.code import names_in
from refsvm.services.identity.origin import Origin, of_object


def code_of(*objects: Any) -> str:
    """Return a hash of the code that computes a run, and of all values to which this code refers.

    The hash includes this package's numerical folders. The hash also includes the given objects by value
    (`refsvm.services.identity.digest_of`): their classes and fields, their closures, and the code that they call in the
    user's files.

    Parameters
    ----------
    *objects : object
        A strategy, whose fields include its rules, and a kernel. The name of a strategy affects the hash only if the
        code of the strategy reads it.

    Returns
    -------
    str
        32 hexadecimal digits.

    Raises
    ------
    ValueError
        If a part of the objects cannot be identified by value.
    """
    summary = hashlib.blake2b(_numerical_folders(), digest_size=16)
    for each in objects:
        is_named = isinstance(each, Strategy) and not _reads_its_name(type(each))
        try:
            summary.update(digest_of(each, without=("name",) if is_named else ()).encode())
        except NoIdentityError as missing:
            raise ValueError(
                f"{type(each).__qualname__} cannot be identified by value: {missing}. Make this value a field, or "
                "a frozen "
                "dataclass with fields, or give the object that contains it an attribute identity='...', a text "
                "that you change whenever the value changes."
            ) from None
    return summary.hexdigest()


def _reads_its_name(cls: type) -> bool:
    """Return whether a user's class reads its attribute `name`; if so, the hash of a run includes the name."""
    own = [each for each in cls.__mro__ if of_object(each) is Origin.USER]
    functions = [
        each for namespace in own for each in vars(namespace).values() if isinstance(each, FunctionType)
    ]
    codes = [each.__code__ for each in functions if of_object(each) is Origin.USER]
    # skip methods that dataclass generates (file "<string>"), which show the name but compute nothing from it
    return any("name" in names_in(code) for code in codes if code.co_filename != "<string>")


@cache
def _numerical_folders() -> bytes:
    """Return a hash of this package's files that affect results."""
    return hash_of_folders(Path(__file__).parents[1])


@cache
def computed_by() -> dict[str, str | None]:
    """Return the versions of Python, NumPy, Numba and the BLAS, and the processor that computes a run.

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
