"""Twin of `refsvm.BallRule`."""

from __future__ import annotations

from refsvm.compiled.interface.layout import CHECK
from refsvm.compiled.interface.rows import row_or_ask
from refsvm.compiled.interface.twin import called, twin
from refsvm.compiled.stopping.midpoint import certain_sign, distances, radius, tangent
from refsvm.compiled.stopping.relative import compare
from refsvm.core.stopping.ball_rule import (
    ASKED,
    AT,
    BEGUN,
    CODE,
    COUNT,
    HAS_POINT,
    INTERCEPT,
    NEAR,
    NEXT,
    PRIMAL,
)  # fmt: skip
from refsvm.core.stopping.midpoint import INDEFINITE


@called
def parts(memory, n):  # type: ignore[no-untyped-def]
    """The left-out examples, α and G of w, and v."""
    return memory[:n], memory[n : 2 * n], memory[2 * n : 3 * n], memory[3 * n : 4 * n]


@called
def primal(alpha, G, v, losses):  # type: ignore[no-untyped-def]
    """½ αᵀ(v − G) + losses, summed from left to right."""
    norm = 0.0
    for t in range(len(v)):
        norm += alpha[t] * (v[t] - G[t])
    return 0.5 * norm + losses


@called
def begin(state):  # type: ignore[no-untyped-def]
    """Take the present machine for w where none is given, and compute P(w)."""
    memory, now, lower, upper, n = state.stop_memory, state.now[0], state.lower, state.upper, len(state.alpha)
    _, alpha, gradient, v = parts(memory, n)
    if memory[HAS_POINT] == 0.0:
        for t in range(n):
            alpha[t], gradient[t] = state.alpha[t], state.gradient[t]
        memory[INTERCEPT] = 0.5 * (gradient[now.bottom] + gradient[now.top])
    # the b of w is optimal, or close to optimal
    memory[PRIMAL] = primal(alpha, gradient, v, tangent(gradient, lower, upper, memory[INTERCEPT])[0])
    memory[BEGUN] = 1.0


@called
def distance_to_known(state):  # type: ignore[no-untyped-def]
    """‖w − w̃‖² = (α_w − α)ᵀ(G − G_w), summed from left to right."""
    _, alpha, gradient, _ = parts(state.stop_memory, len(state.alpha))
    separation = 0.0
    for t in range(len(alpha)):
        separation += (alpha[t] - state.alpha[t]) * (state.gradient[t] - gradient[t])
    return separation


@called
def own_primal(state):  # type: ignore[no-untyped-def]
    """P(w̃) ≤ ½ αᵀ(v − G) + Σ max(Uᵢ(Gᵢ − b), Lᵢ(Gᵢ − b)) at the b midway between the extremes of G."""
    now, G, v = state.now[0], state.gradient, parts(state.stop_memory, len(state.alpha))[3]
    b = 0.5 * (G[now.bottom] + G[now.top])
    return primal(state.alpha, G, v, tangent(G, state.lower, state.upper, b)[0])


@called
def prove(state):  # type: ignore[no-untyped-def]
    """Prove one sign after another; return whether all are; a missing kernel row is asked for."""
    memory, now, G, lower, upper = state.stop_memory, state.now[0], state.gradient, state.lower, state.upper
    left_out, _, gradient, v = parts(memory, len(G))
    # D(α) = f(α)
    dual, own = now.objective, -1.0
    rho = radius(memory[PRIMAL], dual, distance_to_known(state))
    for k in range(int(memory[AT]), int(memory[COUNT])):
        r = int(left_out[k])
        if now.least_curvature < INDEFINITE * state.diagonal[r]:
            return False
        row, is_there = row_or_ask(state, r)
        if not is_there:
            return False
        distances(row, state.diagonal, r, state.scratch)
        sign = certain_sign((gradient, G), state.scratch, rho, r, v, lower, upper)
        if sign == 0 and now.gap <= NEAR:
            # the second ball, with w̃ in place of w
            if own < 0.0:
                own = radius(own_primal(state), dual, 0.0)
            sign = certain_sign((G, G), state.scratch, own, r, v, lower, upper)
        if sign == 0:
            return False
        left_out[k] = sign * (r + 1)
        memory[AT] = k + 1.0
    return True


@called
def verdict(state):  # type: ignore[no-untyped-def]
    """Return 2 or 3 for the sign of the only left-out example, 4 where several have those of h, else 0."""
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
    """Twin of `refsvm.BallRule`."""
    memory, now = state.stop_memory, state.now[0]
    # ψ ≤ ε, or ψ ≤ ε min(1, s/u)
    v = parts(memory, len(state.alpha))[3]
    if now.gap <= parameters[0] and compare(parameters[0], parameters[2], v, state) != 0:
        return 1
    if memory[ASKED] == now.iteration:
        return int(memory[CODE])
    if now.iteration < memory[NEXT]:
        return 0
    if memory[BEGUN] == 0.0:
        begin(state)
    proved = prove(state)
    if now.missing >= 0:
        return 0
    memory[ASKED], memory[NEXT] = now.iteration, now.iteration + max(int(parameters[1]), now.iteration // 4)
    memory[CODE] = verdict(state) if proved else 0.0
    return int(memory[CODE])
