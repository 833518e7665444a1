"""The warning about numbers that come from machines which are not solved: that of `refsvm.SVC`, with its remedy.

A solve that you have ended yourself, by Ctrl-C or a callback, is told by a status alone.
"""

from __future__ import annotations

import sys
import warnings
from collections import Counter
from collections.abc import Iterable
from typing import Final

from refsvm.core._checks import frames_within
from refsvm.core.result import Status

REMEDY: Final = {
    Status.MAX_ITER: "Scale the features (StandardScaler), raise max_iter, or choose a smaller C.",
    Status.TIME_LIMIT: "Raise time_limit, or scale the features (StandardScaler).",
    Status.INSEPARABLE: "Give a finite C, or a kernel that separates them.",
    Status.NOT_FINITE: "Give a copy of the kernel matrix that no other code writes to, or scale the features.",
    Status.STALLED: "Scale the features (StandardScaler), raise the tolerance, or choose another selector.",
}
"""By what ended a solve."""

BY_USER: Final = (Status.CALLBACK, Status.INTERRUPTED)


class UnsolvedWarning(UserWarning):
    """The same where scikit-learn is not loaded, whose ConvergenceWarning is a kind of UserWarning, too."""


def unsolved(statuses: Iterable[Status]) -> Counter[Status]:
    """Count the statuses of solves that did not converge, but for those that the user has ended.

    Examples
    --------
    >>> from refsvm import Status
    >>> from refsvm.core.engine.unsolved import unsolved
    >>> unsolved([Status.MAX_ITER, Status.CONVERGED, Status.CALLBACK])[Status.MAX_ITER]
    1
    """
    return Counter(each for each in statuses if each is not Status.CONVERGED and each not in BY_USER)


def warn_of_unsolved(what: str, found: Counter[Status], total: int, rests: str) -> None:
    """Warn of solves that did not converge, if there are any: how many, why, what rests on them, and the remedy.

    Parameters
    ----------
    what : str
        The name of the machines, in the plural.
    found : Counter
        See `unsolved`.
    total : int
        Number of solves.
    rests : str
        The results that rest on them, with a verb.

    Warns
    -----
    ConvergenceWarning
        scikit-learn's; `UnsolvedWarning` if scikit-learn is not loaded.
    """
    if not found:
        return
    status = found.most_common(1)[0][0]
    warn(f"{found.total()} of {total} {what} are not solved, and {rests}. {status.value} {REMEDY[status]}")


def warn(message: str) -> None:
    """Give a warning of the kind of `SVC`, for the line that has called this package."""
    warnings.warn(message, convergence_warning(), stacklevel=frames_within() + 1)


def convergence_warning() -> type[Warning]:
    """Return scikit-learn's ConvergenceWarning, if scikit-learn is loaded: a filter cannot name it before."""
    module = sys.modules.get("sklearn.exceptions")
    return getattr(module, "ConvergenceWarning", UnsolvedWarning)
