"""The unit of the targets of a regression: what default values of C and ε and default tolerances are multiples of.

With targets, C and ε multiplied by the same number, the machine is multiplied by it: h, α and the KKT gap have the unit
of the targets. A default value that does not follow it means another machine, or another precision, in another unit.
"""

from __future__ import annotations

import math

import numpy as np

from refsvm.core.stopping.kkt_gap import KKTGap


def unit_of_targets(y: np.ndarray, weights: np.ndarray | None = None) -> float:
    """Return the standard deviation of targets, each as often as its weight says; 1 where all targets are alike.

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
    # of equal targets the deviation would be rounding of their mean
    if not len(y) or y.min() == y.max():
        return 1.0
    shares = np.ones(len(y)) if weights is None else weights / weights.max()
    # before squaring, so that no square is too large or too small a number
    range_ = float(np.ptp(y))
    parts = (y - y.min()) / range_
    # exact sums, which do not depend on the processor
    count = math.fsum(shares)
    mean = math.fsum(shares * parts) / count
    return range_ * math.sqrt(math.fsum(shares * (parts - mean) ** 2) / count)


def relative_gap(tol: float, unit: float | None = None) -> KKTGap:
    """Return the KKT gap that is relative to the decision values, and to the unit of the targets of a regression.

    Parameters
    ----------
    tol : float
        The tolerance in units of the targets.
    unit : float or None
        `unit_of_targets`; None for classification and novelty detection, whose decision values are of size one.

    Examples
    --------
    >>> from refsvm.analysis.units import relative_gap
    >>> relative_gap(1e-3), relative_gap(1e-3, 2e5)
    (KKTGap(tol=0.001, relative=True), KKTGap(tol=200.0, relative=200000.0))
    """
    return KKTGap(tol, relative=True) if unit is None else KKTGap(tol * unit, relative=unit)
