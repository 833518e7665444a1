"""Doors: the functions that the house around gives to the reference. By its defaults the reference runs alone.

`refsvm` opens them when it is imported. Nothing else in this folder knows that there is a house.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Final


class Doors:
    """The functions behind the doors; a room outside puts its own one in the place of a default.

    Attributes
    ----------
    rendered : callable
        ``rendered(result, form)``: a result as "text" for ``print``, as "html" for a notebook, or as one "line". By
        default its one line.
    line_of : callable
        ``line_of(progress, asked)``: the line of a long call while its block is computed. By default there is none.
    guards_for, with_rules : callables
        The guards of a run, and those of a solve with some rules. By default those of `refsvm.core.guards.rounding`.
    worker_count, sharing_pays, in_parts : callables
        How many workers are asked for, whether rounds are shared among them, and their results. By default one works.
    kernel_asked, default_kernel : callable and object
        ``kernel_asked(kernel, gamma, degree, coef0)``: a kernel by its name; the one that stands for None. By default a
        kernel is an object, and None the linear one.
    begins_in_float32, reads_float32 : callables
        Whether a solve begins on float32 rows, and whether its rules read them as they are. By default neither.
    stacked : callable
        ``stacked(problems, rules, limit)``: take the steps of many small problems at once; whether it did. By default
        not.
    """

    def __init__(self) -> None:
        self.rendered: Callable[[Any, str], str] = lambda result, form: repr(result)
        self.line_of: Callable[[Any, Any], AbstractContextManager[Any]] = lambda progress, asked: (
            nullcontext()
        )
        self.guards_for: Callable[..., list[Any]] | None = None
        self.with_rules: Callable[[list[Any], Any], list[Any]] = lambda guards, rules: guards
        self.worker_count: Callable[[Any], int] = lambda n_jobs: 1
        self.sharing_pays: Callable[..., bool] = lambda waiting, seconds, is_compiled: False
        self.in_parts: Callable[..., Iterator[Any]] = lambda runner, rounds, seconds: iter(())
        self.kernel_asked: Callable[..., Any] = lambda kernel, *parameters: kernel
        self.default_kernel: Any = None
        self.begins_in_float32: Callable[..., bool] = lambda problem, rules, cache_mb: False
        self.reads_float32: Callable[[Any], bool] = lambda rules: False
        self.stacked: Callable[[Any, Any, int], bool] = lambda problems, rules, limit: False


DOORS: Final = Doors()
"""Of this process."""
