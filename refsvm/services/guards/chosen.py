"""The guards of a run: the one place that knows all of them, and leaves out those that do not apply."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from refsvm.core.engine.limits import Limits
from refsvm.core.guards.base import Guard
from refsvm.core.guards.rounding import FreshGradient, Snap
from refsvm.core.kernels.rows import KernelRows
from refsvm.core.rule import Rule, is_builtin
from refsvm.services.guards.float32 import Float32Rows
from refsvm.services.guards.kernel_values import Indefinite, Noise
from refsvm.services.guards.polish import Polish
from refsvm.services.guards.users_rules import ChosenPair, FeasiblePoint, NoStepGuard


def guards_for(
    rows: KernelRows, shrinking: Any, limits: Limits[Any], *, polish: bool = False,
    in_float64: Callable[[], KernelRows] | None = None, allowed: float = 1.0,
) -> list[Guard]:  # fmt: skip
    """Return the guards of a run, in the order in which they are asked.

    Parameters
    ----------
    rows : KernelRows
    shrinking : Shrinking
    limits : Limits
    polish : bool
        Whether to take one exact step at the end.
    in_float64, allowed
        See `refsvm.services.guards.float32.Float32Rows`.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import RBF
    >>> from refsvm.core.engine.limits import Limits
    >>> from refsvm.services.guards.chosen import guards_for
    >>> from refsvm.core.kernels import Gram
    >>> from refsvm.core.solver.rules import stored_rows
    >>> from refsvm.core.solver.shrinking import NoShrinking
    >>> rows = stored_rows(Gram(RBF(0.5), np.array([[0.0], [1.0]])))
    >>> [type(guard).__name__ for guard in guards_for(rows, NoShrinking(), Limits(n=2))]
    ['FreshGradient', 'Snap']
    """
    may_leave = rows.facts.keeps_float32 and not rows.exact.facts.keeps_float32
    applies: list[tuple[bool, Callable[[], Guard]]] = [
        (True, FreshGradient),
        (not is_builtin(cast("type[Rule]", type(shrinking))), lambda: NoStepGuard(shrinking)),
        (polish, Polish),  # moves α off its bounds, and is snapped to them
        (True, Snap),
        (rows.facts.keeps_float32, lambda: Float32Rows(limits, in_float64 if may_leave else None, allowed)),
        (not rows.facts.is_psd, Indefinite),
        (rows.gram.facts.kernel_error != 0.0, Noise),
    ]
    return [guard() for does, guard in applies if does]


def with_rules(guards: list[Guard], rules: Any) -> list[Guard]:
    """Return the guards of a solve with these rules: where a rule is the user's, its last point is looked at first."""
    # the package's own rules are tested for it; a sum over α for nothing would cost short solves
    return guards if all(map(is_builtin, map(type, rules))) else [FeasiblePoint(), ChosenPair(), *guards]
