"""The code that computes a run, which belongs to its identity, and the machine that computed it, which does not."""

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
    """Return a hash of the code that computes, and of all that it holds.

    It is of this package's numerical folders and of the objects by value (`refsvm.services.identity.digest_of`): their
    classes and fields, what their code closes over, and what it calls in files of the user.

    Parameters
    ----------
    *objects : object
        A strategy, whose rules are among its fields, and a kernel. The name of a strategy counts if its code reads it.

    Returns
    -------
    str
        32 hexadecimal digits.

    Raises
    ------
    ValueError
        If something in them has no identity by value.
    """
    summary = hashlib.blake2b(_numerical_folders(), digest_size=16)
    for each in objects:
        is_named = isinstance(each, Strategy) and not _reads_its_name(type(each))
        try:
            summary.update(digest_of(each, without=("name",) if is_named else ()).encode())
        except NoIdentityError as missing:
            raise ValueError(
                f"{type(each).__qualname__} cannot be told from another one: {missing}. Make that a field, or a frozen "
                "dataclass with its fields, or give what holds it an attribute identity='...', a text of your own "
                "that changes whenever it does."
            ) from None
    return summary.hexdigest()


def _reads_its_name(cls: type) -> bool:
    """Whether the code of a class of the user takes an attribute `name`, so that another name may be another run."""
    own = [each for each in cls.__mro__ if of_object(each) is Origin.USER]
    functions = [each for found in own for each in vars(found).values() if isinstance(each, FunctionType)]
    codes = [each.__code__ for each in functions if of_object(each) is Origin.USER]
    # what a dataclass makes of its fields shows the name, and computes nothing
    return any("name" in names_in(code) for code in codes if code.co_filename != "<string>")


@cache
def _numerical_folders() -> bytes:
    """Hash of the files of this package that compute."""
    return hash_of_folders(Path(__file__).parents[1])


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
