"""Defines Dataset, the result of every loader and generator; maps two labels to ±1."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import Any, Final

import numpy as np

from refsvm.core._checks import is_sparse, pandas_for
from refsvm.services.labels import classes_of
from refsvm.services.summary import Card, Shown, Table, cut

BUNDLE: Final = files("refsvm.datasets") / "bundle"

PUBLISHED: Final[dict[str, tuple[float, float]]] = {
    name: (C, gamma)
    for name, (C, gamma) in tomllib.loads((BUNDLE / "published.toml").read_text(encoding="utf-8")).items()
}
"""C and γ of k(x, x') = exp(−γ‖x − x'‖²): Glasmachers (2008), "The Planning-ahead SMO Algorithm", Table 1."""


@dataclass(frozen=True, eq=False, repr=False)
class Dataset(Shown):
    """A data set with labels and source.

    Parameters
    ----------
    name : str
        Short name.
    X : ndarray of float64 or scipy.sparse.csr_matrix, shape (n, d)
        Examples, one in each row.
    y : ndarray, shape (n,), or None
        Labels; None for a CSV file without labels. In bundled and generated sets, labels are float64 ±1; labels from
        your files stay unchanged (see `binary_labels`).
    description : str
        Meaning of an example and of the class +1.
    source : str
        Creators, year and web address of the original data.
    licence : str
        Licence of the data; empty for your own files.
    C, gamma : float or None
        Penalty, and γ of k(x, x') = exp(−γ‖x − x'‖²), if they were published for this set.
    columns : tuple of str or None
        Names of the features, if known, for instance from a header.
    places : ndarray of int, shape (n,), or None
        For a kernel matrix in LIBSVM's format, the number of each row, from 1; 0 if the number is unknown.

    Examples
    --------
    >>> import numpy as np
    >>> Dataset("two points", X=np.array([[0.0], [1.0]]), y=np.array([-1.0, 1.0]))
    Dataset('two points', n=2, d=1)
    """

    name: str
    X: Any
    y: Any
    description: str = ""
    source: str = ""
    licence: str = ""
    C: float | None = None
    gamma: float | None = None
    columns: tuple[str, ...] | None = None
    places: Any = None

    @property
    def n(self) -> int:
        """Number of examples."""
        return int(self.X.shape[0])

    @property
    def d(self) -> int:
        """Number of features."""
        return int(self.X.shape[1])

    def to_frame(self) -> Any:
        """Return a pandas DataFrame with a column for each feature and a last column "label".

        Features without names are called x0, x1, …. If a feature is called "label", the column of labels is called
        "label_of_example". Sparse examples become sparse columns.

        Examples
        --------
        >>> from refsvm.datasets import load
        >>> frame = load("heart").to_frame()
        >>> frame.shape, [*frame.columns[[0, 1, 13]]]
        ((270, 14), ['age', 'sex', 'label'])
        """
        pd = pandas_for("to_frame()")
        names = [f"x{k}" for k in range(self.d)] if self.columns is None else list(self.columns)
        make = pd.DataFrame.sparse.from_spmatrix if is_sparse(self.X) else pd.DataFrame
        frame = make(self.X, columns=names)
        if self.y is None:
            return frame
        labels = "label_of_example" if "label" in names else "label"
        return pd.concat([frame, pd.Series(self.y, name=labels, index=frame.index)], axis=1)

    def _card(self) -> Card:
        pairs = {"examples": f"{self.n:,}", "features": f"{self.d:,}"}
        if self.C is not None and self.gamma is not None:
            pairs |= {"published": f"C={self.C:g}, gamma={self.gamma:g}"}
        tables: tuple[Table, ...] = ()
        if self.y is not None and len(values := np.unique(self.y)) <= 10:
            rows = [
                (f"{value:g}" if isinstance(value, float) else str(value), f"{(self.y == value).sum():,}")
                for value in values.tolist()
            ]
            tables = (Table(("label", "examples"), rows),)
        line = f"{cut(self.name)!r}, n={self.n}, d={self.d}"
        return Card(line, sentence=self.description or self.name, pairs=pairs, tables=tables)


def training_matrix(data: Dataset) -> Dataset:
    """Sort the rows of a kernel matrix, read from a LIBSVM file, into the order of its columns.

    Raises
    ------
    ValueError
        If the matrix does not have one row for each column; a model can predict from it, but cannot be trained on it.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm.datasets.dataset import Dataset, training_matrix
    >>> K, y = np.array([[0.5, 1.0], [1.0, 0.5]]), np.array([-1.0, 1.0])
    >>> training_matrix(Dataset("two rows", K, y, places=np.array([2, 1]))).X
    array([[1. , 0.5],
           [0.5, 1. ]])
    """
    order = data.places.argsort()
    if data.n != data.d or (data.places[order] != np.arange(1, data.d + 1)).any():
        raise ValueError(
            f"{data.source or data.name} holds {data.n} rows of a kernel matrix with {data.d} columns; to train on "
            "them, give one row for each column, numbered 0:1, 0:2 and so on."
        )
    return replace(data, X=data.X[order], y=data.y[order], places=data.places[order])


def binary_labels(y: Any) -> np.ndarray:
    """Map two label values to ±1: the larger value becomes +1.

    Parameters
    ----------
    y : array-like, shape (n,)
        Labels of exactly two values, all numbers or all strings; strings are ordered alphabetically.

    Returns
    -------
    ndarray of float64, shape (n,)
        −1 for the smaller value, +1 for the larger.

    Raises
    ------
    ValueError
        If y is not one-dimensional, mixes numbers with other types, contains NaN, or does not have exactly two
        values.

    Examples
    --------
    >>> binary_labels(["benign", "malignant", "benign"])
    array([-1.,  1., -1.])
    """
    labels = np.asarray(y)
    if labels.ndim != 1:
        raise ValueError(f"y has shape {labels.shape}; expected one label per example, shape (n,).")
    values, _ = classes_of(labels)
    if values.dtype.kind == "f" and np.isnan(values).any():
        raise ValueError("y contains NaN; drop the examples without a label.")
    if len(values) != 2:
        shown = ", ".join(repr(value) for value in values[:5].tolist()) + (", …" if len(values) > 5 else "")
        count = f"{len(values)} distinct value{'' if len(values) == 1 else 's'} ({shown})"
        raise ValueError(f"y has {count}, but two are needed; drop or merge classes until two remain.")
    # map the larger value to +1, as in scikit-learn: 1 among {0, 1}, and "yes" among {"no", "yes"}
    return np.where(labels == values[1], 1.0, -1.0)
