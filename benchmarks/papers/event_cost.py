"""EventCost: a strategy that measures what one event costs, against the size of the elbow and n."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace

import numpy as np

from refsvm import SVMP, regularization_path
from refsvm.experiment import Instance, Strategy
from refsvm.experiment.strategy import Record
from refsvm.paths import PathTracker

__all__ = ["EventCost", "noisy"]


def noisy(n: int) -> SimpleNamespace:
    """n normal points in ten dimensions; the label is the sign of x₁x₂ + ½x₃ + noise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 10))
    return SimpleNamespace(
        X=X, y=np.where(X[:, 0] * X[:, 1] + 0.5 * X[:, 2] + 0.5 * rng.normal(size=n) > 0, 1, -1)
    )


@dataclass(frozen=True)
class EventCost(Strategy):
    """Track `repeats` times; the fastest counts, without the kernel matrix and the start."""

    tracker: PathTracker = field(default_factory=SVMP)
    C_min: float = 1e-3
    C_max: float = 1e2
    repeats: int = 3

    def run(self, instance: Instance) -> Record:
        """Measure."""
        seconds = []
        for _ in range(self.repeats):
            path = regularization_path(
                instance.X, instance.y, kernel=instance.kernel, C_min=self.C_min, C_max=self.C_max,
                tracker=self.tracker,
            )  # fmt: skip
            seconds.append(path.seconds - path.start_seconds)
        return {
            "breakpoints": len(path.C),
            "mean_elbow": float(path.record.elbow.mean()),
            "largest_elbow": int(path.record.elbow.max()),
            "microseconds": 1e6 * min(seconds) / len(path.C),
        }
