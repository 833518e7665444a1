"""Repeated: the kernel matrix of variables that share examples.

ε-insensitive regression has two variables for each example, and both have the kernel values of that example. The
matrix of the 2n variables is four copies of one of n examples, which alone is ever evaluated and stored.
"""

from __future__ import annotations

import numpy as np

from refsvm.kernels.gram import Gram

__all__ = ["Repeated"]


class Repeated:
    """The matrix whose entry (s, t) is that of the examples behind the variables s and t.

    Parameters
    ----------
    gram : Gram
        Of the examples.
    indices : ndarray of shape (m,), int64
        The example behind each variable.

    Attributes
    ----------
    n : int
        Number of variables m.
    dense : None
        Nobody holds this matrix.
    at_once : bool
        False: the matrix of the examples is asked for instead.
    prefers_batches, rounding : bool and float
        As of `gram`.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import Linear
    >>> from refsvm.kernels import Gram
    >>> from refsvm.kernels.repeated import Repeated
    >>> Repeated(Gram(Linear(), np.array([[1.0], [2.0]])), np.array([0, 1, 0, 1])).block(np.array([3]))
    array([[2., 4., 2., 4.]])
    """

    dense: np.ndarray | None = None
    at_once = False

    def __init__(self, gram: Gram, indices: np.ndarray) -> None:
        self.gram, self.indices = gram, indices
        self.n, self.prefers_batches, self.rounding = len(indices), gram.prefers_batches, gram.rounding

    def block(
        self, rows: np.ndarray, columns: np.ndarray | None = None, out: np.ndarray | None = None
    ) -> np.ndarray:
        """K[rows][:, columns]; each example behind them is evaluated once."""
        wanted, place = np.unique(self.indices[rows], return_inverse=True)
        across, spread = np.unique(
            self.indices if columns is None else self.indices[columns], return_inverse=True
        )
        whole = len(across) == self.gram.n
        values = self.gram.block(wanted, None if whole else across)[place][:, spread]
        if out is None:
            return values
        out[:] = values
        return out

    def diagonal(self) -> np.ndarray:
        """kᵢᵢ of every variable, shape (n,)."""
        return self.gram.diagonal()[self.indices]

    def restrict(self, indices: np.ndarray) -> Repeated:
        """Return the matrix of some of the variables."""
        examples, place = np.unique(self.indices[indices], return_inverse=True)
        return Repeated(self.gram.restrict(examples), place)
