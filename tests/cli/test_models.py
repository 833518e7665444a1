"""Models from `fit` to `predict`: each that is written can be used; what could not be is refused before training."""

import numpy as np
import pytest

from refsvm import read_model

from .commands import refused, works


def test_targets_within_the_tube(write, tmp_path):
    a = np.random.default_rng(0).normal(size=30)
    path = write("t.csv", "a,y\n" + "".join(f"{value:.6f},{5 + 0.01 * value:.6f}\n" for value in a))
    assert "0 support vectors" in works("fit", path, "--label", "y", "--model", tmp_path / "m").stdout
    predicted = works("predict", tmp_path / "m", path).stdout.split()
    np.testing.assert_allclose(np.array(predicted, dtype=float), 5.0, atol=0.1)


@pytest.mark.parametrize(
    ("head", "says"),
    [("temp,temp,class", "'temp' twice"), (",,class", "feature 1 has no"), ("a,,class", "feature 2 has no")],
)
def test_names_that_find_no_column_are_refused_before_training(head, says, write, tmp_path, monkeypatch):
    monkeypatch.setattr("refsvm.SVC.fit", None)
    data = write("t.csv", f"{head}\n1,20,x\n3,40.5,z\n1.5,10,x\n4,45,z\n2,15,x\n5,50,z\n")
    assert says in refused("fit", "-q", data, "--label", "class", "--model", tmp_path / "m")
    assert not (tmp_path / "m").exists()


def test_the_model_may_be_an_option(write, tmp_path):
    path = write("t.csv", "a,y\n1,x\n2,z\n3,z\n0,x\n")
    works("fit", path, "--label", "y", "--model", tmp_path / "m")
    by_place = works("predict", tmp_path / "m", path, "--label", "y")
    by_option = works("predict", "--model", tmp_path / "m", path, "--label", "y")
    assert by_place.stdout == by_option.stdout == "x\nz\nz\nx\n"
    twice = refused("predict", "--model", tmp_path / "m", path, path)
    assert "predict got 2 files, but needs only DATA, because --model names the model" in twice
    assert "predict got 1 file, but needs MODEL and DATA" in refused("predict", path)


def test_wide_sparse_data_are_scaled_in_a_small_file(write, tmp_path):
    rows = "".join(f"{i % 2 * 2 - 1} 1:{i * 7 % 11}.5 {8_000_000 + i}:{i % 5 + 1}\n" for i in range(20))
    works("fit", write("t.svm", rows), "--scale", "--model", tmp_path / "m")
    assert (tmp_path / "m").stat().st_size < 10_000
    assert len(read_model(tmp_path / "m").scaling.scale) == 21
    works("predict", tmp_path / "m", write("new.svm", "1 1:2 7999:1\n"))


@pytest.mark.parametrize("options", [[], ["--kernel", "linear"]])
@pytest.mark.parametrize(
    ("name", "row", "label"),
    [("t.svm", "{2} 1:{0} 2:{1}\n", []), ("t.csv", "{0},{1},{2}\n", ["--label", "y"])],
    ids=["svm", "csv"],
)
def test_a_number_that_overflows_when_scaled_is_named(name, row, label, options, write, tmp_path):
    rows = [row.format(1.79769313486e308 if i == 3 else i * 7 % 11, i * 5 % 13, i % 2) for i in range(20)]
    path = write(name, "a,b,y\n" * (name == "t.csv") + "".join(rows))
    said = refused("fit", path, *label, "--scale", "--model", tmp_path / "m", *options)
    assert "holds 1.79769e+308" in said
    assert "the largest number that can be scaled (1e150)" in said
    assert str(path) in said


def test_texts_that_are_numbers_are_targets_if_that_is_said(write, tmp_path):
    path = write("t.csv", "a,y\n" + "".join(f"{i % 7},0{i}\n" for i in range(12)))
    assert "the labels stay text" in works("fit", path, "--label", "y", "--model", tmp_path / "m").stderr
    said = works("fit", path, "--label", "y", "--task", "regression", "--model", tmp_path / "m").stdout
    assert "targets" in said
    assert read_model(tmp_path / "m").task == "regression"
