"""Reads and sets parameters of kernels and rules under scikit-learn's names, such as kernel__gamma or selector__rows.

Setting a parameter creates a new kernel or rule, so that an object that two estimators share stays unchanged.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import fields, is_dataclass, replace
from typing import Any

from refsvm.core._checks import hint
from refsvm.services.names import parameters_named


def has_own_parameters(value: Any) -> bool:
    """Return whether a value handles its own parameters, as an estimator does."""
    return hasattr(value, "get_params") and hasattr(value, "set_params") and not isinstance(value, type)


def parameters_of(value: Any) -> dict[str, Any]:
    """Return the parameters of a kernel or rule, and of the rules inside it, by name; an empty dict for other values.

    Examples
    --------
    >>> from refsvm import RBF, HybridMaximumGain
    >>> from refsvm.estimators.nested import parameters_of
    >>> parameters_of(RBF(0.5)), parameters_of(HybridMaximumGain()), parameters_of("rbf")
    ({'gamma': 0.5}, {'eta': 1e-08, 'rows': 2}, {})
    """
    if not is_dataclass(value) or isinstance(value, type) or has_own_parameters(value):
        return {}
    parameters: dict[str, Any] = {}
    for field in fields(value):
        if field.init:
            parameters[field.name] = part = getattr(value, field.name)
            parameters |= {f"{field.name}__{name}": each for name, each in parameters_of(part).items()}
    return parameters


def with_parameters(name: str, value: Any, changes: dict[str, Any]) -> Any:
    """Return a copy of a kernel or rule with some parameters replaced.

    Parameters
    ----------
    name : str
        Name of the estimator's parameter, such as "kernel" or "selector", for messages.
    value : object
        The kernel or rule, which stays unchanged.
    changes : dict
        New values by name; ``inner__rows`` means the parameter ``rows`` of the rule stored in the parameter
        ``inner``.

    Raises
    ------
    ValueError
        If the kernel or rule does not know a parameter or refuses its value.

    Examples
    --------
    >>> from refsvm import RBF
    >>> from refsvm.estimators.nested import with_parameters
    >>> with_parameters("kernel", RBF(0.5), {"gamma": 2.0})
    RBF(gamma=2.0)
    >>> with_parameters("selector", None, {"rows": 1})
    Traceback (most recent call last):
    ValueError: selector__rows: selector=None has no parameter 'rows'; first set selector to ...
    """
    if has_own_parameters(value):
        return value.set_params(**changes)
    known = [each for each in parameters_of(value) if "__" not in each]
    own: dict[str, Any] = {}
    nested: defaultdict[str, dict[str, Any]] = defaultdict(dict)
    for path, new in changes.items():
        part, _, rest = path.partition("__")
        if part not in known:
            raise ValueError(_unknown(name, value, part, path, known))
        if rest:
            nested[part][rest] = new
        else:
            own[part] = new
    # as in scikit-learn, replace an inner rule before setting the parameters of the new rule
    for part, more in nested.items():
        own[part] = with_parameters(f"{name}__{part}", own.get(part, getattr(value, part)), more)
    return replace(value, **own)


def _unknown(name: str, value: Any, part: str, path: str, known: list[str]) -> str:
    """Return the message that explains why a parameter cannot be set and what to do instead."""
    beginning = f"{name}__{path}: {name}={value!r:.80}"
    if known:
        near = hint(part, known, f"its parameters are {', '.join(known)}.")
        return f"{beginning} has no parameter {part!r}; {near}"
    if isinstance(value, str):
        try:
            own = parameters_named(value)
        except KeyError:
            own = []
        if part in own:
            return (
                f"{beginning} is a name without parameters of its own; set {part} of the estimator, or pass a kernel "
                "object such as RBF(gamma=0.5)."
            )
    return f"{beginning} has no parameter {part!r}; first set {name} to an object with this parameter."
