"""What rules of every kind are made of: their settings, the numbers for their twins, and what they refuse."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from inspect import signature
from typing import Any, ClassVar

import numpy as np
import pytest

from refsvm import (
    ATO,
    AVG,
    MIR,
    RBF,
    SIR,
    SVMP,
    TOP,
    ActiveSet,
    Ball,
    BallRule,
    Check,
    Cold,
    ConjugateSecondOrder,
    ConjugateStep,
    Decomposition,
    DualProblem,
    EagerPlanningStep,
    Greedy,
    Hastie,
    HybridMaximumGain,
    ImprovedSMO,
    KKTGap,
    LIBSVMShrinking,
    LOODualityGap,
    MaximumGain,
    MostViolatingPair,
    NewtonStep,
    NoShrinking,
    OverrelaxedNewtonStep,
    PathTracker,
    PlanningAheadStep,
    Restriction,
    SecondOrder,
    Seeder,
    Shrinking,
    StepRule,
    StoppingRule,
    TrainingError,
    WorkingSetGap,
    WorkingSetSelector,
    XiAlphaBound,
    ZeroAlpha,
    solve,
)
from refsvm.core.stopping.base import validated_code

from ..values import begins_at, is_a_value, remembers_as, what_it_says

BASES = (WorkingSetSelector, StepRule, StoppingRule, Seeder, PathTracker, Shrinking, Check)
LEFT_OUT = {"left_out"}
ALGEBRA = "UpdatedInverse(least_indicator=1e-08, least_ratio=1e-08, qr=PivotedQR(eps_svd=1e-14))"
TOLERANCES = "eps_kkt=1e-07, eps_smo=1e-09, tau=1e-12, tau_2=1e-10, gamma=0.01"
OF_SVMP = (1e-7, 1e-9, 1e-12, 1e-10, 0.01, 50.0, 50.0)
RULES = [
    (MostViolatingPair(), "MostViolatingPair()", (), set()),
    (SecondOrder(), "SecondOrder(planned_range=0.9)", (0.9,), {"takes_candidates"}),
    (ConjugateSecondOrder(), "ConjugateSecondOrder()", (), {"takes_displacement"}),
    (Greedy(), "Greedy()", (), set()),
    # it alone may stall (theorem 7)
    (MaximumGain(), "MaximumGain(rows=2)", (2.0,), {"may_stall"}),
    (MaximumGain(rows=1), "MaximumGain(rows=1)", (1.0,), {"may_stall"}),
    (MaximumGain(rows="all"), "MaximumGain(rows='all')", (0.0,), {"may_stall"}),
    (HybridMaximumGain(), "HybridMaximumGain(eta=1e-08, rows=2)", (1e-8, 2.0), set()),
    (HybridMaximumGain(0.25, "all"), "HybridMaximumGain(eta=0.25, rows='all')", (0.25, 0.0), set()),
    (ImprovedSMO(), "ImprovedSMO(tol=0.001)", (1e-3,), set()),
    (NewtonStep(), "NewtonStep()", (), set()),
    (OverrelaxedNewtonStep(), "OverrelaxedNewtonStep(factor=1.1)", (1.1,), set()),
    (PlanningAheadStep(), "PlanningAheadStep(history=1)", (1.0,), set()),
    (PlanningAheadStep(3), "PlanningAheadStep(history=3)", (3.0,), set()),
    (EagerPlanningStep(), "EagerPlanningStep(history=1)", (1.0,), set()),
    (ConjugateStep(), "ConjugateStep(max_support=80)", (80.0,), {"uses_momentum"}),
    (KKTGap(), "KKTGap(tol=0.001, relative=False)", (1e-3, 0.0), set()),
    (KKTGap(0.1, relative=True), "KKTGap(tol=0.1, relative=True)", (0.1, 1.0), set()),
    (WorkingSetGap(), "WorkingSetGap(tol=0.001)", (1e-3,), set()),
    (BallRule(), "BallRule(tol=0.001, every=5, example=None, relative=False, near=inf)",
     (1e-3, 5.0, 0.0, math.inf), LEFT_OUT),
    (LOODualityGap(), "LOODualityGap(tol=0.001, example=None, variables=2, relative=False)",
     (1e-3, 2.0, 0.0), LEFT_OUT),
    # shares alone need no kernel row
    (Cold(), "Cold()", (), set()),
    (AVG(), "AVG()", (), set()),
    (ActiveSet(), "ActiveSet()", (), set()),
    (TOP(), "TOP()", (), {"reads_rows"}),
    (ATO(), "ATO(margin=1.0, max_events=1000, max_free=500, budget=0.3)", (1.0, 1000.0, 500.0, 0.3), {"reads_rows"}),
    (MIR(), "MIR(max_iter=50, tol=0.001)", (50.0, 1e-3), {"reads_rows"}),
    (SIR(), "SIR(seed_number=0)", (1.0,), {"reads_rows"}),
    (SIR(7), "SIR(seed_number=7)", (8.0,), {"reads_rows"}),
    (SIR(2**31 - 3), "SIR(seed_number=2147483645)", (2.0**31 - 2.0,), {"reads_rows"}),
    (SIR(2**31 - 2), "SIR(seed_number=2147483646)", (1.0,), {"reads_rows"}),
    (Hastie(), "Hastie(tol=1e-10)", (1e-10,), {"any_line", "may_refuse"}),
    (SVMP(), f"SVMP(algebra={ALGEBRA}, {TOLERANCES}, ell=50, refresh=50, starts_at_bound=False)", (*OF_SVMP, 0.0),
     {"any_line"}),
    (SVMP(starts_at_bound=True), f"SVMP(algebra={ALGEBRA}, {TOLERANCES}, ell=50, refresh=50, starts_at_bound=True)",
     (*OF_SVMP, 1.0), {"any_line"}),
    (NoShrinking(), "NoShrinking()", (), set()),
    (Restriction(), "Restriction(period=1000, copy_cost=1.0, full_gram_up_to=1500, multiple=32, block=512)",
     (1000.0, 1.0, 1500.0, 32.0, 512.0), set()),
    (LIBSVMShrinking(), "LIBSVMShrinking(period=1000)", (1000.0,), set()),
    (Decomposition(), "Decomposition(size=10)", (10.0,), set()),
    # only an example whose α is 0 leaves the machine as it is, and any kernel will do for that
    (ZeroAlpha(), "ZeroAlpha()", (), {"keeps_machine"}),
    (TrainingError(), "TrainingError()", (), {"needs_convex"}),
    (XiAlphaBound(), "XiAlphaBound()", (), {"needs_convex"}),
    (Ball(), "Ball(seeder=TOP())", (), {"needs_convex"}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("rule", "shown", "parameters", "says"), RULES, ids=[repr(case[0]) for case in RULES]
)
def test_a_rule_is_a_value(rule, shown, parameters, says):
    is_a_value(rule, shown, parameters)
    assert what_it_says(rule) == says
    base = next(base for base in BASES if isinstance(rule, base))
    if base in BASES[:3]:
        remembers_as(rule, base)
    elif base is Seeder:
        assert signature(rule.memory).parameters["steps"].default == 0
    assert base.checked("rule", rule) is rule


@pytest.mark.parametrize(
    ("kind", "name", "least"),
    [
        # planning needs a last working set, and the pair itself is two variables
        (PlanningAheadStep, "history", 1),
        (ConjugateStep, "max_support", 2),
        *((kind, "tol", 1e-300) for kind in (KKTGap, WorkingSetGap, BallRule, LOODualityGap)),
        (BallRule, "every", 1),
        (BallRule, "example", 0),
        (LOODualityGap, "example", 0),
        *((ATO, name, 0) for name in ("max_events", "max_free")),
        *((ATO, name, 1e-300) for name in ("margin", "budget")),
        (MIR, "max_iter", 1),
        (MIR, "tol", 1e-300),
        (SIR, "seed_number", 0),
        (Hastie, "tol", 1e-300),
        *((SVMP, name, 1e-300) for name in ("eps_kkt", "eps_smo", "tau", "tau_2", "gamma")),
        *((SVMP, name, 1) for name in ("ell", "refresh")),
        (LIBSVMShrinking, "period", 1),
        (Decomposition, "size", 2),
    ],
)
def test_the_least_that_a_rule_takes(kind, name, least):
    begins_at(kind, name, least)


@dataclass(frozen=True)
class OwnStep(StepRule):
    history: Any = 0

    def length(self, state, i, j):
        return 0.0


@dataclass(frozen=True)
class OwnStop(StoppingRule):
    """Always the same code."""

    reasons: ClassVar[tuple[str, ...]] = ("first", "second")
    code: Any = 0
    period: Any = 1

    def check(self, state):
        return self.code


def test_what_else_is_taken():
    assert HybridMaximumGain(eta=0.0).eta == 0.0
    for factor in (1e-3, 1.0, 1.999):
        assert OverrelaxedNewtonStep(factor).factor == factor
    for step in (OwnStep(3), OwnStep(np.int64(2))):
        assert StepRule.checked("step", step) is step
    for period in (True, 1, 2, 1000):  # a bool is a whole number in Python, and means each step
        assert StoppingRule.checked("stop", OwnStop(period=period)).period == period


@pytest.mark.parametrize("base", BASES, ids=lambda base: base.__name__)
def test_a_rule_without_a_body_cannot_be_made(base):
    with pytest.raises(TypeError, match="abstract"):
        base()


@pytest.mark.parametrize("said", [1, 2, np.int64(2), 1.0, np.float64(2.0), True, np.True_])
def test_a_code_is_any_whole_number_of_a_reason(said):
    problem = DualProblem.classification([[0.0], [1.0]], [1, -1], kernel=RBF(0.5))
    solution = solve(problem, stop=OwnStop(said), engine="numpy", shrinking=False)
    assert (solution.iterations, solution.reason) == (0, OwnStop.reasons[int(said) - 1])
    assert validated_code(OwnStop(), said) == int(said)


def without(*examples, stop):
    """Solve a problem of four examples without some of them."""
    problem = DualProblem.classification(np.eye(4), [1, -1, 1, -1], kernel=RBF(1.0))
    return partial(solve, problem.without([*examples]) if examples else problem, stop=stop)


ONE_CLASS = DualProblem.one_class(np.eye(3), kernel=RBF(1.0))
ROWS = r"(?s)rows=.* is unknown; give 2 \(the paper's rule\), 1 or \"all\"\."
REFUSED = [
    *((partial(SecondOrder, planned), r"planned_range=\S+ is outside \(0, 1\)") for planned in (0.0, 1.0)),
    *((partial(kind, rows=rows), ROWS) for kind in (MaximumGain, HybridMaximumGain)
      for rows in (0, 3, -1, 1.5, "none", None, 2j, np.array(2), np.array([1, 2]))),
    *((partial(HybridMaximumGain, eta=eta), "eta=") for eta in (-1e-300, 0.5, 0.6, 1.0, np.inf, np.nan)),
    *((partial(OverrelaxedNewtonStep, factor), r"factor=\S+ ") for factor in (0.0, -1.0, 2.0, 2.5, np.nan, np.inf)),
    *((partial(StepRule.checked, "step", OwnStep(history)),
       r"OwnStep.history is .*; give a whole number of working sets, 0 or more") for history in (-1, 1.0, "1", None)),
    (partial(StepRule.checked, "step", KKTGap()),
     r"step=KKTGap\(.*\) is not a StepRule; pass .* such as step=NewtonStep\(\)"),
    *((partial(StoppingRule.checked, "stop", OwnStop(period=period)),
       r"OwnStop.period is \S+; give a whole number of steps, at least 1.") for period in (0, -3, 1.0, None)),
    *((partial(validated_code, OwnStop(), code), r"check\(\) returned .*; expected a whole number from 0 to 2")
      for code in (3, -1, 1.5, "1", None, np.nan)),
    *((partial(LOODualityGap, **{name: value}), name)
      for name, value in (("tol", np.nan), ("example", 1.5), ("variables", 3))),
    (without(stop=BallRule()), "needs left-out examples"),
    (without(stop=LOODualityGap()), "needs one left-out example, with L = U = 0, but the problem has 0"),
    (without(1, 2, stop=LOODualityGap()), "but the problem has 2"),
    *((without(2, stop=kind(example=example)), f"example={example} is not left out of the problem")
      for kind in (BallRule, LOODualityGap) for example in (3, 99)),
    *((partial(solve, ONE_CLASS, stop=stop), "a problem with Σα = 0")
      for stop in (BallRule(), LOODualityGap(example=0))),
]  # fmt: skip


@pytest.mark.parametrize(("call", "sentence"), REFUSED)
def test_what_a_rule_refuses(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()
