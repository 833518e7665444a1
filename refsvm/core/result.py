"""The result of a solve: `Solution`, its `Status`, and the `Trace` of its steps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from refsvm.core._checks import pandas_for, whole
from refsvm.core.problem import DualProblem, most_violating_pair
from refsvm.core.shown import Shown

if TYPE_CHECKING:
    from refsvm.core.state import SolverState

TRACE_ROW = np.dtype(
    [
        ("iteration", np.int64),  # number of steps taken, including this step
        ("i", np.int64),  # working set (i, j): for μ > 0, the step increased αᵢ and decreased αⱼ
        ("j", np.int64),
        ("step", np.float64),  # μ
        ("newton", np.float64),  # μ̂ = ℓ/q
        ("planned", np.int64),  # 1 for a planning-ahead step
        ("free", np.int64),  # 1 if the step ended inside the box, 0 if a bound cut it short
        ("moved", np.int64),  # number of variables moved: 2, or more if the step has momentum
        ("objective", np.float64),  # f(α) after the step
        ("gap", np.float64),  # ψ(α) after the step
        ("rows", np.int64),  # number of kernel rows computed so far
        ("seconds", np.float64),  # seconds since the solve began, interpolated between the ends of chunks
    ]
)


class Status(Enum):
    """The reason why a solve ended; each member's value is a sentence that explains it.

    Examples
    --------
    >>> from refsvm import Status
    >>> Status.MAX_ITER.value
    'The iteration limit was reached before the stopping rule was satisfied.'
    """

    CONVERGED = "The stopping rule is satisfied."
    MAX_ITER = "The iteration limit was reached before the stopping rule was satisfied."
    TIME_LIMIT = "The time limit was reached before the stopping rule was satisfied."
    CALLBACK = "The callback asked to stop."
    INTERRUPTED = "Interrupted from the keyboard; the last point reached is kept."
    INSEPARABLE = (
        "C = inf: no function of this kernel separates the classes, or stays within epsilon of the targets."
    )
    STALLED = "The selector finds no pair that raises the objective, but the stopping rule is not satisfied."
    NOT_FINITE = (
        "A gradient is NaN or infinite: the kernel matrix was changed during the solve, or a sum overflows."
    )


class Trace(Shown):
    """A table of the steps of a solve, with one row for each recorded step.

    Attributes
    ----------
    every : int
        Number of steps from one recorded step to the next.
    rows : structured ndarray of dtype `TRACE_ROW`
        The recorded steps, with the columns iteration, i, j, step, newton, planned, free, moved, objective, gap, rows
        and seconds.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import DualProblem, Linear, solve
    >>> X, y = np.array([[0.0], [2.0]]), np.array([-1, 1])
    >>> trace = solve(DualProblem.classification(X, y, kernel=Linear()), trace=True).trace
    >>> trace["i"], trace["gap"]
    (array([1]), array([0.]))
    """

    def __init__(self, every: int = 1) -> None:
        self.every = whole("trace", every, 1)
        self._stamped: list[np.ndarray] = []
        self._fresh: list[np.ndarray] = []

    def _line(self) -> str:
        return f"{len(self.rows)} step{'s' * (len(self.rows) != 1)}: iteration, i, j, step, …, gap, rows, seconds"

    def append(self, state: SolverState) -> None:
        """Record the step just taken."""
        i, j = state.working_sets[0]
        self._fresh.append(
            np.array(
                [
                    (
                        state.iteration, i, j, state.last_step, state.last_newton, state.last_planned,
                        state.last_free, state.last_moved, state.objective, state.gap, state.rows.computed, 0.0,
                    )
                ],
                dtype=TRACE_ROW,
            )
        )  # fmt: skip

    def extend(self, rows: np.ndarray) -> None:
        """Record several steps at once."""
        if len(rows):
            self._fresh.append(rows.copy())

    def stamp(self, began: float, ended: float) -> None:
        """Divide the time from `began` to `ended` evenly among the steps recorded since the last call of `stamp`."""
        if self._fresh:
            rows = np.concatenate(self._fresh)
            rows["seconds"] = np.linspace(began, ended, len(rows) + 1)[1:]
            self._stamped.append(rows)
            self._fresh = []

    def drop(self) -> None:
        """Drop the steps recorded since the last call of `stamp`, because the solve has undone these steps."""
        self._fresh = []

    def append_later(self, later: Trace, steps: int) -> None:
        """Append the trace `later` of a run that continued this trace's run after `steps` steps."""
        rows = later.rows
        rows["iteration"] += steps
        rows["seconds"] += self.rows["seconds"][-1] if len(self) else 0.0
        self.extend(rows)

    @property
    def rows(self) -> np.ndarray:
        """All recorded steps, in order."""
        return np.concatenate([np.zeros(0, dtype=TRACE_ROW), *self._stamped, *self._fresh])

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, name: str) -> np.ndarray:
        """Return one column by its name."""
        return self.rows[name]

    def to_frame(self) -> Any:
        """Return the trace as a pandas DataFrame."""
        pd = pandas_for("to_frame()")

        frame = pd.DataFrame({name: self.rows[name] for name in TRACE_ROW.names or ()})
        return frame.astype({"planned": bool, "free": bool})


class Ending(NamedTuple):
    """The fields of `Solution` that describe how a run ended, in the order of `Solution`."""

    kernel_rows: int
    kernel_hits: int
    status: Status
    reason: str
    seconds: float
    engine: str
    trace: Trace | None
    rounding: float = 0.0


@dataclass(frozen=True, eq=False, repr=False)
class Solution(Shown):
    """The solution of a dual problem; values that are not stored are computed at the first access.

    Attributes
    ----------
    alpha : ndarray of shape (n,), float64
        Signed dual variables.
    gradient : ndarray of shape (n,), float64
        G = v − Kα.
    intercept : float
        b of the decision function h(x) = Σ αᵢ k(x, xᵢ) + b.
    objective, primal_objective, duality_gap, kkt_gap : float
        The dual objective f(α); the primal objective F(α, b) at the b that
        minimises F; F − f; the KKT gap ψ(α).
    objective_error : float
        Difference between `objective` and the f(α) that follows from float64
        kernel values.
    iterations, kernel_rows, kernel_hits : int
        Numbers of steps taken, of kernel rows computed, and of kernel rows
        taken from the cache.
    status, reason : Status, str
        The reason why the solve ended, and a sentence that explains it. If the
        stopping rule ended the solve, the rule provides the sentence.
    seconds : float
        Wall time inside `solve`, including compilation.
    engine : str
        "numpy", "numba", or "numpy, numba" if the solve began in NumPy and
        continued in compiled code.
    trace : Trace or None
        The recorded steps, if the solve was called with `trace`.
    rounding : float
        Estimated error of G, caused by keeping kernel rows as float32
        (`refsvm.core.kernels.precision.decision_error`); 0 with float64.
    longest_round : int
        Largest number of steps of a round of `refsvm.Rounds` up to this round,
        from which seeders estimate how long a solve takes after a bad start.
    around_mean : ndarray of shape (n,), float64, or None
        G of ``problem.centred``, if the solver worked on the centred problem.
        If the mean c of the data is large, `gradient` and `intercept` lose
        digits, because they contain the large number w·c. `Solution` computes
        its other values from `around_mean`, which keeps these digits.
    offset : float
        w·c: the intercept of the centred problem minus `intercept`.
    """

    problem: DualProblem = field(repr=False)
    alpha: np.ndarray = field(repr=False)
    gradient: np.ndarray = field(repr=False)
    iterations: int
    kernel_rows: int
    kernel_hits: int
    status: Status
    reason: str
    seconds: float
    engine: str
    trace: Trace | None = field(default=None, repr=False)
    rounding: float = field(default=0.0, repr=False)
    longest_round: int = field(default=0, repr=False)
    around_mean: np.ndarray | None = field(default=None, repr=False)
    offset: float = field(default=0.0, repr=False)

    @classmethod
    def read(cls, problem: DualProblem, state: SolverState, ending: Ending, longest: int = 0) -> Solution:
        """Make a solution from the state of a run that has ended.

        `longest` is the number of steps of the longest round before this run.
        """
        alpha, gradient, steps = state.alpha.copy(), state.gradient.copy(), state.iteration
        solution = cls(problem, alpha, gradient, steps, *ending, longest_round=max(longest, steps))
        return solution.of(problem)

    def of(self, problem: DualProblem) -> Solution:
        """Return this solution of a centred problem as the solution of `problem`, whose data are not centred."""
        centred = problem.centred
        if centred is problem or self.around_mean is not None:
            return self
        offset = centred.gram.offset(self.alpha)
        gradient, around_mean = self.gradient - offset, self.gradient
        return replace(self, problem=problem, gradient=gradient, around_mean=around_mean, offset=offset)

    def in_solver_coordinates(self, problem: DualProblem | None = None) -> Solution:
        """Return the solution of the centred problem that the solver worked on; this method is the inverse of `of`.

        Parameters
        ----------
        problem : DualProblem, optional
            The centred problem; ``self.problem.centred`` by default.
        """
        if self.around_mean is None:
            return self
        problem = self.problem.centred if problem is None else problem
        return replace(self, problem=problem, gradient=self.around_mean, around_mean=None, offset=0.0)

    continue_to: ClassVar[Callable[..., Any]]
    """The method ``continue_to(problem, **options)``; `refsvm.analysis.paths.continuing` adds it to this class."""

    derivative: ClassVar[Callable[..., Any]]
    """The method ``derivative(name)``; `refsvm.analysis.derivatives.derivative` adds it to this class."""

    pullback: ClassVar[Callable[..., Any]]
    """The method ``pullback(alpha, intercept)``; `refsvm.analysis.derivatives.pullback` adds it to this class."""

    def _line(self) -> str:
        ended, support = self.status.name.lower().replace("_", " "), int(np.count_nonzero(self.alpha))
        where = f"objective {self.objective:.6g}, KKT gap {self.kkt_gap:.1e}, {support} support vectors"
        return f"{ended} after {self.iterations:,} step{'s' * (self.iterations != 1)}: {where}"

    @property
    def _exact(self) -> np.ndarray:
        """G of the problem that the solver worked on; it differs from `gradient` by a constant."""
        return self.gradient if self.around_mean is None else self.around_mean

    @cached_property
    def intercept(self) -> float:
        """b = ½ (Gᵢ + Gⱼ) for the most violating pair (i, j), computed with float64 kernel values (`exact_ends`)."""
        return self._intercept - self.offset

    @cached_property
    def _intercept(self) -> float:
        """The intercept of the problem that the solver worked on (`refsvm.DualProblem.centred`)."""
        if not self.rounding:
            return self.problem.midway(self._exact, *self.most_violating[:2])
        return self.problem.intercept(self.alpha, self.exact_ends + self.offset)

    @cached_property
    def exact_ends(self) -> np.ndarray:
        """G, shape (n,), recomputed with float64 kernel values where float32 rounding (`rounding`) could change b."""
        if not self.rounding:
            return self.gradient
        centred = self.in_solver_coordinates()
        return centred.problem.with_exact_ends(self.alpha, centred.gradient, self.rounding) - self.offset

    @property
    def decision_values(self) -> np.ndarray:
        """h(xᵢ) = Σⱼ αⱼ k(xᵢ, xⱼ) + b = vᵢ − Gᵢ + b for every example, shape (n,), including left-out examples."""
        return self.problem.v - self._exact + self._intercept

    @cached_property
    def objective(self) -> float:
        """f(α) = vᵀα − ½ αᵀKα."""
        return self.problem.objective(self.alpha, self._exact)

    @cached_property
    def objective_error(self) -> float:
        """|f(α) − vᵀα + ½ αᵀKα| with K in float64 and f(α) = `objective`; about 0 unless rows were kept as float32.

        The first access computes the kernel rows of all support vectors.
        """
        return abs(self.problem.objective(self.alpha) - self.objective)

    @cached_property
    def primal_objective(self) -> float:
        """F(α, b) at the b that minimises it."""
        return self.problem.primal_objective(self.alpha, gradient=self._exact)

    @property
    def duality_gap(self) -> float:
        """F(α, b) − f(α), at the b that minimises F(α, b)."""
        return self.primal_objective - self.objective

    @cached_property
    def kkt_gap(self) -> float:
        """The KKT gap ψ(α); see `refsvm.DualProblem.kkt_gap`."""
        return self.most_violating[2]

    @property
    def decision_range(self) -> float:
        """The range (max − min) of the decision values over all examples that are not left out."""
        return self.problem.decision_range(self.alpha, self._exact)

    @cached_property
    def most_violating(self) -> tuple[int, int, float]:
        """Indices of the largest G in I_up and of the smallest G in I_down (−1 if a set is empty), and ψ(α)."""
        return most_violating_pair(self.alpha, self._exact, self.problem.lower, self.problem.upper)
