"""Programs and files of 0.4.0: its modules are imported with a warning, its files are read or refused.

A script wrote the files with refsvm 0.4.0, and what they say into ``values.npz``:
``git show af54e071:tests/version_0_4_0/write.py`` prints it. ``modules.txt`` lists the modules of 0.4.0.
"""

import pickle
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pytest

pytest.importorskip("sklearn")

import refsvm
from refsvm import read_model
from refsvm.analysis.paths import load_path

from .programs import printed_by

FILES = Path(__file__).parent / "version_0_4_0"
VALUES = np.load(FILES / "values.npz")
X, y = VALUES["X"], VALUES["y"]
PICKLES = ZipFile(FILES / "pickles.zip")
NUMBERS = {
    "decision_function": ["svc", "svc_of_three", "one_class", "svccv", "svc_partial"],
    "predict": ["svr"],
    "alpha": ["solution", "regularization", "parametric"],
    "decision_values": ["left_out", "folds"],
}
ESTIMATORS = [*NUMBERS["decision_function"], *NUMBERS["predict"]]
USES = {
    "svc_partial": lambda model: model.partial_fit(X[:2], y[:2]).forget([0]),
    "solution": lambda solution: solution.derivative("C"),
    "regularization": lambda path: path.validation_error(X, np.where(y == "oak", 1.0, -1.0)),
}


def test_modules_of_0_4_0_are_imported_with_one_warning_at_the_caller():
    printed_by(FILES / "import_all.py")  # a process whose modules are its own


def said_by(found, name):
    """The numbers of an estimator, a path or a result."""
    kind = next(kind for kind, names in NUMBERS.items() if name in names)
    at = {"regularization": [1.0], "parametric": [0.5]}
    value = getattr(found, kind)
    return value(*at.get(name, [X])) if callable(value) else value


@pytest.mark.filterwarnings("ignore:refsvm.* the old name:DeprecationWarning")
@pytest.mark.parametrize("name", PICKLES.namelist())
def test_a_pickle_of_0_4_0_says_what_it_said_or_is_refused_with_both_versions(name):
    try:
        found = pickle.loads(PICKLES.read(name))
    except ValueError as error:
        says = str(error)
        assert "0.4.0" in says and f"refsvm {refsvm.__version__}" in says and name not in ESTIMATORS  # noqa: PT018
    else:
        for each in (found, pickle.loads(pickle.dumps(found))):
            np.testing.assert_allclose(said_by(each, name), VALUES[name], rtol=0, atol=1e-10)
        str(found)
        USES.get(name, str)(found)


@pytest.mark.parametrize("name", [file.name for file in FILES.iterdir() if file.suffix in (".model", ".npz")])
def test_a_file_of_0_4_0_says_what_it_said(name):
    if name == "svc_of_three.model":  # "ovr" of the estimator, and pairs in the file
        assert len(read_model(FILES / name).classes) == 3
    elif name != "values.npz":
        read = load_path if name.endswith(".npz") else read_model
        stem = name.partition(".")[0]
        np.testing.assert_allclose(said_by(read(FILES / name), stem), VALUES[stem], rtol=0, atol=1e-10)
