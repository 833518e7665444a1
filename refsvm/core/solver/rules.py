"""Functions that prepare the rules, the memory for kernel rows, and the start of a solve."""

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
"""Below this tolerance, a solve does not warn about rounding, because no data allow such a precision."""


class Rules(NamedTuple):
    """Selector, step and stopping rule of one solve."""

    selector: WorkingSetSelector
    step: StepRule
    stop: StoppingRule

    def begin(
        self, problem: DualProblem, alpha: np.ndarray, rows: KernelRows, gradient: np.ndarray | None = None
    ) -> SolverState:
        """Return a new state for a solve with the given rules; `SolverState` describes the arguments."""
        step, memories = self.step, self.memories(problem)
        return SolverState(problem, alpha, rows, step.history, memories, gradient, step.uses_momentum)

    def memories(self, problem: DualProblem) -> Memories:
        """Return new scratch memory for each of the three rules."""
        own = all(map(is_builtin, map(type, self)))
        return cast("Memories", tuple(r.memory(problem) if own else memory_of(r, problem) for r in self))

    def restricted(self, tolerance: float) -> Rules:
        """Return the rules that solve a restricted problem to the KKT gap `tolerance`."""
        return self._replace(stop=KKTGap(tolerance))


class DefaultRules(Rules):
    """Default rules: planning-ahead steps on all variables, and conjugate steps on restricted problems.

    A conjugate step gains more than a planned step, but changes more variables. Conjugate steps save time if all kernel
    rows are in memory and many steps are taken, as on restricted problems.
    """

    __slots__ = ()

    def restricted(self, tolerance: float) -> Rules:
        """Return the rules that solve a restricted problem to the KKT gap `tolerance`."""
        return Rules(CONJUGATE_SECOND_ORDER, CONJUGATE, KKTGap(tolerance))


def chosen_rules(
    selector: WorkingSetSelector | None, step: StepRule | None, stop: StoppingRule | None
) -> Rules:
    """Replace None with default rules; check each rule's type, and that the selector and the step can be combined."""
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
    # the proof that planned steps raise f needs a selector that considers the planned pair
    if step.history and (step.uses_momentum or not selector.takes_candidates):
        raise misfit(selector, step)
    return Rules(selector, step, stop)


def misfit(selector: WorkingSetSelector, step: StepRule) -> ValueError:
    """Return the error that says why `step` does not work with `selector`, or why no selector works with `step`."""
    if not selector.takes_candidates:
        return ValueError(
            f"selector={selector!r} cannot be combined with step={step!r}: the convergence proof of planned steps "
            "needs a selector that considers the planned pairs; give such a selector, for example SecondOrder()."
        )
    return ValueError(
        f"step={step!r} uses momentum and also plans ahead (history = {step.history}), but a planned step moves only "
        "the pair; set uses_momentum = False or history = 0 in the class of the step rule."
    )


def rows_at_once(rules: Rules, n: int) -> int:
    """Return how many of the n kernel rows must fit in memory at once."""
    # two rows for the pair, or more if the selector or step rule needs more, plus the rows of the stopping rule
    return min(
        max(2, rules.selector.rows_needed(n), rules.step.rows_needed(n)) + rules.stop.rows_needed(n), n
    )


def row_store(
    problem: DualProblem, rules: Rules, cache_mb: float, dtype: Any = np.float64, read: Any = np.float64
) -> KernelRows:
    """Return a store for kernel rows; raise ValueError if fewer rows fit in memory than the rules need at once."""
    problem = problem.centred
    n, gram = problem.n, problem.gram
    needed = rows_at_once(rules, n)
    rows = stored_rows(gram, cache_mb, dtype, needed, read)
    if needed > rows.capacity:
        raise ValueError(
            f"selector={rules.selector!r} with stop={rules.stop!r} needs {needed} kernel rows in memory, but "
            f"cache_mb={cache_mb!r} holds {rows.capacity}; give at least {megabytes(needed, n):.3g}."
        )
    if gram.facts.data_error > TIGHTEST:
        warn_of_rounding(gram.facts.data_error, rules.stop.tolerance)
    return rows


def starting_point(problem: DualProblem, start: Any) -> np.ndarray:
    """Return a feasible α: `start`, repaired with a warning if infeasible, or a point near 0 if `start` is None."""
    if start is None:
        return np.zeros(problem.n) if problem.zero_is_feasible else problem.feasible(_filled_up(problem))
    return feasible_start(problem, vector("start", start, problem.n))


def feasible_start(problem: DualProblem, alpha: np.ndarray, name: str = "start") -> np.ndarray:
    """Return the given α if it is feasible; otherwise warn and return a feasible point near it."""
    # accept an α whose sum differs from z only by rounding
    inside = ((problem.lower <= alpha) & (alpha <= problem.upper)).all()
    rounding = 4.0 * EPSILON * problem.n**0.5 * (float(np.abs(alpha).sum()) + abs(problem.z))
    if inside and abs(problem.z - float(alpha.sum())) <= rounding:
        return alpha
    point = problem.feasible(alpha)
    scale = 1e-9 * max(1.0, float(np.abs(point).max()))
    if np.abs(point - alpha).max() > scale:
        warnings.warn(
            f"{name} is not feasible (it leaves the box, or its sum is not z); a feasible point near it replaces it.",
            stacklevel=frames_within() + 1,
        )
    return point


def warn_of_rounding(rounding: float, tolerance: float) -> None:
    """Warn if kernel values are rounded by more than the tolerance of the stopping rule."""
    if rounding > tolerance:
        warnings.warn(
            f"The features are so large that errors of kernel values are about {rounding:.3g}, above the "
            f"tolerance {tolerance:.3g}; subtract the mean of each feature and scale it (StandardScaler), or choose "
            "a smaller gamma.",
            stacklevel=frames_within() + 1,
        )


def _filled_up(problem: DualProblem) -> np.ndarray:
    """Return α = 0 clipped to the box; if Σα is not z yet, fill the first variables up to their bounds, as LIBSVM does.

    One-class problems start at this α, because z ≠ 0. Each changed variable ends at a bound, except the last one.
    Computing G thus needs few kernel rows, and most examples that have α = 0 in the solution begin with α = 0.
    """
    point = np.zeros(problem.n).clip(problem.lower, problem.upper)
    missing = problem.z - float(point.sum())
    room = problem.upper - point if missing > 0.0 else point - problem.lower
    if missing == 0.0 or not np.isfinite(room).all():
        return point
    # fill from the first variable on, as LIBSVM does, so that solves of both programs can be compared
    before = np.cumsum(room) - room
    return point + np.sign(missing) * (abs(missing) - before).clip(0.0, room)
