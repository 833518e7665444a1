"""CPUSolve: a solve with its CPU seconds, which other work on the machine does not stretch as it does the clock's."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from refsvm.experiment import Instance, Solve
from refsvm.experiment.strategy import Record

__all__ = ["CPUSolve"]


@dataclass(frozen=True)
class CPUSolve(Solve):
    """One call of `refsvm.solve`; the record also has ``cpu``, the CPU seconds of this process."""

    def run(self, instance: Instance, **more: Any) -> Record:
        """Solve, and measure."""
        began = time.process_time()
        record = super().run(instance, **more)
        return record | {"cpu": time.process_time() - began}
