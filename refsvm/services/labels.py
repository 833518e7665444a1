"""Labels of any kind: which classes there are, and the number of each example's class among them."""

from __future__ import annotations

import math
import warnings
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
"""Examples up to which any number of classes may be meant."""


def labelled(problem: DualProblem, y: Any, kernel: Any, gram: Any, C: Any = 1.0) -> DualProblem:
    """Return a problem that was given in place of X; refuse one that is none of classification or has company."""
    for name, value in {"y": y, "kernel": kernel, "gram": gram, "C": None if np.all(C == 1.0) else C}.items():
        if value is not None:
            raise ValueError(f"X is a DualProblem, which holds {name} already; leave {name} out.")
    if not problem.has_labels:
        raise ValueError(
            "X is a DualProblem, but none of classification: its v must be ±1, its z 0, and each box between 0 and "
            "C on the side of v, as DualProblem.classification makes them."
        )
    return problem


def numbered(y: Any, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the labels, sorted, and the number of each example's label among them.

    Raises
    ------
    ValueError
        If there are not n labels, or they are all the same.
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
        raise ValueError(f"y holds a single class, {classes.tolist()[0]!r}; two classes are needed to train.")
    warn_of_many_classes(classes, n)
    return classes, codes


def warn_of_many_classes(classes: np.ndarray, n: int) -> None:
    """Warn where most examples have a label of their own, as targets do; scikit-learn warns from as many on."""
    k = len(classes)
    if n > FEW_EXAMPLES and k > round(0.5 * n):
        warnings.warn(
            f"y holds {k:,} different labels in {n:,} examples, which may be the targets of a regression. As classes "
            f"they take {k * (k - 1) // 2:,} machines. For a regression use SVR, or give epsilon= to leave_one_out or "
            "cross_validate.",
            stacklevel=frames_within() + 1,
        )


def refuse_unusable(labels: np.ndarray) -> None:
    """Refuse labels that are missing or infinite, and the targets of a regression."""
    refuse_missing_labels(labels)
    refuse_nan_labels(labels)
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise ValueError("y contains infinity; drop those examples first.")
    refuse_targets(labels)


def signed(y: Any, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return two labels of any kind, sorted, and −1 or +1 for each example: the larger label is the positive one.

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
        As `numbered`, and if there are more than two labels.

    Examples
    --------
    >>> from refsvm.services.labels import signed
    >>> signed(["b", "a", "b"], 3)
    (array(['a', 'b'], dtype='<U1'), array([ 1., -1.,  1.]))
    """
    classes, codes = numbered(y, n)
    if len(classes) > 2:
        shown = ", ".join(map(repr, classes[:4].tolist())) + (", …" if len(classes) > 4 else "")
        raise ValueError(f"y holds the labels {shown}; give two classes, or do it for each pair of them.")
    return classes, 2.0 * codes - 1.0


def known_codes(y: Any, classes: np.ndarray, t: int) -> np.ndarray:
    """Return the numbers of t labels among the classes; refuse others."""
    labels = np.asarray(y)
    if labels.shape != (t,):
        raise ValueError(f"y has shape {labels.shape}; expected {t} labels, one for each row of X.")
    number = {name: code for code, name in enumerate(classes.tolist())}
    unknown = [label for label in labels.tolist() if label not in number]
    if unknown:
        raise ValueError(
            f"y holds {unknown[0]!r}, which is none of the classes that were trained: {[*number][:10]}."
        )
    return np.array([number[label] for label in labels.tolist()], dtype=np.int64)


def refuse_missing_labels(y: Any, name: str = "y") -> None:
    """Refuse missing labels: pandas reads NULL as None, NaN, NA or NaT, by the type of the column."""
    for place, label in enumerate(
        y if getattr(y, "ndim", 1) == 1 and np.asarray(y).dtype.kind == "O" else ()
    ):
        is_nan = isinstance(label, float) and math.isnan(label)
        # by the name: pandas is not imported to recognise what it has made
        if is_nan or type(label).__name__ in ("NoneType", "NAType", "NaTType"):
            raise ValueError(
                f"{name}[{place}] is {label!r}, a missing value; complete that example or drop it."
            )


def classes_of(y: np.ndarray, name: str = "y") -> tuple[np.ndarray, np.ndarray]:
    """The different labels, sorted, and the number of each example's label; none is missing, all can be compared."""
    if y.dtype.kind == "O":
        refuse_missing_labels(y, name)
    try:
        classes, codes = np.unique(y, return_inverse=True)
    except TypeError:
        kind = "labels" if name == "y" else "names"
        raise ValueError(
            f"{name} mixes {kind} of different types; make them all numbers or all strings."
        ) from None
    return classes, np.asarray(codes, dtype=np.int64)
