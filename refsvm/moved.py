"""Keeps the module names of 0.4.0 in 0.5.0: a program that imports an old name gets the module and a warning.

Pickles written by refsvm 0.4.0 and earlier versions refer to classes by the old module names.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_loader
from types import ModuleType
from typing import Any, Final
from warnings import warn_explicit

INTO: Final = {
    "core": "_checks arithmetic backend engine formulations guards.base guards.rounding kernels paths.audit"
    " paths.duplicates paths.path paths.recorder paths.tracked paths.tracking primal problem result rounds.round"
    " rounds.rounds rounds.runner rounds.sufficiency rounds.walked rule seeders selectors solver state"
    " steps stopping trackers walk",
    "analysis": "derivatives multiclass paths scheme",
    "services": "guards identity store summary",
}
"""Folders and modules that were moved to another folder under the same name."""

PLACES: Final = {old: f"{folder}.{old}" for folder, names in INTO.items() for old in names.split()} | {
    "compiled.selectors.cache_aware": "compiled.services.cache_aware",
    "compiled.solver.small": "compiled.analysis.small.small",
    "engine.line": "services.line",
    "engine.pool": "services.pool",
    "kernels.differences": "analysis.derivatives.kernels",
    "kernels.growing": "analysis.growing",
    "kernels.names": "services.names",
    "paths.voted": "analysis.paths.error_curve",
    "rounds": "analysis.resampling",
    "rounds.progress": "core.rounds.left_out_table",
    "selectors.cache_aware": "services.cache_aware",
    "solver.rounding": "analysis.paths.novelty",
    "solver.solve": "analysis.solve",
    "solver.recording": "analysis.recording",
    "solver.small": "analysis.small.small",
    "solver.small_pairs": "analysis.small.small_pairs",
    "solver.stacked": "analysis.small.stacked",
}
"""New names by old names, both below `refsvm`; the contents of a folder have moved with it."""

PASSED_ON: Final = ("importlib", "importlib._bootstrap", "refsvm", __name__)
"""Modules that forward an import; the caller is the first module that is not among them."""


def place(name: str) -> str:
    """Return the new name of a module; "" if the module has not moved.

    Examples
    --------
    >>> from refsvm.moved import place
    >>> place("refsvm.selectors.second_order"), place("refsvm.rounds.task"), place("refsvm.estimators")
    ('refsvm.core.selectors.second_order', 'refsvm.analysis.resampling.task', '')
    """
    package, _, old = name.partition(".")
    while package == "refsvm" and old:
        if old in PLACES:
            return f"refsvm.{PLACES[old]}{name.removeprefix(f'refsvm.{old}')}"
        old = old.rpartition(".")[0]
    return ""


class Folder(ModuleType):
    """A package with functions named like its modules; importing such a module must not replace the function."""

    def __setattr__(self, name: str, value: Any) -> None:
        """Set an attribute, unless a module would replace the function of the same name."""
        if not (isinstance(value, ModuleType) and callable(vars(self).get(name))):
            super().__setattr__(name, value)


class Moved(MetaPathFinder, Loader):
    """Finds modules by their old names."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: Any = None) -> ModuleSpec | None:
        """Return the spec for an old name, or None."""
        new = place(name)
        return spec_from_loader(name, self, origin=new) if new else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Import the module from its new place, warn that its name has changed, and return the module."""
        warn(spec.name, str(spec.origin))
        module = import_module(str(spec.origin))
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Do not execute the module, which ran under its new name; put back the `__spec__` that the import replaced."""
        if module.__spec__:
            module.__spec__ = module.__spec__.loader_state
        if hasattr(module, "__path__"):
            module.__class__ = Folder


def warn(old: str, new: str) -> None:
    """Issue a warning for the line that imports the old name, but none for the parent folders imported before it."""
    frame, name = sys._getframe(1), old
    while frame.f_back and frame.f_globals.get("__name__") in PASSED_ON:
        if frame.f_globals["__name__"] == "importlib._bootstrap":
            name = frame.f_locals.get("name", name)
        frame = frame.f_back
    if name == old:
        says = f"{old} is now {new}, and 0.6.0 removes the old name: import the new name, and save old pickles again."
        registry = frame.f_globals.setdefault("__warningregistry__", {})
        file = frame.f_code.co_filename
        warn_explicit(says, DeprecationWarning, file, frame.f_lineno, registry=registry)


def install() -> None:
    """Put `Moved` first among Python's finders; otherwise Python loads the files of a moved folder twice."""
    sys.meta_path.insert(0, Moved())
