"""Makes `refsvm.core` call functions of other folders; importing `refsvm` calls `open_doors`."""

from __future__ import annotations

import refsvm.analysis.small.stacked
import refsvm.services.cards  # noqa: F401  registers the cards of the reference's results
from refsvm.analysis.resampling.workers import workers
from refsvm.core.doors import DOORS
from refsvm.services.guards.chosen import rows_and_guards
from refsvm.services.names import kernel_named
from refsvm.services.summary import rendered


def open_doors() -> None:
    """Replace the default functions in `refsvm.core.doors` by functions of other folders."""
    DOORS.rendered = rendered
    DOORS.kernel_named = kernel_named
    DOORS.rows_and_guards = rows_and_guards
    DOORS.workers = workers
