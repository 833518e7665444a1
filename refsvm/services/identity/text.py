"""Describes a value by a readable text for a store; adds a digest if the text does not determine the value."""

from __future__ import annotations

import math
import re
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from refsvm.core._checks import shown
from refsvm.services.identity.origin import Origin, named, of_object
from refsvm.services.identity.values import NoIdentityError, digest_of


def described(name: str, value: Any) -> str | int | float | bool | None:
    """Return a value for JSON; an object becomes a text with its package, its fields, and a digest of its content.

    Parameters
    ----------
    name : str
        Name of the value in error messages.
    value : object
        None, a number, a string, or an object that can be identified by value, such as a frozen dataclass.

    Returns
    -------
    str, int, float, bool or None
        For a rule or kernel of this package, the text consists of the class and its fields; for other objects, the text
        also contains `digest_of`.

    Raises
    ------
    ValueError
        If the value is or contains a function or object that cannot be copied, or that is known only by its address in
        memory, which differs in every process. The user can give such an object a text as its attribute `identity`.

    Examples
    --------
    >>> from refsvm import RBF
    >>> from refsvm.services.identity import described
    >>> described("kernel", RBF(gamma=0.5)), described("cache_mb", float("inf")), described("trace", False)
    ('refsvm: RBF(gamma=0.5)', 'inf', False)
    """
    if isinstance(value, np.generic):
        # convert a NumPy number, because it must identify the same run as the equal Python number
        value = value.item()
    if value is None or type(value) in (bool, int, str):
        return value
    if type(value) is float:
        return value if math.isfinite(value) else str(value)
    package = type(value).__module__.partition(".")[0]
    if (text := _plain(value)) is not None:
        return f"{package}: {text}"
    _refuse_addresses(name, value)
    try:
        digest = digest_of(value)
    except NoIdentityError as missing:
        raise _no_identity(name, value, f" ({missing})") from None
    return f"{package}: {_fields(value)} {digest}"


def _refuse_addresses(name: str, value: Any) -> None:
    """Raise an error if a value's `repr` shows its address, unless it has an `identity` or is a dataclass."""
    if isinstance(getattr(value, "identity", None), str) and not isinstance(value, type):
        return
    if not is_dataclass(value) and re.search(r"\bat 0x[0-9a-fA-F]+", repr(value)):
        raise _no_identity(name, value)


def _no_identity(name: str, value: Any, where: str = "") -> ValueError:
    """Return the error for a value that cannot be identified."""
    return ValueError(
        f"{name}={shown(value)} has no lasting description to identify a finished run{where}; make "
        "it a frozen dataclass with its fields (and with __call__ if it is a function), or give it an attribute "
        "identity='...', a text of your own that changes whenever the value changes."
    )


def _plain(value: Any, levels: int = 5) -> str | None:
    """Return the complete text of a value that consists of numbers, texts, and this package's objects.

    Return None for a value with other contents, and for a value nested more deeply than `levels`.
    """
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or type(value) in (bool, int, float, complex, str, bytes):
        return repr(value)
    if not levels:
        return None
    if type(value) in (tuple, list):
        items = [text for each in value if (text := _plain(each, levels - 1)) is not None]
        text = f"{', '.join(items)}{',' if type(value) is tuple and len(items) == 1 else ''}"
        return None if len(items) < len(value) else f"({text})" if type(value) is tuple else f"[{text}]"
    return _of_the_package(value, levels - 1)


def _of_the_package(value: Any, levels: int) -> str | None:
    """Return the text of an object of this package with its fields; None if the text would be incomplete."""
    cls = type(value)
    is_ours = cls.__module__.startswith("refsvm.") and named(cls) is cls and of_object(cls) is Origin.LIBRARY
    if not is_ours or not is_dataclass(cls):
        return None
    own = {field.name: _plain(getattr(value, field.name), levels) for field in fields(cls)}
    if None in own.values() or not set(getattr(value, "__dict__", {})) <= set(own):
        return None
    return f"{cls.__qualname__}({', '.join(f'{name}={text}' for name, text in own.items())})"


def _fields(value: Any) -> str:
    """Return a readable text of an object, with its class name and its fields that are plain values."""
    cls = type(value)
    if not is_dataclass(cls):
        return cls.__qualname__
    own = {field.name: _plain(getattr(value, field.name, None)) for field in fields(cls)}
    shown_fields = ", ".join(f"{name}={text or '…'}" for name, text in own.items())
    return f"{cls.__qualname__}({shown_fields})"
