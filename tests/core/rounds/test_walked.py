"""When a problem counts as one of many steps, and which rounds are then walked to."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest

from refsvm import DualProblem, KKTGap, Linear, Rounds, Status
from refsvm.core.rounds import walked as module
from refsvm.core.rounds.round import Round, RoundResult
from refsvm.core.rounds.walked import EASY, ORIGIN, WALK, WALKED, few_steps, folds_walked_to, walked

FEW = few_steps(7)


@pytest.mark.parametrize(("n", "steps"), [(1, 10_000), (100, 10_000), (101, 10_100), (3000, 300_000)])
def test_ten_thousand_steps_are_many_or_a_hundred_for_each_variable(n, steps):
    assert few_steps(n) == steps


class Family:
    """Rounds of which that of all examples takes so many steps, and others one, or as said."""

    def __init__(self, steps, of_folds=1, first=0, ends=Status.CONVERGED):
        self.problem, self.steps, self.of_folds = SimpleNamespace(n=7), steps, of_folds
        self.first_iterations, self.status, self.ends, self.asked = first, Status.CONVERGED, ends, []
        self.solutions = {ORIGIN: SimpleNamespace(status=ends, iterations=steps, seconds=2.0)}
        self.rules = SimpleNamespace(stop=KKTGap(0.25, True))

    def run(self, plan, seeder, **_):
        for each in plan:
            self.asked.append((each.left_out, seeder))
            steps = self.steps if each.left_out is None else self.of_folds
            yield RoundResult(each.left_out, (), steps, "", self.ends, 0.0, 0.0, 0)

    def with_shrinking(self):
        return self


@dataclass(frozen=True)
class Ended:
    """A solution, as far as a walk looks at it."""

    status: Status
    iterations: int
    alpha: str
    seconds: float = 1.0

    def in_solver_coordinates(self, problem):
        return self.alpha, problem


PLAN = [Round(keep=ORIGIN), Round(2, ORIGIN), Round(3, ORIGIN)]


@pytest.mark.parametrize(
    ("origin", "plan", "walk", "walks"),
    [
        ({"steps": FEW - 1}, PLAN, WALK, False),
        ({"steps": FEW}, PLAN, WALK, True),
        ({"steps": FEW}, PLAN, None, False),
        ({"steps": 1, "of_folds": FEW}, PLAN, WALK, False),  # the origin alone decides
        ({"steps": 1, "first": FEW - 1}, PLAN[1:], WALK, False),
        ({"steps": 1, "first": FEW}, PLAN[1:], WALK, True),
    ],
    ids=["few", "many", "no walk", "a long fold", "held, of few", "held, of many"],
)
def test_folds_are_walked_to_where_their_origin_takes_many_steps(origin, plan, walk, walks):
    family = Family(**origin)
    ended = [*folds_walked_to(family, plan, "seeder", walk)]
    assert [each.left_out for each in ended] == [each.left_out for each in plan]
    assert family.asked == [
        (each.left_out, WALK if walks and each.left_out is not None else "seeder") for each in plan
    ]
    assert family.status is Status.CONVERGED


@pytest.mark.parametrize("status", [Status.CONVERGED, Status.TIME_LIMIT])
def test_an_origin_that_has_used_up_its_steps_is_walked_to_first(status, monkeypatch):
    """What the walk adds is a result of its own, and a limit on the way ends the rounds."""
    family, other = Family(FEW, ends=Status.MAX_ITER), Family(0)
    other.status = status
    found = Ended(status, FEW + 5, "moved", 2.5)
    asked = []
    monkeypatch.setattr(module, "walked", lambda *given: asked.append(given) or (other, found))
    _, more, *rest = folds_walked_to(family, PLAN, "seeder", WALK)
    assert asked == [
        (family, SimpleNamespace(status=Status.MAX_ITER, iterations=FEW, seconds=2.0), KKTGap(0.25, True))
    ]
    assert (more.left_out, more.iterations, more.status) == (None, 5, status)
    assert (more.seed_seconds, more.solve_seconds, more.kernel_rows) == (0.0, 0.5, 0)
    assert [each.left_out for each in rest] == ([2, 3] if status is Status.CONVERGED else [])
    assert other.asked == [(each.left_out, WALK) for each in rest]
    assert family.status is status
    assert family.solutions[ORIGIN] == other.solutions[ORIGIN] == ("moved", other.problem)


RNG = np.random.default_rng(4)
X = RNG.normal(size=(20, 2))
Y = np.where(X[:, 0] + RNG.normal(size=20) > 0.0, 1, -1)
LARGEST = float((X**2).sum(axis=1).max())


@pytest.mark.parametrize("share", [0.05, 0.099, 0.101, 0.5])
def test_a_walk_begins_at_a_tenth_of_the_penalty_at_most(share, monkeypatch):
    rounds = Rounds(
        DualProblem.classification(X, Y, kernel=Linear(), C=1.0 / (share * LARGEST)), shrinking=False,
        engine="numpy", stop=KKTGap(1e-6, relative=True),
    )  # fmt: skip
    plans, run = [], Rounds.run
    monkeypatch.setattr(
        Rounds, "run", lambda self, plan, *given: plans.extend(plan) or run(self, plan, *given)
    )
    begun = rounds.solve(max_iter=1)
    other, found = walked(rounds, begun, KKTGap(1e-3, relative=True))
    assert [(each.origin, each.keep) for each in plans] == [(None, EASY), (EASY, WALKED)] * (share < 0.1)
    assert share > 0.1 or pytest.approx(share, rel=1e-12) == plans[0].C
    assert found.status is Status.CONVERGED
    assert not {EASY, WALKED} & other.solutions.keys()
    assert found.seconds > begun.seconds


@pytest.mark.parametrize("most", [None, 50])
@pytest.mark.parametrize("exact", [Status.CONVERGED, Status.MAX_ITER])
@pytest.mark.parametrize("status", [Status.CONVERGED, Status.MAX_ITER, Status.STALLED])
def test_what_the_exact_step_has_solved_goes_on_to_the_rule_of_its_rounds(status, exact, most):
    """From there, within a limit, and its steps count as well. z is not 0: no walk."""
    problem, rows = SimpleNamespace(z=1.0, is_open=False, n=2), SimpleNamespace(diagonal=lambda: np.ones(2))
    asked, limits, start = [], [], SimpleNamespace(alpha="begun")

    def solve(**given):
        asked.append(given)
        limits.append(other.max_iter)
        return Ended(status, 20, "first") if len(asked) == 1 else Ended(exact, 3, "second")

    other = SimpleNamespace(problem=problem, rows=rows, status=Status.CONVERGED, solve=solve, max_iter=10**7)
    other.options = SimpleNamespace(max_iter=most)
    begun = Ended(Status.MAX_ITER, 100, "begun", 5.0)
    begun.__dict__["in_solver_coordinates"] = lambda _: start
    rounds, found = walked(SimpleNamespace(with_shrinking=lambda: other), begun, "loose")
    assert rounds is other
    assert other.max_iter == 10**7
    assert {*limits} == {most or 300_000}
    assert (asked[0]["start"], asked[0]["stop"]) == ("begun", "loose")
    again = status is Status.CONVERGED
    assert asked[1:] == [{"start": "first", "origin": ("first", problem)}] * again
    alpha = "second" if again and exact is Status.CONVERGED else "first"
    assert (found.status, found.iterations, found.alpha) == (status, 123 if again else 120, alpha)
    assert found.seconds > 5.0
