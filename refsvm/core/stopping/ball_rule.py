"""The ball: stop when the signs at all left-out examples are proved."""

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
"""Places at the end of the memory: whether the first test has been; when the next is due; when last asked, and what was
said; how many examples are left out, and how many of them are proved; P(w); whether w is given, and its b; two of
`refsvm.core.stopping.relative`. Before them, n values each: the left-out examples, as r, or ±(r + 1) once the sign is
proved; α and G of w; v."""

NEAR: Final = 0.03
"""KKT gap from which on the present machine is tried as w."""

TINY: Final = float(np.finfo(np.float64).tiny)
"""Of a decision value whose sign alone is known."""


@dataclass(frozen=True)
class BallRule(StoppingRule):
    """Stop when a ball around two known machines proves the sign of h at every left-out example.

    With w the machine of the full solution and w̃ that of the present α, the machine w_R without the examples R is
    within ρ of ½(w + w̃), ρ² = P(w) − D(α) − ¼‖w − w̃‖² (proof and sign in `refsvm.core.stopping.midpoint`). Before a
    step is taken this decides most rounds of leave-one-out. Near the end w̃ is the better w: then ρ² is the duality
    gap, and falls to zero. So both are tried, w̃ where ψ(α) ≤ 0.03; above, it decided nothing on the sets tried. The
    rule also stops at ψ(α) ≤ ε, since no sign is proved where h = 0 at the optimum.

    A test costs O(n) for each example whose sign is not yet proved and stops at the first that is not: of several, all
    have to be. The proof is of the sign at the exact optimum, with any intercept. Of one left-out example the reason
    tells that sign; the decision value of the point where the solve stops may still have the other one. Of several, the
    rule stops only where their decision values have the signs proved. Hard margins and kernel matrices that turn out
    indefinite are left to ψ(α) ≤ ε.

    Parameters
    ----------
    tol : float
        ε > 0 of the KKT gap.
    every : int
        Steps between two tests; a quarter of the steps taken so far, once that is more.
    example : int, optional
        The only left-out example of interest. None: all with an empty box Lᵣ = Uᵣ = 0, as `DualProblem.without`
        leaves them.
    solved : Solution, optional
        The solution that w belongs to; leave-one-out passes the one on all examples. None: the point where the solve
        starts.
    relative : bool
        Whether ε is relative to the range of the decision values, as in `KKTGap`.

    Raises
    ------
    ValueError
        If tol or every is not positive. When a solve begins: if the sum of α is not 0, or no example is left out.

    References
    ----------
    `refsvm.core.stopping.midpoint` names what is near; the rule itself is ours.

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
        """Return the memory: the left-out examples, α and G of w, and v, n values each; then the numbers."""
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
        if problem.is_open:  # a hard margin: P is infinite but for rounding
            memory[NEXT] = np.inf
        if given is not None and len(given.alpha) == n:
            given = given.in_solver_coordinates()
            alpha[:], gradient[:] = given.alpha, given.gradient
            memory[HAS_POINT], memory[INTERCEPT] = 1.0, given.intercept
        return memory

    def check(self, state: SolverState) -> int:
        """Test when that is due, and whatever the gap."""
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
        """Return the rule with w from this solution."""
        return replace(self, solved=solved)

    def outcome(self, reason: str, value: float) -> tuple[str, float]:
        """Return "ball" where that decided, and the value; if that has another sign than is proved, one next to 0."""
        if reason == self.reasons[1]:
            return "ball", max(value, TINY)
        if reason == self.reasons[2]:
            return "ball", min(value, -TINY)
        return "kkt", value

    def rows_needed(self, n: int) -> int:
        """One, of the left-out example that is tested."""
        return 1

    def restricted_tolerance(self, gap: float) -> float:
        """Solve restricted problems to a tenth of the gap, so that the ball is tested in between."""
        return max(gap / 10.0, self.tol)


def _begin(state: SolverState) -> None:
    """Take the present machine for w where none is given, and compute P(w)."""
    memory = state.stop_memory
    _, alpha, gradient, _ = memory[:BEGUN].reshape(4, -1)
    if not memory[HAS_POINT]:
        alpha[:], gradient[:] = state.alpha, state.gradient
        memory[INTERCEPT] = state.problem.midway(gradient, state.top, state.bottom)
    # b of w is the best one, or close to it
    memory[PRIMAL] = _primal(alpha, gradient, float(memory[INTERCEPT]), state)
    memory[BEGUN] = 1.0


def _primal(alpha: np.ndarray, gradient: np.ndarray, b: float, state: SolverState) -> float:
    """P(w) ≤ ½‖w‖² + Σ max(Uᵢ(Gᵢ − b), Lᵢ(Gᵢ − b)) at any b, with ‖w‖² = αᵀ(v − G)."""
    losses = tangent(gradient, state.lower, state.upper, b)[0]
    return 0.5 * total(alpha * (state.v - gradient)) + losses


def _proved(state: SolverState) -> int:
    """Return 2 or 3 where the only left-out example has a proved sign, 4 where several have those of h, else 0."""
    memory, G, v, dual = state.stop_memory, state.gradient, state.v, state.objective
    left_out, alpha, gradient, _ = memory[:BEGUN].reshape(4, -1)
    b = state.problem.midway(G, state.top, state.bottom)
    # the outputs ½(w + w̃)·φᵢ, and ρ;  D(α) = f(α),  ‖w − w̃‖² = (α_w − α)ᵀ(G − G_w)
    separation = total((alpha - state.alpha) * (G - gradient))
    balls = [(0.5 * ((v - gradient) + (v - G)), radius(float(memory[PRIMAL]), dual, separation))]
    if state.gap <= NEAR:
        # the same with w̃ in place of w
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
