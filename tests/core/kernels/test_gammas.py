"""RBF with one γ for each feature: the bits of RBF(1) on features multiplied by √γⱼ, wherever kernels are used."""

from __future__ import annotations

import pickle
from dataclasses import dataclass, replace

import numpy as np
import pytest

from refsvm import RBF, Polynomial
from refsvm.analysis.derivatives.kernels import by_differences
from refsvm.core.kernels import Gram
from refsvm.services.identity import described

rng = np.random.default_rng(0)
GAMMAS = np.array([0.1, 2.0, 0.0, 0.5, 0.3])
KERNEL, ONE = RBF(GAMMAS), RBF(1.0)
X, T = rng.normal(size=(80, 5)), rng.normal(size=(7, 5))
y = np.where(X[:, 1] + X[:, 3] ** 2 > 1.0, 1, -1)
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
    """Of any block, of which `test_any_block` tells whether it is right."""
    data = DATA[name]()
    scaled = KERNEL.scaled(data)
    dense = scaled.toarray() if name == "sparse" else scaled
    np.testing.assert_array_equal(dense, (SPARSE if name == "sparse" else data) * np.sqrt(GAMMAS))
    ours, theirs, some = Gram(KERNEL, data), Gram(ONE, scaled), np.array([3, 0, 60, 3])
    for one, other in ((ours, theirs), (ours.restrict(some), theirs.restrict(some))):
        rows = np.arange(one.n)
        for asked in ((rows,), (rows[:1],), (rows[:3], rows[1:])):
            np.testing.assert_array_equal(one.block(*asked), other.block(*asked))
        single = [each.block(rows, out=np.empty((each.n, each.n), np.float32)) for each in (one, other)]
        np.testing.assert_array_equal(*single)
    np.testing.assert_array_equal(ours.diagonal(), np.ones(ours.n))
    new = T + 1e6 if name == "far" else T
    np.testing.assert_array_equal(KERNEL(new, data), ONE(KERNEL.scaled(new), scaled))
    assert ours.facts.data_error == theirs.facts.data_error


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


@dataclass(frozen=True)
class Along:
    """The kernel in a direction, for differences of its values."""

    gamma: float
    way: tuple[float, ...]

    def __call__(self, X, Z):
        return RBF(GAMMAS + 1.0 + self.gamma * np.array(self.way))(X, Z)


@pytest.mark.parametrize("form", ["dense", "far", "sparse"])
def test_the_derivative_in_a_direction_and_all_at_once(form):
    """By differences of values; each γ alone is a direction, and all of them together are one number for all."""
    kernel, way = RBF(GAMMAS + 1.0), rng.normal(size=5)
    left, right = rng.normal(size=80), rng.normal(size=7)
    A, B = 0.3 * X, np.where(np.abs(T) > 0.5, 0.3 * T, 0.0)
    A, B = (A + 1e4, B + 1e4) if form == "far" else (A, B)
    given = (stored(A), stored(B)) if form == "sparse" else (A, B)
    found = kernel.derivative("gamma", *given, way)
    np.testing.assert_allclose(found, by_differences(Along(0.0, tuple(way)), "gamma", A, B), atol=1e-8)
    each = kernel.derivative_sum("gamma", left, *given, right, kernel(*given))
    assert each.shape == (5,)
    for unit, value in zip((*np.eye(5), way), (*each, way @ each), strict=True):
        np.testing.assert_allclose(left @ kernel.derivative("gamma", *given, unit) @ right, value, rtol=1e-9)
    one, alike = RBF(0.3), RBF([0.3] * 5)
    np.testing.assert_allclose(
        alike.derivative("gamma", *given, np.ones(5)), one.derivative("gamma", *given), rtol=1e-9, atol=1e-12
    )
    sums = [one_of.derivative_sum("gamma", left, *given, right, one(*given)) for one_of in (alike, one)]
    np.testing.assert_allclose(sums[0].sum(), sums[1], rtol=1e-9)
    with pytest.raises(ValueError, match="along="):
        kernel.derivative("gamma", *given)


@dataclass(frozen=True)
class Halved(Polynomial):
    """A subclass with other values."""

    def from_inner(self, inner, x_norms, z_norms):
        return 0.5 * super().from_inner(inner, x_norms, z_norms)


@dataclass(frozen=True)
class Cauchy(RBF):
    """Another one, of another kernel."""

    def from_inner(self, inner, x_norms, z_norms):
        return 1.0 / (1.0 + self.gamma * np.maximum(x_norms[:, None] + z_norms - 2.0 * inner, 0.0))


@pytest.mark.parametrize("kernel", [Cauchy(0.4), Halved(2, 0.5, 1.0)], ids=str)
def test_a_subclass_with_values_of_its_own_has_no_formula_of_its_parent(kernel):
    for name in kernel.smooth_parameters:
        found, expected = kernel.derivative(name, X, T), by_differences(kernel, name, X, T)
        np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-10)
