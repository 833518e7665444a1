"""The direction in which the optimum moves as a parameter changes, and the variables that are free at an event."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from refsvm.analysis.derivatives.kernels import by_differences
from refsvm.analysis.derivatives.optimum import Optimum, pieces
from refsvm.analysis.derivatives.parameters import Rates, examples_of
from refsvm.core.kernels.functions import Kernel
from refsvm.core.walk.special_events import SwitchingGuard, blocking
from refsvm.core.walk.walk import ABOVE, BELOW, FREE, TIED, Line, Walk

NOISE: Final = 1e-9
"""Rates below this, relative to the largest rate, are rounding errors."""

APART: Final = 1e-6
"""If the rate of Gᵢ − b of a dependent free example exceeds this, relative to the largest rate, α jumps."""

ROUNDED: Final = 1e-12
"""Rounding error of Σ Kᵢⱼ αⱼ, relative to Σ |Kᵢⱼ αⱼ|."""

MOST_FLIPS: Final = 200
"""After this number of special events, the search for the free variables gives up."""


class Direction(NamedTuple):
    """The rates of an optimum as a parameter moves in one direction.

    Attributes
    ----------
    alpha : ndarray of shape (n,)
        dα/dθ; if dα/dθ is not unique, one of the possible derivatives.
    intercept : float
        The rate of b; if the solver shifts the data by their mean, the rate of b for the shifted data.
    """

    alpha: np.ndarray
    intercept: float


def direction(optimum: Optimum, rates: Rates, along: Any, sign: float) -> Direction:
    """Return the rates of α and b for a parameter that rises (sign 1) or falls (sign −1).

        | 0   1ᵀ  | | ḃ   |     | ż − 1ᵀd_B                |
        | 1  K_MM | | d_M |  =  | v̇_M − (K̇α)_M − K_MB d_B  |        d_B = the rate of the bound

    A dot denotes a rate. At an event, the rates d of α minimise ½ dᵀKd − (v̇ − K̇α)ᵀd over all rates that the box
    permits. To find d, `settle` makes variables free or bounded until d is optimal.

    Parameters
    ----------
    along : ndarray or float
        The rate of the parameter; an array if each example or feature has its own parameter.

    Raises
    ------
    ValueError
        If α or b jumps.
    """
    problem, there = optimum.problem, optimum.places
    shares = along[examples_of(problem.gram)[1]] if rates.each else 1.0 if rates.kernel else along
    lower, upper = sign * rates.lower * shares, sign * rates.upper * shares
    # --- each bounded variable moves with its bound: d_B ---
    d = np.where(optimum.fixed, np.where(optimum.upper, upper, lower), 0.0)
    # --- compute the right side of the system: v̇ − K̇α − K d_B,  ż − 1ᵀd_B ---
    push = sign * (rates.v * shares)[there] - products(problem.gram, there, d)
    if rates.kernel:
        push -= sign * kernel_rates(optimum, rates.kernel, along)
    total = sign * float((rates.z * shares).sum()) - float(d.sum())
    bounds = [np.where(np.isin(optimum.side, (FREE, TIED)), 0.0, each[there]) for each in (lower, upper)]
    walk = optimum.walk(Line(push, bounds[0], bounds[1], total))
    # --- solve for d_M and ḃ; at an event, choose the free variables ---
    # assume that a change of the parameter by p % changes kernel values by about p %
    moved = float(np.abs(optimum.alpha).sum()) * _relative(rates.value, along) if rates.kernel else 0.0
    floor = ROUNDED * optimum.largest * (moved + float(np.abs(d).sum()))
    intercept = settle(walk, optimum, floor)
    d[there] = walk.variables.d
    return Direction(sign * d, sign * intercept)


def _relative(value: Any, along: Any) -> float:
    """Return the rate of a parameter relative to its value; for several parameters, the largest relative rate."""
    return float(np.max(np.abs(along) / np.where(value == 0.0, 1.0, np.abs(value))))


def settle(walk: Walk, optimum: Optimum, floor: float) -> float:
    """Make variables free or bounded until the rates of α meet all optimality conditions; return ḃ.

    `settle` ignores rates of G below `floor`, because they are rounding errors.
    """
    guard = SwitchingGuard(MOST_FLIPS)
    while True:
        if not walk.members and not _take_first(walk, optimum, floor):
            return _middle(walk)
        db, noise = _refined(walk, optimum, floor)
        flips = blocking(walk, noise, 0.0, True)
        if not flips:
            _refuse_jump_of_alpha(walk, optimum, floor)
            return db
        if guard.looping(walk):
            raise ValueError(
                f"refsvm could not determine which variables of the examples {_listed(optimum.events)} are free at "
                "this event; change a parameter slightly."
            )
        for i, side in flips[:1] if guard.one_at_a_time else flips:
            if side == FREE:
                walk.join(i)
            else:
                walk.leave(i, side)
        assert walk.system is not None


def _refined(walk: Walk, optimum: Optimum, floor: float) -> tuple[float, tuple[float, float]]:
    """Compute the rates d and ḃ, and refine them twice; return ḃ, and the sizes below which d and Ġ − ḃ count as 0."""
    assert walk.system is not None
    of, M = walk.variables, walk.members
    for _ in range(2):
        walk.direction()
        left = np.append(of.d[M].sum() - walk.total, -of.speed[M])
        walk.system.x[: len(left)] -= walk.system.times(left)
    db, largest = walk.direction(), float(np.abs(of.d).max())
    push = float(np.abs(of.push).max()) + optimum.largest * len(M) * largest
    return db, (NOISE * largest, NOISE * push + floor)


def _take_first(walk: Walk, optimum: Optimum, floor: float) -> bool:
    """When all variables are bounded, free the variable that must move first; return False if no variable must move."""
    of, below, above = walk.variables, walk.side == BELOW, walk.side == ABOVE
    largest = max(float(np.abs(each).max(initial=0.0)) for each in (of.pace, of.lower_rate, of.upper_rate))
    if abs(walk.total) > 1e-12 * max(largest, abs(walk.line.z)):
        waiting = below if walk.total > 0.0 else above
        if optimum.has_ends or not waiting.any():
            raise ValueError(
                "No variable is free, and the moving bounds would change the sum of alpha, so b jumps here and "
                f"has no derivative. b would jump to the end of its interval that the examples {_ends(optimum)} set."
            )
    elif optimum.has_ends or not _crossed(of.push, below, above, floor):
        return False
    else:
        waiting = below
    i = int(np.where(waiting, of.push if waiting is below else -of.push, -np.inf).argmax())
    walk.join(i)
    return True


def _crossed(push: np.ndarray, below: np.ndarray, above: np.ndarray, floor: float) -> bool:
    """Return whether b's interval becomes empty: whether its lower end (`below`) rises faster than its end `above`."""
    top, bottom = push[below].max(initial=-np.inf), push[above].min(initial=np.inf)
    return bool(top > bottom + floor + NOISE * float(np.abs(push).max()))


def _middle(walk: Walk) -> float:
    """Return ḃ if no variable is free: the mean of the rates of G at both ends of the interval of b."""
    of = walk.variables
    of.d[:] = of.pace
    ends = [of.push[walk.side == BELOW].max(initial=-np.inf), of.push[walk.side == ABOVE].min(initial=np.inf)]
    return float(np.mean([each for each in ends if np.isfinite(each)]))


def _refuse_jump_of_alpha(walk: Walk, optimum: Optimum, floor: float) -> None:
    """Raise an error if the parameter moves G of a dependent free example away from b, because α then jumps."""
    of, tied = walk.variables, np.flatnonzero(walk.side == TIED)
    if not len(tied):
        return
    most = floor + APART * float(np.abs(of.push).max()) + NOISE * optimum.largest * float(np.abs(of.d).sum())
    apart = tied[np.abs(of.speed[tied]) > most]
    if len(apart):
        raise ValueError(
            f"The examples {_listed(optimum.examples(optimum.places[apart]))} depend on other free examples in "
            "feature space, and a change of the parameter ends this: alpha jumps here and has no derivative."
        )


def _ends(optimum: Optimum) -> str:
    return _listed(optimum.examples(optimum.places))


def _listed(examples: np.ndarray) -> str:
    """Return the numbers of the first ten examples as a text."""
    return f"{examples[:10].tolist()}{' and more' if len(examples) > 10 else ''}"


def products(gram: Any, rows: np.ndarray, d: np.ndarray) -> np.ndarray:
    """Return (K d)ᵢ for the variables i in `rows`, computed in blocks of K; d contains the rate of each variable."""
    moving, result = np.flatnonzero(d), np.zeros(len(rows))
    if len(moving):
        for part in pieces(len(rows), len(moving)):
            result[part] = gram.block(rows[part], moving) @ d[moving]
    return result


def kernel_rates(optimum: Optimum, name: str, along: Any) -> np.ndarray:
    """Return the rate of (Kα)ᵢ at constant α, as a kernel parameter moves, for the variables in ``optimum.places``."""
    gram, examples = examples_of(optimum.problem.gram)
    rows, spread = np.unique(examples[optimum.places], return_inverse=True)
    return form_rates(gram.kernel, name, along, gram.X[rows], *support(optimum))[spread]


def support(optimum: Optimum) -> tuple[Any, np.ndarray]:
    """Return the examples in ``optimum.columns``, and the sum of α over the variables of each of these examples."""
    return optimum.matrix.X[optimum.columns], optimum.sums


def form_rates(kernel: Any, name: str, along: Any, X: Any, vectors: Any, sums: np.ndarray) -> np.ndarray:
    """Return Σⱼ sumsⱼ ∂k(x, xⱼ)/∂θ for the rows x of X; `along` is the direction if each feature has a parameter."""
    result = np.zeros(X.shape[0])
    for part in pieces(X.shape[0], len(sums)) if len(sums) else ():
        result[part] = kernel_derivative(kernel, name, X[part], vectors, along) @ sums
    return result


def kernel_derivative(kernel: Any, name: str, X: Any, Z: Any, along: Any = 1.0) -> np.ndarray:
    """Return ∂k/∂θ: from `Kernel.derivative` or, if the kernel is not a `Kernel`, from differences of its values."""
    if np.ndim(along):
        return np.asarray(kernel.derivative(name, X, Z, along))
    rates = (
        kernel.derivative(name, X, Z) if isinstance(kernel, Kernel) else by_differences(kernel, name, X, Z)
    )
    return rates if along == 1.0 else along * rates
