"""Files that are damaged, claim more than they hold, or hold what is no table: ValueError, and little memory."""

import csv
import io
import re
import tracemalloc
import zipfile

import numpy as np
import pytest

from refsvm.datasets import open_data, read_csv, read_libsvm, read_npz

from ..services.damage import ALL, outcomes
from .files import refused, written

pytest.importorskip("scipy")
pytest.importorskip("sklearn")

RNG = np.random.default_rng(0)
X, Y = RNG.standard_normal((30, 4)), np.where(RNG.uniform(size=30) < 0.5, -1, 1)


# -- LIBSVM ------------------------------------------------------------------------------------------------------------


def test_a_large_index_takes_little_memory(tmp_path):
    path = written(tmp_path / "wide.libsvm", "+1 2000000000:1\n-1 1:1\n")
    tracemalloc.start()
    read, _ = read_libsvm(path)
    assert open_data(path).d == 2_000_000_000
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert read.shape == (2, 2_000_000_000)
    assert peak < 10e6


@pytest.mark.parametrize("packed", [False, True])
def test_a_byte_order_mark_is_passed_over(packed, tmp_path):
    path = written(tmp_path / ("t.gz" if packed else "t.libsvm"), "\ufeff+1 1:0.5 2:2\n-1 2:1\n")
    read, y = read_libsvm(path)
    assert read.toarray().tolist() == [[0.5, 2], [0, 1]]
    assert y.tolist() == [1, -1]
    assert open_data(path).n == 2


# -- CSV ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("delimiter", ["", "ab", "\n", '"', None, 5])
def test_a_delimiter_is_one_character(delimiter, tmp_path):
    path = written(tmp_path / "t.csv", "1,2\n")
    with pytest.raises(ValueError, match=r"^delimiter=.* is not a single character; give"):
        read_csv(path, 0, delimiter)


@pytest.mark.parametrize(
    ("text", "label", "n"),
    [
        ("height,kind\n1.5,oak\n0.5,elm\n", 1, 2),
        ("a,b,y\n1,2,1\n3,4,-1\n", -1, 2),
        ("0,1,y\n5,2,1\n3,4,-1\n", -1, 2),
        ("0,y,2\n5,1,1\n3,-1,4\n", 1, 2),
        ("0.5,2,y\n5,2,1\n3,4,-1\n", -1, 3),
    ],
)
def test_a_header_is_still_seen(text, label, n, tmp_path):
    assert len(read_csv(written(tmp_path / "t.csv", text), label)[0]) == n


# -- NumPy archives ----------------------------------------------------------------------------------------------------


def member(array, **header):
    """The bytes of an .npy file, with a changed header."""
    stream = io.BytesIO()
    plain = {"descr": array.dtype.str, "fortran_order": False, "shape": array.shape}
    np.lib.format.write_array_header_1_0(stream, {**plain, **header})
    return stream.getvalue() + array.tobytes()


def archive(path, **members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            file.writestr(f"{name}.npy", content)


@pytest.mark.parametrize("shape", [(10**7, 1000), (10**12, 10**12), (30, 5), (0, 4)])
def test_an_array_that_claims_more_than_it_holds_is_refused(shape, tmp_path):
    path = tmp_path / "t.npz"
    archive(path, X=member(X, shape=shape), y=member(Y))
    tracemalloc.start()
    says = r"cannot be read as an \.npz archive \(X\.npy claims \d+ bytes of values, but holds 960"
    refused(path, says=says, read=read_npz)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10e6


# -- any of them -------------------------------------------------------------------------------------------------------


def one_of_each(path):
    """One valid file of each format, and how it is read."""
    rows = [" ".join(f"{j}:{v:.3g}" for j, v in enumerate(x, start=1)) for x in X]
    (path / "a.libsvm").write_text("\n".join(f"{y} {row}" for y, row in zip(Y, rows, strict=True)))
    np.savetxt(path / "a.csv", np.column_stack([Y, X]), delimiter=",", fmt="%.3g")
    np.savez(path / "a.npz", X=X, y=Y)
    np.savez_compressed(path / "b.npz", X=X, y=Y)
    sparse = {"data": X.ravel(), "indices": np.tile(np.arange(4), 30), "indptr": np.arange(0, 121, 4)}
    np.savez(path / "c.npz", **sparse, shape=np.array(X.shape), y=Y)
    archives = dict.fromkeys(("a.npz", "b.npz", "c.npz"), read_npz)
    return {"a.libsvm": read_libsvm, "a.csv": lambda p: read_csv(p, 0)} | archives


def libsvm(content):
    """What the format says, read by `float` and `int` alone; blanks before a value are passed over."""
    lines = [re.sub(r":\s+", ":", line.split("#")[0]).split() for line in content.decode().split("\n")]
    examples = [
        (float(label), {int(j): float(x) for j, x in (each.split(":") for each in features)})
        for label, *features in filter(None, lines)
    ]
    X = np.zeros((len(examples), max(max(features, default=0) for _, features in examples)))
    for row, (_, features) in zip(X, examples, strict=True):
        row[[j - 1 for j in features]] = [*features.values()]
    return X, [label for label, _ in examples]


def cells(content):
    """What the csv module of Python finds."""
    text = io.StringIO(content.decode("utf-8-sig"), newline="")
    rows = [row for row in csv.reader(text, skipinitialspace=True) if any(map(str.strip, row))]
    return np.array([[float(cell) for cell in row[1:]] for row in rows]), [row[0].strip() for row in rows]


def numpys(content):
    """What NumPy finds."""
    with np.load(io.BytesIO(content)) as file:
        if "X" in file:
            return file["X"], file["y"]
        X = np.zeros(file["shape"])
        rows = np.repeat(np.arange(len(X)), np.diff(file["indptr"]))
        np.add.at(X, (rows, file["indices"]), file["data"])
        return X, file["y"]


@pytest.mark.filterwarnings("ignore")  # what is told of damaged names and labels
@pytest.mark.timeout(3600 if ALL else 300)
@pytest.mark.parametrize(
    ("name", "other"),
    [("a.libsvm", libsvm), ("a.csv", cells), ("a.npz", numpys), ("b.npz", numpys), ("c.npz", numpys)],
)
def test_any_damage_is_refused_or_read_as_others_read_it(name, other, tmp_path):
    read, refusals = one_of_each(tmp_path)[name], 0
    for content, found in outcomes(tmp_path / name, read, np.random.default_rng(1)):
        if found is None:
            refusals += 1
            continue
        X, y = other(content)
        ours = found[0].toarray() if hasattr(found[0], "toarray") else found[0]
        np.testing.assert_array_equal(ours, X)
        assert list(map(str, found[1])) == list(map(str, np.asarray(y, dtype=found[1].dtype))), content
    assert refusals > 10
