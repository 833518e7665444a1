"""The selector that goes by the cache: an example of the documentation, and for one version a name of the package."""

from __future__ import annotations

import numpy as np
import pytest

import refsvm
from refsvm import RBF, DualProblem, Linear, solve
from refsvm.core.kernels import Gram
from refsvm.core.kernels.cached_rows import CachedRows
from refsvm.core.kernels.rows import megabytes
from refsvm.services.cache_aware import CacheAware
from refsvm.testing.engines import first_difference

from ..decisions import pair
from ..programs import module
from ..settings import NUMBA

SETS = {"working_sets": [[0, 1], [2, 3]], "curvatures": [2.0, 2.0]}
# ℓ²/q = 16/2 of {3, 4}, which has no variable of the last set {0, 1}; the best pair that has one is {1, 4}
BY_SECOND_ORDER, BY_MAXIMUM_GAIN = (3, 4), (1, 4)
G = [1.0, 1.2, 0.5, 2.0, -2.0]


def stored(capacity, *filled):
    """A cache of so many rows of the unit matrix, with these in memory."""
    rows = CachedRows(Gram(Linear(), np.eye(5)), 1.01 * megabytes(capacity, 5))
    for k in filled:
        rows.ensure(k)
    return rows


@pytest.mark.parametrize(
    ("expected", "capacity", "filled", "latest"),
    [
        (BY_SECOND_ORDER, 3, [], -1.0),
        (BY_SECOND_ORDER, 3, [0, 1], -1.0),  # its row takes the last slot
        (BY_MAXIMUM_GAIN, 3, [0, 1, 3], -1.0),  # a row of second order that is there changes nothing
        (BY_MAXIMUM_GAIN, 3, [0, 1, 3], 6.0),  # second order chose last in step 6, and this is step 7
        (BY_SECOND_ORDER, 3, [0, 1, 3], 7.0),  # it is asked again in the same step
        (BY_SECOND_ORDER, 5, [0, 1, 2, 3, 4], -1.0),  # no row ever gives way
    ],
)
def test_the_cache_decides_which_rule_chooses(expected, capacity, filled, latest, engine):
    known = {"rows": stored(capacity, *filled), "iteration": 7, "selector_memory": [latest], **SETS}
    assert pair(engine, CacheAware(), [1.0] * 5, G, **known) == expected


def test_both_take_the_same_steps(engine):
    """The example and the name of the package; before the first step no number of a step stands in the memory."""
    if NUMBA:
        module("cache_aware_twin", "docs/examples")  # which is on the path when the example is run
    example = module("cache_aware", "docs/examples").CacheAware()
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    problem = DualProblem.classification(X, np.where(X[:, 0] * X[:, 1] > 0.0, 1, -1), kernel=RBF(0.5), C=10.0)
    how = {"shrinking": False, "cache_mb": 0.01, "engine": engine, "trace": True}
    one, other = (solve(problem, selector=each, **how) for each in (example, CacheAware()))
    assert first_difference(one, other) is None
    assert example.memory(problem) == CacheAware().memory(problem) == [-1.0]


def test_the_public_name_warns():
    with pytest.warns(DeprecationWarning, match=r"version 0\.6\.0 removes it\. To keep using it, copy"):
        assert refsvm.CacheAware is CacheAware
