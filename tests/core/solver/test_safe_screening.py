"""SafeScreening: what it removes is at its bound in every optimum, in both engines, and it says where it is off."""

from __future__ import annotations

import numpy as np
import pytest

from refsvm import RBF, DualProblem, KKTGap, Precomputed, SafeScreening, SecondOrder, Status, solve
from refsvm.core.solver import safe_screening

from ...programs import module
from ...settings import noisy_classes

screening = module("audit.screening")

X, Y = np.array([[0.0], [1.0], [2.0], [3.0], [5.0], [7.0]]), np.array([-1, -1, -1, 1, 1, 1])


@pytest.mark.parametrize("block", range(4))
def test_no_removal_is_contradicted_by_the_optimum(block):
    """`python -m benchmarks.audit screening` tries two thousand."""
    total = 0
    for seed in range(25 * block, 25 * block + 25):
        complaints, _, removed = screening.complaints_about(seed)
        assert (seed, complaints) == (seed, [])
        total += removed
    assert total > 100


@pytest.mark.parametrize(
    ("why", "C", "kernel", "options"),
    [
        ("some C is infinite", np.inf, RBF(0.5), {}),
        ("kernel rows are kept as float32", 1.0, RBF(0.5), {"cache_dtype": "float32"}),
        ("Precomputed.* is not known to be positive semi-definite", 1.0, Precomputed(), {}),
    ],
)
def test_where_nothing_is_proved_it_says_so(why, C, kernel, options):
    given = RBF(0.5)(X, X) if kernel == Precomputed() else X
    problem = DualProblem.classification(given, Y, kernel=kernel, C=C)
    said = rf"SafeScreening\(\) removes no variable, because {why}; use shrinking=True\."
    with screening.looks() as seen, pytest.warns(UserWarning, match=said):
        found = solve(problem, shrinking=SafeScreening(1), engine="numpy", **options)
    assert found.status is Status.CONVERGED
    assert seen == []


def test_of_a_gap_that_the_removed_leave_the_others_are_solved_on_without_them(monkeypatch):
    """The full problem is called unsolved until the third restricted one, as if G of the removed ones were off."""
    tolerances, left = [], []
    check, restricted = KKTGap.check, SafeScreening.solve_restricted

    def unsolved(stop, state):
        return 0 if state.parent is None and len(tolerances) < 3 and state.gap > 0.0 else check(stop, state)

    def solved(rule, *given, to):
        if given[2].parent is None:
            tolerances.append(to)
            left.append(len(given[5]))
        return restricted(rule, *given, to=to)

    def forgetful(state, undecided=safe_screening.undecided):
        return undecided(state) if state.parent is not None or not left else np.ones(60, dtype=bool)

    monkeypatch.setattr(KKTGap, "check", unsolved)
    monkeypatch.setattr(SafeScreening, "solve_restricted", solved)
    monkeypatch.setattr(
        safe_screening, "undecided", forgetful
    )  # no variable returns, whatever a later look says
    points, y = noisy_classes(60, 2, 0, noise=0.3)
    problem = DualProblem.classification(points, y, kernel=RBF(0.5), C=10.0)
    found = solve(
        problem, shrinking=SafeScreening(10), stop=KKTGap(1e-2), selector=SecondOrder(), engine="numpy"
    )
    assert found.status is Status.CONVERGED
    assert tolerances == [1e-2, 5e-3, 2.5e-3]
    assert left == sorted(left, reverse=True)
    assert left[0] < 60
