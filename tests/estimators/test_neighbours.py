"""Out of the package: estimators of scikit-learn with the same decisions, and names that are looked for here."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from scipy import sparse
from sklearn import svm
from sklearn.base import is_regressor
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.preprocessing import StandardScaler

from refsvm import RBF, SVC, SVR, Kernel, OneClassSVM, Sigmoid

IRIS = load_iris()
TWO = IRIS.target < 2


def inner_products(X, Z):
    return X @ Z.T


@dataclass(frozen=True)
class Cauchy(Kernel):
    """A kernel object that scikit-learn does not have."""

    def from_inner(self, inner, x_norms, z_norms):
        return 1.0 / (1.0 + x_norms[:, None] + z_norms - 2.0 * inner)


KERNELS = [
    {"kernel": "linear"},
    {"kernel": "rbf"},
    {"kernel": "poly", "degree": 2, "coef0": 1.0},
    {"kernel": "sigmoid", "gamma": 0.01},
    {"kernel": RBF(0.3)},
    {"kernel": RBF([0.3, 0.1, 0.5, 0.2])},
    {"kernel": Sigmoid(0.01, 0.5)},
    {"kernel": inner_products},
    {"kernel": Cauchy()},
]


def the_same(ours, X, atol=1e-10):
    theirs = ours.to_sklearn()
    assert type(theirs) is getattr(svm, type(ours).__name__)
    if not is_regressor(ours):
        np.testing.assert_allclose(theirs.decision_function(X), ours.decision_function(X), rtol=0, atol=atol)
    np.testing.assert_allclose(theirs.predict(X), ours.predict(X), rtol=0, atol=atol)
    np.testing.assert_array_equal(theirs.n_support_, ours.n_support_)
    return theirs


@pytest.mark.filterwarnings("ignore:The kernel is not positive semi-definite")  # sigmoid
@pytest.mark.parametrize(
    "parameters", KERNELS, ids=lambda each: str(getattr(each["kernel"], "__name__", each["kernel"]))
)
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix], ids=["dense", "sparse"])
def test_to_sklearn_decides_the_same(parameters, container):
    X = container(IRIS.data)
    if container is not np.asarray and parameters["kernel"] in (inner_products, Cauchy()):
        pytest.skip("scikit-learn gives no sparse data to a user's kernel")
    the_same(SVC(**parameters, decision_function_shape="ovo").fit(X, IRIS.target), X)
    the_same(SVC(**parameters).fit(X[TWO], IRIS.target[TWO]), X)
    the_same(SVR(**parameters).fit(X, IRIS.target), X)
    the_same(OneClassSVM(**parameters).fit(X), X)


def test_to_sklearn_of_a_kernel_matrix_and_of_names():
    K = IRIS.data @ IRIS.data.T
    the_same(SVC(kernel="precomputed").fit(K, IRIS.target), K)
    names = np.array(IRIS.target_names)[IRIS.target]
    theirs = SVC(class_weight="balanced").fit(IRIS.data, names).to_sklearn()
    assert theirs.predict(IRIS.data[:1]).tolist() == ["setosa"]
    assert theirs.fit(IRIS.data, names).score(IRIS.data, names) > 0.9


@pytest.mark.filterwarnings("ignore:Attribute `prob")  # which scikit-learn 1.9 deprecates
@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
@pytest.mark.parametrize(
    "read",
    [pytest.param(load_digits, marks=pytest.mark.slow), load_iris, load_wine, load_breast_cancer],
    ids=lambda f: f.__name__,
)
def test_onnx_gives_the_same_labels(read, kernel):
    skl2onnx, runtime = pytest.importorskip("skl2onnx"), pytest.importorskip("onnxruntime")
    X, y = read(return_X_y=True)
    X = StandardScaler().fit_transform(X).astype(np.float32)
    model = SVC(kernel=kernel).fit(X.astype(np.float64), y)
    file = skl2onnx.to_onnx(model.to_sklearn(), X[:1]).SerializeToString()
    session = runtime.InferenceSession(file, providers=["CPUExecutionProvider"])
    labels = session.run(None, {session.get_inputs()[0].name: X})[0]
    np.testing.assert_array_equal(labels, model.predict(X))


@pytest.mark.parametrize("name", ["NuSVC", "NuSVR", "LinearSVC", "LinearSVR"])
def test_classes_that_are_elsewhere(name):
    with pytest.raises(ImportError, match=f"refsvm has no {name}; use SV. ?.*sklearn.svm.{name}"):
        exec(f"from refsvm import {name}")
