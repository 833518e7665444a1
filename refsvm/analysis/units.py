"""The unit of a regression's targets: default values of C and ε and default tolerances are multiples of this unit.

If targets, C and ε are multiplied by a number, then h, α and the KKT gap are multiplied by the same number. A default
value that ignores the unit of the targets would therefore give another model, or another precision, after a change of
unit.
"""

from __future__ import annotations

import math

import numpy as np

from refsvm.core.stopping.kkt_gap import KKTGap


def unit_of_targets(y: np.ndarray, weights: np.ndarray | None = None) -> float:
    """Return the weighted standard deviation of the targets; 1 if all targets are equal.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm.analysis.units import unit_of_targets
    >>> unit_of_targets(np.array([1e5, 3e5])), unit_of_targets(np.array([1.0, 3.0, 9.0]), np.array([1.0, 1.0, 0.0]))
    (100000.0, 1.0)
    >>> unit_of_targets(np.array([7.0, 7.0]))
    1.0
    """
    if weights is not None:
        y, weights = y[weights > 0.0], weights[weights > 0.0]
    # if all targets are equal, the deviation would be the rounding error of their mean
    if not len(y) or y.min() == y.max():
        return 1.0
    shares = np.ones(len(y)) if weights is None else weights / weights.max()
    # scale before squaring, so that no square overflows or underflows
    range_ = float(np.ptp(y))
    parts = (y - y.min()) / range_
    # `math.fsum` rounds sums correctly, so that they are the same on every processor
    count = math.fsum(shares)
    mean = math.fsum(shares * parts) / count
    return range_ * math.sqrt(math.fsum(shares * (parts - mean) ** 2) / count)


def relative_gap(tol: float, unit: float | None = None) -> KKTGap:
    """Return a stopping rule whose tolerance grows with the decision values and with the unit of the targets.

    Parameters
    ----------
    tol : float
        The tolerance in units of the targets.
    unit : float or None
        Value of `unit_of_targets`; None for classification and novelty detection, whose decision values are of the
        order of 1.

    Examples
    --------
    >>> from refsvm.analysis.units import relative_gap
    >>> relative_gap(1e-3), relative_gap(1e-3, 2e5)
    (KKTGap(tol=0.001, relative=True), KKTGap(tol=200.0, relative=200000.0))
    """
    return KKTGap(tol, relative=True) if unit is None else KKTGap(tol * unit, relative=unit)
