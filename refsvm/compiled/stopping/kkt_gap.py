"""Twin of `refsvm.KKTGap`."""

from __future__ import annotations

from refsvm.compiled.interface.layout import CHECK
from refsvm.compiled.interface.twin import twin

__all__ = ["kkt_gap"]


@twin(CHECK)
def kkt_gap(parameters, state):  # type: ignore[no-untyped-def]
    """Twin of `refsvm.KKTGap`."""
    # ψ ≤ ε
    return int(state.now[0].gap <= parameters[0])
