"""The learning problems that users know, each as a signed dual: classification, regression, novelty detection.

================  =====================  ====================================================  =============
classification    C-SVM                  v = y,  aᵢ = yᵢαᵢ ∈ [0, Cᵢ]                           z = 0
regression        ε-insensitive loss     v = y ∓ ε, two variables for each example             z = 0
one_class         one-class SVM          v = 0,  0 ≤ αᵢ ≤ wᵢ                                   z = ν Σ wᵢ
================  =====================  ====================================================  =============
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from refsvm.core._checks import not_negative, penalties, share, signs, targets, vector
from refsvm.core.doors import DOORS
from refsvm.core.kernels.checked import matrix_given
from refsvm.core.kernels.functions import Kernel, Precomputed
from refsvm.core.kernels.matrix import KernelMatrix, View


class Formulations:
    """Holds the constructors that make a `refsvm.DualProblem` from examples."""

    gram: KernelMatrix
    v: np.ndarray
    z: float
    lower: np.ndarray
    upper: np.ndarray
    n: int

    if TYPE_CHECKING:  # the constructor takes the fields of `refsvm.DualProblem`, in the same order

        def __init__(
            self, gram: Any, v: np.ndarray, z: float, lower: np.ndarray, upper: np.ndarray
        ) -> None: ...

    @classmethod
    def _of_checked(cls, gram: KernelMatrix, v: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> Self:
        """Return a problem with z = 0 from new arrays that were checked (L ≤ 0 ≤ U); make the arrays read-only."""
        for array in (v, lower, upper):
            array.flags.writeable = False
        problem = object.__new__(cls)
        problem.__dict__.update(
            gram=gram, n=gram.n, v=v, z=0.0, lower=lower, upper=upper, zero_is_feasible=True,
            is_open=not math.isfinite(np.add.reduce(upper) - np.add.reduce(lower)),
        )  # fmt: skip
        return problem

    @classmethod
    def _of_labels(cls, gram: KernelMatrix, labels: np.ndarray, penalties: np.ndarray) -> Self:
        """Return a classification problem from checked penalties and labels; a label 0 leaves the example out."""
        signed = np.where(labels == 0.0, 0.0, labels * penalties)
        return cls._of_checked(gram, labels, np.minimum(0.0, signed), np.maximum(0.0, signed))

    @classmethod
    def classification(
        cls, X: Any = None, y: Any = None, *,
        kernel: str | Kernel | Precomputed | Callable[..., np.ndarray] | None = "rbf", gamma: str | float = "scale",
        degree: int = 3, coef0: float = 0.0, gram: Any = None, C: float | np.ndarray = 1.0
    ) -> Self:  # fmt: skip
        """Make the dual of the C-SVM for two classes: v = y, z = 0, aᵢ = yᵢαᵢ ∈ [0, Cᵢ].

        Parameters
        ----------
        X : array-like or CSR of shape (n, d)
            Examples, which are copied; with ``kernel=Precomputed()`` the (n, n) kernel matrix, see Notes.
        y : array-like of shape (n,)
            Labels −1 and +1; both must occur.
        kernel : str, kernel object or callable, default "rbf"
            Kernel: a name that `refsvm.SVC` knows, with its parameters in `gamma`, `degree` and `coef0`, or an object,
            which holds its own parameters.
        gamma : {"scale", "auto"} or float
            As in `refsvm.SVC`: γ, if `kernel` is the name of a kernel.
        degree : int
            Degree of the kernel "poly".
        coef0 : float
            Constant term of the kernels "poly" and "sigmoid".
        gram : array-like of shape (n, n) or object, optional
            The kernel matrix itself, in place of X and kernel: an array, which is not copied, or an object of your own
            that evaluates blocks of the matrix (see `refsvm.core.kernels.checked.GivenMatrix`).
        C : float or array-like of shape (n,)
            Penalty above 0, or one penalty for each example; examples with penalty 0 are ignored. An infinite C is a
            hard margin: no example may be on the wrong side of the margin, and `solve` ends with
            ``Status.INSEPARABLE`` if the kernel cannot separate the classes.

        Raises
        ------
        ValueError
            If the data contain NaN, shapes are wrong, y holds a single class or labels other than ±1, or C ≤ 0.

        Notes
        -----
        A precomputed kernel matrix is not copied: do not write to it while the problem or an object made from it is in
        use. If the matrix K is not symmetric, the method warns and uses ½(K + Kᵀ).
        """
        K = matrix_given(X, DOORS.kernel_named(kernel, gamma, degree, coef0), gram)
        labels = signs(y, K.n)
        signed = labels * penalties(C, K.n)
        return cls._of_checked(K, labels, np.minimum(0.0, signed), np.maximum(0.0, signed))

    @classmethod
    def regression(
        cls, X: Any = None, y: Any = None, *,
        kernel: str | Kernel | Precomputed | Callable[..., np.ndarray] | None = "rbf", gamma: str | float = "scale",
        degree: int = 3, coef0: float = 0.0, gram: Any = None, C: float | np.ndarray = 1.0, epsilon: float = 0.1
    ) -> Self:  # fmt: skip
        """Make the dual of regression with the loss C·max(0, |y − h(x)| − ε): 2n variables share n kernel rows.

            vᵢ = yᵢ − ε,  0 ≤ αᵢ ≤ C        the variable that raises h(xᵢ)
            vₙ₊ᵢ = yᵢ + ε,  −C ≤ αₙ₊ᵢ ≤ 0    the variable that lowers h(xᵢ);      z = 0

        h(x) = Σ (αᵢ + αₙ₊ᵢ) k(x, xᵢ) + b. Each kernel row serves both variables of its example and is stored once.
        Smola and Schölkopf, "A tutorial on support vector regression", Statistics and Computing 14, 2004, eq. 10, write
        α − α* for the sum αᵢ + αₙ₊ᵢ.

        Parameters
        ----------
        X, kernel, gamma, degree, coef0, gram, C
            As for `classification`; with an infinite C no error may exceed ε.
        y : array-like of shape (n,)
            Finite targets.
        epsilon : float
            Largest error ε ≥ 0 that costs nothing, 0.1 by default.

        Raises
        ------
        ValueError
            If the data contain NaN, shapes are wrong, C ≤ 0, ε < 0, or the size of a target exceeds 1e150.

        Examples
        --------
        >>> import numpy as np
        >>> from refsvm import DualProblem, solve
        >>> X, y = np.array([[0.0], [1.0], [2.0]]), np.array([0.0, 1.0, 2.0])
        >>> solution = solve(DualProblem.regression(X, y, kernel="linear", C=10.0, epsilon=0.5))
        >>> solution.alpha[:3] + solution.alpha[3:], round(solution.intercept, 6)  # h(x) = ½x + ½
        (array([-0.25,  0.  ,  0.25]), 0.5)
        """
        K = matrix_given(X, DOORS.kernel_named(kernel, gamma, degree, coef0), gram)
        n = K.n
        measured, width, bound = targets(y, n), not_negative("epsilon", epsilon), penalties(C, n)
        return cls(
            View(K, np.tile(np.arange(n), 2)),
            np.concatenate([measured - width, measured + width]),
            0.0,
            np.concatenate([np.zeros(n), -bound]),
            np.concatenate([bound, np.zeros(n)]),
        )

    @classmethod
    def one_class(
        cls, X: Any = None, *, kernel: str | Kernel | Precomputed | Callable[..., np.ndarray] | None = "rbf",
        gamma: str | float = "scale", degree: int = 3, coef0: float = 0.0, gram: Any = None, nu: float = 0.5,
        weights: np.ndarray | float = 1.0
    ) -> Self:  # fmt: skip
        """Make the dual of the one-class SVM, which finds a region that holds at least a share 1 − ν of the examples.

            v = 0,   0 ≤ αᵢ ≤ wᵢ,   1ᵀα = ν Σ wᵢ

        h(x) = Σ αᵢ k(x, xᵢ) + b is negative outside the region. α is scaled as in LIBSVM, so −b is νn times ρ in
        Schölkopf et al., "Estimating the support of a high-dimensional distribution", Neural Computation 13, 2001,
        eq. 5.

        Parameters
        ----------
        X, kernel, gamma, degree, coef0, gram
            As for `classification`.
        nu : float
            Share ν of the examples, in (0, 1]: at most this share lies outside the region, and at least this share are
            support vectors.
        weights : float or array-like of shape (n,)
            Weights wᵢ ≥ 0 of the examples; at least one weight must be positive.

        Raises
        ------
        ValueError
            If the data contain NaN, ν is outside (0, 1], or a weight is negative.

        Examples
        --------
        >>> import numpy as np
        >>> from refsvm import RBF, DualProblem, solve
        >>> problem = DualProblem.one_class(np.array([[0.0], [1.0], [9.0]]), kernel=RBF(0.5), nu=0.5)
        >>> solve(problem).alpha.round(3)
        array([0.416, 0.416, 0.668])
        """
        K = matrix_given(X, DOORS.kernel_named(kernel, gamma, degree, coef0), gram)
        nu, size = share("nu", nu), vector("weights", weights, K.n)
        if (size < 0).any() or not size.any():
            raise ValueError(f"weights span {size.min():g} to {size.max():g}; give weights ≥ 0, not all 0.")
        z = min(nu * float(size.sum()), float(size.sum()))
        return cls(K, np.zeros(len(size)), z, np.zeros(len(size)), size)

    @property
    def has_labels(self) -> bool:
        """True for a classification problem: z = 0, and each box is [0, Cᵢ] with vᵢ = 1, or [−Cᵢ, 0] with vᵢ = −1."""
        # in classification, Lᵢ = 0 if vᵢ = 1, and Uᵢ = 0 if vᵢ = −1
        ends = np.where(self.v > 0.0, self.lower, self.upper)
        return bool(self.z == 0.0 and (np.abs(self.v) == 1.0).all() and not ends.any())

    extended: ClassVar[Callable[..., Any]]
    """The method ``extended(X, y, C=None)``; the module `refsvm.analysis.paths.extending` sets it when imported."""


def epsilon_of(problem: Formulations, n: int) -> float:
    """Return ε of a regression problem with n targets."""
    return 0.5 * float(problem.v[n] - problem.v[0])


def nu_of(problem: Formulations) -> float:
    """Return ν of a one-class problem."""
    return problem.z / float((problem.upper - problem.lower).sum())
