"""Calls of rules in the compiled loop: through pointers, or directly for rules that are built into the loop.

A call through a pointer passes the whole state and takes some 80 ns. On a shrunk problem of fifty variables, calls
through pointers take most of the time of a step. Therefore the loop is also compiled separately for a few sets of
rules: such a loop gets a marker in place of each rule, and `call` turns the marker into a direct call, which the
compiler inlines.
"""

from __future__ import annotations

from collections import namedtuple
from functools import cache
from itertools import chain
from typing import Any

import numba
from numba import typeof
from numba.core.dispatcher import Dispatcher
from numba.core.types import FunctionType, WrapperAddressProtocol
from numba.extending import overload

from refsvm.compiled.interface.layout import LENGTH_AND_CARRY
from refsvm.compiled.interface.twin import HELPER, ready
from refsvm.compiled.selectors.conjugate_second_order import conjugate_second_order
from refsvm.compiled.selectors.most_violating_pair import most_violating_pair
from refsvm.compiled.selectors.second_order import second_order
from refsvm.compiled.steps.conjugate import conjugate
from refsvm.compiled.steps.newton import newton
from refsvm.compiled.steps.planning_ahead import planning_ahead
from refsvm.compiled.stopping.ball_rule import ball_rule
from refsvm.compiled.stopping.kkt_gap import kkt_gap

LOOPS = (
    (most_violating_pair, newton, kkt_gap),
    (second_order, newton, kkt_gap),
    (second_order, planning_ahead, kkt_gap),
    (second_order, planning_ahead, ball_rule),
    (second_order, conjugate, kkt_gap),
    (conjugate_second_order, conjugate, kkt_gap),
)
"""Sets of rules that are built into a loop; each set has its own compiled loop, and all other sets share one loop."""

BUILT_IN: dict[Any, Any] = {
    # give each marker type its own name, because the disk cache finds a type by its name in this module
    namedtuple(f"BuiltIn_{rule.__name__}", "nothing", defaults=(0,), module=__name__): rule
    for rule in dict.fromkeys(chain.from_iterable(LOOPS))
}
"""The marker type for each rule that is built in."""

globals().update({marker.__name__: marker for marker in BUILT_IN})
MARKERS = {rule: marker() for marker, rule in BUILT_IN.items()}
entry_points: dict[tuple[Any, ...], Any] = {}


def as_arguments(*rules: Any) -> tuple[Any, ...]:
    """Return the markers of three twins if these are built into a loop; otherwise return the twins."""
    if numba.config.DISABLE_JIT:
        return rules
    if are_built_in(*rules):
        return tuple(MARKERS[rule] for rule in rules)
    return tuple(ready(rule) for rule in rules)


def are_built_in(*rules: Any) -> bool:
    """Return True if the compiled loop contains the code of these three twins, which are the compiled rules."""
    return rules in LOOPS


def are_pointers(rules: tuple[Any, ...]) -> bool:
    """Return True if the loop calls these rules through pointers; `rules` is a result of `as_arguments`."""
    return not numba.config.DISABLE_JIT and type(rules[0]) not in BUILT_IN


def entry_point(function: Any, signature: tuple[Any, ...], rules: tuple[Any, ...]) -> Any:
    """Return a fast entry to a compiled function; its first arguments are the three rules, if `rules` is not empty.

    The function is compiled once for all rules that are passed as pointers, and once for each set of rules in `LOOPS`.
    The returned function avoids Numba's search for compiled code by argument types, which would take longer than many
    solves.
    """
    if not isinstance(function, Dispatcher):  # with NUMBA_DISABLE_JIT, Python runs the function
        return function
    uses_momentum = bool(rules) and getattr(rules[1], "signature", None) is LENGTH_AND_CARRY
    key = function, uses_momentum, *(type(rule) for rule in rules)
    # compile or load the function once in a process for each combination of rule types, and keep its address in a table
    if key not in entry_points:
        if rules and type(rules[0]) in BUILT_IN:
            signature = *(typeof(rule) for rule in rules), *signature[3:]
        elif uses_momentum:
            signature = signature[0], FunctionType(LENGTH_AND_CARRY), *signature[2:]
        function.compile(signature)
        entry_points[key] = function.overloads[signature].entry_point
    return entry_points[key]


class Pointer(WrapperAddressProtocol):
    """Passes a twin to compiled code as an address; looks up the address only once, because a look-up takes long."""

    def __init__(self, rule: Any) -> None:
        # look up the twin's address here, because Numba would search for compiled code by argument types in every call
        self._signature = rule.signature
        code = rule.get_compile_result(rule.signature)
        self._address = code.library.get_pointer_to_function(code.fndesc.llvm_cfunc_wrapper_name)

    def __wrapper_address__(self) -> int:
        """Return the address of the twin."""
        return int(self._address)

    def signature(self) -> Any:
        """The types of the twin's arguments and of its result."""
        return self._signature


@cache
def pointer_to(rule: Any) -> Any:
    """Return a twin in the form in which it is passed to compiled code."""
    rule = ready(rule)
    return Pointer(rule) if isinstance(rule, Dispatcher) and hasattr(rule, "signature") else rule


def call(rule, *arguments):  # type: ignore[no-untyped-def]
    """Call a rule, given as a pointer or as a marker."""
    return rule(*arguments)


@overload(call, jit_options={**HELPER, "forceinline": True})
def _call(rule, *arguments):  # type: ignore[no-untyped-def]
    marker = getattr(rule, "instance_class", None)
    if marker not in BUILT_IN:
        return lambda rule, *arguments: rule(*arguments)
    part = BUILT_IN[marker].inlined
    return lambda rule, *arguments: part(*arguments)
