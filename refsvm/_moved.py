"""Modules that have moved: the names of 0.1 work until 0.4, with a DeprecationWarning.

``import refsvm.resampling.folds`` finds `refsvm.rounds.folds`. Nothing is imported before somebody
asks.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Final

__all__ = ["MOVED", "MovedModules"]

MOVED: Final = {
    "refsvm.resampling": "refsvm.rounds",
    "refsvm.resampling.cross_validation": "refsvm.rounds.cross_validate",
    "refsvm.resampling.folds": "refsvm.rounds.folds",
    "refsvm.resampling.grid": "refsvm.rounds.grid",
    "refsvm.resampling.leave_one_out": "refsvm.rounds.leave_one_out",
    "refsvm.resampling.result": "refsvm.rounds.results",
    "refsvm.resampling.sufficiency": "refsvm.rounds.sufficiency",
    "refsvm.solver.limits": "refsvm.engine.limits",
    "refsvm.solver.rounds": "refsvm.rounds.rounds",
    "refsvm.paths.algebra": "refsvm.walk.algebra",
    "refsvm.paths.backup": "refsvm.trackers.backup",
    "refsvm.paths.base": "refsvm.trackers.base",
    "refsvm.paths.breakpoint": "refsvm.walk.breakpoint",
    "refsvm.paths.elbow": "refsvm.walk.elbow",
    "refsvm.paths.events": "refsvm.walk.walk",
    "refsvm.paths.hastie": "refsvm.trackers.hastie",
    "refsvm.paths.linear_program": "refsvm.walk.linear_program",
    "refsvm.paths.runs": "refsvm.compiled.walk.runs",
    "refsvm.paths.special_events": "refsvm.walk.special_events",
    "refsvm.paths.state": "refsvm.walk.state",
    "refsvm.paths.svmp": "refsvm.trackers.svmp",
    "refsvm.fast": "refsvm.compiled",
    "refsvm.fast.dispatch": "refsvm.compiled.interface.dispatch",
    "refsvm.fast.layout": "refsvm.compiled.interface.layout",
    "refsvm.fast.seeding": "refsvm.compiled.interface.seeding",
    "refsvm.fast.twin": "refsvm.compiled.interface.twin",
}
"""The old name of each module that the documentation of 0.1 named, and where it is now."""


class MovedModules(MetaPathFinder, Loader):
    """Finds a module by its old name, and says so."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return what loads a module that has moved."""
        return ModuleSpec(name, self) if name in MOVED else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return the module itself: a class has one identity, whichever name it is asked for by."""
        new = MOVED[spec.name]
        warnings.warn(
            f"{spec.name} has moved to {new}; the old name goes in refsvm 0.4.",
            DeprecationWarning,
            stacklevel=2,
        )
        module = import_module(new)
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Give the module, which has run long since, its own specification back."""
        specification = module.__spec__
        assert specification is not None
        module.__spec__ = specification.loader_state


def find_moved_modules() -> None:
    """Put the finder before all others, once in a process: those behind it would load a second copy of a module."""
    if not any(isinstance(finder, MovedModules) for finder in sys.meta_path):
        sys.meta_path.insert(0, MovedModules())
