"""SVC: the answers of scikit-learn's SVC, in its layouts, and what it has beyond that."""

import pickle
import warnings

import numpy as np
import pytest

pytest.importorskip("sklearn")

from scipy import sparse
from sklearn import svm
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from refsvm import (
    RBF,
    SVC,
    DualProblem,
    Linear,
    MaximumGain,
    MostViolatingPair,
    PlanningAheadStep,
    SecondOrder,
    Status,
)

from ..several_classes import examples

KERNELS = {
    "linear": {"C": 0.5},
    "poly": {"C": 0.5, "gamma": 0.2, "coef0": 1.0, "degree": 2},
    "rbf": {"C": 5.0, "gamma": 0.3},
    "sigmoid": {"C": 0.5, "gamma": 0.02, "coef0": 0.1},
}
TIGHT = {"tol": 1e-8}
stays_indefinite = pytest.mark.filterwarnings("ignore:The kernel is not positive semi-definite")


def both(X, y, sample_weight=None, **parameters):
    """The two estimators, trained alike."""
    ours = SVC(**TIGHT, **parameters).fit(X, y, sample_weight)
    theirs = svm.SVC(**TIGHT, **parameters).fit(X, y, sample_weight)
    return ours, theirs


def dense(values):
    return values.toarray() if sparse.issparse(values) else values


def same_decisions(ours, theirs, X, atol=1e-5):
    # LIBSVM's kernel cache holds float32, so its answers are good to about that
    for shape in ("ovo", "ovr"):
        ours.set_params(decision_function_shape=shape)
        theirs.set_params(decision_function_shape=shape)
        np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), rtol=0, atol=atol)
        assert np.array_equal(ours.predict(X), theirs.predict(X))
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=0, atol=atol)
    assert np.array_equal(ours.classes_, theirs.classes_)


# -- the answers and layouts of scikit-learn -------------------------------------------------------------------------


@stays_indefinite
@pytest.mark.parametrize("k", [2, 3, 4])
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(
    "container", [np.asarray, sparse.csr_matrix, sparse.csr_array], ids=lambda f: f.__name__
)
def test_it_decides_as_scikit_learn_does(k, kernel, container):
    X, y = examples(k, zeros=True)
    ours, theirs = both(container(X), y, kernel=kernel, **KERNELS[kernel])
    same_decisions(ours, theirs, container(X))


@pytest.mark.parametrize("k", [2, 3, 4])
def test_the_layout_is_that_of_scikit_learn(k):
    """γ is so large that K is far from singular and α therefore unique."""
    X, y = examples(k)
    ours, theirs = both(X, y, gamma=2.0, C=5.0)
    np.testing.assert_allclose(ours.dual_coef_, theirs.dual_coef_, rtol=0, atol=1e-6)
    np.testing.assert_array_equal(ours.support_vectors_, theirs.support_vectors_)
    for name in ("support_", "n_support_", "class_weight_", "shape_fit_", "fit_status_", "n_features_in_"):
        assert np.array_equal(getattr(ours, name), getattr(theirs, name)), name
        assert type(getattr(ours, name)) is type(getattr(theirs, name)), name
    for name in ("support_", "n_support_", "n_iter_", "intercept_", "dual_coef_"):
        mine, other = getattr(ours, name), getattr(theirs, name)
        assert (mine.shape, mine.dtype) == (other.shape, other.dtype), name


@stays_indefinite
@pytest.mark.parametrize("kernel", KERNELS)
def test_the_objective_is_not_below_that_of_scikit_learn(kernel):
    X, y = examples(2)
    ours, theirs = both(X, y, kernel=kernel, **KERNELS[kernel])
    problem = DualProblem.classification(X, np.where(y > 0, 1, -1), kernel=ours.kernel_, C=ours.C)
    alpha = np.zeros(len(y))
    alpha[theirs.support_] = theirs.dual_coef_[0]
    assert ours.dual_objective_ == pytest.approx(problem.objective(alpha), rel=1e-8)
    # the numbers it reports are those of its α
    assert ours.dual_objective_ == pytest.approx(problem.objective(ours.alpha_), rel=1e-10)
    assert ours.primal_objective_ == pytest.approx(problem.primal_objective(ours.alpha_), rel=1e-10)
    assert ours.kkt_gap_ == pytest.approx(problem.kkt_gap(ours.alpha_), abs=1e-10)
    assert ours.duality_gap_ == ours.primal_objective_ - ours.dual_objective_


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("class_weight", ["balanced", {1: 3.0}, {-2: 0.2, 1: 2.0}], ids=str)
def test_class_weights_are_those_of_scikit_learn(k, class_weight):
    X, y = examples(k)
    ours, theirs = both(X, y, gamma=0.3, class_weight=class_weight)
    np.testing.assert_allclose(ours.class_weight_, theirs.class_weight_)
    same_decisions(ours, theirs, X)


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize("low", [0.1, 0.0, -1.0])
def test_sample_weights_are_those_of_scikit_learn(k, container, low):
    X, y = examples(k)
    weight = np.random.default_rng(k).choice([low, 0.5, 3.0], len(y))
    ours, theirs = both(container(X), y, weight, gamma=0.3, class_weight={1: 2.0})
    same_decisions(ours, theirs, container(X))
    assert (weight[ours.support_] > 0).all()


@pytest.mark.parametrize("k", [2, 3])
def test_break_ties_is_that_of_scikit_learn(k):
    X, y = examples(k)
    ours, theirs = both(X, y, gamma=0.05, break_ties=True)
    assert np.array_equal(ours.predict(X), theirs.predict(X))
    if k > 2:
        grid = np.random.default_rng(0).normal(size=(2000, 6)) * 2
        assert (ours.predict(grid) == ours.classes_[ours.decision_function(grid).argmax(axis=1)]).all()
        plain = clone(ours).set_params(break_ties=False).fit(X, y)
        assert not np.array_equal(ours.predict(grid), plain.predict(grid))


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
def test_coef_is_that_of_scikit_learn_but_dense(k, container):
    X, y = examples(k)
    ours, theirs = both(container(X), y, kernel="linear")
    np.testing.assert_allclose(ours.coef_, dense(theirs.coef_), rtol=0, atol=1e-5)
    with pytest.raises(ValueError, match="read-only"):
        ours.coef_[:] = 0.0
    assert not hasattr(SVC().fit(container(X), y), "coef_")


@pytest.mark.parametrize("gamma", ["scale", "auto", 0.25, 2])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
def test_gamma_is_that_of_scikit_learn(gamma, container):
    X, y = examples(2, zeros=True)
    ours, theirs = SVC(gamma=gamma).fit(container(X), y), svm.SVC(gamma=gamma).fit(container(X), y)
    assert ours.kernel_.gamma == pytest.approx(theirs._gamma, rel=1e-12)


# -- the estimator contract ------------------------------------------------------------------------------------------


def test_grid_search_over_penalties_and_selectors():
    X, y = examples(3)
    grid = {"svc__C": [0.1, 10.0], "svc__selector": [MostViolatingPair(), SecondOrder(), None]}
    search = GridSearchCV(make_pipeline(StandardScaler(), SVC()), grid, cv=3).fit(X, y)
    scores = search.cv_results_["mean_test_score"].reshape(2, 3)
    assert (scores == scores[:, :1]).all()
    assert scores[0, 0] != scores[1, 0]
    assert search.predict(X).shape == y.shape


def test_clone_and_pickle():
    X, y = examples(3)
    model = SVC(kernel=RBF(0.3), selector=SecondOrder(), step=PlanningAheadStep(), C=3.0).fit(X, y)
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    assert not hasattr(copy, "classes_")
    assert "kernel=RBF(gamma=0.3)" in repr(model)
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.decision_function(X), model.decision_function(X))
    assert again.status_ is Status.CONVERGED


def test_a_fitted_estimator_keeps_neither_the_data_nor_the_kernel_matrix():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(-9, 1, (500, 40)), rng.normal(9, 1, (500, 40))])
    model = SVC(kernel="linear", C=0.01).fit(X, np.repeat([0, 1], 500))
    assert len(pickle.dumps(model)) < X.nbytes / 4


def test_columns_keep_their_names():
    pd = pytest.importorskip("pandas")
    X, y = examples(2)
    frame = pd.DataFrame(X, columns=list("abcdef"))
    model = SVC().fit(frame, y)
    assert model.feature_names_in_.tolist() == list("abcdef")
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame[list("fedcba")])


def test_before_fit():
    for name in ("alpha_", "coef_", "classes_"):
        assert not hasattr(SVC(kernel="linear"), name)
    for method in ("predict", "decision_function"):
        with pytest.raises(NotFittedError):
            getattr(SVC(), method)([[0.0]])


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"C": -1.0}, "'C' parameter of SVC must be a float in the range .* Got -1.0"),
        ({"C": np.nan}, "'C' parameter"),
        ({"C": 1e308}, r"C contains 1e\+308, but finite numbers must lie between -1e300 and 1e300"),
        ({"n_jobs": 0}, "'n_jobs' parameter of SVC must be .* Got 0"),
        ({"kernel": "cosine"}, "'kernel' parameter of SVC must be .*Got 'cosine'"),
        ({"gamma": -0.1}, "'gamma' parameter"),
        ({"degree": -1, "kernel": "poly"}, "'degree' parameter"),
        ({"kernel": RBF}, r"kernel=RBF is a class; pass an instance of it"),
        ({"class_weight": {1: np.nan}}, "class_weight contains nan"),
        ({"class_weight": {1: 1e308}}, r"class_weight contains 1e\+308"),
        ({"class_weight": {1: "heavy"}}, "class_weight='heavy' is not a number"),
        ({"class_weight": {1: 1e200}, "C": 1e150}, r"class_weight contains 1e\+200, which with C=1e\+150"),
        ({"tol": 0.0}, "'tol' parameter"),
        ({"selector": "second order"}, "selector='second order' is unknown; did you mean 'second-order'"),
        ({"selector": PlanningAheadStep}, "selector=.* is not a WorkingSetSelector"),
        ({"step": 1.1}, "'step' parameter"),
        ({"max_iter": 0}, "'max_iter' parameter"),
        ({"time_limit": 0}, "'time_limit' parameter"),
        ({"engine": "gpu"}, "'engine' parameter"),
        ({"cache_size": 1e-6}, "give at least"),
        ({"selector": MaximumGain(), "step": PlanningAheadStep()}, "cannot be combined"),
        ({"kernel": lambda X, Z: np.ones((2, 2))}, r"returned an array of shape \(2, 2\)"),
        ({"kernel": lambda X, Z: np.full((len(X), len(Z)), np.nan)}, "value nan.*scale the data"),
        ({"kernel": "precomputed"}, r"shape \(75, 6\); expected a square matrix, shape \(75, 75\)"),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else "",
)
@pytest.mark.parametrize("k", [2, 3])
def test_bad_parameters_are_refused_with_a_sentence(parameters, sentence, k):
    with pytest.raises(ValueError, match=sentence):
        SVC(**parameters).fit(*examples(k))


X3, Y3 = examples(3)
HEAVY = {weight: np.where(Y3 == 1, weight, 0.0 if weight == 1.0 else 1.0) for weight in (1.0, 1e200, 1e308)}
TIES = SVC(decision_function_shape="ovo", break_ties=True)
MATRIX = SVC(kernel="precomputed")


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            lambda: SVC().fit(X3, np.ones(75, dtype=int)),
            "y contains 1 class, 1; give labels of at least two",
        ),
        (lambda: SVC().fit(np.where(X3 > 1, np.nan, X3), Y3), "contains NaN"),
        (lambda: SVC().fit(X3, X3[:, 0]), "Unknown label type: continuous"),
        (lambda: SVC().fit(X3, Y3, HEAVY[1.0]), "weights leave the class -2 without examples"),
        (lambda: SVC().fit(X3, Y3, HEAVY[1e308]), r"sample_weight contains 1e\+308"),
        (
            lambda: SVC(class_weight={1: 1e200}).fit(X3, Y3, HEAVY[1e200]),
            r"times class_weight and sample_weight, 1e\+200 and 1e\+200, exceeds",
        ),
        (lambda: SVC(class_weight={-2: 0.0, 1: 0.0}).fit(X3, Y3), "leave the class -2 without examples"),
        (lambda: SVC().fit(X3 * 1e200, Y3), r"gives 0\.0 on data of variance inf"),
        (lambda: SVC(kernel="linear").fit(X3 * 1e200, Y3), "overflows"),
        (lambda: MATRIX.fit(sparse.csr_array(X3 @ X3.T), Y3), "Sparse precomputed kernels are not supported"),
        (lambda: TIES.fit(X3, Y3).predict(X3), "break_ties must be False"),
        (lambda: SVC().fit(X3, Y3).predict(X3[:, :2]), "expecting 6 features"),
        (lambda: SVC(kernel=Linear().__call__).fit(X3, Y3).predict(X3[0]), "Reshape your data"),
        (lambda: MATRIX.fit(X3 @ X3.T, Y3).predict(X3), "expecting 75 features"),
    ],
)
def test_bad_data_are_refused_with_a_sentence(call, sentence):
    with pytest.raises(TypeError if "Sparse" in sentence else ValueError, match=sentence):
        call()


def test_labels_of_every_kind():
    X, y = examples(3)
    plain = SVC().fit(X, y).predict(X)
    for labels in (y.astype(float), y.astype("U"), y.astype("U").astype(object), y.astype(np.int8)):
        model = SVC().fit(X, labels)
        assert model.predict(X).dtype == labels.dtype
        assert np.array_equal(model.predict(X).astype(float), plain)
    assert SVC().fit(X, y > 0).predict(X).dtype == bool


def test_fit_copies_neither_data_nor_results_of_an_earlier_fit():
    X, y = examples(2)
    before = X.copy(), y.copy()
    model = SVC(warm_start=True).fit(X, y)
    first = model.binary_results_[0]
    kept = first.alpha.copy()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.set_params(C=100.0).fit(X, y)
    assert np.array_equal(first.alpha, kept)
    assert np.array_equal(X, before[0])
    assert np.array_equal(y, before[1])


def test_votes_where_a_value_is_zero(monkeypatch):
    """As in scikit-learn the first class has it in "ovr", and the second one in LIBSVM's prediction.

    The votes are 2, 1, 0; to them come the sums s = 0 + 1, −0 + 1, −1 − 1 of the values as s/(3(|s| + 1)).
    """
    X, y = examples(3)
    model = SVC(engine="numpy").fit(X, y)

    def values(self, X, reduced=lambda h: h):
        return reduced(np.array([[0.0, 1.0, 1.0]]))

    monkeypatch.setattr(SVC, "_decision_values", values)
    np.testing.assert_allclose(model.decision_function(X[:1]), [[2 + 1 / 6, 1 + 1 / 6, -2 / 9]], rtol=1e-15)
    assert model.predict(X[:1]) == model.classes_[[1]]
