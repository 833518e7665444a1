"""Compiled twin of `refsvm.BallRule`."""

from __future__ import annotations

from refsvm.compiled.interface.layout import CHECK
from refsvm.compiled.interface.rows import row_or_ask
from refsvm.compiled.interface.twin import called, twin
from refsvm.compiled.stopping.midpoint import (
    certain_sign,
    distances,
    error_at,
    gap,
    largest_moving,
    largest_of,
    rounding_of,
)
from refsvm.compiled.stopping.relative import compare
from refsvm.core.stopping.ball_rule import (
    ASKED,
    AT,
    BEGUN,
    CODE,
    COUNT,
    HAS_POINT,
    INTERCEPT,
    LARGEST,
    LAST,
    MOVING,
    NEAR,
    NEXT,
    PROGRESS,
    SIZE,
    STEPS,
)  # fmt: skip
from refsvm.core.stopping.midpoint import INDEFINITE


@called
def parts(memory, n):  # type: ignore[no-untyped-def]
    """Return the parts of the rule's memory: the left-out examples, α and G of the solution w, and v."""
    return memory[:n], memory[n : 2 * n], memory[2 * n : 3 * n], memory[3 * n : 4 * n]


@called
def begin(state):  # type: ignore[no-untyped-def]
    """If no solution w is given, store the present α and G as w; store max |G| and max |α| to bound rounding errors."""
    memory, now, n = state.stop_memory, state.now[0], len(state.alpha)
    _, alpha, gradient, _ = parts(memory, n)
    if memory[HAS_POINT] == 0.0:
        for t in range(n):
            alpha[t], gradient[t] = state.alpha[t], state.gradient[t]
        memory[INTERCEPT] = 0.5 * (gradient[now.bottom] + gradient[now.top])
    memory[SIZE], memory[LARGEST] = largest_of(gradient), largest_of(alpha)
    memory[MOVING] = largest_moving(state)
    memory[BEGUN] = 1.0


@called
def square_of_radius(state, error, most):  # type: ignore[no-untyped-def]
    """Return ρ² = ¼‖w − w̃‖² + T(α̃, G_w − b_w), summed from left to right."""
    memory = state.stop_memory
    _, alpha, gradient, _ = parts(memory, len(state.alpha))
    # ‖w − w̃‖² = (α_w − α̃)ᵀ(G − G_w)
    separation = size = 0.0
    for t in range(len(alpha)):
        moved = alpha[t] - state.alpha[t]
        separation += moved * (state.gradient[t] - gradient[t])
        size += abs(moved)
    separation = max(separation, 0.0) + 2.0 * most * size
    own = gap(state.alpha, gradient, memory[INTERCEPT], state.lower, state.upper, error)
    return 0.25 * separation + own


@called
def prove(state):  # type: ignore[no-untyped-def]
    """Try to prove all signs; return True if all are proved, False if a proof fails or a kernel row is missing."""
    memory, now, G, diagonal = state.stop_memory, state.now[0], state.gradient, state.diagonal
    left_out, _, gradient, v = parts(memory, len(G))
    highest = largest_of(diagonal)
    rounding = rounding_of(state, highest, memory[STEPS], memory[LARGEST], memory[SIZE])
    error = error_at(rounding, memory[MOVING])
    square = delta = -1.0
    if now.iteration == 0 or now.gap > NEAR:
        square = square_of_radius(state, error, error_at(rounding, highest))
    for k in range(int(memory[AT]), int(memory[COUNT])):
        r = int(left_out[k])
        if now.least_curvature < INDEFINITE * diagonal[r]:
            return False
        row, is_there = row_or_ask(state, r)
        if not is_there:
            return False
        distances(row, diagonal, r, now.kernel_rounding, state.scratch)
        off = error + error_at(rounding, diagonal[r])
        sign = 0
        if square >= 0.0:
            sign = certain_sign((gradient, G), r, v[r], state.scratch, square, off, state)
        if sign == 0 and now.gap <= NEAR:
            # test with the second ball, whose formula contains w̃ instead of w
            if delta < 0.0:
                b = 0.5 * (G[now.bottom] + G[now.top])
                delta = gap(state.alpha, G, b, state.lower, state.upper, error)
            sign = certain_sign((G, G), r, v[r], state.scratch, delta, off, state)
        if sign == 0:
            return False
        left_out[k] = sign * (r + 1)
        memory[AT] = k + 1.0
    return True


@called
def verdict(state):  # type: ignore[no-untyped-def]
    """Return 2 (sign +1) or 3 (sign −1) for one example; for several, 4 if each h has its proved sign, else 0."""
    memory, now, G = state.stop_memory, state.now[0], state.gradient
    left_out, _, _, v = parts(memory, len(G))
    if memory[COUNT] == 1.0:
        return 2 if left_out[0] > 0.0 else 3
    b = 0.5 * (G[now.bottom] + G[now.top])
    for k in range(int(memory[COUNT])):
        r = int(abs(left_out[k])) - 1
        # h(xᵣ) = vᵣ − Gᵣ + b
        if (v[r] - G[r] + b >= 0.0) != (left_out[k] > 0.0):
            return 0
    return 4


@twin(CHECK)
def ball_rule(parameters, state):  # type: ignore[no-untyped-def]
    """Compiled twin of `refsvm.BallRule`."""
    memory, now = state.stop_memory, state.now[0]
    # ψ ≤ ε, or ψ ≤ ε min(1, s/u)
    v = parts(memory, len(state.alpha))[3]
    if now.gap <= parameters[0] and compare(parameters[0], parameters[2], v, state) != 0:
        return 1
    if memory[ASKED] == now.iteration:
        return int(memory[CODE])
    if now.iteration < memory[NEXT] or now.gap > min(parameters[3], PROGRESS * memory[LAST]):
        return 0
    if memory[BEGUN] == 0.0:
        begin(state)
    proved = prove(state)
    if now.missing >= 0:
        return 0
    memory[ASKED], memory[NEXT] = now.iteration, now.iteration + max(int(parameters[1]), now.iteration // 16)
    memory[LAST], memory[CODE] = now.gap, verdict(state) if proved else 0.0
    return int(memory[CODE])
