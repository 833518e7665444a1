"""SolverState: everything that changes while a problem is solved.

Rules read the state but do not change it, with one exception: a planning step writes candidate pairs. Only the loop
moves α. After every step these relations hold up to rounding:

    L ≤ α ≤ U,   1ᵀα = z,   G = v − Kα,   (top, bottom, gap) = most violating pair and ψ(α)

The compiled versions of the rules use the names of this module for the same quantities. They read and write the same
arrays, and get the numbers of `SCALARS` in one record.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from refsvm.core import arithmetic
from refsvm.core.kernels.rows import KernelRows
from refsvm.core.problem import DualProblem, most_violating_pair, total
from refsvm.core.shown import Shown

TAU = 1e-12
"""Curvature used in place of q ≤ 0 (duplicates, indefinite kernels); LIBSVM uses the same value."""

SCALARS = np.dtype(
    [
        ("iteration", np.int64),  # steps taken so far
        ("top", np.int64),  # argmax of G over I_up, −1 if I_up is empty
        ("bottom", np.int64),  # argmin of G over I_down, −1 if I_down is empty
        ("gap", np.float64),  # ψ = G[top] − G[bottom]
        ("slope", np.float64),  # ℓ = Gᵢ − Gⱼ for the pair (i, j) about to move
        ("curvature", np.float64),  # q = Kᵢᵢ + Kⱼⱼ − 2Kᵢⱼ for the pair (i, j), or TAU if q ≤ 0
        ("raw_curvature", np.float64),  # q itself, even if q ≤ 0
        ("low", np.float64),  # lo: lower limit of the step μ along eᵢ − eⱼ
        ("high", np.float64),  # hi: upper limit of μ
        ("last_step", np.float64),  # μ of the previous step
        ("last_newton", np.float64),  # μ̂ = ℓ/q of the previous step
        ("last_free", np.int64),  # 1 if lo < μ < hi in the previous step (with κ ≠ 0: if i and j ended free)
        ("last_planned", np.int64),  # 1 if the previous step was planned
        ("n_candidates", np.int64),  # number of pairs that the step rule offers to the next selection
        ("objective", np.float64),  # f(α), summed from the gains
        ("least_curvature", np.float64),  # smallest `raw_curvature` so far; if clearly negative, K is not PSD
        ("stalled", np.int64),  # number of latest steps in a row that changed no α in floating point
        ("largest", np.float64),  # largest |αᵢ| since G was last computed from scratch
        ("updates", np.int64),  # `updates` + `iteration`: number of updates since G was computed from scratch
        ("kernel_rounding", np.float64),  # relative rounding error of a term αⱼKᵢⱼ of G (`stopping.midpoint`)
        ("carried_slope", np.float64),  # ΔᵀG for the last displacement Δ, if the step rule uses momentum
        ("carried_curvature", np.float64),  # ΔᵀKΔ
        ("last_carry", np.float64),  # κ of the previous step
        ("last_moved", np.int64),  # number of variables that the previous step moved
    ]
)

MEMORIES: Final = "selector_memory", "step_memory", "stop_memory"
"""Names of the attributes that hold the rules' scratch memory."""

SNAP: Final = 2e-15
"""A step with momentum sets a variable to its bound if it ends within this multiple of |α| + |μ| of the bound."""

NO_PAIR: Final = (
    "select() returned ({}, {}), which is not a pair; return two different indices, i in I_up and j in I_down, or "
    "(-1, -1) if no pair can raise the objective."
)


class NotFiniteError(ArithmeticError):
    """Raised in place of a step if the gradient is NaN or infinite."""


NOTHING: Final = np.empty(0)
"""Empty scratch memory, for rules that need none."""

Memories = tuple[np.ndarray, np.ndarray, np.ndarray]


class SolverState(Shown):
    """The state of one solve: α, its gradient, the box, the recent working sets and the counters.

    Parameters
    ----------
    problem : DualProblem
        The problem to solve, which gives v and the box; `restart` replaces the problem.
    alpha : ndarray of shape (n,), float64
        Feasible starting point, which is copied.
    rows : KernelRows
        Kernel rows of ``problem.gram``.
    history : int
        Number of recent working sets that the state keeps for the step rule, in addition to the last two.
    memories : (ndarray, ndarray, ndarray), float64
        Scratch memory for the selector, the step rule and the stopping rule.
    gradient : ndarray of shape (n,), optional
        G = v − Kα at the starting point; by default it is computed from kernel rows.
    uses_momentum : bool
        True if the step rule continues along the last displacement Δ; the state then keeps Δ.

    Attributes
    ----------
    problem : DualProblem
        The problem that is solved.
    parent : (SolverState, ndarray) or None
        For a restricted problem: the state of the full problem, and the positions of this state's variables in the
        full problem.
    alpha, gradient, v, lower, upper, diagonal : ndarrays of shape (n,), float64
        α, G, the linear term v, the bounds L and U, and the diagonal of K.
    working_sets : ndarray of shape (h, 2), int64
        Recent working sets (i, j), latest first; rows of −1 fill the array until enough steps have been taken.
    curvatures : ndarray of shape (h,), float64
        Curvature q of each recent working set.
    candidates, candidate_curvatures : ndarrays of shape (h, 2) and (h,)
        Pairs with which the selector must compare its choice before the next step, and their curvatures; the first
        `n_candidates` entries are valid.
    displacement, displacement_image : ndarrays of shape (n,), float64, or None
        Δ, which the last step added to α, and KΔ, which it subtracted from G. Δ and KΔ are 0 before the first step, and
        None if the step rule has no momentum. If a bound cut the move along the last Δ, but not the move of the pair,
        the new Δ is the move of the pair, μ(eᵢ − eⱼ).
    selector_memory, step_memory, stop_memory : ndarrays, float64
        The scratch array that each rule's method `memory` has made.
    shrinking : object
        Data that `refsvm.core.solver.shrinking.Shrinking` keeps during this solve; None at the start.
    session : object
        Data that a backend makes from the arrays of this state and keeps between chunks of steps. The data hold no
        reference to the state.
    iteration, top, bottom, gap, slope, curvature, low, high, … : numbers
        See `SCALARS` in this module.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import DualProblem, Linear, iterate
    >>> X, y = np.array([[0.0], [2.0]]), np.array([-1, 1])
    >>> state = next(iterate(DualProblem.classification(X, y, kernel=Linear())))
    >>> state.alpha, state.gap, state.iteration
    (array([-0.5,  0.5]), 0.0, 1)
    """

    parent: tuple[SolverState, np.ndarray] | None = None
    displacement: np.ndarray | None
    displacement_image: np.ndarray | None
    shrinking: Any = None
    session: Any = None

    def _line(self) -> str:
        where = f"objective {self.objective:.6g}, KKT gap {self.gap:.1e}"
        return f"{self.iteration:,} step{'s' * (self.iteration != 1)}, n={len(self.alpha)}: {where}"

    def __init__(
        self, problem: DualProblem, alpha: np.ndarray, rows: KernelRows, history: int = 0,
        memories: Memories = (NOTHING, NOTHING, NOTHING), gradient: np.ndarray | None = None,
        uses_momentum: bool = False,
    ) -> None:  # fmt: skip
        self.problem, self.rows, self.v = problem, rows, problem.v
        self.alpha = np.array(alpha, dtype=np.float64)
        self.lower, self.upper = problem.lower.copy(), problem.upper.copy()
        self.diagonal = rows.diagonal()
        self.largest_diagonal = float(np.abs(self.diagonal).max())
        depth = 2 + history
        self.working_sets, self.candidates = np.full((depth, 2), -1), np.full((depth, 2), -1)
        self.curvatures, self.candidate_curvatures = np.zeros(depth), np.zeros(depth)
        self.selector_memory, self.step_memory, self.stop_memory = memories
        self.displacement, self.displacement_image = (
            np.zeros((2, problem.n)) if uses_momentum else (None, None)
        )
        self.updates, self.largest = 0, 0.0
        self.kernel_rounding = rows.facts.rounding
        self._reset_counters()
        self.gradient = np.array(gradient) if gradient is not None else np.empty(problem.n)
        self.refresh(recompute=gradient is None)

    def restart(
        self, problem: DualProblem, start: np.ndarray | None, memories: Memories,
        origin: tuple[np.ndarray, np.ndarray] | None = None,
    ) -> None:  # fmt: skip
        """Begin another solve, with the box of `problem` and α = `start` (None: α = 0), and set the counters to 0.

        The method computes the new G from `origin`, an earlier pair (α, G). Without `origin`, the method computes the
        new G from the current G or from G(0) = v, whichever needs fewer kernel rows. Arrays whose length does not
        change are overwritten in place, because a compiled loop refers to them.
        """
        self.updates += self.iteration
        if origin is not None and start is not None:
            self.alpha[:], self.gradient[:] = origin
            self.updates, self.largest = 0, float(np.abs(self.alpha).max())
        elif start is None or np.count_nonzero(start) <= np.count_nonzero(start - self.alpha):
            self.alpha.fill(0.0)
            self.gradient[:] = self.v
            self.updates, self.largest = 0, 0.0
        if start is not None:
            self.shift(start - self.alpha, by_variable=True)
            self.alpha[:] = start  # set α exactly, because `shift` leaves rounding errors
        self.problem = problem
        self.lower[:], self.upper[:] = problem.lower, problem.upper
        for name, memory in zip(MEMORIES, memories, strict=True):
            present = getattr(self, name)
            if len(present) != len(memory):
                setattr(self, name, memory)
            else:
                present[:] = memory
        self.working_sets.fill(-1)
        self.candidates.fill(-1)
        self._reset_counters()
        self.refresh(recompute=False)

    def _reset_counters(self) -> None:
        """Set the counters to 0 and forget the previous steps."""
        self.iteration = self.last_free = self.last_planned = self.n_candidates = 0
        self.slope = self.curvature = self.raw_curvature = self.low = self.high = 0.0
        self.last_step = self.last_newton = self.last_carry = 0.0
        self.carried_slope = self.carried_curvature = 0.0
        self.last_moved = 0
        self.least_curvature, self.shrinking = np.inf, None

    def refresh(self, recompute: bool = True) -> None:
        """Compute f(α) and the most violating pair from scratch; if `recompute` is True, compute G = v − Kα first."""
        # forget the last displacement
        if self.displacement is not None and self.displacement_image is not None:
            self.displacement[:] = self.displacement_image[:] = 0.0
            self.carried_slope = self.carried_curvature = 0.0
        if recompute:
            self.gradient[:] = self.v
            self.updates, self.largest = -self.iteration, 0.0
        self.stalled, self.objective = 0, 0.0
        if np.count_nonzero(self.alpha):
            if recompute:
                self.gradient -= self.rows.product(self.alpha)
            self.largest = max(self.largest, float(np.abs(self.alpha).max()))
            # f = ½ αᵀ(v + G)
            self.objective = 0.5 * total(self.alpha * (self.v + self.gradient))
        violating = arithmetic.current.most_violating_pair(self.alpha, self.gradient, self.lower, self.upper)
        self.top, self.bottom, self.gap = violating

    def recompute_gradient(self) -> None:
        """Make Σα = z again, if rounding errors of earlier, larger α have changed Σα, and compute G from scratch."""
        self.alpha[:] = self.problem.feasible(self.alpha)
        self.refresh()

    def shift(self, delta: np.ndarray, *, by_variable: bool = False) -> None:
        """Move α by any δ, shape (n,): α += δ, G −= Kδ. Call `refresh(recompute=False)` afterwards.

        Kδ is summed row by row in the order of the variables, so that compiled code gets the same bits. Variables that
        share a kernel row share one term; with ``by_variable=True``, as in rounds, each variable has its own.
        """
        support = np.flatnonzero(delta)
        self.alpha += delta
        self.rows.subtract(self.gradient, support, delta[support], by_variable=by_variable)
        self.updates += len(support)

    def row(self, i: int) -> np.ndarray:
        """Return kernel row K[i], shape (n,), read-only, for rules that need it."""
        row = self.rows.row(i)
        row.flags.writeable = False
        return row

    @property
    def left_out(self) -> np.ndarray:
        """Indices, ascending, of the examples that a round leaves out: their box is Lᵢ = Uᵢ = 0."""
        return np.flatnonzero((self.lower == 0.0) & (self.upper == 0.0))

    def duality_gap(self) -> float:
        """Return the duality gap F(α, b) − f(α) at the best b, an upper bound of f* − f(α).

        The method sorts n numbers and passes over them a few times, which takes about as long as one step in NumPy, or
        as ten or more compiled steps. For a restricted problem, the method computes the duality gap of the full
        problem, from one more kernel row for each variable that has moved.
        """
        if self.parent is None:
            return self.problem.duality_gap(self.alpha, gradient=self.gradient)
        state, delta = self, self.alpha
        # add the α of the restricted problem to the α of the full problem at which the restricted solve began
        while state.parent is not None:
            outer, A = state.parent
            moved_by = np.zeros(len(outer.alpha)) if outer.parent is None else outer.alpha.copy()
            moved_by[A] += delta
            state, delta = outer, moved_by
        gradient = state.gradient - state.rows.product(delta)
        return state.problem.duality_gap(state.alpha + delta, gradient=gradient)

    def measure(self, i: int, j: int) -> None:
        """Compute the slope, curvature and limits that the step rule reads for a step along eᵢ − eⱼ."""
        if not math.isfinite(self.gap):
            raise NotFiniteError
        if i < 0 or j < 0 or i == j:  # refuse negative indices, which NumPy would count from the end
            raise ValueError(NO_PAIR.format(i, j))
        alpha, lower, upper = self.alpha, self.lower, self.upper
        # ℓ = Gᵢ − Gⱼ
        self.slope = float(self.gradient[i] - self.gradient[j])
        # q = Kᵢᵢ + Kⱼⱼ − 2Kᵢⱼ
        raw = float(self.diagonal[i] + self.diagonal[j] - 2.0 * self.rows.row(i)[j])
        self.raw_curvature = raw
        self.least_curvature = min(self.least_curvature, raw)
        self.curvature = raw if raw > 0.0 else TAU
        # lo = max(Lᵢ − αᵢ, αⱼ − Uⱼ),  hi = min(Uᵢ − αᵢ, αⱼ − Lⱼ)
        self.low = max(float(lower[i] - alpha[i]), float(alpha[j] - upper[j]))
        self.high = min(float(upper[i] - alpha[i]), float(alpha[j] - lower[j]))

    def move(self, i: int, j: int, mu: float, kappa: float = 0.0) -> None:
        """Take and record a step: αᵢ += μ, αⱼ −= μ, G −= μ(K[i] − K[j]); with momentum, also α += κΔ, G −= κKΔ."""
        alpha, lower, upper = self.alpha, self.lower, self.upper
        free = self.low < mu < self.high
        if self.displacement is None or self.displacement_image is None:
            before_i, before_j = alpha[i], alpha[j]
            # αᵢ += μ,  αⱼ −= μ; a variable that reaches its bound is set exactly to the bound
            alpha[i] = moved(before_i, mu, lower[i], upper[i])
            alpha[j] = moved(before_j, -mu, lower[j], upper[j])
            self.largest = max(self.largest, abs(float(alpha[i])), abs(float(alpha[j])))
            self.stalled = self.stalled + 1 if alpha[i] == before_i and alpha[j] == before_j else 0
            # G −= μ (K[i] − K[j])
            self.gradient -= mu * (self.rows.row(i) - self.rows.row(j))
            # f += μℓ − ½μ²q
            self.objective += mu * self.slope - 0.5 * mu * mu * self.raw_curvature
            self.last_moved = 2
        else:
            inside = self._carry(self.displacement, self.displacement_image, i, j, mu, kappa)
            free = inside if kappa else free
            self.last_carry = kappa
        self.top, self.bottom, self.gap = most_violating_pair(alpha, self.gradient, lower, upper)
        # store the numbers of this step that later planning steps read
        self.last_step, self.last_newton = mu, self.slope / self.curvature
        self.last_free, self.last_planned = int(free), int(self.n_candidates > 0)
        self.working_sets[1:] = self.working_sets[:-1].copy()
        self.curvatures[1:] = self.curvatures[:-1].copy()
        self.working_sets[0], self.curvatures[0] = (i, j), self.curvature
        self.iteration += 1

    def _carry(self, delta: np.ndarray, image: np.ndarray, i: int, j: int, mu: float, kappa: float) -> bool:
        """Set α += μ(eᵢ − eⱼ) + κΔ and G −= μ(K[i] − K[j]) + κKΔ; return True if neither i nor j ends at a bound."""
        # with β = (KΔ)ᵢ − (KΔ)ⱼ the new ΔᵀKΔ is μ²q + 2μκβ + κ²ΔᵀKΔ, and f gains ΔᵀG − ½ ΔᵀKΔ
        beta = float(image[i] - image[j])
        curvature = (
            mu * mu * self.raw_curvature + 2.0 * mu * kappa * beta + kappa * kappa * self.carried_curvature
        )
        slope = mu * self.slope + kappa * self.carried_slope
        # Δ ← μ(eᵢ − eⱼ) + κΔ,  KΔ ← μ(K[i] − K[j]) + κKΔ
        delta *= kappa
        delta[i] += mu
        delta[j] -= mu
        pair = mu * (self.rows.row(i) - self.rows.row(j))
        image[:] = pair + kappa * image
        # α += Δ; a variable that reaches its bound up to rounding of Δ is set to the bound exactly
        A = np.flatnonzero(delta)
        before, change, lower, upper = self.alpha[A], delta[A], self.lower[A], self.upper[A]
        rounding = SNAP * (np.abs(before) + abs(mu)) if kappa else 0.0
        after = np.minimum(np.maximum(before + change, lower), upper)
        after = np.where((change < 0.0) & (change <= lower - before + rounding), lower, after)
        self.alpha[A] = after = np.where((change > 0.0) & (change >= upper - before - rounding), upper, after)
        self.largest = max(self.largest, float(np.abs(self.alpha[A]).max(initial=0.0)))
        self.stalled = self.stalled + 1 if np.array_equal(self.alpha[A], before) else 0
        # G −= KΔ,  f += ΔᵀG − ½ ΔᵀKΔ with G before the step
        self.gradient -= image
        self.objective += slope - 0.5 * curvature
        self.carried_slope, self.carried_curvature = slope - curvature, curvature
        self.last_moved = len(A)
        inside = bool(
            self.lower[i] < self.alpha[i] < self.upper[i] and self.lower[j] < self.alpha[j] < self.upper[j]
        )
        if kappa and inside and ((after == lower) | (after == upper)).any():
            # a bound has cut the move along Δ, but not the move of the pair, so Δ keeps only this move: Δ ← μ(eᵢ − eⱼ)
            delta.fill(0.0)
            delta[i], delta[j], image[:] = mu, -mu, pair
            self.carried_slope = mu * (self.slope - kappa * beta - mu * self.raw_curvature)
            self.carried_curvature = mu * mu * self.raw_curvature
        return inside


def moved(value: float, change: float, lower: float, upper: float) -> float:
    """Return value + change, or exactly the bound if the change reaches the bound."""
    if change >= upper - value:
        return upper
    if change <= lower - value:
        return lower
    return min(max(value + change, lower), upper)
