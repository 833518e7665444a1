"""Passes a named tuple of arrays to compiled code as one address, instead of more than a hundred numbers.

Numba passes a tuple of arrays as the address, the lengths and the strides of each array; compiling a function that gets
the 24 arrays of a state in this way takes a tenth of a second. A tuple made by `by_address` is packed into a block of
int64. For each field, the block holds the address and the lengths of an array, the bits of a number, or the
address of another block. Compiled code gets the address of the block and loads the fields that it reads. All arrays are
C-contiguous, so strides and item sizes are constants of their types. Compiled code counts no references: the tuple
keeps its arrays and its block alive, and the caller of compiled code must keep the tuple.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, cached_property
from typing import Any, ClassVar, TypeVar

import numpy as np
from llvmlite import ir
from numba import int64, types, void
from numba.core import cgutils
from numba.core.datamodel import models, register_default
from numba.core.imputils import impl_ret_borrowed, lower_getattr_generic
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.extending import NativeValue, intrinsic, typeof_impl, unbox
from numba.np.arrayobj import populate_array

from refsvm.compiled.interface.twin import cached, copied

WORD = ir.IntType(64)


class Block(types.Type):
    """The Numba type of a named tuple; compiled code gets such a tuple as the address of its block.

    Parameters
    ----------
    cls : class made by `by_address`
        The class of the named tuple.
    kinds : tuple of Numba types
        The type of each field.
    rows : dtype, optional
        The dtype of the kernel rows, if the class has a separate Numba type for each dtype of its rows.
    """

    def __init__(self, cls: Any, kinds: tuple[Any, ...], rows: np.dtype | None = None) -> None:
        self.kinds = dict(zip(cls._fields, kinds, strict=True))
        self.words = sum(map(words, kinds))
        cls.types[rows] = self
        super().__init__(name=f"{cls.__name__}_{rows}" if rows else cls.__name__)


register_default(Block)(models.OpaqueModel)


def words(kind: Any) -> int:
    """Return the number of words that a field of this type takes in a block."""
    if isinstance(kind, types.BaseTuple):
        return sum(map(words, kind))
    return 1 + kind.ndim if isinstance(kind, types.Array) else 1


# -- in compiled code: reading a field -----------------------------------------------------------------------------


@infer_getattr
class _Fields(AttributeTemplate):
    """Tells Numba the types of the fields of a `Block`."""

    key = Block

    def generic_resolve(self, block: Any, name: str) -> Any:
        return block.kinds.get(name)


@lower_getattr_generic(Block)
def _field(context: Any, builder: Any, block: Any, address: Any, name: str) -> Any:
    """Generate code that loads a field from the block at `address`."""
    at, place = 0, builder.bitcast(address, WORD.as_pointer())
    for each, kind in block.kinds.items():
        if each == name:
            return impl_ret_borrowed(context, builder, kind, _loaded(context, builder, place, at, kind))
        at += words(kind)
    raise AttributeError(name)


def _loaded(context: Any, builder: Any, place: Any, at: int, kind: Any) -> Any:
    """Generate code that loads the value that begins at word `at` of the block."""
    if isinstance(kind, types.BaseTuple):
        starts = [at + sum(map(words, kind.types[:k])) for k in range(len(kind))]
        parts = [_loaded(context, builder, place, s, part) for s, part in zip(starts, kind, strict=True)]
        return context.make_tuple(builder, kind, parts)
    items = []
    for k in range(at, at + words(kind)):
        word = builder.load(cgutils.gep_inbounds(builder, place, k))
        # compiled code never writes to a block of packed arguments, so LLVM may load a word once and use it many times
        word.set_metadata("invariant.load", builder.module.add_metadata([]))
        items.append(word)
    if isinstance(kind, types.Array):
        array, (pointer, *shape) = context.make_array(kind)(context, builder), items
        size = context.get_abi_sizeof(context.get_data_type(kind.dtype))
        strides = [WORD(size)]
        for length in shape[:0:-1]:
            strides.insert(0, builder.mul(strides[0], length, flags=("nsw",)))
        data = builder.inttoptr(pointer, context.get_data_type(kind.dtype).as_pointer())
        populate_array(array, data=data, shape=shape, strides=strides, itemsize=WORD(size), meminfo=None)
        return array._getvalue()
    if isinstance(kind, Block):
        return builder.inttoptr(items[0], cgutils.voidptr_t)
    return builder.bitcast(items[0], context.get_data_type(kind))


# -- in Python: packing --------------------------------------------------------------------------------------------


@intrinsic
def _store(typing: Any, values: Any, block: Any) -> Any:
    """Write the words of a tuple to a block."""

    def write(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = context.make_array(block)(context, builder, arguments[1]).data
        for k, word in enumerate(_words_of(context, builder, values, arguments[0])):
            builder.store(word, cgutils.gep_inbounds(builder, place, k))
        return context.get_dummy_value()

    return void(values, block), write


def _words_of(context: Any, builder: Any, kind: Any, value: Any) -> list[Any]:
    """Return the 64-bit words that represent a value in a block."""
    if isinstance(kind, types.BaseTuple):
        parts = (
            _words_of(context, builder, part, builder.extract_value(value, k)) for k, part in enumerate(kind)
        )
        return [word for part in parts for word in part]
    if isinstance(kind, types.Array):
        array = context.make_array(kind)(context, builder, value)
        return [builder.ptrtoint(array.data, WORD), *cgutils.unpack_tuple(builder, array.shape)]
    if isinstance(kind, Block):
        return [builder.ptrtoint(value, WORD)]
    return [builder.bitcast(value, WORD)]


def pack(values, block):  # type: ignore[no-untyped-def]
    """Write the words of a tuple to a block."""
    _store(values, block)


@cache
def packer(block: Block) -> Any:
    """Return `pack`, compiled for this type of block or loaded from disk."""
    signature = void(types.BaseTuple.from_types(tuple(block.kinds.values())), int64[::1])
    made: Any = cached(copied(pack, f"pack_{block}"), signature)
    return made.overloads[signature.args].entry_point


class ByAddress:
    """The methods that `by_address` adds to a named tuple."""

    types: ClassVar[dict[np.dtype | None, Block]]
    rows_field: ClassVar[str]  # name of the field with the kernel rows

    @property
    def kind(self) -> Block:
        """The type that the named tuple has in compiled code."""
        return self.types[getattr(self, self.rows_field).dtype if self.rows_field else None]

    @cached_property
    def address(self) -> int:
        """The address of the tuple's block; the first access packs the block."""
        values: Any = self
        kind = self.kind
        self.block = np.empty(kind.words, dtype=np.int64)
        packer(kind)(tuple(values), self.block)
        return int(self.block.__array_interface__["data"][0])


Class = TypeVar("Class")


def by_address(rows: str = "") -> Callable[[type[Class]], type[Class]]:
    """Return a decorator for named tuples; compiled code gets a decorated tuple as an address.

    Parameters
    ----------
    rows : str
        Name of the field with the kernel rows. The dtype of this field decides the Numba type of a tuple; without a
        name, the class has a single Numba type.
    """

    def decorate(cls: type[Class]) -> type[Class]:
        names: dict[str, Any] = {
            "__doc__": cls.__doc__,
            "__module__": cls.__module__,
            "types": {},
            "rows_field": rows,
        }
        made: Any = type(cls.__name__, (ByAddress, cls), names)
        typeof_impl.register(made)(lambda value, context: value.kind)
        result: type[Class] = made
        return result

    return decorate


@unbox(Block)
def _address(block: Any, value: Any, c: Any) -> Any:
    """Convert a tuple to the address of its block when Python passes the tuple to compiled code."""
    address = c.pyapi.object_getattr_string(value, "address")
    pointer = c.pyapi.long_as_voidptr(address)
    c.pyapi.decref(address)
    return NativeValue(pointer, is_error=c.pyapi.c_api_error())
