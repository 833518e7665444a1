"""DualProblem: the signed dual that every solver, seeder and path tracker of this package works on.

    maximise   f(α) = vᵀα − ½ αᵀKα     subject to   1ᵀα = z,   L ≤ α ≤ U

C-SVM classification with labels yᵢ = ±1 and penalties Cᵢ is v = y, z = 0, Lᵢ = min(0, yᵢCᵢ), Uᵢ = max(0, yᵢCᵢ).
The α of the literature is aᵢ = yᵢαᵢ ∈ [0, Cᵢ]. Regression and novelty detection have another v and another box.
A left-out example is Lᵣ = Uᵣ = 0 (`DualProblem.without`); a fold, a shrunk problem and a block are all
`DualProblem.restrict`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, Final, TypeVar, cast

import numpy as np

from refsvm.core import arithmetic
from refsvm.core._checks import box, positions, real, sealed, vector
from refsvm.core.arithmetic import ABOVE_ALL, BELOW_ALL, Arithmetic, dot
from refsvm.core.formulations import Formulations, epsilon_of, nu_of
from refsvm.core.kernels.checked import matrix_of
from refsvm.core.kernels.matrix import KernelMatrix
from refsvm.core.kernels.precision import decision_noise
from refsvm.core.primal import best_intercept, primal_value
from refsvm.core.shown import Shown

EPSILON: Final = float(np.finfo(float).eps)
"""Rounding of one operation, relative."""

BALANCED: Final = 1e-12
"""|Σα| up to which, relative to Σ|α|, it is 0 but for rounding."""

Method = TypeVar("Method", bound=Callable[..., Any])


def at_point(value: Method) -> Method:
    """Let a method take α as any sequence of n numbers, and refuse all else by a sentence."""

    @wraps(value)
    def checked(problem: DualProblem, alpha: Any, *rest: Any, **named: Any) -> Any:
        if type(alpha) is not np.ndarray or alpha.dtype != np.float64 or alpha.shape != (problem.n,):
            alpha = vector("alpha", alpha, problem.n)
        return value(problem, alpha, *rest, **named)

    return cast(Method, checked)


@dataclass(frozen=True, eq=False, repr=False)
class DualProblem(Shown, Formulations):
    """max vᵀα − ½ αᵀKα subject to 1ᵀα = z and L ≤ α ≤ U. Immutable.

    Parameters
    ----------
    gram : KernelMatrix, object or array of shape (n, n)
        K, symmetric, evaluated in blocks; an object of your own meets the
        contract of `refsvm.core.kernels.checked.GivenMatrix`.
    v : ndarray of shape (n,), float64
        Linear term.
    z : float
        Value of the sum of α.
    lower, upper : ndarrays of shape (n,), float64
        The box L, U; Uᵢ = ∞ and Lᵢ = −∞ leave a side open.

    Raises
    ------
    ValueError
        If shapes differ, a bound is crossed, or no α satisfies both
        constraints.

    Attributes
    ----------
    n : int
        Number of variables.
    is_open, zero_is_feasible : bool
        Whether some Uᵢ = ∞ or Lᵢ = −∞, and whether α = 0 is feasible.
    fixed_noise : float
        About how far rounding of kernel values has moved v, of the variables
        that `restrict` has fixed.

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
    zero_is_feasible: bool = field(init=False, repr=False)
    fixed_noise = 0.0

    def __post_init__(self) -> None:
        gram, z = matrix_of(self.gram), real("z", self.z)
        v = sealed(vector("v", self.v, gram.n))
        self.__dict__.update(gram=gram, n=gram.n, v=v, z=z, **box(self.lower, self.upper, z, gram.n))

    def _line(self) -> str:
        return "{1}; {2}, C={3}".format(*self._told())

    def _told(self) -> tuple[str, str, str, str]:
        """Return the kind of the problem, its data, its kernel and C, in words."""
        width, z, n = self.upper - self.lower, self.z, self.n
        if self.has_labels:
            kind, up = "classification", int((self.v > 0.0).sum())
            what = f"n={n}: {up} of class +1, {n - up} of −1"
        elif self.gram.repeats and z == 0.0 and n % 2 == 0:
            kind, width, n = "regression", width[: n // 2], n // 2
            what = f"regression of {n} targets, epsilon={epsilon_of(self, n):.6g}"
        elif not self.v.any() and z > 0.0:
            kind, what = "novelty detection", f"novelty of {n} examples, nu={nu_of(self):.6g}"
        else:
            kind, what = "of a form of its own", f"n={n}, z={z:.6g}"
        low, high = float(width.min()), float(width.max())
        C = f"{high:.6g}" if low == high else f"{low:.6g} to {high:.6g}"
        return kind, what, self.gram.kernel_name, C

    # -- values at a point; each takes the gradient G = v − Kα if it is already known. Where z = 0 and K is linear, all
    # but `gradient` and `intercept` are the same for any origin of the data: see `refsvm.core.kernels.origin` ---------

    @property
    def centred(self) -> DualProblem:
        """The problem that is solved: if z = 0, that with K around the mean of the data, where it is more precise.

        The optima are the same; b and all components of G differ by one
        number. If there is no better K, this is the problem itself.
        """
        gram = self.gram.centred if self.z == 0.0 else self.gram
        return self if gram is self.gram else self.with_gram(gram)

    def _where_exact(self, alpha: np.ndarray) -> DualProblem:
        """Return the problem in which G of this α is computed, up to one number in all components."""
        balanced = abs(float(alpha.sum())) <= BALANCED * float(np.abs(alpha).sum())
        return self.centred if balanced else self

    def _known(self, alpha: np.ndarray) -> np.ndarray:
        """G from scratch up to that number."""
        return self._where_exact(alpha).gradient(alpha)

    @at_point
    def gradient(self, alpha: np.ndarray) -> np.ndarray:
        """G = ∇f(α) = v − Kα from scratch, shape (n,), in blocks of rows of the non-zero αᵢ."""
        exact = self._where_exact(vector("alpha", alpha, self.n))  # refuses NaN
        if exact is not self:
            return exact.gradient(alpha) - exact.gram.offset(alpha)
        result = self.v.copy()
        support = np.flatnonzero(alpha)
        for start in range(0, len(support), 256):
            chunk = support[start : start + 256]
            arithmetic.current.add_rows(result, -alpha[chunk], self.gram.block(chunk), np.arange(len(chunk)))
        return result

    @at_point
    def objective(self, alpha: np.ndarray, gradient: np.ndarray | None = None) -> float:
        """f(α) = vᵀα − ½ αᵀKα = ½ αᵀ(v + G)."""
        G = self._known(alpha) if gradient is None else gradient
        return 0.5 * dot(alpha, self.v + G)

    @at_point
    def kkt_gap(self, alpha: np.ndarray, gradient: np.ndarray | None = None) -> float:
        """ψ(α) = max over I_up of G − min over I_down of G; not above ε means ε-optimal, negative means strictly so."""
        G = self._known(alpha) if gradient is None else gradient
        return most_violating_pair(alpha, G, self.lower, self.upper)[2]

    @at_point
    def intercept(self, alpha: np.ndarray, gradient: np.ndarray | None = None) -> float:
        """b = ½ (max over I_up of G + min over I_down of G); if only one side exists, that side's value."""
        G = self.gradient(alpha) if gradient is None else gradient
        return self.midway(G, *most_violating_pair(alpha, G, self.lower, self.upper)[:2])

    def midway(self, gradient: np.ndarray, top: int, bottom: int) -> float:
        """b of a most violating pair that is known already; −1 stands for a side that does not exist."""
        ends = [float(gradient[i]) for i in (top, bottom) if i >= 0]
        return sum(ends) / len(ends) if ends else best_intercept(gradient, self.z, self.lower, self.upper)

    @at_point
    def decision_range(self, alpha: np.ndarray, gradient: np.ndarray | None = None) -> float:
        """Return max − min of v − G = Kα, by which the decision values differ, over all variables with Lᵢ < Uᵢ.

        Where α = 0 it is the range of v, which holds the targets: nothing has
        moved yet.
        """
        values = self.v
        if np.count_nonzero(alpha):
            values = values - (self._known(alpha) if gradient is None else gradient)
        free = self.lower < self.upper
        if not free.all():
            values = values[free]
        return float(values.max() - values.min()) if len(values) else 0.0

    def with_exact_ends(self, alpha: np.ndarray, gradient: np.ndarray, error: float) -> np.ndarray:
        """Return G with float64 kernel values for the variables that may be at either end of the interval of b.

        Each entry of `gradient` is wrong by about `error`. So these are the
        variables of I_up within twice the error of max G, and those of I_down
        within twice the error of min G. Where the values found differ by more,
        the error is taken to be larger. Equal examples are evaluated once.
        """
        G, matrix, known = gradient.copy(), self.gram.exact, np.zeros(self.n, dtype=bool)
        _, first, labels = np.unique(matrix.distinct, return_index=True, return_inverse=True)
        sums = np.bincount(labels, alpha)
        support, product = np.flatnonzero(sums), np.zeros(len(first))
        while (near := self._near_ends(alpha, gradient, error) & ~known).any():
            examples = np.unique(labels[near])
            for start in range(0, len(examples), 256):
                some = examples[start : start + 256]
                values = matrix.block(first[support], first[some])
                product[some] = arithmetic.product(sums[None, support], values)[0]
            G[near], known = self.v[near] - product[labels[near]], known | near
            error = max(error, 2.0 * float(np.abs(G - gradient)[near].max()))
        return G

    def _near_ends(self, alpha: np.ndarray, gradient: np.ndarray, error: float) -> np.ndarray:
        """Return a mask: variables with the largest G over I_up or the smallest over I_down, up to twice this error."""
        rising = np.where(alpha < self.upper, gradient, BELOW_ALL)
        falling = np.where(alpha > self.lower, gradient, ABOVE_ALL)
        near_top = np.isfinite(rising) & (rising >= rising.max() - 2.0 * error)
        return np.asarray(near_top | (np.isfinite(falling) & (falling <= falling.min() + 2.0 * error)))

    @at_point
    def primal_objective(
        self, alpha: np.ndarray, b: float | None = None, gradient: np.ndarray | None = None
    ) -> float:
        """F(α, b) = ½ αᵀKα + Σᵢ max(Uᵢ(Gᵢ − b), Lᵢ(Gᵢ − b)) + bz, by default at the b that minimises it.

        For classification the sum is Σ Cᵢξᵢ with ξᵢ = max(0, yᵢ(Gᵢ − b)). F is
        never below the dual optimum. For hard margins see `refsvm.core.primal`.
        """
        exact = self if gradient is not None else self._where_exact(alpha)
        G = exact.gradient(alpha) if gradient is None else gradient
        if b is not None and exact is not self:
            b += exact.gram.offset(alpha)
        if b is None:
            b = best_intercept(G, self.z, self.lower, self.upper)
        # αᵀKα = αᵀ(v − G)
        quadratic = dot(alpha, self.v - G)
        return primal_value(quadratic, self.v, G - b, self.lower, self.upper, b * self.z)

    @at_point
    def duality_gap(self, alpha: np.ndarray, gradient: np.ndarray | None = None) -> float:
        """F(α, b) − f(α) ≥ 0 at the best b: zero exactly at the optimum."""
        G = self._known(alpha) if gradient is None else gradient
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
            Its gradient at α_B equals this problem's G[B] at α. If other
            variables are fixed, both are those of `centred`: z_B is not 0 any
            more, and the origin would matter from then on.
        """
        B = positions("indices", indices, self.n)
        v, z, gram, noise = self.v[B], self.z, self.gram, self.fixed_noise
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
                gram = self.centred.gram
                v = v - arithmetic.product(fixed[None, N], gram.block(N, B))[0]
                noise = decision_noise(gram, fixed, gram.diagonal(), 0.0, noise)
        return DualProblem(gram.restrict(B), v, z, self.lower[B], self.upper[B])._with(fixed_noise=noise)

    def boxed(self, lower: np.ndarray, upper: np.ndarray) -> DualProblem:
        """Return the same problem in another box."""
        return self._with(**box(lower, upper, self.z, self.n))

    def with_gram(self, gram: KernelMatrix) -> DualProblem:
        """Return the same problem with another source of its kernel matrix."""
        return self._with(gram=gram)

    def without(self, r: Any) -> DualProblem:
        """Return the problem without example r, or several: Lᵣ = Uᵣ = 0, all else, kernel rows included, as it was.

        r is a position or an array of shape (m,) of them; ValueError if it is
        none, or no α in the box has the sum z.
        """
        if type(r) is not int or not 0 <= r < self.n:
            r = positions("r", [r] if np.ndim(r) == 0 else r, self.n)
        lower, upper = self.lower.copy(), self.upper.copy()
        lower[r] = upper[r] = 0.0
        return self._part_of_box(lower, upper)

    def _part_of_box(self, lower: np.ndarray, upper: np.ndarray) -> DualProblem:
        """Return the same problem in a part of its box, of new arrays: one that holds α = 0 needs no check."""
        if self.zero_is_feasible:
            return self._of_checked(self.gram, self.v, lower, upper)
        return self.boxed(lower, upper)

    def _with(self, **parts: Any) -> DualProblem:
        """Return the same problem with some parts replaced by others that need no check."""
        problem = object.__new__(type(self))
        problem.__dict__.update(self.__dict__, **parts)
        return problem

    def feasible(self, alpha: Any) -> np.ndarray:
        """Return a feasible point near `alpha`: clip to the box, then share the missing sum by the room left.

        αᵢ ← clip(αᵢ);  s = z − 1ᵀα;  αᵢ ← αᵢ + s·roomᵢ/Σ room, with room = U −
        α if s > 0 and α − L otherwise.

        The variables strictly inside the box take their share first, so that a
        point that was feasible but for rounding keeps its variables exactly at
        their bounds.
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


most_violating_pair = Arithmetic.most_violating_pair


def total(values: np.ndarray) -> float:
    """Σ values, from left to right: the order in which the twins sum, so that both get the same number.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm.core.problem import total
    >>> total(np.array([1.0, 2.0, 4.0]))
    7.0
    """
    return float(np.cumsum(values)[-1]) if len(values) else 0.0
