"""Losses of decision values with their slopes, from which gradients of held-out losses are computed.

================  ============================================  ==========================
squared hinge     max(0, 1 − y h)²                              labels y = ±1
logistic          log(1 + e^(−y h))                             labels y = ±1
squared           (y − h)²                                      targets
Huber             r²/2 up to |r| = δ, then δ|r| − δ²/2          targets, r = y − h
pinball           max(q r, (q − 1) r)                           targets, r = y − h
================  ============================================  ==========================
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Final

import numpy as np

from refsvm.core._checks import hint, positive, real
from refsvm.core.rule import PlainNumbers


class Loss(PlainNumbers, ABC):
    """A loss ℓ(h, y) of one decision value, and its slope ∂ℓ/∂h.

    Attributes
    ----------
    name : str
        Name by which `loss_called` finds the loss.
    has_labels : bool
        Whether y is a label (−1 or +1) instead of a target.
    """

    name: ClassVar[str] = ""
    has_labels: ClassVar[bool] = False

    @abstractmethod
    def value(self, h: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Return ℓ for each decision value."""

    @abstractmethod
    def slope(self, h: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Return ∂ℓ/∂h for each decision value; at a kink the derivative from the right."""


@dataclass(frozen=True)
class SquaredHinge(Loss):
    """max(0, 1 − y h)².

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm.analysis.derivatives.losses import SquaredHinge
    >>> h, y = np.array([0.5, 2.0]), np.array([1.0, 1.0])
    >>> SquaredHinge().value(h, y), SquaredHinge().slope(h, y)
    (array([0.25, 0.  ]), array([-1., -0.]))
    """

    name: ClassVar[str] = "squared hinge"
    has_labels: ClassVar[bool] = True

    def value(self, h: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Return ξ² with ξ = max(0, 1 − y h)."""
        return np.asarray(np.maximum(0.0, 1.0 - y * h) ** 2)

    def slope(self, h: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Return −2 y ξ."""
        return -2.0 * y * np.maximum(0.0, 1.0 - y * h)


@dataclass(frozen=True)
class Logistic(Loss):
    """log(1 + e^(−y h))."""

    name: ClassVar[str] = "logistic"
    has_labels: ClassVar[bool] = True

    def value(self, h: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Return log(1 + e^(−y h)), computed so that no exponential overflows."""
        return np.asarray(np.logaddexp(0.0, -y * h))

    def slope(self, h: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Return −y/(1 + e^(y h))."""
        return np.asarray(-y * np.exp(-np.logaddexp(0.0, y * h)))


@dataclass(frozen=True)
class Squared(Loss):
    """(y − h)²."""

    name: ClassVar[str] = "squared"

    def value(self, h: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Return the square of the residual."""
        return np.asarray((y - h) ** 2)

    def slope(self, h: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Return 2(h − y)."""
        return 2.0 * (h - y)


@dataclass(frozen=True)
class Huber(Loss):
    """The Huber loss of the residual r = y − h: r²/2 for |r| ≤ δ, and δ|r| − δ²/2 beyond.

    Parameters
    ----------
    delta : float
        δ, in the unit of the targets.
    """

    delta: float = 1.0
    name: ClassVar[str] = "huber"

    def __post_init__(self) -> None:
        positive("delta", self.delta)

    def value(self, h: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Return the Huber loss: r²/2 for |r| ≤ δ, and δ|r| − δ²/2 beyond."""
        size = np.abs(y - h)
        near = np.minimum(size, self.delta)
        return np.asarray(near * (size - 0.5 * near))

    def slope(self, h: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Return h − y, clipped to ±δ."""
        return np.clip(h - y, -self.delta, self.delta)


@dataclass(frozen=True)
class Pinball(Loss):
    """The pinball loss of r = y − h: q r if r > 0, (q − 1) r if r < 0. Its mean is least if h is the q-quantile of y.

    Parameters
    ----------
    level : float
        The quantile q, between 0 and 1.
    """

    level: float = 0.5
    name: ClassVar[str] = "pinball"

    def __post_init__(self) -> None:
        if not 0.0 < real("level", self.level) < 1.0:
            raise ValueError(f"level={self.level!r} is not between 0 and 1; give a quantile such as 0.5.")

    def value(self, h: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Return max(q r, (q − 1) r)."""
        return np.asarray(np.maximum(self.level * (y - h), (self.level - 1.0) * (y - h)))

    def slope(self, h: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Return −q if the target is above h, and 1 − q otherwise."""
        return np.where(y > h, -self.level, 1.0 - self.level)


LOSSES: Final[dict[str, type[Loss]]] = {
    each.name: each for each in (SquaredHinge, Logistic, Squared, Huber, Pinball)
}
"""The losses by name."""


def loss_called(loss: Any, has_labels: bool) -> Loss:
    """Return the loss with this name, or a loss given as an object, after checking that it fits labels or targets.

    Raises
    ------
    ValueError
        If no loss has this name, if a loss for labels is used with targets, or a loss for targets with labels.

    Examples
    --------
    >>> from refsvm.analysis.derivatives.losses import loss_called
    >>> loss_called("huber", has_labels=False)
    Huber(delta=1.0)
    """
    fitting = [name for name, each in LOSSES.items() if each.has_labels == has_labels]
    listed = f"give one of {', '.join(map(repr, fitting))}."
    if isinstance(loss, str) and loss in LOSSES:
        loss = LOSSES[loss]()
    if not isinstance(loss, Loss):
        near = hint(loss.lower(), fitting, listed) if isinstance(loss, str) else listed
        raise ValueError(f"loss={loss!r:.60} is not a loss; {near}")
    if loss.has_labels != has_labels:
        kind = "labels" if has_labels else "targets"
        raise ValueError(f"loss={loss!r} does not fit {kind}; {listed}")
    return loss
