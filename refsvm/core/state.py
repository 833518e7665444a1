"""SolverState: everything that changes while a problem is solved.

Rules read it and never write to it, with one exception: a planning step leaves candidate pairs. The loop alone
moves α, and keeps these invariants after every step (up to rounding):

    L ≤ α ≤ U,   1ᵀα = z,   G = v − Kα,   (top, bottom, gap) = most violating pair and ψ(α)

The Numba twins see the same names: arrays are shared, the numbers of `SCALARS` travel in one record.
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
"""Curvature used where q ≤ 0 (duplicates, indefinite kernels), the value LIBSVM uses."""

SCALARS = np.dtype(
    [
        ("iteration", np.int64),  # steps taken so far
        ("top", np.int64),  # argmax of G over I_up, −1 if empty
        ("bottom", np.int64),  # argmin of G over I_down, −1 if empty
        ("gap", np.float64),  # ψ = G[top] − G[bottom]
        ("slope", np.float64),  # ℓ = Gᵢ − Gⱼ of the pair about to move
        ("curvature", np.float64),  # q = Kᵢᵢ + Kⱼⱼ − 2Kᵢⱼ of that pair, TAU where not positive
        ("raw_curvature", np.float64),  # q itself
        ("low", np.float64),  # lo, hi: the box seen along eᵢ − eⱼ
        ("high", np.float64),
        ("last_step", np.float64),  # μ of the previous step
        ("last_newton", np.float64),  # μ̂ = ℓ/q of the previous step
        ("last_free", np.int64),  # 1 if lo < μ < hi in the previous step; with κ: i and j inside their boxes
        ("last_planned", np.int64),  # 1 if the previous step was a planned one
        ("n_candidates", np.int64),  # candidate pairs left by the step rule for the next selection
        ("objective", np.float64),  # f(α), summed from the gains
        ("least_curvature", np.float64),  # smallest raw q met so far: clearly negative means K is not PSD
        ("stalled", np.int64),  # consecutive steps that changed nothing in floating point
        ("largest", np.float64),  # largest |αᵢ| since G was last computed from scratch
        ("carried_slope", np.float64),  # ΔᵀG of the last displacement Δ, where the step carries it
        ("carried_curvature", np.float64),  # ΔᵀKΔ
        ("last_carry", np.float64),  # κ of the previous step
        ("last_moved", np.int64),  # how many variables it moved
    ]
)

MEMORIES: Final = "selector_memory", "step_memory", "stop_memory"
"""Attributes of the scratch memory of the rules."""

SNAP: Final = 2e-15
"""Distance from its bound, relative to |α| and the step, at which a variable of a step with momentum is at it."""

NO_PAIR: Final = (
    "select() returned ({}, {}), which is no pair; return two different indices (i, j), i of I_up and j of I_down, or "
    "(-1, -1) where no pair gains."
)


class NotFiniteError(ArithmeticError):
    """Raised in place of a step where the gradient is NaN or infinite."""


NOTHING: Final = np.empty(0)
"""The scratch memory of a rule that needs none."""

Memories = tuple[np.ndarray, np.ndarray, np.ndarray]


class SolverState(Shown):
    """α, its gradient, the box, the recent working sets and the counters of one solve.

    Parameters
    ----------
    problem : DualProblem
        Where v and the box come from; `restart` changes it.
    alpha : ndarray of shape (n,), float64
        Feasible start; copied.
    rows : KernelRows
        Kernel rows of ``problem.gram``.
    history : int
        How many recent working sets the step rule looks back on, beyond the two that are always kept.
    memories : (ndarray, ndarray, ndarray), float64
        Scratch memory of the selector, the step rule and the stopping rule.
    gradient : ndarray of shape (n,), optional
        v − Kα if known; computed from kernel rows otherwise.
    uses_momentum : bool
        Whether the step rule goes on along the last displacement, which is kept for it then.

    Attributes
    ----------
    problem : DualProblem
        The problem that is solved.
    parent : (SolverState, ndarray) or None
        Of a restricted problem: the state that it restricts, and which of its variables are here.
    alpha, gradient, v, lower, upper, diagonal : ndarrays of shape (n,), float64
        α, G, the linear term, L, U and the kᵢᵢ.
    working_sets : ndarray of shape (h, 2), int64
        Recent working sets (i, j), latest first; −1 if there was none yet.
    curvatures : ndarray of shape (h,), float64
        q of each of them.
    candidates, candidate_curvatures : ndarrays of shape (h, 2) and (h,)
        Pairs that the step rule adds to the next selection; the first `n_candidates` are valid.
    displacement, displacement_image : ndarrays of shape (n,), float64, or None
        Δ, added to α by the last step, and KΔ, subtracted from G by it; 0 before the first step. None unless carried.
        If a bound has cut the carried part, and not the pair, only the pair's part: Δ = μ(eᵢ − eⱼ).
    selector_memory, step_memory, stop_memory : ndarrays, float64
        Array of each rule, made by its `memory`.
    shrinking : object
        Data of `refsvm.core.solver.shrinking.Shrinking` for this solve; None at its start.
    session : object
        Data that a backend derives from these arrays and keeps; they hold no reference to the state.
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
        return f"{self.iteration:,} steps, n={len(self.alpha)}: {where}"

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
        # updates of G since it was last computed from scratch, those of the present solve left out
        self.updates, self.largest = 0, 0.0
        self._reset_counters()
        self.gradient = np.array(gradient) if gradient is not None else np.empty(problem.n)
        self.refresh(recompute=gradient is None)

    def restart(
        self, problem: DualProblem, start: np.ndarray | None, memories: Memories,
        origin: tuple[np.ndarray, np.ndarray] | None = None,
    ) -> None:  # fmt: skip
        """Begin another solve, in the box of this problem and at this start; the counters begin at 0.

        G is reached from the origin, an earlier (α, G), if there is one; otherwise from where the state is or from
        G(0) = v, whichever takes fewer kernel rows. A start of None is α = 0. Arrays that are as long as before stay
        the same ones, because a compiled loop holds on to them.
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
            self.alpha[:] = start  # differences round
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
        """Set the counters to 0, and what is remembered of steps to nothing."""
        self.iteration = self.last_free = self.last_planned = self.n_candidates = 0
        self.slope = self.curvature = self.raw_curvature = self.low = self.high = 0.0
        self.last_step = self.last_newton = self.last_carry = 0.0
        self.carried_slope = self.carried_curvature = 0.0
        self.last_moved = 0
        self.least_curvature, self.shrinking = np.inf, None

    def refresh(self, recompute: bool = True) -> None:
        """Compute f(α) and the most violating pair from scratch; first G = v − Kα too, without earlier rounding."""
        if self.displacement is not None and self.displacement_image is not None:  # not the last one any more
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
        found = arithmetic.current.most_violating_pair(self.alpha, self.gradient, self.lower, self.upper)
        self.top, self.bottom, self.gap = found

    def recompute_gradient(self) -> None:
        """Compute G from scratch; α first gets back the sum z, of which larger values may have rounded some off."""
        self.alpha[:] = self.problem.feasible(self.alpha)
        self.refresh()

    def shift(self, delta: np.ndarray, *, by_variable: bool = False) -> None:
        """Move by any δ, shape (n,): α += δ, G −= Kδ. Call `refresh(recompute=False)` afterwards.

        K δ is summed row by row, in the order of the variables, so that compiled code gets the same bits; of variables
        that share rows only `by_variable`, as rounds ask for.
        """
        support = np.flatnonzero(delta)
        self.alpha += delta
        self.rows.subtract(self.gradient, support, delta[support], by_variable=by_variable)
        self.updates += len(support)

    def row(self, i: int) -> np.ndarray:
        """Kernel row K[i], shape (n,), for a rule that wants to look at it; it cannot be written to."""
        row = self.rows.row(i)
        row.flags.writeable = False
        return row

    @property
    def left_out(self) -> np.ndarray:
        """The examples whose box is empty, Lᵢ = Uᵢ = 0, ascending: those that a round leaves out."""
        return np.flatnonzero((self.lower == 0.0) & (self.upper == 0.0))

    def duality_gap(self) -> float:
        """F(α, b) − f(α) at the best b, which is no smaller than f* − f(α).

        It costs a sort of n numbers and some passes over them: about one step in NumPy, and ten and more of compiled
        code. On a restricted problem it is the gap of the whole one; its gradient takes a kernel row more for each
        variable that has moved.
        """
        if self.parent is None:
            return self.problem.duality_gap(self.alpha, gradient=self.gradient)
        state, delta = self, self.alpha
        while state.parent is not None:  # a restricted problem counts α from where it began
            outer, A = state.parent
            moved_by = np.zeros(len(outer.alpha)) if outer.parent is None else outer.alpha.copy()
            moved_by[A] += delta
            state, delta = outer, moved_by
        gradient = state.gradient - state.rows.product(delta)
        return state.problem.duality_gap(state.alpha + delta, gradient=gradient)

    def measure(self, i: int, j: int) -> None:
        """Describe the sub-problem of the pair (i, j) along eᵢ − eⱼ for the step rule."""
        if not math.isfinite(self.gap):
            raise NotFiniteError
        if i < 0 or j < 0 or i == j:  # NumPy would count from the end
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
        """Take the step: αᵢ += μ, αⱼ −= μ, G −= μ(K[i] − K[j]), and remember it; a step with momentum also goes κΔ."""
        alpha, lower, upper = self.alpha, self.lower, self.upper
        free = self.low < mu < self.high
        if self.displacement is None or self.displacement_image is None:
            before_i, before_j = alpha[i], alpha[j]
            # αᵢ += μ,  αⱼ −= μ; a variable that reaches its bound is set to it exactly
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
        # the history that steps plan with
        self.last_step, self.last_newton = mu, self.slope / self.curvature
        self.last_free, self.last_planned = int(free), int(self.n_candidates > 0)
        self.working_sets[1:] = self.working_sets[:-1].copy()
        self.curvatures[1:] = self.curvatures[:-1].copy()
        self.working_sets[0], self.curvatures[0] = (i, j), self.curvature
        self.iteration += 1

    def _carry(self, delta: np.ndarray, image: np.ndarray, i: int, j: int, mu: float, kappa: float) -> bool:
        """α += μ(eᵢ − eⱼ) + κΔ, G −= μ(K[i] − K[j]) + κKΔ; return whether neither i nor j is at its bound."""
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
        # α += Δ; a variable that reaches its bound, but for rounding of Δ, is set to it exactly
        A = np.flatnonzero(delta)
        before, change, lower, upper = self.alpha[A], delta[A], self.lower[A], self.upper[A]
        rounding = SNAP * (np.abs(before) + abs(mu)) if kappa else 0.0
        after = np.minimum(np.maximum(before + change, lower), upper)
        after = np.where((change < 0.0) & (change <= lower - before + rounding), lower, after)
        self.alpha[A] = after = np.where((change > 0.0) & (change >= upper - before - rounding), upper, after)
        self.largest = max(self.largest, float(np.abs(self.alpha[A]).max(initial=0.0)))
        self.stalled = self.stalled + 1 if np.array_equal(self.alpha[A], before) else 0
        # G −= KΔ,  f += ΔᵀG − ½ ΔᵀKΔ with the G before
        self.gradient -= image
        self.objective += slope - 0.5 * curvature
        self.carried_slope, self.carried_curvature = slope - curvature, curvature
        self.last_moved = len(A)
        inside = bool(
            self.lower[i] < self.alpha[i] < self.upper[i] and self.lower[j] < self.alpha[j] < self.upper[j]
        )
        if kappa and inside and ((after == lower) | (after == upper)).any():
            # what was carried can move no further, the pair can:  Δ ← μ(eᵢ − eⱼ)
            delta.fill(0.0)
            delta[i], delta[j], image[:] = mu, -mu, pair
            self.carried_slope = mu * (self.slope - kappa * beta - mu * self.raw_curvature)
            self.carried_curvature = mu * mu * self.raw_curvature
        return inside


def moved(value: float, change: float, lower: float, upper: float) -> float:
    """Value + change, set exactly to a bound that the change reaches."""
    if change >= upper - value:
        return upper
    if change <= lower - value:
        return lower
    return min(max(value + change, lower), upper)
