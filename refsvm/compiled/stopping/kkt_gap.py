"""Compiled twin of `refsvm.KKTGap`."""

from __future__ import annotations

from refsvm.compiled.interface.layout import CHECK
from refsvm.compiled.interface.twin import twin
from refsvm.compiled.stopping.relative import compare


@twin(CHECK)
def kkt_gap(parameters, state):  # type: ignore[no-untyped-def]
    """Compiled twin of `refsvm.KKTGap`."""
    # ψ ≤ ε, or ψ ≤ ε min(1, s/u)
    return compare(parameters[0], parameters[1], state.stop_memory, state)
