"""Model and FunctionModel: the part of a trained SVM that predicts, without training data."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, Final

import numpy as np

from refsvm.analysis.multiclass.prediction import decision_values, pair_sums
from refsvm.analysis.scheme import OneVsOne
from refsvm.core._checks import examples, is_sparse
from refsvm.core.kernels import Kernel, Linear, Precomputed
from refsvm.core.kernels.origin import origin_of, weights_at
from refsvm.core.kernels.sparse import TABLE_BYTES
from refsvm.core.shown import Stamped

UNBALANCED: Final = 1e-9
"""|Σα| below this, relative to the largest |α|, counts as 0; it is larger for one-class models only."""


@dataclass(frozen=True, eq=False)
class Scaling:
    """Shift and scale of a model's features: (x − mean)/scale.

    Parameters
    ----------
    mean, scale : ndarrays of shape (d,), float64
        Means and scales; for sparse data all means are 0.
    columns : ndarray of int, optional
        Indices of the scaled features, ascending; other features stay unchanged. By default all features.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm.analysis.multiclass.model import Scaling
    >>> Scaling(np.array([1.0, 0.0]), np.array([2.0, 4.0]))(np.array([[3.0, 4.0]]))
    array([[1., 1.]])
    """

    mean: np.ndarray
    scale: np.ndarray
    columns: np.ndarray | None = None

    @classmethod
    def of(cls, X: Any) -> Scaling:
        """Return the scaling that gives the features variance 1, and mean 0 if X is dense.

        In a CSR matrix, only features with nonzero entries are scaled.
        """
        from sklearn.preprocessing import StandardScaler

        if not is_sparse(X):
            scaler = StandardScaler().fit(X)
            return cls(scaler.mean_, scaler.scale_)
        columns, places = np.unique(X.indices, return_inverse=True)
        occurring = type(X)((X.data, places, X.indptr), shape=(X.shape[0], len(columns)))
        scale = StandardScaler(with_mean=False).fit(occurring).scale_
        return cls(np.zeros(len(columns)), scale, None if len(columns) == X.shape[1] else columns)

    def lists(self) -> list[list[float]]:
        """Return the lists of means and scales, preceded by a list of the scaled features unless all are scaled."""
        some = [] if self.columns is None else [(self.columns + 1).tolist()]
        return [*some, self.mean.tolist(), self.scale.tolist()]

    def __call__(self, X: Any) -> Any:
        """Return the shifted and scaled data; X is dense, or a CSR matrix, which may lack the last features."""
        columns = np.arange(len(self.scale)) if self.columns is None else self.columns
        if is_sparse(X):
            if self.mean.any():
                return self(_widened(X, max(X.shape[1], len(self.scale))).toarray())
            places = np.searchsorted(columns, X.indices).clip(max=len(columns) - 1)
            scale = np.where(columns[places] == X.indices, self.scale[places], 1.0)
            return type(X)((X.data / scale, X.indices, X.indptr), shape=X.shape)
        if X.shape[1] <= columns.max() or (self.columns is None and X.shape[1] != len(columns)):
            reach = f"{len(columns)} were" if self.columns is None else f"feature {columns.max() + 1} was"
            raise ValueError(
                f"X has {X.shape[1]} features, but {reach} scaled; give the features of the training data."
            )
        scaled = X.copy()
        scaled[:, columns] = (X[:, columns] - self.mean) / self.scale
        return scaled


@dataclass(frozen=True, eq=False)
class StoredModel(Stamped):
    """Base class of models, which gives data and support vectors equally many columns. `Model` describes the fields."""

    kernel: Kernel | Precomputed
    support_vectors: Any
    dual_coef: np.ndarray
    intercept: np.ndarray
    columns: tuple[str, ...] | None = field(default=None, kw_only=True)
    scaling: Scaling | None = field(default=None, kw_only=True)

    def _values(self, X: Any, n_support: np.ndarray | None = None) -> np.ndarray:
        """Return Σ αᵢ k(x, xᵢ) + b of each decision function for all rows of X; only classifiers pass `n_support`."""
        X = examples(self._by_name(X))
        X, vectors = self._aligned(X if self.scaling is None else self.scaling(X))
        sums = partial(pair_sums, self.dual_coef, n_support)
        origin, intercept = self._centred(n_support)
        if origin is not None:
            origin = np.pad(origin, (0, X.shape[1] - len(origin)))
        return decision_values(self.kernel, X, vectors, sums, origin) + intercept

    def _centred(self, n_support: np.ndarray | None) -> tuple[np.ndarray | None, np.ndarray]:
        """Return the point to subtract from the data of a linear kernel (or None), and b for the shifted data."""
        vectors = self.support_vectors
        origin = origin_of(vectors) if isinstance(self.kernel, Linear) and vectors.shape[0] else None
        if origin is None:
            return None, self.intercept
        sums = pair_sums(self.dual_coef, n_support, np.ones((vectors.shape[0], 1)))
        if np.abs(sums).max() > UNBALANCED * np.abs(self.dual_coef).max():
            return None, self.intercept
        return origin, self.intercept + weights_at(
            origin, vectors, partial(pair_sums, self.dual_coef, n_support)
        )

    def _by_name(self, X: Any) -> Any:
        """Return the columns of the table X in the order of the model's feature names; without names, return X."""
        columns = list(getattr(X, "columns", ()))
        names = [str(name) for name in columns]
        if (
            not columns
            or self.columns is None
            or not (set(self.columns) <= set(names) or all(isinstance(name, str) for name in columns))
        ):  # do not look for names among columns that pandas has numbered
            return X
        counts = Counter(names)
        for name in self.columns:
            if counts[name] != 1:
                count = "two columns" if name in names else "no column"
                raise ValueError(
                    f"X has {count} {name!r}; its columns are {', '.join(names[:10])}, but the model was trained on "
                    f"{', '.join(self.columns[:10])}; rename them."
                )
        places = dict(zip(names, columns, strict=True))
        return X[[places[name] for name in self.columns]]

    def _aligned(self, X: Any) -> tuple[Any, Any]:
        """Return X and the vectors with equally many columns; for a dense X, make the vectors dense if they are few."""
        m, d = self.support_vectors.shape
        if isinstance(self.kernel, Precomputed):
            columns = self._dense.ravel().astype(np.int64) - 1
            if X.shape[1] <= columns.max(initial=-1):
                raise ValueError(
                    f"X has {X.shape[1]} columns, but the model's precomputed kernel needs at least "
                    f"{columns.max() + 1}; give the kernel matrix between X and the training set."
                )
            return X.toarray() if is_sparse(X) else X, columns
        if is_sparse(X) or d == 0:  # if d = 0, all support vectors are zero, so X may have any width
            width = max(d, X.shape[1])
            return _widened(X, width) if is_sparse(X) else X, _widened(self.support_vectors, width)
        if X.shape[1] != d:
            raise ValueError(
                f"X has {X.shape[1]} features, but the model was trained on {d}; give the columns of the "
                "training data, or a CSR matrix, whose absent features count as zero."
            )
        return X, self._dense if 8 * m * d <= TABLE_BYTES else self.support_vectors

    @cached_property
    def _dense(self) -> np.ndarray:
        return np.asarray(self.support_vectors.toarray())


@dataclass(frozen=True, eq=False)
class Model(StoredModel):
    """A classifier that only predicts; its attributes have the layout and the signs of a fitted `SVC`.

    Parameters
    ----------
    kernel : Kernel or Precomputed
        The kernel.
    support_vectors : csr_matrix of float64, shape (m, d)
        Support vectors, grouped by class in the order of `classes`. For `Precomputed`, the only column contains the
        index of each support vector in the training set, counted from 1.
    dual_coef : ndarray of float64, shape (k − 1, m)
        Coefficients in the layout that `refsvm.analysis.multiclass.one_vs_one` describes.
    intercept : ndarray of float64, shape (k(k − 1)/2,)
        b of the pairs (0, 1), (0, 2), …, (k − 2, k − 1).
    classes : ndarray of shape (k,)
        Labels.
    n_support : ndarray of int64, shape (k,)
        Number of support vectors of each class.
    columns : tuple of str or None
        Names of the features, if known.
    scaling : Scaling or None
        Scaling that was applied to the features before training and is applied before prediction.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_matrix
    >>> from refsvm import Linear
    >>> from refsvm.analysis.multiclass.model import Model
    >>> x = csr_matrix([[0.0], [2.0]])
    >>> model = Model(Linear(), x, np.array([[-0.5, 0.5]]), np.array([-1.0]), np.array([-1, 1]), np.array([1, 1]))
    >>> model.decision_function([[0.5], [3.0]]), model.predict([[0.5], [3.0]])
    (array([-0.5,  2. ]), array([-1,  1]))
    """

    classes: np.ndarray
    n_support: np.ndarray

    def decision_function(self, X: Any) -> np.ndarray:
        """Return h(x) = Σ αᵢ k(x, xᵢ) + b for each pair of classes.

        Parameters
        ----------
        X : array-like or CSR of shape (t, d)
            Examples with as many columns as the training data. A CSR matrix may have fewer or more columns: missing
            features are zero. With a precomputed kernel, X contains the kernel values of each example with all training
            examples.

        Returns
        -------
        ndarray of float64
            With two classes the shape is (t,), and h > 0 means ``classes[1]``. With k > 2 classes the shape is (t, k(k
            − 1)/2), and h > 0 means the first class of the pair.

        Raises
        ------
        ValueError
            If X is not a table of finite numbers, or its number of columns does not fit the model.
        """
        values = self._values(X, self.n_support)
        return values[:, 0] if len(self.classes) == 2 else values

    def predict(self, X: Any) -> np.ndarray:
        """Return the class for which most pairs vote; in a tie, the class that comes first in `classes`, as in LIBSVM.

        Parameters
        ----------
        X : array-like or CSR of shape (t, d)
            See `decision_function`.

        Returns
        -------
        ndarray of shape (t,)
            Entries of `classes`.
        """
        return np.asarray(self.classes[OneVsOne(len(self.classes)).votes(self._values(X, self.n_support))])


@dataclass(frozen=True, eq=False)
class FunctionModel(StoredModel):
    """A single decision function that only predicts, with the attributes of a fitted `SVR` or `OneClassSVM`.

    Parameters
    ----------
    kernel, support_vectors
        As in `Model`.
    dual_coef, intercept : ndarrays of float64, shapes (1, m) and (1,)
        β of the support vectors, and b.
    task : {"regression", "novelty"}
        For "regression", `predict` returns h(x). For "novelty", `predict` returns +1 if h(x) ≥ 0, and −1 otherwise.
    columns, scaling
        As in `Model`.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_matrix
    >>> from refsvm import Linear
    >>> from refsvm.analysis.multiclass.model import FunctionModel
    >>> x = csr_matrix([[0.0], [2.0]])
    >>> FunctionModel(Linear(), x, np.array([[-0.5, 0.5]]), np.array([-1.0]), "regression").predict([[0.5], [3.0]])
    array([-0.5,  2. ])
    """

    task: str

    def decision_function(self, X: Any) -> np.ndarray:
        """Return h(x) = Σ βᵢ k(x, xᵢ) + b for each row of X, shape (t,); X as in `Model.decision_function`."""
        return self._values(X)[:, 0]

    def predict(self, X: Any) -> np.ndarray:
        """Return h(x) for a regression, +1 or −1 for novelty detection, shape (t,)."""
        values = self.decision_function(X)
        return values if self.task == "regression" else np.where(values >= 0.0, 1, -1)


def _widened(X: Any, width: int) -> Any:
    """Return a CSR matrix with columns of zeros appended, so that it has `width` columns."""
    from scipy.sparse import csr_matrix

    return csr_matrix((X.data, X.indices, X.indptr), shape=(X.shape[0], width))
