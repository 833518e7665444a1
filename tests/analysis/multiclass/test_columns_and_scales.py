"""Models that know the names of their columns, scale them, or have no support vector at all."""

import re

import numpy as np
import pytest
from scipy.sparse import csr_array, csr_matrix
from sklearn.preprocessing import StandardScaler

from refsvm import SVC, SVR, read_model, write_model
from refsvm.analysis.multiclass.model import Scaling

pd = pytest.importorskip("pandas")

RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.normal(size=(60, 3)) * [1, 10, 100], columns=["a", "b", "c"])
Y = np.where(X.a > 0, "p", "n")


@pytest.fixture(params=[SVC, SVR], ids=["SVC", "SVR"])
def models(request, tmp_path):
    fitted = request.param(gamma=0.01, C=10, engine="numpy").fit(X, Y if request.param is SVC else X.a)
    write_model(fitted, tmp_path / "m")
    return fitted, read_model(tmp_path / "m")


def test_columns_of_a_table_are_found_by_their_names(models):
    fitted, model = models
    expected = fitted.predict(X)
    for table in (X[["c", "b", "a"]], X.assign(d=1.0)[["d", "c", "a", "b"]], X, X.to_numpy()):
        assert np.array_equal(model.predict(table), expected)
        assert np.array_equal(model.decision_function(table), model.decision_function(X))


@pytest.mark.parametrize(
    ("table", "says"),
    [
        (
            X.rename(columns={"a": "z"}),
            "X has no column 'a'; its columns are z, b, c, but .* a, b, c; rename",
        ),
        (X[["a", "b"]], "X has no column 'c'"),
        (X.set_axis(["a", "a", "b"], axis=1).assign(c=1.0), "X has two columns 'a'"),
    ],
)
def test_tables_with_other_columns_are_refused(models, table, says):
    with pytest.raises(ValueError, match=says):
        models[1].predict(table)


def test_numbered_columns_are_places_unless_the_model_has_those_names(models, tmp_path):
    fitted, model = models
    assert np.array_equal(model.predict(pd.DataFrame(X.to_numpy())), fitted.predict(X))
    write_model(fitted, tmp_path / "m", columns=["0", "1", "2"])
    turned = pd.DataFrame(X.to_numpy())[[2, 0, 1]]
    assert np.array_equal(read_model(tmp_path / "m").predict(turned), fitted.predict(X))


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        ("aba", "columns contains 'a' twice"),
        (["a", "", "b"], "feature 2 has no name"),
        (["", "", "a"], "feature 1"),
    ],
)
def test_names_that_find_no_column_are_refused_before_a_file_is_written(columns, says, tmp_path):
    fitted = SVC(engine="numpy").fit(X, Y)
    with pytest.raises(ValueError, match=says):
        write_model(fitted, tmp_path / "m", columns=[*columns])
    assert not (tmp_path / "m").exists()


# -- no support vectors ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
def test_a_regression_within_its_tube_is_a_model(kernel, named, tmp_path):
    table = X if named else X.to_numpy()
    fitted = SVR(kernel=kernel, epsilon=0.5, engine="numpy").fit(table, 5.0 + 0.001 * X.a)
    assert len(fitted.support_) == 0
    write_model(fitted, tmp_path / "m")
    model = read_model(tmp_path / "m")
    for data in (X.to_numpy(), csr_matrix(X), csr_array(X)):
        assert np.array_equal(model.predict(data), fitted.predict(table))
    if named:
        with pytest.raises(ValueError, match="X has 2 features, but the model was trained on 3"):
            model.predict(X.to_numpy()[:, :2])


# -- scales ------------------------------------------------------------------------------------------------------------


def hashed(n=20, d=8_000_000):
    columns = np.stack([np.zeros(n, dtype=int), d - 1 - np.arange(n)], axis=1).ravel()
    return csr_matrix((np.arange(2.0 * n) + 1.0, columns, np.arange(0, 2 * n + 1, 2)), shape=(n, d))


def test_scales_are_kept_for_the_features_that_occur(tmp_path):
    data = hashed()
    scaling = Scaling.of(data)
    assert len(scaling.scale) == 21
    small = data[:, np.unique(data.indices)]
    expected = StandardScaler(with_mean=False).fit_transform(small)
    scaled = scaling(data)[:, np.unique(data.indices)]
    np.testing.assert_allclose(scaled.toarray(), expected.toarray(), rtol=1e-14)
    fitted = SVC(kernel="linear", engine="numpy").fit(scaling(data), np.arange(20) % 2)
    write_model(fitted, tmp_path / "m", scaling=scaling)
    assert (tmp_path / "m").stat().st_size < 5_000
    model = read_model(tmp_path / "m")
    expected = fitted.decision_function(scaling(data))
    np.testing.assert_allclose(model.decision_function(data), expected, atol=1e-12)
    # a feature that did not occur stays as it is
    other = csr_matrix(([3.0, 4.0], ([0, 0], [0, 5])), shape=(1, data.shape[1]))
    assert scaling(other).toarray()[0, [0, 5]].tolist() == [3.0 / scaling.scale[0], 4.0]


def test_dense_data_are_scaled_by_a_sparse_scaling():
    data = csr_matrix([[1.0, 0.0, 2.0], [3.0, 0.0, 0.0]])
    scaling = Scaling.of(data)
    assert scaling.columns.tolist() == [0, 2]
    np.testing.assert_array_equal(scaling(data.toarray()), scaling(data).toarray())
    with pytest.raises(ValueError, match="X has 2 features, but feature 3 was scaled"):
        scaling(np.ones((1, 2)))
    with pytest.raises(ValueError, match="X has 3 features, but 2 were scaled"):
        Scaling(np.zeros(2), np.ones(2))(np.ones((1, 3)))


@pytest.mark.parametrize(
    "wrong",
    [
        "[[0], [0], [1]]", "[[2, 1], [0, 0], [1, 1]]", "[[1, 2], [0], [1, 1]]", "[[1.5], [0], [1]]",
        "7", "[[1],[1]]", "[[0,0,0],[1,1,0]]", '[[0,0,0],["a",1,1]]', "[[0,0,0]]", "[1, 2]",
    ],
)  # fmt: skip
def test_a_damaged_scaling_of_some_features_is_refused(wrong, tmp_path):
    write_model(SVC(engine="numpy").fit(X.to_numpy(), Y), tmp_path / "m")
    without_digest = re.sub("(?m)^SV .*", "SV", (tmp_path / "m").read_text())
    (tmp_path / "m").write_text(f"{without_digest}# scaling {wrong}\n")
    with pytest.raises(ValueError, match=r"is not a LIBSVM model file .*scal"):
        read_model(tmp_path / "m")
