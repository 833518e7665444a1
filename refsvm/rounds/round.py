"""What a round is, and how one ended: what `refsvm.Rounds.run` takes and gives."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np

from refsvm.result import Status, Trace


class Round(NamedTuple):
    """One problem of a family: what differs from round to round, and nothing else.

    Attributes
    ----------
    out : int or ndarray of int64, optional
        Examples left out: L = U = 0.
    origin : hashable, optional
        Name of the kept solution that the round starts from; α = 0 if nothing is kept by that name.
    keep : hashable, optional
        Name under which its own solution is kept, in place of an earlier one.
    C : float
        What the box of the problem is multiplied by.
    weights : ndarray of shape (n,), float64, optional
        A further factor of the box of each example; those with 0 are left out, too.
    beside : (hashable or None, hashable), optional
        Names of a neighbour's solutions before and after the change that this round makes:
        `refsvm.seeders.neighbour.as_the_neighbour`.
    asked : int or ndarray of int64, optional
        Whose decision values are wanted; by default those of `out`.

    Examples
    --------
    >>> from refsvm.rounds.round import Round
    >>> Round(7, origin="all")
    Round(out=7, origin='all', keep=None, C=1.0, weights=None, beside=None, asked=None)
    """

    out: Any = None
    origin: Hashable = None
    keep: Hashable = None
    C: float = 1.0
    weights: np.ndarray | None = None
    beside: tuple[Hashable, Hashable] | None = None
    asked: Any = None


class Ended(NamedTuple):
    """How a round ended.

    Attributes
    ----------
    out : int, ndarray of int64 or None
        Examples that were left out.
    values : float or ndarray of float64
        h(xᵢ) = vᵢ − Gᵢ + b of those that were asked for.
    iterations : int
        Steps.
    reason : str
        What the stopping rule says, or the status.
    status : Status
    seed_seconds, solve_seconds : float
        Time to make the start, and to solve from there. Compiled rounds of one chunk share its time.
    kernel_rows : int
        Kernel rows computed.
    trace : Trace, optional
        Its steps, if `Rounds` was asked for them.
    """

    out: Any
    values: Any
    iterations: int
    reason: str
    status: Status
    seed_seconds: float
    solve_seconds: float
    kernel_rows: int
    trace: Trace | None = None
