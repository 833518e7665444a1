"""SVR and OneClassSVM: the answers of scikit-learn's, in its layouts, and bad input."""

import warnings

import numpy as np
import pytest

pytest.importorskip("sklearn")

from scipy import sparse
from sklearn import svm
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV

from refsvm import (
    RBF,
    SVR,
    DualProblem,
    HybridMaximumGain,
    KKTGap,
    OneClassSVM,
    PlanningAheadStep,
    Precomputed,
    Rounds,
    SecondOrder,
    Status,
    cross_validate,
    leave_one_out,
    regularization_path,
)

RNG = np.random.default_rng(5)
X = RNG.normal(size=(90, 4))
X[np.abs(X) < 0.3] = 0.0
Y = np.sin(2 * X[:, 0]) + X[:, 1] ** 2 + 0.1 * RNG.normal(size=90)
KERNELS = [
    {"kernel": "linear"},
    {"kernel": "poly", "degree": 2, "gamma": 0.3, "coef0": 1.0},
    {"kernel": "rbf", "gamma": 0.4},
    {"kernel": "rbf", "gamma": "scale"},
]
CONTAINERS = [np.asarray, sparse.csr_matrix, sparse.csr_array]
PAIRS = [(SVR, svm.SVR, {"C": 2.0, "epsilon": 0.1}), (OneClassSVM, svm.OneClassSVM, {"nu": 0.3})]
both = pytest.mark.parametrize(("ours", "theirs", "options"), PAIRS, ids=["SVR", "OneClassSVM"])


def values(model, data):
    return model.predict(data) if isinstance(model, SVR | svm.SVR) else model.decision_function(data)


def users(A, B):
    """A kernel of the user's own."""
    return RBF(0.4)(A, B)


def dense(array):
    return array.toarray() if sparse.issparse(array) else array


@both
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: f"{k['kernel']}-{k.get('gamma')}")
@pytest.mark.parametrize("container", CONTAINERS, ids=lambda f: f.__name__)
def test_they_decide_as_those_of_scikit_learn(ours, theirs, options, kernel, container):
    # a plane with all examples on one side: LIBSVM takes minutes where there is none, and w = 0
    data = container(X + 3.0 if kernel["kernel"] == "linear" and ours is OneClassSVM else X)
    mine = ours(tol=1e-8, **options, **kernel).fit(data, Y)
    other = theirs(tol=1e-8, **options, **kernel).fit(data, Y)
    scale = max(1.0, float(np.abs(values(other, data)).max()))
    np.testing.assert_allclose(values(mine, data), values(other, data), rtol=0, atol=1e-5 * scale)
    np.testing.assert_allclose(mine.intercept_, other.intercept_, rtol=0, atol=1e-5 * scale)
    if kernel["kernel"] == "linear":
        np.testing.assert_allclose(mine.coef_, dense(other.coef_), rtol=0, atol=1e-5)
    if ours is OneClassSVM:
        assert mine.offset_.shape == other.offset_.shape == (1,)
        assert mine.offset_ == pytest.approx(other.offset_, abs=1e-5 * scale)
        scores = (each.score_samples(data) for each in (mine, other))
        np.testing.assert_allclose(*scores, rtol=0, atol=1e-5 * scale)
        clear = np.abs(mine.decision_function(data)) > 1e-4
        assert np.array_equal(mine.predict(data)[clear], other.predict(data)[clear])


def test_a_one_class_problem_without_a_plane_is_solved_at_once():
    """The convex hull holds the origin: w = 0 at the optimum, and every decision value is b."""
    model = OneClassSVM(kernel="linear", nu=0.3, tol=1e-8, max_iter=100_000).fit(X)
    assert model.status_ is Status.CONVERGED
    np.testing.assert_allclose(model.coef_, 0.0, atol=1e-7)


@both
def test_the_layout_is_that_of_scikit_learn(ours, theirs, options):
    mine = ours(gamma=2.0, tol=1e-8, **options).fit(X, Y)
    other = theirs(gamma=2.0, tol=1e-8, **options).fit(X, Y)
    np.testing.assert_allclose(mine.dual_coef_, other.dual_coef_, rtol=0, atol=1e-6)
    for name in ("support_", "n_support_", "support_vectors_", "shape_fit_", "fit_status_", "n_features_in_"):
        assert np.array_equal(getattr(mine, name), getattr(other, name)), name
    for name in ("support_", "n_support_", "dual_coef_", "intercept_"):
        assert getattr(mine, name).shape == getattr(other, name).shape, name
        assert getattr(mine, name).dtype == getattr(other, name).dtype, name
    assert isinstance(mine.n_iter_, int)
    assert not hasattr(ours(**options).fit(X, Y), "coef_")
    assert not hasattr(ours(**options), "dual_coef_")
    with pytest.raises(NotFittedError):
        ours().predict(X)


@both
@pytest.mark.parametrize("low", [0.2, 0.0, -1.0])
def test_sample_weights_are_those_of_scikit_learn(ours, theirs, options, low):
    weight = np.random.default_rng(1).choice([low, 0.5, 3.0], 90)
    mine = ours(gamma=0.4, tol=1e-8, **options).fit(X, Y, weight)
    other = theirs(gamma=0.4, tol=1e-8, **options).fit(X, Y, weight)
    np.testing.assert_allclose(values(mine, X), values(other, X), rtol=0, atol=1e-4)
    assert (weight[mine.support_] > 0).all()
    assert mine.alpha_.shape == (90,)


@both
def test_other_kernels_equal_the_named_one(ours, theirs, options):
    named = ours(gamma=0.4, tol=1e-9, **options).fit(X, Y)
    K = RBF(0.4)(X, X)
    for kernel, data in ((RBF(0.4), X), (users, X), ("precomputed", K), (Precomputed(), K)):
        model = ours(kernel=kernel, tol=1e-9, **options).fit(data, Y)
        np.testing.assert_allclose(values(model, data), values(named, X), rtol=0, atol=1e-6)
    blocks = ours(kernel=users, tol=1e-9, cache_size=0.05, **options).fit(X, Y)
    np.testing.assert_allclose(values(blocks, X), values(named, X), rtol=0, atol=1e-6)
    K.flags.writeable = False
    assert ours(kernel="precomputed", **options).fit(K, Y).status_ is Status.CONVERGED
    weight = np.where(np.arange(90) % 3, 1.0, 0.0)
    model = ours(kernel="precomputed", tol=1e-9, **options).fit(K, Y, weight)
    named = ours(gamma=0.4, tol=1e-9, **options).fit(X, Y, weight)
    np.testing.assert_allclose(values(model, K), values(named, X), rtol=0, atol=1e-6)


@both
def test_the_numbers_it_reports_are_those_of_its_alpha(ours, theirs, options):
    model = ours(gamma=0.4, tol=1e-8, **options).fit(X, Y)
    if ours is SVR:
        problem = DualProblem.regression(X, Y, kernel=RBF(0.4), C=2.0, epsilon=0.1)
        alpha = np.concatenate([model.alpha_.clip(0), model.alpha_.clip(None, 0)])
    else:
        problem, alpha = DualProblem.one_class(X, kernel=RBF(0.4), nu=0.3), model.alpha_
    assert model.dual_objective_ == pytest.approx(problem.objective(alpha), rel=1e-10)
    assert model.primal_objective_ == pytest.approx(problem.primal_objective(alpha), rel=1e-10)
    assert model.kkt_gap_ == pytest.approx(problem.kkt_gap(alpha), abs=1e-10)
    assert 0 <= model.duality_gap_ <= 1e-6


@pytest.mark.filterwarnings("ignore:float32 kernel values")  # at this tolerance they have to be said
@both
def test_every_engine_and_rule_gives_the_same_answer(ours, theirs, options):
    plain = ours(gamma=0.4, tol=1e-8, **options).fit(X, Y)
    for parameters in (
        {"engine": "numpy"}, {"shrinking": False}, {"selector": HybridMaximumGain()}, {"cache_size": 0.01},
        {"selector": SecondOrder(), "step": PlanningAheadStep()}, {"cache_dtype": "float32"},
    ):  # fmt: skip
        model = ours(gamma=0.4, tol=1e-8, **options, **parameters).fit(X, Y)
        np.testing.assert_allclose(values(model, X), values(plain, X), rtol=0, atol=1e-5)


@both
def test_a_warm_start_goes_on(ours, theirs, options):
    model = ours(gamma=0.4, warm_start=True, **options).fit(X, Y)
    assert model.fit(X, Y).n_iter_ == 1  # no step counts as one
    limited = ours(gamma=0.4, warm_start=True, max_iter=5, tol=1e-8, **options)
    with pytest.warns(ConvergenceWarning, match="iteration limit.*tol=1e-08.*warm_start=True") as caught:
        limited.fit(X, Y)
    assert caught[0].filename == __file__
    assert (limited.status_, limited.fit_status_) == (Status.MAX_ITER, 1)
    limited.set_params(max_iter=-1).fit(X, Y)
    assert limited.status_ is Status.CONVERGED
    with pytest.warns(
        UserWarning, match="had 90 examples and this one has 60; so this fit starts from zero"
    ) as caught:
        model.fit(X[:60], Y[:60])
    assert caught[0].filename == __file__


@pytest.mark.slow
def test_at_most_the_share_nu_is_outside():
    """ν is an upper bound on outliers and a lower bound on support vectors, at a loose tolerance too."""
    data = np.random.default_rng(0).normal(size=(400, 2))
    for nu in (0.01, 0.1, 0.5, 0.9, 1.0):
        for tol in (1e-1, 1e-3, 1e-8):
            model = OneClassSVM(nu=nu, tol=tol, gamma=0.5).fit(data)
            if nu < 1.0:
                assert (model.predict(data) < 0).mean() <= nu
            assert len(model.support_) / 400 >= nu - 1e-9
            assert model.alpha_.sum() == pytest.approx(nu * 400)


def test_a_search_over_epsilon_and_rules():
    grid = {"C": [0.1, 10.0], "epsilon": [0.01, 0.5], "selector": [None, HybridMaximumGain()]}
    search = GridSearchCV(SVR(), grid, cv=3).fit(X, Y)
    scores = search.cv_results_["mean_test_score"].reshape(4, 2)
    np.testing.assert_allclose(scores[:, 0], scores[:, 1], atol=1e-3)
    assert clone(search.best_estimator_).get_params()["C"] == search.best_params_["C"]


# -- bad input -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        (OneClassSVM(nu=0.0), "'nu' parameter"),
        (OneClassSVM(nu=1.5), "'nu' parameter"),
        (SVR(epsilon=-0.1), "'epsilon' parameter"),
        (SVR(C=0.0), "'C' parameter"),
        (SVR(C=np.nan), "'C' parameter"),
        (SVR(gamma=-1.0), "'gamma' parameter"),
        (SVR(kernel=RBF), "RBF is a class; pass an instance"),
        (SVR(kernel="precomputed"), r"shape \(90, 4\); expected a square matrix"),
        (OneClassSVM(kernel="precomputed"), r"shape \(90, 4\); expected a square matrix"),
    ],
    ids=repr,
)
def test_bad_parameters_are_refused_with_a_sentence(model, sentence):
    with pytest.raises(ValueError, match=sentence):
        model.fit(X, Y)


def test_bad_data_are_refused_with_a_sentence():
    for wrong in (np.inf, np.nan):
        with pytest.raises(ValueError, match=r"contains (NaN|infinity)"):
            SVR().fit(X, np.where(Y > 1, wrong, Y))
    with pytest.raises(ValueError, match=r"y holds targets up to 1e.200, beyond 1e150; scale y"):
        SVR().fit(X, np.where(Y > 1, 1e200, Y))
    for model in (SVR(), OneClassSVM()):
        for weights in (np.zeros(90), -1.0 * (np.arange(90) % 2)):
            with pytest.raises(ValueError, match="all samples have zero or negative weights"):
                model.fit(X, Y, sample_weight=weights)
    with pytest.raises(ValueError, match="weights of moderate size"):
        OneClassSVM().fit(X, sample_weight=np.full(90, 1e305))


@pytest.mark.parametrize("epsilon", [0.0, 0.1])
def test_constant_targets_need_no_support_vector_beyond_the_tube(epsilon):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = SVR(epsilon=epsilon).fit(X, np.full(90, 3.5))
    np.testing.assert_allclose(model.predict(X), 3.5, atol=epsilon + 1e-3)
    assert model.coef_.shape == (1, 4) if model.kernel == "linear" else model.dual_coef_.shape[0] == 1


def test_b_makes_room_for_rounding_and_no_more():
    """A constant added to K adds νn times it to each Σ αᵢ k(x, xᵢ), which b takes: no decision value changes."""
    X = np.random.default_rng(0).normal(size=(60, 2))
    K = X @ X.T + 1.0
    near, far = (OneClassSVM(kernel="precomputed", nu=0.2, tol=1e-7).fit(K + c) for c in (0.0, 1e6))
    assert far.decision_function(K + 1e6) == pytest.approx(near.decision_function(K), abs=2e-4)


def test_a_machine_that_is_constant_leaves_no_example_outside():
    """Examples around the origin, linear kernel: w = 0 is best, G is 0 but for rounding, and the terms of h are not."""
    A = np.random.default_rng(1).normal(size=(40, 2))
    X = np.concatenate([A, -A])
    model = OneClassSVM(kernel="linear", nu=0.4).fit(X)
    assert not ((model.predict(X) < 0) & (model.alpha_ < 1.0)).any()


@pytest.mark.slow
def test_targets_far_apart():
    targets = np.where(np.arange(90) % 2, 1e12, 0.0)
    model = SVR(C=1e12, gamma=2.0, tol=1e3).fit(X, targets)
    other = svm.SVR(C=1e12, gamma=2.0, tol=1e3).fit(X, targets)
    np.testing.assert_allclose(model.predict(X), other.predict(X), atol=1e5)
    assert np.isfinite(SVR().fit(X, targets).predict(X)).all()


def test_one_example():
    model = OneClassSVM().fit(X[:1])
    assert (model.predict(X[:1]), model.alpha_, model.offset_) == ([1], [0.5], pytest.approx(0.5))
    assert SVR().fit(X[:1], [2.0]).predict(X[:1]) == pytest.approx(2.0, abs=0.1 + 1e-3)


def test_no_error_beyond_epsilon_is_allowed_by_an_infinite_penalty():
    options = {"gamma": 2.0, "tol": 1e-8, "epsilon": 0.05}
    model = SVR(C=np.inf, **options).fit(X, Y)
    assert model.status_ is Status.CONVERGED
    assert np.abs(model.predict(X) - Y).max() <= 0.05 + 1e-6
    np.testing.assert_allclose(model.predict(X), SVR(C=1e9, **options).fit(X, Y).predict(X), atol=1e-6)
    weighted = SVR(C=np.inf, **options).fit(X, Y, np.where(np.arange(90) % 4, 1.0, 0.0))
    assert not set(weighted.support_) & set(range(0, 90, 4))
    with pytest.warns(ConvergenceWarning, match="stays within epsilon of the targets"):
        model = SVR(C=np.inf, kernel="linear", epsilon=0.05).fit(X, Y)
    assert model.status_ is Status.INSEPARABLE
    with pytest.warns(ConvergenceWarning, match="stays within epsilon of the targets"):
        SVR(C=np.inf, gamma=2.0).fit(np.repeat(X, 2, axis=0), np.repeat(Y, 2) + np.tile([0.0, 0.5], 90))


def test_a_users_kernel_meets_all_training_examples_when_it_predicts():
    """As in scikit-learn: some kernels look at their second argument as a whole."""
    shapes = []

    def kernel(A, B):
        shapes.append((len(A), len(B)))
        return users(A, B)

    model = SVR(kernel=kernel, C=5.0).fit(X, Y)
    model.predict(X[:7])
    assert shapes == [(90, 90), (7, 90)]
    model.set_params(cache_size=0.002).predict(X[:7])  # in blocks where the values do not fit the budget
    assert len(shapes) > 3
    np.testing.assert_allclose(model.predict(X), SVR(kernel=users, C=5.0).fit(X, Y).predict(X), atol=1e-12)


# -- resampling ------------------------------------------------------------------------------------------------------


def test_leaving_out_an_example_of_a_regression_is_another_box():
    """Both of its variables have L = U = 0; its decision value is there without a prediction."""
    problem = DualProblem.regression(X, Y, kernel=RBF(0.4), C=2.0)
    rounds = Rounds(problem, stop=KKTGap(1e-9))
    for r in (0, 17, 89):
        lower, upper = problem.lower.copy(), problem.upper.copy()
        lower[[r, 90 + r]] = upper[[r, 90 + r]] = 0.0
        value = rounds.solve(lower=lower, upper=upper).decision_values[r]
        kept = np.delete(np.arange(90), r)
        refitted = SVR(gamma=0.4, C=2.0, tol=1e-9).fit(X[kept], Y[kept])
        assert value == pytest.approx(float(refitted.predict(X[r : r + 1])[0]), abs=1e-6)
    assert rounds.rows.computed <= 90


@pytest.mark.parametrize(
    "function", [leave_one_out, cross_validate, regularization_path], ids=lambda f: f.__name__
)
def test_what_is_for_classes_refuses_targets_with_a_sentence(function):
    with pytest.raises(ValueError, match=r"y holds .*targets of a regression.*epsilon= in leave_one_out or"):
        function(X, Y, kernel=RBF(0.4))
