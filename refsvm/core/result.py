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
        ("iteration", np.int64),  # steps taken, this one included
        ("i", np.int64),  # working set: αᵢ rose, αⱼ fell (for μ > 0)
        ("j", np.int64),
        ("step", np.float64),  # μ
        ("newton", np.float64),  # μ̂ = ℓ/q
        ("planned", np.int64),  # 1 for a planning-ahead step
        ("free", np.int64),  # 1 if the step ended inside the box, 0 if clipped
        ("moved", np.int64),  # variables that it moved: 2, or more for a step along a carried displacement
        ("objective", np.float64),  # f(α) after the step
        ("gap", np.float64),  # ψ(α) after the step
        ("rows", np.int64),  # kernel rows computed so far
        ("seconds", np.float64),  # since the start; within a chunk of the compiled loop, interpolated
    ]
)


class Status(Enum):
    """Why a solve ended; the value is a sentence.

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
    STALLED = "The selector finds no pair that still gains, though the stopping rule is not satisfied."
    NOT_FINITE = (
        "A gradient is NaN or infinite: the kernel matrix was changed during the solve, or a sum overflows."
    )


class Trace(Shown):
    """One row for each recorded step of a solve.

    Attributes
    ----------
    every : int
        One step in `every` is recorded.
    rows : structured ndarray of dtype `TRACE_ROW`
        iteration, i, j, step, newton, planned, free, moved, objective, gap, rows, seconds.

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
        return f"{len(self.rows)} steps: iteration, i, j, step, …, gap, rows, seconds"

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
        """Spread the seconds between two moments evenly over the steps recorded since the last call."""
        if self._fresh:
            rows = np.concatenate(self._fresh)
            rows["seconds"] = np.linspace(began, ended, len(rows) + 1)[1:]
            self._stamped.append(rows)
            self._fresh = []

    def drop(self) -> None:
        """Drop the steps recorded since the last `stamp`: a solve that was given up has not taken them."""
        self._fresh = []

    def append_later(self, later: Trace, steps: int) -> None:
        """Record the steps of a run that went on after this many."""
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
        """One column."""
        return self.rows[name]

    def to_frame(self) -> Any:
        """Return the trace as a pandas DataFrame."""
        pd = pandas_for("to_frame()")

        frame = pd.DataFrame({name: self.rows[name] for name in TRACE_ROW.names or ()})
        return frame.astype({"planned": bool, "free": bool})


class Ending(NamedTuple):
    """The end of a run; the fields are those of `Solution`, in the same order."""

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
    """A solved dual problem; what is not stored is computed when first asked for.

    Attributes
    ----------
    alpha : ndarray of shape (n,), float64
        Signed dual variables.
    gradient : ndarray of shape (n,), float64
        G = v − Kα.
    intercept : float
        b of the decision function h(x) = Σ αᵢ k(x, xᵢ) + b.
    objective, primal_objective, duality_gap, kkt_gap : float
        f(α); F(α, b) at the best b; their difference; ψ(α).
    objective_error : float
        How far f(α) is from that of kernel values in float64.
    iterations, kernel_rows, kernel_hits : int
        Steps taken; kernel rows computed; row uses served from memory.
    status, reason : Status, str
        Why the solve ended, and the sentence of the stopping rule if it was
        that.
    seconds : float
        Wall time inside `solve`, compilation included if any happened.
    engine : str
        "numpy", "numba", or "numpy, numba" if the compiled loop took over.
    trace : Trace or None
    rounding : float
        About how far rows kept as float32 have moved G
        (`refsvm.core.kernels.precision.decision_error`); 0 with float64.
    longest_round : int
        Steps of the longest round of its family so far, this one included; an
        estimate of the cost of a bad start.
    around_mean : ndarray of shape (n,), float64, or None
        G around the mean of the data, where the problem was solved there
        (``problem.centred``): exact where `gradient` and `intercept`, which
        are those of the data as they were given, round off a large w·c. All
        else is read off it.
    offset : float
        w·c: how much the intercept around the mean is larger.
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
        """Read a solution off the state of a run that has ended; `longest` is the longest round before it."""
        alpha, gradient, steps = state.alpha.copy(), state.gradient.copy(), state.iteration
        solution = cls(problem, alpha, gradient, steps, *ending, longest_round=max(longest, steps))
        return solution.of(problem)

    def of(self, problem: DualProblem) -> Solution:
        """Return this solution, which is that around the mean of the data, on the data as they were given."""
        centred = problem.centred
        if centred is problem or self.around_mean is not None:
            return self
        offset = centred.gram.offset(self.alpha)
        gradient, around_mean = self.gradient - offset, self.gradient
        return replace(self, problem=problem, gradient=gradient, around_mean=around_mean, offset=offset)

    def in_solver_coordinates(self, problem: DualProblem | None = None) -> Solution:
        """Return the solution as it was found, around the mean of the data; undoes `of`.

        Parameters
        ----------
        problem : DualProblem, optional
            The problem there; ``self.problem.centred`` by default.
        """
        if self.around_mean is None:
            return self
        problem = self.problem.centred if problem is None else problem
        return replace(self, problem=problem, gradient=self.around_mean, around_mean=None, offset=0.0)

    continue_to: ClassVar[Callable[..., Any]]
    """``continue_to(problem, **options)``: `refsvm.analysis.paths.continuing.continue_to` puts itself here."""

    derivative: ClassVar[Callable[..., Any]]
    """``derivative(name)``: `refsvm.analysis.derivatives.derivative.derivative`, which that file puts here."""

    pullback: ClassVar[Callable[..., Any]]
    """``pullback(alpha, intercept)``: `refsvm.analysis.derivatives.pullback.pullback`, which that file puts here."""

    def _line(self) -> str:
        ended, support = self.status.name.lower().replace("_", " "), int(np.count_nonzero(self.alpha))
        where = f"objective {self.objective:.6g}, KKT gap {self.kkt_gap:.1e}, {support} support vectors"
        return f"{ended} after {self.iterations:,} steps: {where}"

    @property
    def _exact(self) -> np.ndarray:
        """G up to one number in all components."""
        return self.gradient if self.around_mean is None else self.around_mean

    @cached_property
    def intercept(self) -> float:
        """b, midway between the most violating pair, by G of float64 kernel values (`exact_ends`)."""
        return self._intercept - self.offset

    @cached_property
    def _intercept(self) -> float:
        """That b where the problem was solved."""
        if not self.rounding:
            return self.problem.midway(self._exact, *self.most_violating[:2])
        return self.problem.intercept(self.alpha, self.exact_ends + self.offset)

    @cached_property
    def exact_ends(self) -> np.ndarray:
        """G, shape (n,), with float64 kernel values where rounding may decide about b; see `rounding`."""
        if not self.rounding:
            return self.gradient
        there = self.in_solver_coordinates()
        return there.problem.with_exact_ends(self.alpha, there.gradient, self.rounding) - self.offset

    @property
    def decision_values(self) -> np.ndarray:
        """h(xᵢ) = Σⱼ αⱼ k(xᵢ, xⱼ) + b = vᵢ − Gᵢ + b for every example, shape (n,), those with an empty box included."""
        return self.problem.v - self._exact + self._intercept

    @cached_property
    def objective(self) -> float:
        """f(α) = vᵀα − ½ αᵀKα."""
        return self.problem.objective(self.alpha, self._exact)

    @cached_property
    def objective_error(self) -> float:
        """Difference of `objective` from vᵀα − ½ αᵀKα with K in float64; about 0 unless rows were kept as float32.

        It costs the kernel rows of all support vectors.
        """
        return abs(self.problem.objective(self.alpha) - self.objective)

    @cached_property
    def primal_objective(self) -> float:
        """F(α, b) at the b that minimises it."""
        return self.problem.primal_objective(self.alpha, gradient=self._exact)

    @property
    def duality_gap(self) -> float:
        """F(α, b) − f(α)."""
        return self.primal_objective - self.objective

    @cached_property
    def kkt_gap(self) -> float:
        """ψ(α)."""
        return self.most_violating[2]

    @property
    def decision_range(self) -> float:
        """max − min of the decision values over the examples that are not left out."""
        return self.problem.decision_range(self.alpha, self._exact)

    @cached_property
    def most_violating(self) -> tuple[int, int, float]:
        """The indices of the largest G over I_up and the smallest over I_down, −1 for none, and ψ(α)."""
        return most_violating_pair(self.alpha, self._exact, self.problem.lower, self.problem.upper)
