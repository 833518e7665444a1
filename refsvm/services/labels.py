"""Finds the classes among labels of any kind, and the class number of each example."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from refsvm.core._checks import (
    frames_within,
    refuse_missing,
    refuse_nan_labels,
    refuse_targets,
)
from refsvm.core.problem import DualProblem

FEW_EXAMPLES: Final = 20
"""Up to this number of examples, any number of classes is plausible."""


def refuse_contained(given: Mapping[str, Any]) -> None:
    """Raise an error if a value in the dict `given` is not None: X is a problem that already contains this argument."""
    for name, value in given.items():
        if value is not None:
            raise ValueError(f"X is a DualProblem, which already contains {name}; omit {name}.")


def labelled(problem: DualProblem, y: Any, kernel: Any, gram: Any) -> DualProblem:
    """Return the classification problem passed as X; refuse another task, or an additional y, kernel or gram."""
    refuse_contained({"y": y, "kernel": kernel, "gram": gram})
    if not problem.has_labels:
        raise ValueError(
            "X is a DualProblem, but not of classification: v must be ±1, z must be 0, and each box must lie between "
            "0 and C on the side of v; make the problem with DualProblem.classification."
        )
    return problem


def numbered(y: Any, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the sorted labels, and the class number of each example.

    Raises
    ------
    ValueError
        If y does not contain n labels, or all labels are equal.
    """
    labels = np.asarray(y)
    if labels.shape != (n,):
        refuse_missing(y, n, "labels")
        raise ValueError(f"y has shape {labels.shape}; expected {n} labels, one for each row of X.")
    is_number = labels.dtype.kind in "iuf"
    if not (is_number and np.isfinite(labels).all() and (labels == np.rint(labels)).all()):
        refuse_unusable(labels)
    classes, codes = classes_of(labels)
    if len(classes) < 2:
        raise ValueError(
            f"y holds a single class, {classes.tolist()[0]!r}; give labels of at least two classes."
        )
    warn_of_many_classes(classes, n)
    return classes, codes


def warn_of_many_classes(classes: np.ndarray, n: int) -> None:
    """Warn if y has so many different labels that it may contain targets; scikit-learn warns at the same number."""
    k = len(classes)
    if n > FEW_EXAMPLES and k > round(0.5 * n):
        warnings.warn(
            f"y holds {k:,} different labels in {n:,} examples, which may be the targets of a regression. As classes "
            f"they need {k * (k - 1) // 2:,} models. For a regression use SVR, or give epsilon= to leave_one_out "
            "or cross_validate.",
            stacklevel=frames_within() + 1,
        )


def refuse_unusable(labels: np.ndarray) -> None:
    """Raise an error if labels are missing or infinite, or look like targets of a regression."""
    refuse_missing_labels(labels)
    refuse_nan_labels(labels)
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise ValueError("y contains infinity; remove those examples first.")
    refuse_targets(labels)


def signed(y: Any, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return two labels of any kind, sorted, and −1 or +1 for each example; the larger label becomes +1.

    Parameters
    ----------
    y : array-like of shape (n,)
        Numbers, texts or truth values.
    n : int
        Number of examples.

    Returns
    -------
    classes : ndarray of shape (2,)
    signs : ndarray of shape (n,), float64

    Raises
    ------
    ValueError
        If there are not n labels, or y does not contain exactly two different labels.

    Examples
    --------
    >>> from refsvm.services.labels import signed
    >>> signed(["b", "a", "b"], 3)
    (array(['a', 'b'], dtype='<U1'), array([ 1., -1.,  1.]))
    """
    classes, codes = numbered(y, n)
    if len(classes) > 2:
        shown = ", ".join(map(repr, classes[:4].tolist())) + (", …" if len(classes) > 4 else "")
        raise ValueError(
            f"y holds the labels {shown}; give two classes, or call the function for each pair of classes."
        )
    return classes, 2.0 * codes - 1.0


def known_codes(y: Any, classes: np.ndarray, t: int) -> np.ndarray:
    """Return the class numbers of t labels; raise an error for labels that are not among the classes."""
    labels = np.asarray(y)
    if labels.shape != (t,):
        raise ValueError(f"y has shape {labels.shape}; expected {t} labels, one for each row of X.")
    number = {name: code for code, name in enumerate(classes.tolist())}
    unknown = [label for label in labels.tolist() if label not in number]
    if unknown:
        raise ValueError(
            f"y holds {unknown[0]!r}, which is not a class of the model; its classes are {[*number][:10]}."
        )
    return np.array([number[label] for label in labels.tolist()], dtype=np.int64)


def refuse_missing_labels(y: Any, name: str = "y") -> None:
    """Raise an error for missing labels: None, NaN, or the NA or NaT of pandas."""
    labels = y if getattr(y, "ndim", 1) == 1 and np.asarray(y).dtype.kind == "O" else ()
    for place, label in enumerate(labels):
        is_nan = isinstance(label, float) and math.isnan(label)
        # compare the name of the type, so that pandas need not be imported to recognise its missing values
        if is_nan or type(label).__name__ in ("NoneType", "NAType", "NaTType"):
            raise ValueError(
                f"{name}[{place}] is {label!r}, a missing value; complete that example or remove it."
            )


def classes_of(y: np.ndarray, name: str = "y") -> tuple[np.ndarray, np.ndarray]:
    """Return the sorted labels and each example's class number; raise an error for missing or incomparable labels."""
    if y.dtype.kind == "O":
        refuse_missing_labels(y, name)
    try:
        classes, codes = np.unique(y, return_inverse=True)
    except TypeError:
        kind = "labels" if name == "y" else "names"
        raise ValueError(
            f"{name} mixes {kind} of different types; convert all to numbers or all to strings."
        ) from None
    return classes, np.asarray(codes, dtype=np.int64)
