"""Each guard alone, on a state made by hand; a run with other guards; and where a reaction to float32 may stand."""

from __future__ import annotations

import ast
import math
import re
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import refsvm
from refsvm import RBF, DualProblem, KKTGap, Linear, MostViolatingPair, NewtonStep, Status, solve
from refsvm.core.engine.limits import Limits
from refsvm.core.guards import rounding
from refsvm.core.guards.base import Guard, Verdict
from refsvm.core.guards.rounding import FreshGradient, Snap
from refsvm.core.solver.options import RunOptions
from refsvm.core.solver.rules import Rules, chosen_rules, row_store
from refsvm.core.solver.run import Run
from refsvm.core.solver.shrinking import Restriction
from refsvm.core.solver.validated import located
from refsvm.services.guards import float32, users_rules
from refsvm.services.guards.chosen import rows_and_guards
from refsvm.services.guards.float32 import Float32Rows
from refsvm.services.guards.kernel_values import Indefinite, Noise
from refsvm.services.guards.polish import Polish
from refsvm.services.guards.users_rules import FeasiblePoint, NoStepGuard, PointError

from ...decisions import Given, Never, state_of
from ...settings import FAST

RULES = Rules(MostViolatingPair(), NewtonStep(), KKTGap(1e-3))
DONE, OUT_OF_TIME = Verdict(Status.CONVERGED, 1), Verdict(Status.TIME_LIMIT)
X, Y = np.array([[0.0], [1.0], [2.0], [4.0]]), np.array([-1, 1, 1, -1])
PROBLEM = DualProblem.classification(X, Y, kernel=RBF(1.0), C=10.0)


def at(alpha=(0.0, 0.0, 0.0), gradient=(0.5, 0.0, -0.5), K=(1.0, 1.0, 1.0), **known):
    return state_of(RULES, K, gradient, alpha, **known)


def said_by(guard, *given):
    """What a guard says at the end of a run."""
    with warnings.catch_warnings(record=True, action="always") as said:
        guard.after(*given)
    return [str(each.message) for each in said]


# -- one guard at a time -----------------------------------------------------------------------------------------------


def test_a_warning_is_said_once_and_where_the_package_was_called():
    guard = Guard()
    with pytest.warns(UserWarning, match="too large") as said:
        guard.warn("too large")
    guard.warn("too large")  # a warning is an error in these tests
    assert len(said) == 1
    assert said[0].filename == __file__


@pytest.mark.parametrize(
    ("gap", "verdict", "expected"),
    [
        (0.0, DONE, DONE),  # the fresh G agrees
        (1.0, DONE, None),
        (1.0, Verdict(Status.STALLED), None),
        (0.0, Verdict(Status.STALLED), DONE),
        (1.0, OUT_OF_TIME, OUT_OF_TIME),  # G is made right, and no other verdict is looked for
    ],
)
def test_a_gradient_that_has_drifted_is_computed_afresh(gap, verdict, expected):
    state = at([0.0, 0.0, 0.0], [gap / 2, 0.0, -gap / 2])
    right, state.updates, state.largest = state.gradient.copy(), 10**6, 1e9
    state.gradient[:] = 7.0
    state.refresh(recompute=False)
    assert FreshGradient().review(state, RULES, verdict) == expected
    assert state.gradient.tolist() == right.tolist()


def test_a_gradient_that_has_not_drifted_stays(monkeypatch):
    state = at()
    state.gradient[:] = 7.0
    assert FreshGradient().review(state, RULES, DONE) == DONE
    assert state.gradient.tolist() == [7.0] * 3


def test_a_rule_that_each_fresh_gradient_contradicts_has_stalled(monkeypatch):
    monkeypatch.setattr(rounding, "drifted", lambda *_: True)
    guard, state = FreshGradient(), at()
    for _ in range(2):  # solves of one run, each of which counts anew
        answers = [guard.review(state, RULES, DONE) for _ in range(rounding.FRESH)]
        assert answers == [None] * (rounding.FRESH - 1) + [Verdict(Status.STALLED, 0)]
        guard.after(state, RULES, DONE)


def test_polish_moves_a_solution_alone():
    """K = I: α + G − b is the optimum, b the mean of G."""
    for verdict, moves in ((DONE, True), (OUT_OF_TIME, False)):
        state = at([0.1, 0.2, -0.3], [0.02, 0.0, -0.02])
        Polish().after(state, RULES, verdict)
        expected = [0.12, 0.2, -0.32] if moves else [0.1, 0.2, -0.3]
        np.testing.assert_allclose(state.alpha, expected, rtol=0, atol=1e-15)


def test_snap_sets_alpha_to_a_bound_within_rounding():
    state = at([1.0 - 2.0**-53, -0.5, -0.5], [0.25, 0.25, 0.25])
    Snap().after(state, RULES, DONE)
    assert state.alpha[0] == 1.0


@pytest.mark.parametrize("curvature", [-1.01e-8, -0.99e-8])
@pytest.mark.parametrize("size", [1.0, 1e6])
def test_a_negative_curvature_is_said_beyond_rounding(curvature, size):
    state = at(K=[size] * 3, least_curvature=curvature * size)
    said = said_by(Indefinite(), state, RULES, DONE)
    assert len(said) == (curvature < -1e-8)
    assert all("not positive semi-definite" in each for each in said)


@pytest.mark.parametrize(("size", "fixed"), [(1.0, 0.0), (1e9, 0.0), (1.0, 1e-9)])
def test_compiled_rounds_are_looked_at_where_values_are_rounded(size, fixed):
    gram = at(K=[size] * 3).problem.gram
    assert Noise().needs_solutions(gram, fixed) is (size == 1e9 or fixed > 0.0)
    assert not Indefinite().needs_solutions(gram, fixed)


@pytest.mark.parametrize("size", [1e9, 1e15])
@pytest.mark.parametrize("verdict", [DONE, OUT_OF_TIME])
def test_noise_is_said_of_a_solution_that_it_moves_beyond_the_tolerance(size, verdict):
    """2⁻⁵² of 1e15 is 0.2, of 1e9 2e-7."""
    state = at([0.5, 0.0, -0.5], [0.0, 0.0, 0.0], K=[size] * 3)
    assert len(said_by(Noise(), state, RULES, verdict)) == (size == 1e15 and verdict is DONE)


def test_a_shrinking_without_steps_is_refused(monkeypatch):
    monkeypatch.setattr(users_rules, "IDLE", 3)
    guard, state = NoStepGuard(Restriction()), at()
    for iteration in (0, 0, 0, 1, 1, 1, 1):
        state.iteration = iteration
        guard.before(state, RULES)
    with pytest.raises(RuntimeError, match=r"took no step in 3 calls"):
        guard.before(state, RULES)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"alpha": [0.5, 0.5, 0.0]}, "Σα is 1"),
        ({"alpha": [1.5, -0.5, -1.0]}, "outside the box by 0.5"),
        ({"gradient": [math.nan, 0.0, 0.0]}, "not finite"),
    ],
)
def test_a_point_that_no_steps_lead_to_is_refused(change, words):
    state = at()
    FeasiblePoint().after(state, RULES, DONE)
    for name, values in change.items():
        getattr(state, name)[:] = values
    with pytest.raises(PointError, match=words):
        FeasiblePoint().after(state, RULES, DONE)


def test_an_error_of_a_rule_says_where_it_happened():
    state = at(iteration=17)
    with pytest.raises(KeyError) as caught, located(state, RULES):
        raise KeyError("mine")
    assert "after 17 steps on 3 variables" in caught.value.__notes__[0]


def single(C, **known):
    """A state on float32 rows, and the guard that may leave them."""
    problem = DualProblem.classification(np.arange(6.0)[:, None], [-1, 1] * 3, kernel=RBF(0.3), C=C)
    rules = chosen_rules(None, None, KKTGap(1e-3))
    rows = row_store(problem, rules, 1.0, np.float32)
    state = rules.begin(problem, C * np.array([-1.0, 1.0] * 3), rows)
    return state, rules, Float32Rows(Limits(n=6), lambda: row_store(problem, rules, 1.0), **known)


@pytest.mark.parametrize(("C", "leaves"), [(1.0, False), (1e4, True)])
def test_float32_rows_are_left_where_they_move_g_too_far(C, leaves):
    """4 · 2⁻²⁴ √6 C against 1e-3."""
    state, rules, guard = single(C)
    before, state.least_curvature = state.gradient.copy(), -1.0
    assert guard.before(state, rules) is None
    assert state.rows.facts.keeps_float32 is not leaves
    assert np.array_equal(state.gradient, before) is not leaves
    if leaves:
        np.testing.assert_allclose(state.gradient, state.problem.gradient(state.alpha), rtol=0, atol=1e-9)
        assert not guard.can_leave
        state.measure(0, 1)  # what float32 values have said of K is forgotten
        assert state.least_curvature == state.raw_curvature > 0.0


def test_float32_rows_have_the_last_word_without_time_for_others(monkeypatch):
    state, rules, guard = single(1e4)
    guard._limits = Limits(n=6, time_limit=1e-9)
    monkeypatch.setattr(type(state.rows), "row_seconds", 1.0)
    assert guard.before(state, rules) == OUT_OF_TIME


@pytest.mark.parametrize(("C", "stands"), [(1.0, True), (500.0, False)])
def test_a_verdict_of_float32_rows_stands_up_to_a_tenth_of_the_tolerance(C, stands):
    """Beyond it the rule is asked once more, and here it goes on: less rounding is allowed from then on."""
    state, rules, guard = single(C)
    assert (guard.review(state, rules, DONE) == DONE) is stands
    assert guard._allowed == (1.0 if stands else 0.5)
    assert guard.review(state, rules, OUT_OF_TIME) == OUT_OF_TIME


@pytest.mark.parametrize("C", [1.0, 1e4])
def test_float32_rows_that_stay_are_said_beyond_a_tenth_of_the_tolerance(C):
    state, rules, guard = single(C)
    guard._in_float64 = None
    assert len(said_by(guard, state, rules, DONE)) == (C == 1e4)
    assert guard.error == pytest.approx(4.0 * 2.0**-24 * C * 6**0.5)
    assert float32.error_of(state) == guard.error


# -- the list ----------------------------------------------------------------------------------------------------------


def names(problem=PROBLEM, **options):
    guards = rows_and_guards(problem, RunOptions(cache_mb=1.0, **options), Limits(n=4))[1]
    assert [guard.for_users_rules for guard in guards] == [True] * 3 + [False] * (len(guards) - 3)
    return [type(guard).__name__ for guard in guards[3:]]


class Own(Restriction):
    """A shrinking of the user."""


def test_a_guard_that_does_not_apply_is_not_in_the_list():
    assert names() == ["FreshGradient", "Snap"]
    assert names(shrinking=Own(), polish=True) == ["FreshGradient", "NoStepGuard", "Polish", "Snap"]
    assert names(cache_dtype="float32") == ["FreshGradient", "Snap", "Float32Rows"]
    given = DualProblem.classification(gram=np.eye(4), y=Y)
    assert names(given) == ["FreshGradient", "Snap", "Indefinite", "Noise"]


def test_the_point_is_looked_at_where_a_rule_is_the_users():
    asked = []

    class Noted(Guard):
        def __init__(self, is_for_users):
            self.for_users_rules = is_for_users

        def after(self, state, rules, verdict):
            asked.append(self.for_users_rules)

    options = RunOptions(
        engine="numpy",
        rows_and_guards=lambda *run: (row_store(PROBLEM, RULES, 1.0), [Noted(True), Noted(False)]),
    )
    for rules, expected in (
        (RULES, [False]),
        (RULES._replace(selector=Given()), [True, False]),
        (RULES._replace(stop=Never()), [True, False]),
    ):
        asked.clear()
        with Run(PROBLEM, options) as run:
            run.limits.most = 3
            run.take_steps(rules.begin(PROBLEM, np.zeros(4), run.rows), rules)
        assert asked == expected


# -- a run with other guards -------------------------------------------------------------------------------------------


class Patience(Guard):
    """Ends a run at its second look, whatever has been reached."""

    looks = 0

    def before(self, state, rules):
        self.looks += 1
        return Verdict(Status.CALLBACK) if self.looks == 2 else None

    def review(self, state, rules, verdict):
        return None


def guarded(monkeypatch, change, problem=PROBLEM, **options):
    """Solve with the guards that `change` makes of those of the run."""

    def changed(*given):
        rows, guards = rows_and_guards(*given)
        return rows, change(guards)

    monkeypatch.setattr("refsvm.analysis.solve.rows_and_guards", changed)
    return solve(problem, **options)


def test_a_run_takes_a_guard_of_the_users(monkeypatch):
    solution = guarded(monkeypatch, lambda guards: [*guards, Patience()], engine="numpy")
    assert solution.status is Status.CALLBACK


@pytest.mark.parametrize(
    "left_out", [FreshGradient, NoStepGuard, Polish, Snap, Float32Rows, Indefinite, Noise]
)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("shrinking", [True, Own()], ids=["ours", "own"])
@pytest.mark.parametrize("engine", sorted({"numpy", FAST}))
def test_a_run_goes_on_without_any_one_guard(left_out, dtype, shrinking, engine, monkeypatch):
    problem = DualProblem.classification(gram=Linear()(X, X), y=Y, C=0.5)
    options = {"engine": engine, "polish": True, "cache_dtype": dtype, "shrinking": shrinking}
    expected = solve(problem, **options)

    def others(guards):
        return [each for each in guards if type(each) is not left_out]

    found = guarded(monkeypatch, others, problem, **options)
    assert found.status is Status.CONVERGED
    assert found.iterations == expected.iterations
    assert found.objective == pytest.approx(expected.objective, rel=1e-6)


# -- where a reaction may stand ----------------------------------------------------------------------------------------

PACKAGE = Path(refsvm.__file__).parent


def test_float32_is_reacted_to_in_guards_alone():
    """Of the files that have one of these names at all, those read it."""
    found = set()
    for file in PACKAGE.rglob("*.py"):
        text, name = file.read_text(encoding="utf-8"), file.relative_to(PACKAGE).as_posix()
        if name.startswith(("core/guards/", "services/guards/", "core/kernels/")) or not re.search(
            "keeps_float32|decision_error", text
        ):
            continue
        for node in ast.walk(ast.parse(text)):
            read = {getattr(node, "attr", None), getattr(node, "id", None)} & {
                "keeps_float32",
                "decision_error",
            }
            if read and not isinstance(getattr(node, "ctx", None), ast.Store):
                found.add(name)
    assert found == set()


# -- a long solve by a rule of the user --------------------------------------------------------------------------------


@pytest.mark.parametrize("most", [50, 11_000])
def test_a_long_solve_by_a_rule_of_ones_own_suggests_its_check(most):
    @dataclass(frozen=True)
    class Tiny(NewtonStep):
        def length(self, state, i, j):
            return min(1e-9, state.high)

    said = []
    with warnings.catch_warnings(record=True, action="always") as caught:
        for step in (Tiny(), NewtonStep()):
            solve(PROBLEM, step=step, stop=KKTGap(1e-300), max_iter=most, shrinking=False, engine="numpy")
            said.append(sum("check_strategy(Tiny(…))" in str(each.message) for each in caught))
    assert said == [most > 10_000] * 2
