"""``--scale``: the features are standardised, and the model file keeps how."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import refsvm

from .commands import json_of, refused, works

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3)) * [1.0, 100.0, 0.01] + [0.0, 500.0, 3.0]
Y = np.where(X[:, 0] + (X[:, 1] - 500.0) / 100.0 > 0, 1, -1)


@pytest.fixture
def data(tmp_path):
    table = np.column_stack([X, Y])
    np.savetxt(tmp_path / "t.csv", table, delimiter=",", header="a,b,c,y", comments="", fmt="%.17g")
    return tmp_path / "t.csv"


def test_a_scaled_model_predicts_raw_data(data, tmp_path):
    works("fit", data, "--label", "y", "--model", tmp_path / "m", "--scale", "--C", 10)
    pipeline = make_pipeline(StandardScaler(), refsvm.SVC(C=10.0)).fit(X, Y)
    model = refsvm.read_model(tmp_path / "m")
    for given in (X, csr_matrix(X)):
        np.testing.assert_allclose(model.decision_function(given), pipeline.decision_function(X), atol=1e-12)
    right = (pipeline.predict(X) == Y).sum()
    said = works("predict", tmp_path / "m", data, "--label", "y").stderr
    assert said == f"Accuracy {right / 60:.4f} ({right} of 60).\n"


def test_every_command_scales(data):
    scaled = StandardScaler().fit_transform(X)
    gamma = 1.0 / (3 * scaled.var())
    found = json_of("loo", data, "--label", "y", "--scale")
    assert found["problem"]["kernel"]["gamma"] == pytest.approx(gamma)
    loo = refsvm.leave_one_out(scaled, Y, kernel=refsvm.RBF(gamma), C=1.0)
    assert found["error"] == loo.error
    for command in ("cv --folds 3", "path --C-max 1", "compare", "tune --Cs 1 --folds 3"):
        given = [*command.split(), data, "--label", "y"]
        plain, scaled_too = json_of(*given), json_of(*given, "--scale")
        assert str(plain) != str(scaled_too)


def test_sparse_features_are_scaled_and_not_shifted(tmp_path):
    (tmp_path / "s.libsvm").write_text("1 1:2 2:100\n-1 2:50\n1 1:4\n-1 3:1\n")
    works("fit", tmp_path / "s.libsvm", "--model", tmp_path / "m", "--scale")
    scaling = refsvm.read_model(tmp_path / "m").scaling
    assert scaling.mean.tolist() == [0, 0, 0]
    np.testing.assert_allclose(scaling.scale, [2.75**0.5, 1718.75**0.5, 0.1875**0.5])
    (tmp_path / "new.libsvm").write_text("1 1:2\n")  # fewer features than the model
    works("predict", tmp_path / "m", tmp_path / "new.libsvm")


def test_there_is_nothing_to_scale_in_a_kernel_matrix(tmp_path):
    np.savez(tmp_path / "K.npz", X=np.eye(4), y=[1, -1, 1, -1])
    assert "scale=True" in refused("cv", tmp_path / "K.npz", "--kernel", "precomputed", "--scale")
