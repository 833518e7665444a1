"""Finds the owner of code: Python and NumPy, an installed package such as refsvm, or the user."""

from __future__ import annotations

import hashlib
import os
import sys
import sysconfig
from enum import Enum
from functools import cache
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, Final

_PACKAGE: Final = Path(__file__).resolve().parents[2]

BY_NAME: Final = ("numpy",)
"""Installed packages whose objects are identified by name, as Python's are; a record lists the packages' versions."""


class Origin(Enum):
    """The owner of a piece of code."""

    PYTHON = "Python or NumPy"
    LIBRARY = "an installed package"
    USER = "the user"


@cache
def _places() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the folders of Python's modules and of installed packages, with links resolved."""
    paths = sysconfig.get_paths()
    own, installed = (
        tuple(sorted({str(Path(paths[name]).resolve()) + os.sep for name in names}))
        for names in (("stdlib", "platstdlib"), ("purelib", "platlib"))
    )
    return own, installed


def of_file(file: str | None, name: str) -> Origin:
    """Return the owner of the code in a file; `name` is the name of the module."""
    if file is None:
        # code without a file is built into Python, or was typed into an interpreter
        built_in = name in sys.builtin_module_names or name.startswith("_frozen_importlib")
        return Origin.PYTHON if built_in else Origin.USER
    path = str(Path(file).resolve())
    own, installed = _places()
    in_packages = path.startswith(installed) or {"site-packages", "dist-packages"} & set(Path(path).parts)
    if in_packages or path.startswith(f"{_PACKAGE}{os.sep}"):
        return Origin.PYTHON if name.partition(".")[0] in BY_NAME else Origin.LIBRARY
    return Origin.PYTHON if path.startswith(own) else Origin.USER


def of_module(module: ModuleType) -> Origin:
    """Return the owner of a module by its file, because a user's file may have the name of a Python module."""
    return of_file(getattr(module, "__file__", None), module.__name__)


def of_object(value: Any) -> Origin:
    """Return the owner of a class or function: the owner of the file that defines it."""
    name = getattr(value, "__module__", None)
    module = sys.modules.get(name) if isinstance(name, str) else None
    if module is None:
        return Origin.PYTHON if name in (None, "builtins") and not _functions(value) else Origin.USER
    origin = of_module(module)
    if origin is Origin.USER or named(value) is value:
        return origin
    # code that runs from text belongs to the user, even if its namespace contains the name of a Python module
    if not all(map(_is_of_a_module, _functions(value))):
        return Origin.USER
    # look at the files of the functions, because a class in a user's file may claim the name of another module
    files = {each.__code__.co_filename for each in _functions(value)}
    alien = [each for each in files if not each.startswith("<") and of_file(each, str(name)) is Origin.USER]
    return Origin.USER if alien or not files else origin


def named(value: Any) -> Any:
    """Return what a value's module contains under the value's name: the value itself, another object, or None."""
    place: Any = sys.modules.get(getattr(value, "__module__", None) or "builtins")
    for name in str(getattr(value, "__qualname__", "<>")).split("."):
        place = getattr(place, name, None)
    return place


def _functions(value: Any) -> list[FunctionType]:
    """Return a list with the functions of a class, or with the function itself."""
    held = [value, *vars(value).values()] if isinstance(value, type) else [value]
    return [each for each in held if isinstance(each, FunctionType)]


def _is_of_a_module(function: FunctionType) -> bool:
    """Return whether a function's globals are a module's globals, or the globals that Python gives a named tuple."""
    name = str(function.__globals__.get("__name__"))
    module = sys.modules.get(name)
    return name.startswith("namedtuple_") or (module is not None and vars(module) is function.__globals__)


def signature(value: Any) -> tuple[str, ...]:
    """Return the module and name of code that is not the user's; for a package, add the package's version and file."""
    names = str(getattr(value, "__module__", None)), str(getattr(value, "__qualname__", value))
    return names if of_object(value) is Origin.PYTHON else (*names, *release(names[0]))


def release(name: str) -> tuple[str, ...]:
    """Return the version of a module's package, and a hash of the module's file."""
    root = sys.modules.get(name.partition(".")[0])
    file = getattr(sys.modules.get(name), "__file__", None)
    content = "" if file is None or not Path(file).is_file() else _hash(file, Path(file).stat().st_mtime_ns)
    return str(getattr(root, "__version__", "")), content


@cache
def _hash(file: str, modified: int) -> str:
    """Return a file's hash; the cache finds it by the file's path and `modified`, the time of its last change."""
    return hashlib.blake2b(Path(file).read_bytes(), digest_size=16).hexdigest()
