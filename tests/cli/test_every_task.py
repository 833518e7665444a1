"""``refsvm loo``, ``cv``, ``tune`` and ``path`` of every task, by the column or by --task."""

from itertools import combinations

import numpy as np
import pytest
from sklearn.model_selection import LeaveOneOut, cross_val_predict
from sklearn.svm import SVC, SVR, OneClassSVM

from refsvm import RBF, cross_validate, regularization_path
from refsvm.analysis.paths import cross_validate_path

from .commands import json_of, refused, works

RNG = np.random.default_rng(0)
X = RNG.normal(size=(24, 2)).round(3)
KINDS = np.array(["ash", "elm", "oak"])[np.arange(24) % 3]
TARGETS = (X[:, 0] + 0.3 * RNG.normal(size=24)).round(3)
X[np.arange(24) % 3 == 1] += (2.0, 0.0)
X[np.arange(24) % 3 == 2] += (0.0, 2.0)
SIZES = ["--gamma", 0.5, "--C", 2, "--engine", "numpy"]


@pytest.fixture
def data(write):
    """Write a table whose columns "kind", "y" and "whole" have classes, targets, and whole numbers."""
    columns = {"kind": KINDS, "y": TARGETS.tolist(), "whole": (TARGETS * 10).round().astype(int)}

    def written(name):
        rows = [f"{a},{b},{label}\n" for (a, b), label in zip(X.tolist(), columns[name], strict=True)]
        return [write(f"{name}.csv", f"a,b,{name}\n" + "".join(rows)), "--label", name]

    return written


NOVELTY = ["--task", "novelty", "--nu", 0.3, "--gamma", 0.5, "--engine", "numpy"]
TUBE = [*SIZES, "--epsilon", 0.05, "--tol", 1e-6]


@pytest.mark.parametrize(
    ("task", "column", "given", "model", "score", "told"),
    [
        ("classification", "kind", SIZES, SVC(C=2.0, gamma=0.5, tol=1e-6), "error", "examples and pairs"),
        (
            "regression",
            "y",
            TUBE,
            SVR(C=2.0, gamma=0.5, epsilon=0.05, tol=1e-8),
            "rmse",
            "epsilon=0.05, tol=1e-06",
        ),
        ("novelty", "kind", NOVELTY, OneClassSVM(nu=0.3, gamma=0.5, tol=1e-8), "outside", "nu=0.3"),
    ],
)
def test_leave_one_out_of_every_task(data, task, column, given, model, score, told):
    """Against machines of LIBSVM that are trained without each example."""
    options = [*data(column), *given]
    found, said = json_of("loo", *options), works("loo", *options).stdout
    y = {"classification": KINDS, "regression": TARGETS}.get(task)
    expected = cross_val_predict(model, X, y, cv=LeaveOneOut())
    if task == "regression":
        np.testing.assert_allclose(found["predictions"], expected, atol=1e-4)
    else:
        assert found["predictions"] == expected.tolist()
    values = {
        "error": lambda: np.mean(expected != KINDS), "outside": lambda: np.mean(expected < 0),
        "rmse": lambda: np.sqrt(np.mean((TARGETS - expected) ** 2)),
    }  # fmt: skip
    assert found[score] == pytest.approx(values[score](), abs=1e-4)
    assert f"LeaveOneOut({score} {found[score]:.3g}"[:-1] in said
    assert told in said
    assert found["problem"]["task"] == task
    assert found["problem"].get("classes") == (["ash", "elm", "oak"] if y is KINDS else None)


def test_seeders_of_a_regression_side_by_side(data):
    options = [*data("y"), *SIZES, "--seeders", "cold,top"]
    cold, top = json_of("loo", *options)["runs"]
    assert cold["stop"] == top["stop"] == "kkt-gap"
    assert cold["rmse"] == pytest.approx(top["rmse"], abs=1e-3)
    assert top["round_iterations"] < cold["round_iterations"]
    assert "R²" in works("loo", *options).stdout


@pytest.mark.parametrize(
    ("column", "given", "own", "score"),
    [
        ("y", [], {"epsilon": 0.05}, "rmse"),
        ("whole", ["--task", "regression"], {"epsilon": 0.05}, "mae"),
        ("kind", ["--task", "novelty"], {"nu": 0.3}, "outside"),
        ("kind", [], {}, "error"),
    ],
)
def test_folds_of_every_task(data, column, given, own, score):
    sizes = [part for name, value in own.items() for part in (f"--{name}", value)]
    options = [*data(column), *(SIZES if "nu" not in own else SIZES[:2]), *given, *sizes, "--folds", 4]
    found = json_of("cv", *options)
    labels = {"y": TARGETS, "whole": (TARGETS * 10).round(), "kind": KINDS}[column]
    y, C = (None, 1.0) if "nu" in own else (labels, 2.0)
    expected = cross_validate(X, y, kernel=RBF(0.5), C=C, folds=4, rng=0, **own)
    for row in found["seeders"]:
        assert row[score] == pytest.approx(getattr(expected, score), abs=2e-3)
    assert [row["seeder"] for row in found["seeders"]] == ["avg"]
    assert score in works("cv", *options).stdout


def test_a_path_of_a_regression(data):
    given = ["path", *data("y"), "--gamma", 0.5, "--epsilon", 0.05, "--C-min", 0.1, "--C-max", 10]
    found, said = json_of(*given), works(*given).stdout
    assert found["kkt_violation"] < 1e-6
    assert found["breakpoints"] > 5
    assert found["task"] == "regression"
    assert "RBF(gamma=0.5), epsilon=0.05\nRegularizationPath(" in said
    assert "C from 0.1 to 10" in said


@pytest.mark.slow
def test_a_path_of_several_classes(data, tmp_path):
    options = ["--gamma", 0.5, "--C-min", 0.1, "--C-max", 10, "--engine", "numpy"]
    given = [*data("kind"), *options, "--folds", 4]
    found = json_of("path", *given)
    path = regularization_path(X, KINDS, kernel=RBF(0.5), C_min=0.1, C_max=10.0)
    assert [(each["first"], each["second"]) for each in found["pairs"]] == [*combinations(path.classes, 2)]
    for each, own in zip(found["pairs"], path.paths, strict=True):
        np.testing.assert_allclose(each["C"], own.C, rtol=1e-9)
        assert each["elbow"] == own.record.elbow.tolist()
    assert found["breakpoints"] == sum(len(each.C) for each in path.paths)
    assert found["largest_elbow"] == max(each.record.elbow.max() for each in path.paths)
    np.testing.assert_allclose(found["C"], path.C, rtol=1e-9)
    assert (found["C_min"], found["C_max"]) == pytest.approx((0.1, 10.0))
    assert found["kkt_violation"] < 1e-6
    curve = cross_validate_path(X, KINDS, kernel=RBF(0.5), C_min=0.1, C_max=10.0, folds=4).curve
    assert found["cross_validation"]["errors"] == curve.error.tolist()
    assert found["cross_validation"]["best_C"] == pytest.approx(curve.best()[:2])
    picture = tmp_path / "path.png"
    said = works("path", *given, "--plot", picture).stdout
    assert f"OneVsOnePath(3 pairs of classes, {len(path.C)} breakpoints, C from 0.1 to 10, CONVERGED)" in said
    assert f"Least error of cross-validation: {found['cross_validation']['error']:.4f}" in said
    assert picture.read_bytes().startswith(b"\x89PNG")
    lines = works("path", *data("kind"), *options, "--csv").stdout.splitlines()
    assert lines[0] == "first,second,C,elbow"
    assert len(lines) == 1 + found["breakpoints"]
    assert lines[-1].startswith("elm,oak,10.0,")


@pytest.mark.parametrize(
    ("command", "column", "options", "sentence"),
    [
        ("fit", "kind", ["--task", "regression"], "labels that are numbers"),
        ("fit", "y", ["--task", "classification"], "32-bit integers"),
        ("loo", "y", ["--stops", "ball-rule"], "regression needs the value"),
        ("loo", "y", ["--epsilon", -1], "epsilon=-1.0 is negative"),
        ("loo", "kind", ["--task", "novelty", "--nu", 2], "nu=2.0"),
        ("cv", "kind", ["--task", "ranking"], "task='ranking' is unknown; choose from"),
        ("cv", "y", ["--stratified", "-q"], "stratified=True shares classes among the folds, but regression"),
        ("tune", "kind", ["--task", "novelty"], "nu is the share of examples that may be outside"),
        ("path", "kind", ["--task", "novelty"], "has no path of C, because C only scales alpha"),
        ("path", "y", ["--folds", 3, "-q"], "a regression's error is not a step function of C"),
        ("path", "kind", ["--plot", "path.png"], "draws the error along the path; add --folds"),
    ],
)
def test_what_a_task_does_not_have(data, command, column, options, sentence, tmp_path):
    options = [*options, *(["--model", tmp_path / "m"] if command == "fit" else [])]
    refusal = refused(command, *data(column), *options, *(["-q"] if column == "y" else []))
    assert sentence in refusal
