"""Model files between LIBSVM and this package, in both directions: what its authors' library decides, ours does."""

import numpy as np
import pytest

from refsvm import SVC, SVR, OneClassSVM, read_model, write_model

svmutil = pytest.importorskip(
    "libsvm.svmutil", reason="the library of LIBSVM's authors is not installed: pip install libsvm-official"
)

RNG = np.random.default_rng(3)
X = RNG.normal(size=(50, 4)).round(3)
X[RNG.uniform(size=X.shape) < 0.2] = 0.0
LABELS = np.where(X[:, 0] + 0.4 * RNG.normal(size=50) > 0, 3, -2)
THREE = np.where(X[:, 1] > 0.6, 7, LABELS)
TARGETS = X[:, 0] + 0.3 * X[:, 1] ** 2
KERNELS = {
    "linear": "-t 0",
    "poly": "-t 1 -d 2 -g 0.3 -r 1",
    "rbf": "-t 2 -g 0.4",
    "sigmoid": "-t 3 -g 0.05 -r 0.1",
}
OURS = {"linear": {}, "poly": {"degree": 2, "gamma": 0.3, "coef0": 1.0}, "rbf": {"gamma": 0.4},
        "sigmoid": {"gamma": 0.05, "coef0": 0.1}}  # fmt: skip
TYPES = {
    "C-SVC": ("-s 0 -c 2", LABELS), "C-SVC of three": ("-s 0 -c 2", THREE), "nu-SVC": ("-s 1 -n 0.3", LABELS),
    "one-class": ("-s 2 -n 0.3", LABELS), "epsilon-SVR": ("-s 3 -c 2", TARGETS), "nu-SVR": ("-s 4 -c 2", TARGETS),
}  # fmt: skip


def rows(data):
    return [{j + 1: float(value) for j, value in enumerate(row) if value} for row in data]


def predicted(model, data=X):
    labels, _, values = svmutil.svm_predict([0] * len(data), rows(data), model, "-q")
    return np.array(labels), np.array(values)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("kind", TYPES)
def test_what_libsvm_writes_is_read(kind, kernel, tmp_path):
    options, y = TYPES[kind]
    theirs = svmutil.svm_train(y.tolist(), rows(X), f"{options} {KERNELS[kernel]} -e 1e-6 -q")
    svmutil.svm_save_model(str(tmp_path / "m"), theirs)
    labels, values = predicted(theirs)
    ours = read_model(tmp_path / "m")
    near = 1e-10 * (1.0 + np.abs(ours.dual_coef).sum())  # what rounding leaves of large coefficients
    clear = np.abs(values).min(axis=1) > near
    np.testing.assert_allclose(ours.predict(X)[clear], labels[clear], rtol=0, atol=near)
    sign = -1.0 if kind in ("C-SVC", "nu-SVC") else 1.0  # of two classes, ours is positive for the second
    expected = sign * (values if kind == "C-SVC of three" else values[:, 0])
    np.testing.assert_allclose(ours.decision_function(X), expected, rtol=0, atol=near)


@pytest.mark.filterwarnings("ignore:The kernel is not positive semi-definite")
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(
    ("make", "y"),
    [(SVC, LABELS), (SVC, THREE), (SVR, TARGETS), (OneClassSVM, None)],
    ids=["two", "three", "SVR", "one"],
)
def test_what_is_written_libsvm_reads(make, y, kernel, tmp_path):
    fitted = make(kernel=kernel, engine="numpy", **OURS[kernel]).fit(X, y)
    write_model(fitted, tmp_path / "m", columns=["a", "b", "c", "d"])
    labels, values = predicted(svmutil.svm_load_model(str(tmp_path / "m")))
    clear = np.abs(values).min(axis=1) > 1e-9
    np.testing.assert_allclose(labels[clear], fitted.predict(X)[clear], rtol=0, atol=1e-9)
    if y is not THREE:
        sign = -1.0 if y is LABELS else 1.0
        ours = fitted.predict(X) if make is SVR else fitted.decision_function(X)
        np.testing.assert_allclose(sign * values[:, 0], ours, rtol=0, atol=1e-9)


def test_a_model_without_support_vectors_goes_both_ways(tmp_path):
    y = 5.0 + 0.01 * X[:, 0]
    fitted = SVR(engine="numpy").fit(X, y)
    assert len(fitted.support_) == 0
    write_model(fitted, tmp_path / "ours")
    labels, _ = predicted(svmutil.svm_load_model(str(tmp_path / "ours")))
    np.testing.assert_allclose(labels, fitted.predict(X), rtol=0, atol=1e-12)
    for kind in ("-s 3", "-s 4 -n 1e-9"):
        theirs = svmutil.svm_train(y.tolist(), rows(X), f"{kind} -q")
        svmutil.svm_save_model(str(tmp_path / "theirs"), theirs)
        ours = read_model(tmp_path / "theirs")
        np.testing.assert_allclose(ours.predict(X), predicted(theirs)[0], rtol=0, atol=1e-12)


def test_data_of_one_class_make_a_model_of_libsvm(tmp_path, capfd):
    theirs = svmutil.svm_train([5] * len(X), rows(X), "-s 0 -q")
    svmutil.svm_save_model(str(tmp_path / "m"), theirs)
    capfd.readouterr()  # LIBSVM warns on stderr
    assert read_model(tmp_path / "m").predict(X).tolist() == predicted(theirs)[0].tolist() == [5] * len(X)


def test_support_vectors_without_entries(tmp_path):
    origin = np.zeros((4, 2))
    theirs = svmutil.svm_train([1, -1, 1, -1], rows(origin), "-s 0 -q")
    svmutil.svm_save_model(str(tmp_path / "m"), theirs)
    ours = read_model(tmp_path / "m")
    for data in (origin, X):
        expected = predicted(theirs, data)[1][:, 0]
        np.testing.assert_allclose(-ours.decision_function(data), expected, atol=1e-12)


def test_a_precomputed_kernel_goes_both_ways(tmp_path):
    K = X @ X.T
    numbered = [{0: i + 1, **{j + 1: float(value) for j, value in enumerate(row)}} for i, row in enumerate(K)]
    theirs = svmutil.svm_train(LABELS.tolist(), numbered, "-s 0 -t 4 -e 1e-6 -q")
    svmutil.svm_save_model(str(tmp_path / "m"), theirs)
    labels, _, values = svmutil.svm_predict([0] * 50, numbered, theirs, "-q")
    np.testing.assert_allclose(-read_model(tmp_path / "m").decision_function(K), np.ravel(values), atol=1e-9)
    fitted = SVC(kernel="precomputed", engine="numpy").fit(K, LABELS)
    write_model(fitted, tmp_path / "m")
    labels, _, _ = svmutil.svm_predict([0] * 50, numbered, svmutil.svm_load_model(str(tmp_path / "m")), "-q")
    assert labels == fitted.predict(K).tolist()
