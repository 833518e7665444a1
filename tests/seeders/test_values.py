"""What each seeder is made of: its default settings, and the numbers that its twin gets."""

from __future__ import annotations

import pytest

from refsvm import ATO, AVG, MIR, SIR, TOP, ActiveSet, Cold
from refsvm.seeders.sir import FACTOR, MODULUS

from ..values import is_a_value


@pytest.mark.parametrize(
    ("seeder", "shown", "parameters"),
    [
        (Cold(), "Cold()", ()),
        (AVG(), "AVG()", ()),
        (TOP(), "TOP()", ()),
        (ActiveSet(), "ActiveSet()", ()),
        (ATO(), "ATO(margin=1.0, max_events=1000, max_free=500, budget=0.3)", (1.0, 1000.0, 500.0, 0.3)),
        (MIR(), "MIR(max_iter=50, tol=0.001)", (50.0, 1e-3)),
        (SIR(), "SIR(seed_number=0)", (1.0,)),
        (SIR(7), "SIR(seed_number=7)", (8.0,)),
    ],
    ids=repr,
)
def test_a_seeder_is_a_value(seeder, shown, parameters):
    is_a_value(seeder, shown, parameters)


def test_the_numbers_of_sir_are_those_of_the_published_generator():
    """The standard of C++ names the 10,000th number of `minstd_rand`, which begins with 1."""
    state = 1
    for _ in range(10_000):
        state = FACTOR * state % MODULUS
    assert state == 399_268_537
