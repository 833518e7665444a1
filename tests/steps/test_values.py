"""What each step rule is made of: its default settings, and the numbers that its twin gets."""

from __future__ import annotations

import pytest

from refsvm import ConjugateStep, NewtonStep, OverrelaxedNewtonStep, PlanningAheadStep

from ..values import is_a_value


@pytest.mark.parametrize(
    ("step", "shown", "parameters"),
    [
        (NewtonStep(), "NewtonStep()", ()),
        (OverrelaxedNewtonStep(), "OverrelaxedNewtonStep(factor=1.1)", (1.1,)),
        (PlanningAheadStep(), "PlanningAheadStep(history=1)", (1.0,)),
        (PlanningAheadStep(3), "PlanningAheadStep(history=3)", (3.0,)),
        (ConjugateStep(), "ConjugateStep(max_support=80)", (80.0,)),
    ],
    ids=repr,
)
def test_a_step_is_a_value(step, shown, parameters):
    is_a_value(step, shown, parameters)


@pytest.mark.parametrize("factor", [0.0, -1.0, 2.0, 2.5, float("nan"), float("inf")])
def test_a_factor_with_which_a_step_may_lose_is_refused(factor):
    with pytest.raises(ValueError, match=r"factor=\S+ "):
        OverrelaxedNewtonStep(factor)


@pytest.mark.parametrize("factor", [1e-3, 1.0, 1.999])
def test_a_factor_with_which_a_step_gains_is_taken(factor):
    assert OverrelaxedNewtonStep(factor).factor == factor
