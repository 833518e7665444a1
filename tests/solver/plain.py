"""A problem with nothing special about it."""

from __future__ import annotations

import numpy as np

from refsvm import RBF, DualProblem

X = np.random.default_rng(5).normal(size=(30, 3))
LABELS = np.where(X[:, 0] + X[:, 1] ** 2 > 0.5, 1, -1)
PLAIN = DualProblem.classification(X, LABELS, kernel=RBF(0.5), C=10.0)
