"""The decorators of compiled functions, which set Numba's options and the names under which code is cached.

Numba finds compiled code by the file and the name of a function, and compiles again when this file has changed. Numba
does not notice changes in other files from which the function imports a helper or a constant. Therefore the name of
every cached function ends in a stamp of all files with compiled code, and of all files from which they import
constants. After any edit of these files, all functions get new names, and Numba compiles all of them again. `stamp`
reads the files and does not import them, because compiled functions need the stamp for their names while their file
is imported.

=============  ========================================================
`twin`         for the function of a rule, which is compiled at its first use and cached
`inlined`      for a small helper or a hot loop, which is built into its callers
`called`       for a larger helper, which compiled functions call
`from_python`  for a function that Python calls, which is compiled when its file is imported, and cached
=============  ========================================================

Python cannot call helpers, because the decorators `inlined`, `called` and `allocating` make no entry point for Python.
"""

from __future__ import annotations

import hashlib
import inspect
import logging
import os
import pickle
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from types import FunctionType
from typing import Any

import llvmlite
import llvmlite.binding as llvm
import numba
from numba import njit
from numba.core.caching import CompileResultCacheImpl, FunctionCache
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.dispatcher import Dispatcher
from numba.core.runtime import rtsys
from numba.core.serialize import dumps

from refsvm.compiled.interface import code_files
from refsvm.compiled.interface.stamp import stamp

Function = Callable[..., Any]

OPTIONS = {"error_model": "numpy", "_nrt": False}
"""Options of compiled functions: division by zero gives ∞ as in NumPy, and no references are counted, because nothing
is allocated."""


class _Unoptimized(JITCodeLibrary):  # type: ignore[misc,unused-ignore]
    """The unoptimised code of a helper, which the compiler optimises only as a part of the helper's callers."""

    def _optimize_final_module(self) -> None:
        """Do nothing, because the callers of the helper optimise its code."""

    def _finalize_final_module(self) -> None:
        """Load nothing; otherwise callers would call the loaded function in place of their own optimised copy."""
        whole: llvm.ModuleRef = self._final_module  # type: ignore[has-type,unused-ignore]
        names = [str(each) for each in whole.global_variables if "NumbaEnv" in each.name]
        self._final_module = llvm.parse_assembly("\n".join(names))  # Numba writes to these variables
        super()._finalize_final_module()
        self._final_module = whole


class _HelperCompiler(Compiler):  # type: ignore[misc,unused-ignore]
    """Numba's compiler without its separate optimisation of helpers, which takes a quarter of Numba's compile time."""

    def compile_extra(self, func: Any) -> Any:
        """Compile a function without optimising its code."""
        self.state.library = _Unoptimized(self.state.targetctx.codegen(), func.__qualname__)
        self.state.library.enable_object_caching()
        return super().compile_extra(func)


HELPER = {
    **OPTIONS, "no_cpython_wrapper": True, "no_cfunc_wrapper": True, "pipeline_class": _HelperCompiler,
}  # fmt: skip
"""Options of helpers, which have no entry point for Python and are optimised only in their callers."""


def called(function: Function) -> Function:
    """Compile a helper that compiled functions call."""
    dispatcher: Function = njit(**HELPER)(function)
    return dispatcher


def allocating(function: Function) -> Function:
    """Compile a helper that makes arrays and that compiled functions call."""
    dispatcher: Function = njit(**{**HELPER, "_nrt": True})(function)
    return dispatcher


def inlined(function: Function) -> Function:
    """Compile a helper and build its machine code into its callers."""
    dispatcher: Function = njit(**HELPER, forceinline=True)(function)
    return dispatcher


def copied(function: Function, name: str) -> Function:
    """Return a copy of the function with another name, which can be compiled for other argument types."""
    # copy under another name: Numba keeps a table of types for each function, and a cache file for each name
    copy = FunctionType(function.__code__, function.__globals__, name)
    copy.__module__, copy.__qualname__ = function.__module__, name
    return copy


class NotCompiledYet(BaseException):
    """Raised inside `never_compiling` if code is not on disk; `except Exception` does not catch it."""


class _Thread(threading.local):
    only_loads = False


_thread, _log = _Thread(), logging.getLogger("refsvm")


@contextmanager
def never_compiling() -> Iterator[None]:
    """Open a block in which this thread loads the package's code from disk or raises NotCompiledYet.

    Even inside the block, this thread compiles a user's own twin, because no other process can compile it.
    """
    _thread.only_loads = True
    try:
        yield
    finally:
        _thread.only_loads = False


def only_loads() -> bool:
    """Return True if this thread is inside a block of `never_compiling`."""
    return _thread.only_loads


@cache
def announce() -> None:
    """Log once that this process compiles code; the command line shows the message (`refsvm.cli.messages`)."""
    sentence = "Numba compiles refsvm's loop and rules for this machine, once; nothing that is measured waits for it."
    _log.info(sentence, extra={"notice": True})


class _BySource:
    """Tells Numba where the source of a function is and where its compiled code is cached, as `code_files` decides."""

    def __init__(self, function: Function, file: str) -> None:
        self._py_file, self._line = file, function.__code__.co_firstlineno

    @classmethod
    def from_function(cls, function: Function, file: str) -> _BySource | None:
        """Return a `_BySource` for a function in a file; None for a function typed at a prompt."""
        return cls(function, file) if os.path.exists(file) else None  # noqa: PTH110

    def get_cache_path(self) -> str:
        """Return the folder in which compiled code is stored."""
        return str([*code_files.folders_of(self._py_file), ""][-1])

    def get_source_stamp(self) -> str:
        """Return a digest of the function's source file."""
        with open(self._py_file, "rb") as stream:  # noqa: PTH123
            return hashlib.sha256(stream.read()).hexdigest()

    def get_disambiguator(self) -> str:
        """Return a text that distinguishes functions that have the same name in one file."""
        return str(self._line)


class _Kept(CompileResultCacheImpl):  # type: ignore[misc,unused-ignore]
    _locator_classes = [_BySource, *CompileResultCacheImpl._locator_classes]  # noqa: RUF012


class CodeOnDisk(FunctionCache):  # type: ignore[misc,unused-ignore]
    """Numba's cache, restricted to complete files in trusted folders; skips imports that only the compiler needs.

    Numba's own cache first imports Numba's versions of most of Python and NumPy, and of parts of SciPy, which takes
    half of the loading time. Only the compiler needs these versions, and the compiler imports them itself. Loaded code
    needs only the functions of the runtime that unpack arrays.
    """

    _impl_class = _Kept

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        file = inspect.getfile(function)
        self._source = file if os.path.exists(file) else None  # noqa: PTH110

    def _file_and_key(self, sig: Any, codegen: Any) -> tuple[str, str]:
        """Return the name of a file for compiled code, and a key of everything on which this code depends."""
        versions = numba.__version__, llvmlite.__version__, self._impl.locator.get_source_stamp()
        key = repr((self._index_key(sig, codegen), versions))
        number = hashlib.sha256(key.encode()).hexdigest()[:12]
        return f"{self._impl.filename_base}.{number}.nbc", key

    def _load_overload(self, sig: Any, target_context: Any) -> Any:
        content = code_files.load(self._source, *self._file_and_key(sig, target_context.codegen()))
        return None if content is None else self._impl.rebuild(target_context, pickle.loads(content))

    def _save_overload(self, sig: Any, data: Any) -> None:
        if self._impl.check_cachable(data):
            name, key = self._file_and_key(sig, data.codegen)
            code_files.save(self._source, name, key, dumps(self._impl.reduce(data)))

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the compiled code for a signature, or None if Numba must compile it."""
        rtsys.initialize(target_context)
        with self._guard_against_spurious_io_errors():
            code = self._load_overload(sig, target_context)
        if code is None and self._py_func.__module__.startswith("refsvm."):
            if _thread.only_loads:
                raise NotCompiledYet(self._py_func.__name__)
            announce()
        return code


def cached(function: Function, *signatures: Any, **options: Any) -> Function:
    """Compile a function and keep its code on disk; without signatures, compile the function at its first use."""
    function.__qualname__ = f"{function.__name__}_{stamp()}"  # Numba names files after this name
    dispatcher: Any = njit(**{**OPTIONS, "no_cfunc_wrapper": True, **options})(function)
    if hasattr(dispatcher, "compile"):  # with NUMBA_DISABLE_JIT, Python runs the function
        with suppress(RuntimeError):  # a function made by `exec` has no source file
            dispatcher._cache = CodeOnDisk(function)
        for signature in signatures:
            dispatcher.compile(signature)
        if signatures:
            dispatcher.disable_compile()
    result: Function = dispatcher
    return result


def from_python(*signatures: Any) -> Callable[[Function], Function]:
    """Return a decorator that compiles a function that Python calls, for one or several signatures.

    The compiled function releases the interpreter's lock, so that other threads can run.
    """
    return lambda function: cached(function, *signatures, nogil=True)


def twin(signature: Any, allocates: bool = False) -> Callable[[Function], Function]:
    """Return a decorator that makes a function with this signature the twin of a rule; `ready` compiles the twin.

    The attribute ``inlined`` of the twin is the same function in a form that compiled code can call directly.
    """

    def decorate(function: Function) -> Function:
        part = inlined(function)
        # compile the C wrapper, whose address is the address of the twin
        dispatcher = cached(function, _nrt=allocates, no_cfunc_wrapper=False)
        dispatcher.signature, dispatcher.inlined = signature, part  # type: ignore[attr-defined]
        return dispatcher

    return decorate


_one_compiles = threading.Lock()


def ready(rule: Any) -> Any:
    """Compile or load a twin for its signature and return it; return any other function unchanged."""
    # take the lock only if the twin is not compiled yet; most twins are already compiled here
    if isinstance(rule, Dispatcher) and hasattr(rule, "signature") and not rule.overloads:
        with _one_compiles:
            if not rule.overloads:  # another thread may have compiled the twin
                rule.compile(rule.signature)
                rule.disable_compile()
    return rule
