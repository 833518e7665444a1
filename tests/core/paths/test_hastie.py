"""Hastie's tracker: the reference where elbows are regular, and a sentence where they are not."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from refsvm import RBF, SVMP, Hastie, Linear, Polynomial, regularization_path
from refsvm.core.trackers import hastie

from .sets import SETS, tracked


@pytest.mark.parametrize(
    "name", ["overlapping, rbf", "overlapping, linear", "banana", "chessboard", "separable"]
)
def test_hastie_and_svmp_find_the_same_breakpoints(name: str) -> None:
    pytest.importorskip("scipy")
    path, reference = (tracked(name, C_min=1e-2, C_max=50.0, tracker=each) for each in (SVMP(), Hastie()))
    np.testing.assert_allclose(path.C, reference.C, rtol=1e-8)
    for C in (0.05, 1.0, 30.0):
        np.testing.assert_allclose(path.alpha(C), reference.alpha(C), atol=1e-7 * C)
    assert reference.kkt_audit().worst <= 1e-6


@pytest.mark.parametrize("name", ["every row three times", "whole numbers, linear"])
def test_singular_elbows_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match=r"use tracker=SVMP\(\)"):
        tracked(name, tracker=Hastie(), merge=False)


def test_hastie_needs_numpy_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "scipy", None)
    path = tracked("overlapping, rbf", C_max=10.0, tracker=Hastie(), engine="numpy")
    assert path.kkt_audit().worst <= 1e-6


def test_an_ill_conditioned_elbow_is_solved_from_scratch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two examples 1e-5 apart: A⁻¹ would lose the digits that the path needs."""
    pytest.importorskip("scipy")
    kept, inverse = [], Hastie._inverse
    monkeypatch.setattr(Hastie, "_inverse", lambda *given: kept.append(inverse(*given)) or kept[-1])
    tracked("overlapping, rbf", C_max=10.0, tracker=Hastie(), engine="numpy")
    assert None not in kept
    X, y, kernel = SETS["overlapping, rbf"]
    X, y = np.concatenate([X, X[:6] + 1e-5]), np.concatenate([y, y[:6]])
    path, reference = (
        regularization_path(X, y, kernel=kernel, C_max=10.0, tracker=each, engine="numpy")
        for each in (Hastie(), SVMP())
    )
    assert None in kept
    assert path.kkt_audit().worst <= 1e-6
    for C in (0.3, 1.0, 7.0):
        assert path.objective(C) == pytest.approx(reference.objective(C), rel=1e-7)


@pytest.mark.parametrize("seed", [630, 1016, 1283])
def test_an_event_that_was_passed_over_is_noticed(seed: int) -> None:
    """Whole numbers: two events fall together, the second is passed over, and the sum of ŝ tells."""
    rng = np.random.default_rng(seed)
    n, d, span = (int(rng.integers(low, high)) for low, high in ((2, 30), (1, 4), (1, 4)))
    X, y = rng.integers(-span, span + 1, (n, d)).astype(float), rng.choice([-1, 1], n)
    y[:2] = 1, -1
    kernel = [Linear(), RBF(0.5), RBF(2.0), Polynomial(degree=2, coef0=1.0)][int(rng.integers(4))]
    with pytest.raises(ValueError, match=r"Two events coincide|The elbow is singular"):
        regularization_path(X, y, kernel=kernel, C_min=1e-3, C_max=1e3, tracker=Hastie(), engine="numpy")


@pytest.mark.parametrize("smallest", [0.9e-13, 1.1e-13, 4.9e-8, 5.1e-8])
def test_an_elbow_has_an_inverse_where_its_eigenvalues_are_far_from_0_for_the_largest(
    smallest: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Above 1e-8 of it; up to 1e-14 times their number it is singular."""
    monkeypatch.setattr(hastie, "elbow_matrix", lambda walk, scale: np.diag([-5.0, smallest]))
    monkeypatch.setattr(hastie, "_where", lambda walk: "C = 1")
    walk: Any = SimpleNamespace(largest=1.0, members=[0], right=np.ones(2))
    if smallest < 1e-13:
        with pytest.raises(ValueError, match="its 1 points are affinely dependent"):
            Hastie()._inverse(walk)
    else:
        assert (Hastie()._inverse(walk) is not None) == (smallest > 5e-8)
