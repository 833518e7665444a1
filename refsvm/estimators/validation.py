"""scikit-learn's checks before an estimator trains or predicts, without their cost on valid input.

Its checks take some 0.4 ms, more than a small problem takes to solve. Parameters that have their default value, plain
arrays of float64 and labels that are two whole numbers are recognised here in microseconds. Everything else goes to
scikit-learn, which converts it or refuses it with its own sentence.
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
"""scikit-learn's y of a method that has none."""


def checked_data(estimator: BaseEstimator, X: Any, y: Any = NO_LABELS, *, reset: bool, **checks: Any) -> Any:
    """`sklearn.utils.validation.validate_data`, skipped where it would return X and y themselves.

    Parameters
    ----------
    estimator : BaseEstimator
        Gets ``n_features_in_`` and ``feature_names_in_``, or is asked for them.
    X, y : array-like or sparse, and array-like
        As in ``fit(X, y)``; without y as in ``predict(X)``.
    reset : bool
        Whether the number and names of features are those of X from now on.
    **checks
        Passed on; they have to accept a C-ordered table of float64 as it is.

    Returns
    -------
    X, or the pair of X and y

    Raises
    ------
    ValueError, TypeError
        As raised by scikit-learn.
    """
    # with names scikit-learn compares them, and warns if they are missing
    if not hasattr(estimator, "feature_names_in_") and are_plain(X, y):
        if reset:
            estimator.n_features_in_ = X.shape[1]
        if X.shape[1] == getattr(estimator, "n_features_in_", None):
            return X if y is NO_LABELS else (X, y)
    if isinstance(y, list) or (y is not NO_LABELS and hasattr(y, "dtype")):
        refuse_missing_labels(y)
    return validate_data(estimator, X, y, reset=reset, **checks)


def are_plain(X: Any, y: Any) -> bool:
    """Whether X is a finite, C-ordered table of float64, and y, if given, a vector of n finite numbers or strings."""
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
    """Whether no number is NaN or infinite; where a sum overflows, scikit-learn looks at the numbers one by one.

    Not by BLAS, whose threads may take milliseconds to wake up.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        return math.isfinite(X.sum())


def encoded(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Number the classes.

    Parameters
    ----------
    y : ndarray of shape (n,)
        Checked labels.

    Returns
    -------
    classes : ndarray of shape (k,)
        The labels, sorted.
    codes : ndarray of shape (n,), int64
        Position of each label among them.

    Raises
    ------
    ValueError
        If the labels are measurements rather than names of classes, or all the same.

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
        # two whole numbers need no sorting and are names of classes for sure
        if first < last and (is_last | (y == first)).all() and first.is_integer() and last.is_integer():
            return np.array([first, last]), is_last.astype(np.int64)
    classes, codes = classes_of(y)
    if y.dtype.kind in "biuU":  # whole numbers and strings always name classes
        warn_of_many_classes(classes, len(y))
    else:
        check_classification_targets(y)
    if len(classes) < 2:
        raise ValueError(f"y holds one class only, {classes.tolist()[0]!r}; a classifier needs two.")
    return classes, codes


LARGEST_WEIGHT: Final = 1e300

LARGEST_SQUARED_WEIGHT: Final = 1e150
"""Where weights are multiplied with each other, or with scores."""


def checked_weights(
    sample_weight: Any, X: Any, *, all_zero: bool = False, most: float = LARGEST_WEIGHT
) -> np.ndarray | None:
    """Return the weights of the examples in X, 0 in place of negative ones, or refuse weights that leave none.

    Parameters
    ----------
    sample_weight : array-like of shape (n,) or None
    X : array-like of shape (n, d)
    all_zero : bool
        Whether all of them may be 0, as where other examples are held already.
    most : float
        The largest weight that may be.

    Returns
    -------
    ndarray of shape (n,), float64, or None
        None for None.

    Raises
    ------
    ValueError
        If none is positive or one is beyond `most`, and what scikit-learn raises.

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
            "Invalid input - all samples have zero or negative weights. sample_weight must hold at least one positive "
            "number; give the examples that count a weight such as 1.0."
        )
    # a weight of 0 or less takes an example out, as in scikit-learn's SVC
    weights = np.maximum(_check_sample_weight(sample_weight, X), 0.0)
    if weights.max() > most:
        raise ValueError(
            f"sample_weight contains {weights.max()}, beyond what can be computed with ({most:g}); give weights of "
            "moderate size, such as 1.0."
        )
    return weights


def refuse_single_class(classes: np.ndarray, used: np.ndarray) -> np.ndarray:
    """Return which classes have examples that count; refuse weights that leave fewer than two of them.

    Parameters
    ----------
    classes : ndarray of shape (k,)
        The labels.
    used : ndarray of int64
        Class numbers of the examples that count.

    Returns
    -------
    ndarray of int64
        The numbers of their classes, ascending.

    Raises
    ------
    ValueError
        If there are fewer than two of them.
    """
    is_used = np.bincount(used, minlength=len(classes)) > 0
    present, empty = np.flatnonzero(is_used), np.flatnonzero(~is_used)
    if len(present) < 2:
        # scikit-learn's words where one class is left
        one = "Invalid input - all samples with positive weights belong to the same class. "
        raise ValueError(f"{one * len(present)}{no_weight(classes.tolist()[empty[0]])}")
    return present


def no_weight(name: Any) -> str:
    """Return the sentence for a class whose examples all have weight 0."""
    return (
        f"The weights leave the class {name!r} without examples: none has a positive sample_weight and class_weight; "
        "take that class out of X and y."
    )


def refuse_missing(classes: Any, y: Any) -> None:
    """Refuse a first call of `partial_fit` that lacks examples of the classes announced to it, if any were.

    Raises
    ------
    ValueError
        If one of `classes` is not in y.
    """
    if classes is not None and (missing := np.setdiff1d(classes, y)).size:
        raise ValueError(
            f"The first call of partial_fit has no example of class {missing.tolist()[0]!r}; give it one of each."
        )


def refuse_to_forget(classes: np.ndarray, left: np.ndarray) -> None:
    """Refuse that of a class no example that counts is left; `left` holds the class numbers of those that are.

    Raises
    ------
    ValueError
        If one of 0 … k − 1 is not among them.
    """
    empty = np.flatnonzero(np.bincount(left, minlength=len(classes)) == 0)
    if len(empty):
        raise ValueError(
            f"forget would leave the class {classes.tolist()[empty[0]]!r} without an example that counts; keep one of "
            "each class, or train a new estimator on the examples of the others."
        )


def class_weights(
    class_weight: Any, classes: np.ndarray, y: np.ndarray, weights: np.ndarray | None = None
) -> np.ndarray:
    """Return the factor of C for each class, shape (k,): 1, a user's numbers, or n / (k × examples of the class).

    The weights of examples are numbers of copies: "balanced" counts an example of weight 2 twice, and a class without
    weight is not there; its factor is 0.

    Parameters
    ----------
    class_weight : dict, "balanced" or None
    classes : ndarray of shape (k,)
        The labels, sorted.
    y : ndarray of shape (n,)
        Labels.
    weights : ndarray of shape (n,), optional
        Of the examples.

    Raises
    ------
    ValueError
        If a user's weight is no number, or names a class that is not there.
    """
    if isinstance(class_weight, dict):
        # scikit-learn would take True for 1 and text for an error of NumPy's
        for weight in class_weight.values():
            number("class_weight", weight)
    if isinstance(class_weight, str) and weights is not None:
        sums = np.bincount(classes.searchsorted(y), weights=weights, minlength=len(classes))
        there = sums > 0.0
        # divided first: a product of large weights would be infinite
        return np.divide(sums.sum() / there.sum(), sums, out=np.zeros(len(classes)), where=there)
    return np.asarray(compute_class_weight(class_weight, classes=classes, y=y))


def known_codes(classes: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the position of each label among the classes of the first call, shape (n,), or refuse a new one."""
    # a new label beyond the last would point behind the end
    codes = classes.searchsorted(y).clip(max=len(classes) - 1)
    if (strange := np.flatnonzero(classes[codes] != y)).size:
        raise ValueError(
            f"y contains the new class {y[strange].tolist()[0]!r}; partial_fit goes on with those of the first call, "
            f"{classes.tolist()}."
        )
    return codes


def penalties_of(
    C: float, class_weight: np.ndarray, codes: np.ndarray, weights: np.ndarray | None
) -> np.ndarray:
    """Return Cᵢ = C × class weight × sample weight, or refuse weights that penalties cannot be made of.

    Parameters
    ----------
    C : float
        The penalty that they are factors of.
    class_weight : ndarray of shape (k,)
        For each class.
    codes : ndarray of shape (n,), int64
        The class of each example.
    weights : ndarray of shape (n,), optional
        For each example.

    Returns
    -------
    ndarray of shape (n,), float64

    Raises
    ------
    ValueError
        If a class weight is NaN or infinite, or they make C exceed 1e300.
    """
    # compared before it is multiplied: the product would be infinite, and look like a hard margin
    most = 1e300 / min(max(C, 1.0), 1e300) if math.isfinite(C) else 1e300
    if len(wrong := class_weight[~(np.abs(class_weight) <= most)]):
        raise ValueError(
            f"class_weight contains {wrong[0]}, which with C={C:g} is no penalty to compute with; give finite weights "
            "of moderate size, such as 1.0."
        )
    with np.errstate(over="ignore"):
        factor = class_weight[codes] * (1.0 if weights is None else weights)
    if factor.max() > most:
        largest = 1.0 if weights is None else float(weights.max())
        raise ValueError(
            f"C={C:g} times class_weight and sample_weight, {class_weight.max():g} and {largest:g}, is beyond what can "
            "be computed with (1e300); scale the weights down."
        )
    return scaled(C, factor)


def scaled(C: float, factors: np.ndarray) -> np.ndarray:
    """Return C times each factor, 0 where that is not positive: ∞ times 0 is 0."""
    return np.multiply(C, factors, out=np.zeros(len(factors)), where=factors > 0.0)
