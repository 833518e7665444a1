"""The ball rule: stop when the signs of the decision function h at all left-out examples are proved."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import ClassVar, Final

import numpy as np

from refsvm.core._checks import positive, positive_or_inf, whole
from refsvm.core.problem import DualProblem, total
from refsvm.core.result import Solution
from refsvm.core.state import SolverState
from refsvm.core.stopping.base import StoppingRule, left_out_examples
from refsvm.core.stopping.midpoint import INDEFINITE, Rounding, certain_sign, distances, gap
from refsvm.core.stopping.relative import compare

BEGUN, NEXT, LAST, ASKED, CODE, COUNT, AT, HAS_POINT, INTERCEPT, SIZE, LARGEST, STEPS, MOVING = range(-15, -2)
"""Positions at the end of the memory: 1 after the first test; step of the next test; ψ at the last test; step and code
of the last call; number of left-out examples, and how many of them are proved; 1 if w is known, its b, max |G|, max |α|
and steps; the largest Kᵢᵢ of the variables that may move; two numbers for `refsvm.core.stopping.relative`. Before
these, with n values each: the left-out examples, as r, or ±(r + 1) once the sign is proved; α of w; G of w; v."""

NEAR: Final = 0.03
"""KKT gap at and below which the rule also uses the present model in place of w."""

PROGRESS: Final = 0.7
"""The next test waits until ψ is at most this fraction of its value at the last test."""

TINY: Final = float(np.finfo(np.float64).tiny)
"""Stands for a decision value of which only the sign is known."""


@dataclass(frozen=True)
class BallRule(StoppingRule):
    """Stop when a ball that contains the optimum proves the sign of the decision function h at every left-out example.

    Let w be the weight vector of the full solution, w̃ the weight vector of the present α, and w_R the unknown optimum
    without the examples R. Then w_R is within distance ρ of ½(w + w̃), with ρ² = P(w) − D(α) − ¼‖w − w̃‖², computed as
    a sum of terms that are never negative (proof in `refsvm.core.stopping.midpoint`). The ball around ½(w + w̃) decides
    most rounds of leave-one-out before the first step. If w̃ takes the place of w, the ball is around w̃, and ρ² is the
    duality gap, which falls to zero. The rule therefore tests the ball around ½(w + w̃) before the first step and while
    ψ(α) > 0.03, and the ball around w̃ when ψ(α) ≤ 0.03. The rule also stops when ψ(α) ≤ ε, because no ball proves a
    sign if h = 0 at the optimum.

    A test takes O(n) operations for each sign that is not yet proved, and ends at the first sign that it cannot prove.
    A proved sign holds for the exact optimum with any of its intercepts. With one left-out example, ``Solution.reason``
    gives the proved sign; the decision value of the last α may have the opposite sign. With several left-out examples,
    the rule stops only when their decision values have the proved signs. With hard margins, or if a kernel matrix turns
    out to be indefinite, only ψ(α) ≤ ε stops the solve.

    Parameters
    ----------
    tol : float
        Tolerance ε > 0 for the KKT gap.
    every : int
        Number of steps between two tests, or a sixteenth of the steps taken so far if this number is larger. The rule
        also waits until ψ(α) is at most 0.7 times its value at the last test.
    example : int, optional
        The left-out example at which the rule proves the sign; by default, it proves the signs at all left-out
        examples, whose box is Lᵣ = Uᵣ = 0 (`DualProblem.without`).
    solved : Solution, optional
        The solution whose weight vector is w; leave-one-out passes the solution on all examples. By default, w is the
        weight vector of the α at which the solve starts.
    relative : bool or float
        True if ε is relative to the range of the decision values, as in `KKTGap`.
    near : float
        KKT gap at and below which the rule tests signs; by default it tests signs from the start. When the rule stops,
        the decision values are thus at least as exact as at a KKT gap of `near`.

    Raises
    ------
    ValueError
        If tol, every or near is not positive; at the beginning of a solve, if the sum of α is not 0 or no example is
        left out.

    References
    ----------
    The rule is our own; `refsvm.core.stopping.midpoint` cites related work.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import BallRule, DualProblem, KKTGap, RBF, solve
    >>> X, y = np.arange(8.0)[:, None], np.array([-1, -1, 1, -1, 1, 1, -1, 1])
    >>> problem = DualProblem.classification(X, y, kernel=RBF(0.1), C=100.0)
    >>> quick = solve(problem.without(7), stop=BallRule(solved=solve(problem)))
    >>> quick.reason
    'The decision function at the left-out example is proved to be negative.'
    >>> quick.iterations < solve(problem.without(7), stop=KKTGap(1e-8)).iterations
    True
    """

    tol: float = 1e-3
    every: int = 5
    example: int | None = None
    solved: Solution | None = field(default=None, repr=False, compare=False)
    relative: bool | float = False
    near: float = math.inf
    left_out: ClassVar[bool] = True
    reasons: ClassVar[tuple[str, ...]] = (
        "The KKT gap is at most tol.",
        "The decision function at the left-out example is proved to be positive.",
        "The decision function at the left-out example is proved to be negative.",
        "The signs at all left-out examples are proved, and the decision values have these signs.",
    )

    def __post_init__(self) -> None:
        positive("tol", self.tol)
        positive_or_inf("near", self.near)
        whole("every", self.every, 1)
        if self.example is not None:
            whole("example", self.example, 0)

    def parameters(self) -> tuple[float, ...]:
        """Return (tol, period, relative, near)."""
        return (self.tol, float(self.every), float(self.relative), self.near)

    def memory(self, problem: DualProblem, steps: int = 0) -> np.ndarray:
        """Return the memory: four arrays of n values (left-out examples, α of w, G of w, v), then single numbers."""
        examples, n, solved = left_out_examples(self, self.example, problem), problem.n, self.solved
        if not len(examples):
            raise ValueError(
                "BallRule() needs left-out examples, with L = U = 0, but the problem has no such examples; "
                "solve problem.without(r)."
            )
        memory = np.zeros(4 * n - BEGUN)
        left_out, alpha, gradient, v = memory[:BEGUN].reshape(4, n)
        left_out[: len(examples)], memory[COUNT], memory[ASKED] = examples, len(examples), -1.0
        memory[LAST] = math.inf
        v[:], memory[-1] = problem.v, self.tol
        if problem.is_open:  # a hard margin, where P is infinite
            memory[NEXT] = np.inf
        if solved is not None and len(solved.alpha) == n:
            solved = solved.in_solver_coordinates()
            alpha[:], gradient[:] = solved.alpha, solved.gradient
            memory[HAS_POINT], memory[INTERCEPT], memory[STEPS] = 1.0, solved.intercept, solved.iterations
        return memory

    def check(self, state: SolverState) -> int:
        """Compare ψ with the tolerance, and test the balls if a test is due."""
        memory = state.stop_memory
        # ψ ≤ ε, or ψ ≤ ε min(1, s/u)
        if compare(self, state):
            return 1
        if memory[ASKED] == state.iteration:
            return int(memory[CODE])
        if state.iteration < memory[NEXT] or state.gap > min(self.near, PROGRESS * memory[LAST]):
            return 0
        if not memory[BEGUN]:
            _begin(state)
        memory[ASKED] = state.iteration
        memory[NEXT] = state.iteration + max(self.every, state.iteration // 16)
        memory[LAST], memory[CODE] = state.gap, _proved(state)
        return int(memory[CODE])

    def with_reference(self, solved: Solution) -> BallRule:
        """Return a copy of the rule that takes w from this solution."""
        return replace(self, solved=solved)

    def outcome(self, reason: str, value: float) -> tuple[str, float]:
        """Return "ball" and a value with the proved sign if the rule proved one sign, otherwise "kkt" and `value`."""
        if reason in self.reasons[1:3]:
            return "ball", of_sign(value, 1 if reason == self.reasons[1] else -1)
        return "kkt", value

    def rows_needed(self, n: int) -> int:
        """Return 1: the rule reads the kernel row of the example that it tests."""
        return 1

    def restricted_tolerance(self, gap: float) -> float:
        """Return a tenth of the gap, so that the balls are tested often enough on the full problem."""
        return max(gap / 10.0, self.tol)


def of_sign(value: float, sign: int) -> float:
    """Return a decision value, or ±`TINY` if the value does not have the proved sign."""
    return max(value, TINY) if sign > 0 else min(value, -TINY)


def _begin(state: SolverState) -> None:
    """Take w from the present α if no solution is given; store max |G| and max |α|, which bound the rounding errors."""
    memory = state.stop_memory
    _, alpha, gradient, _ = memory[:BEGUN].reshape(4, -1)
    if not memory[HAS_POINT]:
        alpha[:], gradient[:] = state.alpha, state.gradient
        memory[INTERCEPT] = state.problem.midway(gradient, state.top, state.bottom)
    memory[SIZE], memory[LARGEST] = np.abs(gradient).max(), np.abs(alpha).max()
    memory[MOVING] = state.diagonal.max(initial=0.0, where=state.lower < state.upper)
    memory[BEGUN] = 1.0


def _proved(state: SolverState) -> int:
    """For one example, return 2 or 3 for the proved sign +1 or −1; for several, 4 if h has the proved signs; else 0."""
    memory, G, v, lower, upper = state.stop_memory, state.gradient, state.v, state.lower, state.upper
    left_out, alpha, gradient, _ = memory[:BEGUN].reshape(4, -1)
    b = state.problem.midway(G, state.top, state.bottom)
    rounding = Rounding.of(state, memory[STEPS], memory[LARGEST], memory[SIZE])
    error, most = rounding.at(memory[MOVING]), rounding.at(state.largest_diagonal)
    balls, box = [], (state.alpha, lower, upper)
    if state.iteration == 0 or state.gap > NEAR:
        # ρ² = ¼‖w − w̃‖² + T(α̃, G_w − b_w),  ‖w − w̃‖² = (α_w − α̃)ᵀ(G − G_w)
        moved = alpha - state.alpha
        separation = max(total(moved * (G - gradient)), 0.0) + 2.0 * most * total(np.abs(moved))
        square = 0.25 * separation + gap(state.alpha, gradient - memory[INTERCEPT], lower, upper, error)
        balls.append((0.5 * (gradient + G), square))
    if state.gap <= NEAR:
        # test the ball around w̃
        balls.append((G, gap(state.alpha, G - b, lower, upper, error)))
    for k in range(int(memory[AT]), int(memory[COUNT])):
        r = int(left_out[k])
        if state.least_curvature < INDEFINITE * float(state.diagonal[r]):
            return 0
        apart = distances(state.row(r), state.diagonal, state.diagonal[r], state.kernel_rounding)
        off = error + rounding.at(state.diagonal[r])
        signs = (certain_sign(t + (v[r] - t[r]), apart, square, off, *box) for t, square in balls)
        sign = next(filter(None, signs), 0)
        if sign == 0:
            return 0
        left_out[k], memory[AT] = sign * (r + 1), k + 1.0
    if memory[COUNT] == 1.0:
        return 2 if left_out[0] > 0.0 else 3
    proved = left_out[: int(memory[COUNT])]
    R = np.abs(proved).astype(np.int64) - 1
    # h(xᵣ) = vᵣ − Gᵣ + b
    return 4 if ((v[R] - G[R] + b >= 0.0) == (proved > 0.0)).all() else 0
