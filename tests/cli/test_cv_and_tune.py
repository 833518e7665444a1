"""``refsvm cv`` and ``refsvm tune``."""

import numpy as np
import pytest
from sklearn import svm
from sklearn.model_selection import GridSearchCV, KFold

from refsvm import RBF, SIR, SVCCV, cross_validate
from refsvm.datasets import load

from .commands import json_of, works


def test_cv_tells_the_error_and_the_cost_of_each_seeder():
    document = json_of("cv", "thyroid", "--folds", 5, "--seeders", "cold,sir,ato")
    rows = {row["seeder"]: row for row in document["seeders"]}
    assert list(rows) == ["cold", "sir", "ato"]
    assert rows["cold"]["error"] == pytest.approx(rows["ato"]["error"], abs=2 / 215)
    assert rows["ato"]["iterations"] < rows["cold"]["iterations"]
    assert rows["ato"]["ratio"] < 1.0
    assert {row["kernel_rows"] for row in rows.values()} == {215.0}
    data = load("thyroid")
    library = cross_validate(data.X, data.y, kernel=RBF(data.gamma), C=data.C, folds=5, seeder=SIR(), rng=0)
    assert rows["sir"]["error"] == library.error
    assert rows["sir"]["iterations"] == library.iterations


def test_repeated_random_folds_are_tested_in_pairs():
    document = json_of("cv", "thyroid", "--folds", 3, "--seeder", "cold,ato", "--repeats", 6, "--chained")
    cold, ato = document["seeders"]
    assert cold["p"] is None
    assert ato["iterations"] < cold["iterations"]
    assert 0.0 < ato["p"] < 0.05


def test_cv_begins_with_the_error_and_its_standard_error():
    (row,) = json_of("cv", "heart", "--folds", 5)["seeders"]
    heart = load("heart")
    library = cross_validate(heart.X, heart.y, kernel=RBF(heart.gamma), C=heart.C, folds=5, rng=0)
    expected = {"seeder": "avg", "error": library.error, "standard_error": library.standard_error}
    assert expected.items() <= row.items()
    lines = works("cv", "heart", "--folds", 5).stdout.splitlines()
    wrong = int((library.predictions != library.labels).sum())
    told = f"error {library.error:.4f} ± {library.standard_error:.2g}: {wrong} of 270 wrong, 5 folds; "
    assert lines[1].startswith(f"CrossValidation({told}")
    means = works("cv", "heart", "--folds", 5, "--repeats", 2).stdout.splitlines()
    assert means[0].endswith("; means over 2 random folds")
    assert means[1].startswith("error 0.1")
    assert " ± " in means[1]


def test_tune_names_the_next_command():
    lines = works("tune", "heart", "--Cs", "1,10", "--gammas", "0.01", "--folds", 3).stdout.splitlines()
    assert lines[-1].startswith("Next: refsvm fit heart --C ")
    assert lines[-1].endswith(" --gamma 0.01 --model FILE")


def test_tune_finds_the_best_cell(tmp_path):
    options = ["--Cs", "0.1,10", "--gammas", "0.01,0.1", "--folds", 3, "--store", tmp_path / "cells.sqlite"]
    document = json_of("tune", "heart", *options)
    heart = load("heart")
    model = SVCCV(Cs=[0.1, 10.0], gammas=[0.01, 0.1], cv=3).fit(heart.X, heart.y)
    scores = [cell["score"] for cell in document["cells"]]
    np.testing.assert_allclose(scores, model.cv_results_["mean_test_score"], atol=1 / 270)
    assert {name: document["best"][name] for name in ("C", "gamma")} == model.best_params_
    printed = works("tune", "heart", *options).stdout
    assert "heart: 270 examples; error in 3 folds" in printed
    assert f"Best: C={model.best_params_['C']:g}, gamma={model.best_params_['gamma']:g}" in printed
    assert works("tune", "monks1", "--kernel", "linear", "--Cs", "1", "--folds", 2, "--shuffle", 0).stdout


def test_tune_of_a_regression_finds_the_cell_of_a_grid_search(write):
    rng = np.random.default_rng(0)
    X = rng.uniform(0.0, 6.0, (60, 1)).round(3)
    y = (np.sin(X[:, 0]) + 0.1 * rng.normal(size=60)).round(3)
    file = write("sine.csv", "x,y\n" + "".join(f"{a},{b}\n" for a, b in zip(X[:, 0], y, strict=True)))
    options = ["--Cs", "1,10", "--gammas", "0.1,1", "--folds", 3, "--epsilon", 0.2]
    found = json_of("tune", file, "--label", "y", *options)
    grid = GridSearchCV(svm.SVR(tol=1e-6, epsilon=0.2), {"C": [1.0, 10.0], "gamma": [0.1, 1.0]}, cv=KFold(3))
    scores = grid.fit(X, y).cv_results_["mean_test_score"]
    np.testing.assert_allclose([cell["score"] for cell in found["cells"]], scores, atol=2e-3)
    assert {name: found["best"][name] for name in ("C", "gamma")} == grid.best_params_
