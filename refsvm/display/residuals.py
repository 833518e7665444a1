"""ResidualDisplay: draws the distances between predictions and targets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from refsvm.analysis.resampling.jackknife import HeldOutMachines
from refsvm.analysis.resampling.results import CrossValidation, LeaveOneOut
from refsvm.core.rounds.machine import REGRESSION
from refsvm.display.canvas import Axes, Display, literal, require, require_some


@dataclass(eq=False)
class ResidualDisplay(Display):
    """Draws, against a distance d, the share of examples whose prediction differs from the target by at most d.

    If a curve reaches 0.9 at a distance d, the interval from d below the prediction to d above it contains nine targets
    in ten.

    Parameters
    ----------
    residuals : mapping of str to ndarray of shape (n,)
        |yᵢ − ŷᵢ| by name.

    Examples
    --------
    >>> from refsvm import leave_one_out
    >>> from refsvm.datasets import load
    >>> from refsvm.display import ResidualDisplay
    >>> X = load("heart").X
    >>> loo = leave_one_out(X[:40, 1:], X[:40, 0], epsilon=1.0)
    >>> ResidualDisplay.from_result(loo).ax_.get_ylabel()
    'share of the examples'
    """

    residuals: Mapping[str, np.ndarray]

    @classmethod
    def from_result(
        cls, result: HeldOutMachines | LeaveOneOut | CrossValidation, *, ax: Axes | None = None, **kwargs: Any
    ) -> Self:
        """Draw the residuals of a regression.

        Parameters
        ----------
        result : HeldOutMachines, LeaveOneOut or CrossValidation
            The result.
        ax : matplotlib Axes, optional
            Axes to draw on.
        **kwargs
            Passed to `plot`.

        Raises
        ------
        ValueError
            If the task is not a regression, or no example has a prediction.
        """
        kinds = (HeldOutMachines, LeaveOneOut, CrossValidation)
        require("result", result, kinds, "give the result of a regression")
        if not isinstance(result, HeldOutMachines) and result.kind != REGRESSION:
            raise ValueError(f"A result of {result.kind} has no residuals; draw it with result.plot().")
        return cls({"held out": np.abs(result.residuals)}).plot(ax, **kwargs)

    def plot(self, ax: Axes | None = None, **kwargs: Any) -> Self:
        """Draw curves on `ax` or a new figure; pass further arguments to ``Axes.step``."""
        require_some("residuals", self.residuals, "array of distances")
        self._draw_on(ax, kwargs)
        for name, residuals in self.residuals.items():
            known = np.sort(residuals[np.isfinite(residuals)])
            if not len(known):
                raise ValueError(f"residuals[{name!r}] contains only NaN; run the rounds first.")
            share = np.arange(len(known) + 1) / len(residuals)
            self.ax_.step(
                np.append(0.0, known), share, where="post", **{"label": literal(name), "lw": 1.6, **kwargs}
            )
        self.ax_.axhline(0.9, color="0.7", lw=0.8, ls=":")
        self.ax_.set(xlabel=r"$|y-\hat y|$", ylabel="share of the examples", ylim=(0.0, 1.02))
        self.ax_.set_xlim(left=0.0)
        return self._labelled() if len(self.residuals) > 1 else self._finished()
