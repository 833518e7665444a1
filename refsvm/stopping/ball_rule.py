"""The ball: stop when the signs at all left-out examples are proved."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np

from refsvm._checks import positive, whole
from refsvm.primal import total
from refsvm.stopping.ball_memory import (
    ASKED,
    AT,
    BEGUN,
    CODE,
    COUNT,
    EXAMPLE,
    HAS_POINT,
    HEAD,
    INTERCEPT,
    NEAR,
    NEXT,
    PRIMAL,
)
from refsvm.stopping.base import StoppingRule
from refsvm.stopping.loo_duality_gap import bounds_of, tangent
from refsvm.stopping.loo_memory import INDEFINITE
from refsvm.stopping.midpoint import certain_sign, distances, radius

if TYPE_CHECKING:
    from refsvm.problem import DualProblem
    from refsvm.result import Solution
    from refsvm.state import SolverState

__all__ = ["BallRule"]


TINY: Final = float(np.finfo(np.float64).tiny)
"""Of a decision value whose sign alone is known."""


@dataclass(frozen=True)
class BallRule(StoppingRule):
    """Stop when a ball around two known machines proves the sign of h at every left-out example.

    With w the machine of the full solution and w̃ that of the present α, the machine w_R without the examples R is
    within ρ of ½(w + w̃), ρ² = P(w) − D(α) − ¼‖w − w̃‖² (proof and sign in `refsvm.stopping.midpoint`). Before a step
    is taken this decides most rounds of leave-one-out. Near the end w̃ is the better w: then ρ² is the duality gap, and
    falls to zero. So both are tried, w̃ where ψ(α) ≤ 0.03; above, it decided nothing on the sets tried. The rule also
    stops at ψ(α) ≤ ε, since no sign is proved where h = 0 at the optimum.

    A test costs O(n) for each example whose sign is not yet proved and stops at the first that is not: of several, all
    have to be. What is proved is the sign at the exact optimum, with any intercept. Of one left-out example the reason
    tells it; the decision value of the point where the solve stops may still have the other one. Of several, the rule
    stops only where their decision values have the signs proved. Hard margins and kernel matrices that turn out
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
        Whose machine w is; leave-one-out gives the full solution. None: the point where the solve starts.

    Raises
    ------
    ValueError
        If tol or every is not positive. When a solve begins: if the sum of α is not 0, or no example is left out.

    References
    ----------
    `refsvm.stopping.midpoint` names what is near; the rule itself is ours.

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
        """Return (tol, period)."""
        return (self.tol, float(self.every))

    def memory(self, problem: DualProblem, steps: int = 0) -> np.ndarray:
        """Return the memory: `HEAD` numbers, then the left-out examples, α and G of w, and v, n values each."""
        self._refuse(problem)
        n, given = problem.n, self.solved
        memory = np.zeros(HEAD + 4 * n)
        memory[EXAMPLE], memory[ASKED] = -1.0 if self.example is None else self.example, -1.0
        memory[HEAD + 3 * n :] = problem.v
        if problem.is_open:  # a hard margin: P is infinite but for rounding
            memory[NEXT] = np.inf
        if given is not None and len(given.alpha) == n:
            memory[HEAD + n : HEAD + 2 * n], memory[HEAD + 2 * n : HEAD + 3 * n] = given.alpha, given.gradient
            memory[HAS_POINT], memory[INTERCEPT] = 1.0, given.intercept
        return memory

    def _refuse(self, problem: DualProblem) -> None:
        """Raise ValueError where the rule has nothing to decide."""
        if problem.z != 0.0:
            raise ValueError(
                f"BallRule needs a problem whose α sums to 0, and here it sums to {problem.z!r}; use KKTGap()."
            )
        empty = (problem.lower == 0.0) & (problem.upper == 0.0)
        if self.example is None and not empty.any():
            raise ValueError(
                "BallRule() needs left-out examples, with L = U = 0, and the problem has none; "
                "solve problem.without(r)."
            )
        if self.example is not None and not (self.example < problem.n and empty[self.example]):
            raise ValueError(
                f"example={self.example!r} is not left out of the problem of {problem.n} examples: its box is not "
                "L = U = 0; solve problem.without(example)."
            )

    def check(self, state: SolverState) -> int:
        """Test when that is due, and whatever the gap."""
        memory = state.stop_memory
        # ψ ≤ ε
        if state.gap <= self.tol:
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

    def knowing(self, solved: Solution) -> BallRule:
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


def _parts(state: SolverState) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the left-out examples, α and G of w, and v, views of the memory."""
    left_out, alpha, gradient, v = state.stop_memory[HEAD:].reshape(4, -1)
    return left_out, alpha, gradient, v


def _begin(state: SolverState) -> None:
    """List the left-out examples, and compute P(w)."""
    memory = state.stop_memory
    left_out, alpha, gradient, v = _parts(state)
    if memory[EXAMPLE] >= 0.0:
        examples = np.array([memory[EXAMPLE]])
    else:
        examples = np.flatnonzero((state.lower == 0.0) & (state.upper == 0.0)).astype(np.float64)
    memory[COUNT] = len(examples)
    left_out[: len(examples)] = examples
    if not memory[HAS_POINT]:
        alpha[:], gradient[:] = state.alpha, state.gradient
        low, high = bounds_of(state)
        memory[INTERCEPT] = 0.5 * (low + high)
    # P(w) ≤ ½‖w‖² + Σ max(Uᵢ(Gᵢ − b), Lᵢ(Gᵢ − b)) at any b; that of w is the best one, or close to it
    losses = tangent(gradient, state.lower, state.upper, float(memory[INTERCEPT]))[0]
    memory[PRIMAL] = 0.5 * total(alpha * (v - gradient)) + losses
    memory[BEGUN] = 1.0


def _proved(state: SolverState) -> int:
    """Return 2 or 3 where the only left-out example has a proved sign, 4 where several have those of h, else 0."""
    memory = state.stop_memory
    left_out, alpha, gradient, v = _parts(state)
    G = state.gradient
    # D(α) = f(α),  ‖w − w̃‖² = (α_w − α)ᵀ(G − G_w)
    dual = state.objective
    apart = total((alpha - state.alpha) * (G - gradient))
    balls = [(0.5 * ((v - gradient) + (v - G)), radius(float(memory[PRIMAL]), dual, apart))]
    for k in range(int(memory[AT]), int(memory[COUNT])):
        r = int(left_out[k])
        if state.least_curvature < INDEFINITE * float(state.diagonal[r]):
            return 0
        reach = distances(state.row(r), state.diagonal, r)
        sign = _sign(balls[0], reach, r, state)
        if sign == 0 and state.gap <= NEAR:
            # the same with w̃ in place of w
            if len(balls) == 1:
                balls.append((v - G, radius(_primal(state), dual, 0.0)))
            sign = _sign(balls[1], reach, r, state)
        if sign == 0:
            return 0
        left_out[k] = sign * (r + 1)
        memory[AT] = k + 1.0
    if memory[COUNT] == 1.0:
        return 2 if left_out[0] > 0.0 else 3
    low, high = bounds_of(state)
    for k in range(int(memory[COUNT])):
        r = int(abs(left_out[k])) - 1
        # h(xᵣ) = vᵣ − Gᵣ + b
        if (v[r] - G[r] + 0.5 * (low + high) >= 0.0) != (left_out[k] > 0.0):
            return 0
    return 4


def _sign(ball: tuple[np.ndarray, float], reach: np.ndarray, r: int, state: SolverState) -> int:
    """Return the sign of h(xᵣ) that a ball proves, or 0; it is the outputs ½(w + w̃)·φᵢ, and ρ."""
    outputs, rho = ball
    return certain_sign(outputs - outputs[r], rho * reach, _parts(state)[3], state.lower, state.upper)


def _primal(state: SolverState) -> float:
    """P(w̃) ≤ ½ αᵀ(v − G) + Σ max(Uᵢ(Gᵢ − b), Lᵢ(Gᵢ − b)) at the b midway between the extremes of G."""
    G, v = state.gradient, _parts(state)[3]
    low, high = bounds_of(state)
    return 0.5 * total(state.alpha * (v - G)) + tangent(G, state.lower, state.upper, 0.5 * (low + high))[0]
