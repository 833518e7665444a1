"""RBF with one γ for each feature: the bits of RBF(1) on features multiplied by √γⱼ, wherever kernels are used."""

from __future__ import annotations

import pickle
from dataclasses import dataclass, replace

import numpy as np
import pytest

from refsvm import RBF, DualProblem, Polynomial, cross_validate, leave_one_out, solve
from refsvm.analysis.derivatives.kernels import by_differences
from refsvm.core.kernels import Gram
from refsvm.core.kernels.matrix import View
from refsvm.services.identity import described

rng = np.random.default_rng(0)
GAMMAS = np.array([0.1, 2.0, 0.0, 0.5, 0.3])
KERNEL, ONE = RBF(GAMMAS), RBF(1.0)
X, T = rng.normal(size=(80, 5)), rng.normal(size=(7, 5))
score = X[:, 1] + X[:, 3] ** 2 - X[:, 0] * X[:, 2] + 0.3 * rng.normal(size=80)
y = np.where(score > np.median(score), 1, -1)
SPARSE = np.where(np.abs(X) > 1.0, X, 0.0)


def stored(X):
    return pytest.importorskip("scipy.sparse").csr_array(X)


DATA = {
    "dense": lambda: X,
    "sparse": lambda: stored(SPARSE),
    "far": lambda: X + 1e6,
    "many": lambda: np.random.default_rng(1).normal(size=(400, 5)),
}


@pytest.mark.parametrize("name", DATA)
def test_a_matrix_has_the_bits_of_scaled_features(name):
    data = DATA[name]()
    scaled = KERNEL.scaled(data)
    dense = scaled.toarray() if name == "sparse" else scaled
    np.testing.assert_array_equal(dense, (SPARSE if name == "sparse" else data) * np.sqrt(GAMMAS))
    ours, theirs = Gram(KERNEL, data), Gram(ONE, scaled)
    some, columns = np.array([3, 0, 60, 3]), np.array([5, 3, 41])
    every = np.arange(ours.n)
    for one, other in (
        (ours, theirs),
        (ours.restrict(some), theirs.restrict(some)),
        (View(ours, every[::-1].copy()), View(theirs, every[::-1].copy())),
    ):
        rows = np.arange(one.n)
        np.testing.assert_array_equal(one.block(rows), other.block(rows))
        np.testing.assert_array_equal(one.block(rows[:1]), other.block(rows[:1]))
        np.testing.assert_array_equal(one.block(rows[:3], rows[1:]), other.block(rows[:3], rows[1:]))
        np.testing.assert_array_equal(one.diagonal(), np.ones(one.n))
        single = [each.block(rows, out=np.empty((each.n, each.n), np.float32)) for each in (one, other)]
        np.testing.assert_array_equal(*single)
    np.testing.assert_array_equal(ours.block(some, columns), theirs.block(some, columns))
    new = T + 1e6 if name == "far" else T
    np.testing.assert_array_equal(KERNEL(new, data), ONE(KERNEL.scaled(new), scaled))
    assert ours.facts.data_error == theirs.facts.data_error


def test_a_solve_takes_the_same_steps(engine):
    for data in (X, stored(SPARSE)):
        one, other = (
            solve(DualProblem.classification(each, y, kernel=kernel, C=3.0), engine=engine)
            for each, kernel in ((data, KERNEL), (KERNEL.scaled(data), ONE))
        )
        assert one.iterations == other.iterations
        np.testing.assert_array_equal(one.alpha, other.alpha)


def test_rounds_are_the_same(engine):
    pytest.importorskip("scipy")
    for run in (leave_one_out, lambda *a, **k: cross_validate(*a, folds=4, rng=0, **k)):
        one, other = (
            run(each, y, kernel=kernel, C=3.0, engine=engine)
            for each, kernel in ((X, KERNEL), (KERNEL.scaled(X), ONE))
        )
        np.testing.assert_array_equal(one.predictions, other.predictions)


def test_it_is_a_value():
    assert RBF(list(GAMMAS)) == RBF(tuple(GAMMAS)) == KERNEL != RBF(GAMMAS + 1.0)
    assert hash(RBF(list(GAMMAS))) == hash(KERNEL)
    assert RBF(0.5) == RBF(0.5) != RBF(0.6)
    assert repr(KERNEL) == "RBF(gamma=(0.1, 2.0, 0.0, 0.5, 0.3))"
    assert pickle.loads(pickle.dumps(KERNEL)) == KERNEL
    assert replace(KERNEL, gamma=2) == RBF(2)
    assert described("kernel", RBF(np.array([1, 2]))) == "refsvm: RBF(gamma=(1.0, 2.0))"
    given = GAMMAS.copy()
    kernel = RBF(given)
    given[:] = 7.0
    assert kernel == KERNEL


def test_the_number_of_features_is_looked_at():
    for ask in (lambda: Gram(RBF([1.0, 2.0]), X), lambda: RBF([1.0, 2.0])(X, X)):
        with pytest.raises(ValueError, match="gamma has 2 entries, but X has 5 features; give one number"):
            ask()


# -- estimators ----------------------------------------------------------------------------------------------


def test_estimators():
    sklearn = pytest.importorskip("sklearn")
    from sklearn.model_selection import GridSearchCV

    from refsvm import SVC, SVCCV, SVR, OneClassSVM

    for make, target in ((SVC, y), (SVR, score), (OneClassSVM, None)):
        for data, new in ((X, T), (stored(SPARSE), stored(T)), (stored(SPARSE), T)):
            one = make(kernel=KERNEL).fit(data, target)
            other = make(kernel=ONE).fit(KERNEL.scaled(data), target)
            values = other.decision_function if target is not score else other.predict
            ours = one.decision_function if target is not score else one.predict
            np.testing.assert_array_equal(ours(new), values(KERNEL.scaled(new)))
            again = pickle.loads(pickle.dumps(one))
            np.testing.assert_array_equal(again.predict(new), one.predict(new))
            np.testing.assert_allclose(one.to_sklearn().predict(X), one.predict(X), atol=1e-9)
    model = SVC(kernel=KERNEL)
    assert model.get_params()["kernel__gamma"] == tuple(GAMMAS)
    assert sklearn.base.clone(model).kernel == KERNEL
    assert "gamma=(0.1, 2.0," in repr(model)
    assert model.set_params(kernel__gamma=[1.0] * 5).kernel == RBF([1.0] * 5)
    with pytest.raises(ValueError, match="gamma has 2 entries, but X has 5 features"):
        SVC(kernel=RBF([1.0, 2.0])).fit(X, y)
    grid = GridSearchCV(SVC(kernel=ONE), {"kernel__gamma": [GAMMAS, [0.1] * 5, 0.3]}, cv=3).fit(X, y)
    assert np.isfinite(grid.best_score_)
    search, theirs = (
        SVCCV(kernel=kernel, Cs=[0.5, 5.0], cv=3).fit(data, y)
        for kernel, data in ((KERNEL, X), (ONE, KERNEL.scaled(X)))
    )
    np.testing.assert_array_equal(*(each.cv_results_["mean_test_score"] for each in (search, theirs)))
    np.testing.assert_array_equal(search.decision_function(T), theirs.decision_function(KERNEL.scaled(T)))


@pytest.mark.parametrize("form", ["dense", "sparse", "scaled before"])
def test_a_model_file_holds_scaled_support_vectors(tmp_path, form):
    pytest.importorskip("sklearn")
    from refsvm import SVC
    from refsvm.analysis.multiclass.model import Scaling
    from refsvm.analysis.multiclass.model_file import read_model, write_model

    path = tmp_path / "some.model"
    data, before = (stored(SPARSE), None) if form == "sparse" else (X, None)
    if form == "scaled before":
        before = Scaling.of(X)
        data = before(X)
    model = SVC(kernel=KERNEL, C=3.0).fit(data, y)
    write_model(model, path, scaling=before)
    lines = path.read_text().splitlines()
    assert "gamma 1" in lines
    begin = next(number for number, line in enumerate(lines) if line.startswith("SV ")) + 1
    first = dict(entry.split(":") for entry in lines[begin].split()[1:])
    vector = KERNEL.scaled(model.support_vectors_)
    vector = vector.toarray()[0] if form == "sparse" else vector[0]
    for place, value in first.items():
        assert float(value) == vector[int(place) - 1]
    read = read_model(path)
    assert read.kernel == ONE
    new = stored(T) if form == "sparse" else T
    expected = model.decision_function(before(T) if before else new)
    np.testing.assert_allclose(read.decision_function(new), expected, rtol=1e-10, atol=1e-12)


# -- derivatives ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Along:
    """The kernel in a direction, for differences of its values."""

    gamma: float
    way: tuple[float, ...]

    def __call__(self, X, Z):
        return RBF(GAMMAS + 1.0 + self.gamma * np.array(self.way))(X, Z)


@pytest.mark.parametrize("shift", [0.0, 1e4])
def test_the_derivative_in_a_direction_and_all_at_once(shift):
    kernel, way = RBF(GAMMAS + 1.0), rng.normal(size=5)
    left, right = rng.normal(size=80), rng.normal(size=7)
    A, B = 0.3 * X + shift, 0.3 * T + shift
    found = kernel.derivative("gamma", A, B, way)
    np.testing.assert_allclose(found, by_differences(Along(0.0, tuple(way)), "gamma", A, B), atol=1e-8)
    each = kernel.derivative_sum("gamma", left, A, B, right, kernel(A, B))
    assert each.shape == (5,)
    np.testing.assert_allclose(way @ each, left @ found @ right, rtol=1e-9)
    for unit, value in zip(np.eye(5), each, strict=True):
        np.testing.assert_allclose(left @ kernel.derivative("gamma", A, B, unit) @ right, value, rtol=1e-9)
    with pytest.raises(ValueError, match="along="):
        kernel.derivative("gamma", A, B)


def test_the_derivative_of_sparse_examples():
    way, left, right = rng.normal(size=5), rng.normal(size=80), rng.normal(size=7)
    A, B = stored(SPARSE), stored(np.where(np.abs(T) > 0.5, T, 0.0))
    pairs = (A, B), (A.toarray(), B.toarray())
    np.testing.assert_allclose(*(KERNEL.derivative("gamma", *data, way) for data in pairs), atol=1e-12)
    sums = (KERNEL.derivative_sum("gamma", left, *data, right, KERNEL(*data)) for data in pairs)
    np.testing.assert_allclose(*sums, rtol=1e-10)


def test_one_number_for_all_features_is_their_sum():
    left, right = rng.normal(size=80), rng.normal(size=7)
    one, each = RBF(0.3), RBF([0.3] * 5)
    found, expected = each.derivative("gamma", X, T, np.ones(5)), one.derivative("gamma", X, T)
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    sums = [kernel.derivative_sum("gamma", left, X, T, right, one(X, T)) for kernel in (each, one)]
    np.testing.assert_allclose(sums[0].sum(), sums[1], rtol=1e-9)


@dataclass(frozen=True)
class Cauchy(RBF):
    """A subclass with other values."""

    def from_inner(self, inner, x_norms, z_norms):
        return 1.0 / (1.0 + self.gamma * np.maximum(x_norms[:, None] + z_norms - 2.0 * inner, 0.0))


@dataclass(frozen=True)
class Halved(Polynomial):
    """Another one, of another kernel."""

    def from_inner(self, inner, x_norms, z_norms):
        return 0.5 * super().from_inner(inner, x_norms, z_norms)


@pytest.mark.parametrize("kernel", [Cauchy(0.4), Halved(2, 0.5, 1.0)], ids=str)
def test_a_subclass_with_values_of_its_own_has_no_formula_of_its_parent(kernel):
    for name in kernel.smooth_parameters:
        found, expected = kernel.derivative(name, X, T), by_differences(kernel, name, X, T)
        np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-10)
