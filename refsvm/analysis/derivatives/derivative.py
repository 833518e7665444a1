"""Derivative: the rates of α, b and h with respect to a parameter of the problem."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from refsvm.analysis.derivatives.direction import Direction, direction, form_rates, support
from refsvm.analysis.derivatives.optimum import Optimum
from refsvm.analysis.derivatives.parameters import Rates, examples_of, rates_of
from refsvm.core._checks import examples, vector
from refsvm.core.kernels.checked import cross_values
from refsvm.core.result import Solution
from refsvm.core.shown import Stamped
from refsvm.services.summary import Card, Shown
from refsvm.services.types import ArrayLike

SAME: Final = 1e-7
"""One-sided derivatives are taken as equal if they differ by less than this, relative to the largest rate."""


@dataclass(frozen=True, eq=False, repr=False)
class OneSided(Stamped):
    """The derivative of the optimum on one side: as the parameter rises, or as it falls.

    Attributes
    ----------
    alpha : ndarray of shape (n,)
        dα/dθ; if dα/dθ is not unique, the derivative with the smallest norm.
    intercept : float
        db/dθ.
    """

    optimum: Optimum
    rates: Rates
    along: Any
    alpha: np.ndarray
    intercept: float
    around_mean: float

    def __repr__(self) -> str:
        count = np.count_nonzero(self.alpha)
        return f"OneSided(db {self.intercept:.6g}, dα of {count:,} of {len(self.alpha):,} variables)"

    @classmethod
    def of(cls, optimum: Optimum, rates: Rates, along: Any, change: Direction) -> OneSided:
        """Return the derivative for a direction; if dα/dθ is not unique, the derivative with the smallest norm."""
        alpha, M = change.alpha.copy(), optimum.places[: optimum.free]
        if optimum.free > optimum.size:
            alpha[M] -= optimum.null @ (optimum.null.T @ alpha[M])
        offset = float(np.sum(optimum.offsets * alpha))
        return cls(optimum, rates, along, alpha, change.intercept - offset, change.intercept)

    @np.errstate(under="ignore")
    def decision_function(self, X: Any) -> np.ndarray:
        """Return dh(x)/dθ = Σᵢ k(x, xᵢ) dαᵢ/dθ + db/dθ + Σᵢ αᵢ ∂k(x, xᵢ)/∂θ, shape (t,).

        Parameters
        ----------
        X : array-like or CSR of shape (t, d)
            With a precomputed kernel or ``gram=``: shape (t, n), the kernel values with the n training examples.
        """
        gram, moving = self.optimum.problem.gram, np.flatnonzero(self.alpha)
        result = cross_values(gram, moving, X) @ self.alpha[moving] + self.around_mean
        if self.rates.kernel:
            kernel = examples_of(gram)[0].kernel
            vectors, sums = support(self.optimum)
            result += form_rates(kernel, self.rates.kernel, self.along, examples(X), vectors, sums)
        return np.asarray(result)


@dataclass(frozen=True, eq=False, repr=False)
class Derivative(Shown):
    """The derivative of the optimum with respect to a parameter θ.

    The optimum is a smooth function of the parameter, except at an event, where a variable reaches or leaves a bound.
    At an event the optimum has a kink: `left` and `right` differ, and `alpha`, `intercept` and `decision_function`
    raise a ValueError.

    Attributes
    ----------
    name : str
        The parameter.
    left, right : OneSided
        The derivatives as θ falls and as θ rises, which differ only at an event.
    events : ndarray of int64
        The examples whose variables are at an event at this θ, ascending.
    dependent : ndarray of int64
        The examples that are affine combinations of other free examples in feature space (such as duplicates),
        ascending. Their α can change while h stays constant, so dα is not unique.
    condition : float
        Condition number of the linear system; the relative error of the derivative is about 10⁻¹⁶ times `condition`. ∞
        if the system is singular, and 0 if no variable is free.
    """

    name: str
    left: OneSided
    right: OneSided
    events: np.ndarray
    dependent: np.ndarray
    condition: float
    least_norm: bool

    def _card(self) -> Card:
        rates = dict.fromkeys(f"{side.intercept + 0.0:.6g}" for side in (self.left, self.right))
        smooth = "smooth" if self.is_two_sided else "with a kink"
        condition = f"condition {self.condition:.1e}" if self.condition else "no variable is free"
        pairs = {
            "db": " | ".join(rates), "at an event": f"{len(self.events):,}", "dependent": f"{len(self.dependent):,}",
            "condition": condition.removeprefix("condition "),
        }  # fmt: skip
        return Card(
            f"with respect to {self.name}, {smooth}: db {pairs['db']}, {condition}",
            pairs=pairs,
        )

    @property
    def is_two_sided(self) -> bool:
        """Whether the two one-sided derivatives of h are equal."""
        if self.left is self.right:
            return True
        one, other = self.left, self.right
        change = one.alpha - other.alpha
        most = SAME * max(float(np.abs(one.alpha).max()), float(np.abs(other.alpha).max()))
        same_b = abs(one.intercept - other.intercept) <= SAME * max(abs(one.intercept), abs(other.intercept))
        return bool(np.abs(change).max() <= most) and same_b

    @property
    def alpha(self) -> np.ndarray:
        """dα/dθ, shape (n,).

        Raises a ValueError at a kink, and if dα is not unique and ``least_norm`` is False.
        """
        side = self._smooth()
        if len(self.dependent) and not self.least_norm:
            raise ValueError(
                f"alpha has no unique derivative: the examples {self.dependent[:10].tolist()} depend on each other "
                "in feature space, so their alpha can change while h stays constant. Use "
                ".decision_function(X), or pass least_norm=True for the smallest derivative of alpha."
            )
        return side.alpha

    @property
    def intercept(self) -> float:
        """db/dθ. Raises a ValueError at a kink."""
        return self._smooth().intercept

    def decision_function(self, X: Any) -> np.ndarray:
        """Return dh(x)/dθ for the rows x of X, shape (t,); raise a ValueError at a kink."""
        return self._smooth().decision_function(X)

    def _smooth(self) -> OneSided:
        if not self.is_two_sided:
            raise ValueError(
                f"The examples {self.events[:10].tolist()} are at an event: their variables reach or leave "
                f"a bound, so the derivative with respect to {self.name!r} has two sides; use its .left or .right."
            )
        return self.right


@np.errstate(under="ignore")
def derivative(
    solution: Solution, name: str, along: ArrayLike = None, *, least_norm: bool = False
) -> Derivative:
    """Return the derivatives of α, b and the decision function h with respect to a parameter.

    As the parameter changes, the α of free variables change so that Gᵢ = b still holds, and bounded variables stay at
    their bounds. `derivative` solves these optimality conditions as a linear system, as path trackers do.

    Parameters
    ----------
    name : str
        "C", "weights", "targets", "epsilon", "nu", or a parameter of the kernel such as "gamma" and "coef0"; see
        `refsvm.analysis.derivatives.parameters`.
    along : array-like of shape (m,) or (d,), optional
        The direction in which the parameters move together. `along` is required if each example or feature has its own
        parameter, and must be omitted otherwise.
    least_norm : bool
        If dα is not unique: with True, `alpha` is the dα of smallest norm; with False, reading `alpha` raises an error.

    Returns
    -------
    Derivative
        The derivative as the parameter rises, and as it falls.

    Raises
    ------
    ValueError
        If the problem does not have the parameter, or α or b jumps as the parameter moves.

    References
    ----------
    O. Chapelle, V. Vapnik, O. Bousquet and S. Mukherjee, "Choosing multiple parameters for support vector machines",
    Machine Learning 46, 2002. S. S. Keerthi, V. Sindhwani and O. Chapelle, "An efficient method for gradient-based
    adaptation of hyperparameters in SVM models", NIPS 2006.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import RBF, DualProblem, solve
    >>> X, y = np.array([[0.0], [1.0], [2.0], [4.0]]), np.array([-1, 1, -1, 1])
    >>> solution = solve(DualProblem.classification(X, y, kernel=RBF(0.5), C=3.0))
    >>> by_C = solution.derivative("C")
    >>> by_C.alpha.round(4), round(by_C.intercept, 4)
    (array([-0.5284,  1.    , -0.5389,  0.0672]), -0.0053)
    >>> solution.derivative("gamma").decision_function(np.array([[3.0]])).round(4)
    array([-0.6711])
    """
    optimum = Optimum(solution)
    rates = rates_of(optimum.problem, name)
    along = _along(optimum, rates, name, along)
    right = OneSided.of(optimum, rates, along, direction(optimum, rates, along, 1.0))
    left = right
    if optimum.has_ends or len(optimum.places) > optimum.free:
        left = OneSided.of(optimum, rates, along, direction(optimum, rates, along, -1.0))
    return Derivative(name, left, right, optimum.events, optimum.dependent, optimum.condition, least_norm)


def _along(optimum: Optimum, rates: Rates, name: str, along: Any) -> Any:
    """Return the checked direction `along` in which the parameters move, or 1 for a single parameter."""
    if rates.each or rates.features:
        if along is None:
            raise ValueError(
                f"Every {'example' if rates.each else 'feature'} has its own {name}; give along=, "
                f"the direction in which the values of {name} change."
            )
        return vector("along", along, rates.features or examples_of(optimum.problem.gram)[0].n)
    if along is not None:
        raise ValueError(f"{name!r} is a single number, which needs no direction; omit along=.")
    return 1.0


Solution.derivative = derivative
