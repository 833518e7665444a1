"""When a problem counts as one of many steps, and which rounds are then walked to."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from refsvm import DualProblem, KKTGap, Linear, Rounds, Status
from refsvm.core.rounds.round import Round, RoundResult
from refsvm.core.rounds.walked import EASY, ORIGIN, WALK, WALKED, few_steps, folds_walked_to, walked

from ...settings import noisy_classes

FEW, MOST = few_steps(7), 10**6


@pytest.mark.parametrize(("n", "steps"), [(1, 10_000), (100, 10_000), (101, 10_100), (3000, 300_000)])
def test_ten_thousand_steps_are_many_or_a_hundred_for_each_variable(n, steps):
    assert few_steps(n) == steps


class Family:
    """Rounds of which that of all examples takes so many steps, and others one, or as said."""

    def __init__(self, steps, of_folds=1, first=0, ends=Status.CONVERGED):
        self.problem, self.steps, self.of_folds = SimpleNamespace(n=7), steps, of_folds
        self.first_iterations, self.status, self.ends, self.asked = first, Status.CONVERGED, ends, []
        self.solutions = {ORIGIN: SimpleNamespace(status=ends, iterations=steps, seconds=2.0)}
        self.rules, self.max_iter = SimpleNamespace(stop=KKTGap(0.25, True)), MOST

    def run(self, plan, seeder, **_):
        for each in plan:
            self.asked.append((each.left_out, seeder, self.max_iter))
            steps = self.steps if each.left_out is None else self.of_folds
            self.first_iterations = self.first_iterations or steps
            yield RoundResult(each.left_out, (), steps, "", self.ends, 0.0, 0.0, 0)

    def with_shrinking(self):
        return self


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
    origins = [(None, "seeder", MOST if walk is None else FEW)] * (plan is PLAN)
    assert family.asked == origins + [(r, WALK if walks else "seeder", MOST) for r in (2, 3)]
    assert family.status is Status.CONVERGED


X, Y = noisy_classes(20, 2, 4)
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
