"""Paths as files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from refsvm import RBF, Linear, regularization_path
from refsvm.paths import load_path, save_path

from .sets import small

pytest.importorskip("scipy")
SETS = small()


@pytest.mark.parametrize("name", ["overlapping, rbf", "every row three times", "overlapping, linear"])
def test_a_file_brings_the_path_back(name: str, tmp_path: Path) -> None:
    X, y, kernel = SETS[name]
    path = regularization_path(X, y, kernel=kernel, C_max=1e2)
    save_path(path, tmp_path / "path.npz")
    again = load_path(tmp_path / "path.npz")
    assert again.problem.gram.kernel == kernel
    assert (again.status, again.tracker, again.drift) == (path.status, path.tracker, path.drift)
    for C in (0.01, 2.0):
        np.testing.assert_array_equal(again.alpha(C), path.alpha(C))
        np.testing.assert_array_equal(again.decision_function(X, C), path.decision_function(X, C))
        assert again.objective(C) == pytest.approx(path.objective(C), rel=1e-12)
    assert again.kkt_audit().worst <= 1e-6


def test_sparse_examples_stay_sparse(tmp_path: Path) -> None:
    sparse = pytest.importorskip("scipy.sparse")
    X, y, _ = SETS["overlapping, linear"]
    path = regularization_path(sparse.csr_array(X), y, C_max=10.0)
    save_path(path, tmp_path / "path.npz")
    again = load_path(tmp_path / "path.npz")
    assert sparse.issparse(again.problem.gram.X)
    np.testing.assert_allclose(again.decision_function(X, 1.0), path.decision_function(X, 1.0), atol=1e-12)


def test_what_is_no_path_is_refused(tmp_path: Path) -> None:
    X, y, _ = SETS["overlapping, rbf"]
    path = regularization_path(X, y, kernel=lambda A, B: RBF(0.5)(A, B) + Linear()(A, B), C_max=1.0)
    with pytest.raises(ValueError, match="has no name in a file"):
        save_path(path, tmp_path / "path.npz")
    for content in (b"", b"PK\x03\x04 nothing", b"1,2,3\n"):
        (tmp_path / "other.npz").write_bytes(content)
        with pytest.raises(ValueError, match="holds no path"):
            load_path(tmp_path / "other.npz")
    np.savez(tmp_path / "arrays.npz", a=np.ones(3))
    with pytest.raises(ValueError, match="holds no path"):
        load_path(tmp_path / "arrays.npz")
    with pytest.raises(FileNotFoundError):
        load_path(tmp_path / "nowhere.npz")
