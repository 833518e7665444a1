"""What each seeder is made of: its default settings, and the numbers that its twin gets."""

from __future__ import annotations

import numpy as np
import pytest

from refsvm import (
    ATO,
    MIR,
    TOP,
    DualProblem,
    Precomputed,
    Seeder,
    Solution,
    Status,
)
from refsvm.core.kernels import Gram
from refsvm.core.seeders.ato import STEP_COST, expected
from refsvm.core.seeders.sir import FACTOR, MODULUS


def test_the_numbers_of_sir_are_those_of_the_published_generator():
    """The standard of C++ names the 10,000th number of `minstd_rand`, which begins with 1."""
    state = 1
    for _ in range(10_000):
        state = FACTOR * state % MODULUS
    assert state == 399_268_537


@pytest.mark.parametrize(
    ("G", "leaving", "moving"),
    [
        (-1.0, [], 0),  # G₂ is below b = −½ where v = 1: it stays out
        (-0.25, [], 1),  # above: it comes back with a weight
        (-1.0, [[2], [0]], 0),  # the least of what goes
        (-1.0, [[0, 1]], 2),
        (-0.25, [[0, 1]], 2),
    ],
)
def test_a_path_pays_by_the_variables_that_move_on_it(G, leaving, moving):
    """The work that is expected is allowed, and a tenth less is not."""
    box = np.array([1.0, 1.0, 0.0])
    problem = DualProblem(Gram(Precomputed(), np.eye(3)), np.ones(3), 1.0, 0.0 * box, box)
    alpha, gradient = np.array([0.5, 0.5, 0.0]), np.array([-0.5, -0.5, G])
    solved = Solution(problem, alpha, gradient, 100, 0, 0, Status.CONVERGED, "", 0.0, "numpy")
    work = expected(3, 2, moving)  # 0 and 1 are free
    for share, pays in ((1.001, True), (0.9, False)):
        budget = share * work / (2 * (3 + STEP_COST))
        assert ATO(budget=budget).pays(solved, 1, leaving) is pays
    assert not ATO(budget=10.0 * budget, max_free=1).pays(solved, 1, leaving)


def test_the_work_that_is_expected_and_allowed_by_hand():
    """n(moving + m), 100,000 to begin, and for each that moves two events of 8,000 + m(2m + n/16)."""
    assert expected(32, 4, 0) == 32 * 4 + 100_000
    assert expected(32, 4, 8) - expected(32, 4, 0) == 32 * 8 + 2.0 * 8 * (8000 + 4 * (2 * 4 + 2))
    problem = DualProblem(Gram(Precomputed(), np.eye(3)), np.ones(3), 1.0, np.zeros(3), np.ones(3))
    alpha = np.array([0.5, 0.5, 0.0])
    solved = Solution(problem, alpha, np.zeros(3), 7, 0, 0, Status.CONVERGED, "", 0.0, "numpy")
    # two passes over three variables and what else a step costs, 1,000; one step at least
    for steps, counted in ((7, 7), (1, 1), (0, 1)):
        assert ATO(budget=1e6).memory(solved, steps)[0] == 1e6 * counted * 2 * 1003


@pytest.mark.parametrize(("share", "pays"), [(1.001, True), (0.999, False)])
def test_the_inverse_of_many_free_variables_may_take_the_work_of_30_paths(share, pays):
    """Of 200 variables 160 are free: their inverse takes 160³ multiplications, more than 30 times all else."""
    box, free = np.ones(200), np.arange(200) < 160
    problem = DualProblem(Gram(Precomputed(), np.eye(200)), np.ones(200), 80.0, 0.0 * box, box)
    alpha = np.where(free, 0.5, 0.0)
    solved = Solution(problem, alpha, np.zeros(200), 100, 0, 0, Status.CONVERGED, "", 0.0, "numpy")
    most = share * 160**3 / 30
    assert expected(200, 160, 0) < 0.99 * most
    assert ATO(budget=most / (2 * (200 + STEP_COST))).pays(solved, 1, []) is pays


def test_what_seeds_share_is_made_unless_a_seeder_says_that_it_does_not_pay():
    assert MIR().pays(None, 0, ()) is Seeder.pays(TOP(), None, 0, ()) is True


@pytest.mark.parametrize("margin", [1e-3, 0.3, 1.0, 1e300, np.inf])
@pytest.mark.parametrize("budget", [1e-3, 0.3, 1.0, 1e300, np.inf])
def test_paths_are_followed_to_their_ends_where_nothing_limits_them(margin, budget):
    """Two numbers that are the same are no reason."""
    assert ATO(margin=margin, budget=budget).is_exact == bool(np.isinf(margin) and np.isinf(budget))
    assert not TOP().is_exact
