"""The derivative of any kernel by its parameters, from differences of its values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from typing import Any, Final

import numpy as np

STEP: Final = 1e-3
"""Step of the differences, as a part of the parameter: their error and its rounding are then both about 1e-12."""


def smooth_parameters(kernel: Any) -> tuple[str, ...]:
    """Return the names of the fields of a kernel, a dataclass, that are real numbers and no counts.

    Examples
    --------
    >>> from refsvm import Polynomial
    >>> from refsvm.core.kernels.differences import smooth_parameters
    >>> smooth_parameters(Polynomial(degree=2))
    ('gamma', 'coef0')
    """
    if not is_dataclass(kernel):
        return ()
    counts = "int", "bool", int, bool
    real = {each.name: getattr(kernel, each.name) for each in fields(kernel) if each.type not in counts}
    return tuple(
        name
        for name, value in real.items()
        if isinstance(value, int | float | np.number) and not isinstance(value, bool)
    )


def named(kernel: Any, name: str) -> Any:
    """Return the value of a parameter; ValueError if the kernel has none of this name by which it has a derivative."""
    names = kernel.smooth_parameters if hasattr(kernel, "smooth_parameters") else smooth_parameters(kernel)
    if name not in names:
        having = f"it has them by {', '.join(names)}" if names else "it has none"
        raise ValueError(f"{type(kernel).__name__} has no derivative by {name!r}; {having}.")
    return getattr(kernel, name)


def by_differences(kernel: Callable[[Any, Any], np.ndarray], name: str, X: Any, Z: Any) -> np.ndarray:
    """Return ∂k(x, z)/∂θ for the rows of X (m, d) and of Z (n, d), shape (m, n), of a dataclass that is a kernel.

        (8 (k(θ + h) − k(θ − h)) − (k(θ + 2h) − k(θ − 2h)))/(12 h),     h = |θ|/1000, or 1/1000 where θ = 0

    Parameters
    ----------
    kernel : callable
        Its values at θ ± 2h must exist.
    name : str
        The parameter θ.

    Raises
    ------
    ValueError
        If there is no such parameter.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import RBF
    >>> from refsvm.core.kernels.differences import by_differences
    >>> x, z = np.array([[0.0]]), np.array([[2.0]])
    >>> by_differences(RBF(0.5), "gamma", x, z).round(6), RBF(0.5).derivative("gamma", x, z).round(6)
    (array([[-0.541341]]), array([[-0.541341]]))
    """
    value = float(named(kernel, name))
    h = STEP * abs(value) or STEP
    moved: Any = kernel

    def difference(step: float) -> np.ndarray:
        ends = (
            np.array(replace(moved, **{name: value + way})(X, Z), dtype=np.float64) for way in (step, -step)
        )
        return np.subtract(*ends)

    return np.asarray((8.0 * difference(h) - difference(2.0 * h)) / (12.0 * h))
