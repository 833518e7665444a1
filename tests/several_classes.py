"""Overlapping classes for the tests of SVC."""

import numpy as np
import pytest

datasets = pytest.importorskip("sklearn.datasets")


def examples(k, n=75, seed=0, zeros=False):
    """k overlapping classes labelled -2, 1, 4, …, and 6 features; with many zeros among them if asked for."""
    X, y = datasets.make_classification(
        n, 6, n_informative=5, n_redundant=0, n_classes=k, n_clusters_per_class=1, flip_y=0.15, random_state=seed + k
    )  # fmt: skip
    if zeros:
        X[np.abs(X) < 0.5] = 0.0
    return X, 3 * y - 2
