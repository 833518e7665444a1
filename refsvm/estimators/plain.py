"""Converts fitted estimators to plain types, so that a stored estimator contains only numbers, texts, lists and dicts.

A kernel, rule, status or result of this package is written as a dictionary with its class name and its fields. Reading
such a dictionary creates objects of the classes in `KNOWN` only. `pickle` and `skops` call these functions.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any, Final

from refsvm.analysis.multiclass.one_vs_one import BinaryResult
from refsvm.core import kernels, seeders, selectors, steps, stopping
from refsvm.core._checks import version
from refsvm.core.result import Status
from refsvm.core.shown import VERSION, ordered

MARK: Final = "refsvm object"
"""The key that holds the name of the class."""

KNOWN: Final[dict[str, Any]] = {"BinaryResult": BinaryResult} | {
    name: found
    for module in (kernels, selectors, steps, stopping, seeders)
    for name in module.__all__
    if is_dataclass(found := getattr(module, name))
}
"""Classes that may be stored: kernels, rules, and the results for a pair of classes."""


def to_state(attributes: dict[str, Any]) -> dict[str, Any]:
    """Return the attributes of an estimator in plain types, together with the version of this package."""
    return {VERSION: version()} | {name: to_plain(value) for name, value in attributes.items()}


def from_state(state: dict[str, Any]) -> dict[str, Any]:
    """Return the attributes from which `to_state` made `state`; raise an error if a later version wrote `state`.

    Raises
    ------
    ValueError
        If a later minor version wrote the state, or it contains an entry that this version does not know.
    """
    written, here = state.get(VERSION, "0.2.0 or earlier"), version()
    try:
        if ordered(written) > ordered(here):
            raise ValueError(
                "The file may contain entries that this version cannot read; read it with the version that wrote it."
            )
        return {name: from_plain(value) for name, value in state.items() if name != VERSION}
    except ValueError as error:
        raise ValueError(f"refsvm {written} wrote the file, and this is refsvm {here}. {error}") from None


def to_plain(value: Any) -> Any:
    """Return dictionaries for objects of this package, also inside lists; return other values unchanged.

    Examples
    --------
    >>> from refsvm import RBF
    >>> from refsvm.estimators.plain import from_plain, to_plain
    >>> to_plain(RBF(0.5)), from_plain(to_plain(RBF(0.5)))
    ({'refsvm object': 'RBF', 'gamma': 0.5}, RBF(gamma=0.5))
    """
    name = type(value).__name__
    if isinstance(value, Status):
        return {MARK: "Status", "name": value.name}
    if isinstance(value, type) and KNOWN.get(class_name := value.__name__) is value:
        return {MARK: class_name}  # a class stands for an object with defaults
    if isinstance(value, list):
        return [to_plain(item) for item in value]
    if KNOWN.get(name) is type(value):
        return {MARK: name} | {
            field.name: to_plain(getattr(value, field.name)) for field in fields(KNOWN[name])
        }
    return value


def from_plain(value: Any) -> Any:
    """Return the value from which `to_plain` made `value`.

    Raises
    ------
    ValueError
        If a dictionary names a class that is not in `KNOWN`, or its fields do not fit the class.
    """
    if isinstance(value, list):
        return [from_plain(item) for item in value]
    if not isinstance(value, dict) or MARK not in value:
        return value
    name, arguments = value[MARK], {key: from_plain(item) for key, item in value.items() if key != MARK}
    try:
        return Status[arguments["name"]] if name == "Status" else KNOWN[name](**arguments)
    except (KeyError, TypeError):
        raise ValueError(
            f"The file holds a refsvm object {name!r} with {arguments!r}, which this version of refsvm does not know; "
            "read it with the version that wrote it."
        ) from None
