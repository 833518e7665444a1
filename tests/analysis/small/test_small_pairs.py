"""The pairs of small classes: which there are, of what examples, in which boxes, on which matrix."""

from __future__ import annotations

from itertools import combinations, combinations_with_replacement

import numpy as np
import pytest

from refsvm import RBF, Precomputed
from refsvm.analysis.small import small_pairs
from refsvm.analysis.small.small_pairs import CHUNK_ENTRIES, FEWEST_EXAMPLES, groups, members_of, stacks
from refsvm.core.kernels import Gram

SIZES = [3, 1, 4, 70, 2, 3, 63, 5]
"""Of the fourth no pair is small, and of the seventh only that with the second."""


def classes(sizes=SIZES, seed=0):
    rng = np.random.default_rng(seed)
    codes = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    return rng.normal(size=(len(codes), 2)), codes, rng.uniform(0.5, 3.0, len(codes))


@pytest.mark.parametrize("held", [False, True])
@pytest.mark.parametrize("cache_mb", [200.0, 0.001])
@pytest.mark.parametrize("together", [None, 1, 2])
def test_every_pair_of_at_most_64_examples_is_in_one_stack(cache_mb, together, held, monkeypatch):
    """In its place among all pairs, in any groups; the first class is positive, and each example keeps its penalty."""
    if together is not None:  # so many classes in a group
        few = np.flatnonzero(np.array(SIZES) < 64)
        some = [few[at : at + together] for at in range(0, len(few), together)]
        monkeypatch.setattr(small_pairs, "groups", lambda *_: some)
    X, codes, C = classes()
    gram = Gram(Precomputed(), RBF(0.5)(X, X)) if held else Gram(RBF(0.5), X)
    places = {pair: at for at, pair in enumerate(combinations(range(len(SIZES)), 2))}
    wanted = {pair for pair in places if SIZES[pair[0]] + SIZES[pair[1]] <= 64}
    found = set()
    for stack in stacks(gram, codes, C, cache_mb):
        for p, (number, one, other, rows) in enumerate(
            zip(stack.numbers, stack.first, stack.second, stack.rows, strict=True)
        ):
            assert (one, other) not in found
            found.add((int(one), int(other)))
            assert number == places[one, other]
            np.testing.assert_array_equal(rows, np.flatnonzero(np.isin(codes, (one, other))))
            signs, problems = np.where(codes[rows] == one, 1.0, -1.0), stack.problems
            np.testing.assert_array_equal(problems.v[p], signs)
            np.testing.assert_array_equal(problems.upper[p], np.where(signs > 0, C[rows], 0.0))
            np.testing.assert_array_equal(problems.lower[p], np.where(signs < 0, -C[rows], 0.0))
            np.testing.assert_allclose(problems.kernels[p], RBF(0.5)(X[rows], X[rows]), rtol=0, atol=1e-12)
            assert not problems.alpha[p].any()
        assert stack.noise == 0.0
        assert stack.is_psd == gram.facts.is_psd
    assert found == wanted


def test_a_stack_holds_no_more_values_than_that():
    sizes = [8] * 70  # 2415 pairs of 16 examples
    X, codes, C = classes(sizes)
    shapes = [stack.problems.kernels.shape for stack in stacks(Gram(RBF(0.5), X), codes, C, 200.0)]
    assert sum(shape[0] for shape in shapes) == 70 * 69 // 2
    assert len(shapes) > 1
    assert max(map(np.prod, shapes)) <= CHUNK_ENTRIES + 16 * 16


def test_members_of_small_classes_in_their_order():
    codes = np.array([2, 0, 2, 1, 0, 2])
    assert members_of(codes).tolist() == [[1, 4, 6], [3, 6, 6], [0, 2, 5]]
    large = np.concatenate([np.zeros(64, dtype=int), [1, 2, 1]])
    assert members_of(large).tolist() == [[67, 67], [64, 66], [65, 67]]


@pytest.mark.parametrize("cache_mb", [0.2, 0.5, 2.0, 1e3])
def test_two_groups_have_a_matrix_within_the_budget(cache_mb, monkeypatch):
    """Groups of whole classes, ascending; as few as a budget for all allows: one."""
    monkeypatch.setattr(small_pairs, "FEW", 10)
    rng = np.random.default_rng(1)
    sizes = rng.integers(1, 14, 200)
    found = groups(sizes, cache_mb)
    assert np.concatenate(found).tolist() == np.flatnonzero(sizes < 10).tolist()
    most = max((cache_mb * 2**20 / 8) ** 0.5, FEWEST_EXAMPLES)
    for one, other in combinations_with_replacement(found, 2):
        both = one if one is other else np.concatenate([one, other])
        assert sizes[both].sum() <= most
    assert (len(found) == 1) == (sizes[sizes < 10].sum() <= most)
    # no more of them than of half of that each
    assert len(found) <= 1 + sizes[sizes < 10].sum() / (most / 2 - 2 * 10)


def test_a_group_may_have_just_half_of_the_budget():
    """A matrix of 148 examples: 74 in two groups each, but for the 64 of a class that the last of a group may have."""
    cache_mb = 8.0 * 148.5**2 / 2**20
    found = [group.tolist() for group in groups(np.full(40, 5), cache_mb)]
    assert found == np.arange(40).reshape(20, 2).tolist()


def test_there_is_no_pair_of_fewer_than_two_small_classes():
    assert groups(np.array([64, 65]), 1.0) == groups(np.array([64, 3]), 1.0) == []
    assert [group.tolist() for group in groups(np.array([64, 3, 63]), 1.0)] == [[1, 2]]
