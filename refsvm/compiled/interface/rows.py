"""Kernel rows of a twin, which compiled code cannot compute: it reads a stored one, or asks Python for it.

Large problems wait for the memory of their rows. The processor reads ahead by itself, but no further than the end of a
page of 4 KiB; `prefetch` asks for what follows.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

from refsvm.compiled.interface.twin import inlined

AHEAD = 1024
"""Number of values by which the prefetch of a row is ahead of its reading."""

LONG = 3000
"""Length of the rows for which that pays: many shorter ones stay in the processor's caches."""

LINE_BYTES = 64
"""Bytes of a cache line."""


@inlined
def row_or_ask(state, i):  # type: ignore[no-untyped-def]
    """Return kernel row i and True if it is in memory; ask for it, and return any row and False, if it is not.

    A twin that gets False returns at once, whatever it likes. It is called again when the row is there. `state` is what
    the twin was given: a `State`, or a `Seeding`.
    """
    # an index out of range is asked for like any other: Python refuses it, in a sentence
    slot = state.slots[i] if 0 <= i < len(state.slots) else -1
    if slot < 0:
        state.now[0].missing = i
    return state.kernel[max(slot, 0)], slot >= 0


@inlined
def prefetch(row, start, width):  # type: ignore[no-untyped-def]
    """Ask for the memory of so many values of a row, `AHEAD` of the one at `start`; nothing waits for it."""
    # short rows are in a cache already, and each request costs an instruction
    if len(row) >= LONG:
        first = start + AHEAD
        for t in range(first, min(first + width, len(row)), LINE_BYTES // row.itemsize):
            ask_for(row, t)


def ask_for(row, t):  # type: ignore[no-untyped-def]
    """Ask for the memory of row[t]: an instruction of the processor. Where nothing is compiled, nothing."""


@overload(ask_for, inline="always")
def _ask_for(row, t):  # type: ignore[no-untyped-def]
    return lambda row, t: _ask_memory_for(row, t)  # noqa: PLW0108  Numba wants these arguments


@intrinsic  # type: ignore[misc,unused-ignore]
def _ask_memory_for(typing_context, row, t):  # type: ignore[no-untyped-def]
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = signature.args[0]
        array = context.make_array(kind)(context, builder, arguments[0])
        place = cgutils.get_item_pointer(context, builder, kind, array, [arguments[1]])
        byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        shape = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        instruction = builder.module.declare_intrinsic("llvm.prefetch", [byte], shape)
        # to read, soon again, as data
        builder.call(instruction, [builder.bitcast(place, byte), number(0), number(3), number(1)])
        return context.get_dummy_value()

    return types.void(row, t), generate
