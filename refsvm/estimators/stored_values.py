"""StoredValues: keeps values of a held-out loss in a file, from which an interrupted search can continue."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from refsvm.analysis.derivatives.held_out import HeldOutLoss
from refsvm.core._checks import version
from refsvm.services.identity import IDENTITY, described, package_code
from refsvm.services.store import RunStore, digest, fingerprint


class StoredValues:
    """Returns the held-out loss J and its gradient at θ: reads both from a file, or computes and stores both.

    Parameters
    ----------
    J : HeldOutLoss
        The loss.
    path : str or path
        The SQLite file.
    name : str
        Name of the estimator.
    """

    def __init__(self, J: HeldOutLoss, path: str | Path, name: str) -> None:
        self.J, self.name, self.runs = J, name, RunStore(Path(path))
        self.runs.prepare()
        self._common = {
            "identity": IDENTITY, "refsvm": version(), "code": package_code(), "strategy": f"refsvm: {name}",
            "examples": fingerprint(J.X, J.y), "folds": fingerprint(*J.members), "loss": described("loss", J.loss),
            "parameters": list(J.space.names),
        }  # fmt: skip

    def __call__(self, theta: np.ndarray) -> tuple[float, np.ndarray]:
        """Return J and its gradient, shape (p,), at θ, and set ``J.fold_losses`` and ``J.events`` for θ."""
        config = self._config(theta)
        run = digest(config)
        known = self.runs.metrics([run]).get(run)
        if known is not None:
            self.J.fold_losses, self.J.events = np.array(known["fold_losses"]), known["events"]
            return known["loss"], np.array(known["gradient"])
        loss, gradient = self.J(theta)
        metrics = {
            "loss": loss, "gradient": gradient, "fold_losses": self.J.fold_losses, "events": self.J.events,
        }  # fmt: skip
        self.runs.add(
            run, config=config, problem=f"{len(theta)} parameters", strategy=self.name, metrics=metrics
        )
        return loss, gradient

    def _config(self, theta: np.ndarray) -> dict[str, Any]:
        """Return a dict of everything on which J(θ) depends: data, folds, loss, kernel, parameters and code."""
        values = self.J.space.values(theta)
        kernel = described("kernel", self.J.kernel_at(values.get("gamma", 1.0)))
        return {**self._common, **values, "kernel": kernel}
