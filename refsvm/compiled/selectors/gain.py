"""Twin of `refsvm.selectors.gain`."""

from __future__ import annotations

from refsvm.compiled.interface.twin import inlined


@inlined
def exact_gain(slope, curvature, room):  # type: ignore[no-untyped-def]
    """Twin of `refsvm.selectors.gain.exact_gain` for one pair with ℓ > 0 and room > 0."""
    mu = min(slope / curvature, room)
    return mu * (2.0 * slope - mu * curvature)
