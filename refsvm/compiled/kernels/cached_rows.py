"""Twin of `refsvm.kernels.CachedRows`: a missing row is made and stored without leaving the loop."""

from __future__ import annotations

from refsvm.compiled.interface.twin import called
from refsvm.compiled.kernels.functions.rbf import gaussian_values
from refsvm.compiled.kernels.products import COLUMNS, add_products


@called
def write_row(x, x_norm, features, norms, gamma, out):  # type: ignore[no-untyped-def]
    """Write one whole row, of the Gaussian kernel or, where γ < 0, of the linear one: the bits of `gaussian_rows`."""
    zero = out.dtype.type(0)
    for left in range(0, len(out), COLUMNS):
        right = min(left + COLUMNS, len(out))
        sums = out[left:right]
        for t in range(len(sums)):
            sums[t] = zero
        add_products(x, features, left, 0, len(features), sums)
        if gamma >= zero:
            gaussian_values(sums, gamma, x_norm, norms[left:right])


@called
def slot_for(i, store):  # type: ignore[no-untyped-def]
    """Return a free slot for row i, or that of the least recently used one; −1 where Python has to do it."""
    numbers, stamps = store.numbers, store.stamps
    slot, ready = numbers[0], numbers[1]
    if ready < min(slot + 1, len(stamps)):
        return -1
    if slot < len(stamps):
        numbers[0] = slot + 1
    else:
        slot = 0
        for k in range(1, len(stamps)):
            slot = k if stamps[k] < stamps[slot] else slot
        if store.owners[slot] >= 0:
            store.slots[store.owners[slot]] = -1
    numbers[2] += 1
    store.owners[slot], store.slots[i], stamps[slot] = i, slot, numbers[2]
    return slot


@called
def store_row(state, source):  # type: ignore[no-untyped-def]
    """Twin of `refsvm.kernels.cached_rows.CachedRows._store_one` for the row asked for; whether it is stored now."""
    now, kept, copies, indices = state.now[0], source.kept, source.copies, source.indices
    i = now.missing
    # what is no missing row Python refuses, in a sentence
    if i < 0 or i >= len(state.slots) or state.slots[i] >= 0:
        return False
    copies.numbers[2] = now.clock
    there = indices[i] if len(indices) > 0 else i
    if kept.slots[there] < 0:
        slot = slot_for(there, kept) if len(source.X) > 0 else -1
        if slot < 0:
            return False
        gamma = kept.values.dtype.type(source.gamma)
        write_row(
            source.X[there], source.norms[there], source.features, source.norms, gamma, kept.values[slot]
        )
        now.computed += 1
    if len(indices) > 0:
        slot = slot_for(i, copies)
        if slot < 0:
            return False
        row, out = kept.values[kept.slots[there]], copies.values[slot]
        for t in range(len(out)):
            out[t] = row[indices[t]]
    now.clock = copies.numbers[2]
    return True
