"""MIR: replaces all removed examples with all added examples by least squares."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from refsvm.core._checks import positive, whole
from refsvm.core.problem import DualProblem, total
from refsvm.core.result import Solution
from refsvm.core.seeders.base import Seeder
from refsvm.core.seeders.exchange import added, offset, removed
from refsvm.core.seeders.spread import complete, spread


@dataclass(frozen=True)
class MIR(Seeder):
    """Multiple instance replacement: choose α_T of the added examples T so that the gradient changes by a given dG.

        ⎡ −K_XT ⎤         ⎡ dG_X − K_XR α_R ⎤
        ⎣   1ᵀ  ⎦ α_T  ≈  ⎣      1ᵀα_R      ⎦       in least squares,  X = S ∪ T.

    R are the removed examples, and S are the examples in both problems, whose α_S does not change. dGᵢ is b − Gᵢ if i
    is free or violates its optimality condition, and 0 otherwise. The seeder clips α_T to the box, and spreads the
    missing sum z − 1ᵀα over T, then over the free variables, then over all variables, each time as far as the bounds
    allow.

    The seeder solves this least-squares problem by conjugate gradients on the normal equations, and never multiplies
    the matrix by its transpose. Started at 0, the method finds the solution of least norm for a matrix of any rank.

    Parameters
    ----------
    max_iter : int, default 50
        Largest number of steps of conjugate gradients; the method never takes more steps than T has examples.
    tol : float, default 1e-3
        The conjugate gradients end when the gradient of the squared error is at most this fraction of its first value.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    References
    ----------
    Z. Wen et al., AAAI 2017, section 3 (Multiple Instance Replacement), equations 15 to 18 and Algorithm 2.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import MIR, DualProblem, RBF, solve
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0], [3.1]]), np.array([-1, 1, 1, -1, -1])
    >>> problem = DualProblem.classification(X, y, kernel=RBF(1.0), C=10.0)
    >>> MIR().seed(solve(problem.without(4)), problem.without(3)).round(3)
    array([-1.253,  1.253,  1.253,  0.   , -1.253])
    """

    max_iter: int = 50
    tol: float = 1e-3

    def __post_init__(self) -> None:
        whole("max_iter", self.max_iter, 1)
        positive("tol", self.tol)

    def seed(self, solved: Solution, problem: DualProblem) -> np.ndarray:
        """Return a feasible α for `problem`."""
        lower, upper, before, gram = problem.lower, problem.upper, solved.alpha, problem.gram
        alpha = np.clip(before, lower, upper)
        T, R = added(solved.problem, problem), removed(solved.problem, problem)
        if len(T):
            taken_from = R[before[R] != 0.0]
            X = np.flatnonzero((lower != 0.0) | (upper != 0.0))
            # K_XT α_T ≈ K_XR α_R − dG_X,   1ᵀα_T ≈ 1ᵀα_R
            right = np.append(-gradient_change(solved, problem, T)[X], total(before[taken_from]))
            for r in taken_from:
                right[:-1] += before[r] * gram.row(r)[X]
            rows = np.ones((len(T), len(X) + 1))
            for row, t in zip(rows, T, strict=True):
                row[:-1] = gram.row(t)[X]
            alpha[T] = np.clip(least_squares(rows, right, self.max_iter, self.tol), lower[T], upper[T])
            spread(alpha, T, problem.z - total(alpha), lower, upper)
        return complete(alpha, problem.z, lower, upper)


def gradient_change(solved: Solution, problem: DualProblem, T: np.ndarray) -> np.ndarray:
    """Return dG, shape (n,): b − Gᵢ if i is free, or if i is added and αᵢ = 0 is not optimal; otherwise 0."""
    old, alpha, G, b = solved.problem, solved.alpha, solved.gradient, offset(solved)
    moving = (alpha > old.lower) & (alpha < old.upper)
    moving[T] = np.where(G[T] > b, problem.upper[T] > 0.0, problem.lower[T] < 0.0)
    return np.where(moving, b - G, 0.0)


def least_squares(rows: np.ndarray, right: np.ndarray, max_iter: int, tol: float) -> np.ndarray:
    """Return the x that minimises ‖Aᵀx − right‖², by conjugate gradients from 0 (CGLS, Björck 1996, §7.4).

    Parameters
    ----------
    rows : ndarray of shape (m, k)
        The rows of the matrix A.
    right : ndarray of shape (k,)
        The right side.
    max_iter : int
    tol : float

    Returns
    -------
    ndarray of shape (m,)

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm.core.seeders.mir import least_squares
    >>> least_squares(np.array([[1.0, 0.0], [1.0, 0.0]]), np.array([2.0, 5.0]), 10, 1e-9)
    array([1., 1.])
    """
    m = len(rows)
    x, residual = np.zeros(m), right.copy()
    slope = np.array([total(row * residual) for row in rows])
    direction = slope.copy()
    size = first = total(slope * slope)
    for _ in range(min(m, max_iter)):
        if size <= tol * tol * first:
            break
        # q = Aᵀp,  a = ‖s‖²/‖q‖²
        image = np.zeros(len(right))
        for factor, row in zip(direction, rows, strict=True):
            image += factor * row
        length = total(image * image)
        if length <= 0.0:
            break
        a = size / length
        # x += a p,  r −= a q,  s = Ar
        x += a * direction
        residual -= a * image
        slope = np.array([total(row * residual) for row in rows])
        before, size = size, total(slope * slope)
        direction = slope + (size / before) * direction
    return x
