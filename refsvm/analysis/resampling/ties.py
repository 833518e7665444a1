"""Ties: the rounds of leave-one-out whose end does not prove a sign, once more, with all the digits that float64 has.

Such a round is solved to what rounding allows, and ends with an exact step on its free variables
(`refsvm.services.guards.polish`). Then G is computed to twice the digits of float64, and the sign is tried by

    h_R(xᵣ)  =  fᵣ + Σ βᵢ(Gᵢ − eᵢ) + (w_R − w)·(φᵣ − Σ βᵢφᵢ)              for any βᵢ of free variables with Σ βᵢ = 1

where eᵢ = vᵢ − w_R·φᵢ − b_R. The duality gap δ bounds ‖w_R − w‖² + Σ (Uᵢ − αᵢ)(eᵢ)₊ + (αᵢ − Lᵢ)(−eᵢ)₊, as
`refsvm.core.stopping.midpoint` derives. So this is its test (4) with the least (Uᵢ − αᵢ)/βᵢ of all βᵢ > 0 and
(αᵢ − Lᵢ)/|βᵢ| of all βᵢ < 0 as a, with t = fᵣ + Σ βᵢGᵢ, and with the distance of φᵣ from Σ βᵢφᵢ. That distance is least
for the weights of least squares. It is 0 for a linear kernel with one free variable more than features: then an example
far away loses no digits to the root of δ.

What is still open is a tie: h is 0 but for rounding, or b may be anything in an interval around 0.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from refsvm.core import arithmetic
from refsvm.core.kernels.matrix import KernelMatrix, View
from refsvm.core.primal import best_intercept
from refsvm.core.problem import EPSILON
from refsvm.core.result import Solution, Status
from refsvm.core.rounds.left_out_table import LeftOutTable
from refsvm.core.seeders.base import Seeder
from refsvm.core.stopping import KKTGap
from refsvm.core.stopping.ball_rule import BallRule, of_sign
from refsvm.core.stopping.midpoint import EXCESS, certain_sign, distances, ends_elsewhere, gap
from refsvm.services.guards.polish import MOST_FREE_VARIABLES, refined

TIE: Final = "tie"
"""What decides an example whose sign is not proved; and the name of the solution of its round."""

SPLIT: Final = 2.0**27 + 1.0
"""A number times this, less what is left of it, has half of the digits."""


def settle_ties(table: LeftOutTable, seeder: Seeder, relative: bool | float) -> None:
    """Solve the rounds without a proved sign as exactly as float64 can, one after another, and try to prove it."""
    if not (ties := table.ties()):
        return
    rounds = table.rounds = table.rounds.with_shrinking()
    for r in ties:
        stop = BallRule(table.smallest_tolerance(r), relative=relative)
        table.settle(rounds, seeder, stop, [table.round(r)._replace(keep=TIE)])
        if table.status is not Status.CONVERGED:
            break
        solved, rows = rounds.solutions.pop(TIE), rounds.rows
        if table.decided[r] != TIE:
            continue
        if sign := Proofs(solved, rows).sign(rows.row(r), float(rows.diagonal()[r])):
            table.decided[r], table.proved[r] = "kkt", True
            table.values[r] = of_sign(float(solved.decision_values[r]), sign)


def signs_elsewhere(
    table: LeftOutTable, gram: KernelMatrix, examples: np.ndarray, others: np.ndarray
) -> np.ndarray:
    """Return the signs of h of the machine of all examples at other examples, 0 where none is proved.

    Parameters
    ----------
    table : LeftOutTable
        Of a pair of classes, with its solution on all of their examples.
    gram : KernelMatrix
        Of all examples.
    examples, others : ndarrays of int64
        Which of them are the machine's, and which are asked about.
    """
    gram, full, signs = gram.centred, table.full, np.zeros(len(others))
    if not table.proves or not len(others):
        return signs
    # with the distances that need no kernel row, which is mostly enough
    own, view = np.abs(gram.diagonal()[others]), View(gram, examples)
    support = np.flatnonzero(full.alpha)
    f = arithmetic.product(full.alpha[None, support], gram.block(examples[support], others))[0]
    proofs = Proofs(full, view)
    signs = proofs.crude_signs(f, own)
    if (left := np.flatnonzero(signs == 0)).size:
        # as a tie: what is left is asked of a more exact solution
        rounds = table.rounds.with_shrinking()
        stop = KKTGap(table.smallest_tolerance(), relative=True)
        rounds.say_nothing()
        solved = rounds.solve(start=full.alpha, origin=full, stop=stop).in_solver_coordinates(rounds.problem)
        proofs, rows = Proofs(solved, view), gram.block(others[left], examples)
        signs[left] = [proofs.sign(row, float(each)) for row, each in zip(rows, own[left], strict=True)]
    return signs


class Proofs:
    """What a solution proves about signs of h, with G to twice the digits.

    Parameters
    ----------
    solved : Solution
    gram : KernelMatrix
        Of its variables.
    """

    def __init__(self, solved: Solution, gram: KernelMatrix) -> None:
        problem, self.alpha, diagonal = solved.problem, solved.alpha, gram.diagonal()
        self.lower, self.upper, v = problem.lower, problem.upper, problem.v
        self.support, self.sizes = np.flatnonzero(self.alpha), np.sqrt(np.abs(diagonal))
        self.gram, self.diagonal, self.rounding = gram, diagonal, gram.facts.rounding
        self.G = exact_gradient(v, self.alpha[self.support], gram.block(self.support))
        # what is left: the kernel values are rounded, and so is Σα, which one variable could make right
        term = 0.25 * self.rounding * float(np.abs(self.alpha) @ self.sizes)
        self.term = term + abs(math.fsum(self.alpha)) * float(self.sizes.max())
        self.error = self.term * self.sizes + 4.0 * EPSILON * (np.abs(v) + np.abs(self.G))
        self.delta = self._delta(self.error)

    def _delta(self, error: np.ndarray) -> float:
        b = best_intercept(self.G, 0.0, self.lower, self.upper)
        return gap(self.alpha, self.G - b, self.lower, self.upper, error)

    def crude_signs(self, f: np.ndarray, own: np.ndarray) -> np.ndarray:
        """Return the signs at examples of other machines from Kα and k(x, x) there, without their kernel rows."""
        low, high = ends_elsewhere(self.alpha, self.G, self.lower, self.upper, self.delta, self.sizes)
        sizes = np.sqrt(own)
        reach = math.sqrt(self.delta) * sizes * (1.0 + EXCESS) + 8.0 * len(self.alpha) * self.term * sizes
        return (f + (low - self.error).max() > reach) * 1 - (f + (high + self.error).min() < -reach) * 1

    def sign(self, row: np.ndarray, own: float) -> int:
        """Return the sign of h(x) from K between x and all variables, shape (n,), and k(x, x); x is not trained on."""
        alpha, lower, upper, G, error = self.alpha, self.lower, self.upper, self.G, self.error
        support, size = self.support, math.sqrt(abs(own))
        f = -float(exact_gradient(np.zeros(1), alpha[support], row[support, None])[0])
        off = self.term * size + 4.0 * EPSILON * abs(f)
        apart = distances(row, self.diagonal, own, self.rounding)
        sign = certain_sign(G + f, apart, self.delta, error + off, alpha, lower, upper)
        free = np.flatnonzero((lower < alpha) & (alpha < upper))
        if sign or not 0 < len(free) <= MOST_FREE_VARIABLES:
            return sign
        K_FF, K_xF = self.gram.block(free)[:, free], row[free]
        beta = affine_weights(K_FF, K_xF)
        square = max(own - 2.0 * float(K_xF @ beta) + float(beta @ K_FF @ beta), 0.0)
        square += self.rounding * (size + float(np.abs(beta) @ self.sizes[free])) ** 2
        t = f + float(beta @ G[free])
        off += float(np.abs(beta) @ (error + 64.0 * EPSILON * np.abs(G))[free])
        plus, minus = np.maximum(beta, 0.0), np.maximum(-beta, 0.0)
        above, below = (upper - alpha)[free], (alpha - lower)[free]
        rooms = [
            1.0 / float(np.maximum(a / above, b / below).max()) for a, b in ((plus, minus), (minus, plus))
        ]
        box = np.zeros(1), np.array([t]), -np.array(rooms[1:]), np.array(rooms[:1])
        low, high = ends_elsewhere(*box, self.delta, np.array([math.sqrt(square)]))
        return int(low[0] > off) - int(high[0] < -off)


def exact_gradient(v: np.ndarray, alpha: np.ndarray, K: np.ndarray) -> np.ndarray:
    """Return v − Σ αⱼKⱼ, shape (n,), rounded once: the sum and each product are kept in two numbers.

    T. J. Dekker, "A floating-point technique for extending the available precision", Numerische Mathematik 18, 1971.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm.analysis.resampling.ties import exact_gradient
    >>> exact_gradient(np.array([1.0]), np.array([1e17, 3.0, -1e17]), np.ones((3, 1)))
    array([-2.])
    """
    high, low = v.copy(), np.zeros(len(v))
    for factor, row in zip(-alpha, K, strict=True):
        product = factor * row
        (a, b), (c, d) = halves(factor), halves(row)
        low += ((a * c - product) + a * d + b * c) + b * d
        before, high = high, high + product
        change = high - before
        low += (before - (high - change)) + (product - change)
    return np.asarray(high + low)


def halves(x: Any) -> tuple[Any, Any]:
    """Return two numbers of half as many digits, whose sum is x."""
    scaled = SPLIT * x
    high = scaled - (scaled - x)
    return high, x - high


def affine_weights(K_FF: np.ndarray, K_rF: np.ndarray) -> np.ndarray:
    """Return the β of sum 1 for which Σ βᵢφᵢ is nearest to φᵣ, shape (m,)."""
    m, scale = len(K_rF), float(np.abs(K_FF).max()) or 1.0
    system, right = np.ones((1, m + 1, m + 1)), np.ones((1, m + 1, 1))
    system[0, :m, :m], system[0, m, m], right[0, :m, 0] = K_FF / scale, 0.0, K_rF / scale
    beta = refined(system, right)[0, :m, 0]
    return np.asarray(beta / beta.sum())
