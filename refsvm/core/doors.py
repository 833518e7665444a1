"""Doors: four functions that code outside `refsvm.core` sets, because no caller can pass them as arguments.

`refsvm.doors` sets the four functions when `refsvm` is imported. Each of the four functions has a default, so that
`refsvm.core` also works without the rest of the package.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final


class Doors:
    """Holds the four functions; code outside `refsvm.core` replaces the defaults by its own functions.

    Attributes
    ----------
    rendered : callable
        ``rendered(result, form)`` returns a result as "text" for `print`, as "html" for a notebook, or as one "line".
        The default function returns one line, whatever `form` is. No caller can pass `rendered` as an argument, because
        Python calls ``__str__`` without arguments.
    kernel_named : callable
        ``kernel_named(kernel, gamma, degree, coef0)`` returns the kernel that these arguments describe;
        ``kernel_named()`` returns the default kernel. The default function accepts a kernel object, or
        None, which means the linear kernel. `refsvm.doors` sets `kernel_named`, because users do not pass this function
        when they call ``DualProblem.classification(X, y, kernel="rbf")``.
    rows_and_guards : callable or None
        ``rows_and_guards(problem, options, limits, rows, reads_values)`` returns two things: the kernel rows of a run,
        in float64 or float32, and the guards of the run. The default is `refsvm.core.solver.options.rows_and_guards`.
        `refsvm.doors` sets `rows_and_guards`, because users do not pass this function to ``Rounds(problem)``.
    workers : callable
        ``workers(n_jobs)`` returns an object that divides the rounds of a `Rounds` object among several workers; the
        default function returns None, and one worker then runs all rounds. `refsvm.doors` sets
        `workers`, because users do not pass this function to ``Rounds(problem, n_jobs=2)``.
    """

    def __init__(self) -> None:
        self.rendered: Callable[[Any, str], str] = lambda result, form: repr(result)
        self.kernel_named: Callable[..., Any] = lambda *kernel: kernel[0] if kernel else None
        self.rows_and_guards: Callable[..., tuple[Any, list[Any]]] | None = None
        self.workers: Callable[[Any], Any] = lambda n_jobs: None


DOORS: Final = Doors()
"""The four functions that this process uses."""
