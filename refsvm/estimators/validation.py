"""Makes scikit-learn's checks before an estimator trains or predicts, in microseconds for common valid input.

scikit-learn's checks take about 0.4 ms, longer than a small problem takes to solve. This module recognises default
parameters, plain arrays of float64 and labels with two integer values in microseconds. Other input is passed to
scikit-learn, which converts the input or raises an error.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, validate_data

from refsvm.core._checks import number
from refsvm.services.labels import classes_of, refuse_missing_labels, warn_of_many_classes

NO_LABELS: Final = "no_validation"
"""scikit-learn's marker for methods without y."""


def checked_data(estimator: BaseEstimator, X: Any, y: Any = NO_LABELS, *, reset: bool, **checks: Any) -> Any:
    """Call `sklearn.utils.validation.validate_data`, unless it would return X and y unchanged.

    Parameters
    ----------
    estimator : BaseEstimator
        The estimator; this call sets (if `reset`) or checks its ``n_features_in_`` and ``feature_names_in_``.
    X, y : array-like or sparse, and array-like
        As in ``fit(X, y)``; omit y as in ``predict(X)``.
    reset : bool
        Whether to store the number and names of the features of X in the estimator.
    **checks
        Arguments for scikit-learn's check. The caller must choose arguments with which the check returns a C-ordered
        table of float64 unchanged.

    Returns
    -------
    X, or the pair of X and y

    Raises
    ------
    ValueError, TypeError
        The errors that scikit-learn raises.
    """
    # let scikit-learn check a table if the model has column names: it compares names, and warns if they are missing
    if not hasattr(estimator, "feature_names_in_") and are_plain(X, y):
        if reset:
            estimator.n_features_in_ = X.shape[1]
        if X.shape[1] == getattr(estimator, "n_features_in_", None):
            return X if y is NO_LABELS else (X, y)
    if isinstance(y, list) or (y is not NO_LABELS and hasattr(y, "dtype")):
        refuse_missing_labels(y)
    return validate_data(estimator, X, y, reset=reset, **checks)


def are_plain(X: Any, y: Any) -> bool:
    """Return whether X is a finite C-ordered table of float64, and a given y holds n finite numbers or strings."""
    if not (
        type(X) is np.ndarray
        and X.dtype == np.float64
        and X.ndim == 2
        and X.size > 0
        and X.flags.c_contiguous
        and has_finite_sum(X)
    ):
        return False
    if y is NO_LABELS:
        return True
    if type(y) is not np.ndarray or y.shape != (len(X),):
        return False
    return y.dtype.kind in "biuU" or (y.dtype.kind == "f" and bool(np.isfinite(y).all()))


def has_finite_sum(X: np.ndarray) -> bool:
    """Return whether the sum of all numbers is finite; if not, scikit-learn must check the numbers one by one.

    The sum is computed without BLAS, whose threads may take milliseconds to start.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        return math.isfinite(X.sum())


def encoded(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the sorted classes, and for each label the position of its class.

    Parameters
    ----------
    y : ndarray of shape (n,)
        Checked labels.

    Returns
    -------
    classes : ndarray of shape (k,)
        The labels, sorted.
    codes : ndarray of shape (n,), int64
        Position of each label in `classes`.

    Raises
    ------
    ValueError
        If the labels are real numbers, which cannot be class names, or all labels are equal.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm.estimators.validation import encoded
    >>> encoded(np.array(["b", "a", "b"]))
    (array(['a', 'b'], dtype='<U1'), array([1, 0, 1]))
    """
    if y.dtype.kind in "iuf":
        first, last = y.min(), y.max()
        is_last = y == last
        # labels with two integer values need no sorting, and are always valid names of classes
        if first < last and (is_last | (y == first)).all() and first.is_integer() and last.is_integer():
            return np.array([first, last]), is_last.astype(np.int64)
    classes, codes = classes_of(y)
    # integers and strings are always valid names of classes
    if y.dtype.kind in "biuU" or (y.dtype.kind == "f" and (y == np.rint(y)).all()):
        warn_of_many_classes(classes, len(y))
    else:
        check_classification_targets(y)
    if len(classes) < 2:
        raise ValueError(f"y contains 1 class, {classes.tolist()[0]!r}; give labels of at least two classes.")
    return classes, codes


LARGEST_WEIGHT: Final = 1e300

LARGEST_SQUARED_WEIGHT: Final = 1e150
"""Largest weight if weights are multiplied with each other or with scores."""


def checked_weights(
    sample_weight: Any, X: Any, *, all_zero: bool = False, most: float = LARGEST_WEIGHT
) -> np.ndarray | None:
    """Return the weights of the examples, with 0 for negative weights; raise an error if no weight is positive.

    Parameters
    ----------
    sample_weight : array-like of shape (n,) or None
    X : array-like of shape (n, d)
    all_zero : bool
        Whether all weights may be 0, because the estimator already holds examples with positive weights.
    most : float
        The largest weight allowed.

    Returns
    -------
    ndarray of shape (n,), float64, or None
        None if `sample_weight` is None.

    Raises
    ------
    ValueError
        If no weight is positive, a weight exceeds `most`, or scikit-learn refuses the weights.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm.estimators.validation import checked_weights
    >>> checked_weights([1, -2, 3], np.zeros((3, 1)))
    array([1., 0., 3.])
    """
    if sample_weight is None:
        return None
    weights = np.asarray(sample_weight)
    if weights.dtype.kind in "biuf" and weights.size and (weights <= 0.0).all():
        if all_zero:
            return np.zeros_like(_check_sample_weight(np.ones(weights.shape)[()], X))
        raise ValueError(
            "Invalid input - all samples have zero or negative weights. sample_weight must hold at least one "
            "positive number; give every training example a weight such as 1.0."
        )
    # replace negative weights by 0: as in scikit-learn's SVC, a weight of 0 or less removes an example
    weights = np.maximum(_check_sample_weight(sample_weight, X), 0.0)
    if weights.max() > most:
        raise ValueError(
            f"sample_weight contains {weights.max()}, above the largest weight allowed ({most:g}); give weights of "
            "moderate size, such as 1.0."
        )
    return weights


def refuse_single_class(classes: np.ndarray, used: np.ndarray) -> np.ndarray:
    """Return the classes with positive weights, or raise an error if there are fewer than two.

    Parameters
    ----------
    classes : ndarray of shape (k,)
        The labels.
    used : ndarray of int64
        Class numbers of the examples with positive weight.

    Returns
    -------
    ndarray of int64
        The class numbers that occur, ascending.

    Raises
    ------
    ValueError
        If fewer than two classes occur.
    """
    is_used = np.bincount(used, minlength=len(classes)) > 0
    present, empty = np.flatnonzero(is_used), np.flatnonzero(~is_used)
    if len(present) < 2:
        # if a single class remains, begin the message with scikit-learn's words
        one = "Invalid input - all samples with positive weights belong to the same class. "
        raise ValueError(f"{one * len(present)}{no_weight(classes.tolist()[empty[0]])}")
    return present


def no_weight(name: Any) -> str:
    """Return the message for a class whose examples all have weight 0."""
    return (
        f"The weights leave the class {name!r} without examples: none has a positive sample_weight and class_weight; "
        "take that class out of X and y."
    )


def refuse_missing(classes: Any, y: Any) -> None:
    """Raise an error if a class that the first call of `partial_fit` lists in `classes` has no example in y.

    Raises
    ------
    ValueError
        If a label in `classes` does not occur in y.
    """
    if classes is not None and (missing := np.setdiff1d(classes, y)).size:
        raise ValueError(
            f"The first call of partial_fit has no example of class {missing.tolist()[0]!r}; include an example of "
            "each class."
        )


def refuse_to_forget(classes: np.ndarray, left: np.ndarray) -> None:
    """Raise an error if `forget` would remove all examples of a class; `left` are the class numbers that remain.

    Raises
    ------
    ValueError
        If a class number from 0 to k − 1 does not occur in `left`.
    """
    empty = np.flatnonzero(np.bincount(left, minlength=len(classes)) == 0)
    if len(empty):
        raise ValueError(
            f"forget would leave the class {classes.tolist()[empty[0]]!r} without an example of positive weight; "
            "keep an example of each class, or train a new estimator on the examples of the other classes."
        )


def class_weights(
    class_weight: Any, classes: np.ndarray, y: np.ndarray, weights: np.ndarray | None = None
) -> np.ndarray:
    """Return the factor of C for each class, shape (k,): 1, the user's number, or n / (k × examples of the class).

    A weight is a number of copies of an example: for "balanced", an example of weight 2 counts twice. A class whose
    examples all have weight 0 is ignored, and its factor is 0.

    Parameters
    ----------
    class_weight : dict, "balanced" or None
    classes : ndarray of shape (k,)
        The labels, sorted.
    y : ndarray of shape (n,)
        Labels.
    weights : ndarray of shape (n,), optional
        Weights of the examples.

    Raises
    ------
    ValueError
        If a weight is not a number, or belongs to a label that does not occur in y.
    """
    if isinstance(class_weight, dict):
        # refuse booleans, which scikit-learn would read as numbers, and texts, for which NumPy's error would be obscure
        for weight in class_weight.values():
            number("class_weight", weight)
    if isinstance(class_weight, str) and weights is not None:
        sums = np.bincount(classes.searchsorted(y), weights=weights, minlength=len(classes))
        there = sums > 0.0
        # divide before multiplying, because a product of large weights could be infinite
        return np.divide(sums.sum() / there.sum(), sums, out=np.zeros(len(classes)), where=there)
    return np.asarray(compute_class_weight(class_weight, classes=classes, y=y))


def known_codes(classes: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the position of each label in `classes`, shape (n,); raise an error for any other label."""
    # clip, because searchsorted returns k for a label beyond the last class
    codes = classes.searchsorted(y).clip(max=len(classes) - 1)
    if (strange := np.flatnonzero(classes[codes] != y)).size:
        raise ValueError(
            f"y contains the new class {y[strange].tolist()[0]!r}; partial_fit takes only the classes of its first "
            f"call, {classes.tolist()}."
        )
    return codes


def penalties_of(
    C: float, class_weight: np.ndarray, codes: np.ndarray, weights: np.ndarray | None
) -> np.ndarray:
    """Return Cᵢ = C × class weight × sample weight; raise an error if a weight or a product is not usable.

    Parameters
    ----------
    C : float
        The penalty that the weights multiply.
    class_weight : ndarray of shape (k,)
        Weight of each class.
    codes : ndarray of shape (n,), int64
        Class number of each example.
    weights : ndarray of shape (n,), optional
        Weight of each example.

    Returns
    -------
    ndarray of shape (n,), float64

    Raises
    ------
    ValueError
        If a class weight is NaN or infinite, or a product exceeds 1e300.
    """
    # compare weights with 1e300/C before multiplying them by C, because an infinite product would mean a hard margin
    most = 1e300 / min(max(C, 1.0), 1e300) if math.isfinite(C) else 1e300
    if len(wrong := class_weight[~(np.abs(class_weight) <= most)]):
        raise ValueError(
            f"class_weight contains {wrong[0]}, which with C={C:g} gives no usable penalty; give finite weights "
            "of moderate size, such as 1.0."
        )
    with np.errstate(over="ignore"):
        factor = class_weight[codes] * (1.0 if weights is None else weights)
    if factor.max() > most:
        largest = 1.0 if weights is None else float(weights.max())
        raise ValueError(
            f"C={C:g} times class_weight and sample_weight, {class_weight.max():g} and {largest:g}, exceeds the "
            "largest usable penalty (1e300); scale the weights down."
        )
    return scaled(C, factor)


def scaled(C: float, factors: np.ndarray) -> np.ndarray:
    """Return C times each positive factor, and 0 for other factors, because ∞ · 0 would be NaN."""
    return np.multiply(C, factors, out=np.zeros(len(factors)), where=factors > 0.0)
