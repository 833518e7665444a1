"""Ordinary events: the elbow is regular and one example changes its set. Many of them are followed in one call.

On data without duplicates almost every event is of this kind. One costs O(mn + m²) operations for m points on the elbow
and n examples: the rates p, and three products with A⁻¹ or a change of it. Whatever is not ordinary ends the run.

`follow` has a compiled twin in `refsvm.fast.ordinary` that gives the same result bit for bit.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from refsvm.paths.events import PathArrays, advance, elbow_fall, outside_fall, rates, violation
from refsvm.paths.inverse import Inverse, delete, insert, product

__all__ = ["INACCURATE", "LEFT_OVER", "NOTHING", "EventLog", "Tolerances", "direction", "empty_log", "follow"]

NOTHING: Final = -1
"""The run ended between two events."""

INACCURATE: Final = -2
"""The run ended because A⁻¹ has lost too many digits."""

LEFT_OVER: Final = 1e-3
"""Largest residual of a direction, relative to what counts as zero in p; its rounding alone leaves about 1e-5."""


class Tolerances(NamedTuple):
    """What a run takes for zero, and where it ends; see `SVMP`."""

    lam_min: float
    tau: float
    tau_2: float
    eps_kkt: float
    tie: float
    largest: float  # of the kernel matrix
    least: float  # of s, for a point that enters


class EventLog(NamedTuple):
    """The events of a run, for as many as fit.

    Attributes
    ----------
    lam, intercept : ndarrays of shape (e,)
        λ and b̂ after each event.
    moved : ndarray of shape (e, 4), int64
        The example, its set before and after, and the size of the elbow after the event.
    start : ndarray of shape (e + 1,), int64
        Values of event k are those from start[k] to start[k + 1].
    changed, value : ndarrays of shape (c,), int64 and float64
        Which ŝ changed, and its value.
    """

    lam: np.ndarray
    intercept: np.ndarray
    moved: np.ndarray
    start: np.ndarray
    changed: np.ndarray
    value: np.ndarray


def empty_log(events: int, values: int) -> EventLog:
    """Return a log for so many events and values."""
    return EventLog(
        np.empty(events),
        np.empty(events),
        np.empty((events, 4), dtype=np.int64),
        np.zeros(events + 1, dtype=np.int64),
        np.empty(values, dtype=np.int64),
        np.empty(values),
    )


def direction(arrays: PathArrays, inverse: Inverse, m: int, limits: Tolerances) -> tuple[float, float]:
    """d_p = A⁻¹(0, v_𝓔), eq. (23), and the rates p; return what counts as zero in both, or −1 if A⁻¹ is inaccurate.

    pᵢ on the elbow is what is left of equation i. If it is not small, A⁻¹ is applied to it: iterative refinement.
    """
    size = m + 1
    elbow, x, w, right = arrays.elbow[:m], inverse.x[:size], inverse.w[:size], inverse.right[:size]
    right[0], right[1:] = 0.0, arrays.v[elbow]
    product(inverse, size, right, x)
    for _ in range(3):
        rates(arrays, m, x[1:], x[0], 1.0)
        largest = float(np.abs(x[1:]).max())
        noise = limits.tau * (1.0 + m * limits.largest * largest)
        # A(d₀, d) − (0, v_𝓔)
        right[0], right[1:] = np.cumsum(x[1:])[-1], arrays.sign[elbow] * arrays.rates[elbow]
        left = max(float(np.abs(right[1:]).max()), limits.largest * abs(float(right[0])))
        if left <= LEFT_OVER * noise:
            return limits.tau * largest, noise
        product(inverse, size, right, w)
        x -= w
    return -1.0, -1.0


def follow(
    arrays: PathArrays, inverse: Inverse, log: EventLog, m: int, here: np.ndarray, limits: Tolerances
) -> tuple[int, int, int]:
    """Follow the path until the log is full or an event is not ordinary.

    Parameters
    ----------
    arrays : PathArrays
        Moved along.
    inverse : Inverse
        Of the present elbow; moved along.
    log : EventLog
    m : int
        Size of the elbow.
    here : ndarray of shape (2,)
        λ and b̂; moved along.
    limits : Tolerances

    Returns
    -------
    m : int
        Size of the elbow at the end.
    events : int
        How many stand in the log.
    hits : int
        If 0 or more: λ has fallen once more, to where this many examples, named by ``arrays.hits``, reach the
        end of their set; the sets, and the log, are as before. Otherwise NOTHING or INACCURATE.
    """
    left = int((arrays.side > 0).sum())
    for k in range(len(log.lam)):
        # --- d_p and p ---
        noise = direction(arrays, inverse, m, limits)
        if noise[1] < 0.0:
            return m, k, INACCURATE
        # --- (47): max over 𝓔, 𝓛, 𝓡 ---
        lam, d = float(here[0]), inverse.x[1 : m + 1]
        room = lam - limits.lam_min
        t = min(elbow_fall(arrays, m, d, noise[0]), outside_fall(arrays, noise[1]), room)
        if log.start[k] + m > len(log.value) or (t <= limits.tau_2 * lam and t < room):
            return m, k, NOTHING
        # --- update ŝ, λ, g ---
        lam -= t
        if lam <= limits.lam_min * (1.0 + 1e-12):
            lam = limits.lam_min
        here[0] = lam
        here[1] -= t * inverse.x[0]
        hits = advance(arrays, m, d, t, noise, (limits.tie, limits.tie * lam))
        if hits != 1 or lam == limits.lam_min or violation(arrays) > limits.eps_kkt * lam:
            return m, k, hits
        # --- update 𝓔, 𝓛, 𝓡 and A⁻¹ ---
        size = _move(arrays, inverse, log, m, k, left, limits.least)
        if size < 0:
            return m, k, hits
        left += int(log.moved[k, 2] > 0) - int(log.moved[k, 1] > 0)
        m = size
        log.lam[k], log.intercept[k], log.moved[k, 3] = lam, here[1], m
    return m, len(log.lam), NOTHING


def _move(
    arrays: PathArrays, inverse: Inverse, log: EventLog, m: int, k: int, left: int, least: float
) -> int:
    """Move ``arrays.hits[0]`` into the elbow or out of it and write event k; return the new size, −1 if that fails."""
    i, elbow, side, weight = arrays.hits[0], arrays.elbow, arrays.side, arrays.low + arrays.high
    before = side[i]
    if before == 0:
        position = int((elbow[:m] == i).argmax())
        if m == 1 or not delete(inverse, m + 1, position + 1):
            return -1
        after = -1 if abs(arrays.scaled[i]) < abs(weight[i] - arrays.scaled[i]) else 1
        arrays.scaled[i] = weight[i] if after > 0 else 0.0
    elif (before > 0 and left == 1) or m + 2 > len(inverse.x) or not insert(arrays, inverse, m, i, least):
        return -1
    else:
        after = 0
    start, end = log.start[k], log.start[k] + m
    log.changed[start:end], log.value[start:end] = elbow[:m], arrays.scaled[elbow[:m]]
    log.start[k + 1] = end
    log.moved[k, :3] = i, before, after
    side[i] = after
    if after == 0:
        elbow[m] = i
        return m + 1
    elbow[position : m - 1] = elbow[position + 1 : m]
    return m - 1
