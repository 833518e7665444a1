"""SVMP: true at any C, on regular and degenerate data, with every factorisation."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from refsvm import RBF, SVMP, DualProblem, Status, regularization_path
from refsvm.analysis.paths import SVD, PivotedQR, UpdatedInverse, UpdatedQR
from refsvm.core.paths import tracking
from refsvm.core.trackers import svmp

from .sets import SETS, solved, standardised, tracked

pytest.importorskip("scipy")

ALGEBRAS = [SVD(), PivotedQR(), UpdatedInverse(), UpdatedQR()]


@pytest.mark.parametrize("merge", [False, True], ids=["as it is", "merged"])
@pytest.mark.parametrize("algebra", ALGEBRAS, ids=lambda algebra: type(algebra).__name__)
@pytest.mark.parametrize("name", SETS)
def test_path_is_optimal_at_random_penalties(name: str, algebra: Any, merge: bool) -> None:
    path = tracked(name, C_min=1e-3, tracker=SVMP(algebra=algebra), merge=merge)
    assert path.status is Status.CONVERGED
    assert path.C[0] == pytest.approx(1e-3, rel=1e-12)
    assert path.C[-1] == pytest.approx(1e2, rel=1e-12)
    assert (np.diff(path.C) >= 0).all()
    assert path.kkt_audit().worst <= 1e-6
    assert "backup" not in path.record.kind
    for C in 10.0 ** np.random.default_rng(1).uniform(-3, 2, size=3):
        solution = solved(*SETS[name], C)
        assert path.objective(C) == pytest.approx(solution.objective, rel=1e-7)
        alpha = path.alpha(C)
        assert (alpha >= solution.problem.lower).all()
        assert (alpha <= solution.problem.upper).all()
        assert solution.problem.duality_gap(alpha) <= 1e-6 * max(1.0, solution.objective)


@pytest.mark.parametrize("seed", [21, 440, 568])
def test_rounding_does_not_outgrow_a_penalty_that_grows_far(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, y, weight = rng.normal(size=(8, 1)), np.tile([-1, 1], 4), 10.0 ** rng.uniform(-5, 0, size=8)
    path = regularization_path(X, y, kernel=RBF(3.0), C_min=1e4, C_max=1e10, sample_weight=weight)
    assert path.status is Status.CONVERGED
    assert path.kkt_audit(between=0).worst <= 1e-6


@pytest.mark.parametrize("name", ["monks1", "monks2", "monks3", "thyroid", "wbc"])
@pytest.mark.slow
def test_linear_kernels_with_many_dependent_points(name: str) -> None:
    """LIBSVM takes minutes on these at a tight tolerance; the duality gap needs no peer."""
    X, y = standardised(name)
    path = regularization_path(X, y, kernel="linear", C_min=1e-3, C_max=1e2)
    assert path.kkt_audit().worst <= 1e-6
    for C in (0.02, 0.9, 60.0):
        problem = DualProblem.classification(X, y, kernel="linear", C=C)
        assert problem.duality_gap(path.alpha(C)) <= 1e-7 * problem.objective(path.alpha(C))


def test_without_left_points_alpha_stays() -> None:
    path = tracked("separable", C_min=1e-3, C_max=1e4)
    assert (path.record.kind[-1], path.C[-1]) == ("end", 1e4)
    np.testing.assert_allclose(path.alpha(1e3), path.alpha(1e4), rtol=1e-6)


def test_ties_are_broken_by_the_special_events() -> None:
    path = tracked("whole numbers, rbf", merge=False)
    assert path.counts["special"] > 0
    assert (path.events["kind"] == "special").any()
    assert "linear program" in path.record.kind


def test_a_wrong_point_is_repaired(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rounding errors put in on purpose do not reach the path."""
    honest, kinds = svmp.take, []

    def careless(walk: Any, step: Any, end: float) -> str:
        kinds.append(str(honest(walk, step, end)))
        if len(kinds) == 5:
            walk.variables.alpha[walk.elbow[0]] += 1e-3
            walk.refresh()
        return kinds[-1]

    monkeypatch.setattr(svmp, "take", careless)
    path = tracked("overlapping, rbf", C_min=1e-2, engine="numpy")
    assert path.drift > 0.0
    assert path.kkt_audit(between=0).worst <= 1e-6


@pytest.mark.parametrize("tracker", [SVMP(ell=1), SVMP(refresh=1), SVMP(eps_kkt=1e-9)])
def test_settings_do_not_change_the_optimum(tracker: SVMP) -> None:
    for name in ("whole numbers, rbf", "overlapping, rbf"):
        path = tracked(name, tracker=tracker, merge=False)
        assert path.kkt_audit().worst <= 1e-6


def test_backup_jumps_where_nothing_else_helps(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the special events and the derivative taken away, SMO carries the path past every tie."""
    monkeypatch.setattr(svmp, "blocking", lambda *arguments: [])
    monkeypatch.setattr(svmp, "choose_sets", lambda walk: False)
    path = tracked("whole numbers, rbf", merge=False)
    assert path.status is Status.CONVERGED
    assert "backup" in path.record.kind
    for C in (0.05, 0.6, 20.0):
        best = solved(*SETS["whole numbers, rbf"], C).objective
        assert path.objective(C) == pytest.approx(best, rel=1e-4)


def test_derivative_replaces_the_special_events(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(svmp, "blocking", lambda *arguments: [])
    path = tracked("whole numbers, rbf", merge=False)
    assert path.counts["derivative"] > 0
    assert path.kkt_audit().worst <= 1e-6


def test_the_first_point_may_be_found_from_the_bounds() -> None:
    """Eq. (55): all at their bound but for the first of the larger class, here of two for each negative one."""
    X = np.arange(9.0)[:, None]
    y = np.array([1, 1, 1, -1, 1, -1, 1, 1, -1])
    seen = []

    class Noted(SVMP):
        def first_estimate(self, walk: Any) -> Any:
            seen.append(super().first_estimate(walk))
            return seen[-1]

    paths = [
        regularization_path(
            X, y, kernel=RBF(0.5), C_min=1e-2, C_max=10.0, engine="numpy",
            tracker=Noted(starts_at_bound=there, eps_smo=1e-10),
        )
        for there in (False, True)
    ]  # fmt: skip
    assert seen[0] is None
    assert seen[1][0].tolist() == [0, 0, 0, -1, 1, -1, 1, 1, -1]
    assert seen[1][1] == 1e-10
    one, other = paths
    np.testing.assert_allclose(one.C, other.C, rtol=1e-7)
    for C in (0.01, 0.1, 1.0, 10.0):
        np.testing.assert_allclose(one.alpha(C), other.alpha(C), atol=1e-7 * C)


def test_the_first_point_is_solved_to_eps_smo_where_it_is_found_from_the_bounds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    solve_at, gaps = tracking.solve_at, []
    monkeypatch.setattr(
        tracking, "solve_at", lambda walk, t, eps, kind: gaps.append(eps) or solve_at(walk, t, eps, kind)
    )
    for at_bound in (True, False):
        tracker = SVMP(starts_at_bound=at_bound, eps_smo=1e-6)
        tracked("overlapping, rbf", C_min=0.1, C_max=0.11, tracker=tracker, engine="numpy")
    assert gaps == [1e-6, 1e-9]


@pytest.mark.parametrize("eps_kkt", [1e-9, 1e-3])
def test_a_path_ends_where_a_violation_is_above_what_is_accepted(eps_kkt: float) -> None:
    """A repair at this place has been tried as often as it may be."""
    most = max(eps_kkt, svmp.ACCEPTED)
    for worst, status, points in ((most, None, ["leave"]), (1.001 * most, Status.STALLED, [])):
        walk: Any = SimpleNamespace(
            along=SimpleNamespace(is_c_path=True), t=1.0, placed=(1.0, svmp.MOST_REPAIRS), unsettled=True, drift=0.0,
            members=[], status=None, refresh=lambda: 0.0, violation=lambda worst=worst: worst,
            unbalanced=lambda: 0.0, breakpoint=lambda kind: kind,
        )  # fmt: skip
        assert list(SVMP(eps_kkt=eps_kkt)._checked(walk, "leave")) == points
        assert walk.status is status
