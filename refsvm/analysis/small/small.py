"""Solves many small problems of one size in one call.

Each call of `refsvm.solve` spends some tenths of a millisecond in Python, even for a tiny problem. Many classes of few
examples form thousands of pairs; each pair is a problem with a few variables, whose steps take microseconds. To save
the time in Python, this module stores all problems in arrays with one row for each problem. A backend takes the steps
of all problems together (`refsvm.analysis.small.stacked`), or solves one problem after another in a single compiled
call. Each problem takes the same steps as in `refsvm.solve`. If a problem needs too many steps, the caller must solve
it with `refsvm.solve`.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from refsvm.core.guards.rounding import moves, next_to_bound, room
from refsvm.core.kernels.functions import Precomputed
from refsvm.core.kernels.gram import Gram
from refsvm.core.kernels.rows import KernelRows
from refsvm.core.problem import DualProblem
from refsvm.core.rule import is_builtin
from refsvm.core.solver.rules import Rules
from refsvm.core.state import SolverState
from refsvm.core.stopping.kkt_gap import KKTGap
from refsvm.services.guards.kernel_values import INDEFINITE
from refsvm.services.guards.polish import MOST_FREE_VARIABLES, optima

FEW: Final = 64
"""Largest number of variables of a small problem."""

MOST_STEPS: Final = 1000
"""Largest number of steps of a small problem; after as many steps a solve considers shrinking for the first time."""

CODE, STEPS, CURVATURE, LARGEST_ALPHA, TOLERANCE = range(5)
"""Columns of the results: code of the stopping rule, or why the steps ended; number of steps; smallest curvature;
largest |αᵢ|; and the tolerance that the KKT gap was compared with."""


def best_intercepts(gradients: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """Return the b of `core.primal.best_intercept` for each of P problems with z = 0 and finite boxes, shape (P,)."""
    order = gradients.argsort(axis=1, kind="stable")
    width = np.take_along_axis(upper - lower, order, axis=1)
    after = width.cumsum(axis=1) - upper.sum(axis=1, keepdims=True)
    tolerance = 1e-12 * (np.abs(upper).sum(axis=1) + np.abs(lower).sum(axis=1))[:, None]
    last = gradients.shape[1] - 1
    places = (np.minimum(each.sum(axis=1), last) for each in (after < -tolerance, after <= tolerance))
    rows = np.arange(len(order))
    ends = [gradients[rows, order[rows, place]] for place in places]
    return np.asarray(0.5 * (ends[0] + ends[1]))


def supports(rules: Rules) -> bool:
    """Return True if all rules belong to this package and the stopping rule is `KKTGap`, as this module requires."""
    return type(rules.stop) is KKTGap and all(map(is_builtin, map(type, rules)))


class SmallProblems:
    """Problems of m variables with z = 0, L ≤ 0 ≤ U and finite boxes, and the current α of each problem.

    Parameters
    ----------
    kernels : ndarray of shape (P, m, m), float64
        The kernel matrix of each problem.
    v, lower, upper : ndarrays of shape (P, m), float64
        Linear term and bounds of each problem.
    start : ndarray of shape (P, m), float64, optional
        Feasible α to start from, 0 by default.

    Attributes
    ----------
    alpha, gradient : ndarrays of shape (P, m), float64
        α and G = v − Kα.
    results : ndarray of shape (P, 5), float64
        For each problem, the columns CODE, STEPS, CURVATURE, LARGEST_ALPHA and TOLERANCE.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm.analysis.small.stacked import small_backend
    >>> from refsvm.core.solver.rules import chosen_rules
    >>> from refsvm.analysis.small.small import SmallProblems
    >>> K, v = np.array([[[1.0, 0.0], [0.0, 1.0]], [[2.0, 0.0], [0.0, 2.0]]]), np.array([[1.0, -1.0]] * 2)
    >>> problems = SmallProblems(K, v, np.minimum(v, 0.0), np.maximum(v, 0.0))
    >>> small_backend("numpy").small(problems, chosen_rules(None, None, None), limit=9)
    >>> problems.alpha
    array([[ 1. , -1. ],
           [ 0.5, -0.5]])
    """

    def __init__(
        self, kernels: np.ndarray, v: np.ndarray, lower: np.ndarray, upper: np.ndarray,
        start: np.ndarray | None = None,
    ) -> None:  # fmt: skip
        self.kernels, self.v, self.lower, self.upper = kernels, v, lower, upper
        self.alpha = np.zeros(v.shape) if start is None else start.copy()
        self.gradient = v.copy()
        if start is not None:
            self.gradient -= images(kernels, start)
        self.results = np.zeros((len(v), 5))

    def __len__(self) -> int:
        return len(self.v)

    @property
    def size(self) -> int:
        """The number m of variables of each problem."""
        return self.v.shape[1]

    def part(self, which: slice) -> SmallProblems:
        """Return some problems as a `SmallProblems` that shares their memory."""
        some = object.__new__(SmallProblems)
        some.__dict__.update({name: array[which] for name, array in self.__dict__.items()})
        return some

    def problem(self, p: int) -> DualProblem:
        """Return one problem as a `DualProblem`."""
        gram = Gram(Precomputed(), self.kernels[p], is_checked=True)
        return DualProblem._of_checked(gram, *(each[p].copy() for each in (self.v, self.lower, self.upper)))

    def memories(self, rules: Rules) -> np.ndarray:
        """Return the initial memory of the rules, one row for each problem."""
        table = np.tile(np.concatenate(rules.memories(self.problem(0))), (len(self), 1))
        if rules.stop.relative:  # each row ends with the memory of `KKTGap`: v and two numbers
            table[:, -2 - self.size : -2] = self.v
        return table

    def state(self, p: int, rules: Rules) -> SolverState:
        """Return the state of one problem before its first step."""
        problem = self.problem(p)
        return rules.begin(problem, self.alpha[p], KernelRows(problem.gram), self.gradient[p])

    def take(self, p: int, state: SolverState, code: int) -> None:
        """Store α, G and the number of steps of one problem from its last state."""
        self.alpha[p], self.gradient[p] = state.alpha, state.gradient
        tolerance = state.stop_memory[-1] if len(state.stop_memory) else np.nan
        self.results[p] = code, state.iteration, state.least_curvature, state.largest, tolerance

    def extremes(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the largest G over I_up and the smallest G over I_down, shape (P,); ±∞ for empty sets."""
        top = np.where(self.alpha < self.upper, self.gradient, -np.inf).max(axis=1)
        return top, np.where(self.alpha > self.lower, self.gradient, np.inf).min(axis=1)

    @property
    def gap(self) -> np.ndarray:
        """Return the KKT gaps ψ(α), shape (P,)."""
        top, bottom = self.extremes()
        return np.asarray(top - bottom)

    # -- the end of a solve, as in `refsvm.core.solver.run.Run` for a single state ---------------------------------

    def finish(self, rules: Rules, noise: float, is_psd: bool) -> np.ndarray:
        """Take an exact step, and set each α near a bound to the bound; return which solutions are valid, shape (P,).

        A solution is not valid if its problem needs more steps, its kernel is indefinite, or rounding errors are too
        large; `refsvm.solve` must then solve the problem.

        Parameters
        ----------
        rules : Rules
            The rules of the solves.
        noise : float
            Approximate rounding error of kernel values.
        is_psd : bool
            Whether the kernel is known to be positive semi-definite.
        """
        tolerance = (
            self.results[:, TOLERANCE] if rules.stop.relative else np.full(len(self), rules.stop.tolerance)
        )
        diagonal = np.abs(np.diagonal(self.kernels, axis1=1, axis2=2)).max(axis=1)
        stands = (self.results[:, CODE] > 0) & ~self._drifted(diagonal, tolerance)
        if not is_psd:
            stands &= ~(self.results[:, CURVATURE] < INDEFINITE * diagonal)
        self._polish(stands)
        self._snap(diagonal, tolerance)
        if noise > 0.0:
            stands &= noise * np.sqrt(np.square(self.alpha).sum(axis=1)) <= tolerance
        return np.asarray(stands & np.isfinite(self.gap))

    def _drifted(self, diagonal: np.ndarray, tolerance: np.ndarray) -> np.ndarray:
        """Return where rounding errors may have moved G too far (`refsvm.core.guards.rounding.drifted`)."""
        size = np.abs(self.gradient).max(axis=1) + self.results[:, LARGEST_ALPHA] * diagonal
        updates = self.results[:, STEPS] + self.size  # add m, because the first G may be a sum of m rows
        return np.asarray(moves(updates, size, self.gap, tolerance))

    def _polish(self, wanted: np.ndarray) -> None:
        """Take one exact step on the free variables of each problem, as `refsvm.services.guards.polish.polish` does."""
        free = (self.alpha > self.lower) & (self.alpha < self.upper)
        counts = free.sum(axis=1)
        gap, change = self.gap, np.zeros(self.alpha.shape)
        moved = self.alpha.copy()
        for count in range(1, min(self.size, MOST_FREE_VARIABLES) + 1):
            some = np.flatnonzero(wanted & (counts == count))
            if not len(some):
                continue
            F = np.argsort(~free[some], axis=1, kind="stable")[:, :count]
            p = some[:, None]
            K_FF = self.kernels[p[:, :, None], F[:, :, None], F[:, None, :]]
            arrays = (each[p, F] for each in (self.alpha, self.gradient, self.lower, self.upper))
            points, solved = optima(K_FF, *arrays)
            p, F = p[solved], F[solved]
            moved[p, F], change[p, F] = points[solved], points[solved] - self.alpha[p, F]
        before = self.alpha, self.gradient
        self.alpha, self.gradient = moved, self.gradient - images(self.kernels, change)
        # take back the exact step if it does not make the KKT gap smaller
        worse = ~(self.gap < gap)
        self.alpha[worse], self.gradient[worse] = before[0][worse], before[1][worse]

    def _snap(self, diagonal: np.ndarray, tolerance: np.ndarray) -> None:
        """Set each α within a rounding error of a bound to the bound, as `refsvm.core.guards.rounding.snap` does."""
        gap = self.gap
        bound, distance, near = next_to_bound(self.alpha, self.lower, self.upper)
        near &= (gap <= tolerance)[:, None]
        if near.any():
            sums, sizes = self.alpha.sum(axis=1), np.abs(self.alpha).sum(axis=1)
            near &= distance <= room(np.abs(sums), sizes, gap, tolerance, diagonal)[:, None]
            self.alpha[near] = bound[near]

    # -- quantities of the solutions ---------------------------------------------------------------------------------

    @property
    def intercept(self) -> np.ndarray:
        """b of each problem, the mean of Gᵢ and Gⱼ for its most violating pair (i, j), shape (P,)."""
        top, bottom = self.extremes()
        return np.asarray((top + bottom) / 2.0)

    @property
    def objective(self) -> np.ndarray:
        """f(α) = ½ αᵀ(v + G), shape (P,)."""
        return np.asarray(0.5 * (self.alpha * (self.v + self.gradient)).sum(axis=1))

    @property
    def primal_objective(self) -> np.ndarray:
        """F(α, b) at the best b, shape (P,)."""
        b = best_intercepts(self.gradient, self.lower, self.upper)
        excess = self.gradient - b[:, None]
        losses = np.maximum(self.upper * excess, self.lower * excess).sum(axis=1)
        return np.asarray(0.5 * (self.alpha * (self.v - self.gradient)).sum(axis=1) + losses)


def images(kernels: np.ndarray, alpha: np.ndarray) -> np.ndarray:
    """Return Kα for each problem, shape (P, m), adding the rows of its kernel matrix one after another."""
    total = np.zeros(alpha.shape)
    for j in range(alpha.shape[1]):
        total += alpha[:, j, None] * kernels[:, j]
    return total
