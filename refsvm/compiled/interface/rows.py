"""Kernel rows for twins: a twin cannot compute a kernel row, so it reads a stored row or requests the row.

On large problems, the processor spends most of its time waiting for kernel rows from memory. The processor reads ahead
only to the end of a page of 4 KiB; `prefetch` requests the memory after this page.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

from refsvm.compiled.interface.twin import inlined

AHEAD = 1024
"""Number of values between the position that is read and the position that is prefetched."""

LONG = 3000
"""Rows of at least this length are prefetched; shorter rows stay in the processor's caches."""

LINE_BYTES = 64
"""Number of bytes in a cache line."""


@inlined
def row_or_ask(state, i):  # type: ignore[no-untyped-def]
    """Return kernel row i and True if the row is in memory; otherwise request row i, and return any row with False.

    A twin that gets False must return at once, with any value. When the row is in memory, the caller of the twin calls
    the twin again. `state` is the twin's argument, a `State` or a `Seeding`.
    """
    # request even a row with an index out of range, so that Python raises an error that explains the mistake
    slot = state.slots[i] if 0 <= i < len(state.slots) else -1
    if slot < 0:
        state.now[0].missing = i
    return state.kernel[max(slot, 0)], slot >= 0


@inlined
def prefetch(row, start, width):  # type: ignore[no-untyped-def]
    """Ask the processor to load the `width` values that begin `AHEAD` values after `start`; do not wait for them."""
    # do not request rows shorter than LONG: they are in the cache, and each request costs an instruction
    if len(row) >= LONG:
        first = start + AHEAD
        for t in range(first, min(first + width, len(row)), LINE_BYTES // row.itemsize):
            ask_for(row, t)


def ask_for(row, t):  # type: ignore[no-untyped-def]
    """Ask the processor to load row[t] into its cache; the uncompiled function does nothing."""


@overload(ask_for, inline="always")
def _ask_for(row, t):  # type: ignore[no-untyped-def]
    return lambda row, t: _ask_memory_for(row, t)  # noqa: PLW0108  Numba needs these arguments


@intrinsic  # type: ignore[misc,unused-ignore]
def _ask_memory_for(typing_context, row, t):  # type: ignore[no-untyped-def]
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = signature.args[0]
        array = context.make_array(kind)(context, builder, arguments[0])
        place = cgutils.get_item_pointer(context, builder, kind, array, [arguments[1]])
        byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        shape = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        instruction = builder.module.declare_intrinsic("llvm.prefetch", [byte], shape)
        # 0: load for reading; 3: keep in all caches; 1: load data, not instructions
        builder.call(instruction, [builder.bitcast(place, byte), number(0), number(3), number(1)])
        return context.get_dummy_value()

    return types.void(row, t), generate
