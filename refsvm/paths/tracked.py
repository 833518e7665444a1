"""TrackedPath: what the paths of `regularization_path` and of all other lines have in common."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from refsvm.paths.audit import PathAudit, audit
from refsvm.paths.duplicates import Merged
from refsvm.paths.recorder import PathRecord, Timeline
from refsvm.result import Status
from refsvm.walk.line import ProblemLine

__all__ = ["TrackedPath"]


@dataclass(frozen=True, eq=False, kw_only=True)
class TrackedPath:
    """The optimum along a line, stored as its breakpoints: base of `RegularizationPath` and `ParametricPath`.

    A concrete class says which line that is, `along`, and gives values between breakpoints.

    Parameters
    ----------
    record : PathRecord
        Breakpoints, and what changes there.
    merged : Merged
        Which variables are one.
    status : Status
        Whether the path reaches its end, or what ended it before.
    seconds, start_seconds : float
        Time for the path, with kernel matrix and start; and for these two.
    drift : float
        Largest error of G, in the line's unit, that had accumulated when it was recomputed.
    nullity : int
        Largest dimension of the null space of A on the way; 0 if every elbow was regular.
    tracker : str
        The tracker, as it prints.
    counts : dict of str to int
        How often each routine of the tracker was called: "special", "derivative", "backup", "repair".
    matrix : ndarray of shape (g, g), optional
        The kernel matrix of the merged variables, if it is at hand; `kernel_matrix` computes it otherwise.
    """

    record: PathRecord
    merged: Merged
    status: Status
    seconds: float
    start_seconds: float
    drift: float
    nullity: int
    tracker: str
    counts: dict[str, int] = field(default_factory=dict)
    matrix: np.ndarray | None = field(default=None, repr=False)

    @property
    @abstractmethod
    def along(self) -> ProblemLine:
        """The line of the merged variables."""

    def __repr__(self) -> str:
        at, name = self.record.t, "C" if self.along.rooted else "t"
        range_of_t = f"{name} from {at[0]:.6g} to {at[-1]:.6g}, " if len(at) else ""
        return f"{type(self).__name__}({len(at)} breakpoints, {range_of_t}{self.status.name})"

    @property
    def events(self) -> np.ndarray:
        """Variables that left a bound or reached one, in order: a structured array of dtype `refsvm.paths.EVENT`."""
        return self.record.events

    @property
    def n(self) -> int:
        """Number of variables, of which each merged one counts."""
        return len(self.merged.group)

    @cached_property
    def _points(self) -> Timeline:
        """α, or ŝ, of the merged variables at any breakpoint."""
        return Timeline(self.record, self.along.start.n)

    def _between(self, k: int, mu: float) -> np.ndarray:
        """Return α, or ŝ, of the merged variables, (1 − μ) of the way from breakpoint k + 1 to k."""
        here = self._points.at(k)
        if mu == 0.0:
            return here
        there = self._points.at(k + 1)
        return np.where(here == there, here, (1.0 - mu) * here + mu * there)

    @cached_property
    def kernel_matrix(self) -> np.ndarray:
        """K of the merged variables, shape (g, g)."""
        if self.matrix is not None:
            return self.matrix
        return np.ascontiguousarray(self.along.start.gram.block(np.arange(self.along.start.n)))

    def kkt_audit(self, between: int = 2) -> PathAudit:
        """Measure how far the path is from optimal, at every breakpoint and at points between neighbours.

        Parameters
        ----------
        between : int
            Points between two neighbours.

        Returns
        -------
        PathAudit
        """
        return audit(self.along, self.kernel_matrix, self.record, between)
