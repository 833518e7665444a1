"""SVC, SVR and OneClassSVM give the answers and layouts of scikit-learn's classes for every form of a kernel."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn import svm
from sklearn.exceptions import ConvergenceWarning

from refsvm import (
    RBF,
    SVC,
    SVR,
    DualProblem,
    HybridMaximumGain,
    Linear,
    OneClassSVM,
    PlanningAheadStep,
    Polynomial,
    Precomputed,
    SecondOrder,
    Status,
)

from ..several_classes import examples

RNG = np.random.default_rng(5)
X = RNG.normal(size=(90, 4))
X[np.abs(X) < 0.3] = 0.0
Y = np.sin(2 * X[:, 0]) + X[:, 1] ** 2 + 0.1 * RNG.normal(size=90)


@dataclass(frozen=True)
class Twin:
    """An estimator of both packages, and what it is trained on."""

    ours: Any
    theirs: Any
    X: np.ndarray
    y: np.ndarray | None
    options: dict[str, Any] = field(default_factory=dict)

    def made(self, make: Any = None, **more: Any) -> Any:
        """Return an estimator that ends at a small gap; ours if none is named."""
        make = make or self.ours
        shape = {"decision_function_shape": "ovo"} if make.__name__ == "SVC" else {}
        own = {name: value for name, value in (self.options | more).items() if name in make().get_params()}
        return make(**{"tol": 1e-8, **shape, **own})

    def both(self, data: Any, weight: Any = None, **more: Any) -> list[Any]:
        """Return the two estimators, trained alike."""
        return [self.made(make, **more).fit(data, self.y, weight) for make in (self.ours, self.theirs)]


TWINS = {
    **{f"{k} classes": Twin(SVC, svm.SVC, *examples(k, zeros=True)) for k in (2, 3, 4)},
    "regression": Twin(SVR, svm.SVR, X, Y, {"epsilon": 0.1}),
    "novelty": Twin(OneClassSVM, svm.OneClassSVM, X, None, {"nu": 0.3}),
}
KERNELS = {
    "linear": {"C": 0.5},
    "poly": {"C": 0.5, "gamma": 0.2, "coef0": 1.0, "degree": 2},
    "rbf": {"C": 5.0, "gamma": 0.3},
    "scale": {"kernel": "rbf", "gamma": "scale"},
    "sigmoid": {"C": 0.5, "gamma": 0.02, "coef0": 0.1},
}
CONTAINERS = [np.asarray, sparse.csr_matrix, sparse.csr_array]
every_twin = pytest.mark.parametrize("twin", TWINS.values(), ids=TWINS)
may_be_indefinite = pytest.mark.filterwarnings("ignore:The kernel is not positive semi-definite")


def values(model, data):
    return model.decision_function(data) if hasattr(model, "decision_function") else model.predict(data)


def users(A, B):
    """A kernel of the user's own."""
    return RBF(0.4)(A, B)


def dense(array):
    return array.toarray() if sparse.issparse(array) else array


@may_be_indefinite
@every_twin
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("container", CONTAINERS, ids=lambda f: f.__name__)
def test_they_decide_as_those_of_scikit_learn(twin, kernel, container):
    if kernel == "sigmoid" and twin.ours is not SVC:
        pytest.skip("of an indefinite kernel both may find another optimum")
    # a plane with all examples on one side: LIBSVM takes minutes where there is none, and w = 0
    data = container(twin.X + 3.0 if kernel == "linear" and twin.ours is OneClassSVM else twin.X)
    mine, other = twin.both(data, **{"kernel": kernel, **KERNELS[kernel]})
    close = 1e-5 * max(1.0, float(np.abs(values(other, data)).max()))  # LIBSVM's kernel values are float32
    for shape in ("ovo", "ovr") if twin.ours is SVC else ("",):
        if shape:
            mine.set_params(decision_function_shape=shape)
            other.set_params(decision_function_shape=shape)
            assert np.array_equal(mine.predict(data), other.predict(data))
        np.testing.assert_allclose(values(mine, data), values(other, data), rtol=0, atol=close)
    np.testing.assert_allclose(mine.intercept_, other.intercept_, rtol=0, atol=close)
    assert hasattr(mine, "coef_") == (kernel == "linear")
    if kernel == "linear":
        np.testing.assert_allclose(mine.coef_, dense(other.coef_), rtol=0, atol=1e-5)
        with pytest.raises(ValueError, match="read-only"):
            mine.coef_[:] = 0.0
    if twin.ours is OneClassSVM:
        assert mine.offset_.shape == other.offset_.shape == (1,)
        assert mine.offset_ == pytest.approx(other.offset_, abs=close)
        scores = (each.score_samples(data) for each in (mine, other))
        np.testing.assert_allclose(*scores, rtol=0, atol=close)
        clear = np.abs(mine.decision_function(data)) > 1e-4
        assert np.array_equal(mine.predict(data)[clear], other.predict(data)[clear])


@every_twin
def test_the_layout_is_that_of_scikit_learn(twin):
    """γ is so large that K is far from singular and α therefore unique."""
    mine, other = twin.both(twin.X, gamma=2.0, C=5.0)
    np.testing.assert_allclose(mine.dual_coef_, other.dual_coef_, rtol=0, atol=1e-6)
    same = ["support_", "n_support_", "support_vectors_", "shape_fit_", "fit_status_", "n_features_in_"]
    for name in [*same, "class_weight_", "classes_"]:
        assert np.array_equal(getattr(mine, name, None), getattr(other, name, None)), name
    for name in ("support_", "n_support_", "dual_coef_", "intercept_", "n_iter_"):
        ours, theirs = np.asarray(getattr(mine, name)), np.asarray(getattr(other, name))
        assert ours.shape == theirs.shape, name
        assert ours.dtype == theirs.dtype or name == "n_iter_", name
        assert type(getattr(mine, name)) is type(getattr(other, name)), name
    assert not any(hasattr(twin.made(kernel="linear"), name) for name in ("alpha_", "coef_", "dual_coef_"))


@every_twin
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize("low", [0.1, 0.0, -1.0])
def test_sample_weights_are_those_of_scikit_learn(twin, container, low):
    weight = np.random.default_rng(2).choice([low, 0.5, 3.0], len(twin.X))
    more = {"class_weight": {1: 2.0}} if twin.ours is SVC else {}
    mine, other = twin.both(container(twin.X), weight, gamma=0.3, **more)
    data = container(twin.X)
    np.testing.assert_allclose(values(mine, data), values(other, data), rtol=0, atol=1e-4)
    assert (weight[mine.support_] > 0).all()
    assert mine.alpha_.shape[-1] == len(twin.X)


@every_twin
def test_a_kernel_is_the_same_in_every_form(twin):
    named, K = twin.made(gamma=0.4).fit(twin.X, twin.y), RBF(0.4)(twin.X, twin.X)
    T = np.random.default_rng(9).normal(size=(20, twin.X.shape[1]))
    cross = RBF(0.4)(T, twin.X)
    for kernel in (RBF(0.4), users, "precomputed", Precomputed()):
        given, asked = (K, cross) if kernel in ("precomputed", Precomputed()) else (twin.X, T)
        model = twin.made(kernel=kernel).fit(given, twin.y)
        np.testing.assert_allclose(values(model, asked), values(named, T), rtol=0, atol=1e-6)
    # nothing but the columns of the support vectors counts
    assert model.support_vectors_.shape == (0, 0)
    assert model.n_kernel_rows_ == 0
    before, cross[:, np.setdiff1d(np.arange(len(K)), model.support_)] = values(model, cross), 1e6
    np.testing.assert_array_equal(values(model, cross), before)
    blocks = twin.made(kernel=users, cache_size=0.02).fit(twin.X, twin.y)
    np.testing.assert_allclose(values(blocks, T), values(named, T), rtol=0, atol=1e-6)
    K.flags.writeable = False
    weight = np.where(np.arange(len(K)) % 3, 1.0, 0.0)
    model = twin.made(kernel="precomputed").fit(K, twin.y, weight)
    named = twin.made(gamma=0.4).fit(twin.X, twin.y, weight)
    np.testing.assert_allclose(values(model, K), values(named, twin.X), rtol=0, atol=1e-6)


@every_twin
def test_a_users_kernel_is_called_once_with_all_examples_if_the_values_fit(twin):
    """The same holds for predictions: some kernels look at their second argument as a whole."""
    shapes, n = [], len(twin.X)

    def kernel(A, B):
        shapes.append((len(A), len(B)))
        return users(A, B)

    model = twin.made(kernel=kernel).fit(twin.X, twin.y)
    assert shapes == [(n, n)]
    assert model.n_kernel_rows_ == n
    model.predict(twin.X[:7])
    assert shapes[1:] == [(7, n)]
    model.set_params(cache_size=0.002).predict(twin.X[:7])
    assert len(shapes) > 3


def test_a_kernel_may_look_its_values_up():
    """As in scikit-learn's own tests: it has those of all examples at once."""
    X, y = examples(2)
    K = RBF(0.3)(X, X)
    model = SVC(kernel=lambda A, B: K if A is B or A.shape == B.shape else RBF(0.3)(A, B)).fit(X, y)
    assert model.score(X, y) == SVC(gamma=0.3).fit(X, y).score(X, y)


def test_a_kernel_sees_examples_that_are_no_table():
    """The kernel counts the letters that two words share."""
    words = ["ab", "abc", "bca", "xyz", "yz", "zzy", "cab", "xzy"]
    labels = ["early" if word[0] < "m" else "late" for word in words]

    def shared(X, Z):
        return np.array([[len(set(x) & set(z)) for z in Z] for x in X])

    model = SVC(kernel=shared, C=10.0).fit(words, labels)
    assert model.predict(["ba", "zx"]).tolist() == ["early", "late"]
    assert set(model.support_vectors_) <= set(words)
    assert not hasattr(model, "n_features_in_")


@pytest.mark.parametrize("kernel", [lambda X, Z: X @ Z.T, lambda X, Z: (X @ Z.T) ** 1, Linear()])
def test_a_kernel_of_sparse_rows_may_return_a_sparse_matrix(kernel):
    X, y = examples(3)
    model = SVC(kernel=kernel, tol=1e-8).fit(sparse.csr_array(X), y)
    named = SVC(kernel="linear", tol=1e-8).fit(X, y)
    found, expected = model.decision_function(sparse.csr_array(X)), named.decision_function(X)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_indices_of_64_bits_and_mixed_containers(kernel):
    X, y = examples(3, zeros=True)
    wide = sparse.csr_array(X)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    models = [SVC(kernel=kernel).fit(data, y) for data in (X, sparse.csc_matrix(X), wide)]
    values = [model.decision_function(data) for model in models for data in (X, sparse.coo_array(X), wide)]
    for value in values[1:]:
        np.testing.assert_allclose(value, values[0], rtol=0, atol=1e-9)


def test_an_object_brings_its_own_parameters():
    X, y = examples(2)
    model = SVC(kernel=Polynomial(2, 0.2, 1.0), degree=7, gamma=99.0).fit(X, y)
    assert model.kernel_ == Polynomial(2, 0.2, 1.0)


@pytest.mark.parametrize("gamma", ["scale", "auto", 0.25, 2])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
def test_gamma_is_that_of_scikit_learn(gamma, container):
    X, y = examples(2, zeros=True)
    ours, theirs = SVC(gamma=gamma).fit(container(X), y), svm.SVC(gamma=gamma).fit(container(X), y)
    assert ours.kernel_.gamma == pytest.approx(theirs._gamma, rel=1e-12)


@may_be_indefinite
@pytest.mark.parametrize("name", ["2 classes", "regression", "novelty"])
@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf", "sigmoid"])
def test_the_numbers_it_reports_are_those_of_its_alpha(name, kernel):
    twin = TWINS[name]
    if kernel in ("linear", "sigmoid") and twin.ours is not SVC:
        pytest.skip("w = 0, or another optimum")
    ours, theirs = twin.both(twin.X, **{"kernel": kernel, **KERNELS[kernel]})
    given, alpha, other = {"kernel": ours.kernel_}, ours.alpha_, np.zeros(len(twin.X))
    other[theirs.support_] = theirs.dual_coef_[0]
    if twin.ours is SVR:
        problem = DualProblem.regression(X, Y, C=ours.C, epsilon=0.1, **given)
        alpha, other = (np.concatenate([each.clip(0), each.clip(None, 0)]) for each in (alpha, other))
    elif twin.ours is OneClassSVM:
        problem = DualProblem.one_class(X, nu=0.3, **given)
    else:
        problem = DualProblem.classification(twin.X, np.where(twin.y > 0, 1, -1), C=ours.C, **given)
    assert ours.dual_objective_ == pytest.approx(problem.objective(other), rel=1e-6)
    assert ours.dual_objective_ == pytest.approx(problem.objective(alpha), rel=1e-10)
    assert ours.primal_objective_ == pytest.approx(problem.primal_objective(alpha), rel=1e-10)
    assert ours.kkt_gap_ == pytest.approx(problem.kkt_gap(alpha), abs=1e-10)
    assert ours.duality_gap_ == pytest.approx(ours.primal_objective_ - ours.dual_objective_, abs=1e-12)


@pytest.mark.filterwarnings("ignore:float32 kernel values")  # at this tolerance they have to be said
@every_twin
def test_every_engine_and_rule_gives_the_same_answer(twin):
    plain = twin.made(gamma=0.4).fit(twin.X, twin.y)
    for parameters in (
        {"engine": "numpy"}, {"shrinking": False}, {"selector": HybridMaximumGain()}, {"cache_size": 0.01},
        {"selector": SecondOrder(), "step": PlanningAheadStep()}, {"cache_dtype": "float32"},
    ):  # fmt: skip
        model = twin.made(gamma=0.4, **parameters).fit(twin.X, twin.y)
        np.testing.assert_allclose(values(model, twin.X), values(plain, twin.X), rtol=0, atol=1e-5)


@every_twin
def test_a_warm_start_goes_on(twin):
    model = twin.made(gamma=0.4, warm_start=True, tol=1e-3).fit(twin.X, twin.y)
    assert np.max(model.fit(twin.X, twin.y).n_iter_) == 1  # no step counts as one
    limited = twin.made(gamma=0.4, warm_start=True, max_iter=5)
    with pytest.warns(ConvergenceWarning, match="iteration limit.*tol=1e-08.*warm_start=True") as caught:
        limited.fit(twin.X, twin.y)
    assert caught[0].filename == __file__
    assert (limited.status_, limited.fit_status_) == (Status.MAX_ITER, 1)
    limited.set_params(max_iter=-1).fit(twin.X, twin.y)
    assert limited.status_ is Status.CONVERGED
    with pytest.warns(UserWarning, match="had .* and this fit has .*so this fit starts from zero") as caught:
        model.fit(twin.X[:60], None if twin.y is None else twin.y[:60])
    assert caught[0].filename == __file__


@every_twin
def test_a_warm_start_leaves_the_results_of_the_fit_before(twin):
    model = twin.made(warm_start=True, tol=1e-3).fit(twin.X, twin.y)
    first = model.binary_results_[0].alpha if twin.ours is SVC else model.alpha_
    kept = first.copy()
    model.set_params(**({"nu": 0.6} if twin.ours is OneClassSVM else {"C": 100.0})).fit(twin.X, twin.y)
    np.testing.assert_array_equal(first, kept)
    assert not np.array_equal(np.atleast_2d(model.alpha_)[0, : len(kept)], kept)


@every_twin
def test_a_warm_start_knows_which_examples_were_left_out(twin):
    weights = 1.0 * (np.arange(len(twin.X)) > 12)
    model = twin.made(warm_start=True)
    first = model.fit(twin.X, twin.y, sample_weight=weights).n_iter_
    assert np.max(first) > 1
    assert np.max(model.fit(twin.X, twin.y, sample_weight=weights).n_iter_) == 1


@pytest.mark.parametrize("name", ["2 classes", "3 classes", "regression"])
def test_an_infinite_penalty_allows_no_error(name):
    twin, is_kept = TWINS[name], np.arange(90) % 5 > 0
    hard, soft = (twin.made(C=C, gamma=2.0).fit(twin.X, twin.y) for C in (np.inf, 1e8))
    assert hard.status_ is Status.CONVERGED
    np.testing.assert_allclose(values(hard, twin.X), values(soft, twin.X), rtol=0, atol=1e-4)
    assert np.abs(hard.predict(twin.X) - twin.y).max() <= (0.1 + 1e-6 if name == "regression" else 0.0)
    weighted = twin.made(C=np.inf, gamma=2.0).fit(twin.X, twin.y, 1.0 * is_kept[: len(twin.X)])
    assert is_kept[weighted.support_].all()
    words = (
        "stays within epsilon of the targets" if name == "regression" else "separates the classes.*finite C"
    )
    with pytest.warns(ConvergenceWarning, match=words):
        model = twin.made(C=np.inf, kernel="linear").fit(twin.X, twin.y)
    assert (model.status_, model.fit_status_) == (Status.INSEPARABLE, 1)
    assert np.isfinite(values(model, twin.X)).all()


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("class_weight", ["balanced", {1: 3.0}, {-2: 0.2, 1: 2.0}], ids=str)
def test_class_weights_are_those_of_scikit_learn(k, class_weight):
    twin = TWINS[f"{k} classes"]
    ours, theirs = twin.both(twin.X, gamma=0.3, class_weight=class_weight)
    np.testing.assert_allclose(ours.class_weight_, theirs.class_weight_)
    np.testing.assert_allclose(values(ours, twin.X), values(theirs, twin.X), rtol=0, atol=1e-5)


@pytest.mark.parametrize("k", [2, 3])
def test_break_ties_is_that_of_scikit_learn(k):
    X, y = examples(k)
    grid = np.random.default_rng(0).normal(size=(2000, 6)) * 2
    given = {"tol": 1e-8, "gamma": 0.05, "break_ties": True}
    ours, theirs = SVC(**given).fit(X, y), svm.SVC(**given).fit(X, y)
    assert np.array_equal(ours.predict(grid), theirs.predict(grid))
    if k > 2:
        before = ours.predict(grid)
        assert not np.array_equal(before, ours.set_params(break_ties=False).predict(grid))


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


def test_labels_of_every_kind():
    X, y = examples(3)
    plain = SVC().fit(X, y).predict(X)
    for labels in (y.astype(float), y.astype("U"), y.astype("U").astype(object), y.astype(np.int8)):
        model = SVC().fit(X, labels)
        assert model.predict(X).dtype == labels.dtype
        assert np.array_equal(model.predict(X).astype(float), plain)
    assert SVC().fit(X, y > 0).predict(X).dtype == bool
