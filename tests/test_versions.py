"""Files of another version: those of 0.2.0 are read, and what a later one may write is refused with both versions.

A script wrote the files with refsvm 0.2.0, and the answers of the models into ``values.npz``:
``git show 1197d639:tests/version_0_2_0/write.py`` prints it.
"""

import json
import pickle
import re
import shutil
import sqlite3
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("sklearn")

import refsvm
from refsvm import SVC, SVCCV, read_model, write_model
from refsvm.analysis.paths import load_path, save_path
from refsvm.datasets import open_data
from refsvm.estimators.plain import ordered
from refsvm.services.store import RunStore

FILES = Path(__file__).parent / "version_0_2_0"
VALUES = np.load(FILES / "values.npz")
X = VALUES["X"]
LATER = "9.1.0"
pytestmark = pytest.mark.filterwarnings(
    "ignore:refsvm.* the old name:DeprecationWarning"
)  # of modules in pickles


def pickled(name):
    return pickle.loads((FILES / f"{name}.pickle").read_bytes())


@pytest.mark.parametrize(
    "name", ["svc", "svc_linear", "svc_of_three", "svr", "one_class", "svccv", "svc_partial"]
)
def test_estimators_of_0_2_0_decide_as_they_did_and_can_be_written_and_fitted(name, tmp_path):
    model = pickled(name)
    readings = [model, pickle.loads(pickle.dumps(model))]
    if name in ("svc", "svc_linear", "svr", "one_class"):
        write_model(model, tmp_path / "m")
        readings.append(read_model(tmp_path / "m"))
    for each in readings:
        values = each.predict(X) if name == "svr" else each.decision_function(X)
        np.testing.assert_allclose(values, VALUES[name], rtol=0, atol=1e-9)
    if len(readings) > 2:
        model.fit(X, VALUES["t"] if name == "svr" else VALUES["y"])
        assert model.status_ is refsvm.Status.CONVERGED


@pytest.mark.parametrize("change", ["partial_fit", "forget"])
def test_examples_that_0_2_0_held_are_refused_with_both_versions(change):
    model = pickled("svc_partial")
    with pytest.raises(ValueError, match=rf"0\.2\.0, and refsvm {refsvm.__version__} cannot continue"):
        model.partial_fit(X[:3], VALUES["y"][:3]) if change == "partial_fit" else model.forget([0])
    np.testing.assert_allclose(model.decision_function(X), VALUES["svc_partial"], rtol=0, atol=1e-10)


@pytest.mark.parametrize("name", ["svc", "svc_linear", "svc_of_three", "svr", "one_class"])
def test_model_files_of_0_2_0_decide_as_they_did(name):
    model = read_model(FILES / f"{name}.model")
    values = model.predict(X) if name == "svr" else model.decision_function(X)
    if name == "svc_of_three":  # "ovr" of the estimator, and pairs in the file
        assert np.array_equal(model.predict(X), pickled(name).predict(X))
    else:
        np.testing.assert_allclose(values, VALUES[name], rtol=0, atol=1e-10)
    assert model.columns == ("a", "b", "c")


@pytest.mark.parametrize(("name", "label"), [("wood.csv", "kind"), ("sparse.libsvm", None)])
def test_scaled_models_of_0_2_0_decide_as_they_did(name, label):
    pytest.importorskip("pandas")
    model = read_model(FILES / f"scaled_{Path(name).stem}.model")
    values = model.decision_function(open_data(FILES / name, label).X)
    np.testing.assert_allclose(values, VALUES[f"scaled_{Path(name).stem}"], rtol=0, atol=1e-10)


@pytest.mark.parametrize(("name", "at"), [("regularization", 1.0), ("parametric", 0.5)])
def test_paths_of_0_2_0_are_read(name, at):
    np.testing.assert_allclose(load_path(FILES / f"{name}.npz").alpha(at), VALUES[name], rtol=0, atol=1e-12)


def test_a_store_of_0_2_0_is_read_and_gone_on_with(tmp_path):
    file = tmp_path / "runs.sqlite"
    shutil.copy(FILES / "runs.sqlite", file)
    with sqlite3.connect(file) as connection:
        ((run, metrics),) = connection.execute("SELECT hash, metrics FROM runs").fetchall()
    connection.close()
    store = RunStore(file)
    store.prepare()
    assert store.metrics([run]) == {run: json.loads(metrics)}
    store.add("new", config={}, problem="wood", strategy="SMO", metrics={"iterations": 3})
    assert store.metrics(["new"]) == {"new": {"iterations": 3}}


def test_a_search_that_0_2_0_kept_is_refused_with_both_versions(tmp_path):
    file = tmp_path / "search.sqlite"
    shutil.copy(FILES / "search.sqlite", file)
    search = SVCCV(Cs=[0.5, 5.0], gammas=[0.1, 1.0], cv=3, store=file)
    with pytest.raises(ValueError, match=rf"refsvm 0\.2\.0.*refsvm {refsvm.__version__}.*another file"):
        search.fit(X, VALUES["y"])


# -- files of a later version --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("version", "later"),
    [("9.1.0", True), ("0.99.0rc1", True), (refsvm.__version__, False), ("0.2.7", False)],
)
def test_an_estimator_of_a_later_version_is_refused_with_both(monkeypatch, version, later):
    assert later == (ordered(version) > ordered(refsvm.__version__))
    for model in (SVC().fit(X, VALUES["y"]), pickled("svccv")):
        with monkeypatch.context() as patch:
            patch.setattr(refsvm, "__version__", version)
            content = pickle.dumps(model)
        if not later:
            assert np.array_equal(pickle.loads(content).predict(X), model.predict(X))
            continue
        with pytest.raises(ValueError, match=rf"{version} wrote .* this is refsvm {refsvm.__version__}"):
            pickle.loads(content)


def test_a_model_file_of_a_later_version_is_refused_with_both(monkeypatch, tmp_path):
    with monkeypatch.context() as patch:
        patch.setattr(refsvm, "__version__", LATER)
        write_model(SVC().fit(X, VALUES["y"]), tmp_path / "m")
    assert read_model(tmp_path / "m").classes.tolist() == ["elm", "oak"]
    without_digest = re.sub(r"(?m)^SV .*$", "SV", (tmp_path / "m").read_text())
    (tmp_path / "m").write_text(without_digest + "# weights [1, 2]\n")
    says = rf"refsvm {LATER} wrote the line '# weights .* refsvm {refsvm.__version__} "
    with pytest.raises(ValueError, match=says):
        read_model(tmp_path / "m")


def test_a_path_of_another_format_is_refused_with_both(monkeypatch, tmp_path):
    path = load_path(FILES / "regularization.npz")
    with monkeypatch.context() as patch:
        patch.setattr(refsvm, "__version__", LATER)
        patch.setattr("refsvm.analysis.paths.path_file.FORMAT", "refsvm path 3")
        save_path(path, tmp_path / "p.npz")
    says = rf"refsvm {LATER} wrote the file in the format 'refsvm path 3'; refsvm {refsvm.__version__} reads"
    with pytest.raises(ValueError, match=says):
        load_path(tmp_path / "p.npz")
