"""KernelFacts: what is known about the values of a kernel matrix, for example that it is positive semi-definite."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True)
class KernelFacts:
    """The known facts about the numbers in a kernel matrix.

    Parameters
    ----------
    is_psd : bool
        True if the matrix is known to be positive semi-definite for any data.
    has_unit_diagonal : bool
        True if all kᵢᵢ are known to be 1; no value of a positive semi-definite matrix then exceeds 1.
    data_error : float
        Estimated error that large features cause in a kernel value (`refsvm.core.kernels.products.PreparedExamples`).
    kernel_error : float or None
        Estimated rounding error of a kernel value; decision values change by about ‖α‖ times this error. None stands
        for the rounding error of one operation, 2⁻⁵² max |kᵢᵢ|.
    prefers_batches : bool
        True if computing several rows in one product takes far less time than computing them one by one.
    keeps_float32 : bool
        True if the matrix, or a matrix or store from which it reads values, holds values as float32.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import RBF
    >>> from refsvm.core.kernels import Gram
    >>> part = Gram(RBF(0.5), np.array([[1.0], [2.0], [4.0]])).restrict(np.array([0, 2]))
    >>> part.facts.is_psd, part.facts.has_unit_diagonal, part.facts.keeps_float32
    (True, True, False)
    """

    is_psd: bool = False
    has_unit_diagonal: bool = False
    data_error: float = 0.0
    kernel_error: float | None = None
    prefers_batches: bool = False
    keeps_float32: bool = False

    @property
    def rounding(self) -> float:
        """A bound of the rounding error of αⱼKᵢⱼ, relative to |αⱼ| √(KᵢᵢKⱼⱼ): 16 times the error of a kernel value.

        Stopping rules that prove the sign of a decision value use this bound. For float32 values the bound is set to 1,
        and no proof succeeds.
        """
        return 1.0 if self.keeps_float32 else 16.0 * max(2.0**-52, self.data_error)

    @classmethod
    def of(cls, matrix: Any) -> KernelFacts:
        """Read the facts from those attributes of `matrix` that have the names of fields of `KernelFacts`."""
        names = [each.name for each in fields(cls)]
        return cls(**{name: getattr(matrix, name) for name in names if hasattr(matrix, name)})
