"""CostPath and RocCurve: shares of false and true positives for all divisions of a total cost between two classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from refsvm.analysis.paths.parametric import ParametricPath
from refsvm.analysis.resampling.weights import given_weights, refuse_absent_class, steps_of
from refsvm.core.kernels.checked import examples_like
from refsvm.core.result import Status
from refsvm.services.labels import known_codes
from refsvm.services.summary import Card, Shown


@dataclass(frozen=True, eq=False, repr=False)
class RocCurve(Shown):
    """The ROC curve of a classifier as a step function of C₊ (C of class +1); its jumps are as exact as breakpoints.

    Parameters
    ----------
    t : ndarray of shape (k + 1,)
        The values of C₊ at the ends of the steps, ascending.
    fpr, tpr : ndarrays of shape (k,)
        Shares of class −1 and of class +1 that are predicted as +1, for C₊ between two ends.
    status : Status
        CONVERGED if the path reached its end, otherwise the reason why it ended early.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm.analysis.paths import RocCurve
    >>> curve = RocCurve(np.array([0.0, 0.4, 1.0]), np.array([0.0, 1.0]), np.array([0.0, 1.0]))
    >>> curve.at(0.3)
    (0.0, 0.0)
    """

    t: np.ndarray
    fpr: np.ndarray
    tpr: np.ndarray
    status: Status = Status.CONVERGED

    def _card(self) -> Card:
        line = f"{len(self.fpr)} operating points, C₊ from {self.t[0]:.6g} to {self.t[-1]:.6g}, {self.status.name}"
        return Card(line, is_partial=self.status is not Status.CONVERGED)

    def at(self, t: float) -> tuple[float, float]:
        """Return the shares of false and of true positives at C₊ = t.

        Raises
        ------
        ValueError
            If t lies outside the path.
        """
        if not self.t[0] <= t <= self.t[-1]:
            raise ValueError(
                f"C₊={t!r} is outside of the path; give C₊ from {self.t[0]:.6g} to {self.t[-1]:.6g}."
            )
        k = min(int(self.t.searchsorted(t, side="right")) - 1, len(self.fpr) - 1)
        return float(self.fpr[k]), float(self.tpr[k])


class CostPath(ParametricPath):
    """The result of `refsvm.cost_path`: a `ParametricPath` in C₊ that also computes ROC curves."""

    def roc(self, X: Any, y: Any, sample_weight: Any = None) -> RocCurve:
        """Return the shares of false and of true positives on some examples as a function of C₊.

        Between breakpoints h is affine in C₊, so each C₊ at which a prediction changes is as exact as the breakpoints.
        An example with h = 0 is predicted as +1.

        Parameters
        ----------
        X : array-like or CSR of shape (m, d)
        y : array-like of shape (m,)
            Labels, which must occur in `classes`; both classes must be present.
        sample_weight : array-like of shape (m,), optional
            Weight of each example.

        Raises
        ------
        ValueError
            If shapes differ, or a class is missing or has weight 0.

        Warns
        -----
        ConvergenceWarning
            If the path ended early, so that the curve lacks the remaining operating points.
        """
        self.check_not_empty()
        X = examples_like(self.start.gram, X)
        codes = known_codes(y, self.classes, X.shape[0])
        if len(codes) == 0 or np.ptp(codes) == 0:
            raise ValueError(
                "y contains a single class; give examples of both classes, because the curve shows a share of each."
            )
        weights = given_weights(sample_weight, len(codes))
        refuse_absent_class(self.classes, codes, weights)
        counts = steps_of(weights, len(codes))
        self.warn_if_unfinished("The curve of operating points")
        is_positive, at, i, up = self.crossings(X)
        at, where = np.unique(at, return_inverse=True)
        shares = []
        for code in (0, 1):
            change = np.where(codes[i] == code, np.where(up, counts[i], -counts[i]), 0.0)
            steps = np.append(0.0, np.bincount(where, weights=change, minlength=len(at)).cumsum())
            of_class = codes == code
            shares.append((counts[of_class & is_positive].sum() + steps) / counts[of_class].sum())
        false, true = shares
        return RocCurve(np.concatenate([self.t[:1], at, self.t[-1:]]), false, true, self.status)
