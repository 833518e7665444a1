"""Clarabel, an interior-point solver."""

import clarabel
import numpy as np
from benchopt import BaseSolver
from scipy import sparse

from refsvm import RBF


class Solver(BaseSolver):
    """The quadratic program as it stands, with the whole kernel matrix, to one tolerance after another."""

    name = "Clarabel"
    sampling_strategy = "tolerance"
    requirements = ["clarabel", "scipy"]

    def set_objective(self, X, y, gamma, C):
        """Write the problem as min ½αᵀKα − yᵀα with a cone for each constraint: 1ᵀα = 0, and the box."""
        n = len(y)
        self.P, self.q = sparse.csc_matrix(np.triu(RBF(gamma)(X, X))), -np.asarray(y, dtype=float)
        identity = sparse.identity(n, format="csc")
        self.A = sparse.vstack([np.ones((1, n)), identity, -identity], format="csc")
        lower, upper = np.minimum(0.0, C * self.q * -1.0), np.maximum(0.0, C * self.q * -1.0)
        self.b = np.concatenate([[0.0], upper, -lower])
        self.cones = [clarabel.ZeroConeT(1), clarabel.NonnegativeConeT(2 * n)]

    def get_next(self, previous):
        """Begin at a tolerance that means something, and go on by factors of 3."""
        return min(0.1, previous / 3.0)

    def run(self, tolerance):
        """Solve to this duality gap."""
        settings = clarabel.DefaultSettings()
        settings.verbose, tolerance = False, min(1e-1, max(tolerance, 1e-12))
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tolerance
        solver = clarabel.DefaultSolver(self.P, self.q, self.A, self.b, self.cones, settings)
        self.alpha = np.array(solver.solve().x)

    def get_result(self):
        """Signed α."""
        return {"alpha": self.alpha}
