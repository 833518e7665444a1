"""Readers: what is written comes back, and what cannot be read is refused in one sentence."""

import sys

import numpy as np
import pytest

from refsvm.datasets import read_csv, read_libsvm, read_npz

from .files import refused, written

pytest.importorskip("scipy")
pytest.importorskip("sklearn")

RNG = np.random.default_rng(0)
X = RNG.standard_normal((12, 5)) * (RNG.uniform(size=(12, 5)) < 0.5)
X[0, -1] = 1.0  # so that the last column is seen
Y = np.where(RNG.uniform(size=12) < 0.5, -1.0, 3.0)


@pytest.mark.parametrize("read", [read_libsvm, read_npz, lambda path: read_csv(path, label=0)])
def test_a_missing_file_or_a_folder_is_refused(read, tmp_path):
    for path in (tmp_path / "none.dat", tmp_path):
        with pytest.raises(FileNotFoundError, match=rf"^path='{path}' is not a file; check"):
            read(path)


# --- LIBSVM ------------------------------------------------------------------


def test_libsvm_takes_the_width_of_the_training_file(tmp_path):
    path = written(tmp_path / "test.libsvm", "1 2:5\n")
    assert read_libsvm(path)[0].shape == (1, 2)
    assert read_libsvm(path, n_features=7)[0].toarray().tolist() == [[0, 5, 0, 0, 0, 0, 0]]


def test_libsvm_without_scikit_learn_names_the_extra(tmp_path, monkeypatch):
    path = written(tmp_path / "data.libsvm", "1 1:5\n")
    monkeypatch.setitem(sys.modules, "sklearn.datasets", None)
    with pytest.raises(ImportError, match=r"needs scikit-learn.*pip install scikit-learn"):
        read_libsvm(path)


# --- CSV ---------------------------------------------------------------------


def write_csv(path, header, rows):
    lines = [",".join(map(str, row)) for row in ([header] if header else []) + rows]
    return written(path, "\n".join(lines) + "\n")


ROWS = [[0.5, "b", 2], [1e-3, "a", -4], [7, "b", 0.1]]


@pytest.mark.parametrize("header", [["u", "kind", "v"], None])
@pytest.mark.parametrize("label", [1, -2, "1", "-2"])
def test_csv_finds_the_label_by_index_with_or_without_a_header(header, label, tmp_path):
    read, y = read_csv(write_csv(tmp_path / "t.csv", header, ROWS), label=label)
    assert read.tolist() == [[0.5, 2], [1e-3, -4], [7, 0.1]]
    assert y.tolist() == ["b", "a", "b"]


@pytest.mark.parametrize(
    ("label", "sentence"),
    [
        ("kinf", r"^label='kinf' is not a column of '.*'; did you mean 'kind'\?"),
        ("zzz", r"^label='zzz' is not a column of '.*'; the first row is u, kind, v\."),
        (3, "^label=3 is not a column of"),
        (-4, "^label=-4 is not a column of"),
        (1.0, r"^label=1\.0 is not a column of"),
        (None, "^label=None is not a column of"),
    ],
)
def test_a_label_that_is_no_column_is_refused(label, sentence, tmp_path):
    path = write_csv(tmp_path / "t.csv", ["u", "kind", "v"], ROWS)
    refused(path, label, says=sentence, read=read_csv)


# --- NumPy archives ----------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.uint8, bool])
def test_npz_round_trip_dense(dtype, tmp_path):
    path, values = tmp_path / "t.npz", (10 * np.abs(X)).astype(dtype)
    np.savez_compressed(path, X=values, y=Y.astype(np.int8), Xtest=X)
    read, y = read_npz(path)
    assert read.dtype == np.float64
    np.testing.assert_array_equal(read, values.astype(np.float64))
    np.testing.assert_array_equal(y, Y)
