"""Problems with nothing special about them, and problems that take long."""

from __future__ import annotations

import numpy as np

from refsvm import RBF, DualProblem, Linear

from ...catalogue import PROBLEMS

X = np.random.default_rng(5).normal(size=(30, 3))
LABELS = np.where(X[:, 0] + X[:, 1] ** 2 > 0.5, 1, -1)
PLAIN = DualProblem.classification(X, LABELS, kernel=RBF(0.5), C=10.0)

_rng = np.random.default_rng(4)
SIXTY = _rng.normal(size=(60, 3))
SIGNS = np.where(SIXTY[:, 0] + SIXTY[:, 1] ** 2 + 0.3 * _rng.normal(size=60) > 0.7, 1, -1)
OVERLAPPING = DualProblem.classification(SIXTY, SIGNS, kernel=RBF(0.5), C=5.0)

ENDLESS = PROBLEMS["huge features"].problem
BOARD = PROBLEMS["chessboard"].problem
_MANY = np.random.default_rng(0).normal(size=(600, 2))
LONG = DualProblem.classification(
    _MANY, np.where(_MANY[:, 0] * _MANY[:, 1] > 0, 1, -1), kernel=Linear(), C=1e6
)
"""Needs millions of steps, and restricted problems do too."""
