"""The decorators of compiled functions: their options, and the names under which their code is cached.

Numba looks up compiled code by the file and the name of a function, and compiles again when that file has changed. It
does not notice a change in another file from which the function takes a helper or a constant. So every name here ends
in a stamp of all files of `refsvm/compiled` and of those outside that it takes constants from. Any edit then makes
new names, and the files of that folder may import from each other. The stamp reads those files without importing them:
kernels are compiled too, and `refsvm.core.state` rests on kernels.

=============  ========================================================
`twin`         the function of a rule; compiled on first use, cached
`inlined`      a small helper or a hot loop, built into its callers
`called`       a larger helper, called by compiled functions
`from_python`  a function that Python calls; compiled when its file is imported, cached
=============  ========================================================

Python cannot call a helper: `inlined`, `called` and `allocating` make no entry for it.
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
"""Division by zero gives ∞ as in NumPy; nothing is allocated, so references need not be counted."""


class _Unoptimized(JITCodeLibrary):  # type: ignore[misc,unused-ignore]
    """The code of a helper as it was written: it is optimised once, as a part of its callers."""

    def _optimize_final_module(self) -> None:
        """Leave it to the callers."""


class _HelperCompiler(Compiler):  # type: ignore[misc,unused-ignore]
    """Numba's compiler, which would optimise each helper by itself as well: a quarter of all its time."""

    def compile_extra(self, func: Any) -> Any:
        """Compile a function."""
        self.state.library = _Unoptimized(self.state.targetctx.codegen(), func.__qualname__)
        self.state.library.enable_object_caching()
        return super().compile_extra(func)


HELPER = {
    **OPTIONS, "no_cpython_wrapper": True, "no_cfunc_wrapper": True, "pipeline_class": _HelperCompiler,
}  # fmt: skip
"""Options of helpers: they have no entry for Python, and are optimised in their callers alone."""


def called(function: Function) -> Function:
    """Compile a helper by itself."""
    made: Function = njit(**HELPER)(function)
    return made


def allocating(function: Function) -> Function:
    """Compile a helper by itself that makes arrays."""
    made: Function = njit(**{**HELPER, "_nrt": True})(function)
    return made


def inlined(function: Function) -> Function:
    """Compile a helper by itself, and build its machine code into its callers."""
    made: Function = njit(**HELPER, forceinline=True)(function)
    return made


def copied(function: Function, name: str) -> Function:
    """Return the same function under another name, to be compiled for arguments of other types."""
    # Numba keeps one table of types for each function, and one file of the cache for each name
    copy = FunctionType(function.__code__, function.__globals__, name)
    copy.__module__, copy.__qualname__ = function.__module__, name
    return copy


class NotCompiledYet(BaseException):
    """Raised in place of compiling within `never_compiling`; no handler of errors is to take it for one."""


class _Thread(threading.local):
    only_loads = False


_thread, _log = _Thread(), logging.getLogger("refsvm")


@contextmanager
def never_compiling() -> Iterator[None]:
    """Within this block this thread loads code of the package from disk, or raises NotCompiledYet.

    A user's twin is compiled all the same: no other process can.
    """
    _thread.only_loads = True
    try:
        yield
    finally:
        _thread.only_loads = False


def only_loads() -> bool:
    """Whether this thread is within `never_compiling`."""
    return _thread.only_loads


@cache
def announce() -> None:
    """Log the first compilation of a process; the command line shows the record (`refsvm.cli.messages`)."""
    sentence = "Numba compiles refsvm's loop and rules for this machine, once; nothing that is measured waits for it."
    _log.info(sentence, extra={"notice": True})


class _BySource:
    """What Numba wants to know of a function in a file; the folders are chosen by `code_files`."""

    def __init__(self, function: Function, file: str) -> None:
        self._py_file, self._line = file, function.__code__.co_firstlineno

    @classmethod
    def from_function(cls, function: Function, file: str) -> _BySource | None:
        """Return None for a function that was typed in, for which Numba has ways of its own."""
        return cls(function, file) if os.path.exists(file) else None  # noqa: PTH110

    def get_cache_path(self) -> str:
        """Return the folder that the code is kept in."""
        return str([*code_files.folders_of(self._py_file), ""][-1])

    def get_source_stamp(self) -> str:
        """Return a digest of the file."""
        with open(self._py_file, "rb") as stream:  # noqa: PTH123
            return hashlib.sha256(stream.read()).hexdigest()

    def get_disambiguator(self) -> str:
        """Return what tells functions of one name in a file apart."""
        return str(self._line)


class _Kept(CompileResultCacheImpl):  # type: ignore[misc,unused-ignore]
    _locator_classes = [_BySource, *CompileResultCacheImpl._locator_classes]  # noqa: RUF012


class CodeOnDisk(FunctionCache):  # type: ignore[misc,unused-ignore]
    """Numba's cache, with files that are whole and of trusted folders, and without what only the compiler needs.

    Numba imports its versions of most of Python and NumPy first, and parts of SciPy: half the time that loading takes.
    The compiler fetches them by itself. Loaded code needs the runtime's functions, which unpack arrays.
    """

    _impl_class = _Kept

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        file = inspect.getfile(function)
        self._source = file if os.path.exists(file) else None  # noqa: PTH110

    def _file_and_key(self, sig: Any, codegen: Any) -> tuple[str, str]:
        """Return the name of a file, and all that the code in it depends on."""
        versions = numba.__version__, llvmlite.__version__, self._impl.locator.get_source_stamp()
        key = repr((self._index_key(sig, codegen), versions))
        number = hashlib.sha256(key.encode()).hexdigest()[:12]
        return f"{self._impl.filename_base}.{number}.nbc", key

    def _load_overload(self, sig: Any, target_context: Any) -> Any:
        found = code_files.load(self._source, *self._file_and_key(sig, target_context.codegen()))
        return None if found is None else self._impl.rebuild(target_context, pickle.loads(found))

    def _save_overload(self, sig: Any, data: Any) -> None:
        if self._impl.check_cachable(data):
            name, key = self._file_and_key(sig, data.codegen)
            code_files.save(self._source, name, key, dumps(self._impl.reduce(data)))

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the compiled code for a signature, or None, upon which Numba compiles it."""
        rtsys.initialize(target_context)
        with self._guard_against_spurious_io_errors():
            found = self._load_overload(sig, target_context)
        if found is None and self._py_func.__module__.startswith("refsvm."):
            if _thread.only_loads:
                raise NotCompiledYet(self._py_func.__name__)
            announce()
        return found


def cached(function: Function, *signatures: Any, **options: Any) -> Function:
    """Compile a function, at once if signatures are given and on first use otherwise; keep its code on disk."""
    function.__qualname__ = f"{function.__name__}_{stamp()}"  # the name of its files in the cache
    made: Any = njit(**{**OPTIONS, "no_cfunc_wrapper": True, **options})(function)
    if hasattr(made, "compile"):  # NUMBA_DISABLE_JIT interprets it
        with suppress(RuntimeError):  # Numba does not know where it comes from, as text that was executed
            made._cache = CodeOnDisk(function)
        for signature in signatures:
            made.compile(signature)
        if signatures:
            made.disable_compile()
    result: Function = made
    return result


def from_python(*signatures: Any) -> Callable[[Function], Function]:
    """Compile a function for Python now, for one signature or several; other threads run meanwhile."""
    return lambda function: cached(function, *signatures, nogil=True)


def twin(signature: Any, allocates: bool = False) -> Callable[[Function], Function]:
    """Return a decorator that makes a function the twin of a rule in the role of this signature; `ready` compiles it.

    The attribute ``inlined`` is the same function for compiled code that calls it directly.
    """

    def decorate(function: Function) -> Function:
        part = inlined(function)
        made = cached(function, _nrt=allocates, no_cfunc_wrapper=False)  # it has a pointer
        made.signature, made.inlined = signature, part  # type: ignore[attr-defined]
        return made

    return decorate


_one_compiles = threading.Lock()


def ready(rule: Any) -> Any:
    """Return a twin, compiled for its signature or loaded; a function that is not made by `twin` stays as it is."""
    # looked at without the lock first: nearly always it is compiled
    if isinstance(rule, Dispatcher) and hasattr(rule, "signature") and not rule.overloads:
        with _one_compiles:
            if not rule.overloads:  # another thread may have been first
                rule.compile(rule.signature)
                rule.disable_compile()
    return rule
