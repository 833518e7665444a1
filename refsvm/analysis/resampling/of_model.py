"""A model in place of the parameters: ``leave_one_out(SVC(C=10), X, y)``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Any, TypeVar

Result = TypeVar("Result")


def takes_model(function: Callable[..., Result]) -> Callable[..., Result]:
    """Return the function, which takes an estimator of the package before the examples, too.

    An estimator says what it asks for in ``arguments_for(X, y)``, a method: the arguments by their names, and whether
    its penalties are no weights of a score, as those of a class are not.
    """

    @wraps(function)
    def call(*given: Any, **options: Any) -> Result:
        model: Any = given[0] if given else options.get("X")
        is_model = hasattr(model, "get_params")
        return of_model(function, model, *given, **options) if is_model else function(*given, **options)

    return call


def of_model(function: Callable[..., Result], model: Any, /, *given: Any, **options: Any) -> Result:
    """Return what a function finds with the parameters of a model, which is the first argument that was given."""
    call, name = function.__name__, type(model).__name__
    if not hasattr(model, "arguments_for"):
        raise ValueError(
            f"{call} takes no {name}; give refsvm.SVC, SVR or OneClassSVM with the same parameters"
            ", or its best_estimator_ if it is a search."
        )
    if not given:
        raise TypeError(f"{call}(model, X, y) takes the model by position, before the examples.")
    if len(given) > 3:
        raise TypeError(f"{call}(model, X, y) takes no more by position; give names.")
    X, y = (*given[1:], None, None)[:2]
    X, y = options.pop("X", X), options.pop("y", y)
    own, counts_alike = model.arguments_for(call, X, y)
    if twice := [each for each in own if each in options and each in MODEL]:
        raise ValueError(f"{twice[0]} is a parameter of the {name} that was given; set it there.")
    result: Any = function(X, y, **{**own, **options})
    if counts_alike and getattr(result, "weights", None) is not None:
        result = replace(result, weights=None)
    return result


MODEL = frozenset({"kernel", "gamma", "degree", "coef0", "C", "epsilon", "nu", "gram"})
"""Parameters that make another machine."""
