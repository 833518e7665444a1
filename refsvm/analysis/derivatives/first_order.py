"""First-order changes of an optimum when examples are left out.

`FirstOrder` assumes that the remaining free variables keep G = b, and that no variable reaches or leaves a bound:

    | 0   1ᵀ  | | ḃ   |     | Σ α_B      |        B = the bounded variables that leave;  add A⁻¹[:, R] λ to
    | 1  K_MM | | d_M |  =  | K_MB α_B   |        (ḃ, d_M) so that d_R = −α_R for the free variables R that leave

`FirstOrder` inverts this matrix A once, for all groups of examples to leave out. The first-order change is exact only
if the assumption holds. `refsvm.analysis.derivatives.influence.influence` computes the exact change.
"""

from __future__ import annotations

import numpy as np

from refsvm.analysis.derivatives.optimum import Optimum


class FirstOrder:
    """The first-order changes of an optimum when examples are left out.

    Parameters
    ----------
    optimum : Optimum
        The optimum with all examples.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import RBF, DualProblem, solve
    >>> from refsvm.analysis.derivatives.first_order import FirstOrder
    >>> from refsvm.analysis.derivatives.optimum import Optimum
    >>> X, y = np.array([[0.0], [1.0], [2.0], [4.0]]), np.array([-1, 1, -1, 1])
    >>> leaving = FirstOrder(Optimum(solve(DualProblem.classification(X, y, kernel=RBF(0.5), C=3.0))))
    >>> by_example, intercept = leaving.change(np.array([3]))
    >>> by_example.round(3), round(intercept, 3)
    (array([ 0.679,  0.   ,  0.93 , -1.609]), -0.804)
    """

    def __init__(self, optimum: Optimum) -> None:
        self.optimum, size = optimum, optimum.size
        self._place = np.full(len(optimum.alpha), -1)
        self._place[optimum.places[:size]] = np.arange(size)
        self._values = optimum.values(slice(0, size))
        self._inverse = optimum.inverse if size else np.zeros((1, 1))

    def change(self, variables: np.ndarray) -> tuple[np.ndarray, float]:
        """Return the change of each example's α, shape (m,), and of b; NaN if no variable remains free.

        Parameters
        ----------
        variables : ndarray of int64
            The variables of the examples to leave out.
        """
        optimum, P = self.optimum, self._inverse
        alpha, n = optimum.alpha, optimum.matrix.n
        fixed, among = variables[self._place[variables] < 0], self._place[variables]
        members = among[among >= 0]
        if optimum.size - len(members) < 1:
            return np.full(n, np.nan), np.nan
        if not alpha[variables].any():
            return np.zeros(n), 0.0
        columns = optimum.column_of[optimum.example[fixed]]
        push = self._values[:, columns] @ alpha[fixed]
        x = P @ np.append(alpha[fixed].sum(), push)
        if len(members):
            there = members + 1
            target = -alpha[optimum.places[members]]
            x = x + P[:, there] @ np.linalg.solve(P[np.ix_(there, there)], target - x[there])
        changed = np.concatenate([fixed, optimum.places[: optimum.size]])
        change = np.bincount(optimum.example[changed], np.append(-alpha[fixed], x[1:]), n)
        return change, float(x[0])
