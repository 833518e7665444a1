"""Paths as files."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from refsvm import RBF, DualProblem, Linear, cost_path, epsilon_path, nu_path, regularization_path
from refsvm.analysis.paths import load_path, save_path

from ...core.paths.sets import SETS

pytest.importorskip("scipy")


LINES: Any = {
    "C": lambda X, y, **more: regularization_path(X, y, C_max=1e2, **more),
    "costs": cost_path,
    "a tube": lambda X, y, **more: epsilon_path(X, X[:, 0] + 0.1 * y, epsilon=(1.0, 0.01), **more),
    "novelties": lambda X, y, **more: nu_path(X, nu=(0.8, 0.2), **more),
    "C of regression": lambda X, y, kernel: regularization_path(
        DualProblem.regression(X, X[:, 0] + 0.1 * y, kernel=kernel), C_max=10.0
    ),
}


def test_sparse_examples_stay_sparse(tmp_path: Path) -> None:
    sparse = pytest.importorskip("scipy.sparse")
    X, y, _ = SETS["overlapping, linear"]
    path = regularization_path(sparse.csr_array(X), y, kernel="linear", C_max=10.0)
    save_path(path, tmp_path / "path.npz")
    again = load_path(tmp_path / "path.npz")
    assert sparse.issparse(again.problem.gram.X)
    np.testing.assert_allclose(again.decision_function(X, 1.0), path.decision_function(X, 1.0), atol=1e-12)


@pytest.mark.parametrize("name", ["overlapping, rbf", "every row three times", "overlapping, linear"])
@pytest.mark.parametrize("line", LINES)
def test_a_file_brings_every_line_back(line: str, name: str, tmp_path: Path) -> None:
    X, y, kernel = SETS[name]
    path = LINES[line](X, y, kernel=kernel)
    save_path(path, tmp_path / "path.npz")
    again = load_path(tmp_path / "path.npz")
    assert type(again) is type(path)
    assert repr(again) == repr(path)
    assert (again.status, again.tracker, again.drift) == (path.status, path.tracker, path.drift)
    assert line != "C" or again.problem.gram.kernel == kernel
    for t in (path.record.t[0], 0.3 * path.record.t[0] + 0.7 * path.record.t[-1]):
        np.testing.assert_array_equal(again.alpha(t), path.alpha(t))
        np.testing.assert_array_equal(again.decision_function(X, t), path.decision_function(X, t))
        assert again.objective(t) == pytest.approx(path.objective(t), rel=1e-12)
    assert again.kkt_audit().worst <= 1e-6


@pytest.mark.parametrize(
    ("line", "name", "change", "sentence"),
    [
        ("C", "record_t", lambda a: a[::-1], "C is not ascending"),
        ("C", "record_t", lambda a: a * 1j, "t has a wrong dtype"),
        ("C", "record_value", lambda a: np.where(np.arange(len(a)) == 3, np.nan, a), "value is not finite"),
        ("C", "record_value", lambda a: 3.0 * a, "value lies outside of the box"),
        ("C", "record_value", lambda a: a[:-1], "the lengths of changed, value and start"),
        ("C", "record_intercept", lambda a: a[:1], "lengths differ"),
        ("C", "record_changed", lambda a: a + 10**9, "changed contains the number of a variable"),
        ("C", "record_start", lambda a: a.astype("U5"), "start has a wrong dtype"),
        ("C", "record_start", lambda a: a[::-1], "start is not a list of ends"),
        ("C", "record_events", lambda a: a[:, None], "events has a wrong"),
        ("C", "merged_group", lambda a: a[:-1], "group and weight differ in length"),
        ("C", "merged_group", lambda a: a[::-1], "first is not in the group"),
        ("C", "merged_weight", lambda a: a[None], "weight has a wrong dtype or shape"),
        ("C", "merged_weight", lambda a: 2.0 * a, "do not add up to the bounds"),
        ("a tube", "record_t", lambda a: a[::-1], "t is not in order"),
        ("a tube", "record_t", lambda a: 2.0 * a, "t is not in order"),
        ("a tube", "record_value", lambda a: 3.0 * a, "value lies outside of the box"),
        ("a tube", "merged_group", lambda a: a[::-1], "first is not in the group"),
        ("a tube", "merged_group", lambda a: a[:-1], "group has another length"),
        ("a tube", "variables", lambda a: a[:-1], "is not a path file"),
        ("a tube", "lower", lambda a: a[:1], "is not a path file"),
    ],
    ids=lambda value: value if isinstance(value, str) else "changed",
)
def test_a_damaged_path_is_refused(line: str, name: str, change: Any, sentence: str, tmp_path: Path) -> None:
    X, y, kernel = SETS["every row three times"]
    file = tmp_path / "path.npz"
    save_path(LINES[line](X, y, kernel=kernel), file)
    with np.load(file) as archive:
        arrays = dict(archive)
    arrays[name] = change(arrays[name])
    np.savez(file, **arrays)
    with pytest.raises(ValueError, match=sentence) as error:
        load_path(file)
    assert str(file) in str(error.value)


def test_what_is_no_path_is_refused(tmp_path: Path) -> None:
    X, y, _ = SETS["overlapping, rbf"]
    path = regularization_path(X, y, kernel=lambda A, B: RBF(0.5)(A, B) + Linear()(A, B), C_max=1.0)
    with pytest.raises(ValueError, match="cannot be stored by name"):
        save_path(path, tmp_path / "path.npz")
    file, archive = tmp_path / "other.npz", io.BytesIO()
    np.savez(archive, a=np.ones(3))
    for content in (b"", b"PK\x03\x04 nothing", b"1,2,3\n", archive.getvalue()):
        file.write_bytes(content)
        with pytest.raises(ValueError, match="is not a path file"):
            load_path(file)
    with pytest.raises(FileNotFoundError):
        load_path(tmp_path / "nowhere.npz")


def test_a_path_of_several_classes_is_saved_pair_by_pair(tmp_path):
    X, y = np.array([[0.0], [1.0], [2.0], [3.0], [5.0], [6.0]]), np.array(["a", "b", "a", "b", "c", "c"])
    path = regularization_path(X, y, kernel=RBF(0.5), C_min=0.1, C_max=10.0)
    with pytest.raises(ValueError, match="contains a path for each pair; save each of its paths"):
        save_path(path, tmp_path / "path.npz")
    save_path(path.paths[1], tmp_path / "pair.npz")
    again = load_path(tmp_path / "pair.npz")
    assert np.array_equal(again.alpha(2.0), path.paths[1].alpha(2.0))
