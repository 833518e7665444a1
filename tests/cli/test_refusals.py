"""What the command line refuses: one sentence on stderr, exit code 2."""

from unittest.mock import Mock

import pytest

from refsvm.cli import choices

from .commands import HEADER, ROWS, refused, works


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("compare nofile", "source='nofile' is neither a bundled set nor a file"),
        ("compare hart", "did you mean 'heart'?"),
        ("compare nothing", "waveform."),
        ("compare heart --selectors mvp --steps planning-ahead", "cannot be combined"),
        ("help compar", "command='compar' is unknown; did you mean 'compare'?"),
        ("compare heart --C -1", "C=-1.0 is not positive"),
        ("compare heart --C ten", "Invalid value for '--C'"),
        ("compare heart --gamma wide", "gamma='wide' is not a positive number"),
        ("compare heart --tol 0", "tol=0.0 is not positive"),
        ("compare heart --cache-mb 0.001", "does not hold two kernel rows"),
        ("compare heart --max-iter 0", "max_iter=0 is not a whole number"),
        ("compare heart --kernel gauss", "choose from linear, poly, rbf, sigmoid, precomputed."),
        ("compare heart --kernel precomputed", "expected a square matrix"),
        ("compare heart --selectors mvp,foo", f"choose from {', '.join(choices.SELECTORS)}."),
        ("compare heart --steps foo", f"choose from {', '.join(choices.STEPS)}."),
        ("compare heart --engines cuda", "choose from numba, numpy."),
        ("compare heart --selectors ,", "selectors='' is unknown"),
        ("compare heart --label age", "label='age' is the column of a CSV file"),
        ("compare x --data-dir nowhere", "data_dir='nowhere' is not a directory"),
        ("compare heart --colour red", "No such option: --colour"),
        ("datasets heart", "unexpected extra argument"),
        ("compare", "Missing argument 'DATA...'"),
        ("train heart", "No such command 'train'"),
        ("fit heart", "Missing option '--model'"),
        ("fit heart --model nowhere/m", "model='nowhere/m' cannot be written"),
        ("fit heart --model m --engine foo", "choose from auto, numba, numpy."),
        ("predict nomodel heart", "path='nomodel' is not a file"),
        ("cv heart --seeders sri", "did you mean sir?"),
        ("cv heart --folds 1", "folds=1 is not a whole number ≥ 2"),
        ("cv heart --repeats 0", "repeats=0 is not a whole number ≥ 1"),
        ("tune heart --Cs 1,x", "Cs='1,x' is not a list of positive numbers"),
        ("tune heart --gammas 0", "gammas='0' is not a list of positive numbers"),
        ("loo heart --stops kkt", "stops='kkt' is unknown; did you mean kkt-gap?"),
        ("loo heart --stops working-set-gap", "stops='working-set-gap' is unknown"),
        ("loo heart --n-jobs 0", "n_jobs=0"),
        ("path heart --C-min 2 --C-max 1", "C_min=2.0 is not below C_max=1.0"),
        ("path heart --tracker svmpath", "did you mean svmp?"),
        ("path monks1 --kernel linear --tracker hastie", "use tracker=SVMP()"),
        ("path heart --cache-mb 0.1", "does not hold the kernel matrix"),
        ("path heart --kernel sigmoid", "not positive semi-definite"),
        ("path heart --plot nowhere/path.png", "cannot be written"),
        ("path heart --C-max 1 --plot path.abc", "cannot be written"),
        ("compare heart --repeats 0", "permutations=0"),
        ("compare heart heart --repeats 2", "two items with the name 'heart'"),
        ("compare heart --repeats 2 --store no/such/folder/x.sqlite", "a folder that exists"),
        ("compare heart --repeats 2 --selectors mvp --steps planning-ahead", "cannot be combined"),
        ("compare heart --repeats 2 --cache-mb 1e-9", "does not hold two kernel rows"),
    ],
)
def test_wrong_usage_is_one_sentence(arguments, says, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if "--plot" in arguments:
        pytest.importorskip("matplotlib")
    assert says in refused(*arguments.split())
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("command", ["compare", "fit", "loo"])
@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("a.libsvm", "+1 1:2\n-1 one:2\n", "is not a LIBSVM file"),
        ("a.libsvm", "", "a.libsvm"),
        ("a.libsvm", "+1 1:nan\n-1 1:2\n", "NaN"),
        ("a.libsvm", "+1 1:1\n+1 1:2\n", "class"),
        ("a.csv", HEADER + ROWS + "1,2\n", "cells in row"),
        ("a.csv", bytes(range(256)) * 8, "is not a CSV text"),
        ("a.csv", "a,b,sort\n1,2,elm\n", "label='kind' is not a column"),
        ("a.npz", bytes(range(256)), "npz archive"),
    ],
)
def test_bad_data_is_one_sentence(command, name, content, says, write, tmp_path):
    data = write(name, content)
    label = ["--label", "kind"] if name.endswith(".csv") else []
    model = ["--model", tmp_path / "m"] if command == "fit" else []
    message = refused(command, data, *label, *model)
    if says == "class" and command == "compare":
        says = "but two are needed"
    assert says in message
    assert not (tmp_path / "m").exists()


def test_compare_wants_two_classes_and_a_csv_its_label(write):
    three = write("three.csv", HEADER + ROWS + "1,1,ash\n")
    assert "3 distinct values" in refused("compare", three, "--label", "kind")
    assert "give its label column" in refused("compare", three)


@pytest.mark.parametrize(
    ("model", "data", "says"),
    [
        ("", "1,2\n", "is not a LIBSVM model file"),
        (None, "1,2,3\n", "X has 3 features, but the model was trained on 2"),
        (
            None,
            "1,two\n",
            "has 'two' in row 1, column 1 (counted from 0), which is not a number; code or drop that",
        ),
        (None, "1,nan\n", "NaN"),
    ],
)
def test_predict_refuses_a_bad_model_and_bad_data(model, data, says, write):
    header = "svm_type c_svc\nkernel_type linear\nnr_class 2\ntotal_sv 2\nrho 0\nlabel 0 1\nnr_sv 1 1\n"
    good = header + "SV\n1 1:1 2:0\n-1 1:2\n"
    path = write("m", good if model is None else model)
    assert says in refused("predict", path, write("new.csv", data))


def test_labels_cannot_be_written_to_a_directory(tmp_path, write):
    works("fit", "heart", "--model", tmp_path / "m")
    message = refused("predict", tmp_path / "m", "heart", "--output", tmp_path)
    assert "cannot be written; give a file in a directory that exists" in message


def test_what_the_system_refuses_is_a_sentence(monkeypatch):
    closed = PermissionError(13, "Permission denied", "closed/a.csv")
    says_closed = "refsvm: 'closed/a.csv' cannot be opened: Permission denied.\n"
    for error, says in ((closed, says_closed), (MemoryError, "do not fit into memory")):
        monkeypatch.setattr("refsvm.cli.data.open_data", Mock(side_effect=error))
        assert says in refused("compare", "closed/a.csv", "--label", "y")
