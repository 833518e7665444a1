"""Problems and their permutations."""

from dataclasses import replace

import numpy as np
import pytest

from refsvm import RBF, KKTGap, Precomputed
from refsvm.datasets import make_banana
from refsvm.experiment import Experiment, Instance, Problem, Solve
from refsvm.experiment.identity import described

from .echoes import numbered, refused, rows_of


@pytest.mark.parametrize("kernel", [RBF(0.5), Precomputed()])
def test_a_permutation_moves_labels_with_examples(kernel):
    data = make_banana(12, rng=0)
    X = RBF(0.5)(data.X, data.X) if isinstance(kernel, Precomputed) else data.X
    instance = Instance(X, data.y, kernel, 1.0)
    moved = instance.permuted(seed=4, k=2)
    order = np.random.default_rng((4, 2)).permutation(12)
    assert np.array_equal(moved.y, data.y[order])
    everything = np.arange(12)
    assert np.array_equal(
        moved.dual().gram.block(everything),
        instance.dual().gram.block(everything)[np.ix_(order, order)],
    )


def test_sparse_examples_are_permuted_too(store):
    sparse = pytest.importorskip("scipy.sparse")
    dense = make_banana(15, rng=0)
    compressed = replace(dense, X=sparse.csr_matrix(dense.X))
    exact = Solve("SMO", stop=KKTGap(1e-10), engine="numpy")
    results = []
    for name, data in (("dense", dense), ("sparse", compressed)):
        one = Experiment([exact], [Problem(name, lambda data=data: data, RBF(0.5))], store)
        assert one.run() == 1
        results.append(one.records()[0]["objective"])
    assert results[0] == pytest.approx(results[1], rel=1e-9)
    assert len(rows_of(store)) == 2


def test_a_bad_problem_is_refused():
    refused(lambda: Problem("x", numbered, C=0), "C=0", "positive")
    refused(lambda: Problem("x", 3), "load=3", "cannot be called")
    refused(
        lambda: Problem("x", numbered, kernel=lambda X, Z: X @ Z.T), "kernel=<function", "frozen dataclass"
    )
    refused(lambda: described("step", object()), "step=<object object at")
