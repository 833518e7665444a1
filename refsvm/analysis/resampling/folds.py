"""Determines which examples are held out together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from refsvm.core._checks import shown, whole
from refsvm.services.labels import classes_of


def fold_numbers(
    folds: Any, codes: np.ndarray, *, stratified: bool = False, rng: Any = None, groups: Any = None
) -> np.ndarray:
    """Return the number of the fold that holds out each example.

    Parameters
    ----------
    folds : int, array-like of int of shape (n,), splitter, or iterable of pairs
        Number of folds of equal size; or the fold of each example, as numbers or texts; or an object with
        scikit-learn's ``split(X, y)``; or the pairs (train, test) that such an object yields. Every example
        must be in exactly one test set, and each training set must contain all examples outside its test set.
    codes : ndarray of shape (n,), int
        Class number of each example, which `stratified` and the splitter use.
    stratified : bool
        Whether to share the examples of each class equally among the folds. `stratified` applies only if `folds` is a
        number.
    rng : int, numpy.random.Generator or None
        Seed or generator that shuffles the examples before they are assigned to folds. Without `rng`, consecutive
        examples share a fold. `rng` applies only if `folds` is a number.
    groups : array-like of shape (n,), optional
        Group of each example, for a splitter such as ``GroupKFold``, which holds out the examples of a group together.

    Returns
    -------
    ndarray of shape (n,), int64
        Fold numbers 0 … k − 1.

    Raises
    ------
    ValueError
        If there are fewer than two folds or more folds than examples; if an example is held out twice or never; if a
        training set does not consist of all other examples; or if `groups` is given without a splitter.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm.analysis.resampling.folds import fold_numbers
    >>> codes = np.array([0, 0, 0, 1, 1, 1])
    >>> fold_numbers(3, codes), fold_numbers(3, codes, stratified=True)
    (array([0, 0, 1, 1, 2, 2]), array([0, 1, 2, 0, 1, 2]))
    """
    n = len(codes)
    if isinstance(folds, type):
        raise ValueError(
            f"folds={folds.__name__} is a class; pass an instance of it, such as {folds.__name__}(5)."
        )
    if hasattr(folds, "split") and not isinstance(folds, str | bytes):
        return _of_pairs(folds, pairs_of(folds, np.zeros((n, 1)), codes, groups), n)
    if groups is not None:
        raise ValueError(
            f"groups needs a splitter that uses groups, but folds={shown(folds)} does not; give folds=GroupKFold(5)."
        )
    if hasattr(folds, "__next__") or (
        isinstance(folds, list | tuple)
        and len(folds)
        and np.iterable(folds[0])
        and not (len(folds) == n and isinstance(folds[0], str))
    ):
        pairs = list(folds)
        return _of_pairs(pairs, pairs, n)
    if np.ndim(folds) == 0:
        k = whole("folds", folds, 2)
        if k > n:
            raise ValueError(f"folds={k} exceeds the number of examples, {n}; give at most {n}.")
        return _shared(k, codes, stratified, rng)
    return _of_each(folds, n)


def pairs_of(splitter: Any, X: Any, y: np.ndarray, groups: Any = None, name: str = "folds") -> Iterator[Any]:
    """Yield the pairs (train, test) of a splitter.

    Parameters
    ----------
    splitter : object
        Object with scikit-learn's ``split(X, y, groups)``.
    X : array-like of shape (n, d)
    y : ndarray of shape (n,)
    groups : array-like of shape (n,), or (n, 1) as a column of a table, optional
        Groups as numbers or texts.
    name : str
        Name of the splitter's argument, for messages.

    Raises
    ------
    ValueError
        If the splitter needs groups and `groups` is missing, has another length than n, or contains a missing value.
    """
    needs_groups = "Group" in type(splitter).__name__
    if groups is None:
        try:
            yield from splitter.split(X, y)
            return
        except (ValueError, TypeError) as error:
            if needs_groups or "groups" in str(error):
                raise ValueError(
                    f"{name}={' '.join(shown(splitter).split())} needs the group of each example; give groups=, such "
                    "as the patient of each row."
                ) from None
            raise
    array = np.asarray(groups)
    if array.shape == (len(y), 1):
        array = array[:, 0]
    if array.shape != (len(y),):
        raise ValueError(
            f"groups has shape {array.shape}; give {len(y)} groups, one for each row of X, as numbers or texts."
        )
    classes_of(array.astype(object), "groups")  # `classes_of` refuses missing groups and mixed types
    yield from splitter.split(X, y, array)


def _shared(k: int, codes: np.ndarray, stratified: bool, rng: Any) -> np.ndarray:
    """Return the fold number of each example, after assigning the examples to k folds of equal size."""
    n = len(codes)
    try:
        order = np.arange(n) if rng is None else np.random.default_rng(rng).permutation(n)
    except (TypeError, ValueError):
        raise ValueError(
            f"rng={rng!r} cannot seed a generator; give None, an integer ≥ 0, or a numpy Generator."
        ) from None
    result = np.empty(n, dtype=np.int64)
    if stratified:
        order = order[np.argsort(codes[order], kind="stable")]
        # `order` is now sorted by class; give each fold in turn the next example
        result[order] = np.arange(n) % k
    else:
        result[order] = np.arange(n) * k // n
    return result


def _of_each(folds: Any, n: int) -> np.ndarray:
    """Return the fold numbers, from 0, if `folds` contains the fold of each example."""
    array = np.asarray(folds)
    are_texts = array.dtype.kind == "U" or (
        array.dtype.kind == "O" and all(isinstance(each, str) for each in array)
    )
    if array.shape != (n,) or not (array.dtype.kind in "iu" or are_texts):
        raise ValueError(
            f"folds has shape {array.shape} and type {array.dtype}; give a number of folds, a splitter, or {n} whole "
            "numbers or texts, the fold of each example."
        )
    names, numbers = np.unique(array, return_inverse=True)
    if len(names) < 2:
        raise ValueError(f"folds holds the single fold {names[0]}; give at least two folds.")
    return np.asarray(numbers, dtype=np.int64)


def _of_pairs(folds: Any, pairs: Iterable[Any], n: int) -> np.ndarray:
    """Return the fold numbers for pairs of a training and a test set, given as indices or masks."""
    result, held_out, partial = np.full(n, -1, dtype=np.int64), 0, None
    for number, pair in enumerate(pairs):
        try:
            train, test = (np.arange(n)[np.asarray(part)] for part in pair)
        except (TypeError, ValueError, IndexError):
            raise ValueError(
                f"folds={shown(folds)} holds {shown(pair)}, which is not a pair (train, test) of "
                f"positions from 0 to {n - 1}; give pairs such as list(KFold(5).split(X))."
            ) from None
        if not np.array_equal(np.sort(train), np.setdiff1d(np.arange(n), test)):
            partial = number
        result[test] = number
        held_out += len(test)
    if held_out != n or (result < 0).any():
        raise ValueError(
            f"folds={shown(folds)} does not hold out every example exactly once; give a splitter that does, such as "
            "KFold(10, shuffle=True)."
        )
    if partial is not None:
        raise ValueError(
            f"folds={shown(folds)}: round {partial} neither trains on some examples nor holds them out; give "
            "folds whose rounds train on all other examples, such as KFold(10, shuffle=True), or use scikit-learn's "
            "cross_val_score."
        )
    return result
