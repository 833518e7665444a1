"""The memory of `refsvm.BallRule`, and the constants that it shares with its twin."""

from __future__ import annotations

from typing import Final

__all__ = [
    "ASKED", "AT", "BEGUN", "CODE", "COUNT", "EXAMPLE", "HAS_POINT", "HEAD", "INTERCEPT", "NEAR", "NEXT", "PRIMAL",
]  # fmt: skip

EXAMPLE, BEGUN, NEXT, ASKED, CODE, COUNT, AT, PRIMAL, HAS_POINT, INTERCEPT, HEAD = range(11)
"""Places in the memory: r, −1 for all examples with an empty box; whether the first test has been; when the next is
due; when last asked, and what was said; how many examples are left out, and how many of them are proved; P(w); whether
w is given, and its b. From HEAD on, n values each: the left-out examples, as r, or ±(r + 1) once the sign is proved; α
and G of w; v."""

NEAR: Final = 0.03
"""KKT gap from which on the present machine is tried as w."""
