"""Old places of modules, for one version: importing one gives the module that it has become.

Pickles of 0.4.0 and before name classes by these places.
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

ROOMS: Final = {
    "derivatives": "analysis.derivatives",
    "engine": "core.engine",
    "guards": "services.guards",
    "identity": "services.identity",
    "kernels": "core.kernels",
    "kernels.functions": "core.kernels.functions",
    "multiclass": "analysis.multiclass",
    "paths": "analysis.paths",
    "paths.lines": "analysis.paths.lines",
    "rounds": "analysis.resampling",
    "seeders": "core.seeders",
    "selectors": "core.selectors",
    "solver": "core.solver",
    "steps": "core.steps",
    "stopping": "core.stopping",
    "trackers": "core.trackers",
    "walk": "core.walk",
}
"""Folders, by their old names below `refsvm`."""

FILES: Final = {
    "_checks": "core._checks",
    "arithmetic": "core.arithmetic",
    "backend": "core.backend",
    "engine.line": "services.line",
    "engine.pool": "services.pool",
    "formulations": "core.formulations",
    "guards.base": "core.guards.base",
    "guards.rounding": "core.guards.rounding",
    "kernels.growing": "analysis.growing",
    "kernels.names": "services.names",
    "paths.audit": "core.paths.audit",
    "paths.duplicates": "core.paths.duplicates",
    "paths.path": "core.paths.path",
    "paths.recorder": "core.paths.recorder",
    "paths.tracked": "core.paths.tracked",
    "paths.tracking": "core.paths.tracking",
    "primal": "core.primal",
    "problem": "core.problem",
    "result": "core.result",
    "rounds.progress": "core.rounds.progress",
    "rounds.round": "core.rounds.round",
    "rounds.rounds": "core.rounds.rounds",
    "rounds.runner": "core.rounds.runner",
    "rounds.sufficiency": "core.rounds.sufficiency",
    "rounds.walked": "core.rounds.walked",
    "rule": "core.rule",
    "scheme": "analysis.scheme",
    "selectors.cache_aware": "services.cache_aware",
    "solver.recording": "analysis.recording",
    "solver.small": "analysis.small.small",
    "solver.small_pairs": "analysis.small.small_pairs",
    "solver.stacked": "analysis.small.stacked",
    "state": "core.state",
    "store": "services.store",
    "summary": "services.summary",
}
"""Files that are not where their folder is."""


def place(name: str) -> str:
    """Return where a module is now; "" if it has not moved.

    Examples
    --------
    >>> from refsvm.moved import place
    >>> place("refsvm.selectors.second_order"), place("refsvm.rounds.task"), place("refsvm.estimators")
    ('refsvm.core.selectors.second_order', 'refsvm.analysis.resampling.task', '')
    """
    package, _, old = name.partition(".")
    if package != "refsvm":
        return ""
    if old in FILES:
        return f"refsvm.{FILES[old]}"
    room, rest = old, ""
    while room and room not in ROOMS:
        room, _, last = room.rpartition(".")
        rest = f".{last}{rest}"
    return f"refsvm.{ROOMS[room]}{rest}" if room else ""


class Moved(MetaPathFinder, Loader):
    """Finds modules at their old places."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: Any = None) -> ModuleSpec | None:
        """Return the spec of an old name; None of all others."""
        new = place(name)
        return spec_from_loader(name, self, origin=new) if new else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return the module that it has become."""
        module = import_module(str(spec.origin))
        self._own = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Leave it as it is: its spec is that of its new name."""
        module.__spec__ = self._own


def install() -> None:
    """Look at old places before others: the folder that one has become would load its files a second time."""
    sys.meta_path.insert(0, Moved())
