"""Model: what prediction needs of a trained C-SVM, detached from how it was trained and stored.

For classes p < q the decision value is h_pq(x) = Σ c k(xᵢ, x) − rho_pq over the support vectors of p and q,
where c is coefficient q − 1 for those of p and coefficient p for those of q; h_pq > 0 is a vote for p.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, Final

import numpy as np

from refsvm._checks import examples, is_sparse
from refsvm.kernels import Kernel, Precomputed

__all__ = ["Model"]

_BLOCK: Final = 2**22
"""Kernel values computed at a time: 32 MiB."""


@dataclass(frozen=True, eq=False)
class Model:
    """What prediction needs of a trained C-SVM, as a LIBSVM model file holds it.

    Parameters
    ----------
    kernel : Kernel or Precomputed
    support_vectors : csr_matrix of float64, shape (m, d)
        Grouped by class, in the order of `classes`. For `Precomputed` a single column: the number of each
        support vector in the training set, from 1.
    coefficients : ndarray of float64, shape (k − 1, m)
        LIBSVM's sv_coef.
    rho : ndarray of float64, shape (k(k − 1)/2,)
        Thresholds of the pairs (0, 1), (0, 2), …, (k − 2, k − 1).
    classes : ndarray, shape (k,)
        Labels: integers, or names if the model was trained on names.
    n_support : ndarray of int64, shape (k,)
        Support vectors of each class.
    """

    kernel: Kernel | Precomputed
    support_vectors: Any
    coefficients: np.ndarray
    rho: np.ndarray
    classes: np.ndarray
    n_support: np.ndarray

    @cached_property
    def _dense_support_vectors(self) -> np.ndarray:
        return np.asarray(self.support_vectors.toarray())

    @cached_property
    def _weights(self) -> np.ndarray:
        """One row of weights for each pair of classes, shape (k(k − 1)/2, m)."""
        ends = np.cumsum(self.n_support)
        groups = [slice(end - size, end) for end, size in zip(ends, self.n_support, strict=True)]
        weights = np.zeros((len(self.rho), self.coefficients.shape[1]))
        for row, (p, q) in zip(weights, combinations(range(len(self.classes)), 2), strict=True):
            row[groups[p]] = self.coefficients[q - 1, groups[p]]
            row[groups[q]] = self.coefficients[p, groups[q]]
        return weights

    def decision_function(self, X: Any) -> np.ndarray:
        """Decision values h_pq(x) = Σ c k(xᵢ, x) − rho_pq, in scikit-learn's one-vs-one convention.

        Parameters
        ----------
        X : array-like or CSR of shape (m, d)
            As many columns as the training data had. A CSR matrix may have fewer or more: absent features are
            zero. With a precomputed kernel, the kernel values with all training examples.

        Returns
        -------
        ndarray of float64
            Two classes: shape (m,), positive for ``classes[1]``. More: shape (m, k(k − 1)/2), positive for
            the first class of the pair.

        Raises
        ------
        ValueError
            If X is no finite table or its width does not fit.
        """
        values = self._pairwise(X)
        # LIBSVM's sign favours the first class; scikit-learn turns it round for two classes
        return -values[:, 0] if len(self.classes) == 2 else values

    def predict(self, X: Any) -> np.ndarray:
        """Class with the most votes of the pairs; the first of `classes` on a tie, as in LIBSVM.

        Parameters
        ----------
        X : array-like or CSR of shape (m, d)
            See `decision_function`.

        Returns
        -------
        ndarray of shape (m,)
            Entries of `classes`.
        """
        first_wins = self._pairwise(X) > 0
        votes = np.zeros((len(first_wins), len(self.classes)), dtype=np.int64)
        for wins, (p, q) in zip(first_wins.T, combinations(range(len(self.classes)), 2), strict=True):
            votes[:, p] += wins
            votes[:, q] += ~wins
        return np.asarray(self.classes[votes.argmax(axis=1)])

    def _pairwise(self, X: Any) -> np.ndarray:
        """LIBSVM's decision values, shape (m, k(k − 1)/2), in blocks of rows of X."""
        X = examples(X)
        weights, n = self._weights, X.shape[0]
        values = np.empty((n, len(self.rho)))
        height = max(1, _BLOCK // max(1, weights.shape[1]))
        for start in range(0, n, height):
            block = slice(start, start + height)
            # h_pq(x) = Σ c k(xᵢ, x) − rho_pq
            values[block] = self._kernel_values(X[block]) @ weights.T - self.rho
        return values

    def _kernel_values(self, X: Any) -> np.ndarray:
        """k(x, xᵢ) for every row x and support vector xᵢ, shape (m, n_sv)."""
        d = self.support_vectors.shape[1]
        if isinstance(self.kernel, Precomputed):
            serial = self.support_vectors.toarray().ravel().astype(np.int64)
            if X.shape[1] < serial.max():
                raise ValueError(
                    f"X has {X.shape[1]} columns, but the model's precomputed kernel needs at least "
                    f"{serial.max()}; give the kernel matrix between X and the training set."
                )
            columns = X[:, serial - 1]
            return np.asarray(columns.toarray() if is_sparse(columns) else columns)
        if is_sparse(X):
            width = max(d, X.shape[1])
            return self.kernel(_widened(X, width), _widened(self.support_vectors, width))
        if X.shape[1] != d:
            raise ValueError(
                f"X has {X.shape[1]} features, but the model was trained on {d}; give the columns of the "
                "training data, or a CSR matrix, whose absent features count as zero."
            )
        return self.kernel(X, self._dense_support_vectors)


def _widened(X: Any, width: int) -> Any:
    """Add columns of zeros to a CSR matrix, up to `width`."""
    from scipy.sparse import csr_matrix

    return csr_matrix((X.data, X.indices, X.indptr), shape=(X.shape[0], width))
