"""Finds the user's rules, named as FILE.py:NAME in ``refsvm compare --selectors`` or ``refsvm.compare``."""

from __future__ import annotations

import re
import sys
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from inspect import isabstract
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from refsvm.core._checks import hint
from refsvm.core.rule import Kind

IN_FILE: Final = re.compile(r"(.+\.py):(\w+)").fullmatch
"""Matches FILE.py:NAME."""


def rule_in_file(argument: str, text: str, family: type[Kind]) -> type[Kind]:
    """Return the class that FILE.py:NAME names; run the file once, and again after it has changed.

    Parameters
    ----------
    argument : str
        Name of the argument that contains the text, for error messages.
    text : str
        The file, a colon, and the name of the class.
    family : type
        The base class that the rule must have, such as `refsvm.WorkingSetSelector`.

    Raises
    ------
    ValueError
        If the file does not exist, raises an exception, or does not contain a rule of this base class under this
        name.

    Examples
    --------
    >>> from refsvm import WorkingSetSelector
    >>> from refsvm.experiment.own_rules import rule_in_file
    >>> rule_in_file("selectors", "nothing.py:Mine", WorkingSetSelector)
    Traceback (most recent call last):
    ValueError: selectors='nothing.py:Mine': there is no file 'nothing.py'; check spelling and folder.
    """
    match = IN_FILE(text)
    if match is None:
        raise ValueError(f"{argument}={text!r} names no file; give FILE.py:NAME, such as mine.py:Mine.")
    rule = _named_in(argument, Path(match[1]), match[2])
    if not isinstance(rule, type) or not issubclass(rule, family) or isabstract(rule):
        raise ValueError(
            f"{argument}={text!r} is not a complete {family.__name__}; make it a subclass of refsvm.{family.__name__} "
            "that defines all abstract methods."
        )
    return rule


def _named_in(argument: str, file: Path, name: str) -> Any:
    """Return the object with this name in a Python file."""
    text = f"{argument}='{file}:{name}'"
    if not file.is_file():
        raise ValueError(f"{text}: there is no file {str(file)!r}; check spelling and folder.")
    try:
        module = _run(file.resolve(), file.stat().st_mtime_ns)
    except Exception as error:
        raise ValueError(f"{text}: {file} raised {type(error).__name__}: {error}") from error
    if not hasattr(module, name):
        near = hint(name, vars(module), f"write class {name} in it.", shown=str)
        raise ValueError(f"{text}: {file} has no {name}; {near}")
    return getattr(module, name)


@cache
def _run(file: Path, changed: int) -> ModuleType:
    """Run a Python file and return its module; a cache keeps the module until the file changes."""
    name = file.stem if file.stem not in sys.modules else f"{file.stem} of {file}"
    spec = spec_from_file_location(name, file)
    assert spec is not None
    module = sys.modules[name] = module_from_spec(spec)
    try:
        # compile the text here, because Python would use old bytecode for a file that is edited twice within a second
        exec(compile(file.read_bytes(), file, "exec", dont_inherit=True), vars(module))
    except BaseException:
        del sys.modules[name]
        raise
    return module
