"""Yields the parts of functions, classes and modules: instructions, closures, and the functions that code calls.

An identity depends on the instructions that this process runs, and on the file on disk: if the user has edited the
file, a process that starts later runs other instructions.
"""

from __future__ import annotations

import ast
import dis
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, is_dataclass
from functools import cache
from importlib.machinery import PathFinder
from importlib.util import find_spec
from pathlib import Path
from types import CodeType, FunctionType, GetSetDescriptorType, MemberDescriptorType, ModuleType
from typing import Any, Final

from refsvm.services.identity.origin import Origin, named, of_file, of_module, of_object, release, signature

Parts = Iterator[tuple[str, Any]]
"""Pairs of a name and a value, which together describe an object completely."""

_OF_A_CLASS: Final = {
    "__abstractmethods__", "__annotate__", "__annotate_func__", "__annotations__", "__annotations_cache__",
    "__dataclass_fields__", "__dataclass_params__", "__dict__", "__doc__", "__firstlineno__", "__match_args__",
    "__module__", "__orig_bases__", "__parameters__", "__qualname__", "__slotnames__", "__slots__",
    "__static_attributes__", "__type_params__", "__weakref__", "_abc_impl", "_value2member_map_",
}  # fmt: skip
"""Entries of a class that compute nothing, or that Python derives from other entries or from its use."""


@dataclass(frozen=True)
class Uses:
    """A module, and the names that code may read from the module."""

    module: ModuleType
    names: frozenset[str]


@dataclass(frozen=True)
class Unread:
    """A module of the user that is not imported, because an import would run its file."""

    name: str
    file: Path


def parts_of_code(code: CodeType) -> Parts:
    """Yield the instructions of a code object with their arguments, without comments and line numbers."""
    yield "arguments", (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
    yield "names", code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    yield "handlers", getattr(code, "co_exceptiontable", b"")
    for each in dis.get_instructions(code):
        yield each.opname, each.argval


def parts_of_function(function: FunctionType) -> Parts:
    """Yield the code, the closure and the globals that a user's function reads."""
    code, space = function.__code__, function.__globals__
    names = frozenset(names_in(code))
    yield "name", (str(function.__module__), function.__qualname__)
    yield "code", code
    yield "defaults", function.__defaults__
    yield "keyword defaults", function.__kwdefaults__
    yield "attributes", {name: value for name, value in vars(function).items() if name != "__wrapped__"}
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
        yield f"closure {name}", _used(_content(cell), names)
    wanted = sorted(name for name in set(_globals(code)) if name in space and not _is_dunder(name))
    for name in wanted:
        yield f"global {name}", _used(space[name], names)
    for name in sorted(set(_imports(code, str(space.get("__package__") or "")))):
        yield f"import {name}", _imported(name, names)
    yield "on disk", on_disk(function.__module__, [function.__qualname__, *wanted])


def parts_of_library_function(function: FunctionType) -> Parts:
    """Yield a package function's name, and the values of its closure if another function created this function."""
    yield "name", signature(function)
    if named(function) is not function:
        yield "code", function.__code__
        yield "defaults", (function.__defaults__, function.__kwdefaults__)
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            yield f"closure {name}", _content(cell)


def parts_of_class(cls: type) -> Parts:
    """Yield the parts of a user's class: its bases, its fields in order, and all entries of its body."""
    yield "name", (str(cls.__module__), cls.__qualname__)
    yield "bases", cls.__bases__
    yield "kind", signature(type(cls))
    yield "fields", tuple(getattr(cls, "__dataclass_fields__", ()))
    for name, value in sorted(vars(cls).items()):
        if name not in _OF_A_CLASS and not _is_made(cls, name, value):
            yield name, value
    yield "on disk", on_disk(cls.__module__, [cls.__qualname__])


def parts_of_use(use: Uses) -> Parts:
    """Yield a module's name, and for a user's module the values that code may read from the module."""
    module, space = use.module, vars(use.module)
    yield "module", module.__name__
    origin = of_module(module)
    if origin is Origin.LIBRARY:
        yield "release", release(module.__name__)
    if origin is Origin.USER:
        names = sorted(name for name in use.names if name in space and not _is_dunder(name))
        for name in names:
            yield name, _used(space[name], use.names)
        yield "on disk", on_disk(module.__name__, names)


def parts_of_unread(module: Unread) -> Parts:
    """Yield the statements of a module's file, and the other files of the user that the module may import."""
    yield "module", module.name
    try:
        tree = ast.parse(module.file.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError):
        return
    yield "on disk", [ast.dump(_undocumented(statement)) for statement in tree.body]
    package = module.name if module.file.stem == "__init__" else module.name.rpartition(".")[0]
    for name in sorted(_imports_of(tree, package)):
        yield f"import {name}", _imported(name, frozenset())


def names_in(code: CodeType) -> Iterator[str]:
    """Yield all names in a code object, and in the functions that it creates."""
    yield from code.co_names
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from names_in(each)


def _globals(code: CodeType) -> Iterator[str]:
    """Yield the names of globals in a code object, and in the functions that it creates."""
    for each in dis.get_instructions(code):
        if each.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            yield str(each.argval)
        elif isinstance(each.argval, CodeType):
            yield from _globals(each.argval)


def _imports(code: CodeType, package: str) -> Iterator[str]:
    """Yield the full names of the modules that a code object imports when it runs."""
    level = 0
    for each in dis.get_instructions(code):
        if isinstance(each.argval, CodeType):
            yield from _imports(each.argval, package)
        # before an instruction imports a module, other instructions load the number of leading dots and the names
        elif each.opname in ("LOAD_CONST", "LOAD_SMALL_INT") and type(each.argval) is int:
            level = each.argval
        elif each.opname == "IMPORT_NAME":
            yield _whole_name(str(each.argval), package, level)
            level = 0


def _whole_name(name: str, package: str, level: int) -> str:
    """Return the full name of a module that code of `package` imports with `level` dots."""
    above = ".".join(package.split(".")[: package.count(".") + 2 - level]) if level else ""
    return f"{above}.{name}".strip(".")


def _imports_of(tree: ast.AST, package: str) -> Iterator[str]:
    """Yield the full names of the modules that a file may import, including names that may not be modules."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = _whole_name(node.module or "", package, node.level)
            yield from (above, *(f"{above}.{alias.name}" for alias in node.names))


_unread: dict[str, Unread] = {}
"""Modules that this process described by their files; a later import does not change the description."""


def _imported(name: str, names: frozenset[str]) -> Any:
    """Return a description of the module `name`, which a user's code imports while it runs.

    If the module is neither imported nor in a user's file, the description is its name.
    """
    module = None if name in _unread else sys.modules.get(name)
    is_package = module is None or (hasattr(module, "__path__") and of_module(module) is Origin.USER)
    own = _unread_of(name) if module is None else Uses(module, names)
    others = sorted(names - {*vars(module or ast)}) if is_package else []
    places = [own, *(_unread_of(f"{name}.{each}") for each in others)]
    # describe a missing module by its name only, because the run itself reports that the module is missing
    return [*filter(None, places)] or name


def _unread_of(name: str) -> Unread | None:
    """Return the user's file that an import of `name` would run, without running it or its parent packages."""
    if name not in _unread:
        top, *below = name.split(".")
        try:
            spec = find_spec(top)
            for place in range(1, len(below) + 1):
                within = None if spec is None else spec.submodule_search_locations
                part = ".".join([top, *below[:place]])
                spec = None if within is None else PathFinder.find_spec(part, [*within])
        except (ImportError, ValueError):
            return None
        if spec is None or not spec.has_location or of_file(spec.origin, name) is not Origin.USER:
            return None
        _unread[name] = Unread(name, Path(str(spec.origin)))
    return _unread[name]


def _used(value: Any, names: frozenset[str]) -> Any:
    """Return a value unchanged; for a module, return `Uses`: the module and the names that code reads from it."""
    return Uses(value, names) if isinstance(value, ModuleType) else value


def _content(cell: Any) -> Any:
    """Return the value of a variable in a closure; ("empty",) if the variable has no value."""
    try:
        return cell.cell_contents
    except ValueError:
        return ("empty",)


def _is_dunder(name: str) -> bool:
    """Return whether Python itself, and not the user's code, sets a name in modules or classes, like ``__file__``."""
    return name.startswith("__") and name.endswith("__")


def _is_made(cls: type, name: str, value: Any) -> bool:
    """Return whether Python made an entry of a class from the fields or slots of the class."""
    is_unhashable = name == "__hash__" and value is None
    if is_unhashable or isinstance(value, GetSetDescriptorType | MemberDescriptorType):
        return True
    if not (is_dataclass(cls) and isinstance(value, FunctionType) and _is_dunder(name)):
        return False
    # methods of a dataclass have the file "<string>", like code run from text; their names begin with __create_fn__
    return value.__code__.co_qualname.startswith("__create_fn__.") or of_object(value) is Origin.PYTHON


# -- files on disk -------------------------------------------------------------------------------------------------


def on_disk(module: str | None, names: list[str]) -> list[str]:
    """Return the statements that define `names` in the file of a module as it is now, without comments."""
    file = getattr(sys.modules.get(module or ""), "__file__", None)
    if file is None or not Path(file).is_file():
        return []
    try:
        statements = _statements(Path(file).read_bytes())
    # return no statements if the file is missing, incomplete or not valid Python
    except (OSError, SyntaxError, ValueError, RecursionError):
        return []
    # for an inner function, read the outer function, whose statements contain the inner function
    outer = sorted({name.partition(".")[0] for name in names})
    return [text for name in outer for text in statements.get(name, ())]


@cache
def _statements(content: bytes) -> Mapping[str, list[str]]:
    """Return a dict from each name that a file binds to the statements that bind it, without docstrings."""
    texts: dict[str, list[str]] = {}
    for statement in ast.parse(content).body:
        text = ast.dump(_undocumented(statement))
        for name in sorted(set(_bound(statement))):
            texts.setdefault(name, []).append(text)
    return texts


def _undocumented(statement: ast.stmt) -> ast.stmt:
    """Return a statement without the docstrings inside it."""
    for node in ast.walk(statement):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0]
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                node.body = node.body[1:] or [ast.Pass()]
    return statement


def _bound(statement: ast.AST) -> Iterator[str]:
    """Yield the names that a statement of a file binds, including names that it binds only under conditions."""
    if isinstance(statement, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        yield statement.name
        return
    for node in ast.walk(statement):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
