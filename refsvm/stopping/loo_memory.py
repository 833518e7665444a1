"""The memory of `refsvm.LOODualityGap`, and the constants that it shares with its twin."""

from __future__ import annotations

from typing import Final

__all__ = [
    "ASKED",
    "CODE",
    "CUTS",
    "EXACT",
    "EXAMPLE",
    "HEAD",
    "INDEFINITE",
    "LENGTH",
    "NEXT",
    "PARTNER",
    "PERIOD",
    "ROUNDING",
    "SINGULAR",
    "TAKEN",
    "F",
    "H",
]

EXAMPLE, TAKEN, NEXT, ASKED, CODE, H, F, PARTNER, LENGTH, HEAD = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9
"""Places in the memory: r; how far η has come, in steps of α, −1 before it begins; when F is due; when last asked, and
what was said; H; F; the partner that waits for its kernel row, in compiled code, and how far it will move. From HEAD
on: η, v − K′η, K[r] and v, n values each."""

PERIOD: Final = 10
"""Steps between two evaluations of F, once H has passed f(α)."""

ROUNDING: Final = 1e-10
"""By how much H has to exceed F, relative to both: more than rounding adds up to."""

SINGULAR: Final = 1e-10
"""A pair whose 2 × 2 part of K′ has a determinant of less, relative to the product of its diagonal, does not move."""

INDEFINITE: Final = -1e-8
"""Least curvature met, relative to Kᵣᵣ, from which on K counts as positive semi-definite."""

CUTS: Final = 64
"""Tangents at most in the search for b̂."""

EXACT: Final = 1e-13
"""The search for b̂ ends where the objective is as the tangents predict, up to this, relatively."""
