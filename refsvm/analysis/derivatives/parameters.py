"""The parameters of a problem, and how fast v, the bounds and z (the sum of α) change with each parameter.

==============  ==================================================================  ===================================
C               Uᵢ = C or Lᵢ = −C                                                    where all penalties are equal
weights         a factor wᵢ of each penalty, now 1: Uᵢ ← wᵢUᵢ, Lᵢ ← wᵢLᵢ            one for each example
targets         v = y ∓ ε                                                           regression, one for each example
epsilon         v = y ∓ ε                                                           regression
nu              z = ν Σ wᵢ                                                          novelty detection
==============  ==================================================================  ===================================

`names_of` also lists the parameters of the kernel, such as "gamma".
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from refsvm.analysis.derivatives.kernels import smooth_parameters
from refsvm.analysis.resampling.task import has_two_variables, is_novelty
from refsvm.core.formulations import nu_of
from refsvm.core.kernels.functions import Kernel
from refsvm.core.kernels.matrix import KernelMatrix, View
from refsvm.core.problem import DualProblem


class Rates(NamedTuple):
    """The rates at which v, L, U and z = Σα change with a parameter.

    Attributes
    ----------
    v, lower, upper, z : ndarrays of shape (n,)
        Rates of v, L and U, and each variable's contribution to the rate of z.
    each : bool
        Whether every example has its own parameter.
    kernel : str
        The name of the parameter if it belongs to the kernel, otherwise empty.
    value : float or ndarray of shape (d,)
        The value of the kernel's parameter, or one value for each feature; 0 for other parameters.
    """

    v: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    z: np.ndarray
    each: bool = False
    kernel: str = ""
    value: float | np.ndarray = 0.0

    @property
    def features(self) -> int:
        """Number of features if each feature has its own parameter; 0 if the parameter is a single number."""
        return np.size(self.value) if np.ndim(self.value) else 0


def examples_of(gram: KernelMatrix) -> tuple[Any, np.ndarray]:
    """Return the matrix of the examples, and the example of each variable, shape (n,), int64."""
    gram, places = gram.exact, np.arange(gram.n)
    while isinstance(gram, View):
        gram, places = gram.source.exact, gram.indices[places]
    return gram, places


def names_of(problem: DualProblem) -> tuple[str, ...]:
    """Return the names of the parameters with respect to which solutions of this problem have a derivative.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import RBF, DualProblem
    >>> from refsvm.analysis.derivatives.parameters import names_of
    >>> X = np.array([[0.0], [1.0], [2.0]])
    >>> names_of(DualProblem.regression(X, [0.0, 1.0, 4.0], kernel=RBF(0.5)))
    ('C', 'weights', 'targets', 'epsilon', 'gamma')
    >>> names_of(DualProblem.one_class(X, kernel=RBF(0.5)))
    ('weights', 'nu', 'gamma')
    """
    kernel = getattr(examples_of(problem.gram)[0], "kernel", None)
    of_kernel = kernel.smooth_parameters if isinstance(kernel, Kernel) else smooth_parameters(kernel)
    if problem.has_labels:
        own: tuple[str, ...] = ("C", "weights")
    elif has_two_variables(problem):
        own = ("C", "weights", "targets", "epsilon")
    else:
        own = ("weights", "nu") if is_novelty(problem) else ()
    return (*own, *of_kernel)


def rates_of(problem: DualProblem, name: str) -> Rates:
    """Return the rates of v, L, U and z for the parameter with this name.

    Raises
    ------
    ValueError
        If the problem lacks the parameter; for "C", if penalties differ; for "C" and "weights", if C is infinite.
    """
    zero = np.zeros(problem.n)
    if name not in (names := names_of(problem)):
        having = f"it has {', '.join(map(repr, names))}" if names else "it has no parameter with a derivative"
        raise ValueError(f"This problem has no parameter {name!r}; {having}.")
    if name in ("C", "weights"):
        return _of_penalties(problem, name)
    if name in ("targets", "epsilon"):
        sign = np.repeat([-1.0, 1.0], problem.n // 2)
        return Rates(np.ones(problem.n) if name == "targets" else sign, zero, zero, zero, name == "targets")
    if name == "nu":
        return Rates(zero, zero, zero, problem.upper)
    value = np.asarray(getattr(examples_of(problem.gram)[0].kernel, name), dtype=np.float64)
    return Rates(zero, zero, zero, zero, kernel=name, value=value if value.ndim else float(value))


def _of_penalties(problem: DualProblem, name: str) -> Rates:
    zero, lower, upper = np.zeros(problem.n), problem.lower, problem.upper
    if problem.is_open:
        raise ValueError(
            f"C is infinite, and a finite change of {name} does not change a hard-margin solution; give a finite C."
        )
    if name == "C":
        sizes = upper - lower
        if np.ptp(sizes[sizes > 0.0]) != 0.0:
            raise ValueError(
                "The penalties of this problem differ, so that 'C' is ambiguous: use 'weights' with along= set to "
                "the change of each penalty divided by the penalty."
            )
        return Rates(zero, np.sign(lower), np.sign(upper), zero)
    return Rates(zero, lower, upper, zero if problem.z == 0.0 else nu_of(problem) * upper, each=True)
