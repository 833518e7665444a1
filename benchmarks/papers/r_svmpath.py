"""BesideR: a strategy that tracks the same data with R's package svmpath (Hastie) and with refsvm, in turns.

It needs Rscript and the package svmpath; `installed` tells whether both are there.
"""

from __future__ import annotations

import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from shutil import which

import numpy as np

from refsvm import regularization_path
from refsvm.experiment import Instance, Strategy
from refsvm.experiment.strategy import Record

__all__ = ["BesideR", "installed", "versions"]

TRACK = """
suppressMessages(library(svmpath))
given <- commandArgs(TRUE)
table <- unname(as.matrix(read.csv(given[1], header = FALSE)))
y <- table[, 1]; x <- table[, -1]
began <- proc.time()
path <- try(svmpath(x, y, kernel.function = radial.kernel, param.kernel = as.numeric(given[2]),
                    lambda.min = as.numeric(given[3])), silent = TRUE)
seconds <- sum((proc.time() - began)[1:2])
if (inherits(path, "try-error")) {
    cat("failed", gsub("\\\\s+", " ", as.character(path)))
} else {
    cat("tracked", length(path$lambda), max(path$lambda), seconds)
}
"""


VERSIONS = """
of <- as.character(packageVersion("svmpath"))
cat(R.version.string, ", svmpath ", of, ", BLAS ", basename(La_library()), sep = "")
"""


def versions() -> str:
    """Say which R, which svmpath and which BLAS these are."""
    return subprocess.run(["Rscript", "-e", VERSIONS], capture_output=True, text=True, check=True).stdout


def installed() -> bool:
    """Whether Rscript finds svmpath."""
    if which("Rscript") is None:
        return False
    command = ["Rscript", "-e", "quit(status = !requireNamespace('svmpath', quietly = TRUE))"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


@dataclass(frozen=True)
class BesideR(Strategy):
    """CPU seconds of both from svmpath's first λ down to 1/C_max, kernel matrix included; the fastest turn of each."""

    C_max: float = 1e3
    repeats: int = 5

    def run(self, instance: Instance) -> Record:
        """Take turns; if svmpath fails, keep its message."""
        C_min, theirs, ours, events = 1e-4, [], [], 0
        message = ""
        for _ in range(self.repeats):
            answer = self._tracked_by_r(instance).split(maxsplit=1)
            if answer[0] == "tracked":
                count, first, seconds = (float(part) for part in answer[1].split())
                events, C_min = int(count), 1.0 / first
                theirs.append(seconds)
            else:
                message = answer[1]
            began = time.process_time()
            path = regularization_path(
                instance.X, instance.y, kernel=instance.kernel, C_min=C_min, C_max=self.C_max
            )
            ours.append(time.process_time() - began)
        return {
            "n": len(instance.y),
            "events_r": events,
            "seconds_r": min(theirs, default=0.0),
            "failure": message,
            "breakpoints": len(path.C),
            "seconds": min(ours),
            "kkt_violation": path.kkt_audit().worst,
        }

    def _tracked_by_r(self, instance: Instance) -> str:
        """Return 'tracked', events, first λ and seconds, or 'failed' and why."""
        gamma: float = instance.kernel.gamma  # type: ignore[union-attr]
        with tempfile.TemporaryDirectory() as folder:
            data, script = Path(folder) / "data.csv", Path(folder) / "track.R"
            np.savetxt(data, np.column_stack([instance.y, instance.X]), delimiter=",", fmt="%.17g")
            script.write_text(TRACK)
            command = ["Rscript", str(script), str(data), repr(gamma), repr(1.0 / self.C_max)]
            return subprocess.run(command, capture_output=True, text=True, check=True).stdout
