"""LIBSVM model files of all kinds: what is written reads back to the same decisions; LIBSVM's own are understood."""

import re
import tracemalloc

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.datasets import make_classification

import refsvm
from refsvm import SVC, SVR, OneClassSVM
from refsvm.analysis.multiclass.model import Model
from refsvm.analysis.multiclass.model_file import read_model, write_model

# What LIBSVM 3.37 stores and decides after training on (1, 0), (0, 1), (0, -1), (-1, 0), labelled 3, -1, -1,
# 7, with svm-train -t 2 -g 0.5 -c 10 -e 1e-9.
BY_LIBSVM = """svm_type c_svc
kernel_type rbf
gamma 0.5
nr_class 3
total_sv 4
rho 0.51968724256278598 0 -0.51968724264170485
label 3 -1 7
nr_sv 1 2 1
SV
2.4041098536306622 1.1565176404152249 1:1
-1.2020549268153311 1.2020549276142789 2:1
-1.2020549268153311 1.2020549270344973 2:-1
-1.1565176404152249 -2.4041098546487762 1:-1
"""
VALUES_OF_LIBSVM = [
    [1.0000000215994702, 0.9999999979814914, 1.0787489443738303],
    [-1.0000000238962297, 0.0, 1.000000024429214],
    [-1.0000000238962297, 0.0, 1.0000000239278972],
    [-1.0787489440581548, -0.9999999979814914, -1.000000022164122],
]


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


# the same for 0 and 2, labelled -1 and 1, with svm-train -t 0 -c 10; one support vector has no entry
BINARY_BY_LIBSVM = """svm_type c_svc
kernel_type linear
nr_class 2
total_sv 2
rho 1
label 1 -1
nr_sv 1 1
SV
0.5 1:2
-0.5
"""


def as_libsvm_writes(path):
    """The file without what stands behind SV."""
    return re.sub("(?m)^SV .*", "SV", path.read_text())


def problem(n_classes):
    """Data with zeros in them and a last feature that is always zero."""
    X, y = make_classification(
        90, 6, n_informative=5, n_redundant=0, n_classes=n_classes, n_clusters_per_class=1, flip_y=0.2,
        random_state=n_classes,
    )  # fmt: skip
    X[:, -1] = 0.0
    X[np.abs(X) < 0.2] = 0.0
    return X, 2 * y - 3


def fitted_to(data, X, y, **options):
    """The machine of a kind: of so many classes, of targets, or of novelty."""
    if data == "novelty":
        return OneClassSVM(**options).fit(X)
    model = SVR(**options) if data == "regression" else SVC(**options, decision_function_shape="ovo")
    return model.fit(X, y)


@pytest.mark.parametrize("data", [2, 3, 4, "regression", "novelty"])
@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf", "sigmoid"])
@pytest.mark.parametrize("container", [np.asarray, csr_matrix], ids=["dense", "csr"])
@pytest.mark.filterwarnings("ignore:The kernel is not positive semi-definite")
def test_what_is_read_decides_as_what_was_written(tmp_path, data, kernel, container):
    X, y = problem(data if isinstance(data, int) else 2)
    y, X, penalty = (
        X[:, 0] if data == "regression" else y,
        container(X),
        {} if data == "novelty" else {"C": 2.0},
    )
    fitted = fitted_to(data, X, y, kernel=kernel, gamma=0.1, coef0=0.3, **penalty)
    write_model(fitted, tmp_path / "m")
    model = read_model(tmp_path / "m")
    assert model.kernel == fitted.kernel_
    for name in ["predict", *(["decision_function"] if data != "regression" else [])]:
        np.testing.assert_allclose(*(getattr(each, name)(X) for each in (model, fitted)), rtol=0, atol=1e-10)
    if isinstance(data, int):
        assert np.array_equal(model.classes, fitted.classes_)
    else:
        assert model.task == data


def test_names_of_classes_survive(tmp_path):
    X, y = problem(2)
    names = np.where(y > -2, "élm", "oak tree")
    fitted = SVC().fit(X, names)
    write_model(fitted, tmp_path / "m")
    model = read_model(tmp_path / "m")
    assert np.array_equal(model.predict(X), fitted.predict(X))
    assert "label 0 1" in (tmp_path / "m").read_text()


def test_a_file_of_libsvm_is_understood(tmp_path):
    (tmp_path / "m").write_text(BY_LIBSVM)
    model = read_model(tmp_path / "m")
    assert model.kernel == refsvm.RBF(0.5)
    assert model.classes.tolist() == [3, -1, 7]
    X = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, -1.0], [-1.0, 0.0]])
    np.testing.assert_allclose(model.decision_function(X), VALUES_OF_LIBSVM, rtol=0, atol=1e-14)
    assert model.predict(X).tolist() == [3, -1, -1, 7]
    assert model.predict(csr_matrix(X)).tolist() == [3, -1, -1, 7]


def test_two_classes_have_the_sign_of_libsvm_in_the_file(tmp_path):
    """LIBSVM 3.37 gives x = 0.5 and 3 the values -0.5 and 2, positive for the first class, which is 1 here."""
    (tmp_path / "m").write_text(BINARY_BY_LIBSVM)
    model = read_model(tmp_path / "m")
    assert model.decision_function([[0.5], [3.0]]).tolist() == [0.5, -2.0]
    assert model.predict([[0.5], [3.0]]).tolist() == [-1, 1]
    write_model(SVC(kernel="linear", C=10.0).fit([[0.0], [2.0]], [-1, 1]), tmp_path / "own")
    lines = as_libsvm_writes(tmp_path / "own").splitlines()
    # scikit-learn's order of classes: label and coefficients are turned round together
    assert lines[4:] == ["rho -1", "label -1 1", "nr_sv 1 1", "SV", "0.5 1:0", "-0.5 1:2"]


@pytest.mark.parametrize("kind", ["epsilon_svr", "nu_svr"])
def test_a_regression_of_libsvm_is_understood_and_written_alike(tmp_path, kind):
    (tmp_path / "m").write_text(SVR_FILE.replace("epsilon_svr", kind))
    model = read_model(tmp_path / "m")
    assert model.task == "regression"
    np.testing.assert_allclose(model.predict([[0.0], [1.0], [2.0]]), [0.5, 1.0, 1.5])
    write_model(
        SVR(kernel="linear", epsilon=0.5, C=10.0).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0]), tmp_path / "m"
    )
    assert as_libsvm_writes(tmp_path / "m") == SVR_FILE


def test_keywords_of_newer_versions_of_libsvm_are_passed_over(tmp_path):
    """Here those of svm-train -b 1."""
    marks = f"prob_density_marks{' 0' * 10}\nSV\n"
    (tmp_path / "m").write_text(SVR_FILE.replace("epsilon_svr", "one_class").replace("SV\n", marks))
    assert read_model(tmp_path / "m").predict([[-2.0], [0.0]]).tolist() == [-1, 1]


def test_a_tie_of_votes_goes_to_the_first_class(tmp_path):
    """One vote each: class 0 beats 1, 1 beats 2, 2 beats 0."""
    text = re.sub("rho .*", "rho -9 9 -9", BY_LIBSVM)
    (tmp_path / "m").write_text(text)
    assert read_model(tmp_path / "m").predict([[0.0, 0.0]]).tolist() == [3]


def test_sparse_data_may_be_narrower_or_wider_than_the_model(tmp_path):
    (tmp_path / "m").write_text(BY_LIBSVM)
    model = read_model(tmp_path / "m")
    narrow, wide = np.array([[1.0], [-1.0]]), np.array([[1.0, 0.0, 0.5], [-1.0, 0.0, 0.0]])
    assert model.predict(csr_matrix(narrow)).tolist() == [3, 7]
    assert model.predict(csr_matrix(wide)).tolist() == [3, 7]
    # the feature that no support vector has counts in ‖x − xᵢ‖², as in LIBSVM: here it adds 0.25
    plain = model.decision_function(csr_matrix(wide[:, :2])) - model.intercept
    shrunk = model.decision_function(csr_matrix(wide)) - model.intercept
    np.testing.assert_allclose(shrunk, plain * np.exp([[-0.5 * 0.25], [0.0]]), rtol=1e-12)
    for X in (narrow, wide):
        with pytest.raises(ValueError, match=r"X has \d features, but the model was trained on 2"):
            model.predict(X)


@pytest.mark.parametrize("kernel", [refsvm.Linear(), refsvm.RBF(0.1)], ids=["linear", "rbf"])
def test_a_wide_model_stays_sparse_for_dense_data(kernel):
    rng, d = np.random.default_rng(0), 10**6
    vectors = csr_matrix((np.ones(1000), rng.integers(0, d, 1000), np.arange(0, 1001, 5)), shape=(200, d))
    coefficients = np.where(np.arange(200) < 100, -1.0, 1.0)[None]
    model = Model(kernel, vectors, coefficients, np.zeros(1), np.array([-1, 1]), np.array([100, 100]))
    X, expected = vectors[:2].toarray(), model.decision_function(vectors[:2])
    tracemalloc.start()
    np.testing.assert_allclose(model.decision_function(X), expected, rtol=1e-12)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100 * 2**20  # the support vectors as a dense table would take 1,600 MB


def test_a_callable_kernel_and_fractional_labels_are_refused(tmp_path):
    X, y = problem(2)
    with pytest.raises(ValueError, match="cannot be stored in a LIBSVM model file"):
        write_model(SVC(kernel=lambda A, B: A @ B.T).fit(X, y), tmp_path / "m")
    fitted = SVC().fit(X, y)
    fitted.classes_ = np.array([0.5, 1.0])
    with pytest.raises(ValueError, match=r"y holds the labels 0.5, 1.0, but"):
        write_model(fitted, tmp_path / "m")
    fitted.classes_ = np.array([1, 2**40])
    with pytest.raises(ValueError, match="32-bit"):
        write_model(fitted, tmp_path / "m")
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize(
    ("pattern", "replacement", "reason"),
    [
        ("svm_type c_svc", "svm_type one_class_2", "svm_type one_class_2 is unknown"),
        ("svm_type c_svc\n", "", "the keyword svm_type must have exactly one value"),
        ("kernel_type rbf", "kernel_type cosine", "kernel_type cosine is unknown"),
        ("gamma 0.5\n", "", "the keyword gamma must have exactly one value"),
        ("gamma 0.5", "gamma -1", "gamma=-1.0 is negative"),
        ("gamma 0.5", "gamma 0_5", "gamma contains words that are not numbers"),
        ("gamma 0.5", "gamma ٥", "gamma contains words that are not numbers"),
        ("gamma 0.5", "gamma 0.5\ngamma 5", "the keyword gamma occurs twice"),
        ("gamma 0.5", "gamma 0.5\nweight 5", "the keyword weight is not a keyword of LIBSVM"),
        ("nr_class 3", "nr_class 1", "contradict each other in a model"),
        ("nr_class 3", "nr_class 4", "nr_sv must contain 4 finite numbers"),
        ("total_sv 4", "total_sv 40", "total_sv is 40"),
        (r".*\n\Z", "", "total_sv is 4 and nr_sv adds up to 4, but the number of lines after SV is 3"),
        ("nr_sv 1 2 1", "nr_sv 1 1 1", "adds up to 3"),
        ("nr_sv 1 2 1", "nr_sv -1 4 1", "total_sv is 4"),
        ("rho .*", "rho 1 2", "rho must contain 3 finite numbers"),
        ("rho .*", "rho nan 0 0", "rho contains words that are not numbers"),
        ("rho .*", "rho 1e999 0 0", "rho must contain 3 finite numbers"),
        ("label .*", "label a b c", "label contains words that are not numbers"),
        ("SV\n", "", "the keyword 2.4041098536306622 is not a keyword of LIBSVM"),
        (" 1:1", " 1=1", "support vector 1 is not a list of index:value"),
        (" 1:1", " 0:1", "each support vector needs indices of 1 or larger"),
        (" 1:1", " 1:inf", "SV contains words that are not numbers"),
        ("2.4041098536306622", "1:1", "support vector 1 contains words that are not numbers"),
        (r"(?s)\A.*\Z", "", "there is no line 'SV'"),
        ("nr_class", "\nnr_class", "there is no line 'SV'"),
        (r"(?s)\A.*\Z", "\0\1\2\n", r"the keyword \x00\x01\x02 is not a keyword"),
        (r"\Z", '# names ["a"]\n', "names of classes must contain 3 names"),
        (r"\Z", "# names [\n", "Expecting value"),
        (r"\Z", "# names " + "[" * 200_000 + "\n", "the names of the classes are nested"),
        (r"\Z", '# names ["a", "b", "a"]\n', "names of classes must contain different names"),
        (r"\Z", '# names ["a", "b", [1]]\n', "names of classes must contain different names"),
        ("label .*", "label 3 -1 7.5", "label contains 7.5, which is not a 32-bit integer"),
        ("label .*", "label 3 -1 3", "label contains a label twice"),
        ("nr_sv .*", "nr_sv 1e300 -1e300 4", "nr_sv contains 1e300, which is not a 32-bit integer"),
        ("nr_class 3", "nr_class 3.5", "nr_class contains 3.5"),
        ("total_sv 4", "total_sv four", "total_sv contains words that are not numbers"),
        (" 2:1", " 1.5:1", "SV contains 1.5, which is not a 32-bit integer"),
        (" 2:1", " 2147483648:1", "SV contains 2147483648, which is not a 32-bit integer"),
        (" 2:1", " 99999999999999999999:1", "SV contains 99999999999999999999, which"),
        (" 2:1", " 2:1 2:1", "the indices of a support vector must ascend"),
        # of a regression
        ("rho -0.5\n", "", "rho must contain 1 finite numbers"),
        ("rho -0.5", "rho -0.5 2", "rho must contain 1 finite numbers"),
        ("total_sv 2", "total_sv 0", "total_sv is 0, but the number of lines after SV is 2"),
        ("total_sv 2", "total_sv 1", "total_sv is 1, but the number of lines after SV is 2"),
        ("nr_class 2", "nr_class 3", "contradict each other in a model"),
        (r"\n\Z", "", "the last line has no end, so the file may be cut off"),
        ("0.25 1:2", "0.25 0.5 1:2", "not a list of index:value"),
        ("epsilon_svr", "epsilon_svr_2", "svm_type epsilon_svr_2 is unknown"),
    ],
)
def test_a_damaged_file_is_refused_with_the_reason(tmp_path, pattern, replacement, reason):
    whole = next(each for each in (BY_LIBSVM, SVR_FILE) if re.search(pattern, each))
    text = re.sub(pattern, replacement.replace("\\", r"\\"), whole, count=1)
    assert text != whole
    (tmp_path / "m").write_text(text)
    with pytest.raises(ValueError, match="is not a LIBSVM model file") as caught:
        read_model(tmp_path / "m")
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_binary_file_and_a_missing_one(tmp_path):
    (tmp_path / "m").write_bytes(bytes(range(256)))
    with pytest.raises(ValueError, match="it is not text"):
        read_model(tmp_path / "m")
    with pytest.raises(FileNotFoundError, match="is not a file"):
        read_model(tmp_path / "none")
    with pytest.raises(FileNotFoundError, match="is not a file"):
        read_model(tmp_path)


def test_serial_numbers_of_a_precomputed_kernel_are_whole(tmp_path):
    text = BINARY_BY_LIBSVM.replace("linear", "precomputed").replace("-0.5\n", "-0.5 0:2\n")
    for serial, accepted in (("1", True), ("1.5", False), ("0", False), ("1e300", False)):
        (tmp_path / "m").write_text(text.replace(" 1:2", f" 0:{serial}"))
        if accepted:
            assert read_model(tmp_path / "m").support_vectors.shape == (2, 1)
            with pytest.raises(ValueError, match=r"X has 1 columns.*needs at least \d+"):
                read_model(tmp_path / "m").predict(np.ones((3, 1)))
        else:
            with pytest.raises(ValueError, match="the number of a training example, from 1 on"):
                read_model(tmp_path / "m")


def test_a_byte_order_mark_is_passed_over(tmp_path):
    (tmp_path / "m").write_bytes(b"\xef\xbb\xbf" + BINARY_BY_LIBSVM.encode())
    assert read_model(tmp_path / "m").classes.tolist() == [1, -1]


def test_a_small_file_cannot_ask_for_much_memory(tmp_path):
    """100,000 classes with one support vector each would be a table of 75 GiB; the file has no number of it."""
    k = 100_000
    head = f"svm_type c_svc\nkernel_type linear\nnr_class {k}\ntotal_sv {k}\n"
    (tmp_path / "m").write_text(head + "nr_sv " + "1 " * k + "\nSV\n" + "\n" * k)
    tracemalloc.start()
    with pytest.raises(ValueError, match="rho must contain 4999950000 finite numbers"):
        read_model(tmp_path / "m")
    (tmp_path / "m").write_text(BINARY_BY_LIBSVM.replace(" 1:2", " 2000000000:2"))
    assert read_model(tmp_path / "m").support_vectors.shape == (2, 2_000_000_000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100e6
