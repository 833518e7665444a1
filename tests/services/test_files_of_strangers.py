"""What is read is whole: each file that is cut off or damaged is refused, or means what it meant before."""

from __future__ import annotations

import json
import sqlite3
import zipfile
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("sklearn")

from refsvm import RBF, SVC, SVR, cost_path, read_model, regularization_path, write_model
from refsvm.analysis.multiclass.model import Scaling
from refsvm.analysis.paths import load_path, save_path
from refsvm.services.store import RunStore

from .damage import damaged, outcomes

pytest.importorskip("scipy")

RNG = np.random.default_rng(0)
X = RNG.normal(size=(14, 2)).round(2)
Y = np.where(X[:, 0] + 0.3 * X[:, 1] > 0, 1, -1)


def model(file, name):
    """Write a small model; return what another reader of the same bytes would have to find."""
    names = {"classes": np.where(Y > 0, "oak", "elm"), "three": np.where(X[:, 1] > 0.5, 7, Y)}
    if name == "values":
        fitted = SVR(kernel="poly", degree=2, engine="numpy").fit(X, X[:, 0])
    elif name == "tube":  # no support vector: all that predicts stands in the header
        fitted = SVR(epsilon=9.0, engine="numpy").fit(X, X[:, 0])
    else:
        fitted = SVC(engine="numpy").fit(X, names[name])
    scaling = Scaling(X.mean(axis=0), X.std(axis=0)) if name == "classes" else None
    write_model(fitted, file, columns=["a", "b"] if name == "classes" else None, scaling=scaling)


def facts(model):
    """All that a model predicts with."""
    parts = [model.dual_coef, model.intercept, model.support_vectors.toarray()]
    parts += [] if model.scaling is None else [model.scaling.mean, model.scaling.scale]
    said = [model.kernel, model.columns, getattr(model, "task", None), str(getattr(model, "classes", None))]
    return [part.tobytes() for part in parts], [part.shape for part in parts], said


@pytest.mark.parametrize("name", ["classes", "three", "values", "tube"])
def test_a_model_that_is_cut_off_or_damaged_is_refused(name, tmp_path):
    model(tmp_path / "m", name)
    whole = facts(read_model(tmp_path / "m"))
    found = [each for _, each in outcomes(tmp_path / "m", read_model, np.random.default_rng(1))]
    assert all(each is None or facts(each) == whole for each in found)
    assert sum(each is None for each in found) > 100


@pytest.mark.parametrize("name", ["classes", "three", "values"])
def test_a_model_without_a_digest_is_refused_or_means_what_libsvm_reads(name, tmp_path):
    """As LIBSVM writes it, and refsvm 0.4.0."""
    svmutil = pytest.importorskip("libsvm.svmutil")
    file, other = tmp_path / "m", tmp_path / "libsvm"
    model(file, name)
    file.write_bytes(b"".join(
        b"SV\n" if line.startswith(b"SV") else line
        for line in file.read_bytes().splitlines(keepends=True) if not line.startswith(b"#")
    ))  # fmt: skip
    accepted = 0
    for content, found in outcomes(file, read_model, np.random.default_rng(1)):
        if found is None:
            continue
        other.write_bytes(content)
        theirs = svmutil.svm_load_model(str(other))
        assert theirs is not None, content
        support = [{j: x for j, x in each.items() if x and j > 0} for each in theirs.get_SV()]
        ours = found.support_vectors.tocsr()
        rows = [ours[i] for i in range(ours.shape[0])]
        assert support == [
            {j + 1: x for j, x in zip(row.indices.tolist(), row.data.tolist(), strict=True) if x}
            for row in rows
        ]
        sign = -1.0 if name == "classes" else 1.0
        assert np.array_equal(sign * found.dual_coef.T, theirs.get_sv_coef()), content
        assert [-sign * b for b in found.intercept] == [theirs.rho[k] for k in range(len(found.intercept))]
        accepted += 1
    assert accepted > 3  # digits that are other digits now


@pytest.mark.parametrize("name", ["C", "costs, sparse"])
def test_a_path_that_is_cut_off_or_damaged_is_refused(name, tmp_path):
    sparse = pytest.importorskip("scipy.sparse")
    found = (
        regularization_path(X, Y, kernel=RBF(0.1), C_min=0.1, C_max=1.0, engine="numpy")
        if name == "C" else cost_path(sparse.csr_array(X), Y, kernel=RBF(0.1), C=1.0, engine="numpy")
    )  # fmt: skip
    save_path(found, tmp_path / "p.npz")

    def values(path):
        mean = 0.5 * (path.record.t[0] + path.record.t[-1])
        return repr(path), path.decision_function(X, mean).tobytes(), path.alpha(mean).tobytes()

    whole = values(load_path(tmp_path / "p.npz"))
    refused = 0
    for _, each in outcomes(tmp_path / "p.npz", load_path, np.random.default_rng(2)):
        refused += each is None
        assert each is None or values(each) == whole
    assert refused > 80


def test_what_a_path_does_not_know_is_not_unpacked(tmp_path):
    """An array of 64 MB in 64 KB, under a name of its own and in the place of one that is wanted."""
    save_path(
        regularization_path(X, Y, kernel=RBF(0.1), C_min=0.1, C_max=1.0, engine="numpy"), tmp_path / "p.npz"
    )
    known = load_path(tmp_path / "p.npz")
    for name, is_read in (("more", True), ("record_t", False)):
        with (
            zipfile.ZipFile(tmp_path / "p.npz") as old,
            zipfile.ZipFile(tmp_path / "bomb.npz", "w", zipfile.ZIP_DEFLATED) as new,
        ):
            for each in old.namelist():
                if each != f"{name}.npy":
                    new.writestr(each, old.read(each))
            with new.open(f"{name}.npy", "w") as out:
                np.lib.format.write_array_header_1_0(
                    out, {"descr": "<f8", "fortran_order": False, "shape": (10**9,)}
                )
                for _ in range(64):
                    out.write(bytes(1_000_000))
        if is_read:
            assert repr(load_path(tmp_path / "bomb.npz")) == repr(known)
        else:
            with pytest.raises(ValueError, match="claims 8000000000 bytes of values, but holds 64000000"):
                load_path(tmp_path / "bomb.npz")


@pytest.mark.parametrize(
    "change",
    [{"tracker": 3}, {"counts": [1]}, {"seconds": "long"}, {"classes": [1]}, {"classes": [[1], 2]}, {"t": 5}],
)
def test_a_head_that_contradicts_its_path_is_refused(change, tmp_path):
    save_path(cost_path(X, Y, kernel=RBF(0.1), C=1.0, engine="numpy"), tmp_path / "p.npz")
    with np.load(tmp_path / "p.npz") as archive:
        arrays = dict(archive)
    arrays["head"] = np.array(json.dumps(json.loads(str(arrays["head"])) | change))
    np.savez(tmp_path / "p.npz", **arrays)
    with pytest.raises(ValueError, match="is not a path file of save_path"):
        load_path(tmp_path / "p.npz")


def filled(file, runs=6):
    """Make a store of some runs; return their metrics."""
    store = RunStore(file)
    store.prepare()
    kept = {f"{k:064d}": {"iterations": k, "objective": -1.5 * k, "text": "x" * 40 * k} for k in range(runs)}
    for run, metrics in kept.items():
        store.add(
            run,
            config={"refsvm": "0.5.0", "identity": 2, "C": 1.0},
            problem="p",
            strategy="s",
            metrics=metrics,
        )
    return kept


def test_a_damaged_store_is_refused_or_has_what_was_stored(tmp_path):
    kept = filled(tmp_path / "s.sqlite")
    refused = missing = 0
    ways = outcomes(tmp_path / "s.sqlite", used, np.random.default_rng(3), (ValueError, OSError))
    for _, found in ways:
        refused += found is None
        missing += len(kept) - len(found or kept)
        assert all(kept[run] == metrics for run, metrics in (found or {}).items())
    assert refused > 20
    assert missing > 0  # those are computed again


def used(file):
    """What an experiment does with a store, whose log of a read that failed is of no use to the next."""
    for end in ("-wal", "-shm"):
        file.with_name(file.name + end).unlink(missing_ok=True)
    store = RunStore(file)
    store.prepare()
    found = store.metrics([f"{k:064d}" for k in range(6)])
    store.add("new", config={}, problem="p", strategy="s", metrics={"n": 1})
    assert store.metrics(["new"]) in ({"new": {"n": 1}}, {})
    return found


@pytest.mark.parametrize(
    "statement",
    [
        "DROP TABLE runs; CREATE VIEW runs AS WITH RECURSIVE c(x) AS (SELECT 1 UNION SELECT x + 1 FROM c) SELECT 1",
        "CREATE VIEW other AS SELECT hash FROM runs",
        "CREATE TRIGGER t AFTER INSERT ON runs BEGIN DELETE FROM runs; END",
        "CREATE TABLE other (x)",
        "CREATE INDEX other ON runs (lower(metrics))",
        "ALTER TABLE runs ADD COLUMN other AS (hex(zeroblob(1e9)))",
        "CREATE TABLE sqliteXstat1 (x)",
        "PRAGMA writable_schema=ON; UPDATE sqlite_master SET sql = 'CREATE VIEW runs AS SELECT 1 AS hash'",
    ],
)
def test_a_store_of_more_than_its_table_is_refused(statement, tmp_path):
    filled(tmp_path / "s.sqlite")
    with closing(sqlite3.connect(tmp_path / "s.sqlite")) as connection:
        connection.executescript(statement)
    store = RunStore(tmp_path / "s.sqlite")
    for action in (store.prepare, lambda: store.metrics(["abc"]), store.old_runs):
        with pytest.raises(ValueError, match=r"contains more than a store's table|is damaged"):
            action()


def test_a_store_that_was_analysed_is_still_one(tmp_path):
    kept = filled(tmp_path / "s.sqlite")
    with closing(sqlite3.connect(tmp_path / "s.sqlite")) as connection:
        connection.execute("ANALYZE")
    assert RunStore(tmp_path / "s.sqlite").metrics(kept) == kept


def test_a_store_in_memory_is_refused_and_a_name_that_no_file_can_hold_is_written(tmp_path):
    with pytest.raises(ValueError, match="store=':memory:' is a database in memory"):
        RunStore(Path(":memory:")).prepare()
    store = RunStore(tmp_path / "s.sqlite")
    store.prepare()
    store.add("a", config={}, problem="\ud800", strategy="\udfff", metrics={"n": 1})
    assert store.metrics(["a"]) == {"a": {"n": 1}}


def test_the_damage_is_what_it_says():
    found = [*damaged(b"abc", np.random.default_rng(0))]
    assert found[:3] == [b"", b"a", b"ab"]
    assert len(set(found[3:])) == 24
