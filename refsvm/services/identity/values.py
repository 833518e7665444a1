"""Computes digests of values: numbers, arrays, objects with their content, and code with the code that it calls."""

from __future__ import annotations

import functools
import hashlib
import logging
import threading
import types
import weakref
from collections.abc import Callable, Iterator
from typing import Any, Final

import numpy as np

from refsvm.core._checks import is_sparse
from refsvm.services.identity.code import (
    Unread,
    Uses,
    parts_of_class,
    parts_of_code,
    parts_of_function,
    parts_of_library_function,
    parts_of_unread,
    parts_of_use,
)
from refsvm.services.identity.origin import Origin, of_object, signature

_PLAIN: Final = (type(None), bool, int, float, complex, str, range, type(...), type(NotImplemented))
"""Types whose `repr` describes a value completely."""

_NUMBERS: Final = ("bool", "int64", "float64", "complex128")
"""NumPy types that match Python types: equal numbers of both identify the same run."""

_BY_NAME: Final = (
    types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType,
    types.ClassMethodDescriptorType, types.GetSetDescriptorType, types.MemberDescriptorType, np.ufunc,
)  # fmt: skip

_WITHOUT_VALUE: Final = (
    object, logging.Logger, type(threading.Lock()), type(threading.RLock()), weakref.ref,
    weakref.WeakKeyDictionary, weakref.WeakValueDictionary, weakref.WeakSet,
)  # fmt: skip
"""Objects to which code refers, but which change no number: markers, logs, locks, and weak references."""

Parts = Iterator[tuple[str, Any]]


class NoIdentityError(ValueError):
    """Raised if a part of a value cannot be identified by value; the message is the path to this part."""


def digest_of(*values: Any, without: tuple[str, ...] = ()) -> str:
    """Return a digest of values; two digests are equal exactly if their values are equal.

    Numbers, text and containers are identified by type and value; arrays, sparse matrices and frames by content and
    dtype; objects by class and full content, including what their `repr` omits. A user's functions and classes are
    identified by their instructions, closures, and the code that they call in the user's files. Functions of Python and
    NumPy are identified by name, and functions of other packages by name, version and file.

    Parameters
    ----------
    *values : object
        The values, in order.
    without : tuple of str
        Names of fields that the digest ignores in the values themselves, but not in objects inside the values.

    Returns
    -------
    str
        32 hexadecimal digits.

    Raises
    ------
    NoIdentityError
        If a part of a value, such as an open file, has no content to compare. If an object has a text in its attribute
        `identity`, this text identifies such parts of the object.

    Examples
    --------
    >>> from refsvm.services.identity import digest_of
    >>> def bell(gamma):
    ...     return lambda s: 2.0 ** (-gamma * s)
    >>> digest_of(bell(0.5)) == digest_of(bell(0.5)), digest_of(bell(0.5)) == digest_of(bell(2.0))
    (True, False)
    """
    return _Walk(without).root(values).hex()


def opaque_parts(*values: Any) -> list[Any]:
    """Return, in a fixed order, the parts that have no content to compare and that a text in `identity` identifies."""
    walk = _Walk(())
    walk.root(values)
    return walk.opaque


class _Walk:
    """One pass over values and everything to which the values refer."""

    def __init__(self, without: tuple[str, ...]) -> None:
        self.without, self.opaque, self._tolerates = without, [], 0  # type: tuple[str, ...], list[Any], int
        # the keys are addresses of values; a value is open while its digest is computed
        self._open: dict[int, int] = {}
        self._closed: dict[int, bytes] = {}
        self._partial: dict[int, tuple[int, bytes]] = {}
        self._alive: list[Any] = []
        self._lowest = 0

    def root(self, values: tuple[Any, ...]) -> bytes:
        """Return the digest of all values."""
        try:
            return self.digest(values, "")
        except RecursionError:
            raise NoIdentityError("the value is nested too deeply") from None

    def digest(self, value: Any, place: str) -> bytes:
        """Return the digest of a value; if the value recurs inside itself, hash how many levels deeper it recurs."""
        if isinstance(value, np.generic) and (value.dtype.kind == "U" or value.dtype.name in _NUMBERS):
            value = value.item()
        if type(value) in (bytes, memoryview):
            return _hashed("bytes", value)
        if type(value) in _PLAIN:
            return _hashed(type(value).__name__, repr(value).encode())
        key = id(value)
        if key in self._closed:
            return self._closed[key]
        if key in self._partial or key in self._open:
            level, known = self._partial.get(key, (self._open.get(key, 0), b""))
            self._lowest = min(self._lowest, level)
            return known or _hashed("above", str(len(self._open) - level).encode())
        depth, outer, begun = len(self._open), self._lowest, len(self._partial)
        self._open[key], self._lowest = depth, depth
        self._alive.append(value)  # keep the object alive, so that its address stays unique
        try:
            content = self._content(value, place)
        finally:
            del self._open[key]
        if self._lowest >= depth:
            for each in list(self._partial)[begun:]:
                del self._partial[each]
            self._closed[key] = content
        else:
            self._partial[key] = self._lowest, content
        self._lowest = min(outer, self._lowest)
        return content

    def _content(self, value: Any, place: str) -> bytes:
        """Return the digest of the parts of a value."""
        own = _identity_of_ones_own(value)
        self._tolerates += own is not None
        try:
            kind, parts = _parts_of(value)
            # leave out fields only in the values themselves, at level 2; level 1 is the tuple that contains the values
            without = self.without if len(self._open) == 2 else ()
            digests = [
                _hashed(name, self.digest(part, f"{place}.{name}" if place else name))
                for name, part in parts
                if name not in without
            ]
        except NoIdentityError as error:
            if not self._tolerates:
                raise NoIdentityError(
                    str(error) or f"{place or 'the value'} is a {type(value).__name__}"
                ) from None
            self.opaque.append(value)
            kind, digests = "opaque", [_hashed(str(type(value).__qualname__))]
        finally:
            self._tolerates -= own is not None
        if own is not None:
            digests.append(_hashed("identity", own.encode()))
        return _hashed(kind, *(sorted(digests) if kind in _UNORDERED else digests))


_UNORDERED: Final = ("dict", "set", "frozenset")


def _hashed(kind: str, *parts: bytes | memoryview) -> bytes:
    """Return a hash of a value's kind and parts; hash the length of each part before the part."""
    summary = hashlib.blake2b(digest_size=16)
    for part in (kind.encode(), *parts):
        summary.update(len(part).to_bytes(8, "little"))
        summary.update(part)
    return summary.digest()


def _identity_of_ones_own(value: Any) -> str | None:
    """Return the text in the attribute `identity` of an object or function, or None."""
    if isinstance(value, type | types.ModuleType):
        return None
    try:
        identity = getattr(value, "identity", None)
    except Exception:  # noqa: BLE001  a user's property may raise anything
        return None
    return identity if isinstance(identity, str) else None


# -- the parts of a value ------------------------------------------------------------------------------------------


def _parts_of(value: Any) -> tuple[str, Parts]:
    """Return the kind of a value, such as "array", and its parts."""
    for types_of_kind, kind, parts in _KINDS:
        if isinstance(value, types_of_kind):
            return kind, parts(value)
    exact = _EXACT.get(type(value))
    if exact is not None:
        return type(value).__name__, exact(value)
    package = type(value).__module__.partition(".")[0]
    if package == "scipy" and is_sparse(value):
        return "sparse", _of_sparse(value)
    if (
        package == "pandas"
        and hasattr(value, "to_numpy")
        and (hasattr(value, "columns") or hasattr(value, "dtype"))
    ):
        return "frame", _of_frame(value)
    if package == "numba" and (function := _compiled_of(value)) is not None:
        return "compiled", _of_items((function, getattr(value, "targetoptions", None)))
    return "object", _of_object(value)


def _compiled_of(value: Any) -> Any:
    """Return the Python function from which Numba compiled a function, ufunc or callback; None for other objects."""
    makers = (getattr(value, name, None) for name in ("_dispatcher", "gufunc_builder"))
    functions = (getattr(each, name, None) for each in (value, *makers) for name in ("py_func", "_pyfunc"))
    return next((each for each in functions if each is not None), None)


def _of_type(value: type) -> Parts:
    if of_object(value) is Origin.USER:
        return parts_of_class(value)
    # identify a class that a package's function created, such as a named tuple, by its name only
    return iter([("name", signature(value))])


def _of_function(value: types.FunctionType) -> Parts:
    return parts_of_function(value) if of_object(value) is Origin.USER else parts_of_library_function(value)


def _of_named(value: Any) -> Parts:
    """Yield the name of code without source; for a bound method, also yield its object."""
    yield "name", (str(getattr(value, "__module__", "")), str(getattr(value, "__qualname__", value.__name__)))
    holder = getattr(value, "__self__", None)
    if holder is not None and not isinstance(holder, types.ModuleType):
        yield "object", holder


def _of_array(value: np.ndarray) -> Parts:
    subclass = type(value) not in (np.ndarray, np.memmap)
    yield "array", (value.dtype.descr if value.dtype.names else value.dtype.str, value.shape)
    if subclass:
        yield "class", type(value)
        yield "attributes", dict(getattr(value, "__dict__", {}))
    if isinstance(value, np.ma.MaskedArray):
        yield "mask", np.ma.getmaskarray(value)
        value = value.filled()
    if value.dtype.hasobject:
        yield "values", value.tolist()
    elif value.dtype.itemsize:
        yield "values", np.ascontiguousarray(value).reshape(-1).view(np.uint8).data


def _of_sparse(value: Any) -> Parts:
    """Yield the entries of a sparse matrix row by row, so that indices of 32 and of 64 bits give the same digest."""
    entries = value.tocoo()
    places = getattr(entries, "coords", None) or (entries.row, entries.col)
    order = np.lexsort(places[::-1])
    yield "format", (type(value).__name__, tuple(map(int, value.shape)))
    yield "places", [each[order].astype(np.int64) for each in places]
    yield "values", entries.data[order]


def _of_frame(value: Any) -> Parts:
    """Yield names, index and columns of a data frame; for a Series or an Index, yield its name, type and values."""
    yield "kind", type(value).__name__
    if hasattr(value, "columns"):
        yield "columns", value.columns
        yield "index", value.index
        for _, column in value.items():  # noqa: PERF102  the values of a frame are an array
            yield "column", column.array
        return
    if hasattr(value, "array"):
        yield "name", value.name
        yield "index", getattr(value, "index", None) if hasattr(value, "items") else None
    yield "dtype", (str(value.dtype), getattr(value.dtype, "categories", None))
    yield "values", value.to_numpy()


def _of_entries(value: dict[Any, Any]) -> Parts:
    return (("entry", pair) for pair in value.items())


def _of_items(value: Any) -> Parts:
    return (("", each) for each in value)


def _of_object(value: Any) -> Parts:
    """Yield the class of an object and its whole content."""
    cls = type(value)
    yield "class", cls
    lazy = {
        name
        for each in cls.__mro__
        for name, entry in vars(each).items()
        if isinstance(entry, functools.cached_property)
    }
    for name, held in sorted(getattr(value, "__dict__", {}).items()):
        if name not in lazy:  # skip cached properties, which other entries determine
            yield name, held
    for each in cls.__mro__:
        slots = vars(each).get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            full = f"_{each.__name__.lstrip('_')}{name}" if name.startswith("__") else name
            if hasattr(value, full) and name not in ("__dict__", "__weakref__"):
                yield name, getattr(value, full)
    for base, content in _CONTENTS:
        if isinstance(value, base):
            yield "content", content(value)
            return
    if any(_is_foreign(each) for each in cls.__mro__[:-1]):
        yield "state", _reduced(value)


_CONTENTS: Final[list[tuple[type, Callable[[Any], Any]]]] = [
    (dict, dict), (list, list), (tuple, tuple), (set, set), (frozenset, frozenset), (str, str.__str__),
    (bytes, bytes), (int, int.__int__), (float, float.__float__), (complex, complex.__complex__),
]  # fmt: skip
"""For each Python type, the function that returns the content that a user's class inherits from it."""


def _is_foreign(cls: type) -> bool:
    """Return whether a class is not written in Python, so that attributes may not show its whole content."""
    slots = vars(cls).get("__slots__", ())
    own = {"__dict__", "__weakref__", *((slots,) if isinstance(slots, str) else slots)}
    methods = types.MethodDescriptorType, types.WrapperDescriptorType, types.BuiltinFunctionType
    members = types.GetSetDescriptorType, types.MemberDescriptorType
    return any(
        isinstance(entry, methods) or (isinstance(entry, members) and name.lstrip("_") not in _bare(own))
        for name, entry in vars(cls).items()
    )


def _bare(names: set[str]) -> set[str]:
    """Return names without leading underscores, because Python renames attributes that begin with `__`."""
    return {name.lstrip("_") for name in names}


def _reduced(value: Any) -> Any:
    """Return the parts from which Python would copy an object; raise an error if Python cannot copy the object."""
    try:
        reduced = value.__reduce_ex__(4)
    except Exception as error:  # copying an object may run code of its class, which may raise any error
        raise NoIdentityError from error
    if isinstance(reduced, str):
        return reduced, str(type(value).__module__)
    function, arguments, state, *items = (*reduced, None, None, None)[:5]
    return function, arguments, state, *(None if each is None else list(each) for each in items)


_KINDS: Final[list[tuple[Any, str, Callable[[Any], Parts]]]] = [
    (np.generic, "number", lambda value: iter([("", value.dtype.str), ("", repr(value))])),
    (np.ndarray, "array", _of_array),
    (np.dtype, "dtype", lambda value: iter([("", value.str), ("", value.descr)])),
    (type, "class", _of_type),
    (types.FunctionType, "function", _of_function),
    (types.CodeType, "code", parts_of_code),
    (Uses, "module", parts_of_use),
    (Unread, "module", parts_of_unread),
    (types.ModuleType, "module", lambda value: parts_of_use(Uses(value, frozenset(vars(value))))),
    (types.MethodType, "method", lambda value: iter([("", value.__func__), ("", value.__self__)])),
    (_BY_NAME, "named", _of_named),
    (functools.partial, "partial", lambda value: _of_items((value.func, value.args, value.keywords))),
    (property, "property", lambda value: _of_items((value.fget, value.fset, value.fdel))),
    (staticmethod | classmethod, "wrapped", lambda value: _of_items((type(value), value.__func__))),
    (functools.cached_property, "wrapped", lambda value: _of_items((value.func,))),
    (functools._lru_cache_wrapper, "wrapped", lambda value: _of_items((value.__wrapped__,))),
]

_EXACT: Final[dict[type, Callable[[Any], Parts]]] = {
    tuple: _of_items,
    list: _of_items,
    set: _of_items,
    frozenset: _of_items,
    dict: _of_entries,
    types.MappingProxyType: lambda value: _of_entries(dict(value)),
    slice: lambda value: _of_items((value.start, value.stop, value.step)),
    bytearray: lambda value: _of_items((bytes(value),)),
    **{
        each: lambda value: iter([("name", getattr(value, "name", type(value).__name__))])
        for each in _WITHOUT_VALUE
    },
}
