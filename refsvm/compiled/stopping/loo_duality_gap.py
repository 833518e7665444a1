"""Compiled twin of `refsvm.LOODualityGap`."""

from __future__ import annotations

from refsvm.compiled.interface.layout import CHECK, TAU
from refsvm.compiled.interface.rows import row_or_ask
from refsvm.compiled.interface.twin import called, inlined, twin
from refsvm.compiled.state import moved
from refsvm.compiled.stopping.midpoint import error_at, gap, largest_of, rounding_of, tangent
from refsvm.compiled.stopping.relative import compare
from refsvm.core.stopping.loo_duality_gap import (
    ASKED,
    CODE,
    CUTS,
    EXACT,
    EXAMPLE,
    HEAD,
    LENGTH,
    NEXT,
    PARTNER,
    PERIOD,
    ROUNDING,
    SINGULAR,
    TAKEN,
    F,
    H,
)  # fmt: skip
from refsvm.core.stopping.midpoint import INDEFINITE

WAIT = -1


@called
def parts(memory, n):  # type: ignore[no-untyped-def]
    """Return the parts of the rule's memory: η, g = v − K′η, K[r] and v."""
    return (
        memory[HEAD : HEAD + n], memory[HEAD + n : HEAD + 2 * n],
        memory[HEAD + 2 * n : HEAD + 3 * n], memory[HEAD + 3 * n : HEAD + 4 * n],
    )  # fmt: skip


@called
def dual(eta, v, gradient):  # type: ignore[no-untyped-def]
    """Return ½ ηᵀ(v + g), summed from left to right."""
    result = 0.0
    for t in range(len(eta)):
        result += eta[t] * (v[t] + gradient[t])
    return 0.5 * result


@called
def begin(state):  # type: ignore[no-untyped-def]
    """Set η ← α; kernel row r must be in memory."""
    memory, r = state.stop_memory, int(state.stop_memory[EXAMPLE])
    eta, gradient, row, v = parts(memory, len(state.alpha))
    stored = state.kernel[state.slots[r]]
    # g = v − Kα + K[r](1ᵀα) + 1 (K[r]ᵀα) − Kᵣᵣ(1ᵀα),  v − Kα = G,  K[r]ᵀα = vᵣ − Gᵣ,  1ᵀα = 0
    shift = v[r] - state.gradient[r]
    for t in range(len(eta)):
        row[t] = stored[t]
        eta[t] = state.alpha[t]
        gradient[t] = state.gradient[t] + shift
    # H = ½ ηᵀ(v + g)
    memory[H] = dual(eta, v, gradient)
    memory[TAKEN] = state.now[0].iteration


@inlined
def curvature(state, row, k_rr, t):  # type: ignore[no-untyped-def]
    """Return K′ₜₜ = Kₜₜ − 2Kᵣₜ + Kᵣᵣ, or TAU if K′ₜₜ is not positive."""
    q = state.diagonal[t] - 2.0 * row[t] + k_rr
    return q if q > 0.0 else TAU


@inlined
def first_largest(values):  # type: ignore[no-untyped-def]
    """Return the lowest index of the largest value."""
    i = 0
    for t in range(len(values)):
        if values[t] > values[i]:
            i = t
    return i


@called
def best_single(state):  # type: ignore[no-untyped-def]
    """Return the i for which a step of ηᵢ alone gains most, twice the gain of this step, and the step."""
    r = int(state.stop_memory[EXAMPLE])
    eta, g, row, _ = parts(state.stop_memory, len(state.alpha))
    lower, upper, k_rr, gains = state.lower, state.upper, row[r], state.scratch
    for t in range(len(eta)):
        q = curvature(state, row, k_rr, t)
        # δ = clip(gᵢ/q, Lᵢ − ηᵢ, Uᵢ − ηᵢ),  2 gain = δ(2gᵢ − δq)
        step = min(max(g[t] / q, lower[t] - eta[t]), upper[t] - eta[t])
        gains[t] = step * (2.0 * g[t] - step * q)
    i = first_largest(gains)
    q = curvature(state, row, k_rr, i)
    return i, gains[i], min(max(g[i] / q, lower[i] - eta[i]), upper[i] - eta[i])


@inlined
def both_steps(state, i, t):  # type: ignore[no-untyped-def]
    """Return twice the gain of moving ηᵢ and ηₜ (−1 if the block of K′ for i and t is singular), and both steps."""
    r = int(state.stop_memory[EXAMPLE])
    eta, g, row, _ = parts(state.stop_memory, len(state.alpha))
    low_i, high_i = state.lower[i] - eta[i], state.upper[i] - eta[i]
    q_i, q = curvature(state, row, row[r], i), curvature(state, row, row[r], t)
    # k = K′ᵢₜ,  det = qᵢqₜ − k²,  δᵢ = (qₜgᵢ − kgₜ)/det
    k = state.kernel[state.slots[i], t] - row[t] - (row[i] - row[r])
    det = q_i * q - k * k
    regular = det > SINGULAR * (q_i * q)
    first = min(max((q * g[i] - k * g[t]) / (det if regular else 1.0), low_i), high_i)
    # δₜ = clip((gₜ − kδᵢ)/qₜ),  δᵢ = clip((gᵢ − kδₜ)/qᵢ)
    second = min(max((g[t] - k * first) / q, state.lower[t] - eta[t]), state.upper[t] - eta[t])
    first = min(max((g[i] - k * second) / q_i, low_i), high_i)
    # 2 gain = δᵢ(2gᵢ − δᵢqᵢ) + δₜ(2gₜ − δₜqₜ) − 2kδᵢδₜ
    gain = first * (2.0 * g[i] - first * q_i) + second * (2.0 * g[t] - second * q) - 2.0 * k * first * second
    return gain if regular else -1.0, first, second


@called
def move(state, i, delta):  # type: ignore[no-untyped-def]
    """Do ηᵢ += δ and g −= δ (K[i] − K[r] − Kᵣᵢ + Kᵣᵣ)."""
    r = int(state.stop_memory[EXAMPLE])
    eta, g, row, _ = parts(state.stop_memory, len(state.alpha))
    stored, k_ri, k_rr = state.kernel[state.slots[i]], row[i], row[r]
    for t in range(len(g)):
        g[t] -= delta * (stored[t] - row[t] - (k_ri - k_rr))
    eta[i] = moved(eta[i], delta, state.lower[i], state.upper[i])


@called
def ascend(state, variables):  # type: ignore[no-untyped-def]
    """Move the ηᵢ that gains most, and its best partner; return 1, 0 if no step gains, or WAIT if a row is missing."""
    i, best, delta_i = best_single(state)
    if best <= 0.0:
        return 0
    if not row_or_ask(state, i)[1]:
        return WAIT
    j, delta_j = -1, 0.0
    if variables == 2.0:
        for t in range(len(state.alpha)):
            state.scratch[t] = both_steps(state, i, t)[0]
        t = first_largest(state.scratch)
        if state.scratch[t] > best:
            j = t
            best, delta_i, delta_j = both_steps(state, i, j)
    move(state, i, delta_i)
    state.stop_memory[PARTNER], state.stop_memory[LENGTH] = j, delta_j
    state.stop_memory[H] += 0.5 * best
    return follow(state)


@called
def follow(state):  # type: ignore[no-untyped-def]
    """If a partner ηⱼ remains to be moved, move it; return 1, or WAIT if kernel row j is missing."""
    j = int(state.stop_memory[PARTNER])
    if j >= 0:
        if not row_or_ask(state, j)[1]:
            return WAIT
        move(state, j, state.stop_memory[LENGTH])
        state.stop_memory[PARTNER] = -1.0
    return 1


@called
def best_intercept(G, lower, upper, low, high):  # type: ignore[no-untyped-def]
    """Compiled twin of `refsvm.core.stopping.loo_duality_gap.best_intercept`."""
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
        cut = tangent(G, lower, upper, middle)
        if cut[0] < value:
            b, value = middle, cut[0]
        if cut[0] - predicted <= EXACT * abs(cut[0]):
            break
        if cut[1] < 0.0:
            low, left = middle, cut
        else:
            high, right = middle, cut
    return b, value


@called
def total_of_sizes(values):  # type: ignore[no-untyped-def]
    """Return Σ |value|, summed from left to right."""
    result = 0.0
    for value in values:
        result += abs(value)
    return result


@called
def decided(state):  # type: ignore[no-untyped-def]
    """Return True if F(α, b̂) < H(η), and h(xᵣ) has the same sign with b̂ and with the intercept of a `Solution`."""
    memory, r, now = state.stop_memory, int(state.stop_memory[EXAMPLE]), state.now[0]
    eta, gradient, _, v = parts(memory, len(state.alpha))
    G, alpha, highest = state.gradient, state.alpha, largest_of(state.diagonal)
    low, high = G[now.bottom], G[now.top]
    b = best_intercept(G, state.lower, state.upper, low, high)[0]
    # bound the rounding errors of G and of g = v − K′η; each step changes g twice, and K′ᵢᵢ ≤ 4 max Kⱼⱼ
    error = error_at(rounding_of(state, highest, 0.0, 0.0, 0.0), highest)
    twice = rounding_of(state, highest, 2.0 * now.iteration, largest_of(eta), largest_of(gradient))
    bounded = error_at(twice, 16.0 * highest)
    # f = ½ αᵀ(v + G),  F = f + T(α, G − b̂),  H = ½ ηᵀ(v + g)
    objective = dual(alpha, v, G)
    memory[F] = objective + gap(alpha, G, b, state.lower, state.upper, error)
    memory[H] = dual(eta, v, gradient)
    margin = 0.5 * (error * total_of_sizes(alpha) + bounded * total_of_sizes(eta))
    margin += ROUNDING * (abs(memory[F]) + abs(memory[H]))
    # h(xᵣ) = vᵣ − Gᵣ + b
    middle = 0.5 * (low + high)
    least, most = v[r] - G[r] + min(b, middle), v[r] - G[r] + max(b, middle)
    same_sign = least > error or most < -error
    psd = now.least_curvature >= INDEFINITE * state.diagonal[r]
    return psd and same_sign and memory[F] + margin < memory[H]


@twin(CHECK)
def loo_duality_gap(parameters, state):  # type: ignore[no-untyped-def]
    """Compiled twin of `refsvm.LOODualityGap`."""
    memory, now = state.stop_memory, state.now[0]
    # ψ ≤ ε, or ψ ≤ ε min(1, s/u)
    v = parts(memory, len(state.alpha))[3]
    if now.gap <= parameters[0] and compare(parameters[0], parameters[2], v, state) != 0:
        return 1
    if memory[ASKED] == now.iteration:
        return int(memory[CODE])
    if memory[TAKEN] < 0.0:
        if not row_or_ask(state, int(memory[EXAMPLE]))[1]:
            return 0
        begin(state)
    while memory[TAKEN] <= now.iteration:
        moved_one = follow(state) if memory[PARTNER] >= 0.0 else ascend(state, parameters[1])
        if moved_one == WAIT:
            return 0
        memory[TAKEN] = memory[TAKEN] + 1.0 if moved_one == 1 else now.iteration + 1.0
    memory[ASKED], memory[CODE] = now.iteration, 0.0
    if memory[H] > now.objective and now.iteration >= memory[NEXT]:
        memory[NEXT] = now.iteration + PERIOD
        memory[CODE] = 2.0 if decided(state) else 0.0
    return int(memory[CODE])
