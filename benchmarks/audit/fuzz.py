"""Random problems by both engines, and what is wrong with what they return for a `Trial`.

1. Both engines take the same steps: α, G, trace and counters agree bit for bit.
2. α lies in the box, and its sum is z up to rounding.
3. The KKT gap, from a gradient computed afresh in extended precision, is what the solution says, to a twentieth of
   it or of the tolerance, and at most the tolerance if it says CONVERGED. If it says STALLED, the gap is of rounding.
4. The objective is not below that of any other feasible point: that of an interior-point solver, made feasible.
"""

from __future__ import annotations

import warnings
from functools import cached_property
from importlib.util import find_spec
from typing import Any

import numpy as np

from refsvm import KKTGap, Rounds, Solution, Status
from refsvm.core.problem import most_violating_pair
from refsvm.testing.engines import first_difference

from .trials import Trial

__all__ = ["Verdict", "interior_point"]

EPS = float(np.finfo(np.float64).eps)
SINGLE = float(np.finfo(np.float32).eps)
COMPARED = 400
"""Steps over which the engines are compared; the readable one takes some ten microseconds for each."""

LIMIT = 20_000
"""Steps after which a solve is given up; what it returns is checked all the same."""


class Verdict:
    """Both engines on one trial.

    Parameters
    ----------
    trial : Trial
    compiled : bool
        Whether there is a compiled engine.
    compared, limit : int
        Steps over which the engines are compared, and after which a solve is given up.

    Attributes
    ----------
    solution : Solution
        Of the compiled engine, to the end.
    complaints : list of str
        What is wrong.
    """

    def __init__(
        self, trial: Trial, *, compiled: bool = True, compared: int = COMPARED, limit: int = LIMIT
    ) -> None:
        self.trial = trial
        self.complaints: list[str] = []
        self.solution = self._compared(compared, limit) if compiled else self._solved("numpy", limit)
        self._check_feasible()
        if np.isfinite(self.solution.alpha).all():
            self._check_gap()
            self._check_objective()

    def _solved(self, engine: str, limit: int, trace: bool = False) -> Solution:
        """Solve, perhaps as the second of two rounds."""
        trial = self.trial
        selector, step, stop = trial.rules
        with warnings.catch_warnings(action="ignore"):  # of indefinite kernels, and starts that are repaired
            rounds = Rounds(
                trial.problem,
                selector=selector,
                step=step,
                stop=stop,
                engine=engine,
                max_iter=limit,
                **trial.options,
            )
            if trial.earlier is not None:
                rounds.solve(lower=trial.earlier[0], upper=trial.earlier[1])
            return rounds.solve(start=trial.start, trace=trace)

    def _compared(self, compared: int, limit: int) -> Solution:
        """Compare the engines over so many steps; let the compiled one go on to the end."""
        readable, compiled = (self._solved(engine, compared, trace=True) for engine in ("numpy", "numba"))
        found = first_difference(readable, compiled)
        if found is not None:
            self.complaints.append(f"engines differ at step {found[0]}: {found[1]}")
        return self._solved("numba", limit) if compiled.status is Status.MAX_ITER else compiled

    def _check_feasible(self) -> None:
        problem, alpha = self.trial.problem, self.solution.alpha
        if not ((problem.lower <= alpha) & (alpha <= problem.upper)).all():
            self.complaints.append("α leaves the box")
        sizes = np.maximum(np.abs(problem.lower), np.abs(problem.upper))
        rounding = EPS * (float(sizes.sum()) + abs(problem.z) + self.solution.iterations * float(sizes.max()))
        if not abs(float(np.sum(alpha, dtype=np.longdouble)) - problem.z) <= 4.0 * rounding:
            self.complaints.append(f"Σα = {alpha.sum()!r} is not z = {problem.z!r}")

    @cached_property
    def kernel_matrix(self) -> np.ndarray:
        """The kernel matrix, in extended precision."""
        gram = self.trial.problem.gram
        return gram.block(np.arange(gram.n)).astype(np.longdouble)

    def gradient(self, alpha: np.ndarray) -> np.ndarray:
        """G = v − Kα, in extended precision."""
        return self.trial.problem.v.astype(np.longdouble) - self.kernel_matrix @ alpha

    def objective(self, alpha: np.ndarray) -> float:
        """f(α) = ½ αᵀ(v + G), in extended precision."""
        return float(0.5 * (alpha @ (self.trial.problem.v + self.gradient(alpha))))

    def rounding(self, alpha: np.ndarray) -> float:
        """How far rounding of K, α and sums may move a difference of two entries of G."""
        unit = SINGLE if self.trial.options.get("cache_dtype") == "float32" else EPS
        each = self.trial.magnitude @ np.abs(alpha)
        size = (unit + (len(alpha) + 2) * EPS) * each + EPS * np.abs(self.trial.problem.v)
        return 4.0 * float(size.max())

    def _check_gap(self) -> None:
        solution, problem = self.solution, self.trial.problem
        alpha = solution.alpha
        G = self.gradient(alpha).astype(np.float64)
        gap = most_violating_pair(alpha, G, problem.lower, problem.upper)[2]
        noise, stop = self.rounding(alpha), self.trial.rules.stop
        finished = solution.status in (Status.CONVERGED, Status.STALLED)
        agrees = (
            gap == solution.kkt_gap or abs(gap - solution.kkt_gap) <= 0.05 * max(abs(gap), stop.tol) + noise
        )
        if finished and not agrees:
            self.complaints.append(f"kkt_gap is {solution.kkt_gap:.3g}, but truly {gap:.3g} ± {noise:.1g}")
        if (
            solution.status is Status.CONVERGED
            and isinstance(stop, KKTGap)
            and gap > 1.0001 * stop.tol + noise
        ):
            self.complaints.append(f"CONVERGED with a gap of {gap:.3g} ± {noise:.1g}, tol={stop.tol:.3g}")
        # a step of less than the rounding of α changes nothing; what it would gain is of the rounding of G
        least = 10.0 * self.rounding(np.full(problem.n, np.abs(alpha).max()))
        if solution.status is Status.STALLED and not self.trial.rules.selector.may_stall and gap > least:
            self.complaints.append(f"STALLED with a gap of {gap:.3g}, where {least:.1g} is rounding")

    def _check_objective(self) -> None:
        """Compare with a point that need not be optimal: no feasible one is better by more than the gap allows."""
        solution, problem = self.solution, self.trial.problem
        stop = self.trial.rules.stop
        done = solution.status is Status.CONVERGED and isinstance(stop, KKTGap)
        other = interior_point(self) if self.trial.psd and done else None
        if other is None:
            return
        other = problem.feasible(other)
        mine, its = self.objective(solution.alpha), self.objective(other)
        moved = float(np.abs(solution.alpha - other).sum())
        noise = self.rounding(np.maximum(np.abs(solution.alpha), np.abs(other)))
        # f(x) − f(α) ≤ Gᵀ(x − α) ≤ ψ ½‖x − α‖₁, as f is concave and both sum to z
        slack = (0.5 * max(1.0001 * stop.tol, 0.0) + noise) * moved
        slack += 1e-12 * float(np.abs(problem.lower).sum() + np.abs(problem.upper).sum()) * self._steepness()
        if its > mine + slack:
            self.complaints.append(f"objective {mine!r}, but {its!r} of the interior-point solver")

    def _steepness(self) -> float:
        """Largest entry of G at the solution: what a sum that is off by rounding may bring."""
        return float(np.abs(self.gradient(self.solution.alpha)).max())


def interior_point(verdict: Verdict) -> np.ndarray | None:
    """Solve by Clarabel, in units where the widest box and the steepest slope are 1; None if it does not succeed."""
    if not all(map(find_spec, ("scipy", "qpsolvers", "clarabel"))):
        return None
    from qpsolvers import Problem, solve_problem
    from scipy.sparse import csc_matrix

    problem, K = verdict.trial.problem, np.asarray(verdict.kernel_matrix, dtype=np.float64)
    lower, width = problem.lower, problem.upper - problem.lower
    unit = float(width.max())
    if unit == 0.0:
        return None
    slope = problem.v - K @ lower  # α = L + unit β
    size = max(float(np.abs(slope).max()), unit * float(np.abs(K).max()))
    if size == 0.0:
        return None
    P, q = csc_matrix(K * (unit / size)), -slope / size
    total = np.array([(problem.z - float(lower.sum())) / unit])
    ones, zeros = csc_matrix(np.ones((1, problem.n))), np.zeros(problem.n)
    qp = Problem(P, q, None, None, ones, total, zeros, width / unit)
    found: Any = solve_problem(qp, solver="clarabel")
    return lower + unit * found.x if found.found and np.isfinite(found.x).all() else None
