"""Replay: the steps of a solve with their gains, computed from K and v alone; and problems to take them on."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from refsvm import RBF, DualProblem, NewtonStep, Precomputed, Solution, solve
from refsvm.core.kernels import Gram
from refsvm.core.solver.rules import starting_point
from refsvm.datasets import make_banana, make_chessboard

from ..settings import FAST, INTERPRETED

LIMIT = 100 if FAST == "numpy" or INTERPRETED else 300
BOARD, BANANA = make_chessboard(100, rng=0), make_banana(100, rng=0)


def classification(data, C, gamma) -> DualProblem:
    return DualProblem.classification(data.X, data.y, kernel=RBF(gamma), C=C)


def random_problem(seed: int) -> DualProblem:
    """Random size, box, v and Gram matrix: of any rank, of any scale, some variables fixed, some duplicated."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 41))
    factor = rng.normal(size=(n, rng.integers(1, n + 1))) * 10.0 ** rng.uniform(-1, 1)
    factor[: n // 4] = factor[-1 - n // 4 : -1]
    width = rng.uniform(size=n) * 10.0 ** rng.uniform(-1, 2)
    width[rng.random(n) < 0.1] = 0.0
    lower = -width * rng.random(n)
    z = float(lower.sum() + rng.random() * width.sum())
    return DualProblem(Gram(Precomputed(), factor @ factor.T), rng.normal(size=n), z, lower, lower + width)


@dataclass(frozen=True, eq=False)
class Replay:
    """The steps of a solve, their gains computed from K and v alone: f(α + μd) − f(α) = μ dᵀG − ½ μ² dᵀKd."""

    solution: Solution

    @cached_property
    def rows(self) -> np.ndarray:
        return self.solution.trace.rows

    @cached_property
    def kernel(self) -> np.ndarray:
        return self.solution.problem.gram.block(np.arange(self.solution.problem.n))

    @cached_property
    def alpha(self) -> np.ndarray:
        """α before each step, (steps, n)."""
        problem, rows = self.solution.problem, self.rows
        moves = np.zeros((len(rows) + 1, problem.n))
        moves[0] = starting_point(problem, None)
        t = np.arange(1, len(rows) + 1)
        moves[t, rows["i"]] += rows["step"]
        moves[t, rows["j"]] -= rows["step"]
        return np.cumsum(moves, axis=0)[:-1]

    @cached_property
    def slope(self) -> np.ndarray:
        G, t = self.solution.problem.v - self.alpha @ self.kernel, np.arange(len(self.rows))
        return G[t, self.rows["i"]] - G[t, self.rows["j"]]

    @cached_property
    def curvature(self) -> np.ndarray:
        i, j, K = self.rows["i"], self.rows["j"], self.kernel
        return K[i, i] + K[j, j] - 2.0 * K[i, j]

    @cached_property
    def gain(self) -> np.ndarray:
        mu = self.rows["step"]
        return mu * self.slope - 0.5 * mu**2 * self.curvature

    @cached_property
    def rounding(self) -> np.ndarray:
        """How much of a gain may be rounding: G is known to the precision of its largest summand."""
        largest = np.abs(self.alpha).max(initial=0.0) * np.abs(self.kernel).max()
        largest += np.abs(self.solution.problem.v).max()
        return 1e-13 * np.sqrt(len(self.rows) + 1) * largest * np.abs(self.rows["step"])

    @cached_property
    def planned(self) -> np.ndarray:
        return self.rows["planned"] == 1

    @cached_property
    def free(self) -> np.ndarray:
        return self.rows["free"] == 1


def replay(problem: DualProblem, limit: int = LIMIT, **options) -> Replay:
    settings = {"step": NewtonStep(), "engine": FAST, "shrinking": False, "trace": True, "max_iter": limit}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The kernel is not positive semi-definite")
        return Replay(solve(problem, **(settings | options)))
