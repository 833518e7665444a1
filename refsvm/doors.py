"""The house opens the doors of the reference (`refsvm.core.doors`): one line for each, when `refsvm` is imported."""

from __future__ import annotations

import refsvm.services.cards  # noqa: F401  which enters the cards of the reference's results
from refsvm.analysis.resampling.workers import in_parts, sharing_pays
from refsvm.analysis.small.stacked import stacked
from refsvm.core.doors import DOORS
from refsvm.services.float32 import begins_in_float32, reads_float32
from refsvm.services.guards.chosen import guards_for, with_rules
from refsvm.services.line import line_of
from refsvm.services.names import DEFAULT, asked
from refsvm.services.pool import worker_count
from refsvm.services.summary import rendered


def open_doors() -> None:
    """Put what this house has in the place of the defaults."""
    DOORS.rendered = rendered
    DOORS.line_of = line_of
    DOORS.guards_for, DOORS.with_rules = guards_for, with_rules
    DOORS.worker_count, DOORS.sharing_pays, DOORS.in_parts = worker_count, sharing_pays, in_parts
    DOORS.kernel_asked, DOORS.default_kernel = asked, DEFAULT
    DOORS.begins_in_float32, DOORS.reads_float32 = begins_in_float32, reads_float32
    DOORS.stacked = stacked
