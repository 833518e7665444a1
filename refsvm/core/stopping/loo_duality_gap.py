"""Leave-one-out duality gap: stop when the sign at the left-out example can no longer change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

import numpy as np

from refsvm.core._checks import positive, whole
from refsvm.core.problem import DualProblem, total
from refsvm.core.state import TAU, SolverState, moved
from refsvm.core.stopping.base import StoppingRule, left_out_examples
from refsvm.core.stopping.midpoint import INDEFINITE, Rounding, gap, tangent
from refsvm.core.stopping.relative import compare

EXAMPLE, TAKEN, NEXT, ASKED, CODE, H, F, PARTNER, LENGTH, HEAD = range(10)
"""Places in the memory: r; how far η has come, in steps of α, −1 before it begins; when F is due; when last asked, and
what was said; H; F; the partner that waits for its kernel row, in compiled code, and how far it will move. From HEAD
on: η, v − K′η, K[r] and v, n values each. Behind them are two of `refsvm.core.stopping.relative` if ε is relative."""

PERIOD: Final = 10
"""Steps between two evaluations of F, once H has passed f(α)."""

ROUNDING: Final = 1e-10
"""By how much H has to exceed F, relative to both: what the rounding of the sums adds up to."""

SINGULAR: Final = 1e-10
"""A pair whose 2 × 2 part of K′ has a determinant of less, relative to the product of its diagonal, does not move."""

CUTS: Final = 64
"""Tangents at most in the search for b̂."""

EXACT: Final = 1e-13
"""The search for b̂ ends where the objective is as the tangents predict, up to this, relatively."""


@dataclass(frozen=True)
class LOODualityGap(StoppingRule):
    """Stop when F(α, b̂) < H(η): the sign of the decision function at the left-out example xᵣ is that of the optimum.

    F(α, b) is the primal objective without example r, and b̂ minimises it. H is the dual of the same problem with the
    constraint h(xᵣ) = 0 added, which fixes the intercept, so that no sum is prescribed:

        maximise H(η) = vᵀη − ½ ηᵀK′η   subject to  L ≤ η ≤ U, ηᵣ = 0,     K′ᵢⱼ = Kᵢⱼ − Kᵣᵢ − Kᵣⱼ + Kᵣᵣ

    K′ is the Gram matrix of φ(x) − φ(xᵣ). (The paper prints − Kᵣᵣ, which is no Gram matrix.) It is never formed: a step
    δ of ηᵢ changes v − K′η by −δ(K[i] − K[r] − Kᵣᵢ + Kᵣᵣ). η starts where α starts. With every step of α the ηᵢ with
    the largest gain moves, and the ηⱼ that gains most together with it. The paper moves ηᵢ alone; but a step of α moves
    two variables too, and alone η falls behind.

    No point with h(xᵣ) = 0 has an objective below H(η). The optimum and a point with F < H could only lie on
    different sides of xᵣ if some point between them, whose F is no larger by convexity, had h(xᵣ) = 0. The rule stops
    only where the intercept that a `Solution` reports gives the same sign as b̂. It also stops at ψ(α) ≤ ε: F < H
    cannot be reached if h(xᵣ) = 0 at the optimum.

    F is evaluated in every tenth step, and only where H(η) > f(α), without which F ≥ f cannot be below H. Measured on
    twelve left-out examples of heart, linear kernel, C = 1, from a cold start: in every step, the rounds took 445 steps
    on average and 0.82 s in all; in every tenth, 470 steps and 0.50 s; in every fortieth, 532 steps and 0.51 s.

    Parameters
    ----------
    tol : float
        ε > 0 of the KKT gap.
    example : int, optional
        The left-out one, r. None: the only example with an empty box Lᵣ = Uᵣ = 0, as `DualProblem.without` leaves it.
    variables : {2, 1}
        Number of ηᵢ that move per step of α; the paper moves 1.
    relative : bool
        Whether ε is relative to the range of the decision values, as in `KKTGap`.

    Raises
    ------
    ValueError
        If tol is not positive. When a solve begins: if the sum of α is not 0, example r may still move, or r is not
        given and no example, or more than one, has an empty box.

    References
    ----------
    V. Franc, P. Laskov and K.-R. Müller, "Stopping conditions for exact computation of leave-one-out error in support
    vector machines", ICML 2008, Theorem 1, Corollary 1, Algorithm 3.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import DualProblem, KKTGap, LOODualityGap, RBF, solve
    >>> X, y = np.arange(8.0)[:, None], np.array([-1, -1, 1, -1, 1, 1, -1, 1])
    >>> left_out = DualProblem.classification(X, y, kernel=RBF(0.1), C=100.0).without(7)
    >>> quick, exact = solve(left_out, stop=LOODualityGap()), solve(left_out, stop=KKTGap(1e-8))
    >>> quick.reason
    'The primal objective is below the bound on solutions with h(x) = 0 at the left-out example.'
    >>> quick.iterations < exact.iterations
    True
    """

    tol: float = 1e-3
    example: int | None = None
    variables: int = 2
    relative: bool = False
    left_out: ClassVar[bool] = True
    reasons: ClassVar[tuple[str, ...]] = (
        "The KKT gap is at most tol.",
        "The primal objective is below the bound on solutions with h(x) = 0 at the left-out example.",
    )

    def __post_init__(self) -> None:
        positive("tol", self.tol)
        if self.example is not None:
            whole("example", self.example, 0)
        if self.variables not in (1, 2):
            raise ValueError(f"variables={self.variables!r} is unknown; give 2, or 1 for the paper's rule.")

    def memory(self, problem: DualProblem, steps: int = 0) -> np.ndarray:
        """Return the memory: `HEAD` numbers, then η, v − K′η, K[r] and v, n values each."""
        examples = left_out_examples(self, self.example, problem)
        memory = np.zeros(HEAD + 4 * problem.n + 2 * self.relative)
        if len(examples) != 1:
            raise ValueError(
                f"LOODualityGap() needs one left-out example, with L = U = 0, and the problem has {len(examples)}; "
                "solve problem.without(r), or name the example: LOODualityGap(example=r)."
            )
        memory[EXAMPLE] = examples[0]
        memory[[TAKEN, ASKED, PARTNER]] = -1.0
        if self.relative:
            memory[-1] = self.tol
        memory[HEAD + 3 * problem.n : HEAD + 4 * problem.n] = problem.v
        return memory

    def check(self, state: SolverState) -> int:
        """Move η as often as α has moved since the last time, and compare F with H when that is due."""
        memory = state.stop_memory
        # ψ ≤ ε, or ψ ≤ ε min(1, s/u)
        if compare(self, state):
            return 1
        if memory[ASKED] == state.iteration:
            return int(memory[CODE])
        if memory[TAKEN] < 0.0:
            _begin(state)
        while memory[TAKEN] <= state.iteration:
            gained = _ascend(state, self.variables)
            memory[TAKEN] = memory[TAKEN] + 1.0 if gained else state.iteration + 1.0
        memory[ASKED], memory[CODE] = state.iteration, 0.0
        if memory[H] > state.objective and state.iteration >= memory[NEXT]:
            memory[NEXT] = state.iteration + PERIOD
            memory[CODE] = 2.0 * _decided(state)
        return int(memory[CODE])

    def outcome(self, reason: str, value: float) -> tuple[str, float]:
        """Return "duality gap" where that decided; the sign of the value is certain then."""
        return "duality gap" if reason == self.reasons[1] else "kkt", value

    def rows_needed(self, n: int) -> int:
        """Two, of the η that move."""
        return 2

    def restricted_tolerance(self, gap: float) -> float:
        """Solve restricted problems to a tenth of the gap, so that F < H is looked at in between."""
        return max(gap / 10.0, self.tol)

    def parameters(self) -> tuple[float, ...]:
        """Return (tol, variables, relative)."""
        return (self.tol, float(self.variables), float(self.relative))


def _parts(state: SolverState) -> np.ndarray:
    """Return η, g = v − K′η, K[r] and v, shape (4, n)."""
    return state.stop_memory[HEAD : HEAD + 4 * len(state.alpha)].reshape(4, -1)


def _begin(state: SolverState) -> None:
    """η ← α, for which g and H need no product with K."""
    memory, r = state.stop_memory, int(state.stop_memory[EXAMPLE])
    eta, gradient, row, v = _parts(state)
    row[:] = state.row(r)
    eta[:] = state.alpha
    # g = v − Kα + K[r](1ᵀα) + 1 (K[r]ᵀα) − Kᵣᵣ(1ᵀα),  v − Kα = G,  K[r]ᵀα = vᵣ − Gᵣ,  1ᵀα = 0
    gradient[:] = state.gradient + (v[r] - state.gradient[r])
    # H = ½ ηᵀ(v + g)
    memory[H] = 0.5 * total(eta * (v + gradient))
    memory[TAKEN] = state.iteration


def _ascend(state: SolverState, variables: int) -> bool:
    """Move the ηᵢ that gains most, and with it the partner ηⱼ that gains most with it; False if none gains anything."""
    memory, r = state.stop_memory, int(state.stop_memory[EXAMPLE])
    eta, gradient, row, _ = _parts(state)
    low, high = state.lower - eta, state.upper - eta
    # q = K′ᵢᵢ = Kᵢᵢ − 2Kᵣᵢ + Kᵣᵣ
    curvature = state.diagonal - 2.0 * row + row[r]
    curvature[curvature <= 0.0] = TAU
    # δ = clip(gᵢ/q, Lᵢ − ηᵢ, Uᵢ − ηᵢ),  2 gain = δ(2gᵢ − δq)
    step = np.minimum(np.maximum(gradient / curvature, low), high)
    gain = step * (2.0 * gradient - step * curvature)
    i = int(gain.argmax())
    if gain[i] <= 0.0:
        return False
    best, delta_i, delta_j, j = gain[i], step[i], 0.0, -1
    if variables == 2:
        pair, first, second = _with_partner(i, state.row(i), (curvature, low, high), state)
        j = int(pair.argmax())
        if pair[j] > best:
            best, delta_i, delta_j = pair[j], first[j], second[j]
        else:
            j = -1
    row_i = state.row(i)
    # g −= δᵢ K′[i] + δⱼ K′[j]
    gradient -= delta_i * (row_i - row - (row[i] - row[r]))
    eta[i] = moved(eta[i], delta_i, state.lower[i], state.upper[i])
    if j >= 0:
        gradient -= delta_j * (state.row(j) - row - (row[j] - row[r]))
        eta[j] = moved(eta[j], delta_j, state.lower[j], state.upper[j])
    memory[H] += 0.5 * best
    return True


def _with_partner(
    i: int, row_i: np.ndarray, box: tuple[np.ndarray, np.ndarray, np.ndarray], state: SolverState
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return twice the gain of moving ηᵢ and ηₜ, and both steps, for all t: Newton's, clipped one after the other."""
    r = int(state.stop_memory[EXAMPLE])
    _, g, row, _ = _parts(state)
    q, low, high = box
    # k = K′ᵢₜ,  det = qᵢqₜ − k²,  δᵢ = (qₜgᵢ − kgₜ)/det
    k = row_i - row - (row[i] - row[r])
    det = q[i] * q - k * k
    regular = det > SINGULAR * (q[i] * q)
    first = np.minimum(np.maximum((q * g[i] - k * g) / np.where(regular, det, 1.0), low[i]), high[i])
    # δₜ = clip((gₜ − kδᵢ)/qₜ),  δᵢ = clip((gᵢ − kδₜ)/qᵢ)
    second = np.minimum(np.maximum((g - k * first) / q, low), high)
    first = np.minimum(np.maximum((g[i] - k * second) / q[i], low[i]), high[i])
    # 2 gain = δᵢ(2gᵢ − δᵢqᵢ) + δₜ(2gₜ − δₜqₜ) − 2kδᵢδₜ
    gain = first * (2.0 * g[i] - first * q[i]) + second * (2.0 * g - second * q) - 2.0 * k * first * second
    return np.where(regular, gain, -1.0), first, second


def _decided(state: SolverState) -> bool:
    """Whether F(α, b̂) < H(η), with the sign that the midway intercept gives too."""
    if state.problem.is_open:
        return False
    memory, r = state.stop_memory, int(state.stop_memory[EXAMPLE])
    eta, gradient, _, v = _parts(state)
    alpha, G = state.alpha, state.gradient
    low, high = float(G[state.bottom]), float(G[state.top])  # b̂ lies between them
    b = best_intercept(G, state.lower, state.upper, low, high)[0]
    # how far G may be off, and g = v − K′η, which has moved twice in each step; K′ᵢᵢ ≤ 4 max Kⱼⱼ
    largest, size = (float(np.abs(each).max()) for each in (eta, gradient))
    error = Rounding.of(state).at(state.largest_diagonal)
    bounded = Rounding.of(state, 2.0 * state.iteration, largest, size).at(16.0 * state.largest_diagonal)
    # f = ½ αᵀ(v + G),  F = f + T(α, G − b̂),  H = ½ ηᵀ(v + g)
    objective = 0.5 * total(alpha * (v + G))
    memory[F] = objective + gap(alpha, G - b, state.lower, state.upper, error)
    memory[H] = 0.5 * total(eta * (v + gradient))
    margin = 0.5 * (error * total(np.abs(alpha)) + bounded * total(np.abs(eta)))
    margin += ROUNDING * (abs(memory[F]) + abs(memory[H]))
    # h(xᵣ) = vᵣ − Gᵣ + b
    least, most = (v[r] - G[r] + ends for ends in sorted((b, 0.5 * (low + high))))
    same_sign = least > error or most < -error
    psd = state.least_curvature >= INDEFINITE * float(state.diagonal[r])
    return bool(psd and same_sign and memory[F] + margin < memory[H])


def best_intercept(
    G: np.ndarray, lower: np.ndarray, upper: np.ndarray, low: float, high: float
) -> tuple[float, float]:
    """Return b̂ and P(b̂), the minimum of P(b) = Σ max(Uᵢ(Gᵢ − b), Lᵢ(Gᵢ − b)), by cutting planes.

    P is convex and piecewise linear. The tangents at two points on either side of the minimum meet at the next point,
    until P there is what the tangents predict.
    """
    left, right = tangent(G, lower, upper, low), tangent(G, lower, upper, high)
    b, value = (low, left[0]) if left[0] <= right[0] else (high, right[0])
    for _ in range(CUTS):
        if not left[1] < 0.0 < right[1]:
            break
        # P(low) + s(b − low) = P(high) + s′(b − high)
        middle = (right[0] - left[0] + left[1] * low - right[1] * high) / (left[1] - right[1])
        if not low < middle < high:
            break
        predicted = left[0] + left[1] * (middle - low)
        here = tangent(G, lower, upper, middle)
        if here[0] < value:
            b, value = middle, here[0]
        if here[0] - predicted <= EXACT * abs(here[0]):
            break
        if here[1] < 0.0:
            low, left = middle, here
        else:
            high, right = middle, here
    return b, value
