"""Recording: the steps of a solve, kept, with the step that leads on from each state.

`iterate` yields one state that moves on. Here a state stays: you can go back to it, and see which pair the rules take
next, how far they move it and what limits the step. The loop is the same, `refsvm.core.solver.loop.steps`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from refsvm.core._checks import pandas_for, positive_or_inf, whole
from refsvm.core.problem import DualProblem
from refsvm.core.result import TRACE_ROW, Status, Trace
from refsvm.core.selectors.base import WorkingSetSelector
from refsvm.core.shown import short
from refsvm.core.solver.loop import steps
from refsvm.core.solver.rules import chosen_rules, row_store, starting_point
from refsvm.core.solver.validated import located, validated
from refsvm.core.state import SolverState
from refsvm.core.steps.base import StepRule
from refsvm.core.stopping.base import StoppingRule, validated_code
from refsvm.services.summary import Card, Shown

LIMIT: Final = 20_000
"""Maximum number of steps that are kept by default."""


@dataclass(frozen=True)
class RecordedStep:
    """One step: its pair, the sub-problem along eᵢ − eⱼ, and how far the rules moved.

    Attributes
    ----------
    i, j : int
        The working set: αᵢ rose and αⱼ fell by the length.
    length : float
        μ.
    carry : float
        κ of a step with momentum, which also moves by κ times the displacement before; otherwise 0.
    slope, curvature, raw_curvature : float
        ℓ = Gᵢ − Gⱼ; q = Kᵢᵢ + Kⱼⱼ − 2Kᵢⱼ as the rules read it; q itself, which may be 0 or negative.
    low, high : float
        The box along eᵢ − eⱼ, in which a step without momentum ends.
    along : float
        Curvature of the gain along the step: q, and κ((KΔ)ᵢ − (KΔ)ⱼ)/μ more where the displacement Δ is carried on
        from the top of its own gain.
    diagonal : (float, float)
        Kᵢᵢ and Kⱼⱼ.
    after : (float, float)
        αᵢ and αⱼ after the step.
    planned, free : bool
        Whether the step was planned ahead, and whether it ended inside the box.
    moved : int
        How many variables it moved.
    """

    i: int
    j: int
    length: float
    carry: float
    slope: float
    curvature: float
    raw_curvature: float
    low: float
    high: float
    along: float
    diagonal: tuple[float, float]
    after: tuple[float, float]
    planned: bool
    free: bool
    moved: int


@dataclass(frozen=True, eq=False, repr=False)
class RecordedState(Shown):
    """The state after some steps, with names as those of `Solution`.

    Attributes
    ----------
    iteration : int
        Number of steps before it.
    alpha, gradient : ndarrays of shape (n,), float64, read-only
        α and G.
    intercept, gap, objective, primal_objective : float
        b, ψ(α), f(α) and F(α, b).
    kernel_rows : int
        Kernel rows computed so far.
    next : RecordedStep or None
        The step that the rules take from here; None after the last one.
    """

    iteration: int
    alpha: np.ndarray
    gradient: np.ndarray
    intercept: float
    gap: float
    objective: float
    primal_objective: float
    kernel_rows: int
    next: RecordedStep | None

    def _card(self) -> Card:
        told = {
            "objective": f"{self.objective:.6g}", "KKT gap": f"{self.gap:.1e}",
            "next pair": "none" if self.next is None else f"({self.next.i}, {self.next.j})",
        }  # fmt: skip
        return Card(
            f"after {self.iteration:,} steps: "
            + ", ".join(f"{name} {value}" for name, value in told.items()),
            pairs=told,
        )


class Recording(Shown):
    """The states of one solve by any rules; each rule is asked once for each step, however often a state is looked at.

    Steps are taken when a state is asked for, one more than that, because a state is shown with its next step. They
    are those of `iterate` and, bit for bit, of `solve` without shrinking.

    Parameters
    ----------
    problem, selector, step, stop, start, cache_mb
        As in `refsvm.solve`.
    limit : int
        Maximum number of steps. Each one keeps 16 n bytes.

    Attributes
    ----------
    problem : DualProblem
    rules : Rules
        Selector, step and stopping rule.
    states : list of RecordedState
        All states so far; the first is the one before any step.
    status : Status or None
        How the solve has ended; None while it has not, and after an error.
    reason : str
        The same as a sentence: that of the stopping rule if it is satisfied.
    error : BaseException or None
        The error that a rule has raised in place of a step.

    Raises
    ------
    ValueError
        If the rules do not fit together, the budget is too small, or `limit` is not a whole number ≥ 1.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import RBF, DualProblem
    >>> from refsvm.analysis.recording import Recording
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([-1, 1, 1, -1])
    >>> recording = Recording(DualProblem.classification(X, y, kernel=RBF(1.0), C=10.0))
    >>> state = recording.at(1)
    >>> state.alpha.round(3), (state.next.i, state.next.j), round(state.next.slope, 3)
    (array([-1.582,  1.582,  0.   ,  0.   ]), (2, 3), 1.476)
    >>> [round(state.gap, 3) for state in recording], recording.status.name
    ([2.0, 1.476, 0.415, 0.0], 'CONVERGED')
    """

    def __init__(
        self,
        problem: DualProblem,
        *,
        selector: WorkingSetSelector | None = None,
        step: StepRule | None = None,
        stop: StoppingRule | None = None,
        start: Any = None,
        cache_mb: float = 200.0,
        limit: int = LIMIT,
    ) -> None:
        self.problem, self.rules = problem, chosen_rules(selector, step, stop)
        self.limit = whole("limit", limit, 1)
        self.states: list[RecordedState] = []
        self.status: Status | None = None
        self.reason = ""
        self.error: BaseException | None = None
        rows = row_store(problem, self.rules, positive_or_inf("cache_mb", cache_mb))
        self._state = self.rules.begin(problem, starting_point(problem, start), rows)
        self._loop = steps(self._state, *validated(*self.rules))

    def _card(self) -> Card:
        steps, ended = max(0, len(self.states) - 1), "not ended"
        if self.status is not None:
            ended = self.status.name
        elif self.error is not None:
            ended = type(self.error).__name__
        told = {"steps so far": f"{steps:,}", "ended": ended} | {
            name: short(rule) for name, rule in zip(("selector", "step", "stop"), self.rules, strict=True)
        }
        return Card(
            f"{steps:,} steps so far, {ended}; {type(self.rules.selector).__name__}, {type(self.rules.step).__name__}",
            pairs=told,
        )

    def at(self, iteration: int) -> RecordedState:
        """Return the state after this many steps, which are taken unless they have been already.

        Raises
        ------
        IndexError
            If the solve has ended before, with the reason; the error of a rule is raised as it is.
        ValueError
            If the argument is not a whole number ≥ 0.
        """
        iteration = whole("iteration", iteration, 0)
        last = self.reach(iteration)
        if last == iteration:
            return self.states[iteration]
        if self.error is not None:
            raise self.error
        raise IndexError(
            f"iteration={iteration!r} is not there: the solve ended after {last} steps. {self.reason}"
        )

    def reach(self, iteration: int) -> int:
        """Take steps until this state and its next step are known; return how far the recording reaches, at most this.

        A rule that raises ends the recording: `error` is what it raised.
        """
        while len(self.states) <= iteration and not self.has_ended:
            self._take()
        return min(iteration, len(self.states) - 1)

    @property
    def has_ended(self) -> bool:
        """Whether the last of the states so far has no next step."""
        return self.status is not None or self.error is not None

    def __iter__(self) -> Iterator[RecordedState]:
        """Yield the states from the first one on; take the steps that have not been taken yet."""
        k = 0
        while self.reach(k) == k:
            yield self.states[k]
            k += 1
        if self.error is not None:
            raise self.error

    @property
    def trace(self) -> Trace:
        """The steps so far as the trace of `solve`, which displays draw; its seconds are NaN."""
        pairs = zip(self.states[:-1], self.states[1:], strict=True)
        steps = [_row(before.next, after) for before, after in pairs if before.next]
        rows = np.zeros(len(steps), dtype=TRACE_ROW)
        for name in TRACE_ROW.names or ():
            rows[name] = [step.get(name, np.nan) for step in steps]
        trace = Trace()
        trace.extend(rows)
        return trace

    def to_frame(self) -> Any:
        """Return the steps so far as a pandas DataFrame, with the columns of a trace and those of the sub-problem.

        The columns objective, gap, rows, intercept and primal_objective are those after the step. ``at`` or a loop
        over the recording takes steps; a new recording has none.
        """
        pd = pandas_for("to_frame()")

        pairs = zip(self.states[:-1], self.states[1:], strict=True)
        return pd.DataFrame([_row(before.next, after) for before, after in pairs if before.next])

    def _take(self) -> None:
        """Take one step, and keep the state before it."""
        state, before = self._state, _snapshot(self._state)
        image = None if state.displacement_image is None else state.displacement_image.copy()
        try:
            with located(state, self.rules), np.errstate(over="ignore"):
                if state.iteration < self.limit:
                    next(self._loop)
                else:  # a limit reached with the step that solves the problem is none
                    code = validated_code(self.rules.stop, self.rules.stop.check(state))
                    self._end(Status.CONVERGED if code else Status.MAX_ITER, code)
        except StopIteration as ending:
            code = ending.value
            self._end(Status.CONVERGED if code > 0 else Status.STALLED, code)
        except BaseException as error:
            self.error = error
            if not isinstance(
                error, Exception
            ):  # Ctrl-C, in the middle of a step: α and G may not agree any more
                raise
        taken = None if self.has_ended else _step_taken(state, image)
        self.states.append(_recorded(self.problem, before, taken))

    def _end(self, status: Status, code: int) -> None:
        self.status = status
        self.reason = self.rules.stop.reasons[code - 1] if code > 0 else status.value


def _snapshot(state: SolverState) -> tuple[Any, ...]:
    """Copy the parts of a state that its steps change."""
    copies = state.alpha.copy(), state.gradient.copy()
    return (
        *copies,
        state.top,
        state.bottom,
        state.gap,
        state.objective,
        state.rows.computed,
        state.iteration,
    )


def _recorded(problem: DualProblem, before: tuple[Any, ...], taken: RecordedStep | None) -> RecordedState:
    """Return a state on the data as they were given; the solve may be that around their mean."""
    alpha, exact, top, bottom, gap, objective, rows, iteration = before
    centred = problem.centred
    b = centred.midway(exact, top, bottom)
    primal = centred.primal_objective(alpha, b, exact)
    offset = 0.0 if centred is problem else centred.gram.offset(alpha)
    gradient = exact - offset
    alpha.flags.writeable = gradient.flags.writeable = False
    return RecordedState(iteration, alpha, gradient, b - offset, gap, objective, primal, rows, taken)


def _step_taken(state: SolverState, image: np.ndarray | None) -> RecordedStep:
    """Read the last step off a state; `image` is that of the displacement before it."""
    i, j = state.working_sets[0].tolist()
    mu, kappa, along = float(state.last_step), float(state.last_carry), state.raw_curvature
    if kappa and mu and image is not None:
        along += kappa / mu * float(image[i] - image[j])
    return RecordedStep(
        i, j, mu, kappa, state.slope, state.curvature, state.raw_curvature, state.low, state.high, along,
        (float(state.diagonal[i]), float(state.diagonal[j])), (float(state.alpha[i]), float(state.alpha[j])),
        bool(state.last_planned), bool(state.last_free), int(state.last_moved),
    )  # fmt: skip


def _row(step: RecordedStep, after: RecordedState) -> dict[str, Any]:
    """Return the row of one step."""
    return {
        "iteration": after.iteration, "i": step.i, "j": step.j, "step": step.length,
        "newton": step.slope / step.curvature, "planned": step.planned, "free": step.free, "moved": step.moved,
        "objective": after.objective, "gap": after.gap, "rows": after.kernel_rows, "slope": step.slope,
        "curvature": step.curvature, "low": step.low, "high": step.high, "intercept": after.intercept,
        "primal_objective": after.primal_objective,
    }  # fmt: skip
