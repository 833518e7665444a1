"""What each check of leave-one-out is made of: what it needs, and what it leaves known."""

from __future__ import annotations

import pytest

from refsvm import Ball, TrainingError, XiAlphaBound, ZeroAlpha

from ..values import is_a_value


@pytest.mark.parametrize(
    ("check", "shown", "name", "needs_convex", "keeps_machine"),
    [
        (ZeroAlpha(), "ZeroAlpha()", "zero alpha", False, True),
        (TrainingError(), "TrainingError()", "training error", True, False),
        (XiAlphaBound(), "XiAlphaBound()", "xi-alpha bound", True, False),
        (Ball(), "Ball(seeder=TOP())", "ball", True, False),
    ],
    ids=repr,
)
def test_a_check_is_a_value(check, shown, name, needs_convex, keeps_machine):
    """Only an example whose α is 0 leaves the machine as it is, and any kernel will do for that."""
    is_a_value(check, shown, ())
    assert (check.name, check.needs_convex, check.keeps_machine) == (name, needs_convex, keeps_machine)
