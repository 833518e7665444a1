"""Small data of whole numbers: ties, duplicates and singular elbows at nearly every event."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from refsvm import RBF, SVMP, Linear, Polynomial, Status, regularization_path
from refsvm.analysis.paths import SVD, PivotedQR, UpdatedInverse

pytest.importorskip("scipy")
hypothesis = pytest.importorskip("hypothesis")
st = hypothesis.strategies


@st.composite
def whole_numbers(draw: Any) -> tuple[np.ndarray, np.ndarray]:
    n, d = draw(st.integers(2, 14)), draw(st.integers(1, 3))
    row = st.lists(st.integers(-2, 2), min_size=d, max_size=d)
    X = np.array(draw(st.lists(row, min_size=n, max_size=n)), dtype=float)
    y = np.array(draw(st.lists(st.sampled_from([-1, 1]), min_size=n, max_size=n)))
    y[:2] = 1, -1
    return X, y


@hypothesis.settings(max_examples=60)
@hypothesis.given(
    data=whole_numbers(),
    kernel=st.sampled_from([Linear(), RBF(0.5), RBF(2.0), Polynomial(degree=2, coef0=1.0)]),
    algebra=st.sampled_from([SVD(), PivotedQR(), UpdatedInverse()]),
    merge=st.booleans(),
)
@pytest.mark.slow
def test_never_loops_and_audits_clean(data: Any, kernel: Any, algebra: Any, merge: bool) -> None:
    X, y = data
    path = regularization_path(
        X, y, kernel=kernel, C_min=1e-3, C_max=1e3, tracker=SVMP(algebra=algebra), merge=merge,
        engine="numpy", max_events=100 * len(y),
    )  # fmt: skip
    assert path.status is Status.CONVERGED
    assert path.kkt_audit().worst <= 1e-6


@pytest.mark.parametrize("seed", [1552, 4711])
def test_closed_interval_of_the_intercept(seed: int) -> None:
    """An empty elbow whose interval for b has no width: rounding must not block it."""
    rng = np.random.default_rng(seed)
    n, d, span = rng.integers(2, 40), rng.integers(1, 4), rng.integers(1, 4)
    X = rng.integers(-span, span + 1, size=(n, d)).astype(float)
    y = rng.choice([-1, 1], size=n)
    y[:2] = 1, -1
    path = regularization_path(
        X, y, kernel="linear", C_min=1e-3, C_max=1e3, tracker=SVMP(algebra=SVD()), merge=False
    )
    assert "backup" not in path.record.kind
