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
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np

from refsvm.core._checks import (
    classes_of,
    not_negative,
    penalties,
    refuse_missing,
    refuse_missing_labels,
    refuse_nan_labels,
    refuse_targets,
    share,
    signs,
    targets,
    vector,
)
from refsvm.core.doors import DOORS
from refsvm.core.kernels.checked import grown, matrix_given
from refsvm.core.kernels.functions import Kernel, Precomputed
from refsvm.core.kernels.matrix import KernelMatrix, View


class Formulations:
    """Constructors of a `refsvm.DualProblem` from examples, and its extension by more of them."""

    gram: KernelMatrix
    v: np.ndarray
    z: float
    lower: np.ndarray
    upper: np.ndarray
    n: int

    if TYPE_CHECKING:  # the fields of `refsvm.DualProblem`, in its order

        def __init__(
            self, gram: Any, v: np.ndarray, z: float, lower: np.ndarray, upper: np.ndarray
        ) -> None: ...

    @classmethod
    def _of_checked(cls, gram: KernelMatrix, v: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> Self:
        """Return a problem with z = 0 and L ≤ 0 ≤ U of new arrays that need no check; they are sealed."""
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
        """Return the problem of checked labels, ±1 and 0 of examples without a box, and penalties of all of them."""
        signed = np.where(labels == 0.0, 0.0, labels * penalties)
        return cls._of_checked(gram, labels, np.minimum(0.0, signed), np.maximum(0.0, signed))

    @classmethod
    def classification(
        cls,
        X: Any = None,
        y: Any = None,
        *,
        kernel: str | Kernel | Precomputed | Callable[..., np.ndarray] | None = "rbf",
        gamma: str | float = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        gram: Any = None,
        C: float | np.ndarray = 1.0,
    ) -> Self:
        """Dual of the C-SVM: v = y, z = 0, aᵢ = yᵢαᵢ ∈ [0, Cᵢ] (MVP to SVMP all use it).

        Parameters
        ----------
        X : array-like or CSR of shape (n, d)
            Examples, which are copied; with ``kernel=Precomputed()`` the (n, n) Gram matrix. That is not copied: do not
            write to it while the problem or an object made from it is in use. A matrix that is not symmetric is
            replaced, with a warning, by ½(K + Kᵀ).
        y : array-like of shape (n,)
            Labels −1 and +1, both present.
        kernel : str, kernel object or callable, default "rbf"
            A name, as `refsvm.SVC` has them, whose parameters are the next three; an object brings its own.
        gamma : {"scale", "auto"} or float
        degree : int
        coef0 : float
        gram : array-like of shape (n, n) or object, optional
            The kernel matrix itself, in place of X and kernel: an array, which is not copied, or an object of your own
            that evaluates its blocks, see `refsvm.core.kernels.checked.GivenMatrix`.
        C : float or array-like of shape (n,)
            Penalty: positive; one for each example may contain zeros (that example is ignored). Infinity is the
            hard margin: no example may be on the wrong side. Where no plane separates the classes, `solve` ends
            with ``Status.INSEPARABLE``.

        Raises
        ------
        ValueError
            On NaN, wrong shapes, a single class, labels other than ±1, C ≤ 0.
        """
        K = matrix_given(X, DOORS.kernel_asked(kernel, gamma, degree, coef0), gram)
        labels = signs(y, K.n)
        signed = labels * penalties(C, K.n)
        return cls._of_checked(K, labels, np.minimum(0.0, signed), np.maximum(0.0, signed))

    @classmethod
    def regression(
        cls,
        X: Any = None,
        y: Any = None,
        *,
        kernel: str | Kernel | Precomputed | Callable[..., np.ndarray] | None = "rbf",
        gamma: str | float = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        gram: Any = None,
        C: float | np.ndarray = 1.0,
        epsilon: float = 0.1,
    ) -> Self:
        """Dual of ε-insensitive regression, loss C·max(0, |y − h(x)| − ε): 2n variables over n kernel rows.

            vᵢ = yᵢ − ε,  0 ≤ αᵢ ≤ C        for example i, pulling h(xᵢ) up
            vₙ₊ᵢ = yᵢ + ε,  −C ≤ αₙ₊ᵢ ≤ 0    for example i, pulling h(xᵢ) down;      z = 0

        h(x) = Σ (αᵢ + αₙ₊ᵢ) k(x, xᵢ) + b. Each kernel row serves both variables and is stored once. The names
        are those of A. J. Smola and B. Schölkopf, "A tutorial on support vector regression", Statistics and
        Computing 14, 2004, eq. 10, with α − α* for the sum above.

        Parameters
        ----------
        X, kernel, gamma, degree, coef0, gram, C
            As for `classification`; an infinite C allows no error beyond ε.
        y : array-like of shape (n,)
            Targets, finite.
        epsilon : float
            ε ≥ 0, the half width of the tube in which errors cost nothing.

        Raises
        ------
        ValueError
            On NaN, wrong shapes, C ≤ 0, ε < 0, targets beyond 1e150.

        Examples
        --------
        >>> import numpy as np
        >>> from refsvm import DualProblem, solve
        >>> X, y = np.array([[0.0], [1.0], [2.0]]), np.array([0.0, 1.0, 2.0])
        >>> solution = solve(DualProblem.regression(X, y, kernel="linear", C=10.0, epsilon=0.5))
        >>> solution.alpha[:3] + solution.alpha[3:], round(solution.intercept, 6)  # h(x) = ½x + ½
        (array([-0.25,  0.  ,  0.25]), 0.5)
        """
        K = matrix_given(X, DOORS.kernel_asked(kernel, gamma, degree, coef0), gram)
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
        cls,
        X: Any = None,
        *,
        kernel: str | Kernel | Precomputed | Callable[..., np.ndarray] | None = "rbf",
        gamma: str | float = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        gram: Any = None,
        nu: float = 0.5,
        weights: np.ndarray | float = 1.0,
    ) -> Self:
        """Dual of the one-class SVM, which finds a region that holds all but at most a share ν of the examples.

            v = 0,   0 ≤ αᵢ ≤ wᵢ,   1ᵀα = ν Σ wᵢ

        h(x) = Σ αᵢ k(x, xᵢ) + b is negative outside of the region; −b is the ρ of B. Schölkopf et al., "Estimating
        the support of a high-dimensional distribution", Neural Computation 13, 2001, eq. 5, times νn: α is scaled as
        in LIBSVM.

        Parameters
        ----------
        X, kernel, gamma, degree, coef0, gram
            As for `classification`.
        nu : float
            ν in (0, 1]: at most this share of the examples is outside, and at least this share are support vectors.
        weights : float or array-like of shape (n,)
            wᵢ ≥ 0, not all zero.

        Raises
        ------
        ValueError
            On NaN, ν outside (0, 1], negative weights.

        Examples
        --------
        >>> import numpy as np
        >>> from refsvm import RBF, DualProblem, solve
        >>> problem = DualProblem.one_class(np.array([[0.0], [1.0], [9.0]]), kernel=RBF(0.5), nu=0.5)
        >>> solve(problem).alpha.round(3)
        array([0.416, 0.416, 0.668])
        """
        K = matrix_given(X, DOORS.kernel_asked(kernel, gamma, degree, coef0), gram)
        nu, size = share("nu", nu), vector("weights", weights, K.n)
        if (size < 0).any() or not size.any():
            raise ValueError("weights must not be negative, and at least one must be above 0.")
        z = min(nu * float(size.sum()), float(size.sum()))
        return cls(K, np.zeros(len(size)), z, np.zeros(len(size)), size)

    @property
    def has_labels(self) -> bool:
        """Whether this is a problem of classification: v = ±1, z = 0, and each box between 0 and C on the side of v."""
        # 0 ≤ αᵢ ≤ Cᵢ where yᵢ = 1, −Cᵢ ≤ αᵢ ≤ 0 where yᵢ = −1
        ends = np.where(self.v > 0.0, self.lower, self.upper)
        return bool(self.z == 0.0 and (np.abs(self.v) == 1.0).all() and not ends.any())

    def extended(self, X: Any, y: Any = None, *, C: Any = None) -> Self:
        """Return the problem with more examples after its own.

        Parameters
        ----------
        X : array-like or CSR of shape (m, d)
            The new examples. Of a kernel matrix that was given: their kernel values with all n + m, shape (m, n + m).
        y : array-like of shape (m,)
            Their labels ±1, or targets; None for novelty detection.
        C : float or array-like of shape (m,), optional
            Their penalties, or weights; by default that of all others, which must then be one.

        Returns
        -------
        DualProblem
            Of a regression with the ε of the others, of novelty detection with their ν.

        Raises
        ------
        ValueError
            If this is a problem of another kind, the others differ in C, or X and y do not fit.

        Examples
        --------
        >>> import numpy as np
        >>> from refsvm import DualProblem
        >>> problem = DualProblem.classification(np.array([[0.0], [1.0]]), np.array([-1, 1]), C=2.0)
        >>> problem.extended(np.array([[3.0]]), np.array([1])).upper
        array([0., 2., 2.])
        """
        copies = 2 if self.gram.repeats else 1
        gram = grown(self.gram.source if copies == 2 else self.gram, X)
        n, m = self.n // copies, gram.n - self.n // copies
        width = (self.upper - self.lower)[:n]
        if C is None and np.ptp(width) != 0.0:
            raise ValueError("The examples of this problem differ in C; give C= for the new ones.")
        C = np.append(width, np.full(m, width[0]) if C is None else penalties(C, m))
        if copies == 2:
            epsilon = 0.5 * (self.v[n:] - self.v[:n])
            return type(self).regression(
                y=np.append(0.5 * (self.v[n:] + self.v[:n]), targets(y, m)),
                gram=gram,
                C=C,
                epsilon=epsilon[0],
            )
        if self.has_labels:
            labels = vector("y", y, m)
            return type(self).classification(y=np.append(self.v, labels), gram=gram, C=C)
        if self.v.any() or self.lower.any():
            raise ValueError(
                "extended takes problems of classification, regression and one_class; this is another kind."
            )
        return type(self).one_class(gram=gram, nu=min(self.z / float(width.sum()), 1.0), weights=C)


Problem = TypeVar("Problem", bound=Formulations)


def labelled(problem: Problem, y: Any, kernel: Any, gram: Any, C: Any = 1.0) -> Problem:
    """Return a problem that was given in place of X; refuse one that is none of classification or has company."""
    for name, value in {"y": y, "kernel": kernel, "gram": gram, "C": None if np.all(C == 1.0) else C}.items():
        if value is not None:
            raise ValueError(f"X is a DualProblem, which holds {name} already; leave {name} out.")
    if not problem.has_labels:
        raise ValueError(
            "X is a DualProblem, but none of classification: its v must be ±1, its z 0, and each box between 0 and "
            "C on the side of v, as DualProblem.classification makes them."
        )
    return problem


def numbered(y: Any, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the labels, sorted, and the number of each example's label among them.

    Raises
    ------
    ValueError
        If there are not n labels, or they are all the same.
    """
    refuse_missing(y, n, "labels")
    labels = np.asarray(y)
    if labels.shape != (n,):
        raise ValueError(f"y has shape {labels.shape}; expected {n} labels, one for each row of X.")
    refuse_missing_labels(labels)
    refuse_nan_labels(labels)
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise ValueError("y contains infinity; drop those examples first.")
    refuse_targets(labels)
    classes, codes = classes_of(labels)
    if len(classes) < 2:
        raise ValueError(f"y holds a single class, {classes.tolist()[0]!r}; two classes are needed to train.")
    return classes, codes


def signed(y: Any, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return two labels of any kind, sorted, and −1 or +1 for each example: the larger label is the positive one.

    Parameters
    ----------
    y : array-like of shape (n,)
        Numbers, texts or truth values.
    n : int
        Number of examples.

    Returns
    -------
    classes : ndarray of shape (2,)
    signs : ndarray of shape (n,), float64

    Raises
    ------
    ValueError
        As `numbered`, and if there are more than two labels.

    Examples
    --------
    >>> from refsvm.core.formulations import signed
    >>> signed(["b", "a", "b"], 3)
    (array(['a', 'b'], dtype='<U1'), array([ 1., -1.,  1.]))
    """
    classes, codes = numbered(y, n)
    if len(classes) > 2:
        shown = ", ".join(map(repr, classes[:4].tolist())) + (", …" if len(classes) > 4 else "")
        raise ValueError(f"y holds the labels {shown}; give two classes, or do it for each pair of them.")
    return classes, 2.0 * codes - 1.0


def epsilon_of(problem: Formulations, n: int) -> float:
    """Return ε of a regression of n targets."""
    return 0.5 * float(problem.v[n] - problem.v[0])


def nu_of(problem: Formulations) -> float:
    """Return ν of a one-class problem."""
    return problem.z / float((problem.upper - problem.lower).sum())


def known_codes(y: Any, classes: np.ndarray, t: int) -> np.ndarray:
    """Return the numbers of t labels among the classes; refuse others."""
    labels = np.asarray(y)
    if labels.shape != (t,):
        raise ValueError(f"y has shape {labels.shape}; expected {t} labels, one for each row of X.")
    number = {name: code for code, name in enumerate(classes.tolist())}
    unknown = [label for label in labels.tolist() if label not in number]
    if unknown:
        raise ValueError(
            f"y holds {unknown[0]!r}, which is none of the classes of the path: {[*number][:10]}."
        )
    return np.array([number[label] for label in labels.tolist()], dtype=np.int64)
