"""What each step rule is made of: its default settings, and the numbers that its twin gets."""

from __future__ import annotations

import pytest

from refsvm import (
    ConjugateStep,
    EagerPlanningStep,
    NewtonStep,
    OverrelaxedNewtonStep,
    PlanningAheadStep,
    StepRule,
)

from ...values import begins_at, is_a_value, remembers_as, what_it_says


@pytest.mark.parametrize(
    ("step", "shown", "parameters"),
    [
        (NewtonStep(), "NewtonStep()", ()),
        (OverrelaxedNewtonStep(), "OverrelaxedNewtonStep(factor=1.1)", (1.1,)),
        (PlanningAheadStep(), "PlanningAheadStep(history=1)", (1.0,)),
        (PlanningAheadStep(3), "PlanningAheadStep(history=3)", (3.0,)),
        (EagerPlanningStep(), "EagerPlanningStep(history=1)", (1.0,)),
        (ConjugateStep(), "ConjugateStep(max_support=80)", (80.0,)),
    ],
    ids=repr,
)
def test_a_step_is_a_value(step, shown, parameters):
    is_a_value(step, shown, parameters)
    remembers_as(step, StepRule)


@pytest.mark.parametrize("factor", [0.0, -1.0, 2.0, 2.5, float("nan"), float("inf")])
def test_a_factor_with_which_a_step_may_lose_is_refused(factor):
    with pytest.raises(ValueError, match=r"factor=\S+ "):
        OverrelaxedNewtonStep(factor)


@pytest.mark.parametrize("factor", [1e-3, 1.0, 1.999])
def test_a_factor_with_which_a_step_gains_is_taken(factor):
    assert OverrelaxedNewtonStep(factor).factor == factor


@pytest.mark.parametrize(
    ("kind", "name", "least"), [(PlanningAheadStep, "history", 1), (ConjugateStep, "max_support", 2)]
)
def test_the_least_of_what_a_step_looks_at(kind, name, least):
    """Planning needs a last working set, and the pair itself is two variables."""
    begins_at(kind, name, least)


def test_conjugate_steps_alone_need_the_last_displacement():
    for step in (NewtonStep(), OverrelaxedNewtonStep(), PlanningAheadStep()):
        assert what_it_says(step) == set()
    assert what_it_says(ConjugateStep()) == {"uses_momentum"}


def test_a_step_without_a_body_cannot_be_made():
    with pytest.raises(TypeError, match="abstract"):
        StepRule()
