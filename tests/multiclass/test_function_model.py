"""Model files of regressions and novelty detectors."""

import numpy as np
import pytest

pytest.importorskip("sklearn")

from scipy import sparse

from refsvm import SVR, OneClassSVM, read_model, write_model

RNG = np.random.default_rng(2)
X = RNG.normal(size=(60, 3))
Y = X[:, 0] + 0.3 * X[:, 1] ** 2
KERNELS = [
    {"kernel": "rbf", "gamma": 0.4},
    {"kernel": "linear"},
    {"kernel": "poly", "degree": 2, "gamma": 0.3, "coef0": 1.0},
    {"kernel": "sigmoid", "gamma": 0.01, "coef0": 0.1},
]


@pytest.mark.filterwarnings("ignore:The kernel is not positive semi-definite")
@pytest.mark.parametrize("make", [SVR, OneClassSVM], ids=lambda cls: cls.__name__)
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k["kernel"])
def test_a_round_trip_predicts_the_same(make, kernel, tmp_path):
    fitted = make(**kernel).fit(X, Y)
    write_model(fitted, tmp_path / "m")
    model = read_model(tmp_path / "m")
    assert model.kernel == fitted.kernel_
    assert model.task == ("regression" if make is SVR else "novelty")
    for data in (X, sparse.csr_array(X)):
        np.testing.assert_allclose(model.predict(data), fitted.predict(data), rtol=1e-12, atol=1e-12)
    if make is OneClassSVM:
        np.testing.assert_allclose(
            model.decision_function(X), fitted.decision_function(X), rtol=0, atol=1e-12
        )


def test_a_precomputed_kernel_names_its_support_vectors(tmp_path):
    K = X @ X.T
    fitted = SVR(kernel="precomputed").fit(K, Y)
    write_model(fitted, tmp_path / "m")
    np.testing.assert_allclose(read_model(tmp_path / "m").predict(K), fitted.predict(K), rtol=1e-12)


SVR_FILE = """svm_type epsilon_svr
kernel_type linear
nr_class 2
total_sv 2
rho -0.5
SV
-0.25 1:0
0.25 1:2
"""
"""As svm-train -s 3 -t 0 writes it: h(x) = ½x + ½."""


def test_files_of_libsvms_own_tools(tmp_path):
    path = tmp_path / "m"
    path.write_text(SVR_FILE)
    np.testing.assert_allclose(read_model(path).predict([[0.0], [1.0], [2.0]]), [0.5, 1.0, 1.5])
    path.write_text(SVR_FILE.replace("epsilon_svr", "nu_svr"))
    assert read_model(path).task == "regression"
    # newer versions of LIBSVM write further keywords, here those of svm-train -b 1
    path.write_text(
        SVR_FILE.replace("epsilon_svr", "one_class").replace("SV\n", "prob_density_marks 0 1\nSV\n")
    )
    assert read_model(path).predict([[-2.0], [0.0]]).tolist() == [-1, 1]


def test_what_is_written_is_what_libsvm_writes(tmp_path):
    model = SVR(kernel="linear", epsilon=0.5, C=10.0).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0])
    write_model(model, tmp_path / "m")
    assert (tmp_path / "m").read_text() == SVR_FILE
