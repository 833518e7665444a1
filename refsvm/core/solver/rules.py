"""Where a solve begins: its three rules, memory for kernel rows, and a feasible α."""

from __future__ import annotations

import warnings
from typing import Any, Final, NamedTuple, cast

import numpy as np

from refsvm.core._checks import frames_within, vector
from refsvm.core.kernels.cached_rows import stored_rows
from refsvm.core.kernels.rows import KernelRows, megabytes
from refsvm.core.problem import EPSILON, DualProblem
from refsvm.core.rule import is_builtin, memory_of
from refsvm.core.selectors.base import WorkingSetSelector
from refsvm.core.selectors.conjugate_second_order import ConjugateSecondOrder
from refsvm.core.selectors.second_order import SecondOrder
from refsvm.core.state import Memories, SolverState
from refsvm.core.steps.base import StepRule
from refsvm.core.steps.conjugate import ConjugateStep
from refsvm.core.steps.newton import NewtonStep
from refsvm.core.steps.planning_ahead import PlanningAheadStep
from refsvm.core.stopping.base import StoppingRule
from refsvm.core.stopping.kkt_gap import KKTGap

SECOND_ORDER: Final = SecondOrder()
CONJUGATE_SECOND_ORDER: Final = ConjugateSecondOrder()
NEWTON: Final = NewtonStep()
CONJUGATE: Final = ConjugateStep()
PLANNING_AHEAD: Final = PlanningAheadStep()
KKT_GAP: Final = KKTGap()

TIGHTEST: Final = 1e-12
"""A tolerance below this is no fault of the data: it asks for more than floating point has anywhere."""


class Rules(NamedTuple):
    """Selector, step and stopping rule of one solve."""

    selector: WorkingSetSelector
    step: StepRule
    stop: StoppingRule

    def begin(
        self, problem: DualProblem, alpha: np.ndarray, rows: KernelRows, gradient: np.ndarray | None = None
    ) -> SolverState:
        """Return the state before the first step of these rules; arguments as in `SolverState`."""
        step, memories = self.step, self.memories(problem)
        return SolverState(problem, alpha, rows, step.history, memories, gradient, step.uses_momentum)

    def memories(self, problem: DualProblem) -> Memories:
        """Return fresh scratch memory of each rule."""
        own = all(map(is_builtin, map(type, self)))
        return cast("Memories", tuple(r.memory(problem) if own else memory_of(r, problem) for r in self))

    def restricted(self, tolerance: float) -> Rules:
        """Return the rules that solve a restricted problem to this KKT gap."""
        return self._replace(stop=KKTGap(tolerance))


class DefaultRules(Rules):
    """Default rules: where few variables are left, steps are conjugate.

    A conjugate step touches more numbers than a planned one, and gains more. It pays where all kernel rows are at hand
    and many steps are taken, as on restricted problems. On all variables the steps are planned ahead.
    """

    __slots__ = ()

    def restricted(self, tolerance: float) -> Rules:
        """Return the rules that solve a restricted problem to this KKT gap."""
        return Rules(CONJUGATE_SECOND_ORDER, CONJUGATE, KKTGap(tolerance))


def chosen_rules(
    selector: WorkingSetSelector | None, step: StepRule | None, stop: StoppingRule | None
) -> Rules:
    """Fill in the default rules; refuse objects that are no rules, and rules that do not fit together."""
    stop = KKT_GAP if stop is None else StoppingRule.checked("stop", stop)
    if selector is None and step is None:
        return DefaultRules(SECOND_ORDER, PLANNING_AHEAD, stop)
    if selector is None:
        selector = CONJUGATE_SECOND_ORDER if getattr(step, "uses_momentum", False) else SECOND_ORDER
    else:
        selector = WorkingSetSelector.checked("selector", selector)
    if step is None:
        ordinary = PLANNING_AHEAD if selector.takes_candidates else NEWTON
        step = CONJUGATE if selector.takes_displacement else ordinary
    else:
        step = StepRule.checked("step", step)
    # a planned step is only proved to gain together with the pair that it was planned for
    if step.history and (step.uses_momentum or not selector.takes_candidates):
        raise misfit(selector, step)
    return Rules(selector, step, stop)


def misfit(selector: WorkingSetSelector, step: StepRule) -> ValueError:
    """Return the error that says why a step that plans fits no selector, or not this one."""
    if not selector.takes_candidates:
        return ValueError(
            f"selector={selector!r} cannot be combined with step={step!r}: the convergence proof of planned steps "
            "needs a selector that also considers the pairs planned with, such as SecondOrder()."
        )
    return ValueError(
        f"step={step!r} carries the last displacement and plans with candidates, history = {step.history}; "
        "a planned step is one of the pair alone: set uses_momentum = False or history = 0."
    )


def rows_at_once(rules: Rules, n: int) -> int:
    """Return how many of the n kernel rows have to be in memory at once."""
    # two of the pair, or those of a rule that wants more; those of the stopping rule are read beside them
    return min(
        max(2, rules.selector.rows_needed(n), rules.step.rows_needed(n)) + rules.stop.rows_needed(n), n
    )


def row_store(
    problem: DualProblem, rules: Rules, cache_mb: float, dtype: Any = np.float64, read: Any = np.float64
) -> KernelRows:
    """Return memory for kernel rows that holds as many at once as the rules need; arguments as in `stored_rows`."""
    problem = problem.centred
    n, gram = problem.n, problem.gram
    needed = rows_at_once(rules, n)
    rows = stored_rows(gram, cache_mb, dtype, needed, read)
    if needed > rows.capacity:
        raise ValueError(
            f"selector={rules.selector!r} with stop={rules.stop!r} needs {needed} kernel rows in memory and "
            f"cache_mb={cache_mb!r} holds {rows.capacity}; give at least {megabytes(needed, n):.3g}."
        )
    if gram.facts.data_error > TIGHTEST:
        warn_of_rounding(gram.facts.data_error, rules.stop.tolerance)
    return rows


def starting_point(problem: DualProblem, start: Any) -> np.ndarray:
    """Return a feasible α: near 0, or the given one, which is repaired with a warning where it is not feasible."""
    if start is None:
        return np.zeros(problem.n) if problem.zero_is_feasible else problem.feasible(_filled_up(problem))
    return feasible_start(problem, vector("start", start, problem.n))


def feasible_start(problem: DualProblem, given: np.ndarray, name: str = "start") -> np.ndarray:
    """Return the α that was given, or its nearest repair."""
    # an α that is feasible up to the rounding of its sum is taken as it is
    inside = ((problem.lower <= given) & (given <= problem.upper)).all()
    rounding = 4.0 * EPSILON * problem.n**0.5 * (float(np.abs(given).sum()) + abs(problem.z))
    if inside and abs(problem.z - float(given.sum())) <= rounding:
        return given
    point = problem.feasible(given)
    scale = 1e-9 * max(1.0, float(np.abs(point).max()))
    if np.abs(point - given).max() > scale:
        warnings.warn(
            f"{name} is not feasible (outside the box, or its sum is not z); the nearest repair is used.",
            stacklevel=frames_within() + 1,
        )
    return point


def warn_of_rounding(rounding: float, tolerance: float) -> None:
    """Warn if kernel values are rounded by more than the tolerance of the stopping rule."""
    if rounding > tolerance:
        warnings.warn(
            f"The features are so large that kernel values are only right to about {rounding:.3g}, and the "
            f"tolerance is {tolerance:.3g}; subtract the mean of each feature and scale it (StandardScaler), or choose "
            "a smaller gamma.",
            stacklevel=frames_within() + 1,
        )


def _filled_up(problem: DualProblem) -> np.ndarray:
    """Return α = 0, clipped to the box, and what its sum lacks put on the first variables, as LIBSVM does.

    One-class problems begin with z ≠ 0. All but one of these variables are at a bound then: few kernel rows are needed
    for G, and the examples that end without weight need not first lose it.
    """
    point = np.zeros(problem.n).clip(problem.lower, problem.upper)
    missing = problem.z - float(point.sum())
    room = problem.upper - point if missing > 0.0 else point - problem.lower
    if missing == 0.0 or not np.isfinite(room).all():
        return point
    # filled from the first variable on, as LIBSVM does: a start that others know can be compared
    before = np.cumsum(room) - room
    return point + np.sign(missing) * (abs(missing) - before).clip(0.0, room)
