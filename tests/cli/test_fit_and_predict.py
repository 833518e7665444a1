"""``refsvm fit`` and ``refsvm predict``."""

import numpy as np
import pytest
from sklearn import svm

import refsvm
from refsvm.cli.data import label_text
from refsvm.datasets import load

from .commands import HEADER, ROWS, json_of, works


@pytest.mark.parametrize("ending", ["libsvm", "csv", "npz"])
def test_fit_and_predict_agree_with_the_estimator(heart_files, tmp_path, ending):
    heart, model = load("heart"), tmp_path / "m.model"
    label = ["--label", "disease"] if ending == "csv" else []
    printed = works("fit", heart_files[ending], "--model", model, "--C", 2, "--gamma", 0.1, *label).stdout
    fitted = refsvm.SVC(C=2.0, gamma=0.1).fit(heart.X, heart.y)
    told = "h: 270 examples, 13 features, RBF(gamma=0.1), C=2, 2 classes"
    assert f"{told}; {len(fitted.support_)} support vectors" in printed
    assert f"training error {1 - fitted.score(heart.X, heart.y):.4f}" in printed
    result = works("predict", model, heart_files[ending], *label)
    assert result.stdout.split() == [f"{int(y)}" for y in fitted.predict(heart.X)]
    right = round(270 * fitted.score(heart.X, heart.y))
    assert result.stderr == f"Accuracy {right / 270:.4f} ({right} of 270).\n"


KERNELS = [{"kernel": "linear", "C": 0.5}, {"kernel": "poly", "degree": 2, "gamma": 0.1, "coef0": 1.0}]


@pytest.mark.parametrize("options", KERNELS, ids=lambda each: each["kernel"])
def test_the_model_is_that_of_scikit_learn(heart_files, tmp_path, options):
    named = [part for name, value in options.items() for part in (f"--{name}", value)]
    works("fit", heart_files["libsvm"], "--model", tmp_path / "m", *named, "--tol", 1e-8, "--engine", "numpy")
    heart = load("heart")
    models = refsvm.read_model(tmp_path / "m"), svm.SVC(**options, tol=1e-8).fit(heart.X, heart.y)
    # LIBSVM's kernel values are float32
    np.testing.assert_allclose(*(each.decision_function(heart.X) for each in models), rtol=0, atol=1e-5)


TOLD = {"classification": "training_error", "regression": "mean_absolute_error", "novelty": "share_outside"}


@pytest.mark.parametrize(("task", "told"), TOLD.items())
def test_what_a_program_reads_of_a_fit(tmp_path, task, told):
    arguments = "fit", "heart", "--model", tmp_path / "m", "--task", task
    document, printed = json_of(*arguments), works(*arguments).stdout
    assert document["problem"]["n"] == 270
    assert f"{document['support_vectors']} support vectors" in printed
    assert f"{document[told]:.4g}" in printed
    assert {"task": task, "status": "CONVERGED", "model": str(tmp_path / "m")}.items() <= document.items()
    header, row = works(*arguments, "--csv").stdout.splitlines()
    assert dict(zip(header.split(","), row.split(","), strict=True))[told] == str(document[told])


def test_names_of_classes_and_data_without_labels(write, tmp_path):
    train, model, output = write("trees.csv", HEADER + ROWS), tmp_path / "m", tmp_path / "out.txt"
    works("fit", train, "--label", "kind", "--model", model, "--C", 100)
    kinds = ["elm", "oak", "elm", "oak", "oak", "elm"]
    assert works("predict", model, train, "--label", "kind").stdout.split() == kinds
    unlabelled = "\n".join(row.rsplit(",", 1)[0] for row in ROWS.split("\n"))
    for header in ("", "a,b\n"):
        result = works("predict", model, write("new.csv", header + unlabelled), "--output", output)
        assert output.read_text().split() == kinds
        assert result.stdout == result.stderr == ""


def test_several_classes_and_labels_the_model_does_not_know(tmp_path, write):
    lines = [f"{5 * (i % 3)} 1:{i % 3} 2:{i / 30}" for i in range(30)]
    train, model = write("three.libsvm", "\n".join(lines)), tmp_path / "m"
    works("fit", train, "--model", model)
    result = works("predict", model, train)
    assert result.stdout.split() == [line.split()[0] for line in lines]
    assert result.stderr == "Accuracy 1.0000 (30 of 30).\n"
    unknown = write("unknown.libsvm", "\n".join("7" + line[1 + (line[1] != " ") :] for line in lines))
    assert "No accuracy: the labels of the data differ" in works("predict", model, unknown).stderr


def test_labels_are_written_as_libsvm_does():
    assert [label_text(value) for value in (1.0, np.int64(-3), "oak", 1e16, 0.5)] == [
        "1", "-3", "oak", "10000000000000000", "0.5",
    ]  # fmt: skip


def test_fit_takes_the_rules_by_name(tmp_path):
    works("fit", "heart", "--model", tmp_path / "m", "--selector", "mvp", "--step", "overrelaxed-newton",
          "--engine", "numpy", "--max-iter", 100000, "--time-limit", 60)  # fmt: skip
    assert (tmp_path / "m").read_text().startswith("svm_type c_svc\nkernel_type rbf\ngamma 0.005")
