"""The problems that all libraries are handed."""

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


def test_thundersvm_gets_a_copy_of_sparse_data_and_labels_with_the_bits_of_floats(peers):
    sparse = pytest.importorskip("scipy.sparse")
    X, y = sparse.csr_matrix(np.eye(2)), np.array([-1.0, 1.0])
    mine, bits = peers("libraries").for_thundersvm(X, y)
    assert not np.shares_memory(mine.data, X.data)
    assert bits.astype(np.int32).view(np.float32).tolist() == [-1.0, 1.0]
    dense, labels = peers("libraries").for_thundersvm(X.toarray(), y)
    assert labels is y
    assert isinstance(dense, np.ndarray)
