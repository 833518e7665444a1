"""LIBSVM, by scikit-learn."""

import numpy as np
from benchopt import BaseSolver
from sklearn.svm import SVC


class Solver(BaseSolver):
    """SMO with second-order selection and shrinking, to one tolerance after another."""

    name = "scikit-learn"
    sampling_strategy = "tolerance"
    requirements = ["scikit-learn"]
    parameters = {"shrinking": [True]}

    def set_objective(self, X, y, gamma, C):
        """Make the estimator."""
        self.X, self.y = X, y
        self.model = SVC(C=C, gamma=gamma, shrinking=self.shrinking, cache_size=500)

    def get_next(self, previous):
        """Begin at a tolerance that means something, and go on by factors of 3."""
        return min(1.0, previous / 3.0)

    def run(self, tolerance):
        """Train to this KKT gap."""
        self.model.set_params(tol=min(1.0, max(tolerance, 1e-10))).fit(self.X, self.y)

    def get_result(self):
        """Signed α of all examples."""
        alpha = np.zeros(len(self.y))
        alpha[self.model.support_] = self.model.dual_coef_[0]
        return {"alpha": alpha}
