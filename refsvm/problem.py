"""DualProblem: the signed dual that every solver, seeder and path tracker of this package works on.

    maximise   f(α) = vᵀα − ½ αᵀKα     subject to   1ᵀα = z,   L ≤ α ≤ U

C-SVM classification with labels yᵢ = ±1 and penalties Cᵢ is v = y, z = 0, Lᵢ = min(0, yᵢCᵢ), Uᵢ = max(0, yᵢCᵢ).
The α of the literature is aᵢ = yᵢαᵢ ∈ [0, Cᵢ]. Regression and novelty detection have another v and another box.
A left-out example is Lᵣ = Uᵣ = 0 (`DualProblem.without`); a fold, a shrunk problem and a block are all
`DualProblem.restrict`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from refsvm._checks import (
    box,
    not_negative,
    penalties,
    positions,
    positive,
    real,
    sealed,
    signs,
    targets,
    vector,
)
from refsvm.kernels.checked import grown, matrix_given, matrix_of
from refsvm.kernels.functions import Kernel, Precomputed
from refsvm.kernels.matrix import KernelMatrix, View
from refsvm.primal import best_intercept, primal_value

__all__ = ["DualProblem", "classification_given", "most_violating_pair"]

BELOW_ALL, ABOVE_ALL = np.array(-np.inf), np.array(np.inf)  # `np.where` takes a while to make them of numbers
EPSILON: Final = float(np.finfo(float).eps)
"""Rounding of one operation, relative."""


@dataclass(frozen=True, eq=False)
class DualProblem:
    """max vᵀα − ½ αᵀKα subject to 1ᵀα = z and L ≤ α ≤ U. Immutable.

    Parameters
    ----------
    gram : KernelMatrix, object or array of shape (n, n)
        K, symmetric, evaluated in blocks; an object of your own needs what `refsvm.kernels.checked.GivenMatrix` says.
    v : ndarray of shape (n,), float64
        Linear term.
    z : float
        Value of the sum of α.
    lower, upper : ndarrays of shape (n,), float64
        The box L, U; Uᵢ = ∞ and Lᵢ = −∞ leave a side open.

    Raises
    ------
    ValueError
        If shapes differ, a bound is crossed, or no α satisfies both constraints.

    Attributes
    ----------
    n : int
        Number of variables.
    is_open, holds_zero : bool
        Whether some Uᵢ = ∞ or Lᵢ = −∞, and whether α = 0 is feasible.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import DualProblem, Linear
    >>> X, y = np.array([[0.0], [2.0]]), np.array([-1, 1])
    >>> problem = DualProblem.classification(X, y, kernel=Linear(), C=1.0)
    >>> alpha = np.array([-0.5, 0.5])
    >>> problem.objective(alpha), problem.kkt_gap(alpha), problem.intercept(alpha)
    (0.5, 0.0, -1.0)
    """

    gram: KernelMatrix
    v: np.ndarray
    z: float
    lower: np.ndarray
    upper: np.ndarray
    n: int = field(init=False, repr=False)
    is_open: bool = field(init=False, repr=False)
    holds_zero: bool = field(init=False, repr=False)

    def __post_init__(self) -> None:
        gram, z = matrix_of(self.gram), real("z", self.z)
        v = sealed(vector("v", self.v, gram.n))
        self.__dict__.update(gram=gram, n=gram.n, v=v, z=z, **box(self.lower, self.upper, z, gram.n))

    @classmethod
    def _of_checked(
        cls, gram: KernelMatrix, v: np.ndarray, lower: np.ndarray, upper: np.ndarray
    ) -> DualProblem:
        """Return a problem with z = 0 and L ≤ 0 ≤ U of new arrays that need no check; they are sealed."""
        for array in (v, lower, upper):
            array.flags.writeable = False
        problem = object.__new__(cls)
        problem.__dict__.update(
            gram=gram, n=gram.n, v=v, z=0.0, lower=lower, upper=upper, holds_zero=True,
            is_open=bool(np.isinf(upper).any() or np.isinf(lower).any()),
        )  # fmt: skip
        return problem

    @classmethod
    def classification(
        cls,
        X: Any = None,
        y: Any = None,
        *,
        kernel: Kernel | Precomputed | Callable[..., np.ndarray] | None = None,
        gram: Any = None,
        C: float | np.ndarray = 1.0,
    ) -> DualProblem:
        """Dual of the C-SVM: v = y, z = 0, aᵢ = yᵢαᵢ ∈ [0, Cᵢ] (MVP to SVMP all use it).

        Parameters
        ----------
        X : array-like or CSR of shape (n, d)
            Examples; with ``kernel=Precomputed()`` the (n, n) Gram matrix. A matrix that is not symmetric is
            replaced, with a warning, by ½(K + Kᵀ).
        y : array-like of shape (n,)
            Labels −1 and +1, both present.
        kernel : kernel object or callable, default Linear()
        gram : array-like of shape (n, n) or object, optional
            The kernel matrix itself, in place of X and kernel: an array, or an object of your own that evaluates its
            blocks, see `refsvm.kernels.checked.GivenMatrix`.
        C : float or array-like of shape (n,)
            Penalty: positive; one for each example may contain zeros (that example is ignored). Infinity is the
            hard margin: no example may be on the wrong side. Where no plane separates the classes, `solve` ends
            with ``Status.INSEPARABLE``.

        Raises
        ------
        ValueError
            On NaN, wrong shapes, a single class, labels other than ±1, C ≤ 0.
        """
        K = matrix_given(X, kernel, gram)
        labels = signs(y, K.n)
        signed = labels * penalties(C, K.n)
        return cls._of_checked(K, labels, np.minimum(0.0, signed), np.maximum(0.0, signed))

    @classmethod
    def regression(
        cls,
        X: Any = None,
        y: Any = None,
        *,
        kernel: Kernel | Precomputed | Callable[..., np.ndarray] | None = None,
        gram: Any = None,
        C: float | np.ndarray = 1.0,
        epsilon: float = 0.1,
    ) -> DualProblem:
        """Dual of ε-insensitive regression, loss C·max(0, |y − h(x)| − ε): 2n variables over n kernel rows.

            vᵢ = yᵢ − ε,  0 ≤ αᵢ ≤ C        for example i, pulling h(xᵢ) up
            vₙ₊ᵢ = yᵢ + ε,  −C ≤ αₙ₊ᵢ ≤ 0    for example i, pulling h(xᵢ) down;      z = 0

        h(x) = Σ (αᵢ + αₙ₊ᵢ) k(x, xᵢ) + b. Each kernel row serves both variables and is stored once. The names
        are those of A. J. Smola and B. Schölkopf, "A tutorial on support vector regression", Statistics and
        Computing 14, 2004, eq. 10, with α − α* for the sum above.

        Parameters
        ----------
        X, kernel, gram, C
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
        >>> solution = solve(DualProblem.regression(X, y, C=10.0, epsilon=0.5))
        >>> solution.alpha[:3] + solution.alpha[3:], round(solution.intercept, 6)  # h(x) = ½x + ½
        (array([-0.25,  0.  ,  0.25]), 0.5)
        """
        K = matrix_given(X, kernel, gram)
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
        kernel: Kernel | Precomputed | Callable[..., np.ndarray] | None = None,
        gram: Any = None,
        nu: float = 0.5,
        weights: np.ndarray | float = 1.0,
    ) -> DualProblem:
        """Dual of the one-class SVM, which finds a region that holds all but a share ν of the examples.

            v = 0,   0 ≤ αᵢ ≤ wᵢ,   1ᵀα = ν Σ wᵢ

        h(x) = Σ αᵢ k(x, xᵢ) + b is negative outside of the region; −b is the ρ of B. Schölkopf et al., "Estimating
        the support of a high-dimensional distribution", Neural Computation 13, 2001, eq. 5, times νn: α is scaled as
        in LIBSVM.

        Parameters
        ----------
        X, kernel, gram
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
        K = matrix_given(X, kernel, gram)
        share, size = positive("nu", nu), vector("weights", weights, K.n)
        if share > 1.0:
            raise ValueError(f"nu={nu!r} is above 1; it is a share of the examples, give a number in (0, 1].")
        if (size < 0).any() or not size.any():
            raise ValueError("weights must not be negative, and at least one must be above 0.")
        z = min(share * float(size.sum()), float(size.sum()))
        return cls(K, np.zeros(len(size)), z, np.zeros(len(size)), size)

    @property
    def has_labels(self) -> bool:
        """Whether this is a problem of classification: v = ±1, z = 0, and each box between 0 and C on the side of v."""
        # 0 ≤ αᵢ ≤ Cᵢ where yᵢ = 1, −Cᵢ ≤ αᵢ ≤ 0 where yᵢ = −1
        ends = np.where(self.v > 0.0, self.lower, self.upper)
        return bool(self.z == 0.0 and (np.abs(self.v) == 1.0).all() and not ends.any())

    # -- values at a point; each takes the gradient G = v − Kα if it is already known ------------------------------

    def gradient(self, alpha: np.ndarray) -> np.ndarray:
        """G = ∇f(α) = v − Kα from scratch, shape (n,), in blocks of rows of the non-zero αᵢ."""
        result = self.v.copy()
        support = np.flatnonzero(alpha)
        for start in range(0, len(support), 256):
            chunk = support[start : start + 256]
            result -= alpha[chunk] @ self.gram.block(chunk)
        return result

    def objective(self, alpha: np.ndarray, gradient: np.ndarray | None = None) -> float:
        """f(α) = vᵀα − ½ αᵀKα = ½ αᵀ(v + G)."""
        G = self.gradient(alpha) if gradient is None else gradient
        return 0.5 * float(alpha @ (self.v + G))

    def kkt_gap(self, alpha: np.ndarray, gradient: np.ndarray | None = None) -> float:
        """ψ(α) = max over I_up of G − min over I_down of G; not above ε means ε-optimal, negative means strictly so."""
        G = self.gradient(alpha) if gradient is None else gradient
        return most_violating_pair(alpha, G, self.lower, self.upper)[2]

    def intercept(self, alpha: np.ndarray, gradient: np.ndarray | None = None) -> float:
        """b = ½ (max over I_up of G + min over I_down of G); if only one side exists, that side's value."""
        G = self.gradient(alpha) if gradient is None else gradient
        return self.midway(G, *most_violating_pair(alpha, G, self.lower, self.upper)[:2])

    def midway(self, gradient: np.ndarray, top: int, bottom: int) -> float:
        """b of a most violating pair that is known already; −1 stands for a side that does not exist."""
        ends = [float(gradient[i]) for i in (top, bottom) if i >= 0]
        return sum(ends) / len(ends) if ends else best_intercept(gradient, self.z, self.lower, self.upper)

    def primal_objective(
        self, alpha: np.ndarray, b: float | None = None, gradient: np.ndarray | None = None
    ) -> float:
        """F(α, b) = ½ αᵀKα + Σᵢ max(Uᵢ(Gᵢ − b), Lᵢ(Gᵢ − b)) + bz, by default at the b that minimises it.

        For classification the sum is Σ Cᵢξᵢ with ξᵢ = max(0, yᵢ(Gᵢ − b)). F is never below the dual optimum. For hard
        margins see `refsvm.primal`.
        """
        G = self.gradient(alpha) if gradient is None else gradient
        if b is None:
            b = best_intercept(G, self.z, self.lower, self.upper)
        # αᵀKα = αᵀ(v − G)
        quadratic = float(alpha @ (self.v - G))
        return primal_value(quadratic, self.v, G - b, self.lower, self.upper, b * self.z)

    def duality_gap(self, alpha: np.ndarray, gradient: np.ndarray | None = None) -> float:
        """F(α, b) − f(α) ≥ 0 at the best b: zero exactly at the optimum."""
        G = self.gradient(alpha) if gradient is None else gradient
        return self.primal_objective(alpha, gradient=G) - self.objective(alpha, G)

    # -- other problems made of this one ---------------------------------------------------------------------------

    def restrict(self, indices: Any, alpha: np.ndarray | None = None) -> DualProblem:
        """Return the problem over α_B with the other variables N fixed at ``alpha`` (zero by default).

            v_B = v_B − K_{B,N} α_N,   z_B = z − 1ᵀα_N,   same box

        Parameters
        ----------
        indices : array-like of int, shape (m,)
            B, in the order wanted.
        alpha : ndarray of shape (n,), optional
            Values of the fixed variables; its entries in B are ignored.

        Returns
        -------
        DualProblem
            Its gradient at α_B equals this problem's G[B] at α.
        """
        B = positions("indices", indices, self.n)
        v, z = self.v[B], self.z
        if alpha is not None:
            fixed = vector("alpha", alpha, self.n).copy()
            fixed[B] = 0.0
            N = np.flatnonzero(fixed)
            z = self.z - float(fixed.sum())
            # what rounding of the sum put outside of the box
            least, most = float(self.lower[B].sum()), float(self.upper[B].sum())
            if abs(z - min(max(z, least), most)) <= 1e-12 * float(np.abs(fixed).sum()):
                z = min(max(z, least), most)
            if len(N):
                v = v - fixed[N] @ self.gram.block(N, B)
        return DualProblem(self.gram.restrict(B), v, z, self.lower[B], self.upper[B])

    def boxed(self, lower: np.ndarray, upper: np.ndarray) -> DualProblem:
        """Return the same problem in another box."""
        return self._with(**box(lower, upper, self.z, self.n))

    def with_gram(self, gram: KernelMatrix) -> DualProblem:
        """Return the same problem with another source of its kernel matrix."""
        return self._with(gram=gram)

    def without(self, r: Any) -> DualProblem:
        """Leave example r out, or several: Lᵣ = Uᵣ = 0, everything else and the kernel rows as they were.

        r is a position or an array of shape (m,) of them; ValueError if it is none, or no α in the box has the sum z.
        """
        if type(r) is not int or not 0 <= r < self.n:
            r = positions("r", [r] if np.ndim(r) == 0 else r, self.n)
        lower, upper = self.lower.copy(), self.upper.copy()
        lower[r] = upper[r] = 0.0
        if self.is_open or not self.holds_zero:
            return self.boxed(lower, upper)
        lower.flags.writeable = upper.flags.writeable = False
        return self._with(lower=lower, upper=upper)  # which holds α = 0, too: nothing to be checked

    def extended(self, X: Any, y: Any = None, *, C: Any = None) -> DualProblem:
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
                "extended knows problems of classification, regression and one_class; this is none."
            )
        share = min(self.z / float(width.sum()), 1.0)
        return type(self).one_class(gram=gram, nu=share, weights=C)

    def _with(self, **parts: Any) -> DualProblem:
        """Return the same problem with some parts replaced by others that need no check."""
        problem = object.__new__(type(self))
        problem.__dict__.update(self.__dict__, **parts)
        return problem

    def feasible(self, alpha: Any) -> np.ndarray:
        """Return a feasible point near `alpha`: clip to the box, then share what the sum lacks by the room left.

        αᵢ ← clip(αᵢ);  s = z − 1ᵀα;  αᵢ ← αᵢ + s·roomᵢ/Σ room, with room = U − α if s > 0 and α − L otherwise.

        The variables strictly inside the box take their share first, so that a point that was feasible but for
        rounding keeps its variables exactly at their bounds.
        """
        lower, upper = self.lower, self.upper
        point = vector("start", alpha, self.n).clip(lower, upper)
        for only_inside in (True, False):
            missing = self.z - float(point.sum())
            if abs(missing) <= 4.0 * EPSILON * (float(np.abs(point).sum()) + abs(self.z)):
                break
            room = upper - point if missing > 0 else point - lower
            if only_inside:
                room[(point == lower) | (point == upper)] = 0.0
            total = float(room.sum())
            if total == np.inf:  # the variables whose side is open share it
                point = point + missing * ((room == np.inf) / float((room == np.inf).sum()))
            elif total > 0.0:
                share = np.sign(missing) * min(abs(missing), total)
                point = (point + share * (room / total)).clip(lower, upper)
        return point


def classification_given(
    X: Any, y: Any, kernel: Any, gram: Any, C: Any = 1.0
) -> tuple[KernelMatrix, Any, Any]:
    """Return the kernel matrix, the labels and the penalties of a front door; X may be a whole problem.

    Raises
    ------
    ValueError
        As `refsvm.kernels.checked.matrix_given`, and for a problem that is none of classification or has company.
    """
    if not isinstance(X, DualProblem):
        return matrix_given(X, kernel, gram), y, C
    for name, value in {"y": y, "kernel": kernel, "gram": gram, "C": None if np.all(C == 1.0) else C}.items():
        if value is not None:
            raise ValueError(f"X is a DualProblem, which says what {name} is; leave {name} out.")
    if not X.has_labels:
        raise ValueError(
            "X is a DualProblem, but none of classification: its v must be ±1, its z 0, and each box between 0 and "
            "C on the side of v, as DualProblem.classification makes them."
        )
    return X.gram, X.v.astype(np.int64), X.upper - X.lower


def most_violating_pair(
    alpha: np.ndarray, gradient: np.ndarray, lower: np.ndarray, upper: np.ndarray
) -> tuple[int, int, float]:
    """Return argmax of G over I_up, argmin of G over I_down, and the KKT gap ψ between them.

    I_up = {i : αᵢ < Uᵢ}, I_down = {i : αᵢ > Lᵢ}; lowest index on ties. An empty side gives index −1 and ψ = −inf.
    """
    rising = np.where(alpha < upper, gradient, BELOW_ALL)
    falling = np.where(alpha > lower, gradient, ABOVE_ALL)
    top, bottom = int(rising.argmax()), int(falling.argmin())
    highest, lowest = rising.item(top), falling.item(bottom)
    if highest == -math.inf:
        top = -1
    if lowest == math.inf:
        bottom = -1
    return top, bottom, highest - lowest if min(top, bottom) >= 0 else -math.inf
