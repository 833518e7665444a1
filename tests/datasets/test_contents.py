"""Content decides what a file is: any ending, packed, through a pipe, comments above, kernel matrices of LIBSVM."""

import bz2
import gzip
import io
import lzma
import os
import subprocess
import sys
import unicodedata
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("sklearn")
pytest.importorskip("pandas")

from refsvm.datasets import open_data, read_csv, read_libsvm
from refsvm.datasets.dataset import training_matrix

from .files import written

ROWS = [(3 * i % 10, i * i % 7, "xz"[i % 2]) for i in range(12)]
TABLE = "a,b,kind\n" + "".join(f"{a},{b},{c}\n" for a, b, c in ROWS)
LIBSVM = "".join(f"{'+1' if c == 'x' else '-1'} 1:{a} 2:{b}\n" for a, b, c in ROWS)
X, KINDS = np.array([row[:2] for row in ROWS], dtype=float), [row[2] for row in ROWS]
SIGNS = [1.0 if kind == "x" else -1.0 for kind in KINDS]
ENDINGS = [
    "",
    *[".csv", ".tsv", ".data", ".txt", ".dat", ".svm", ".libsvm", ".svmlight", ".all", ".TXT", ".npz", ".gz"],
]
PACKERS = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}


def pipe(monkeypatch, content):
    """Let the standard input bring these bytes."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))


def dense(data):
    return data.X if isinstance(data.X, np.ndarray) else data.X.toarray()


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("packed", [*PACKERS])
@pytest.mark.parametrize("says", [True, False], ids=["packed by its name", "whatever its name"])
def test_any_ending(ending, packed, says, tmp_path):
    path = tmp_path / f"flowers{ending}{packed if says else ''}"
    path.write_bytes(PACKERS[packed](TABLE.encode()))
    data = open_data(path, "kind")
    np.testing.assert_array_equal(data.X, X)
    assert (data.y.tolist(), data.columns, data.name) == (KINDS, ("a", "b"), "flowers")
    assert (data.source, data.licence, data.C) == (str(path), "", None)
    path.write_bytes(PACKERS[packed](LIBSVM.encode()))
    data = open_data(path)
    np.testing.assert_array_equal(dense(data), X)
    assert (data.y.tolist(), data.name) == (SIGNS, "flowers")


def test_archives_have_any_ending_too(tmp_path):
    path = tmp_path / "flowers.bin"
    with path.open("wb") as stream:
        np.savez(stream, X=X, y=SIGNS)
    np.testing.assert_array_equal(open_data(path).X, X)
    with pytest.raises(ValueError, match=r"^label='kind' is the column .* is not a CSV file; omit label\.$"):
        open_data(path, "kind")


@pytest.mark.parametrize("kind", ["table", "LIBSVM", "archive", "packed"])
@pytest.mark.parametrize("way", ["-", "fifo"])
def test_pipes(kind, way, tmp_path, monkeypatch):
    stream = io.BytesIO()
    np.savez(stream, X=X, y=SIGNS)
    content = {
        "table": TABLE.encode(), "LIBSVM": LIBSVM.encode(), "archive": stream.getvalue(),
        "packed": gzip.compress(TABLE.encode()),
    }[kind]  # fmt: skip
    label = "kind" if kind in ("table", "packed") else None
    if way == "-":
        pipe(monkeypatch, content)
        data = open_data("-", label)
        assert (data.name, data.source) == ("stdin", "-")
    else:
        os.mkfifo(tmp_path / "fifo")
        (tmp_path / "content").write_bytes(content)
        with subprocess.Popen(f"cat '{tmp_path}/content' > '{tmp_path}/fifo'", shell=True):
            data = open_data(tmp_path / "fifo", label)
    np.testing.assert_array_equal(dense(data), X)


def test_readers_take_the_standard_input(monkeypatch):
    pipe(monkeypatch, TABLE.encode())
    np.testing.assert_array_equal(read_csv("-", "kind")[0], X)
    pipe(monkeypatch, LIBSVM.encode())
    np.testing.assert_array_equal(read_libsvm("-")[0].toarray(), X)


def test_what_brings_nothing_or_never_ends_is_refused(monkeypatch):
    pipe(monkeypatch, b"")
    with pytest.raises(ValueError, match="is empty; a pipe can be read only once"):
        open_data("-", "kind")
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(ValueError, match="is the standard input, which is closed; give a file"):
        open_data("-", "kind")
    if Path("/dev/zero").exists():
        with pytest.raises(ValueError, match="is a terminal or another device; give a file"):
            open_data("/dev/zero")


@pytest.mark.parametrize(
    ("above", "sep"),
    [
        ("# station 7, exported today\n# unit: mm\n", ","), ("\n#\n\n# x\n", ";"), ("% by octave\n", "\t"),
        ("// a\n", " "),
        ("# a, b, c\n", ","), ("# note\r\n", ","), ("# note\nsep=;\n", ";"), ("sep=;\n# note\n", ";"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("name", ["t.csv", "t.txt"])
def test_comments_above_the_header(above, sep, name, tmp_path):
    path = written(tmp_path / name, above + TABLE.replace(",", sep))
    data = open_data(path, "kind")
    np.testing.assert_array_equal(data.X, X)
    assert (data.y.tolist(), data.columns) == (KINDS, ("a", "b"))


def test_a_header_that_is_a_comment(tmp_path):
    path = tmp_path / "t.txt"
    np.savetxt(path, np.c_[X, SIGNS], header="made today\na b kind")
    data = open_data(path, "kind")  # a warning would be an error
    np.testing.assert_array_equal(data.X, X)
    assert (data.columns, data.y.tolist()) == (("a", "b"), SIGNS)
    with pytest.warns(UserWarning, match=r"row 2 \(a, b, kind\), which starts with #, is taken for the"):
        assert open_data(path, 2).columns == ("a", "b")
    rows = "".join(f"{i},{i * i % 7},{'xz'[i % 2]}\n" for i in range(9))
    path = written(tmp_path / "n.csv", f"#,size,kind\n{rows}")
    with pytest.warns(UserWarning, match="column '#' contains row numbers"):
        assert open_data(path, "kind").columns == ("#", "size")


def test_a_row_that_looks_like_a_comment_is_told(tmp_path):
    path = written(tmp_path / "t.csv", "#1,1,2\n#2,3,4\nb,5,6\nb,7,8\n")
    with pytest.warns(UserWarning, match=r"row 2 \(2, 3, 4\), which starts with #, is taken for"):
        open_data(path, 0)


# -- kernel matrices ---------------------------------------------------------------------------------------------------

K = np.exp(-np.square(X[:, None] - X).sum(axis=2) / 9.0)


def rows_of(order, number="{0}"):
    values = [" ".join(f"{j + 1}:{v!r}" for j, v in enumerate(row)) for row in K.tolist()]
    return "".join(f"{SIGNS[i]:+g} 0:{number.format(i + 1)} {values[i]}\n" for i in order)


@pytest.mark.parametrize("name", ["k", "k.csv", "k.txt"])
def test_a_kernel_matrix(name, tmp_path):
    path = written(tmp_path / name, rows_of(range(12)))
    data = open_data(path)
    np.testing.assert_array_equal(data.X, K)
    assert (data.y.tolist(), data.places.tolist()) == (SIGNS, [*range(1, 13)])
    np.testing.assert_array_equal(read_libsvm(path)[0], K)


def test_rows_of_a_kernel_matrix_in_another_order_or_without_numbers(tmp_path):
    path, order = tmp_path / "k", np.random.default_rng(0).permutation(12)
    path.write_text(rows_of(order))
    np.testing.assert_array_equal(open_data(path).X, K[order])
    again = training_matrix(open_data(path))
    np.testing.assert_array_equal(again.X, K)
    assert again.y.tolist() == SIGNS
    for some, number in ((range(5), "{0}"), (range(12), "?")):
        path.write_text(rows_of(some, number))
        data = open_data(path)
        np.testing.assert_array_equal(data.X, K[list(some)])
        with pytest.raises(ValueError, match="give one row for each column, numbered 0:1, 0:2 and so on"):
            training_matrix(data)


# -- labels ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other", "what"),
    [
        (*(unicodedata.normalize(form, "forêt") for form in ("NFC", "NFD")), "the form of their characters"),
        ("oak", "oak\u200b", "the form of their characters"), ("ﬁr", "fir", "the form of their characters"),
        ("Oak", "oak", "case"), ("red oak", "red  oak", "blanks"), ("Red oak", "red  oak", "case and blanks"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("ending", [".csv", ".npz"])
def test_labels_that_look_alike_get_a_note(one, other, what, ending, tmp_path):
    labels = [one, other, "elm"] * 4
    path = tmp_path / f"trees{ending}"
    if ending == ".csv":
        rows = "".join(f"{a},{b},{kind}\n" for (a, b), kind in zip(X, labels, strict=True))
        written(path, f"a,b,kind\n{rows}")
    else:
        np.savez(path, X=X, y=labels)
    with pytest.warns(UserWarning, match=rf"the labels .* differ only in {what}, .*; write them alike"):
        data = open_data(path, "kind" if ending == ".csv" else None)
    assert len(set(data.y.tolist())) == 3
