"""Recording: all states of a solve, each with the step that follows it.

`iterate` yields a single state object, which every step changes. A recording keeps every state, so that you can go back
to a state and see which pair the rules select next, how far they move the pair, and what limits the step. `iterate` and
a recording run the same loop, `refsvm.core.solver.loop.steps`.
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
from refsvm.services.summary import Card, Shown, counted
from refsvm.services.types import ArrayLike

LIMIT: Final = 20_000
"""Default for the largest number of steps that are recorded."""


@dataclass(frozen=True)
class RecordedStep:
    """One step: its working set, the sub-problem along eᵢ − eⱼ, and the length of the step.

    Attributes
    ----------
    i, j : int
        The working set: the step increases αᵢ and decreases αⱼ by the length.
    length : float
        The step length μ.
    carry : float
        κ of a step with momentum, which adds κ times the previous displacement; otherwise 0.
    slope, curvature, raw_curvature : float
        ℓ = Gᵢ − Gⱼ; the curvature q that the rules use, bounded from below; and the raw q = Kᵢᵢ + Kⱼⱼ − 2Kᵢⱼ, which may
        be 0 or negative.
    low, high : float
        Bounds of the length along eᵢ − eⱼ that keep a step without momentum inside the box.
    along : float
        Curvature of the gain along the step: q, or with momentum q + κ((KΔ)ᵢ − (KΔ)ⱼ)/μ. The formula requires that the
        previous step ended at the maximum of f along its displacement Δ.
    diagonal : (float, float)
        Kᵢᵢ and Kⱼⱼ.
    after : (float, float)
        αᵢ and αⱼ after the step.
    planned, free : bool
        Whether the step was planned ahead, and whether it ended inside the box.
    moved : int
        Number of variables that the step moved.
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
    """The state after a number of steps, with attribute names as in `Solution`.

    Attributes
    ----------
    iteration : int
        Number of steps before this state.
    alpha, gradient : ndarrays of shape (n,), float64, read-only
        α and G.
    intercept, gap, objective, primal_objective : float
        b, ψ(α), f(α) and F(α, b).
    kernel_rows : int
        Kernel rows computed so far.
    next : RecordedStep or None
        The step that the rules take from the state; None for the last state.
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
        pairs = {
            "objective": f"{self.objective:.6g}", "KKT gap": f"{self.gap:.1e}",
            "next pair": "none" if self.next is None else f"({self.next.i}, {self.next.j})",
        }  # fmt: skip
        return Card(
            f"after {counted(self.iteration, 'step')}: "
            + ", ".join(f"{name} {value}" for name, value in pairs.items()),
            pairs=pairs,
        )


class Recording(Shown):
    """The states of one solve; each rule is called once for each step, however often you read a state.

    When you request a state, the recording takes all steps up to this state, and the step that the state shows as
    `next`. The steps are the same as in `iterate`, and bit for bit the same as in `solve` without shrinking.

    Parameters
    ----------
    problem, selector, step, stop, start, cache_mb
        As in `refsvm.solve`.
    limit : int
        Largest number of steps. Each step takes 16 n bytes of memory.

    Attributes
    ----------
    problem : DualProblem
    rules : Rules
        Selector, step and stopping rule.
    states : list of RecordedState
        All states so far; the first entry is the state before any step.
    status : Status or None
        How the solve ended; None while the solve runs, and after an error.
    reason : str
        A sentence that says how the solve ended; if the stopping rule ended it, a sentence from the rule's `reasons`.
    error : BaseException or None
        The error that a rule raised instead of taking a step.

    Raises
    ------
    ValueError
        If `selector` and `step` cannot be combined, `cache_mb` is too small, or `limit` is not a whole number ≥ 1.

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
        start: ArrayLike = None,
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
        pairs = {"steps so far": f"{steps:,}", "ended": ended} | {
            name: short(rule) for name, rule in zip(("selector", "step", "stop"), self.rules, strict=True)
        }
        return Card(
            f"{counted(steps, 'step')} so far, {ended}; {type(self.rules.selector).__name__}, "
            f"{type(self.rules.step).__name__}",
            pairs=pairs,
        )

    def at(self, iteration: int) -> RecordedState:
        """Take the steps that are missing, and return the state after `iteration` steps.

        Raises
        ------
        IndexError
            If the solve ended before `iteration` steps; the message says why. If a rule raised an error, `at` raises
            this error again.
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
            f"iteration={iteration!r} does not exist, because the solve ended after {counted(last, 'step')}; give "
            f"at most {last}. {self.reason}"
        )

    def reach(self, iteration: int) -> int:
        """Take steps to the state `iteration` and its next step; return `iteration`, or the last iteration if smaller.

        If a rule raises an exception, the recording ends, and `error` holds the exception.
        """
        while len(self.states) <= iteration and not self.has_ended:
            self._take()
        return min(iteration, len(self.states) - 1)

    @property
    def has_ended(self) -> bool:
        """Whether the last state so far has no next step."""
        return self.status is not None or self.error is not None

    def __iter__(self) -> Iterator[RecordedState]:
        """Yield all states from the first state on, and take further steps as needed."""
        k = 0
        while self.reach(k) == k:
            yield self.states[k]
            k += 1
        if self.error is not None:
            raise self.error

    @property
    def trace(self) -> Trace:
        """The steps so far in the form of the trace that `solve` records; the seconds are NaN."""
        pairs = zip(self.states[:-1], self.states[1:], strict=True)
        steps = [_row(before.next, after) for before, after in pairs if before.next]
        rows = np.zeros(len(steps), dtype=TRACE_ROW)
        for name in TRACE_ROW.names or ():
            rows[name] = [step.get(name, np.nan) for step in steps]
        trace = Trace()
        trace.extend(rows)
        return trace

    def to_frame(self) -> Any:
        """Return the steps so far as a pandas DataFrame, with the columns of a trace and of the sub-problem.

        The columns objective, gap, rows, intercept and primal_objective describe the state after the step. A new
        recording has no steps; before you call ``to_frame``, call ``at`` or iterate over the recording.
        """
        pd = pandas_for("to_frame()")

        pairs = zip(self.states[:-1], self.states[1:], strict=True)
        return pd.DataFrame([_row(before.next, after) for before, after in pairs if before.next])

    def _take(self) -> None:
        """Take one step, and store the state before it."""
        state, before = self._state, _snapshot(self._state)
        image = None if state.displacement_image is None else state.displacement_image.copy()
        try:
            with located(state, self.rules), np.errstate(over="ignore", under="ignore"):
                if state.iteration < self.limit:
                    next(self._loop)
                else:  # the last permitted step may have solved the problem
                    code = validated_code(self.rules.stop, self.rules.stop.check(state))
                    self._end(Status.CONVERGED if code else Status.MAX_ITER, code)
        except StopIteration as ending:
            code = ending.value
            self._end(Status.CONVERGED if code > 0 else Status.STALLED, code)
        except BaseException as error:
            self.error = error
            # raise Ctrl-C at once: in the middle of a step, α and G may be inconsistent
            if not isinstance(error, Exception):
                raise
        taken = None if self.has_ended else _step_taken(state, image)
        self.states.append(_recorded(self.problem, before, taken))

    def _end(self, status: Status, code: int) -> None:
        self.status = status
        self.reason = self.rules.stop.reasons[code - 1] if code > 0 else status.value


def _snapshot(state: SolverState) -> tuple[Any, ...]:
    """Return copies of α and G of a state, and those of its numbers that the next step changes."""
    numbers = state.top, state.bottom, state.gap, state.objective, state.rows.computed, state.iteration
    return state.alpha.copy(), state.gradient.copy(), *numbers


def _recorded(problem: DualProblem, before: tuple[Any, ...], taken: RecordedStep | None) -> RecordedState:
    """Return a state in terms of the original data, even if the solver shifted the data by their mean."""
    alpha, exact, top, bottom, gap, objective, rows, iteration = before
    centred = problem.centred
    b = centred.midway(exact, top, bottom)
    primal = centred.primal_objective(alpha, b, exact)
    offset = 0.0 if centred is problem else centred.gram.offset(alpha)
    gradient = exact - offset
    alpha.flags.writeable = gradient.flags.writeable = False
    return RecordedState(iteration, alpha, gradient, b - offset, gap, objective, primal, rows, taken)


def _step_taken(state: SolverState, image: np.ndarray | None) -> RecordedStep:
    """Return the step that led to a state; `image` is KΔ, where Δ is the displacement of the preceding step."""
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
    """Return the row of `to_frame` for one step."""
    return {
        "iteration": after.iteration, "i": step.i, "j": step.j, "step": step.length,
        "newton": step.slope / step.curvature, "planned": step.planned, "free": step.free, "moved": step.moved,
        "objective": after.objective, "gap": after.gap, "rows": after.kernel_rows, "slope": step.slope,
        "curvature": step.curvature, "low": step.low, "high": step.high, "intercept": after.intercept,
        "primal_objective": after.primal_objective,
    }  # fmt: skip
