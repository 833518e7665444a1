"""Ties: solves again the rounds of leave-one-out that proved no sign, as exactly as float64 allows.

A repeated round ends with an exact step on its free variables (`refsvm.services.guards.polish`). After the exact step
`Proofs` computes G with twice the digits of float64. Let w_R and b_R belong to the exact model of the round, w to the
computed model, and eᵢ = vᵢ − w_R·φᵢ − b_R. The duality gap δ bounds ‖w_R − w‖² + Σ (Uᵢ − αᵢ)(eᵢ)₊ + (αᵢ − Lᵢ)(−eᵢ)₊, as
`refsvm.core.stopping.midpoint` derives. If the tests of `midpoint` prove no sign, `Proofs` makes two further tests.
These do not multiply √δ by distances from xᵣ to other examples, so they can prove the sign even if xᵣ is far away.

1. `Proofs` finds variables that have the same α in every optimum. For an example o let b̄ = b_R + (w_R − w)·φₒ, so that
eᵢ = Gᵢ − b̄ − (w_R − w)·(φᵢ − φₒ). Each i with Uᵢ > αᵢ implies b̄ ≥ Gᵢ − √δ ‖φᵢ − φₒ‖ − δ/(Uᵢ − αᵢ), and each i with
αᵢ > Lᵢ bounds b̄ from above. If eᵢ > 0 is then certain, every optimum has αᵢ = Uᵢ; if eᵢ < 0 is certain, every optimum
has αᵢ = Lᵢ. Let M be the other variables. If M is empty, w_R = w.
2. For any βᵢ of free variables with Σ βᵢ = 1 and u = φᵣ − Σ βᵢφᵢ

       h_R(xᵣ)  =  fᵣ + Σ βᵢ(Gᵢ − eᵢ) + (w_R − w)·u,        |(w_R − w)·u|  ≤  Σ_M |α_Rⱼ − αⱼ| |φⱼ·u − c|  for any c

   because α_R and α have the same sum. The box bounds every |α_Rⱼ − αⱼ|. If β minimises ‖u‖, φⱼ·u has the same value
   c for all free j, and the sum over M contains only rounding errors. δ bounds each βᵢeᵢ.

If neither test proves the sign, the example is a tie: h is 0 up to rounding, or b may lie anywhere in an interval that
gives h both signs.
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
from refsvm.core.rounds.sufficiency import known_to
from refsvm.core.rounds.walked import few_steps
from refsvm.core.seeders.base import Seeder
from refsvm.core.stopping import KKTGap
from refsvm.core.stopping.ball_rule import BallRule, of_sign
from refsvm.core.stopping.midpoint import EXCESS, certain_sign, distances, ends_elsewhere, gap
from refsvm.services.guards.polish import MOST_FREE_VARIABLES, refined

TIE: Final = "tie"
"""Entry of `decided` for an example whose sign is not proved, and the key of the solution of its round."""

SPLIT: Final = 2.0**27 + 1.0
"""Factor with which `halves` splits a float64 into two numbers with half of its digits each."""


def settle_ties(table: LeftOutTable, seeder: Seeder, relative: bool | float) -> None:
    """Solve again each round that has proved no sign, as exactly as float64 permits, and try to prove the sign."""
    if not (ties := table.ties()):
        return
    rounds = table.rounds = table.rounds.with_shrinking()
    # solve the full problem more exactly: its solution also solves all rounds that leave out an example with α = 0
    rounds.solutions["all"] = table.full = solved_again(table)
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
    if seeder.is_exact:
        table.mark_walked()


def signs_elsewhere(
    table: LeftOutTable, gram: KernelMatrix, examples: np.ndarray, others: np.ndarray
) -> np.ndarray:
    """Return the signs of h at examples of other classes for the machine of a pair; 0 if no sign is proved.

    Parameters
    ----------
    table : LeftOutTable
        The table of a pair of classes, with the solution on all examples of the pair.
    gram : KernelMatrix
        The kernel matrix of all examples.
    examples, others : ndarrays of int64
        The examples of the pair, and the examples of other classes at which the signs are wanted.
    """
    gram, full, rows, signs = gram.centred, table.full, table.rounds.rows, np.zeros(len(others))
    if not table.proves or not len(others):
        return signs
    # 1. prove signs with bounds that need no kernel rows; these bounds usually prove all signs
    own = np.abs(gram.diagonal()[others])
    support = np.flatnonzero(full.alpha)
    delta, error = known_to(full, rows)
    f = arithmetic.product(full.alpha[None, support], gram.block(examples[support], others))[0]
    sizes, lower, upper = np.sqrt(np.abs(rows.diagonal())), full.problem.lower, full.problem.upper
    low, high = ends_elsewhere(full.alpha, full.gradient, lower, upper, delta, sizes)
    reach = math.sqrt(delta) * (1.0 + EXCESS) * np.sqrt(own)
    reach += float(error.max()) * np.maximum(1.0, np.sqrt(own) / float(sizes.max()))
    signs = (f + (low - error).max() > reach) * 1 - (f + (high + error).min() < -reach) * 1
    # 2. prove remaining signs with kernel rows; 3. solve more exactly, and prove the signs that still remain
    for is_exact in (False, True):
        if not (left := np.flatnonzero(signs == 0)).size:
            break
        if is_exact:
            full = solved_again(table)
        proofs, block = Proofs(full, View(gram, examples)), gram.block(others[left], examples)
        signs[left] = [proofs.sign(row, float(each)) for row, each in zip(block, own[left], strict=True)]
    return signs


def solved_again(table: LeftOutTable) -> Solution:
    """Return the solution on all examples, as exact as rounding and a limited number of steps allow."""
    rounds, stop = table.rounds.with_shrinking(), KKTGap(table.smallest_tolerance(), relative=True)
    for guard in rounds._run.guards:  # keep guards from warning about the tiny tolerance
        guard._has_warned = True
    # limit the steps: the solution need not be exact
    limit = min(rounds.max_iter, 10 * few_steps(rounds.problem.n))
    solution = rounds.solve(start=table.full.alpha, origin=table.full, stop=stop, max_iter=limit)
    return solution.in_solver_coordinates(rounds.problem)


class Proofs:
    """Proves signs of h from a solution, with G computed to twice the digits of float64.

    Parameters
    ----------
    solved : Solution
    gram : KernelMatrix
        The kernel matrix of the variables of the solution.
    """

    def __init__(self, solved: Solution, gram: KernelMatrix) -> None:
        problem, self.alpha, diagonal = solved.problem, solved.alpha, gram.diagonal()
        self.lower, self.upper, v = problem.lower, problem.upper, problem.v
        self.support, self.sizes = np.flatnonzero(self.alpha), np.sqrt(np.abs(diagonal))
        self.gram, self.diagonal, self.rounding = gram, diagonal, gram.facts.rounding
        self.G = exact_gradient(v, self.alpha[self.support], gram.block(self.support))
        # add the rounding errors of the kernel values, and the largest change of G if one α changes to make Σα = 0
        term = 0.25 * self.rounding * float(np.abs(self.alpha) @ self.sizes)
        self.lacking = abs(math.fsum(self.alpha))
        self.term = term + self.lacking * float(self.sizes.max())
        self.error = self.term * self.sizes + 4.0 * EPSILON * (np.abs(v) + np.abs(self.G))
        excess = self.G - best_intercept(self.G, 0.0, self.lower, self.upper)
        self.delta = gap(self.alpha, excess, self.lower, self.upper, self.error)
        self.delta += self.lacking * 2.0 * float(np.abs(excess).max())
        self.free = np.flatnonzero((self.lower < self.alpha) & (self.alpha < self.upper))
        self.width = np.maximum(self.upper - self.alpha, self.alpha - self.lower)
        self.width[self._stay(int(np.abs(excess).argmin()))] = 0.0

    def _stay(self, o: int) -> np.ndarray:
        """Whether a variable is proved to have the same α in every optimum, shape (n,)."""
        alpha, lower, upper, G = self.alpha, self.lower, self.upper, self.G
        apart = distances(self.gram.block(np.array([o]))[0], self.diagonal, self.diagonal[o], self.rounding)
        reach = math.sqrt(self.delta * (1.0 + EXCESS)) * apart + self.error
        above, below = upper - alpha, alpha - lower
        least = (G - reach)[above > 0.0] - self.delta / above[above > 0.0]
        most = (G + reach)[below > 0.0] + self.delta / below[below > 0.0]
        least, most = least.max(initial=-np.inf), most.min(initial=np.inf)
        rises, falls = (alpha == upper) & (G - reach > most), (alpha == lower) & (G + reach < least)
        return np.asarray(rises | falls | (lower == upper))

    def sign(self, row: np.ndarray, own: float) -> int:
        """Return the sign of h at the point x with the kernel row `row` and k(x, x) = `own`; 0 if no sign is proved."""
        alpha, lower, upper, G, error = self.alpha, self.lower, self.upper, self.G, self.error
        support, size = self.support, math.sqrt(abs(own))
        f = -float(exact_gradient(np.zeros(1), alpha[support], row[support, None])[0])
        off = self.term * size + 4.0 * EPSILON * abs(f)
        apart = distances(row, self.diagonal, own, self.rounding)
        sign = certain_sign(G + f, apart, self.delta, error + off, alpha, lower, upper)
        if not sign and self.lacking == 0.0 and not self.width.any():
            sign = certain_sign(G + f, 0.0 * apart, 0.0, error + off, alpha, lower, upper)
        free = self.free
        if sign or not 0 < len(free) <= MOST_FREE_VARIABLES:
            return sign
        rows, above, below = self.gram.block(free), (upper - alpha)[free], (alpha - lower)[free]
        beta = affine_weights(rows[:, free], row[free])
        plus, minus = np.maximum(beta, 0.0), np.maximum(-beta, 0.0)
        # compute φⱼ·u, and ‖φᵣ‖ + Σ|βᵢ|‖φᵢ‖, which bounds the rounding error of φⱼ·u
        inner, length = row - beta @ rows, size + float((plus + minus) @ self.sizes[free])
        c, noise = float(inner[free].mean()), (self.rounding + EPSILON * len(free)) * length
        reach = float(self.width @ (np.abs(inner - c) + noise * self.sizes)) + self.lacking * abs(c)
        t = f + float(beta @ G[free])
        off += float((plus + minus) @ (error + 64.0 * EPSILON * np.abs(G))[free])
        low = t - reach - off - self.delta * float(np.maximum(plus / above, minus / below).max())
        high = t + reach + off + self.delta * float(np.maximum(minus / above, plus / below).max())
        return int(low > 0.0) - int(high < 0.0)


def exact_gradient(v: np.ndarray, alpha: np.ndarray, K: np.ndarray) -> np.ndarray:
    """Return v − Σ αⱼKⱼ, shape (n,), rounded only at the end: sums and products are stored as pairs of numbers.

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
    """Return two numbers whose sum is x, each with half as many digits as x."""
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
