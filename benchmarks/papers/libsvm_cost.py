"""AgainstLIBSVM: a strategy that compares the cost along a path with LIBSVM's at random λ."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from refsvm import regularization_path
from refsvm.experiment import Instance, Strategy
from refsvm.experiment.strategy import Record

__all__ = ["AgainstLIBSVM"]


@dataclass(frozen=True)
class AgainstLIBSVM(Strategy):
    """The largest relative difference of the primal cost, as c_max of the paper, and of the dual objective.

    ``lambdas`` values of λ are drawn log-uniformly between 1/C_max and 1/C_min. LIBSVM stops at `tol`, or after
    `max_iter` steps; then the value is left out and counted as ``unfinished``.
    """

    C_min: float = 1e-4
    C_max: float = 1e3
    lambdas: int = 100
    tol: float = 1e-8
    max_iter: int = 100_000

    def run(self, instance: Instance) -> Record:
        """Track once, and train with LIBSVM at every λ."""
        X, y, kernel = instance.X, instance.y, instance.kernel
        path = regularization_path(X, y, kernel=kernel, C_min=self.C_min, C_max=self.C_max)
        K = np.ascontiguousarray(kernel(X, X))
        Cs = np.exp(
            np.random.default_rng(0).uniform(np.log(self.C_min), np.log(self.C_max), size=self.lambdas)
        )
        found = [values for C in Cs.tolist() if (values := self._compared(path, K, y, C)) is not None]
        primal, dual = np.array(found).T if found else (np.array([np.nan]),) * 2
        return {
            "cost_percent": 100.0 * float(np.abs(primal).max()),
            "objective_difference": float(np.abs(dual).max()),
            "unfinished": self.lambdas - len(found),
            "kkt_violation": path.kkt_audit().worst,
        }

    def _compared(self, path, K, y, C):
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.svm import SVC

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            peer = SVC(kernel="precomputed", C=C, tol=self.tol, max_iter=self.max_iter, cache_size=500).fit(
                K, y
            )
        if int(peer.n_iter_[0]) >= self.max_iter:
            return None
        theirs, ours = np.zeros(len(y)), path.alpha(C)
        theirs[peer.support_] = peer.dual_coef_[0]
        # ½αᵀKα + C Σ max(0, 1 − yh)
        costs = [
            0.5 * a @ K @ a + C * np.maximum(0.0, 1.0 - y * (K @ a + b)).sum()
            for a, b in ((ours, path.intercept(C)), (theirs, peer.intercept_[0]))
        ]
        duals = [y @ a - 0.5 * a @ K @ a for a in (ours, theirs)]
        return costs[0] / costs[1] - 1.0, duals[0] / duals[1] - 1.0
