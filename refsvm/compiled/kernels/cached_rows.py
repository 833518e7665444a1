"""Twin of `refsvm.kernels.CachedRows`: a missing row of dense data is computed and stored without leaving the loop."""

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
def store_row(state, source):  # type: ignore[no-untyped-def]
    """Twin of `refsvm.kernels.cached_rows.CachedRows._store_one` for the row asked for; whether it is stored now."""
    now, filled, ready = state.now[0], source.numbers[0], source.numbers[1]
    i = now.missing
    # what is no missing row Python refuses, in a sentence
    if ready < 0 or i < 0 or i >= len(state.slots) or state.slots[i] >= 0:
        return False
    slot = filled
    if filled < len(source.rows):
        if filled >= ready:
            return False
        source.numbers[0] = filled + 1
    else:
        slot = 0
        for k in range(1, len(state.stamps)):
            slot = k if state.stamps[k] < state.stamps[slot] else slot
        if source.owners[slot] >= 0:
            state.slots[source.owners[slot]] = -1
    norm, gamma = source.norms[i], source.rows.dtype.type(source.gamma)
    write_row(source.X[i], norm, source.features, source.norms, gamma, source.rows[slot])
    now.computed += 1
    now.clock += 1
    source.owners[slot], state.slots[i], state.stamps[slot] = i, slot, now.clock
    return True
