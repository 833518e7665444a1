"""Derivative: the rates of α, b and h by a parameter of the problem."""

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
"""Part of the largest rate by which both one-sided derivatives may differ for one."""


@dataclass(frozen=True, eq=False, repr=False)
class OneSided(Stamped):
    """The derivative as the parameter rises, or as it falls.

    Attributes
    ----------
    alpha : ndarray of shape (n,)
        dα/dθ; where it is not unique, the smallest one.
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
    def of(cls, optimum: Optimum, rates: Rates, along: Any, found: Direction) -> OneSided:
        """Return the smallest of the derivatives that lead the way of one of them."""
        alpha, M = found.alpha.copy(), optimum.places[: optimum.free]
        if optimum.free > optimum.size:
            alpha[M] -= optimum.null @ (optimum.null.T @ alpha[M])
        offset = float(np.sum(optimum.offsets * alpha))
        return cls(optimum, rates, along, alpha, found.intercept - offset, found.intercept)

    @np.errstate(under="ignore")
    def decision_function(self, X: Any) -> np.ndarray:
        """dh(x)/dθ = Σᵢ k(x, xᵢ) dαᵢ/dθ + db/dθ + Σᵢ αᵢ ∂k(x, xᵢ)/∂θ, shape (t,).

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
    """The derivative of the optimum by a parameter θ.

    Between two events of its sets the optimum is a smooth function of the parameters. At an event it has a kink: `left`
    and `right` are then two values, and what they differ in is refused.

    Attributes
    ----------
    name : str
        The parameter.
    left, right : OneSided
        As θ falls, and as it rises; the same but at an event.
    events : ndarray of int64
        The examples that stand between two sets here, ascending.
    dependent : ndarray of int64
        The examples of which α may change though h does not, ascending: duplicates, and more free examples than
        dimensions. Where there are any, dα is not unique.
    condition : float
        Condition number of the system, about 10⁻¹⁶ of which is the relative error; ∞ where it is singular.
    """

    name: str
    left: OneSided
    right: OneSided
    events: np.ndarray
    dependent: np.ndarray
    condition: float
    least_norm: bool

    def _card(self) -> Card:
        rates = dict.fromkeys(f"{side.intercept:.6g}" for side in (self.left, self.right))
        smooth = "smooth" if self.is_two_sided else "a kink"
        told = {
            "db": " | ".join(rates), "at an event": f"{len(self.events):,}", "dependent": f"{len(self.dependent):,}",
            "condition": f"{self.condition:.1e}",
        }  # fmt: skip
        return Card(
            f"by {self.name}, {smooth} here: db {told['db']}, condition {told['condition']}", pairs=told
        )

    @property
    def is_two_sided(self) -> bool:
        """Whether both one-sided derivatives of h are the same."""
        if self.left is self.right:
            return True
        one, other = self.left, self.right
        change = one.alpha - other.alpha
        most = SAME * max(float(np.abs(one.alpha).max()), float(np.abs(other.alpha).max()))
        same_b = abs(one.intercept - other.intercept) <= SAME * max(abs(one.intercept), abs(other.intercept))
        return bool(np.abs(change).max() <= most) and same_b

    @property
    def alpha(self) -> np.ndarray:
        """dα/dθ, shape (n,); ValueError at a kink, and where it is not unique unless ``least_norm=True`` was given."""
        side = self._smooth()
        if len(self.dependent) and not self.least_norm:
            raise ValueError(
                f"alpha has no unique derivative: the examples {self.dependent[:10].tolist()} depend on each other in "
                "feature space, and h stays as they share a change. Ask for decision_function, or give "
                "least_norm=True for the smallest derivative."
            )
        return side.alpha

    @property
    def intercept(self) -> float:
        """db/dθ; ValueError at a kink."""
        return self._smooth().intercept

    def decision_function(self, X: Any) -> np.ndarray:
        """dh(x)/dθ, shape (t,), as `OneSided.decision_function`; ValueError at a kink."""
        return self._smooth().decision_function(X)

    def _smooth(self) -> OneSided:
        if not self.is_two_sided:
            raise ValueError(
                f"The examples {self.events[:10].tolist()} are at an event: they stand between two sets, and the "
                f"derivative by {self.name!r} has two sides. Take .left or .right of it."
            )
        return self.right


@np.errstate(under="ignore")
def derivative(
    solution: Solution, name: str, along: ArrayLike = None, *, least_norm: bool = False
) -> Derivative:
    """Return the derivative of the optimum by a parameter: of α, of b and of h.

    The free variables keep Gᵢ = b as the parameter moves, and the others stay at their bounds: one linear system, the
    one of the path trackers.

    Parameters
    ----------
    name : str
        "C", "weights", "targets", "epsilon", "nu", or a parameter of the kernel such as "gamma" and "coef0"; see
        `refsvm.analysis.derivatives.parameters`.
    along : array-like of shape (m,) or (d,), optional
        Of a parameter that each example or feature has, the direction in which all of them move together; required for
        these.
    least_norm : bool
        Where dα is not unique, return the smallest one as `alpha`.

    Returns
    -------
    Derivative

    Raises
    ------
    ValueError
        If there is no such parameter; where α or b jumps as the parameter moves.

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
    """Return the rate of the parameter, checked."""
    if rates.each or rates.features:
        if along is None:
            raise ValueError(
                f"Every {'example' if rates.each else 'feature'} has {name} of its own; give the direction in which "
                "they move as along=."
            )
        return vector("along", along, rates.features or examples_of(optimum.problem.gram)[0].n)
    if along is not None:
        raise ValueError(f"{name!r} is one number, which has no direction; leave along= out.")
    return 1.0


Solution.derivative = derivative
