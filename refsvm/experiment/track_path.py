"""TrackPath: a strategy that is one call of `refsvm.regularization_path`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from refsvm._checks import positive
from refsvm.experiment.problem import Instance
from refsvm.experiment.strategy import Record, Strategy
from refsvm.kernels import RBF
from refsvm.paths.base import PathTracker
from refsvm.paths.regularization_path import regularization_path
from refsvm.paths.svmp import SVMP

__all__ = ["TrackPath"]


@dataclass(frozen=True)
class TrackPath(Strategy):
    """The whole path of C, the instance's own C aside; arguments as in `refsvm.regularization_path`.

    Parameters
    ----------
    name : str
        Name in the tables.
    tracker : PathTracker
        With its linear algebra: ``SVMP(algebra=SVD())`` and ``SVMP(algebra=UpdatedQR())`` are two strategies.
    C_min, C_max : float
    merge : bool
        Whether duplicates share a variable.
    engine : {"auto", "numba", "numpy"}
    cache_mb : float
    time_limit : float, optional

    Raises
    ------
    ValueError
        If the range is empty or the tracker is none.

    Notes
    -----
    The record holds ``breakpoints``, ``events`` (moves between the sets), ``largest_elbow``,
    ``nullity`` (largest dimension of the null space), ``special``,
    ``derivative``, ``backup``, ``repair`` (calls of these routines), ``kkt_violation``, ``drift``,
    ``seconds``, of which ``start_seconds`` for the kernel matrix and the start and ``tracking_seconds``; ``status``.

    Examples
    --------
    >>> from functools import partial
    >>> from refsvm import Hastie, RBF
    >>> from refsvm.datasets import load
    >>> from refsvm.experiment import Problem, TrackPath
    >>> heart = Problem("heart", partial(load, "heart"), kernel=RBF(0.005), C=1.0).instance()
    >>> record = TrackPath("Hastie", tracker=Hastie(), C_min=0.1, C_max=1.0).run(heart)
    >>> record["status"], record["kkt_violation"] < 1e-8
    ('CONVERGED', True)
    """

    tracker: PathTracker = field(default_factory=SVMP)
    C_min: float = 1e-4
    C_max: float = 1e3
    merge: bool = True
    engine: str = "auto"
    cache_mb: float = 1000.0
    time_limit: float | None = None

    def __post_init__(self) -> None:
        if not positive("C_min", self.C_min) < positive("C_max", self.C_max):
            raise ValueError(f"C_min={self.C_min!r} is not below C_max={self.C_max!r}; give C_min < C_max.")
        if not isinstance(self.tracker, PathTracker):
            raise ValueError(
                f"tracker={self.tracker!r} is not a PathTracker; pass an instance, such as SVMP()."
            )
        self.settings()  # refuses what has no lasting description

    def warm_up(self) -> None:
        """Track a small path, which compiles the event search."""
        X = np.arange(6.0)[:, None]
        self._path(X, np.array([-1, 1, 1, -1, 1, -1]), RBF(1.0))

    def run(self, instance: Instance) -> Record:
        """Track the path once."""
        path = self._path(instance.X, instance.y, instance.kernel)
        counts = {name: path.counts.get(name, 0) for name in ("special", "derivative", "backup", "repair")}
        return {
            "breakpoints": len(path.C),
            "events": len(path.events),
            "largest_elbow": int(path.record.elbow.max()),
            "nullity": path.nullity,
            **counts,
            "kkt_violation": path.kkt_audit().worst,
            "drift": path.drift,
            "seconds": path.seconds,
            "start_seconds": path.start_seconds,
            "tracking_seconds": path.seconds - path.start_seconds,
            "status": path.status.name,
        }

    def _path(self, X: Any, y: Any, kernel: Any) -> Any:
        return regularization_path(X, y, kernel=kernel, **self.arguments())
