"""Calls with an estimator in place of the parameters: ``leave_one_out(SVC(C=10), X, y)``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Any, TypeVar

Result = TypeVar("Result")


def takes_model(function: Callable[..., Result]) -> Callable[..., Result]:
    """Return the function, extended so that its first argument may be an estimator of this package.

    The estimator's method ``arguments_for(X, y)`` returns the keyword arguments, and whether its penalties are only
    penalties and not weights in the scores, as class weights are.
    """

    @wraps(function)
    def call(*given: Any, **options: Any) -> Result:
        model: Any = given[0] if given else options.get("X")
        is_model = hasattr(model, "get_params")
        return of_model(function, model, *given, **options) if is_model else function(*given, **options)

    return call


def of_model(function: Callable[..., Result], model: Any, /, *given: Any, **options: Any) -> Result:
    """Call the function with the parameters of a model, which is the first positional argument."""
    call, name = function.__name__, type(model).__name__
    if not hasattr(model, "arguments_for"):
        raise ValueError(
            f"{call} does not take a {name}; pass refsvm.SVC, SVR or OneClassSVM with the same parameters"
            ", or its best_estimator_ if it is a search."
        )
    if not given:
        raise TypeError(f"{call} got the model as a keyword; write {call}(model, X, y).")
    if len(given) > 3:
        raise TypeError(f"{call} got more than (model, X, y) by position; pass further arguments by name.")
    X, y = (*given[1:], None, None)[:2]
    X, y = options.pop("X", X), options.pop("y", y)
    own, counts_alike = model.arguments_for(call, X, y)
    if twice := [each for each in own if each in options and each in MODEL]:
        raise ValueError(f"{twice[0]} is a parameter of the model; set it in {name}(…) instead.")
    result: Any = function(X, y, **{**own, **options})
    if counts_alike and getattr(result, "weights", None) is not None:
        result = replace(result, weights=None)
    return result


MODEL = frozenset({"kernel", "gamma", "degree", "coef0", "C", "epsilon", "nu", "gram"})
"""Parameters that define the model, and therefore belong to the estimator."""
