"""F < H with η that goes through the examples in turn: the "straightforward modification" of Improved SMO."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from refsvm import DualProblem, LOODualityGap
from refsvm.compiled.interface.layout import CHECK
from refsvm.compiled.interface.rows import row_or_ask
from refsvm.compiled.interface.twin import called, twin
from refsvm.compiled.stopping.loo_duality_gap import begin, curvature, decided, move, parts
from refsvm.core.state import SolverState
from refsvm.core.stopping.loo_duality_gap import ASKED, CODE, EXAMPLE, NEXT, PERIOD, TAKEN, H

__all__ = ["ScannedGap"]

NEXT_ETA, STEPPED, VALUES, ROWS = -4, -3, -2, -1
"""Places at the end of the memory: the example that is examined next (n where free ones move, −1 at the optimum),
whether this pass has moved an η, the kernel values so far, and the η whose row is awaited, or −1."""


@dataclass(frozen=True)
class ScannedGap(LOODualityGap):
    """Algorithm 3 where η is moved as Improved SMO moves α, one variable a step, since no sum is prescribed.

        repeat
            a pass over all i:   ηᵢ moves if it violates its condition by more than ε
            the free ηᵢ with the largest |gᵢ| moves, while that is more than ε

    The solver that is counted knows g = v − K′η of the free η. It computes another gᵢ, one kernel value for each η that
    is not 0, when it examines example i; a step takes one value for each g that it knows. Row r is computed once. The
    paper does not say more of its modification, so this is our reading. Steps are taken in compiled code alone.
    """

    variables: int = 1
    reasons: ClassVar[tuple[str, ...]] = LOODualityGap.reasons

    def memory(self, problem: DualProblem, steps: int = 0) -> np.ndarray:
        """Return the memory of the rule, and the scan behind it."""
        return np.append(super().memory(problem, steps), (0.0, 0.0, problem.n, -1.0))

    def twin(self) -> Callable[..., Any]:
        """Return the compiled rule."""
        return scanned_gap

    @staticmethod
    def kernel_values(state: SolverState) -> int:
        """Return how many kernel values η has taken."""
        return int(state.stop_memory[VALUES])


@called
def next_eta(state, tolerance):  # type: ignore[no-untyped-def]
    """Return the η that moves next, −1 if none violates its condition by more than the tolerance."""
    memory, n = state.stop_memory, len(state.alpha)
    eta, g, _, _ = parts(memory, n)
    lower, upper, support, free = state.lower, state.upper, 0, 0
    if memory[len(memory) + NEXT_ETA] < 0.0:
        return -1
    for t in range(n):
        support += 1 if eta[t] != 0.0 else 0
        free += 1 if lower[t] < eta[t] < upper[t] else 0
    while True:
        # --- the worst of those that are known ---
        if memory[len(memory) + NEXT_ETA] == n:
            worst, i = tolerance, -1
            for t in range(n):
                if lower[t] < eta[t] < upper[t] and abs(g[t]) > worst:
                    worst, i = abs(g[t]), t
            if i >= 0:
                memory[len(memory) + VALUES] += free
                return i
            memory[len(memory) + NEXT_ETA] = memory[len(memory) + STEPPED] = 0.0
        # --- a pass over all examples ---
        while memory[len(memory) + NEXT_ETA] < n:
            i = int(memory[len(memory) + NEXT_ETA])
            memory[len(memory) + NEXT_ETA] += 1.0
            is_free = lower[i] < eta[i] < upper[i]
            if lower[i] < upper[i] and not is_free:
                memory[len(memory) + VALUES] += support
            if (g[i] > tolerance and eta[i] < upper[i]) or (g[i] < -tolerance and eta[i] > lower[i]):
                memory[len(memory) + STEPPED] = 1.0
                memory[len(memory) + VALUES] += free if is_free else free + 1
                return i
        if memory[len(memory) + STEPPED] == 0.0:
            memory[len(memory) + NEXT_ETA] = -1.0
            return -1


@called
def ascend_in_turn(state, tolerance):  # type: ignore[no-untyped-def]
    """Move one η; 1 if there is one, 0 if not, −1 if its row is missing."""
    memory = state.stop_memory
    eta, g, row, _ = parts(memory, len(state.alpha))
    i = int(memory[len(memory) + ROWS])
    if i < 0:
        i = next_eta(state, tolerance)
        if i < 0:
            return 0
    memory[len(memory) + ROWS] = i
    if not row_or_ask(state, i)[1]:
        return -1
    memory[len(memory) + ROWS] = -1.0
    q = curvature(state, row, row[int(memory[EXAMPLE])], i)
    # δ = clip(gᵢ/q, Lᵢ − ηᵢ, Uᵢ − ηᵢ),  2 gain = δ(2gᵢ − δq)
    delta = min(max(g[i] / q, state.lower[i] - eta[i]), state.upper[i] - eta[i])
    gain = delta * (2.0 * g[i] - delta * q)
    move(state, i, delta)
    memory[H] += 0.5 * gain
    return 1


@twin(CHECK)
def scanned_gap(parameters, state):  # type: ignore[no-untyped-def]
    """`refsvm.compiled.stopping.loo_duality_gap.loo_duality_gap` with η in turn; ε absolute."""
    memory, now = state.stop_memory, state.now[0]
    # ψ ≤ 2ε
    if now.gap <= parameters[0]:
        return 1
    if memory[ASKED] == now.iteration:
        return int(memory[CODE])
    if memory[TAKEN] < 0.0:
        if not row_or_ask(state, int(memory[EXAMPLE]))[1]:
            return 0
        begin(state)
    while memory[TAKEN] <= now.iteration:
        moved_one = ascend_in_turn(state, 0.5 * parameters[0])
        if moved_one == -1:
            return 0
        memory[TAKEN] = memory[TAKEN] + 1.0 if moved_one == 1 else now.iteration + 1.0
    memory[ASKED], memory[CODE] = now.iteration, 0.0
    if memory[H] > now.objective and now.iteration >= memory[NEXT]:
        memory[NEXT] = now.iteration + PERIOD
        memory[CODE] = 2.0 if decided(state) else 0.0
    return int(memory[CODE])
