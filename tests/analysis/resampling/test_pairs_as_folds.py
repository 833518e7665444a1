"""Pairs (train, test), as scikit-learn's cv takes them, for folds."""

import numpy as np
import pytest

from refsvm import RBF, cross_validate

model_selection = pytest.importorskip("sklearn.model_selection")
KFold = model_selection.KFold
RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 2))
Y = np.where(X[:, 0] + 0.5 * X[:, 1] ** 2 > 0.3, 1, -1)


def folds_of(folds):
    return cross_validate(X, Y, kernel=RBF(0.5), folds=folds, engine="numpy").fold.tolist()


@pytest.mark.parametrize(
    "as_pairs",
    [
        lambda splitter: list(splitter.split(X)),
        lambda splitter: tuple(splitter.split(X)),
        lambda splitter: splitter.split(X),
        lambda splitter: [list(map(list, pair)) for pair in splitter.split(X)],
        lambda splitter: [tuple(np.isin(np.arange(30), part) for part in pair) for pair in splitter.split(X)],
    ],
    ids=["list", "tuple", "generator", "lists", "masks"],
)
def test_pairs_are_the_folds_of_their_splitter(as_pairs):
    splitter = KFold(4, shuffle=True, random_state=1)
    assert folds_of(as_pairs(splitter)) == folds_of(splitter)


@pytest.mark.parametrize(
    ("folds", "says"),
    [
        (list(KFold(4).split(X))[:3], "list of 3> does not hold out every example exactly once"),
        ([(np.arange(10), np.arange(10, 30)), (np.arange(15, 30), np.arange(10))],
         "round 1 neither trains on some examples nor holds them out"),
        ([(np.arange(15), np.arange(15, 40)), (np.arange(15, 30), np.arange(15))],
         "which is not a pair .* of positions from 0 to 29"),
        ([(np.arange(15),)], "which is not a pair"),
        (["a", "b"], "which is not a pair"),
    ],
)  # fmt: skip
def test_other_lists_are_refused(folds, says):
    with pytest.raises(ValueError, match=f"^folds=.*{says}"):
        folds_of(folds)


def test_a_splitter_that_trains_on_fewer_is_refused():
    class Purged:
        def split(self, X, y=None):
            for train, test in KFold(5).split(X):
                yield train[2:], test

    with pytest.raises(ValueError, match="round 4 neither trains on some examples nor holds them out"):
        folds_of(Purged())
