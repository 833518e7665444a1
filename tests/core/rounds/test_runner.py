"""What a chain of rounds begins with, what its seeder is given, and where it ends with others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from refsvm import ATO, RBF, TOP, DualProblem, Rounds, Seeder, Solution, Status
from refsvm.analysis.resampling.grid import rounds_of
from refsvm.core.rounds import runner
from refsvm.core.rounds.round import Round
from refsvm.core.rounds.runner import SHORT_ROUND, Runner


def of_examples(n: int = 12, C: Any = 1.0, **options: Any) -> tuple[DualProblem, Rounds]:
    """A problem of so many examples, and its rounds."""
    X = np.random.default_rng(0).normal(size=(n, 2))
    problem = DualProblem.classification(X, np.where(np.arange(n) % 3, 1, -1), kernel=RBF(0.5), C=C)
    return problem, Rounds(problem, engine="numpy", **options)


@pytest.mark.parametrize(
    ("options", "n", "limit", "cold", "first"),
    [
        pytest.param({}, 20, SHORT_ROUND, True, 0, id="all rounds are short at first"),
        pytest.param({}, 21, SHORT_ROUND, False, 0, id="of a large problem not those from 0"),
        pytest.param(
            {}, 21, SHORT_ROUND, False, SHORT_ROUND + 1, id="nor folds, if the first round was long"
        ),
        pytest.param({"shrinking": False}, 21, 10**9, True, 10**8, id="without shrinking there is no other"),
        pytest.param({"max_iter": 30}, 20, 30, True, 0, id="a limit on steps is one of short rounds"),
        pytest.param({"callback": print}, 20, -1, False, 0, id="a callback asks for the ordinary run"),
        pytest.param({"time_limit": 1e6}, 20, -1, False, 0, id="so does a limit on time with shrinking"),
        pytest.param({"time_limit": 1e6, "shrinking": False}, 20, 10**9, True, 0, id="and not without"),
        pytest.param({"cache_mb": 0.001}, 20, -1, False, 0, id="not all rows are in memory"),
    ],
)
def test_which_rounds_begin_without_shrinking(options, n, limit, cold, first, monkeypatch):
    monkeypatch.setattr(runner, "LARGE", 20)
    monkeypatch.setattr(runner, "FOLD_SHARE", 0.15)
    _, family = of_examples(n, **options)
    family.first_iterations = first
    chain = Runner(family, TOP(), family.rules)
    assert chain.limit == min(limit, family.max_iter)
    assert chain.is_large == (n > 20 and options == {})
    fold, seeded = Round(np.arange(5), origin="all"), Round(np.arange(2), origin="all")
    assert chain.is_short(Round(None)) == chain.is_short(fold) == cold  # nothing is kept by that name
    was_long = chain.is_large and first > chain.limit
    assert chain.is_short(fold, {"all"}) == (chain.limit >= 0 and not was_long)
    assert chain.is_short(seeded, {"all"}) == (chain.limit >= 0)


def test_examples_of_other_classes_do_not_make_a_problem_large(monkeypatch):
    monkeypatch.setattr(runner, "LARGE", 20)
    for trained in (20, 21):
        _, family = of_examples(50, C=(np.arange(50) < trained) * 1.0)
        chain = Runner(family, TOP(), family.rules)
        assert chain.is_large == (trained > 20)
        assert chain.is_short(Round(None)) == (trained <= 20)


class Noting(Seeder):
    """A seeder of the user's that notes what it is given."""

    def __init__(self) -> None:
        self.given: list[Solution] = []

    def seed(self, solved: Solution, problem: DualProblem) -> np.ndarray:
        self.given.append(solved)
        return np.zeros(problem.n)


def test_a_seeder_is_given_the_solution_that_its_round_begins_with_to_read():
    """One read-only view of each serves all seeds from it."""
    problem, family = of_examples()
    seeder = Noting()
    first = Runner(family, seeder, family.rules)
    solutions = [family.solve(box) for box in (problem, problem.without(3))]
    order = [0, 0, 1, 1, 0]
    for at in order:
        first.seed(Round(np.array([5])), solutions[at], problem.without(5))
    for at, solved in zip(order, seeder.given, strict=True):
        assert np.shares_memory(solved.alpha, solutions[at].alpha)
        assert np.shares_memory(solved.gradient, solutions[at].gradient)
        assert not solved.alpha.flags.writeable
        assert not solved.gradient.flags.writeable
        assert solutions[at].alpha.flags.writeable
    assert seeder.given[0] is seeder.given[1]
    assert seeder.given[2] is seeder.given[3]


class Pair:
    """Rounds of one pair of classes: so many results, and a last look once they are asked for one more."""

    def __init__(self, results: list[str], status: Status) -> None:
        self.results, self.status, self.left, self.has_looked = results, status, len(results), False

    def run(self, plan: list[Round], seeder: Seeder) -> Iterator[str]:
        for result in self.results:
            self.left -= 1
            yield result
        self.has_looked = True


def test_rounds_of_all_pairs_end_with_those_of_the_first():
    """All look at what rounding does then; after Ctrl-C none takes another step."""
    one, other = Pair(["a", "b"], Status.CONVERGED), Pair(["c", "d"], Status.CONVERGED)
    assert [*rounds_of([one, other], [], TOP())] == [("a", "c"), ("b", "d")]
    assert one.has_looked
    assert other.has_looked
    one, other = Pair(["a"], Status.INTERRUPTED), Pair(["c", "d", "e"], Status.CONVERGED)
    assert [*rounds_of([one, other], [], TOP())] == [("a", "c")]
    assert (other.left, other.has_looked) == (2, False)


def test_one_solve_may_be_limited_to_one_step():
    problem, family = of_examples()
    once = family.solve(problem, max_iter=1)
    assert (once.iterations, once.status) == (1, Status.MAX_ITER)
    assert family.solve(problem).status is Status.CONVERGED
    with pytest.raises(ValueError, match="max_iter"):
        family.solve(problem, max_iter=0)


def test_the_inverse_that_seeds_share_is_that_of_their_solution_and_made_once_for_it():
    problem, family = of_examples()
    seeder = ATO(budget=1e9)
    chain, rounds = Runner(family, seeder, family.rules), [Round(5, origin="all")]
    solutions = [family.solve(box) for box in (problem, problem.without(3))]
    order = [0, 0, 1, 1, 0]
    found = [chain.memory(solutions[at], rounds) for at in order]
    for at, memory in zip(order, found, strict=True):
        np.testing.assert_array_equal(memory, seeder.memory(solutions[at], family.most_iterations))
    assert len(found[0]) != len(found[2]) or not np.array_equal(found[0], found[2])
    assert found[0] is found[1]
    assert found[2] is found[3]


class Asked(ATO):
    """It notes for which rounds its memory is to pay."""

    def pays(self, solved, steps, left_out):
        if len(left_out):  # the memory of ATO asks itself, of no round
            ASKED.append((solved, steps, [*map(np.ndarray.tolist, left_out)]))
        return super().pays(solved, steps, left_out)


ASKED: list = []


@pytest.mark.parametrize("budget", [1e-12, 1e9])
def test_whether_memory_pays_is_asked_for_what_each_round_leaves_out(budget):
    """Nothing where a round is of all examples; again from each solution until it pays once."""
    problem, family = of_examples()
    chain = Runner(family, Asked(budget=budget), family.rules)
    solutions = [family.solve(box) for box in (problem, problem.without(3))]
    left_out = [[[5], [], [2, 7]], [[]], [[0]]]
    plans = [[Round(np.array(some) if some else None) for some in plan] for plan in left_out]
    for solved in solutions:
        ASKED.clear()
        found = [chain.memory(solved, plan) for plan in plans]
        paid = [len(memory) > 0 for memory in found]
        first = paid.index(True) + 1 if any(paid) else len(plans)
        assert paid == [False] * (first - any(paid)) + [True] * (len(plans) - first + any(paid))
        assert [asked for _, _, asked in ASKED] == left_out[:first]
        assert all(each is solved and steps == family.most_iterations for each, steps, _ in ASKED)
        assert any(paid) == (budget > 1.0)
