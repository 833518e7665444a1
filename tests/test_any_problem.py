"""Any problem, any rules, both engines: equal steps, right gap and objective."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from refsvm import RBF, DualProblem, KKTGap, MaximumGain, SecondOrder, Status
from refsvm.core.solver.rules import Rules
from refsvm.testing import SHRINK_EARLY
from refsvm.testing.shipped import SELECTORS, STEPS

from .programs import module
from .settings import INTERPRETED, NUMBA, needs_jit

fuzz, open_boxes, trials = (module(f"audit.{name}") for name in ("fuzz", "open_boxes", "trials"))
Verdict, Trial, any_trial = fuzz.Verdict, trials.Trial, trials.any_trial

LIMITS = {"compared": 100, "limit": 200} if INTERPRETED or not NUMBA else {"compared": 200, "limit": 20_000}


@pytest.mark.seeds(*range(80))
def test_any_seed(seed):
    trial = any_trial(seed)
    if seed % 6 == 5:
        trial.options["cache_dtype"] = "float32"
    assert Verdict(trial, compiled=NUMBA, **LIMITS).complaints == []


@needs_jit
def test_open_boxes_indefinite_kernels_and_numbers_of_numpy():
    """`python -m benchmarks.audit open_boxes` draws 600 of them."""
    found = [open_boxes.case(seed, None) for seed in range(40)]
    assert [each for each in found if each.complaints] == []
    ends = Counter(count for each in found for count in each.counts)
    assert min(ends[name] for name in ("CONVERGED", "INSEPARABLE", "indefinite", "psd")) >= 3


# -- the checks themselves ---------------------------------------------------------------------------------------------


def trial_of(**changes) -> Trial:
    X = np.array([[0.0], [1.0], [2.0], [3.5]])
    problem = DualProblem.classification(X, [-1, 1, 1, -1], kernel=RBF(1.0), C=10.0)
    parts = {
        "problem": problem, "rules": Rules(SecondOrder(), STEPS[0], KKTGap(1e-6)), "psd": True,
        "magnitude": np.full((4, 4), 10.0), **changes,
    }  # fmt: skip
    return Trial(**parts)


def complaints(monkeypatch, **changes) -> str:
    """What is said if the solver returned another solution than it does."""
    plain = Verdict._solved

    def spoiled(self, *arguments, **options):
        solution = plain(self, *arguments, **options)
        for name, value in changes.items():
            object.__setattr__(solution, name, value(solution) if callable(value) else value)
        return solution

    assert Verdict(trial_of(), compiled=False).complaints == []
    with monkeypatch.context() as patch:
        patch.setattr(Verdict, "_solved", spoiled)
        return "; ".join(Verdict(trial_of(), compiled=False).complaints)


def test_a_wrong_solution_is_found_out(monkeypatch):
    assert "leaves the box" in complaints(monkeypatch, alpha=lambda s: s.alpha * 20.0)
    assert "is not z" in complaints(monkeypatch, alpha=lambda s: s.alpha * [1.0, 1.0, 1.0, 0.999999])
    said = complaints(monkeypatch, alpha=lambda s: s.alpha * 0.99, gradient=lambda s: s.gradient)
    assert "kkt_gap is" in said
    assert "CONVERGED with a gap" in said
    said = complaints(monkeypatch, alpha=lambda s: 0.9 * s.alpha, status=Status.STALLED)
    assert "STALLED with a gap" in said


def test_a_worse_objective_is_found_out(monkeypatch):
    pytest.importorskip("qpsolvers")
    pytest.importorskip("clarabel")
    assert "of the interior-point solver" in complaints(monkeypatch, alpha=lambda s: 0.999 * s.alpha)


@needs_jit
def test_engines_that_differ_are_found_out(monkeypatch):
    """The readable rule differs from its twin where two pairs gain the same."""
    monkeypatch.setattr(
        MaximumGain, "select", lambda self, state: (state.top, state.bottom) if state.gap > 1e-9 else (-1, -1)
    )
    trial = trial_of(rules=Rules(MaximumGain(), STEPS[0], KKTGap(1e-12)))
    assert any(said.startswith("engines differ at step ") for said in Verdict(trial).complaints)


def test_seeds_draw_all_rules_and_each_kind_of_problem():
    drawn = [any_trial(seed) for seed in range(300)]
    assert {type(rule) for rule in (*SELECTORS, *STEPS)} <= {type(r) for trial in drawn for r in trial.rules}
    for share in (
        [trial.psd for trial in drawn], [not trial.psd for trial in drawn],
        [trial.problem.z != 0.0 for trial in drawn], [trial.problem.upper.max() > 1e6 for trial in drawn],
        [trial.start is not None for trial in drawn], [trial.earlier is not None for trial in drawn],
        ["cache_mb" in trial.options for trial in drawn],
        [trial.options["shrinking"] is SHRINK_EARLY for trial in drawn],
    ):  # fmt: skip
        assert sum(share) >= 15
