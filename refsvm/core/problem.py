"""DualProblem: the signed dual that every solver, seeder and path tracker of this package works on.

    maximise   f(α) = vᵀα − ½ αᵀKα     subject to   1ᵀα = z,   L ≤ α ≤ U

C-SVM classification with labels yᵢ = ±1 and penalties Cᵢ has v = y, z = 0, Lᵢ = min(0, yᵢCᵢ), Uᵢ = max(0, yᵢCᵢ). The α
of the literature is aᵢ = yᵢαᵢ ∈ [0, Cᵢ]. `DualProblem.regression` and `DualProblem.one_class` set v, z and the box for
regression and novelty detection. `DualProblem.without` leaves out example r by setting Lᵣ = Uᵣ = 0.
`DualProblem.restrict` makes problems of fewer variables.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, Final, TypeVar, cast

import numpy as np

from refsvm.core import arithmetic
from refsvm.core._checks import ArrayLike, box, positions, real, sealed, vector
from refsvm.core.arithmetic import ABOVE_ALL, BELOW_ALL, Arithmetic, dot
from refsvm.core.formulations import Formulations, epsilon_of, nu_of
from refsvm.core.kernels.checked import matrix_of
from refsvm.core.kernels.matrix import KernelMatrix
from refsvm.core.kernels.precision import decision_noise
from refsvm.core.primal import best_intercept, primal_value
from refsvm.core.shown import Shown

EPSILON: Final = float(np.finfo(float).eps)
"""Relative rounding error of one floating-point operation."""

BALANCED: Final = 1e-12
"""If |Σα| is at most this multiple of Σ|α|, the code treats Σα as 0: its value is only rounding error."""

Method = TypeVar("Method", bound=Callable[..., Any])


def at_point(value: Method) -> Method:
    """Decorate a method so that it accepts α as any sequence of n numbers and otherwise raises ValueError."""

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
        The symmetric kernel matrix K, which is evaluated in blocks. To pass an
        object of your own, give it the methods that
        `refsvm.core.kernels.checked.GivenMatrix` lists.
    v : ndarray of shape (n,), float64
        Coefficients of the linear term.
    z : float
        The value that the sum of α must have.
    lower, upper : ndarrays of shape (n,), float64
        Bounds L and U of the box; Lᵢ = −∞ or Uᵢ = ∞ leaves variable i
        unbounded below or above.

    Raises
    ------
    ValueError
        If shapes differ, if Lᵢ > Uᵢ for some i, or if no α satisfies both
        constraints.

    Attributes
    ----------
    n : int
        Number of variables.
    is_open : bool
        True if some Uᵢ = ∞ or Lᵢ = −∞.
    zero_is_feasible : bool
        True if α = 0 satisfies both constraints.
    fixed_noise : float
        Estimated error of v. In a problem made by `restrict`, v contains
        rounded kernel values of the fixed variables.

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
        return "{1}; {2}, C={3}".format(*self._description())

    def _description(self) -> tuple[str, str, str, str]:
        """Return four texts: the kind of problem, its data, its kernel and C."""
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
            kind, what = "custom", f"n={n}, z={z:.6g}"
        low, high = float(width.min()), float(width.max())
        C = f"{high:.6g}" if low == high else f"{low:.6g} to {high:.6g}"
        return kind, what, self.gram.kernel_name, C

    # -- values at a point. Pass the gradient G = v − Kα if you know it; otherwise each method computes G again.
    # If z = 0 and the kernel is linear, another origin of the data changes only `gradient` and `intercept`.

    @property
    def centred(self) -> DualProblem:
        """The problem that the solver works on: if z = 0, its kernel is computed on data moved to mean 0.

        The centred problem has the same optima as this problem. Centring adds the same constant to b and to every Gᵢ.
        If z ≠ 0, or if moving the data does not make kernel values more precise, this property returns the problem
        itself.
        """
        gram = self.gram.centred if self.z == 0.0 else self.gram
        return self if gram is self.gram else self.with_gram(gram)

    def _where_exact(self, alpha: np.ndarray) -> DualProblem:
        """Return `centred` or this problem, whichever has the more precise G at α; the two G differ by a constant."""
        balanced = abs(float(alpha.sum())) <= BALANCED * float(np.abs(alpha).sum())
        return self.centred if balanced else self

    def _known(self, alpha: np.ndarray) -> np.ndarray:
        """Compute G of this problem or of `centred`, whichever is more precise; the two G differ by a constant."""
        return self._where_exact(alpha).gradient(alpha)

    @at_point
    def gradient(self, alpha: np.ndarray) -> np.ndarray:
        """Compute G = ∇f(α) = v − Kα from scratch, shape (n,), from the kernel rows of the non-zero αᵢ."""
        # `vector` refuses NaN, which `at_point` accepts in arrays
        exact = self._where_exact(vector("alpha", alpha, self.n))
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
        """ψ(α) = max over I_up of G − min over I_down of G; α is ε-optimal if ψ ≤ ε, and strictly optimal if ψ < 0."""
        G = self._known(alpha) if gradient is None else gradient
        return most_violating_pair(alpha, G, self.lower, self.upper)[2]

    @at_point
    def intercept(self, alpha: np.ndarray, gradient: np.ndarray | None = None) -> float:
        """b = ½ (max over I_up of G + min over I_down of G); if one set is empty, b is the term of the other set."""
        G = self.gradient(alpha) if gradient is None else gradient
        return self.midway(G, *most_violating_pair(alpha, G, self.lower, self.upper)[:2])

    def midway(self, gradient: np.ndarray, top: int, bottom: int) -> float:
        """Return b from a known most violating pair (top, bottom); an index −1 means that I_up or I_down is empty."""
        ends = [float(gradient[i]) for i in (top, bottom) if i >= 0]
        return sum(ends) / len(ends) if ends else best_intercept(gradient, self.z, self.lower, self.upper)

    @at_point
    def decision_range(self, alpha: np.ndarray, gradient: np.ndarray | None = None) -> float:
        """Return the range (max − min) of the decision values of the variables with Lᵢ < Uᵢ.

        The decision values minus b are v − G = Kα. At α = 0 all decision values are equal; the method then returns the
        range of v, which holds the targets.
        """
        values = self.v
        if np.count_nonzero(alpha):
            values = values - (self._known(alpha) if gradient is None else gradient)
        free = self.lower < self.upper
        if not free.all():
            values = values[free]
        return float(values.max() - values.min()) if len(values) else 0.0

    def with_exact_ends(self, alpha: np.ndarray, gradient: np.ndarray, error: float) -> np.ndarray:
        """Return G, recomputed with float64 kernel values for the variables that may set an end of the interval of b.

        Each entry of `gradient` is wrong by about `error`. A member of I_up may therefore set an end if its G is at
        least max G − 2·`error`, and a member of I_down if its G is at most min G + 2·`error`. If the recomputed values
        show a larger error, the method repeats the search with the larger error. Kernel values of equal examples are
        computed once.
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
        """Return a mask of the members of I_up within 2·error of max G, and of I_down within 2·error of min G."""
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
        """F(α, b) − f(α) ≥ 0 at the best b; the gap is 0 if and only if α is optimal."""
        G = self._known(alpha) if gradient is None else gradient
        return self.primal_objective(alpha, gradient=G) - self.objective(alpha, G)

    # -- other problems made of this one ---------------------------------------------------------------------------

    def restrict(self, indices: ArrayLike, alpha: np.ndarray | None = None) -> DualProblem:
        """Return the problem over α_B with the other variables N fixed at ``alpha`` (zero by default).

            v_B = v_B − K_{B,N} α_N,   z_B = z − 1ᵀα_N,   same box

        Parameters
        ----------
        indices : array-like of int, shape (m,)
            B, the variables of the new problem in their new order.
        alpha : ndarray of shape (n,), optional
            Values of the fixed variables; entries at B are ignored.

        Returns
        -------
        DualProblem
            The gradient of the new problem at α_B equals G[B] of this problem
            at α. If variables are fixed at values other than 0, the gradient
            equals G[B] of `centred`, because the origin of the data matters if
            z_B ≠ 0.
        """
        B = positions("indices", indices, self.n)
        v, z, gram, noise = self.v[B], self.z, self.gram, self.fixed_noise
        if alpha is not None:
            fixed = vector("alpha", alpha, self.n).copy()
            fixed[B] = 0.0
            N = np.flatnonzero(fixed)
            z = self.z - float(fixed.sum())
            # rounding errors may have moved z_B slightly out of the interval of sums that the box allows
            least, most = float(self.lower[B].sum()), float(self.upper[B].sum())
            if abs(z - min(max(z, least), most)) <= 1e-12 * float(np.abs(fixed).sum()):
                z = min(max(z, least), most)
            if len(N):
                gram = self.centred.gram
                v = v - arithmetic.product(fixed[None, N], gram.block(N, B))[0]
                noise = decision_noise(gram, fixed, gram.diagonal(), 0.0, noise)
        return DualProblem(gram.restrict(B), v, z, self.lower[B], self.upper[B])._with(fixed_noise=noise)

    def boxed(self, lower: np.ndarray, upper: np.ndarray) -> DualProblem:
        """Return a copy of this problem with other bounds L and U."""
        return self._with(**box(lower, upper, self.z, self.n))

    def with_gram(self, gram: KernelMatrix) -> DualProblem:
        """Return a copy of this problem with `gram` as its kernel matrix."""
        return self._with(gram=gram)

    def without(self, r: ArrayLike) -> DualProblem:
        """Return the problem without the examples r: Lᵣ = Uᵣ = 0; everything except the box stays unchanged.

        r is a position or an array of positions. The method raises ValueError
        if r is not a valid position or no α in the new box has the sum z.
        """
        if type(r) is not int or not 0 <= r < self.n:
            r = positions("r", [r] if np.ndim(r) == 0 else r, self.n)
        lower, upper = self.lower.copy(), self.upper.copy()
        lower[r] = upper[r] = 0.0
        return self._part_of_box(lower, upper)

    def _part_of_box(self, lower: np.ndarray, upper: np.ndarray) -> DualProblem:
        """Return a copy of this problem with a smaller box, in new arrays; check it only if α = 0 is infeasible."""
        if self.zero_is_feasible:
            return self._of_checked(self.gram, self.v, lower, upper)
        return self.boxed(lower, upper)

    def _with(self, **parts: Any) -> DualProblem:
        """Return a copy of this problem in which checked values replace some fields."""
        problem = object.__new__(type(self))
        problem.__dict__.update(self.__dict__, **parts)
        return problem

    def feasible(self, alpha: ArrayLike) -> np.ndarray:
        """Return a feasible point near `alpha`: clip it to the box, then change its entries until their sum is z.

        αᵢ ← clip(αᵢ);  s = z − 1ᵀα;  αᵢ ← αᵢ + s·roomᵢ/Σ room, with room = U −
        α if s > 0 and α − L otherwise.

        Each αᵢ moves in proportion to its distance from Uᵢ (s > 0) or Lᵢ.
        Variables strictly inside the box move first, so that variables at a
        bound stay there if only rounding made the point infeasible.
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
            if total == np.inf:  # only the unbounded variables move
                point = point + missing * ((room == np.inf) / float((room == np.inf).sum()))
            elif total > 0.0:
                share = np.sign(missing) * min(abs(missing), total)
                point = (point + share * (room / total)).clip(lower, upper)
        return point


most_violating_pair = Arithmetic.most_violating_pair


def total(values: np.ndarray) -> float:
    """Return the sum of the values, added from left to right, with the same bits as in compiled code.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm.core.problem import total
    >>> total(np.array([1.0, 2.0, 4.0]))
    7.0
    """
    return float(np.cumsum(values)[-1]) if len(values) else 0.0
