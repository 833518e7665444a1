"""What each way to shrink is made of: its default settings, and the numbers that its twin gets."""

from __future__ import annotations

import pytest

from refsvm import Decomposition, LIBSVMShrinking, NoShrinking, Restriction

from ..values import is_a_value


@pytest.mark.parametrize(
    ("shrinking", "shown", "parameters"),
    [
        (NoShrinking(), "NoShrinking()", ()),
        (
            Restriction(),
            "Restriction(period=1000, copy_cost=1.0, full_gram_up_to=1500, multiple=32, block=512)",
            (1000.0, 1.0, 1500.0, 32.0, 512.0),
        ),
        (LIBSVMShrinking(), "LIBSVMShrinking(period=1000)", (1000.0,)),
        (Decomposition(), "Decomposition(size=10)", (10.0,)),
    ],
    ids=repr,
)
def test_a_shrinking_is_a_value(shrinking, shown, parameters):
    is_a_value(shrinking, shown, parameters)
