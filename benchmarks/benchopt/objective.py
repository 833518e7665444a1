"""The dual of the C-SVM: the duality gap of α, at the best intercept."""

import numpy as np
from benchopt import BaseObjective

from refsvm import RBF, DualProblem


class Objective(BaseObjective):
    """max vᵀα − ½ αᵀKα, 1ᵀα = 0, α between 0 and yC; what is measured is F(α, b) − f(α) ≥ f* − f(α) at the best b."""

    name = "C-SVM, RBF kernel"
    requirements = ["numpy"]
    min_benchopt_version = "1.7"
    parameters = {"C": [1.0, 100.0]}

    def set_data(self, X, y, gamma):
        """Keep the problem."""
        self.X, self.y, self.gamma = X, y, gamma
        self.problem = DualProblem.classification(X, y, kernel=RBF(gamma), C=self.C)

    def get_objective(self):
        """What a solver gets."""
        return {"X": self.X, "y": self.y, "gamma": self.gamma, "C": self.C}

    def evaluate_result(self, alpha):
        """Measure α, made feasible where it is not quite so."""
        point = self.problem.feasible(alpha)
        gap = self.problem.duality_gap(point)
        return {
            "value": gap,
            "objective": self.problem.objective(point),
            "kkt_gap": self.problem.kkt_gap(point),
            "support_vectors": int((np.abs(point) > 1e-8 * self.C).sum()),
        }

    def get_one_result(self):
        """A feasible α."""
        return {"alpha": np.zeros(len(self.y))}
