"""DerivativeDisplay: draws the rate of α with respect to a parameter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Self

import numpy as np

from refsvm.analysis.derivatives.derivative import Derivative
from refsvm.display.canvas import Axes, Display, require

NAMES: Final = {"epsilon": r"\varepsilon", "nu": r"\nu", "gamma": r"\gamma", "C": "C"}
"""Parameters with a letter as symbol."""


@dataclass(eq=False)
class DerivativeDisplay(Display):
    """Draws dα/dθ of each variable that moves, the largest rate first, and both one-sided rates at a kink.

    Parameters
    ----------
    name : str
        The parameter θ.
    rates : dict of str to ndarray of shape (n,)
        dα/dθ for falling and rising θ; one entry if both rates are equal.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import RBF, DualProblem, solve
    >>> X, y = np.array([[0.0], [1.0], [2.0], [4.0]]), np.array([-1, 1, -1, 1])
    >>> solution = solve(DualProblem.classification(X, y, kernel=RBF(0.5), C=3.0))
    >>> solution.derivative("C").plot()
    <DerivativeDisplay>
    """

    name: str
    rates: Mapping[str, np.ndarray]

    @classmethod
    def from_result(cls, result: Derivative, *, ax: Axes | None = None, **kwargs: Any) -> Self:
        """Draw a derivative.

        Parameters
        ----------
        result : Derivative
            The result of ``solution.derivative(name)``.
        ax : matplotlib Axes, optional
            Axes to draw on.
        **kwargs
            Passed to `plot`.
        """
        require("result", result, Derivative, "give the result of solution.derivative(name)")
        if result.is_two_sided:
            return cls(result.name, {"": result.right.alpha}).plot(ax, **kwargs)
        sides = {"as it falls": result.left.alpha, "as it rises": result.right.alpha}
        return cls(result.name, sides).plot(ax, **kwargs)

    def plot(self, ax: Axes | None = None, *, most: int = 40, **kwargs: Any) -> Self:
        """Draw rates on `ax` or a new figure.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on.
        most : int
            Largest number of variables to draw; a note above the plot says how many variables move.
        **kwargs
            Passed to ``Axes.plot``.
        """
        self._draw_on(ax, kwargs)
        largest = np.max([np.abs(rate) for rate in self.rates.values()], axis=0)
        order = np.argsort(-largest, kind="stable")
        moving = order[largest[order] > 0.0]
        shown = moving[:most]
        at = np.arange(len(shown))
        for k, (side, rate) in enumerate(self.rates.items()):
            shift = 0.0 if len(self.rates) == 1 else 0.2 * (2 * k - 1)
            look: dict[str, Any] = {
                "ls": "none",
                "marker": "o<>"[k + (len(self.rates) > 1)],
                "ms": 5,
                **kwargs,
            }
            (marks,) = self.ax_.plot(at + shift, rate[shown], label=side or None, **look)
            self.ax_.vlines(at + shift, 0.0, rate[shown], color=marks.get_color(), lw=1.2)
        self.ax_.axhline(0.0, color="0.5", lw=0.8)
        every = -(-len(shown) // 20) or 1
        self.ax_.set_xticks(
            at[::every], [str(i) for i in shown[::every]], rotation=90 if len(shown) > 12 else 0
        )
        upright = self.name.replace("_", r"\_")  # "_" would start a subscript
        letter = NAMES.get(self.name, rf"\mathrm{{{upright}}}")
        self.ax_.set(xlabel="variable", ylabel=rf"$d\alpha_i/d{letter}$")
        if len(self.rates) > 1:
            self._labelled()
        n = len(largest)
        note = f"{len(moving):,} of {n:,} variables move" + (
            f"; the {most} largest rates" * (len(moving) > most)
        )
        return self._noted([f"{note}."])
