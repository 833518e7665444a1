"""Where a solve begins, and how much room rounding has: by hand."""

from __future__ import annotations

import warnings
from types import SimpleNamespace

import numpy as np
import pytest

from refsvm import DualProblem, Precomputed, solve
from refsvm.analysis.paths.novelty import intercept_of_inside
from refsvm.core.kernels import Gram
from refsvm.core.kernels.facts import KernelFacts
from refsvm.core.solver.rules import feasible_start, starting_point, warn_of_rounding

UNIT = 2.0**-52


def boxed(lower, upper, z):
    lower, upper = np.array(lower, dtype=float), np.array(upper, dtype=float)
    return DualProblem(Gram(Precomputed(), np.eye(len(lower))), np.zeros(len(lower)), z, lower, upper)


@pytest.mark.parametrize(
    ("lower", "upper", "z", "start"),
    [
        ([0, 0, 0], [1, 2, 3], 2.5, [1.0, 1.5, 0.0]),  # filled from the first variable on
        ([0, 0, 0], [1, 2, 3], 1.0, [1.0, 0.0, 0.0]),
        ([0, 0, 0], [1, 2, 3], 6.0, [1.0, 2.0, 3.0]),
        ([-1, -2, -3], [0, 0, 0], -2.5, [-1.0, -1.5, 0.0]),
        ([-1, -2, -3], [0, 0, 0], -1.0, [-1.0, 0.0, 0.0]),
        ([0.5, 0, 0], [1, 2, 3], 1.0, [1.0, 0.0, 0.0]),  # what is nearest to 0 in the box comes first
        ([0.5, 0, 0], [1, 2, 3], 0.5, [0.5, 0.0, 0.0]),
        ([-1, 0, -1], [-0.5, 2, 0], 0.5, [-0.5, 1.0, 0.0]),
        ([-1, 0, 0], [0, 1, 1], 0.0, [0.0, 0.0, 0.0]),
    ],
)
def test_a_solve_begins_next_to_0(lower, upper, z, start):
    assert starting_point(boxed(lower, upper, z), None).tolist() == start


def begins(problem, given):
    """The start, and whether a warning comes with it."""
    with warnings.catch_warnings(record=True, action="always") as said:
        found = feasible_start(problem, given)
    assert all("start is not feasible" in str(each.message) for each in said)
    assert ((problem.lower <= found) & (found <= problem.upper)).all()
    assert abs(problem.z - found.sum()) <= 1e-12
    return found, bool(said)


@pytest.mark.parametrize(
    ("beyond", "is_taken", "is_told"),
    [(0.0, True, False), (15.0 * UNIT, True, False), (17.0 * UNIT, False, False), (1e-10, False, False),
     (2e-8, False, True)],
)  # fmt: skip
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_sum_may_be_as_far_from_z_as_it_is_rounded(beyond, is_taken, is_told, sign):
    """By 4ε√n Σ|α| = 16 ε here; told is what moves a variable by more than 1e-9."""
    problem = boxed([0, 0, -2, -2], [2, 2, 0, 0], 0.0)
    given = np.array([1.0, 0.0, -1.0 + sign * beyond, 0.0])
    found, told = begins(problem, given)
    assert (found is given, told) == (is_taken, is_told)


def test_the_sum_itself_counts_where_z_is_not_0():
    """4ε√n (Σ|α| + |z|) = 32 ε."""
    problem = boxed([0, 0, 0, 0], [2, 2, 2, 2], 2.0)
    for beyond, is_taken in ((30.0 * UNIT, True), (34.0 * UNIT, False)):
        given = np.array([1.0 + beyond, 1.0, 0.0, 0.0])
        assert (begins(problem, given)[0] is given) == is_taken


@pytest.mark.parametrize(
    ("size", "beyond", "is_told"),
    [(1.0, 5e-10, False), (1.0, 3e-9, True), (1e3, 5e-7, False), (1e3, 3e-6, True)],
)
def test_a_start_outside_the_box_is_repaired(size, beyond, is_told):
    problem = boxed([0, 0, -size, -size], [size, size, 0, 0], 0.0)
    given = np.array([size + beyond, 0.0, -size - beyond, 0.0])
    found, told = begins(problem, given)
    assert found is not given
    assert told == is_told
    np.testing.assert_allclose(found, [size, 0.0, -size, 0.0], rtol=1e-12)


@pytest.mark.parametrize(("rounding", "is_told"), [(1e-3, False), (1.01e-3, True)])
def test_features_are_too_large_where_rounding_exceeds_the_tolerance(rounding, is_told):
    with warnings.catch_warnings(record=True, action="always") as said:
        warn_of_rounding(rounding, 1e-3)
    assert len(said) == is_told


ALPHA, G = np.array([1.0, 0.5, 0.0, 0.0]), np.array([-4.0, -8.0, -2.0, -1.0])
INSIDE = np.array([False, True, True, True])


@pytest.mark.parametrize(
    ("inside", "facts", "b", "room"),
    [
        (INSIDE, {}, -1.0, 24.0 * 32.0 * UNIT),  # max |G| + max α max |kᵢᵢ| = 8 + 16, times 16 ε √n
        (~INSIDE, {}, -4.0, 24.0 * 32.0 * UNIT),
        (INSIDE & False, {}, 0.25, 24.0 * 32.0 * UNIT),
        (INSIDE, {"data_error": 0.5 * UNIT}, -1.0, 24.0 * 32.0 * UNIT),
        (INSIDE, {"data_error": 8.0 * UNIT}, -1.0, 24.0 * 256.0 * UNIT),
        (INSIDE, {"data_error": 1e-3}, -1.0, 24.0 * 1e-10),
        (INSIDE, {"kernel_error": 1e-3}, -1.0, 2e-3 * np.sqrt(1.25)),
        (INSIDE, {"kernel_error": 1e-13}, -1.0, 24.0 * 32.0 * UNIT),  # slight
    ],
)
def test_no_example_inside_is_put_outside_by_rounding(inside, facts, b, room):
    gram = SimpleNamespace(diagonal=lambda: np.array([16.0, -3.0, 1.0, 1.0]), facts=KernelFacts(**facts))
    found = intercept_of_inside(gram, ALPHA, G, inside, 0.25)
    assert found - b == pytest.approx(room, rel=1e-6 if room > 1e-9 else 1e-3, abs=0.0)


def test_warnings_of_starts_and_of_rounding_name_the_line_that_asked():
    problem = boxed([0, 0], [1, 1], 1.0)
    for ask in (
        lambda: feasible_start(problem, np.array([5.0, 5.0])),
        lambda: solve(problem, start=np.array([5.0, 5.0]), engine="numpy"),
        lambda: warn_of_rounding(1.0, 0.5),
    ):
        with pytest.warns(UserWarning, match="a feasible point near it|features are so large") as said:
            ask()
        assert [(each.filename, each.lineno) for each in said] == [(__file__, ask.__code__.co_firstlineno)]
