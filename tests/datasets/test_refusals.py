"""Files that the readers refuse, and a pattern of each sentence."""

import gzip

import numpy as np
import pytest

from refsvm.datasets import open_data, read_csv, read_libsvm, read_npz
from refsvm.datasets.cells import csv_table

from .files import refused, written

pytest.importorskip("pandas")
pytest.importorskip("scipy")
pytest.importorskip("sklearn")

# -- texts -------------------------------------------------------------------------------------------------------------

NO_LIBSVM = "is not a LIBSVM file"
NO_NUMBER = "which is not a number"
UNLABELLED = r"has no label in row {}, column .*; complete that row or remove it\.$"
LONG = "x" * 200_000
TOO_LONG = "has a cell of more than 131,072 characters in row {}; shorten"
FLOWERS = "a,b,kind\n" + "1,2,x\n3,4,z\n" * 6
NO_TABLE = r"is not a CSV file; omit label\. If it is one, give delimiter"


def numbered(*labels):
    """A table of two features and these labels."""
    return "a,b,y\n" + "".join(f"{i % 5},{i * i % 7},{label}\n" for i, label in enumerate(labels))


TEXTS = [
    (read_libsvm, "+1 1:a\n", (), f"{NO_LIBSVM} .*; expected lines such as"),
    (read_libsvm, "+1 0:2\n", (), f"{NO_LIBSVM} .*index 0.*; expected lines such as"),
    (read_libsvm, "height,width\n1,2\n", (), NO_LIBSVM),
    (read_libsvm, "1 1:2\n2 1:1_0\n", (), r"a number contains an underscore; line 2"),
    (read_libsvm, "+1 1:nan\n", (), "contains NaN or infinity; drop or impute"),
    (read_libsvm, "# one\n\n1 1:2\n2 1:nan\n", (), r"contains NaN or infinity.* first \(line 4, feature \d\)\.$"),
    (read_libsvm, "nan 1:2\n", (), "contains NaN or infinity"),
    (read_libsvm, "", (), "contains a table of shape .0, 1.; give at least one example"),
    (read_libsvm, "+1\n-1\n", (), "contains labels but no features; expected lines such as"),
    *((read_libsvm, f"+1 {index}:1\n-1 1:1\n", (), rf"{NO_LIBSVM} \(") for index in (2**31, 10**20 - 1, "9" * 5000)),
    (read_libsvm, gzip.compress(b"+1 1:0.25\n" * 1000, mtime=0)[:-20], (), NO_LIBSVM),
    (read_libsvm, "1 9:5\n", (3,), "is not a LIBSVM file with n_features=3"),
    # features that are counted from 0, or a kernel matrix
    (open_data, "1 0:5 1:3 2:1\n-1 0:5 1:3 2:1\n", (), "but two rows have the same number; features count from 1"),
    (open_data, "1 0:1 1:3 2:1\n-1 0:2 1:3\n", (), "but line 2 lacks some entries; features count from 1"),
    (open_data, "1 0:1 1:3\n-1 1:3\n", (), "does not start with 0:number.*line 2"),
    (open_data, "1 0:1 1:3\n-1 0:0.5 1:3\n", (), "does not start with 0:number.*line 2"),
    (open_data, "1 0:0.5 1:3\n-1 0:2 1:3\n", (), "index 0.*line 1"),
    (open_data, "1 1:3\n-1 0:2 1:3\n", (), "index 0.*line 2"),
    # tables
    (read_csv, "", (0,), "is empty; expected one example in each row"),
    (read_csv, "u,v\n", ("v",), "has a header but no examples"),
    (read_csv, "u,v\n1,2\n3\n", ("v",), "has 1 cells in row 3, but 2 in row 1"),
    (read_csv, "1\n2\n", (0,), "has a single column; expected a label and features, separated by ','"),
    (read_csv, "u,v,w\n1,2,0\nred,2,1\n", ("w",), f"has 'red' in row 3, column 'u', {NO_NUMBER}"),
    (read_csv, "1,2,0\n?,2,1\n", (-1,), rf"has '\?' in row 2, column 0 \(counted from 0\), {NO_NUMBER}"),
    *((read_csv, f"u,v\n1,0\n{row}\n", ("v",), "contains NaN or infinity") for row in ("nan,1", "1e999,1", "2,nan")),
    (read_csv, b"\xff\xfe\x00\x81,\x00", (0,), "is not a CSV text in UTF-8"),
    (open_data, "a;y\n1;oak\n2;größer\n".encode("cp1252"), ("y",), r"\(byte 0xf6 in row 3\); save it as UTF-8 text\.$"),
    (open_data, "y,a,y\n1,2,3\n", ("y",), "has two columns 'y'; its columns are y, a, y"),
    # a first row with a bad number is no header
    (read_csv, "1x,1\n2,-1\n3,1\n", (1,), f"has '1x' in row 1, column .*, {NO_NUMBER}"),
    (read_csv, "?,1\n2,-1\n", (-1,), rf"has '\?' in row 1, column .*, {NO_NUMBER}"),
    (read_csv, "0.5,?,1\n2,3,-1\n", (-1,), rf"has '\?' in row 1, column .*, {NO_NUMBER}"),
    (read_csv, "1.5.2,oak\n2,elm\n3,oak\n", (1,), rf"has '1\.5\.2' in row 1, column .*, {NO_NUMBER}"),
    (read_csv, "NA,NA,oak\n2,3,oak\n", (2,), f"has 'NA' in row 1, column .*, {NO_NUMBER}"),
    (read_csv, "kind,1,2\n?,3,4\n", (2,), f"has 'kind' in row 1, column .*, {NO_NUMBER}"),
    (open_data, "a,y\n1_0,x\n2,z\n", ("y",), f"has '1_0' in row 2, column '.', {NO_NUMBER}"),
    # rows as the file has them
    (open_data, '\n\na,"the\nlabel"\n\n1,x\n\nred,z\n', (1,), "has 'red' in row 7"),
    (open_data, "a,y\n\n1,x\n2,z,3\n", ("y",), "has 3 cells in row 4, but 2 in row 1"),
    (open_data, f"# one\n# two\n{FLOWERS}1,?,x\n", ("kind",), r"has '\?' in row 16"),
    (open_data, f"{FLOWERS}# the end\n", ("kind",), "has 1 cells in row 14, but 3 in row 1; delete it if"),
    (open_data, "# nothing\n", ("kind",), "contains only comments"),
    (open_data, 'a,y\n1,"oak\n2,"elm"\n3,ash\n', ("y",), "row"),
    (open_data, 'a,y\n1,"oak\n2,elm"\n3,ash\n', ("y",), "several lines in row 2"),
    *((csv_table, text, given, UNLABELLED.format(row)) for text, given, row in [
        ("a,y\n1,x\n2,\n3,z\n", ("y",), 3), ("a,y\n1,0.5\n2, \n3,1\n", ("y",), 3), ("1,x\n2,\n", (1,), 2),
        ("1,\n2,x\n", (1,), 1),
    ]),
    *((csv_table, above + text, ("k",), TOO_LONG.format(row + above.count("\n"))) for text, row in [
        (f"a,k\n1,x\n1,{LONG}\n2,y\n", 3), (f"a,k\n{LONG},x\n2,y\n", 2), (f"{LONG},k\n1,x\n", 1),
    ] for above in ("", "# a comment\n\n")),
    # words among numbers, and decimal commas
    *((open_data, numbered(0, 1, 1, 0, 1, word), ("y",), "in row 7") for word in ("-", "missing", "unknown")),
    (open_data, "a;y\n1,234;x\n12,500;z\n", ("y",), "has '1,234' in row 2"),
    (csv_table, "a;b\n1,234;0.5\n", (), f"'1,234' in row 2, column .*, {NO_NUMBER}"),
    # what is no table
    *((open_data, content, ("kind",), NO_TABLE) for content in [
        "1 1:0.5\n2#3 1:2\n-1 2:3\n", "0 qid:1\n0 qid:2\n1 qid:3 1:2\n", "# c\n+1\n-1 3:1\n", "1,2 1:0.5\n",
        "a 1:2 2:3\n", "1 1: 5  2:\t7\n-1 2:6 # a,b,c\n",
    ]),
    (open_data, "1 12:30\n2 13:15\n", (0,), "If it is one, give delimiter, on the command line with --delimiter"),
    (open_data, "1 12:30\n2 13:15\n", (0, None, " "), f"has '12:30' in row 1, column .*, {NO_NUMBER}"),
    (csv_table, gzip.compress(b"a,b,kind\n1.5,2,oak\n", mtime=0)[:-12], ("kind",), "is not a CSV text in UTF-8"),
    *((open_data, content, given, f"is .*{says}; unpack it, or save it as text") for given in ((), ("y",))
      for content, says in [
          (b"PK\3\4 and more", "zip archive or a workbook"), (b"\x28\xb5\x2f\xfd...", "packed by zstd"),
      ]),
    (read_npz, "+1 1:2\n", (), r"is not an \.npz archive; write it with numpy"),
]  # fmt: skip


@pytest.mark.parametrize(("read", "content", "given", "says"), TEXTS, ids=lambda each: repr(each)[:25])
def test_a_text_is_refused(read, content, given, says, tmp_path):
    refused(written(tmp_path / "bad", content), *given, says=says, read=read)


# -- archives ----------------------------------------------------------------------------------------------------------

LABELS = np.array([-1, 1])
PLACES = {"indices": np.array([0, 1]), "indptr": np.array([0, 1, 2]), "shape": np.array([2, 2])}
SPARSE = {"data": np.ones(2), "y": LABELS} | PLACES
ARCHIVES = [
    ({"X": np.eye(2)}, "contains X; expected y and X, or y and data, indices, indptr, shape"),
    ({"y": LABELS, "data": LABELS}, "contains y, data; expected y and X"),
    ({}, "contains nothing; expected y and X"),
    ({"X": np.eye(3), "y": LABELS}, r"has X of shape \(3, 3\) and y of shape \(2,\); expected"),
    ({"X": np.ones(2), "y": LABELS}, r"has X of shape \(2,\) and y of shape \(2,\)"),
    ({"X": np.ones((0, 2)), "y": LABELS[:0]}, r"contains a table of shape \(0, 2\); give at least one example"),
    ({"X": np.array([["a"], ["b"]]), "y": LABELS}, r"contains no table of numbers \(the values are of type <U1"),
    ({"X": 1j * np.eye(2), "y": LABELS}, "contains no table of numbers"),
    ({"X": np.array([[0.0], [np.nan]]), "y": LABELS}, "contains NaN or infinity"),
    ({"X": np.array([[1, "a"]], dtype=object), "y": LABELS}, "cannot be read as an .npz .*allow_pickle=False"),
    ({"X": np.eye(2), "y": LABELS + 0j}, "has labels of type complex128"),
    ({"X": np.eye(2), "y": np.array([np.nan, 1.0])}, "contains NaN"),
    ({"X": np.eye(2), "y": LABELS.astype("datetime64[s]")}, "has labels of type datetime64"),
    ({**SPARSE, "data": np.array([1, np.inf])}, "contains NaN or infinity"),
    ({**SPARSE, "indices": np.array([0, 9])}, "contains no table of numbers"),
    ({**SPARSE, "indices": np.array([0, -1])}, "contains no table of numbers"),
    ({**SPARSE, "indices": np.array([0.0, 1.0])}, "contains no table of numbers"),
    ({**SPARSE, "indptr": np.array([0, 2])}, "contains no table of numbers"),
    *(({**SPARSE, "shape": np.array(shape)}, r"contains no table of numbers \(the array shape ")
      for shape in ([1.0, np.inf], [2.5, 2], [-2, 2], [2], [[2, 2]], [3, 2])),
]  # fmt: skip


@pytest.mark.parametrize(
    ("arrays", "says"), ARCHIVES, ids=lambda each: each[:40] if isinstance(each, str) else ""
)
def test_an_archive_is_refused(arrays, says, tmp_path):
    path = tmp_path / "bad.npz"
    np.savez_compressed(path, **arrays)
    refused(path, says=rf"^path='{path}' {says}", read=read_npz)


def test_a_damaged_archive_is_refused(tmp_path):
    path = tmp_path / "bad.npz"
    with path.open("wb") as stream:
        np.save(stream, np.eye(2))
    refused(path, says=r"is not an \.npz archive", read=read_npz)
    np.savez_compressed(path, X=np.random.default_rng(0).standard_normal((40, 40)), y=np.ones(40))
    content = bytearray(path.read_bytes())
    first = content.index(b"X.npy") + 200
    content[first : first + 3700] = bytes(3700)
    path.write_bytes(content)
    refused(path, says=r"cannot be read as an \.npz archive", read=read_npz)
