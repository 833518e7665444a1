"""How a twin gets a kernel row, which compiled code cannot compute: it reads a stored one, or asks Python for it."""

from __future__ import annotations

from refsvm.compiled.interface.twin import inlined

__all__ = ["row_or_ask"]


@inlined
def row_or_ask(state, i):  # type: ignore[no-untyped-def]
    """Return kernel row i and True if it is in memory; ask for it, and return any row and False, if it is not.

    A twin that gets False returns at once, whatever it likes. It is called again when the row is there. `state` is what
    the twin was given: a `State`, or a `Seeding`.
    """
    slot = state.slots[i] if 0 <= i < len(state.slots) else -1
    if slot < 0:
        state.now[0].missing = i
    return state.kernel[max(slot, 0)], slot >= 0
