"""How the compiled loop calls a rule: through its pointer, or, for the default rules, built into the loop.

A call through a pointer hands over the whole state, some 80 ns each; on a shrunk problem of fifty variables that is
most of a step. So the loop is compiled a second time for the default rules, from the same source: in place of the
function it gets a marker, and the functions below turn the marker into a direct call, which the compiler inlines.

The disk cache of `refsvm.fast.loop` carries the stamp of every file of this folder, so that a built-in rule is never
out of date.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any, NamedTuple

import numba
from numba import types
from numba.extending import overload

from refsvm.fast.selectors import second_order
from refsvm.fast.steps import newton, planning_ahead
from refsvm.fast.stopping import kkt_gap

__all__ = ["as_argument", "check_with", "length_with", "select_with", "stamp"]

OPTIONS = {"error_model": "numpy", "_nrt": False, "forceinline": True}


class SecondOrderMarker(NamedTuple):
    """Stands for `second_order`."""

    built_in: int = 0


class NewtonMarker(NamedTuple):
    """Stands for `newton`."""

    built_in: int = 0


class PlanningAheadMarker(NamedTuple):
    """Stands for `planning_ahead`."""

    built_in: int = 0


class KKTGapMarker(NamedTuple):
    """Stands for `kkt_gap`."""

    built_in: int = 0


MARKERS = {
    second_order: SecondOrderMarker(),
    newton: NewtonMarker(),
    planning_ahead: PlanningAheadMarker(),
    kkt_gap: KKTGapMarker(),
}


def as_argument(twins: tuple[Any, Any, Any]) -> tuple[Any, Any, Any]:
    """Return the markers of three twins if all are default rules, the twins themselves otherwise."""
    if numba.config.DISABLE_JIT or any(twin not in MARKERS for twin in twins):
        return twins
    select, length, check = (MARKERS[twin] for twin in twins)
    return select, length, check


def select_with(rule, parameters, state):  # type: ignore[no-untyped-def]
    """Call a selector."""
    return rule(parameters, state)


def length_with(rule, parameters, state, i, j):  # type: ignore[no-untyped-def]
    """Call a step rule."""
    return rule(parameters, state, i, j)


def check_with(rule, parameters, state):  # type: ignore[no-untyped-def]
    """Call a stopping rule."""
    return rule(parameters, state)


def marks(rule: Any, marker: type) -> bool:
    """Whether the Numba type `rule` is that of a marker."""
    return isinstance(rule, types.BaseNamedTuple) and rule.instance_class is marker


@overload(select_with, jit_options=OPTIONS)
def _select(rule, parameters, state):  # type: ignore[no-untyped-def]
    if marks(rule, SecondOrderMarker):
        return lambda rule, parameters, state: second_order(parameters, state)
    return lambda rule, parameters, state: rule(parameters, state)


@overload(length_with, jit_options=OPTIONS)
def _length(rule, parameters, state, i, j):  # type: ignore[no-untyped-def]
    if marks(rule, NewtonMarker):
        return lambda rule, parameters, state, i, j: newton(parameters, state, i, j)
    if marks(rule, PlanningAheadMarker):
        return lambda rule, parameters, state, i, j: planning_ahead(parameters, state, i, j)
    return lambda rule, parameters, state, i, j: rule(parameters, state, i, j)


@overload(check_with, jit_options=OPTIONS)
def _check(rule, parameters, state):  # type: ignore[no-untyped-def]
    if marks(rule, KKTGapMarker):
        return lambda rule, parameters, state: kkt_gap(parameters, state)
    return lambda rule, parameters, state: rule(parameters, state)


def stamp() -> str:
    """Return a name for the present contents of this folder."""
    digest = hashlib.sha256()
    for file in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:12]
