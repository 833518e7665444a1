"""The ball rule: stop when the signs of h at all left-out examples are proved."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar, Final

import numpy as np

from refsvm.core._checks import positive, whole
from refsvm.core.problem import DualProblem, total
from refsvm.core.result import Solution
from refsvm.core.state import SolverState
from refsvm.core.stopping.base import StoppingRule, left_out_examples
from refsvm.core.stopping.midpoint import INDEFINITE, certain_sign, distances, radius, tangent
from refsvm.core.stopping.relative import compare

BEGUN, NEXT, ASKED, CODE, COUNT, AT, PRIMAL, HAS_POINT, INTERCEPT, _, TOLERANCE = range(-11, 0)
"""Positions at the end of the memory: 1 after the first test; step of the next test; step and code of the last call;
number of left-out examples, and how many of them are proved; P(w); 1 if w is known, and its b; two numbers for
`refsvm.core.stopping.relative`. Before these, with n values each: the left-out examples, as r, or ±(r + 1) once the
sign is proved; α of w; G of w; v."""

NEAR: Final = 0.03
"""KKT gap at and below which the rule also uses the present model in place of w."""

TINY: Final = float(np.finfo(np.float64).tiny)
"""Stands for a decision value of which only the sign is known."""


@dataclass(frozen=True)
class BallRule(StoppingRule):
    """Stop when a ball that contains the optimum proves the sign of h at every left-out example.

    Let w be the weight vector of the full solution, w̃ that of the present α, and w_R the unknown optimum without the
    examples R. Then w_R is within distance ρ of ½(w + w̃), with ρ² = P(w) − D(α) − ¼‖w − w̃‖² (proof in
    `refsvm.core.stopping.midpoint`). This ball decides most rounds of leave-one-out before the first step. Later, the
    ball with w̃ in place of w becomes smaller: its ρ² is the duality gap, which falls to zero. The rule therefore tests
    this ball as well once ψ(α) ≤ 0.03. It also stops at ψ(α) ≤ ε, because no ball proves a sign if h = 0 at the
    optimum.

    A test takes O(n) operations for each example whose sign is not yet proved, and ends at the first example that it
    cannot prove. A proved sign holds for the exact optimum with any of its intercepts. With one left-out example, the
    reason of the solution gives the proved sign, and the decision value where the solve stops may have the other sign.
    With several left-out examples, the rule stops only when their decision values have the proved signs. With hard
    margins, or if a kernel matrix turns out to be indefinite, only ψ(α) ≤ ε stops the solve.

    Parameters
    ----------
    tol : float
        Tolerance ε > 0 for the KKT gap.
    every : int
        Number of steps between two tests, or a quarter of the steps taken so far if that is more.
    example : int, optional
        The left-out example whose sign is needed. By default all examples with an empty box Lᵣ = Uᵣ = 0, which
        `DualProblem.without` makes.
    solved : Solution, optional
        The solution that gives w; leave-one-out passes the solution on all examples. By default the starting point of
        the solve gives w.
    relative : bool
        True if ε is relative to the range of the decision values, as in `KKTGap`.

    Raises
    ------
    ValueError
        If tol or every is not positive; at the beginning of a solve, if the sum of α is not 0 or no example is left
        out.

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
    relative: bool = False
    left_out: ClassVar[bool] = True
    reasons: ClassVar[tuple[str, ...]] = (
        "The KKT gap is at most tol.",
        "The decision function at the left-out example is proved to be positive.",
        "The decision function at the left-out example is proved to be negative.",
        "The signs at all left-out examples are proved, and the decision values have them.",
    )

    def __post_init__(self) -> None:
        positive("tol", self.tol)
        whole("every", self.every, 1)
        if self.example is not None:
            whole("example", self.example, 0)

    def parameters(self) -> tuple[float, ...]:
        """Return (tol, period, relative)."""
        return (self.tol, float(self.every), float(self.relative))

    def memory(self, problem: DualProblem, steps: int = 0) -> np.ndarray:
        """Return the memory: left-out examples, α of w, G of w and v with n values each, followed by single numbers."""
        examples, n, given = left_out_examples(self, self.example, problem), problem.n, self.solved
        if not len(examples):
            raise ValueError(
                "BallRule() needs left-out examples, with L = U = 0, and the problem has none; "
                "solve problem.without(r)."
            )
        memory = np.zeros(4 * n - BEGUN)
        left_out, alpha, gradient, v = memory[:BEGUN].reshape(4, n)
        left_out[: len(examples)], memory[COUNT], memory[ASKED] = examples, len(examples), -1.0
        v[:], memory[TOLERANCE] = problem.v, self.tol
        if problem.is_open:  # a hard margin, where P is infinite
            memory[NEXT] = np.inf
        if given is not None and len(given.alpha) == n:
            given = given.in_solver_coordinates()
            alpha[:], gradient[:] = given.alpha, given.gradient
            memory[HAS_POINT], memory[INTERCEPT] = 1.0, given.intercept
        return memory

    def check(self, state: SolverState) -> int:
        """Check the gap, and test the balls if a test is due."""
        memory = state.stop_memory
        # ψ ≤ ε, or ψ ≤ ε min(1, s/u)
        if compare(self, state):
            return 1
        if memory[ASKED] == state.iteration:
            return int(memory[CODE])
        if state.iteration < memory[NEXT]:
            return 0
        if not memory[BEGUN]:
            _begin(state)
        memory[ASKED], memory[NEXT] = state.iteration, state.iteration + max(self.every, state.iteration // 4)
        memory[CODE] = _proved(state)
        return int(memory[CODE])

    def with_reference(self, solved: Solution) -> BallRule:
        """Return a copy of the rule that takes w from this solution."""
        return replace(self, solved=solved)

    def outcome(self, reason: str, value: float) -> tuple[str, float]:
        """Return "ball" if a ball decided, and the decision value, or ±`TINY` if its sign is not the proved one."""
        if reason == self.reasons[1]:
            return "ball", max(value, TINY)
        if reason == self.reasons[2]:
            return "ball", min(value, -TINY)
        return "kkt", value

    def rows_needed(self, n: int) -> int:
        """Return 1: the rule reads the kernel row of the example that it tests."""
        return 1

    def restricted_tolerance(self, gap: float) -> float:
        """Solve restricted problems to a tenth of the gap, so that the ball is tested in between."""
        return max(gap / 10.0, self.tol)


def _begin(state: SolverState) -> None:
    """Take w from the present α if no solution is given, and compute P(w)."""
    memory = state.stop_memory
    _, alpha, gradient, _ = memory[:BEGUN].reshape(4, -1)
    if not memory[HAS_POINT]:
        alpha[:], gradient[:] = state.alpha, state.gradient
        memory[INTERCEPT] = state.problem.midway(gradient, state.top, state.bottom)
    # the b of w is optimal, or close to optimal
    memory[PRIMAL] = _primal(alpha, gradient, float(memory[INTERCEPT]), state)
    memory[BEGUN] = 1.0


def _primal(alpha: np.ndarray, gradient: np.ndarray, b: float, state: SolverState) -> float:
    """Return ½‖w‖² + Σ max(Uᵢ(Gᵢ − b), Lᵢ(Gᵢ − b)) ≥ P(w), with ‖w‖² = αᵀ(v − G); any b gives an upper bound."""
    losses = tangent(gradient, state.lower, state.upper, b)[0]
    return 0.5 * total(alpha * (state.v - gradient)) + losses


def _proved(state: SolverState) -> int:
    """Return 2 or 3 if the only left-out example has a proved sign, 4 if several do and h agrees, or 0."""
    memory, G, v, dual = state.stop_memory, state.gradient, state.v, state.objective
    left_out, alpha, gradient, _ = memory[:BEGUN].reshape(4, -1)
    b = state.problem.midway(G, state.top, state.bottom)
    # the outputs ½(w + w̃)·φᵢ, and ρ;  D(α) = f(α),  ‖w − w̃‖² = (α_w − α)ᵀ(G − G_w)
    separation = total((alpha - state.alpha) * (G - gradient))
    balls = [(0.5 * ((v - gradient) + (v - G)), radius(float(memory[PRIMAL]), dual, separation))]
    if state.gap <= NEAR:
        # the second ball, with w̃ in place of w
        balls.append((v - G, radius(_primal(state.alpha, G, b, state), dual, 0.0)))
    for k in range(int(memory[AT]), int(memory[COUNT])):
        r = int(left_out[k])
        if state.least_curvature < INDEFINITE * float(state.diagonal[r]):
            return 0
        reach = distances(state.row(r), state.diagonal, r)
        signs = (
            certain_sign(outputs - outputs[r], rho * reach, v, state.lower, state.upper)
            for outputs, rho in balls
        )
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
