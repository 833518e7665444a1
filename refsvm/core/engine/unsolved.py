"""Warns about solves that did not converge; the warning says what to do. `refsvm.SVC` gives the same warning.

If the user ended a solve by Ctrl-C or a callback, no warning follows; the status of the result names the reason.
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
    Status.INSEPARABLE: "Give a finite C, or choose another kernel.",
    Status.NOT_FINITE: "Give a copy of the kernel matrix that no other code writes to, or scale the features.",
    Status.STALLED: "Scale the features (StandardScaler), raise the tolerance, or choose another selector.",
}
"""The advice that the warning gives for each status of a solve that did not converge."""

BY_USER: Final = (Status.CALLBACK, Status.INTERRUPTED)


class UnsolvedWarning(UserWarning):
    """Replaces scikit-learn's ConvergenceWarning while scikit-learn is not loaded; both are UserWarnings."""


def unsolved(statuses: Iterable[Status]) -> Counter[Status]:
    """Count, for each status, the solves that did not converge; solves that the user ended are not counted.

    Examples
    --------
    >>> from refsvm import Status
    >>> from refsvm.core.engine.unsolved import unsolved
    >>> unsolved([Status.MAX_ITER, Status.CONVERGED, Status.CALLBACK])[Status.MAX_ITER]
    1
    """
    return Counter(each for each in statuses if each is not Status.CONVERGED and each not in BY_USER)


def warn_of_unsolved(what: str, counts: Counter[Status], total: int, rests: str) -> None:
    """Warn if solves did not converge: say how many, why, which results are affected, and what to do.

    Parameters
    ----------
    what : str
        Name of the models that were solved, in the plural.
    counts : Counter
        Number of unsolved models for each status, as `unsolved` returns it.
    total : int
        Number of all solves.
    rests : str
        Clause that names the affected results.

    Warns
    -----
    ConvergenceWarning
        scikit-learn's ConvergenceWarning, or `UnsolvedWarning` if scikit-learn is not loaded.
    """
    if not counts:
        return
    status = counts.most_common(1)[0][0]
    warn(f"{counts.total()} of {total} {what} are not solved, and {rests}. {status.value} {REMEDY[status]}")


def warn(message: str) -> None:
    """Give a warning of the class that `SVC` uses; the warning names the line that called this package."""
    warnings.warn(message, convergence_warning(), stacklevel=frames_within() + 1)


def convergence_warning() -> type[Warning]:
    """Return scikit-learn's ConvergenceWarning if scikit-learn is loaded, else `UnsolvedWarning`."""
    module = sys.modules.get("sklearn.exceptions")
    return getattr(module, "ConvergenceWarning", UnsolvedWarning)
