"""Lets functions take an estimator in place of the parameters of the model: ``leave_one_out(SVC(C=10), X, y)``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from inspect import signature
from typing import Any, Final, TypeVar

import numpy as np

Result = TypeVar("Result")

MODELS: Final = ("SVC", "SVR", "OneClassSVM")
"""Names of the estimators that the functions accept."""

MODEL: Final = frozenset({"kernel", "gamma", "degree", "coef0", "C", "epsilon", "nu", "gram"})
"""Parameters that define the model, and therefore belong to the estimator."""


def takes_model(
    of: tuple[str, ...] = (), moves: tuple[str, ...] = ()
) -> Callable[[Callable[..., Result]], Callable[..., Result]]:
    """Return a decorator for functions whose first argument may be an estimator of this package.

    The decorated function gets its keyword arguments from the estimator's method ``arguments_for``. `arguments_for`
    also returns whether the examples count equally in the scores although their penalties may differ, for instance
    because of class weights.

    Parameters
    ----------
    of : tuple of str
        Names of the estimators that the function accepts; if given, the function receives only the arguments in its
        signature. By default the function accepts all estimators and receives all their arguments.
    moves : tuple of str
        Parameters that the function varies, so that their values in the estimator are ignored.
    """

    def decorate(function: Callable[..., Result]) -> Callable[..., Result]:
        @wraps(function)
        def call(*arguments: Any, **options: Any) -> Result:
            model: Any = arguments[0] if arguments else options.get("X")
            if hasattr(model, "get_params"):
                return of_model(function, of, moves, *arguments, **options)
            return function(*arguments, **options)

        return call

    return decorate


def in_words(names: tuple[str, ...]) -> str:
    """Return names as a text, joined by commas and "or".

    Examples
    --------
    >>> from refsvm.analysis.resampling.of_model import in_words
    >>> in_words(("SVC", "SVR", "OneClassSVM")), in_words(("SVR",))
    ('SVC, SVR or OneClassSVM', 'SVR')
    """
    return " or ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def of_model(
    function: Callable[..., Result],
    of: tuple[str, ...],
    moves: tuple[str, ...],
    /,
    *arguments: Any,
    **options: Any,
) -> Result:
    """Call the function with the parameters of its first argument, a model."""
    call, model = function.__name__, arguments[0] if arguments else options["X"]
    if isinstance(model, type):
        raise TypeError(
            f"{call} takes a model, and {model.__name__} is a class; write {call}({model.__name__}(), X, y)."
        )
    name, kinds = type(model).__name__, {each.__name__ for each in type(model).__mro__}
    if not hasattr(model, "arguments_for") or (of and not kinds & {*of}):
        raise ValueError(
            f"{call} does not take a {name}; pass refsvm.{in_words(of or MODELS)} with the same parameters"
            ", or its best_estimator_ if it is a search."
        )
    if not arguments:
        raise TypeError(f"{call} got the model as a keyword; write {call}(model, X, y).")
    if len(arguments) > 3:
        raise TypeError(f"{call} got more than (model, X, y) by position; pass further arguments by name.")
    X, y = (*arguments[1:], None, None)[:2]
    X, y = options.pop("X", X), options.pop("y", y)
    if X is None:
        raise TypeError(f"{call}({name}(…)) has no examples; write {call}({name}(…), X, y).")
    own, counts_alike = model.arguments_for(call, X, y)
    if twice := [each for each in own if each in options and each in MODEL - {*moves}]:
        raise ValueError(f"{twice[0]} is a parameter of the model; set it in {name}(…) instead.")
    if "C" in moves and np.ndim(own.get("C", 0.0)):
        if options.get("sample_weight") is not None:
            raise ValueError(f"{name} has class weights, and sample_weight was given; give one of them.")
        own["sample_weight"] = own["C"] / model.C
    known = {*signature(function).parameters}
    taken = own.keys() & {*known, "engine", "cache_mb"} - {*moves} if of else own.keys()
    examples = (X, y) if "y" in known else (X,)
    result: Any = function(*examples, **{**{key: own[key] for key in taken}, **options})
    if counts_alike and getattr(result, "weights", None) is not None:
        result = replace(result, weights=None)
    return result
