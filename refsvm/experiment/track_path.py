"""TrackPath: a strategy that makes one call of `refsvm.regularization_path` or `refsvm.parametric_path`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, cast

from refsvm.analysis.paths.parametric_path import parametric_path
from refsvm.analysis.paths.regularization_path import regularization_path
from refsvm.core._checks import positive
from refsvm.core.paths.tracked import TrackedPath
from refsvm.core.problem import DualProblem
from refsvm.core.trackers.base import PathTracker
from refsvm.core.trackers.svmp import SVMP
from refsvm.experiment.problem import Instance
from refsvm.experiment.strategy import Call, Record


@dataclass(frozen=True)
class TrackPath(Call):
    """A strategy that tracks the path along C, or from one dual problem to another; its fields are the arguments.

    For a path along C, the strategy ignores C of the instance, and needs two classes or a regression. For a path
    between two dual problems (`line`), the strategy also supports novelty detection.

    Parameters
    ----------
    name : str
        Name in the tables.
    tracker : PathTracker
        The tracker with its linear algebra: ``SVMP(algebra=SVD())`` and ``SVMP(algebra=PivotedQR())`` are two
        strategies.
    C_min, C_max : float
        The range of C; ignored if `line` is given.
    line : callable, optional
        Function that gets the dual problem of the instance, a `refsvm.DualProblem`, and returns (start, end, (t₀, t₁))
        for `refsvm.parametric_path`. Use a callable frozen dataclass, because its `repr` identifies the run.
    merge : bool
        Whether duplicate examples share a variable.
    engine, cache_mb, time_limit
        As in `refsvm.regularization_path`.

    Raises
    ------
    ValueError
        If the range is empty, or `tracker` is not a tracker.

    Notes
    -----
    The record contains ``breakpoints``, ``events`` (moves between the sets), ``largest_elbow``, ``nullity`` (largest
    dimension of the null space), ``special``, ``derivative``, ``backup`` and ``repair`` (numbers of calls of these
    routines), ``kkt_violation``, ``drift``, ``seconds`` with its parts ``start_seconds`` (kernel matrix and start)
    and ``tracking_seconds``, and ``status``.

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

    Another line, along which the weights of ten examples fall to 0:

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Leaving:
    ...     examples: tuple[int, ...]
    ...
    ...     def __call__(self, problem):
    ...         return problem, problem.without(list(self.examples)), (0.0, 1.0)
    >>> TrackPath("ten leave", line=Leaving(tuple(range(10)))).run(heart)["status"]
    'CONVERGED'
    """

    copied: ClassVar = ("nullity", "drift", "seconds", "start_seconds")

    tracker: PathTracker = field(default_factory=SVMP)
    C_min: float = 1e-4
    C_max: float = 1e3
    line: Callable[[DualProblem], tuple[DualProblem, DualProblem, tuple[float, float]]] | None = None
    merge: bool = True
    engine: str = "auto"
    cache_mb: float = 1000.0
    time_limit: float | None = None

    def __post_init__(self) -> None:
        if not positive("C_min", self.C_min) < positive("C_max", self.C_max):
            raise ValueError(f"C_min={self.C_min!r} is not below C_max={self.C_max!r}; give C_min < C_max.")
        PathTracker.checked("tracker", self.tracker)
        super().__post_init__()

    def call(self, instance: Instance, **arguments: Any) -> TrackedPath:
        """Track the path of an instance."""
        if (line := arguments.pop("line")) is not None:
            del arguments["C_min"], arguments["C_max"]
            start, end, t = line(instance.dual())
            return parametric_path(start, end, t=t, **arguments)
        instance.one_penalty()
        # set the penalty to 1, because `regularization_path` multiplies it by the values of C from C_min to C_max
        return cast(TrackedPath, regularization_path(replace(instance, C=1.0).dual(), **arguments))

    def measured(self, result: TrackedPath) -> Record:
        """Return the number of events, the number of calls of each routine, the accuracy, and the seconds."""
        counts = {name: result.counts.get(name, 0) for name in ("special", "derivative", "backup", "repair")}
        return super().measured(result) | {
            "breakpoints": len(result.record.t),
            "events": len(result.events),
            "largest_elbow": int(result.record.elbow.max()),
            **counts,
            "kkt_violation": result.kkt_audit().worst,
            "tracking_seconds": result.seconds - result.start_seconds,
            "status": result.status.name,
        }

    def warm_up(self) -> None:
        """Load the code that `run` needs: track a path along C, because `line` may not suit `EIGHT_POINTS`."""
        super(TrackPath, replace(self, line=None)).warm_up()
