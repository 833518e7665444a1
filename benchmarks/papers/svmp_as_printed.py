"""PaperSettings: a strategy that tracks with the tolerances of Ong, Shao & Yang (2010), its cost beside ours."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from refsvm import SVMP, regularization_path
from refsvm.experiment import Instance, Strategy
from refsvm.experiment.strategy import Record
from refsvm.paths import PivotedQR

__all__ = ["AS_PRINTED", "CHECK_OFF", "PaperSettings"]

NEVER = 10**9

AS_PRINTED = SVMP(
    algebra=PivotedQR(), eps_kkt=1e-3, eps_smo=1e-6, tau=1e-4, tau_2=1e-8, gamma=0.01, ell=50, refresh=NEVER,
    starts_at_bound=True,
)  # fmt: skip
"""ε_kkt, τ, τ₂, γ and ℓ of §VIII, QR with pivoting, a start by (55); ξ is updated by (39), never computed afresh."""

CHECK_OFF = replace(AS_PRINTED, eps_kkt=1e300)
"""The same without the check (56)."""


@dataclass(frozen=True)
class PaperSettings(Strategy):
    """Tracks once with `tracker`, once with ``SVMP()``, and compares their primal costs at random λ.

    ``lambdas`` values of λ are drawn log-uniformly between 1/C_max and 1/C_min.
    """

    tracker: SVMP = AS_PRINTED
    C_min: float = 1e-4
    C_max: float = 1e3
    lambdas: int = 100
    time_limit: float = 120.0

    def run(self, instance: Instance) -> Record:
        """Return what Tables II and III count."""
        X, y, kernel = instance.X, instance.y, instance.kernel
        span = {"C_min": self.C_min, "C_max": self.C_max, "kernel": kernel}
        found = regularization_path(
            X, y, tracker=self.tracker, merge=False, time_limit=self.time_limit, **span
        )
        ours = regularization_path(X, y, **span)
        K = np.ascontiguousarray(kernel(X, X))
        Cs = np.exp(
            np.random.default_rng(0).uniform(np.log(self.C_min), np.log(self.C_max), size=self.lambdas)
        )
        Cs = Cs[(found.C.min() <= Cs) & (found.C.max() >= Cs)]  # a path that loses its digits ends there
        # ½αᵀKα + C Σ max(0, 1 − yh)
        costs = [
            [0.5 * a @ K @ a + C * np.maximum(0.0, 1.0 - y * (K @ a + path.intercept(C))).sum() for path, a in
             ((found, found.alpha(C)), (ours, ours.alpha(C)))]
            for C in Cs.tolist()
        ]  # fmt: skip
        one, other = np.array(costs).T
        return {
            "largest_elbow": int(found.record.elbow.max()),
            "breakpoints": len(found.C),
            "nullity": found.nullity,
            "special": found.counts.get("special", 0),
            "repairs": found.counts.get("repair", 0) + found.counts.get("backup", 0),
            "cost_percent": 100.0 * float(np.abs(one / other - 1.0).max()),
            "kkt_violation": found.kkt_audit().worst,
            "reached": float(found.C.max()),
            "status": found.status.name,
        }
