"""Every penalty between two, its own unit in place of that of 1/C."""

from __future__ import annotations

from typing import Any

from refsvm.analysis.paths.parametric import ParametricPath
from refsvm.analysis.paths.parametric_path import parametric_path
from refsvm.core.kernels.checked import matrix_given
from refsvm.core.problem import DualProblem


def penalty_path(
    X: Any = None,
    y: Any = None,
    *,
    C: tuple[float, float],
    kernel: Any = None,
    gram: Any = None,
    **options: Any,
) -> ParametricPath:
    """Train for every C between two: Lᵢ and Uᵢ move with t = C.

    Parameters
    ----------
    X, y, kernel, gram
        As in `DualProblem.classification`.
    C : (float, float)
        C at both ends, finite.
    **options
        As in `parametric_path`.
    """
    K = matrix_given(X, kernel, gram)
    start, end = (DualProblem.classification(y=y, gram=K, C=each) for each in C)
    return parametric_path(start, end, t=C, **options)
