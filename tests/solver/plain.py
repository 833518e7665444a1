"""Problems with nothing special about them."""

from __future__ import annotations

import numpy as np

from refsvm import RBF, DualProblem

X = np.random.default_rng(5).normal(size=(30, 3))
LABELS = np.where(X[:, 0] + X[:, 1] ** 2 > 0.5, 1, -1)
PLAIN = DualProblem.classification(X, LABELS, kernel=RBF(0.5), C=10.0)

_rng = np.random.default_rng(4)
SIXTY = _rng.normal(size=(60, 3))
SIGNS = np.where(SIXTY[:, 0] + SIXTY[:, 1] ** 2 + 0.3 * _rng.normal(size=60) > 0.7, 1, -1)
OVERLAPPING = DualProblem.classification(SIXTY, SIGNS, kernel=RBF(0.5), C=5.0)
