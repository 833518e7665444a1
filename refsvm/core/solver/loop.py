"""The readable loop: `steps` is SMO itself, and `iterate` prepares and runs it.

Until the stopping rule is satisfied, the loop selects a pair (i, j), chooses μ, and moves αᵢ += μ, αⱼ −= μ, G −=
μ(K[i] − K[j]). The loop also ends when the selector finds no pair, or when two steps in a row change nothing.
"""

from __future__ import annotations

from collections.abc import Generator

import numpy as np

from refsvm.core._checks import ArrayLike, positive_or_inf
from refsvm.core.problem import DualProblem
from refsvm.core.selectors.base import WorkingSetSelector
from refsvm.core.solver.rules import chosen_rules, row_store, starting_point
from refsvm.core.solver.validated import validated
from refsvm.core.state import SolverState
from refsvm.core.steps.base import StepRule
from refsvm.core.stopping.base import StoppingRule

Steps = Generator[SolverState, None, int]


def steps(state: SolverState, selector: WorkingSetSelector, step: StepRule, stop: StoppingRule) -> Steps:
    """Run SMO and yield the state after every step; return the stopping rule's code, or −1 if no pair is left."""
    while not (code := stop.check(state)):
        # --- select ---
        i, j = selector.select(state) if state.stalled < 2 else (-1, -1)  # end if two steps changed no α
        if i < 0:
            return -1
        # --- step ---
        state.rows.use(i, j)
        state.measure(i, j)
        state.n_candidates = 0
        mu = step.length(state, i, j)
        # --- update ---
        if step.uses_momentum:
            state.move(i, j, *mu)  # `mu` holds μ and κ: α also moves by κ times the last displacement Δ
        else:
            state.move(i, j, mu)
        yield state
    return code


def iterate(
    problem: DualProblem, *, selector: WorkingSetSelector | None = None, step: StepRule | None = None,
    stop: StoppingRule | None = None, start: ArrayLike = None, cache_mb: float = 200.0
) -> Steps:  # fmt: skip
    """Solve a dual problem, one readable NumPy step at a time, and yield the state after each step.

    Parameters
    ----------
    problem, selector, step, stop, start, cache_mb
        As in `refsvm.solve`.

    Yields
    ------
    SolverState
        The state, which is the same object after every step; copy values that
        you want to keep.

    Raises
    ------
    ValueError
        If `selector` and `step` cannot be combined or `cache_mb` is too small.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import DualProblem, RBF, iterate
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([-1, 1, 1, -1])
    >>> [round(state.gap, 3) for state in iterate(DualProblem.classification(X, y, kernel=RBF(1.0), C=10.0))]
    [1.476, 0.415, 0.0]
    """
    rules = chosen_rules(selector, step, stop)
    rows = row_store(problem, rules, positive_or_inf("cache_mb", cache_mb))
    with np.errstate(under="ignore"):
        return _each(steps(rules.begin(problem, starting_point(problem, start), rows), *validated(*rules)))


def _each(loop: Steps) -> Steps:
    """Yield the states; ignore underflow inside a step, and restore the caller's NumPy settings between steps."""
    take = np.errstate(under="ignore")(next)
    while True:
        try:
            state = take(loop)
        except StopIteration as end:
            return end.value
        yield state
