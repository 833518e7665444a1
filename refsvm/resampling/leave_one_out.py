"""leave_one_out: the exact leave-one-out error.

Algorithm 1 of Franc, Laskov & Müller (2008):

    solve on all examples
    decide what the sufficiency checks decide
    for each of the others:  empty its box, start at the seed, go on until the stopping rule is satisfied
    the error is the share of wrong predictions
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from contextlib import closing
from typing import Any

import numpy as np

from refsvm._checks import positive, positive_or_inf, whole
from refsvm.problem import DualProblem
from refsvm.resampling.parallel import number_of_workers
from refsvm.resampling.procedure import Procedure
from refsvm.resampling.result import LeaveOneOut
from refsvm.resampling.sufficiency import CHECKS
from refsvm.seeders.base import Seeder
from refsvm.seeders.top import TOP
from refsvm.selectors.base import WorkingSetSelector
from refsvm.solver.limits import interruptible
from refsvm.solver.rules import chosen_rules
from refsvm.steps.base import StepRule
from refsvm.stopping.base import StoppingRule

__all__ = ["leave_one_out"]


def leave_one_out(
    X: Any,
    y: Any,
    *,
    kernel: Any = None,
    C: float | np.ndarray = 1.0,
    seeder: Seeder | None = None,
    stop: StoppingRule | None = None,
    selector: WorkingSetSelector | None = None,
    step: StepRule | None = None,
    checks: Iterable[str] = CHECKS,
    efficiency_test: bool = True,
    n_jobs: int | None = None,
    engine: str = "auto",
    cache_mb: float = 200.0,
    max_iter: int | None = None,
    time_limit: float | None = None,
    callback: Callable[[int, int], object] | None = None,
) -> LeaveOneOut:
    """Predict each example by a machine trained on all others.

    Parameters
    ----------
    X : array-like or CSR of shape (n, d)
        Examples; with ``kernel=Precomputed()`` the (n, n) Gram matrix.
    y : array-like of shape (n,)
        Two classes, whatever they are called; the larger is the positive one.
    kernel, C
        As in `DualProblem.classification`.
    seeder : Seeder
        Where a round starts; ``TOP()`` by default, which needs the fewest steps.
    stop : StoppingRule
        When a round ends; ``KKTGap(1e-3)`` by default. `LOODualityGap` takes fewer steps and proves the sign,
        but a step with it costs several without: a well-seeded round is over sooner without it.
    selector, step
        As in `refsvm.solve`.
    checks : iterable of str
        Which checks may decide without training: some of "zero alpha", "training error", "xi-alpha bound".
    efficiency_test : bool
        Give up a rule for left-out examples that has decided fewer than half of the first ten rounds early.
    n_jobs : int, optional
        Threads; −1 for one on each core. Where joblib is set up for processes (``joblib.parallel_config``), processes.
    engine : {"auto", "numba", "numpy"}
        The rounds in compiled code, or readable: same predictions, same α. "auto" begins readable and goes on in
        compiled code once that pays.
    cache_mb : float
        Budget for kernel rows in MiB. Compiled rounds need all n² values in it; otherwise rows are computed on demand.
    max_iter : int, optional
        Limit on the steps of each round.
    time_limit : float, optional
        Seconds for everything.
    callback : callable, optional
        Called with the number of examples decided and n between chunks of rounds; a true result ends it.

    Returns
    -------
    LeaveOneOut
        Always: after a limit or Ctrl-C with what is decided so far, ``is_complete`` False and a `status` that says why.

    Raises
    ------
    ValueError
        On arguments out of range, and on more than two classes.

    Notes
    -----
    An example that is alone in its class leaves one class to train on. The machine is then constant, and wrong.
    Examples with C = 0 are predicted by the machine that never used them. Where K is not positive semi-definite the
    checks 2 and 3 and rules for left-out examples prove nothing; ε-KKT decides then, with a warning.

    Examples
    --------
    >>> from refsvm import RBF, leave_one_out
    >>> from refsvm.datasets import load
    >>> heart = load("heart")
    >>> loo = leave_one_out(heart.X, heart.y, kernel=RBF(0.005), C=1.0)
    >>> round(loo.error, 4), loo.is_complete, loo.counts["zero alpha"]
    (0.1444, True, 112)
    """
    began = time.perf_counter()
    if callback is not None and not callable(callback):
        raise ValueError(f"callback={callback!r} cannot be called; pass a function of two numbers.")
    classes, signs = two_classes(y)
    procedure = Procedure(
        DualProblem.classification(X, signs, kernel=kernel, C=C),
        chosen_rules(selector, step, stop),
        TOP() if seeder is None else a_seeder(seeder),
        {
            "checks": chosen_checks(checks),
            "efficiency_test": efficiency_test,
            "workers": number_of_workers(n_jobs),
            "engine": engine,
            "cache_mb": positive_or_inf("cache_mb", cache_mb),
            "max_iter": whole("max_iter", 10_000_000 if max_iter is None else max_iter, 1),
            "time_limit": None if time_limit is None else positive("time_limit", time_limit),
            "callback": callback,
        },
    )
    with interruptible() as interrupt, closing(procedure):
        procedure.run(interrupt)
    return procedure.result(classes, time.perf_counter() - began)


def two_classes(y: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the labels as they are called, and as −1 and +1."""
    labels = np.asarray(y)
    if labels.ndim != 1 or labels.dtype.kind not in "iufbOUS" or labels.dtype.kind == "f":
        return labels, labels  # DualProblem.classification says what is wrong with them, if anything
    names = np.unique(labels)
    if len(names) > 2:
        raise ValueError(
            f"y holds {len(names)} classes and leave_one_out takes two; do it for each pair of classes, or use "
            "scikit-learn's cross_val_predict with LeaveOneOut() and refsvm.SVC()."
        )
    return labels, labels if len(names) < 2 else np.where(labels == names[1], 1, -1)


def chosen_checks(checks: Iterable[str]) -> tuple[str, ...]:
    """Return the names of checks, or refuse one that is unknown."""
    chosen = (checks,) if isinstance(checks, str) else tuple(checks)
    for name in chosen:
        if name not in CHECKS:
            raise ValueError(f"checks contains {name!r}; choose from {', '.join(map(repr, CHECKS))}.")
    return chosen


def a_seeder(seeder: Any) -> Seeder:
    """Return the seeder, or refuse what is none."""
    if not isinstance(seeder, Seeder):
        raise ValueError(f"seeder={seeder!r} is not a Seeder; pass an instance of one, such as seeder=TOP().")
    return seeder
