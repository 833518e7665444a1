"""Doors: the four functions that code outside gives to the reference where no caller can pass them as arguments.

`refsvm.doors` opens them when `refsvm` is imported. Each has a default with which the reference runs alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final


class Doors:
    """The functions behind the doors; code outside puts its own functions in the place of the defaults.

    Attributes
    ----------
    rendered : callable
        ``rendered(result, form)``: a result as "text" for `print`, as "html" for a notebook, or as one "line"; by
        default its one line. It cannot be an argument, because Python calls ``__str__`` without any.
    kernel_named : callable
        ``kernel_named(kernel, gamma, degree, coef0)``: the kernel that these arguments name, or None for the default;
        ``kernel_named()`` is the default kernel. By default a kernel is an object, and None the linear one. It cannot
        be an argument, because users call ``DualProblem.classification(X, y, kernel="rbf")`` themselves.
    rows_and_guards : callable or None
        ``rows_and_guards(problem, options, limits, rows, reads_values)``: the kernel rows of a run, float64 or float32,
        and its guards, see `refsvm.core.solver.options.rows_and_guards`, the default. It is an argument of
        `refsvm.core.solver.options.RunOptions`; it is a door, too, because users call ``Rounds(problem)`` themselves.
    workers : callable
        ``workers(n_jobs)``: an object that shares rounds among several workers; by default None, for one worker. It
        cannot be an argument, because users call ``Rounds(problem, n_jobs=2)`` themselves.
    """

    def __init__(self) -> None:
        self.rendered: Callable[[Any, str], str] = lambda result, form: repr(result)
        self.kernel_named: Callable[..., Any] = lambda *kernel: kernel[0] if kernel else None
        self.rows_and_guards: Callable[..., tuple[Any, list[Any]]] | None = None
        self.workers: Callable[[Any], Any] = lambda n_jobs: None


DOORS: Final = Doors()
"""The doors of this process."""
