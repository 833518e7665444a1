"""Twin of `refsvm.core.kernels.cached_rows.CachedRows`: computes and stores a missing row without leaving the loop."""

from __future__ import annotations

from refsvm.compiled.interface.twin import called
from refsvm.compiled.kernels.functions.rbf import gaussian_values
from refsvm.compiled.kernels.products import COLUMNS, add_products
from refsvm.compiled.kernels.sparse import sparse_row


@called
def write_row(i, source, out):  # type: ignore[no-untyped-def]
    """Write one row of the Gaussian kernel, or of the linear kernel if γ < 0, with the same bits as `Gram`."""
    zero, is_sparse, gamma = out.dtype.type(0), len(source.X) == 0, out.dtype.type(source.gamma)
    if is_sparse:
        data, indices, indptr, values, examples, ends = source.entries
        sparse_row(i, data, indices, indptr, values, examples, ends, out)
    for left in range(0, len(out), COLUMNS):
        right = min(left + COLUMNS, len(out))
        sums = out[left:right]
        if not is_sparse:
            for t in range(len(sums)):
                sums[t] = zero
            add_products(source.X[i], source.features, left, 0, len(source.features), sums)
        if gamma >= zero:
            gaussian_values(sums, gamma, source.norms[i], source.norms[left:right])
    if gamma >= zero:
        out[i] = 1.0  # set k(x, x) = 1, because the computed ‖x − x‖² may be a rounding error


@called
def slot_for(i, store):  # type: ignore[no-untyped-def]
    """Return a free slot for row i, or the slot of the least recently used row, or −1 if Python must find a slot."""
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
    """Twin of `refsvm.core.kernels.cached_rows.CachedRows._store_one`; return True if the requested row was stored."""
    now, stored, copies, indices = state.now[0], source.kept, source.copies, source.indices
    i = now.missing
    # leave an invalid request to Python, whose error explains the mistake
    if i < 0 or i >= len(state.slots) or state.slots[i] >= 0:
        return False
    copies.numbers[2] = now.clock
    example = indices[i] if len(indices) > 0 else i
    if stored.slots[example] < 0:
        slot = slot_for(example, stored) if len(source.norms) > 0 else -1
        if slot < 0:
            return False
        write_row(example, source, stored.values[slot])
        now.computed += 1
    if len(indices) > 0:
        slot = slot_for(i, copies)
        if slot < 0:
            return False
        row, out = stored.values[stored.slots[example]], copies.values[slot]
        for t in range(len(out)):
            out[t] = row[indices[t]]
    now.clock = copies.numbers[2]
    return True
