"""The problems that all libraries are handed."""

from types import SimpleNamespace

import numpy as np
import pytest

from refsvm.datasets import Dataset


def test_a_stored_problem_is_read_back_bit_for_bit(peers, thyroid, tmp_path):
    read = peers("problems").store(thyroid, tmp_path).open()
    assert read.X.tobytes() == thyroid.X.tobytes()
    assert (read.name, read.C, read.gamma) == ("thyroid", 10.0, 0.05)


def test_a_sparse_problem_stays_sparse(peers, tmp_path):
    sparse = pytest.importorskip("scipy.sparse")
    X = sparse.csr_matrix(np.eye(4))
    read = (
        peers("problems")
        .store(Dataset("eye", X, np.array([1, -1, 1, -1]), C=1.0, gamma=1.0), tmp_path)
        .open()
    )
    assert sparse.issparse(read.X)
    assert read.y.dtype == np.float64


def test_the_one_hot_fields_become_signs(peers):
    sparse = pytest.importorskip("scipy.sparse")
    one_hot = sparse.csr_matrix(np.array([[1, 0, 0, 0, 0, 1], [0, 1, 0, 1, 0, 0]], dtype=float))
    signs = peers("problems").one_hot_to_signs(one_hot)
    assert signs.toarray().tolist() == [[-1.0, 1.0], [0.0, -1.0]]
    assert signs.nnz == 3


def test_the_largest_problems_are_measured_if_they_are_named_only(peers, monkeypatch):
    measured, table = [], peers("tables.large")

    class Turns:
        def __init__(self, *given): ...
        def __enter__(self):
            return self

        def __exit__(self, *failure): ...

    monkeypatch.setattr(table, "RoundRobin", Turns)
    monkeypatch.setattr(table, "chosen", lambda problems, only: measured.append([*only]) or ())
    monkeypatch.setattr(table, "kept", lambda store: {})
    for name in ("provenance", "large_table", "slower", "objectives"):
        monkeypatch.setattr(table, name, lambda *given: "")
    monkeypatch.setattr(table, "settings", lambda *given, **more: None)
    for only in (None, ["waveform-100000"]):
        table.LargeTable().part(SimpleNamespace(data_dir=None, only=only, store=None), [])
    assert "chessboard-50000" in measured[0]
    assert "waveform-100000" not in measured[0]
    assert measured[1] == ["waveform-100000"]


def test_a_drawn_problem_has_the_published_width(peers):
    named = {each.name: each for each in peers("problems").drawn()}
    assert {name.split("-")[0]: each.gamma for name, each in named.items()} == {
        "ringnorm": 0.1, "waveform": 0.05, "twonorm": 0.02,
    }  # fmt: skip
    assert {each.C for each in named.values()} == {1.0}
    assert named["ringnorm-50000"].load().n == 50_000


def test_thundersvm_gets_a_copy_of_sparse_data_and_labels_with_the_bits_of_floats(peers):
    sparse = pytest.importorskip("scipy.sparse")
    X, y = sparse.csr_matrix(np.eye(2)), np.array([-1.0, 1.0])
    mine, bits = peers("libraries").for_thundersvm(X, y)
    assert not np.shares_memory(mine.data, X.data)
    assert bits.astype(np.int32).view(np.float32).tolist() == [-1.0, 1.0]
    dense, labels = peers("libraries").for_thundersvm(X.toarray(), y)
    assert labels is y
    assert isinstance(dense, np.ndarray)
