"""Readers: what is written comes back, and what cannot be read is refused in one sentence."""

import gzip
import sys

import numpy as np
import pytest

from refsvm.datasets import read_csv, read_libsvm, read_npz

from .files import refused, written

sparse = pytest.importorskip("scipy.sparse")
dump_svmlight_file = pytest.importorskip("sklearn.datasets").dump_svmlight_file
csr_matrix, issparse = sparse.csr_matrix, sparse.issparse

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


NO_LIBSVM = "is not a LIBSVM file"


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("+1 1:a\n", f"{NO_LIBSVM} .*; expected lines such as"),
        ("+1 0:2\n", f"{NO_LIBSVM} .*index 0.*; expected lines such as"),
        ("height,width\n1,2\n", NO_LIBSVM),
        ("+1 1:nan\n", "contains NaN or infinity; drop or impute"),
        ("nan 1:2\n", "contains NaN or infinity"),
        ("", "contains a table of shape .0, 1.; give at least one example"),
        ("+1\n-1\n", "contains labels but no features; expected lines such as"),
        *((f"+1 {index}:1\n-1 1:1\n", rf"{NO_LIBSVM} \(") for index in (2**31, 10**20 - 1, "9" * 5000)),
        (gzip.compress(b"+1 1:0.25\n" * 1000, mtime=0)[:-20], NO_LIBSVM),
    ],
    ids=lambda value: str(value)[:20],
)
def test_a_malformed_libsvm_file_is_refused(content, sentence, tmp_path):
    path = written(tmp_path / "bad.libsvm", content)
    refused(path, says=rf"^path='{path}' ({sentence})", read=read_libsvm)


def test_libsvm_names_the_width_that_does_not_fit(tmp_path):
    path = written(tmp_path / "wide.libsvm", "1 9:5\n")
    refused(path, 3, says="is not a LIBSVM file with n_features=3", read=read_libsvm)


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


def test_csv_finds_the_label_by_name_even_above_numbered_columns(tmp_path):
    read, y = read_csv(write_csv(tmp_path / "t.csv", [0, "kind", 1], ROWS), label="kind")
    assert read.shape == (3, 2)
    assert y.tolist() == ["b", "a", "b"]


def test_csv_sees_a_header_of_numbered_columns_by_the_label_cell(tmp_path):
    rows = [[0.5, 2, 1], [1.5, 3, -1]]
    read, y = read_csv(write_csv(tmp_path / "t.csv", [0, 1, "label"], rows), label=-1)
    assert read.tolist() == [[0.5, 2], [1.5, 3]]
    assert y.tolist() == [1.0, -1.0]


NO_NUMBER = "which is not a number"


@pytest.mark.parametrize(
    ("content", "label", "sentence"),
    [
        ("", 0, "is empty; expected one example in each row"),
        ("u,v\n", "v", "has a header but no examples"),
        ("u,v\n1,2\n3\n", "v", "has 1 cells in row 3, but 2 in row 1"),
        ("1\n2\n", 0, "has a single column; expected a label and features, separated by ','"),
        ("u,v,w\n1,2,0\nred,2,1\n", "w", f"has 'red' in row 3, column 'u', {NO_NUMBER}"),
        ("1,2,0\n?,2,1\n", -1, rf"has '\?' in row 2, column 0 \(counted from 0\), {NO_NUMBER}"),
        ("u,v\n1,0\nnan,1\n", "v", "contains NaN or infinity"),
        ("u,v\n1,0\n1e999,1\n", "v", "contains NaN or infinity"),
        ("u,v\n1,0\n2,nan\n", "v", "contains NaN or infinity"),
        (b"\xff\xfe\x00\x81,\x00", 0, "is not a CSV text in UTF-8"),
        # a first row with a bad number is no header
        ("1x,1\n2,-1\n3,1\n", 1, f"has '1x' in row 1, column .*, {NO_NUMBER}"),
        ("?,1\n2,-1\n", -1, rf"has '\?' in row 1, column .*, {NO_NUMBER}"),
        ("0.5,?,1\n2,3,-1\n", -1, rf"has '\?' in row 1, column .*, {NO_NUMBER}"),
        ("1.5.2,oak\n2,elm\n3,oak\n", 1, rf"has '1\.5\.2' in row 1, column .*, {NO_NUMBER}"),
        ("NA,NA,oak\n2,3,oak\n", 2, f"has 'NA' in row 1, column .*, {NO_NUMBER}"),
        ("kind,1,2\n?,3,4\n", 2, f"has 'kind' in row 1, column .*, {NO_NUMBER}"),
    ],
)
def test_a_malformed_csv_file_is_refused(content, label, sentence, tmp_path):
    path = written(tmp_path / "bad.csv", content)
    refused(path, label, says=rf"^path='{path}' {sentence}", read=read_csv)


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


PLACES = {"indices": np.array([0, 1]), "indptr": np.array([0, 1, 2]), "shape": np.array([2, 2])}
LABELS = np.array([-1, 1])
SPARSE = {"data": np.ones(2), "y": LABELS} | PLACES


@pytest.mark.parametrize(
    ("arrays", "sentence"),
    [
        ({"X": np.eye(2)}, "contains X; expected y and X, or y and data, indices, indptr, shape"),
        ({"y": LABELS, "data": LABELS}, "contains y, data; expected y and X"),
        ({}, "contains nothing; expected y and X"),
        ({"X": np.eye(3), "y": LABELS}, r"has X of shape \(3, 3\) and y of shape \(2,\); expected"),
        ({"X": np.ones(2), "y": LABELS}, r"has X of shape \(2,\) and y of shape \(2,\)"),
        (
            {"X": np.ones((0, 2)), "y": LABELS[:0]},
            r"contains a table of shape \(0, 2\); give at least one example",
        ),
        (
            {"X": np.array([["a"], ["b"]]), "y": LABELS},
            r"contains no table of numbers \(its values are of type <U1",
        ),
        ({"X": 1j * np.eye(2), "y": LABELS}, "contains no table of numbers"),
        ({"X": np.array([[0.0], [np.nan]]), "y": LABELS}, "contains NaN or infinity"),
        ({**SPARSE, "data": np.array([1, np.inf])}, "contains NaN or infinity"),
        ({**SPARSE, "indices": np.array([0, 9])}, "contains no table of numbers"),
        ({**SPARSE, "indices": np.array([0, -1])}, "contains no table of numbers"),
        ({**SPARSE, "indices": np.array([0.0, 1.0])}, "contains no table of numbers"),
        ({**SPARSE, "indptr": np.array([0, 2])}, "contains no table of numbers"),
        ({**SPARSE, "shape": np.array([2])}, "contains no table of numbers"),
    ],
)
def test_a_malformed_archive_is_refused(arrays, sentence, tmp_path):
    path = tmp_path / "bad.npz"
    np.savez_compressed(path, **arrays)
    refused(path, says=rf"^path='{path}' {sentence}", read=read_npz)


def test_an_archive_with_objects_is_never_unpickled(tmp_path):
    path = tmp_path / "bad.npz"
    np.savez(path, X=np.array([[1, "a"]], dtype=object), y=LABELS)
    refused(path, says="cannot be read as an .npz archive .*allow_pickle=False", read=read_npz)


def test_a_file_that_is_no_archive_or_is_damaged_is_refused(tmp_path):
    path = written(tmp_path / "bad.npz", "+1 1:2\n")
    refused(path, says=r"is not an \.npz archive; write it with numpy", read=read_npz)
    with path.open("wb") as stream:
        np.save(stream, X)
    refused(path, says=r"is not an \.npz archive", read=read_npz)
    np.savez_compressed(path, X=np.random.default_rng(0).standard_normal((40, 40)), y=np.ones(40))
    content = bytearray(path.read_bytes())
    first = content.index(b"X.npy") + 200
    content[first : first + 3700] = bytes(3700)
    path.write_bytes(content)
    refused(path, says=r"cannot be read as an \.npz archive", read=read_npz)
