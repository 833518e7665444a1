"""TrackedPath: the base class of paths along C and along other lines."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

import numpy as np

from refsvm.core._checks import read_only, real
from refsvm.core.engine.unsolved import warn
from refsvm.core.kernels.matrix import KernelMatrix
from refsvm.core.paths.audit import POINTS, PathAudit, audit
from refsvm.core.paths.duplicates import Merged
from refsvm.core.paths.recorder import PathRecord, Timeline
from refsvm.core.result import Status
from refsvm.core.shown import Shown
from refsvm.core.walk.line import ProblemLine, solved_gram

SIGNS: Final = read_only(np.array([-1, 1]))
"""The class labels if the user gave a problem in place of labels."""


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class TrackedPath(Shown):
    """The optimum along a line of problems, as breakpoints: the base of `RegularizationPath` and `ParametricPath`.

    Subclasses define the line (`along`) and compute values between breakpoints.

    Parameters
    ----------
    record : PathRecord
        The breakpoints and the changes at them.
    merged : Merged
        The assignment of examples to variables.
    status : Status
        CONVERGED if the path reaches its end, or the reason why it ended early.
    seconds, start_seconds : float
        Seconds for the whole path, and seconds for the kernel matrix and the first point.
    drift : float
        Largest difference between the updated G and a G computed from scratch, in units of decision values.
    nullity : int
        Largest dimension of the null space of A, the matrix of the free variables; 0 if A was always regular.
    tracker : str
        The `repr` of the tracker.
    counts : dict of str to int
        Number of calls of each routine of the tracker: "special", "derivative", "backup", "repair".
    matrix : ndarray of shape (g, g), optional
        The kernel matrix of the merged variables, if it was stored; otherwise `kernel_matrix` computes it.
    classes : ndarray of shape (2,)
        The sorted class labels, the positive class second; −1 and +1 if the user gave a problem in place of labels.
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
    classes: np.ndarray = field(default_factory=lambda: SIGNS)

    @property
    @abstractmethod
    def along(self) -> ProblemLine:
        """The line of problems that the path follows."""

    def _line(self) -> str:
        m = len(self.record.t)
        return ", ".join([f"{m} breakpoint{'s' * (m != 1)}", *self._span(), self.status.name])

    def _span(self) -> list[str]:
        """Return the ends of the path as text, or an empty list if the path is empty."""
        return [f"{self.along.name} from {t[0]:.6g} to {t[-1]:.6g}"] if len(t := self.record.t) else []

    @property
    def events(self) -> np.ndarray:
        """All events (`refsvm.analysis.paths.EVENT`), in order; at each event, a variable reaches or leaves a bound."""
        return self.record.events

    @property
    def n(self) -> int:
        """Number of variables before merging duplicates."""
        return len(self.merged.group)

    @cached_property
    def _points(self) -> Timeline:
        """The timeline that gives α (or ŝ) of the merged variables at any breakpoint."""
        return Timeline(self.record, self.along.start.n)

    # -- between breakpoints ---------------------------------------------------------------------------------------

    def check_not_empty(self) -> None:
        """Raise ValueError if the path has no breakpoint."""
        if not len(self.record.t):
            start, advice = (
                ("C_min", "choose a smaller C_min, ") if self.along.is_c_path else ("its start", "")
            )
            raise ValueError(
                f"The path is empty, as no optimum was found at {start} ({self.status.name}); {advice}scale the "
                "features (StandardScaler), or allow more time."
            )

    def warn_if_unfinished(self, what: str) -> None:
        """If the path ended early, warn that `what` is incomplete."""
        if self.status is not Status.CONVERGED and len(self.record.t):
            where = f"{self.along.name}={self.record.t[-1]:.6g}"
            warn(
                f"{what} ends at {where}, because the path ended early ({self.status.name}); scale the features "
                "(StandardScaler), or allow more time and events."
            )

    def _segment(self, at: float, before: bool = False) -> tuple[int, float]:
        """Return k and μ with t = (1 − μ) t_k + μ t_{k+1} (1/C in place of t on a path in C).

        If t occurs twice, k is the later breakpoint, or the earlier breakpoint if `before` is True.
        """
        self.check_not_empty()
        ts, name = self.record.t, self.along.name
        advice = "; choose C_min and C_max accordingly" if self.along.is_c_path else ""
        way, at = 1.0 if ts[0] <= ts[-1] else -1.0, real(name, at)
        passed, target = way * ts, way * at
        if not passed[0] <= target <= passed[-1]:
            raise ValueError(
                f"{name}={at!r} is outside of the path, which goes from {ts[0]:.6g} to {ts[-1]:.6g}{advice}."
            )
        k = int(passed.searchsorted(target, side="left" if before else "right")) - (not before)
        if passed[k] == target:
            return k, 0.0
        k -= before
        first, last, t = ts[k], ts[k + 1], at
        if self.along.is_c_path:
            first, last, t = 1.0 / first, 1.0 / last, 1.0 / t
        return k, float((t - first) / (last - first))

    def _variables(self, at: float, before: bool = False) -> np.ndarray:
        """Return α (or ŝ) of the merged variables at one point of the path."""
        k, mu = self._segment(at, before)
        left = self._points.at(k)
        if mu == 0.0:
            return left
        right = self._points.at(k + 1)
        return np.where(left == right, left, (1.0 - mu) * left + mu * right)

    def _intercept(self, at: float, before: bool = False) -> float:
        """Return b (or b̂) at one point of the path."""
        (k, mu), b = self._segment(at, before), self.record.intercept
        return float(b[k] if mu == 0.0 else (1.0 - mu) * b[k] + mu * b[k + 1])

    @np.errstate(under="ignore")
    def _decision(self, X: Any, at: float, before: bool = False) -> np.ndarray:
        """Return h (or h/C on a path in C) for the rows of X at one point of the path."""
        variables = self._variables(at, before)
        support = np.flatnonzero(variables)
        return np.asarray(self.cross(X, support) @ variables[support] + self._intercept(at, before))

    @abstractmethod
    def cross(self, X: Any, variables: np.ndarray) -> np.ndarray:
        """Return the kernel values between the rows of X and the given variables, shape (m, len(variables))."""

    @np.errstate(under="ignore")
    def crossings(self, X: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Find exactly where the sign of h changes along the path: h (or λh) is affine between breakpoints.

        Parameters
        ----------
        X : array-like or CSR of shape (m, d)

        Returns
        -------
        begins_up : ndarray of shape (m,), bool
            For each row of X, True if h ≥ 0 at the beginning of the path.
        at, index, up : ndarrays of shape (k,)
            For each change: t (or C), the row of X, and True if h ≥ 0 after the change.
        """
        self.check_not_empty()
        cross, b = self.cross(X, np.arange(self.along.start.n)), self.record.intercept
        ts = 1.0 / self.record.t if self.along.is_c_path else self.record.t
        values, changes = np.empty((0, len(cross))), list[tuple[np.ndarray, np.ndarray, np.ndarray]]()
        for first in range(0, len(ts), POINTS):
            ks = np.arange(len(ts))[first : first + POINTS]
            more = np.array([self._points.at(k) for k in ks]) @ cross.T + b[ks, None]
            values = np.concatenate([values[-1:], more])  # begin with the last values of the previous block
            up, ks = values >= 0.0, ks[-1] + np.arange(1 - len(values), 1)
            if first == 0:
                begins_up = up[0]
            k, i = np.nonzero(up[1:] != up[:-1])
            share = values[k, i] / (values[k, i] - values[k + 1, i])
            changes.append((ts[ks[k]] + (ts[ks[k + 1]] - ts[ks[k]]) * share, i, up[k + 1, i]))
        at, index, up = (np.concatenate(each) for each in zip(*changes, strict=True))
        return begins_up, 1.0 / at if self.along.is_c_path else at, index, up

    @property
    def _gram(self) -> KernelMatrix:
        """The tracker's kernel matrix, centred if z = 0."""
        return solved_gram(self.along.start, self.along.end)

    @cached_property
    def kernel_matrix(self) -> np.ndarray:
        """The kernel matrix K of the merged variables, shape (g, g).

        With a linear kernel, K and the b in ``record.intercept`` may belong to centred data
        (`refsvm.DualProblem.centred`).
        """
        if self.matrix is not None:
            return self.matrix
        return np.ascontiguousarray(self._gram.block(np.arange(self._gram.n)))

    def kkt_audit(self, between: int = 2) -> PathAudit:
        """Measure how far the path violates the KKT conditions at and between breakpoints.

        Parameters
        ----------
        between : int
            Number of points to examine between two neighbouring breakpoints.

        Returns
        -------
        PathAudit
        """
        return audit(self.along, self.kernel_matrix, self.record, between)
