"""TrackPath: a strategy that is one call of `refsvm.regularization_path`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from refsvm._checks import positive
from refsvm.experiment.problem import Instance
from refsvm.experiment.strategy import Call, Record
from refsvm.paths.path import RegularizationPath
from refsvm.paths.regularization_path import regularization_path
from refsvm.trackers.base import PathTracker
from refsvm.trackers.svmp import SVMP

__all__ = ["TrackPath"]


@dataclass(frozen=True)
class TrackPath(Call):
    """The whole path of C, the instance's own C aside; arguments as in `refsvm.regularization_path`.

    Parameters
    ----------
    name : str
        Name in the tables.
    tracker : PathTracker
        With its linear algebra: ``SVMP(algebra=SVD())`` and ``SVMP(algebra=PivotedQR())`` are two strategies.
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
        super().__post_init__()

    def call(self, instance: Instance, **arguments: Any) -> RegularizationPath:
        """Track the path."""
        given = instance.labelled(per_example=False)
        del given["C"]
        return regularization_path(**given, **arguments)

    def measured(self, result: RegularizationPath) -> Record:
        """Take the numbers of events and calls, the accuracy, and the seconds."""
        counts = {name: result.counts.get(name, 0) for name in ("special", "derivative", "backup", "repair")}
        own = ("nullity", "drift", "seconds", "start_seconds")
        return {name: getattr(result, name) for name in own} | {
            "breakpoints": len(result.C),
            "events": len(result.events),
            "largest_elbow": int(result.record.elbow.max()),
            **counts,
            "kkt_violation": result.kkt_audit().worst,
            "tracking_seconds": result.seconds - result.start_seconds,
            "status": result.status.name,
        }
