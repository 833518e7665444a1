"""WorkingSetDisplay: draws one step in the plane of its two variables."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Final, Self

import numpy as np

from refsvm.analysis.recording import Recording
from refsvm.core._checks import positive, whole
from refsvm.core.kernels.cached_rows import stored_rows
from refsvm.core.kernels.rows import megabytes
from refsvm.core.state import SolverState
from refsvm.core.steps import StepRule
from refsvm.display.canvas import PALETTE, Axes, Display, require
from refsvm.display.contrast import OWN_GROUND, ink, mixed

MARKS: Final = (
    {"marker": "o", "color": PALETTE[0], "mfc": "none", "ms": 11},
    {"marker": "D", "color": PALETTE[1], "ms": 5.5},
    {"marker": "^", "color": PALETTE[2], "ms": 8},
)
"""Markers for the ends of the Newton step, the clipped step and a rule's step."""


@dataclass(eq=False)
class WorkingSetDisplay(Display):
    """Draws the sub-problem of a working set (i, j) in the plane of αᵢ and αⱼ: the step, and the bound that clips it.

    The box is white, and the rest of the plane is grey. The sum of both variables is fixed, so a step moves α along
    the dashed line; the part of the line inside the box is feasible. Grey contours show f. The Newton step ends where
    the line touches a contour, and this contour is drawn; the clipped step never ends outside the box.

    Parameters
    ----------
    pair : (int, int)
        The indices i and j.
    point : ndarray of shape (2,)
        (αᵢ, αⱼ) before the step.
    box : ndarray of shape (2, 2)
        ((Lᵢ, Uᵢ), (Lⱼ, Uⱼ)).
    gradient : ndarray of shape (2,)
        (Gᵢ, Gⱼ).
    kernel : ndarray of shape (2, 2)
        ((Kᵢᵢ, Kᵢⱼ), (Kᵢⱼ, Kⱼⱼ)).
    steps : dict of str to float
        Maps the name of each marked step to its length μ.

    See Also
    --------
    WorkingSetDisplay.from_state : Creates a display from a state and a pair.
    WorkingSetDisplay.from_recording : Creates a display from a recorded step.

    References
    ----------
    T. Glasmachers and C. Igel, "Maximum-gain working set selection for SVMs", JMLR 7, 2006, Figure 1.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import DualProblem, Linear, iterate
    >>> from refsvm.display import WorkingSetDisplay
    >>> X, y = np.array([[0.0], [1.0], [3.0]]), np.array([-1, -1, 1])
    >>> state = next(iterate(DualProblem.classification(X, y, kernel=Linear(), C=0.3)))
    >>> display = WorkingSetDisplay.from_state(state, 2, 1)
    >>> display.steps
    {'Newton': 0.2, 'clipped': 0.0}
    """

    pair: tuple[int, int]
    point: np.ndarray
    box: np.ndarray
    gradient: np.ndarray
    kernel: np.ndarray
    steps: dict[str, float]

    @classmethod
    def from_state(
        cls,
        state: SolverState,
        i: int,
        j: int,
        *,
        step: StepRule | None = None,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the sub-problem of (i, j) at a state, without changing the state.

        Parameters
        ----------
        state : SolverState
            The state before the step, for instance from `refsvm.iterate`.
        i, j : int
            The step increases αᵢ and decreases αⱼ.
        step : StepRule, optional
            A rule whose step is marked in addition to the Newton step and the clipped step, such as
            `PlanningAheadStep()`.
        ax : matplotlib Axes, optional
            Axes to draw on; by default a new figure.
        **kwargs
            Passed to `plot`.

        Returns
        -------
        WorkingSetDisplay

        Raises
        ------
        ValueError
            If i and j are not two different indices, or `step` needs more past steps than the state stores.
        ImportError
            If matplotlib is not installed.
        """
        require("state", state, SolverState, "give a state that refsvm.iterate yields")
        n = len(state.alpha)
        if not whole("i", i, 0) < n or not whole("j", j, 0) < n or i == j:
            raise ValueError(f"i={i!r}, j={j!r} is not a working set; give two different indices below {n}.")
        B = np.array([i, j])
        view = _view(state)
        view.measure(i, j)
        newton = view.slope / view.curvature
        steps = {"Newton": newton, "clipped": min(max(newton, view.low), view.high)}
        if step is not None:
            if step.history > len(state.working_sets):
                raise ValueError(
                    f"step={step!r} plans with {step.history} working sets, but the state stores "
                    f"{len(state.working_sets)}; run the loop with this step rule."
                )
            mu = step.length(view, i, j)
            steps["planned" if view.n_candidates else type(step).__name__] = mu
        box = np.column_stack([state.lower[B], state.upper[B]])
        kernel = state.rows.gram.block(B, B)
        display = cls((int(i), int(j)), state.alpha[B], box, state.gradient[B], kernel, steps)
        return display.plot(ax, **kwargs)

    @classmethod
    def from_recording(
        cls, recording: Recording, iteration: int, *, ax: Axes | None = None, **kwargs: Any
    ) -> Self:
        """Draw the step that follows a state of a recording.

        Parameters
        ----------
        recording : Recording
            The recording; this call computes its steps up to the drawn step if they are missing.
        iteration : int
            Number of steps before the drawn step.
        ax : matplotlib Axes, optional
            Axes to draw on; by default a new figure.
        **kwargs
            Passed to `plot`.

        Returns
        -------
        WorkingSetDisplay
            The display. If the recorded step is neither the Newton step nor
            the clipped step, a third mark shows the recorded step.

        Raises
        ------
        ValueError
            If the recorded solve ended after exactly `iteration` steps, so that no step follows.
        IndexError
            If the recorded solve ended after fewer than `iteration` steps.
        ImportError
            If matplotlib is not installed.

        Examples
        --------
        >>> import numpy as np
        >>> from refsvm import DualProblem, Linear, Recording
        >>> from refsvm.display import WorkingSetDisplay
        >>> X, y = np.array([[0.0], [1.0], [3.0]]), np.array([-1, -1, 1])
        >>> recording = Recording(DualProblem.classification(X, y, kernel=Linear(), C=0.3))
        >>> WorkingSetDisplay.from_recording(recording, 0).pair
        (2, 1)
        """
        require("recording", recording, Recording, "give refsvm.Recording(problem, …)")
        state = recording.at(iteration)
        taken = state.next
        if taken is None:
            raise ValueError(f"iteration={iteration!r} is the last state: {_ending(recording)}")
        newton = taken.slope / taken.curvature
        steps = {"Newton": newton, "clipped": min(max(newton, taken.low), taken.high)}
        if taken.length not in steps.values():
            steps["planned" if taken.planned else type(recording.rules.step).__name__] = taken.length
        B = np.array([taken.i, taken.j])
        box = np.column_stack([recording.problem.lower[B], recording.problem.upper[B]])
        (Kii, Kjj), q = taken.diagonal, taken.raw_curvature
        kernel = np.array([[Kii, (Kii + Kjj - q) / 2.0], [(Kii + Kjj - q) / 2.0, Kjj]])
        pair = taken.i, taken.j
        return cls(pair, state.alpha[B], box, state.gradient[B], kernel, steps).plot(ax, **kwargs)

    def plot(self, ax: Axes | None = None, *, window: float | None = None, levels: int = 12) -> Self:
        """Draw everything on `ax` or a new figure.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on.
        window : float, optional
            Half the side of the visible square around the point. By default, the box is visible, and the Newton step is
            visible if it is not longer than the box.
        levels : int
            Number of contours of f.

        Returns
        -------
        WorkingSetDisplay
            The display itself.

        Raises
        ------
        ValueError
            If window is not positive, or levels is not an integer of at least 1.
        """
        self._draw_on(ax)
        if ax is None:
            self.figure_.set_figwidth(7.4)  # in inches, for the plot and its legend
        limits = self._limits(None if window is None else positive("window", window))
        (x0, x1), (y0, y1) = limits
        # --- draw the box, and the contours of f inside and around the box ---
        (left, right), (bottom, top) = self.box
        self.ax_.set_anchor("W")  # leave space for the legend to the right
        ground = self.ax_.get_facecolor()
        self.ax_.set_facecolor(mixed(ground, ink(ground), 0.08))
        outline = ([left, right, right, left], [bottom, bottom, top, top])
        self.ax_.fill(*outline, fc=ground, ec=mixed(ground, ink(ground), 0.6), lw=1.2, gid=OWN_GROUND)
        self._contours(limits, whole("levels", levels, 1))
        # --- the feasible line ---
        low = max(left - self.point[0], self.point[1] - top)
        high = min(right - self.point[0], self.point[1] - bottom)
        # draw a dashed line that is longer than the plot, because the plot clips it
        self._line(-4.0 * np.ptp(limits), 4.0 * np.ptp(limits), color="0.35", lw=1, ls="--")
        self._line(low, high, color="0.15", lw=2.5, label="feasible")
        self._mark(limits)
        i, j = self.pair
        # place the legend beside the square plot, because the box of feasible values may cover any corner
        look = {"frameon": False, "loc": "center left", "bbox_to_anchor": (1.0, 0.5)}
        return self._labelled(
            {"fontsize": "small", "handlelength": 1.2, **look},
            xlim=(x0, x1), ylim=(y0, y1), aspect="equal",
            xlabel=rf"$\alpha_{{{i}}}$, rises", ylabel=rf"$\alpha_{{{j}}}$, falls",
        )  # fmt: skip

    def objective_change(self, rise: Any, fall: Any) -> Any:
        """Return f(α + s eᵢ + t eⱼ) − f(α) = s Gᵢ + t Gⱼ − ½ (s² Kᵢᵢ + 2st Kᵢⱼ + t² Kⱼⱼ).

        Parameters
        ----------
        rise, fall : float or ndarrays of one shape, float64
            The changes s and t.

        Returns
        -------
        float or ndarray, float64
        """
        (Kii, Kij), (_, Kjj) = self.kernel
        Gi, Gj = self.gradient
        return rise * Gi + fall * Gj - 0.5 * (rise**2 * Kii + 2.0 * rise * fall * Kij + fall**2 * Kjj)

    def _limits(self, window: float | None) -> np.ndarray:
        """Return the limits of both axes, ((x₀, x₁), (y₀, y₁))."""
        if window is not None:
            return self.point[:, None] + np.array([-window, window])
        size = max(float(np.ptp(self.box, axis=1).max()), 1e-300)
        ends = [self.point + mu * np.array([1.0, -1.0]) for mu in self.steps.values() if abs(mu) <= size]
        seen = np.column_stack([self.box, *ends])
        return np.column_stack([seen.min(axis=1), seen.max(axis=1)]) + size * np.array([-0.12, 0.12])

    def _contours(self, limits: np.ndarray, levels: int) -> None:
        """Draw contours of f, closer to each other near the maximum, and the contour on which the Newton step ends."""
        a, b = np.meshgrid(*(np.linspace(start, end, 120) for start, end in limits))
        f = self.objective_change(a - self.point[0], b - self.point[1])
        heights = f.max() - np.ptp(f) * np.linspace(1.0, 0.0, levels + 2)[1:-1] ** 2
        look: dict[str, Any] = {"linestyles": "solid", "zorder": 1.5}
        if np.ptp(f) > 0.0:
            self.ax_.contour(a, b, f, levels=heights, colors="0.7", linewidths=0.7, **look)
        mu = self.steps["Newton"]
        touched = float(self.objective_change(mu, -mu))
        if f.min() < touched < f.max():
            self.ax_.contour(a, b, f, levels=[touched], colors=PALETTE[0], linewidths=1.0, **look)

    def _line(self, start: float, end: float, **look: Any) -> None:
        """Draw the line along which steps move α, from the step length `start` to the step length `end`."""
        mu = np.array([start, end])
        self.ax_.plot(self.point[0] + mu, self.point[1] - mu, **look)

    def _mark(self, limits: np.ndarray) -> None:
        """Mark the point and the ends of the steps; if an end is outside the plot, the legend says so."""
        self.ax_.plot(*self.point, "o", color="0.15", ms=6, ls="none", label="now", zorder=3)
        is_free = self.steps.get("clipped") == self.steps["Newton"]
        for (name, mu), mark in zip(self.steps.items(), MARKS, strict=False):
            if is_free and name == "clipped":
                continue  # mark equal steps only once
            x, y = self.point[0] + mu, self.point[1] - mu
            seen = limits[0, 0] <= x <= limits[0, 1] and limits[1, 0] <= y <= limits[1, 1]
            named = "Newton, free" if is_free and name == "Newton" else name
            label = f"{named},\n$\\mu={mu:.3g}$" + ("" if seen else " (outside)")
            look: dict[str, Any] = {**mark, "mew": 1.8, "ls": "none", "zorder": 4, "label": label}
            self.ax_.plot(x if seen else np.nan, y, **look)


def _ending(recording: Recording) -> str:
    """Return the reason why no step follows the last state of a recording."""
    if recording.error is not None:
        return f"a rule raised {type(recording.error).__name__}."
    return recording.reason


def _view(state: SolverState) -> SolverState:
    """Return a copy of a state with its own kernel rows, so that drawing changes nothing in the state."""
    n = len(state.alpha)
    rows = stored_rows(state.rows.gram, cache_mb=megabytes(4.5, n))
    view = deepcopy(state, {id(state.rows): rows})
    view.n_candidates = 0
    return view
